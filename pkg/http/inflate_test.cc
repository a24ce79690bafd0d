#include "pkg/http/inflate.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace berth::http {
namespace {

// Returns the text in gzip format.
std::string Packed(std::string text) {
  z_stream z{};
  REQUIRE(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&z, text.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(text.data());
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
  out.resize(out.size() - z.avail_out);
  deflateEnd(&z);
  return out;
}

// Returns what comes out if the input comes in pieces of `size` bytes; "bad" behind it if some of it is refused, and
// "..." if it is not whole.
std::string Inflated(const std::string& input, size_t size) {
  Inflater inflater;
  std::string out;
  for (size_t i = 0; i < input.size(); i += size) {
    const auto r = inflater.Feed(std::string_view(input).substr(i, size), [&](std::string_view piece) {
      out += piece;
      return true;
    });
    if (r != Inflater::Result::kOk) return out + "bad";
  }
  return inflater.ended() ? out : out + "...";
}

TEST_CASE("a compressed body comes out whole, however it is cut", "[no-threads]") {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += "object " + std::to_string(i) + "\n";
  const std::string packed = Packed(text);
  for (const size_t size : {size_t{1}, size_t{7}, size_t{4096}, packed.size()}) {
    CHECK(Inflated(packed, size) == text);
  }
  // It may have several members.
  CHECK(Inflated(Packed("one ") + Packed("two"), 3) == "one two");
  CHECK(Inflated(Packed(""), 3).empty());
  // One whose length is that of the buffer, and one that becomes a thousand times as long.
  CHECK(Inflated(Packed(std::string(1 << 16, 'a')), 1 << 20) == std::string(1 << 16, 'a'));
  CHECK(Inflated(Packed(std::string(1 << 22, 'a')), 1 << 20) == std::string(1 << 22, 'a'));
}

TEST_CASE("what is no gzip format, or ends too soon, is no body") {
  const std::string packed = Packed("some text");
  CHECK(Inflated("plain text", 4) == "bad");
  CHECK(Inflated(packed.substr(0, packed.size() - 1), 4) == "some text...");
  std::string torn = packed;
  torn[torn.size() - 6] ^= 1;  // of the checksum
  CHECK(Inflated(torn, 100) == "some textbad");
}

TEST_CASE("a sink that has had enough stops it") {
  Inflater inflater;
  int pieces = 0;
  CHECK(inflater.Feed(Packed(std::string(1 << 20, 'x')), [&](std::string_view) { return ++pieces < 3; }) ==
        Inflater::Result::kStopped);
  CHECK(pieces == 3);
}

}  // namespace
}  // namespace berth::http
