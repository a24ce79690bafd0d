// Inflates the body of a response with "Content-Encoding: gzip" piece by piece.
#pragma once
#include <zlib.h>

#include <cstdint>
#include <functional>
#include <string_view>

namespace berth::http {

class Inflater {
 public:
  Inflater();
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  enum class Result : uint8_t {
    kOk,
    kBadData,  // what came is no gzip format
    kStopped,  // the sink returned false
  };
  // Gives the sink all that the piece adds to the inflated text.
  Result Feed(std::string_view piece, const std::function<bool(std::string_view)>& sink);
  // Whether the text is whole, so that the body may end here.
  bool ended() const { return state_ == Z_STREAM_END; }

 private:
  z_stream z_{};
  int state_;
};

}  // namespace berth::http
