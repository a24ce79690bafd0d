#include "pkg/http/inflate.h"

#include <memory>

namespace berth::http {
namespace {

constexpr int kGzipFormat = 16 + MAX_WBITS;
constexpr size_t kMostAtOnce = 1 << 16;

}  // namespace

Inflater::Inflater() : state_(inflateInit2(&z_, kGzipFormat)) {}

Inflater::~Inflater() {
  inflateEnd(&z_);
}

Inflater::Result Inflater::Feed(std::string_view piece, const std::function<bool(std::string_view)>& sink) {
  const auto out = std::make_unique_for_overwrite<unsigned char[]>(kMostAtOnce);
  z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
  z_.avail_in = static_cast<uInt>(piece.size());
  // A full buffer may hide that there is more, although all input has been taken.
  for (bool full = false; z_.avail_in > 0 || full;) {
    if (state_ == Z_STREAM_END) {
      if (z_.avail_in == 0) break;
      state_ = inflateReset(&z_);  // another member
    }
    if (state_ != Z_OK) return Result::kBadData;
    z_.next_out = out.get();
    z_.avail_out = kMostAtOnce;
    state_ = inflate(&z_, Z_NO_FLUSH);
    if (state_ == Z_BUF_ERROR && z_.avail_out == kMostAtOnce) state_ = Z_OK;  // nothing was left
    const size_t n = kMostAtOnce - z_.avail_out;
    full = z_.avail_out == 0;
    if (n > 0 && !sink({reinterpret_cast<const char*>(out.get()), n})) return Result::kStopped;
  }
  return state_ == Z_OK || state_ == Z_STREAM_END ? Result::kOk : Result::kBadData;
}

}  // namespace berth::http
