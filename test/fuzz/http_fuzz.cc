// Bytes as they come over HTTP connections: answers to the client, and requests to the servers. However they are cut
// into pieces, the same comes out.
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <string>
#include <vector>

#include "pkg/http/request_parser.h"
#include "pkg/http/response_parser.h"
#include "test/fuzz/fuzz.h"

namespace berth::fuzz {
namespace {

// Feeds a parser as the connections do: what it does not use yet is offered again with more. Returns how many bytes it
// used until it was done or failed.
template <typename Parser>
size_t Feed(Parser* parser, std::string_view input, size_t piece, bool* failed) {
  size_t begin = 0, end = 0;
  *failed = false;
  while (end < input.size() && !parser->is_done()) {
    end = std::min(input.size(), end + piece);
    while (begin < end && !parser->is_done()) {
      boost::system::error_code ec;
      const size_t used = parser->put(boost::asio::buffer(input.data() + begin, end - begin), ec);
      begin += used;
      if (ec == boost::beast::http::error::need_more) break;
      if (ec) {
        *failed = true;
        return begin;
      }
      if (used == 0) break;
    }
  }
  return begin;
}

struct Outcome {
  bool failed = false, done = false;
  size_t used = 0;
  std::vector<std::string> texts;
  // A whole message is whole however it comes, and says the same. How far others are read does not matter.
  friend bool operator==(const Outcome& a, const Outcome& b) {
    return a.done == b.done && (!a.done || (a.used == b.used && a.texts == b.texts));
  }
};

Outcome Answer(std::string_view input, size_t piece) {
  Outcome o;
  http::Reply reply;
  std::string text;
  std::function<bool(std::string_view)> body = [&](std::string_view s) {
    text.append(s);
    return text.size() <= 4096;
  };
  http::ResponseParser parser(&reply, &body, 4096);
  o.used = Feed(&parser, input, piece, &o.failed);
  o.done = parser.is_done();
  if (!o.failed && !o.done && parser.head_done()) {
    boost::system::error_code ec;
    parser.put_eof(ec);
  }
  o.texts = {std::to_string(reply.status), reply.content_type, text};
  return o;
}

Outcome Request(std::string_view input, size_t piece) {
  Outcome o;
  http::ServerRequest request;
  http::ServerOptions options;
  options.request_bytes = options.header_bytes = 4096;
  http::RequestParser parser(&request, options);
  o.used = Feed(&parser, input, piece, &o.failed);
  o.done = parser.is_done();
  o.texts = {request.method, request.path, request.query, request.body};
  for (const auto& [name, value] : request.headers) o.texts.push_back(name + ": " + value);
  return o;
}

void HttpAnswer(std::string_view input) {
  Require(Answer(input, input.size() + 1) == Answer(input, 1 + input.size() % 7),
          "an answer means something else when it comes in pieces");
}

void HttpRequest(std::string_view input) {
  Require(Request(input, input.size() + 1) == Request(input, 1 + input.size() % 7),
          "a request means something else when it comes in pieces");
}

[[maybe_unused]] const bool kHttpRegistered =
    Register({"http-answer", HttpAnswer}) && Register({"http-request", HttpRequest});

}  // namespace
}  // namespace berth::fuzz
