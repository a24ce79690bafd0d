// Tests the parsers of requests and responses, which are fed as connections feed them.
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "pkg/http/request_parser.h"
#include "pkg/http/response_parser.h"

namespace berth::http {
namespace {

// Gives a parser one byte more at a time, together with the bytes that it has not used. Returns what is left when the
// parser is done.
template <typename Parser>
std::string_view FeedByBytes(Parser* parser, std::string_view input) {
  size_t begin = 0;
  for (size_t end = 1; end <= input.size() && !parser->is_done(); ++end) {
    while (begin < end && !parser->is_done()) {
      boost::system::error_code ec;
      const size_t used = parser->put(boost::asio::buffer(input.data() + begin, end - begin), ec);
      begin += used;
      if (ec == boost::beast::http::error::need_more || used == 0) break;
      REQUIRE_FALSE(ec);
    }
  }
  return input.substr(begin);
}

constexpr std::string_view kRequest = "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr std::string_view kResponse = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

}  // namespace

TEST_CASE("a chunked body that begins with its last chunk may come byte by byte") {
  for (const std::string_view body : {"0\r\n\r\n", "0\r\nTrailer: t\r\n\r\n", "2\r\nab\r\n0\r\n\r\n"}) {
    CAPTURE(body);
    ServerRequest request;
    RequestParser requests(&request, ServerOptions{});
    CHECK(FeedByBytes(&requests, std::string(kRequest) + std::string(body)).empty());
    CHECK(requests.is_done());
    CHECK(request.body == (body[0] == '2' ? "ab" : ""));

    Reply reply;
    std::string text;
    std::function<bool(std::string_view)> take = [&](std::string_view s) {
      text.append(s);
      return true;
    };
    ResponseParser responses(&reply, &take, 1000);
    CHECK(FeedByBytes(&responses, std::string(kResponse) + std::string(body)).empty());
    CHECK(responses.is_done());
    CHECK(reply.status == 200);
    CHECK(text == request.body);
  }
}

}  // namespace berth::http
