// Parses HTTP/1 requests. For use within the HTTP server. Beast does the parsing; this class refuses what Beast lets
// pass but a server must not accept.
#pragma once
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>
#include <string>

#include "pkg/http/server.h"

namespace berth::http {

class RequestParser final : public boost::beast::http::basic_parser<true> {
 public:
  // The fault of a request for which the parser's own error is not specific enough.
  enum class Fault { kNone, kTransferEncoding, kManyHosts };

  // `request` receives everything and must outlive the parser.
  RequestParser(ServerRequest* request, const ServerOptions& options) : request_(request) {
    eager(true);
    body_limit(options.request_bytes);
    header_limit(static_cast<uint32_t>(options.header_bytes));
  }
  bool head_done() const { return head_done_; }
  Fault fault() const { return fault_; }

 private:
  using Error = boost::system::error_code;
  using View = boost::beast::string_view;
  using Field = boost::beast::http::field;

  void on_request_impl(boost::beast::http::verb, View method, View target, int version, Error&) override {
    request_->method.assign(method.data(), method.size());
    request_->version = version;
    View path = target;
    // The absolute form, which clients send to proxies: only its path is used.
    if (const size_t scheme = target.find("://"); !target.starts_with('/') && scheme != View::npos) {
      const size_t slash = target.find('/', scheme + 3);
      path = slash == View::npos ? View("/") : target.substr(slash);
    }
    const size_t question = path.find('?');
    request_->has_query = question != View::npos;
    if (request_->has_query) request_->query.assign(path.data() + question + 1, path.size() - question - 1);
    request_->path.assign(path.data(), std::min(question, path.size()));
    request_->bytes = method.size() + target.size();
  }
  void on_field_impl(Field name, View text, View value, Error& ec) override {
    request_->bytes += text.size() + value.size();
    request_->headers.emplace_back(std::string(text.data(), text.size()), std::string(value.data(), value.size()));
    // Beast ignores every transfer coding but "chunked" and would read the body as the next request. If a proxy in
    // front of this server understands such a coding, an attacker could use that to smuggle requests past the proxy's
    // checks.
    if (name == Field::transfer_encoding && !boost::beast::iequals(value, "chunked")) {
      fault_ = Fault::kTransferEncoding;
      ec = boost::beast::http::error::bad_transfer_encoding;
    } else if (name == Field::host && ++hosts_ > 1) {
      fault_ = Fault::kManyHosts;
      ec = boost::beast::http::error::bad_field;
    }
  }
  void on_header_impl(Error&) override { head_done_ = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, Error&) override {
    constexpr std::uint64_t kBelieved = 1 << 20;  // beyond this, memory is allocated only as the body arrives
    if (length) request_->body.reserve(static_cast<size_t>(std::min(*length, kBelieved)));
  }
  std::size_t on_body_impl(View body, Error&) override { return Body(body); }
  void on_chunk_header_impl(std::uint64_t, View, Error&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, View body, Error&) override { return Body(body); }
  void on_finish_impl(Error&) override { request_->bytes += request_->body.size(); }
  void on_response_impl(int, View, int, Error&) override {}

  std::size_t Body(View body) {
    request_->body.append(body.data(), body.size());
    return body.size();
  }

  ServerRequest* request_;
  bool head_done_ = false;
  int hosts_ = 0;
  Fault fault_ = Fault::kNone;
};

}  // namespace berth::http
