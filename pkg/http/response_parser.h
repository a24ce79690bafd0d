// Parses HTTP/1 responses. For use within the HTTP client. Beast does the parsing; bytes of the body go straight from
// the receive buffer to their destination.
#pragma once
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <charconv>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/http/client.h"
#include "pkg/http/inflate.h"

namespace berth::http {

class ResponseParser final : public boost::beast::http::basic_parser<false> {
 public:
  // `reply` receives status and headers, and `body` each piece of the body, inflated if it is compressed by gzip. Both
  // must outlive the parser. A body whose announced length exceeds `most` bytes is refused at once.
  ResponseParser(Reply* reply, std::function<bool(std::string_view)>* body, uint64_t most)
      : reply_(reply), body_(body), most_(most) {
    eager(true);
    body_limit(boost::none);
    header_limit(256 * 1024);
  }
  bool head_done() const { return head_done_; }

 private:
  using Error = boost::system::error_code;
  using View = boost::beast::string_view;
  using Field = boost::beast::http::field;

  void on_request_impl(boost::beast::http::verb, View, View, int, Error&) override {}
  void on_response_impl(int code, View, int, Error&) override { reply_->status = code; }
  void on_field_impl(Field name, View, View value, Error& ec) override {
    // Beast ignores other transfer codings and would look for the next response inside the body.
    if (name == Field::transfer_encoding && !boost::beast::iequals(value, "chunked")) {
      ec = boost::beast::http::error::bad_transfer_encoding;
    } else if (name == Field::content_type) {
      reply_->content_type.assign(value.data(), value.size());
    } else if (name == Field::content_encoding && boost::beast::iequals(value, "gzip")) {
      inflater_.emplace();
    } else if (name == Field::retry_after) {
      int seconds = 0;
      auto r = std::from_chars(value.data(), value.data() + value.size(), seconds);
      if (r.ec == std::errc() && r.ptr == value.data() + value.size() && seconds >= 0) reply_->retry_after = seconds;
    }
  }
  // The announced length is checked here, because the first byte of the body may never arrive.
  void on_header_impl(Error& ec) override {
    head_done_ = true;
    const auto length = content_length();
    if (length && *length > most_) ec = boost::beast::http::error::body_limit;
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  std::size_t on_body_impl(View body, Error& ec) override { return Body(body, ec); }
  void on_chunk_header_impl(std::uint64_t, View, Error&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, View body, Error& ec) override { return Body(body, ec); }
  void on_finish_impl(Error& ec) override {
    if (inflated_ && !inflater_->ended()) ec = boost::beast::http::error::partial_message;
  }

  std::size_t Body(View body, Error& ec) {
    if (inflater_) {
      inflated_ = true;
      const Inflater::Result r = inflater_->Feed({body.data(), body.size()}, *body_);
      if (r == Inflater::Result::kBadData) ec = boost::beast::http::error::bad_value;
      if (r == Inflater::Result::kStopped) ec = boost::beast::http::error::body_limit;
      return body.size();
    }
    if (!(*body_)(std::string_view(body.data(), body.size()))) ec = boost::beast::http::error::body_limit;
    return body.size();
  }

  Reply* reply_;
  std::function<bool(std::string_view)>* body_;
  const uint64_t most_;
  bool head_done_ = false;
  std::optional<Inflater> inflater_;  // of a compressed body
  bool inflated_ = false;             // whether any of the body has come
};

}  // namespace berth::http
