#include "pkg/util/http_post.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "pkg/util/status.h"
#include "pkg/util/version.h"

namespace berth::util {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using SteadyTime = std::chrono::steady_clock::time_point;

// ---- files and TLS ------------------------------------------------------------------------------

// Error texts in mid-sentence begin small.
std::string Lower(std::string text) {
  if (!text.empty()) text[0] = absl::ascii_tolower(static_cast<unsigned char>(text[0]));
  return text;
}

absl::StatusOr<std::string> DataOrFile(const std::string& data, const std::string& file) {
  if (!data.empty() || file.empty()) return data;
  std::ifstream in(file, std::ios::binary);
  if (!in) return InvalidArgument(absl::StrCat("open ", file, ": ", Lower(std::strerror(errno))));
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

std::string OpenSslReason() {
  unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "unknown" : reason;
}

absl::StatusOr<std::shared_ptr<asio::ssl::context>> MakeTlsContext(const TlsSettings& tls) {
  if (tls.insecure && !(tls.ca_data.empty() && tls.ca_file.empty())) {
    return InvalidArgument("specifying a root certificates file with the insecure flag is not allowed");
  }
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  auto ca = DataOrFile(tls.ca_data, tls.ca_file);
  auto cert = DataOrFile(tls.cert_data, tls.cert_file);
  auto key = DataOrFile(tls.key_data, tls.key_file);
  for (const auto* text : {&ca, &cert, &key}) {
    if (!text->ok()) return text->status();
  }
  error_code ec;
  if (tls.insecure) {
    context->set_verify_mode(asio::ssl::verify_none, ec);
  } else {
    context->set_verify_mode(asio::ssl::verify_peer, ec);
    if (ca->empty()) {
      context->set_default_verify_paths(ec);
    } else if (context->add_certificate_authority(asio::buffer(*ca), ec); ec) {
      return InvalidArgument(absl::StrCat("certificate authority", tls.ca_data.empty() ? " " + tls.ca_file : " data",
                                          ": no PEM certificate in it"));
    }
  }
  if (cert->empty() != key->empty()) {
    return InvalidArgument(cert->empty() ? "a client key without a certificate" : "a client certificate without a key");
  }
  if (!cert->empty()) {
    if (context->use_certificate_chain(asio::buffer(*cert), ec); ec) {
      return InvalidArgument(absl::StrCat("client certificate", tls.cert_data.empty() ? " " + tls.cert_file : " data",
                                          ": ", ec.message()));
    }
    if (context->use_private_key(asio::buffer(*key), asio::ssl::context::pem, ec); ec) {
      return InvalidArgument(
          absl::StrCat("client key", tls.key_data.empty() ? " " + tls.key_file : " data", ": ", ec.message()));
    }
    if (SSL_CTX_check_private_key(context->native_handle()) != 1) {
      return InvalidArgument(
          absl::StrCat("the client key does not belong to the client certificate: ", OpenSslReason()));
    }
  }
  return context;
}

// ---- name lookup --------------------------------------------------------------------------------

// getaddrinfo cannot be interrupted: it gets a thread of its own, which is left behind when the deadline passes.
absl::StatusOr<std::vector<tcp::endpoint>> Lookup(const std::string& host, const std::string& port,
                                                  SteadyTime deadline) {
  error_code ec;
  auto number = static_cast<uint16_t>(std::strtoul(port.c_str(), nullptr, 10));
  if (auto address = asio::ip::make_address(host, ec); !ec) return std::vector<tcp::endpoint>{{address, number}};
  struct Shared {
    std::mutex mutex;
    std::condition_variable done_changed;
    bool done = false;
    error_code ec;
    std::vector<tcp::endpoint> found;
  };
  auto shared = std::make_shared<Shared>();
  std::thread([shared, host, port] {
    asio::io_context io;
    error_code failed;
    std::vector<tcp::endpoint> found;
    for (const auto& entry : tcp::resolver(io).resolve(host, port, failed)) found.push_back(entry.endpoint());
    std::lock_guard lock(shared->mutex);
    shared->ec = failed;
    shared->found = std::move(found);
    shared->done = true;
    shared->done_changed.notify_all();
  }).detach();
  std::unique_lock lock(shared->mutex);
  if (!shared->done_changed.wait_until(lock, deadline, [&] { return shared->done; })) {
    return absl::DeadlineExceededError(absl::StrCat("lookup ", host, ": timed out"));
  }
  if (shared->ec) return Unavailable(absl::StrCat("lookup ", host, ": ", shared->ec.message()));
  return std::move(shared->found);
}

// ---- proxies ------------------------------------------------------------------------------------

std::string Environment(const char* lower) {
  const char* value = std::getenv(lower);
  if (value == nullptr || *value == '\0') value = std::getenv(absl::AsciiStrToUpper(lower).c_str());
  return value == nullptr ? std::string() : value;
}

bool IsLoopback(const std::string& host) {
  error_code ec;
  auto address = asio::ip::make_address(host, ec);
  return ec ? host == "localhost" : address.is_loopback();
}

// True when no_proxy names the host, its domain, or everything.
bool ProxyForbidden(const std::string& host, const std::string& port) {
  for (auto entry : absl::StrSplit(Environment("no_proxy"), ',')) {
    std::string e(absl::StripAsciiWhitespace(entry));
    if (e.empty()) continue;
    if (e == "*" || e == host || e == absl::StrCat(host, ":", port)) return true;
    std::string domain = e[0] == '.' ? e : "." + e;
    if (absl::EndsWith(host, domain)) return true;
  }
  return false;
}

absl::StatusOr<std::optional<ParsedUrl>> ProxyFor(const ParsedUrl& url) {
  std::string proxy = Environment(url.https ? "https_proxy" : "http_proxy");
  if (proxy.empty() || IsLoopback(url.host) || ProxyForbidden(url.host, url.port)) return std::nullopt;
  if (!absl::StrContains(proxy, "://")) proxy = "http://" + proxy;
  auto parsed = ParseUrl(proxy);
  if (!parsed.ok()) return parsed.status();
  if (parsed->https) return InvalidArgument(absl::StrCat("proxy ", proxy, ": only http:// proxies are supported"));
  return *parsed;
}

std::string HostHeader(const ParsedUrl& url) {
  std::string host = absl::StrContains(url.host, ":") ? absl::StrCat("[", url.host, "]") : url.host;
  return url.port == (url.https ? "443" : "80") ? host : absl::StrCat(host, ":", url.port);
}

// ---- one connection -----------------------------------------------------------------------------

// Owns an io_context of its own, so that the calling thread runs its own exchange and nobody else's.
class Connection {
 public:
  Connection() : stream_(io_) {}

  absl::Status Open(const ParsedUrl& url, const std::optional<ParsedUrl>& proxy, asio::ssl::context* tls_context,
                    const TlsSettings& tls, SteadyTime deadline) {
    const ParsedUrl& next = proxy ? *proxy : url;
    auto endpoints = Lookup(next.host, next.port, deadline);
    if (!endpoints.ok()) return endpoints.status();
    error_code ec;
    stream_.expires_at(deadline);
    stream_.async_connect(*endpoints, [&](error_code e, const tcp::endpoint&) { ec = e; });
    Run();
    if (ec) return Failed(absl::StrCat("dial tcp ", next.host, ":", next.port, ": connect"), ec);
    stream_.socket().set_option(tcp::no_delay(true), ec);
    if (!url.https) return absl::OkStatus();
    if (proxy) BERTH_RETURN_IF_ERROR(Tunnel(url));
    return Handshake(url, *tls_context, tls);
  }

  // *nothing_read: the server gave no byte of an answer.
  absl::StatusOr<HttpAnswer> Exchange(const http::request<http::span_body<const char>>& request, size_t max_body,
                                      SteadyTime deadline, bool* nothing_read) {
    *nothing_read = false;
    stream_.expires_at(deadline);
    http::response_parser<http::string_body> parser;
    parser.body_limit(max_body);
    error_code ec;
    auto note = [&](error_code e, size_t) { ec = e; };
    if (tls_) {
      http::async_write(*tls_, request, note);
    } else {
      http::async_write(stream_, request, note);
    }
    Run();
    // A server may answer and close before it has read everything: its answer counts.
    error_code write_error = ec;
    if (write_error == beast::error::timeout) return Failed("sending the request", write_error);
    if (tls_) {
      http::async_read(*tls_, buffer_, parser, note);
    } else {
      http::async_read(stream_, buffer_, parser, note);
    }
    Run();
    if (ec) {
      *nothing_read = !parser.got_some() && ec != beast::error::timeout;
      return Failed(parser.is_header_done() ? "reading the answer" : "waiting for the answer",
                    write_error ? write_error : ec);
    }
    keep_alive_ = parser.keep_alive() && !write_error;
    HttpAnswer answer;
    answer.status = static_cast<int>(parser.get().result_int());
    answer.body = std::move(parser.get().body());
    return answer;
  }

  bool keep_alive() const { return keep_alive_; }

  // True while nothing has arrived on the idle connection: neither its end nor anything else.
  bool StillIdle() {
    char byte;
    ssize_t n = ::recv(beast::get_lowest_layer(stream_).socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && buffer_.size() == 0;
  }

 private:
  void Run() {
    io_.restart();
    io_.run();
  }

  static absl::Status Failed(const std::string& doing, error_code ec) {
    if (ec == beast::error::timeout) return absl::DeadlineExceededError(absl::StrCat(doing, ": timed out"));
    if (ec == http::error::end_of_stream) return Unavailable(absl::StrCat(doing, ": the server closed the connection"));
    return Unavailable(absl::StrCat(doing, ": ", Lower(ec.message())));
  }

  absl::Status Tunnel(const ParsedUrl& url) {
    http::request<http::empty_body> connect(http::verb::connect, absl::StrCat(url.host, ":", url.port), 11);
    connect.set(http::field::host, absl::StrCat(url.host, ":", url.port));
    error_code ec;
    auto note = [&](error_code e, size_t) { ec = e; };
    http::async_write(stream_, connect, note);
    Run();
    if (ec) return Failed("asking the proxy", ec);
    http::response_parser<http::empty_body> parser;
    parser.skip(true);
    beast::flat_buffer buffer;
    http::async_read_header(stream_, buffer, parser, note);
    Run();
    if (ec) return Failed("waiting for the proxy", ec);
    if (parser.get().result() != http::status::ok) {
      return Unavailable(absl::StrCat("the proxy answered ", parser.get().result_int()));
    }
    return absl::OkStatus();
  }

  absl::Status Handshake(const ParsedUrl& url, asio::ssl::context& context, const TlsSettings& tls) {
    tls_.emplace(stream_, context);
    const std::string& name = tls.server_name.empty() ? url.host : tls.server_name;
    error_code ec;
    if (asio::ip::make_address(name, ec); ec) SSL_set_tlsext_host_name(tls_->native_handle(), name.c_str());
    if (!tls.insecure) tls_->set_verify_callback(asio::ssl::host_name_verification(name), ec);
    ec = {};
    tls_->async_handshake(asio::ssl::stream_base::client, [&](error_code e) { ec = e; });
    Run();
    if (!ec) return absl::OkStatus();
    long verdict = SSL_get_verify_result(tls_->native_handle());
    if (!tls.insecure && ec != beast::error::timeout && verdict != X509_V_OK) {
      return Unavailable(
          absl::StrCat("tls: certificate of ", name, " is not trusted: ", X509_verify_cert_error_string(verdict)));
    }
    return Failed("tls handshake", ec);
  }

  asio::io_context io_;
  beast::tcp_stream stream_;
  std::optional<beast::ssl_stream<beast::tcp_stream&>> tls_;
  beast::flat_buffer buffer_;
  bool keep_alive_ = false;
};

}  // namespace

absl::StatusOr<ParsedUrl> ParseUrl(const std::string& url) {
  auto wrong = [&](std::string_view what) {
    return InvalidArgument(absl::StrCat("\"", url, "\" is not a URL: ", ToAbsl(what)));
  };
  ParsedUrl out;
  size_t colon = url.find("://");
  if (colon == std::string::npos) return wrong("it should begin with http:// or https://");
  std::string scheme = absl::AsciiStrToLower(url.substr(0, colon));
  if (scheme != "http" && scheme != "https") return wrong("it should begin with http:// or https://");
  out.https = scheme == "https";
  size_t begin = colon + 3;
  size_t end = url.find_first_of("/?#", begin);
  std::string authority = url.substr(begin, end == std::string::npos ? end : end - begin);
  if (size_t at = authority.rfind('@'); at != std::string::npos) authority.erase(0, at + 1);
  if (!authority.empty() && authority[0] == '[') {
    size_t close = authority.find(']');
    if (close == std::string::npos) return wrong("a bracket is open");
    out.host = authority.substr(1, close - 1);
    authority.erase(0, close + 1);
    if (!authority.empty() && authority[0] != ':') return wrong("after the address only a port may stand");
    out.port = authority.empty() ? "" : authority.substr(1);
  } else {
    size_t port = authority.find(':');
    out.host = authority.substr(0, port);
    out.port = port == std::string::npos ? "" : authority.substr(port + 1);
  }
  if (out.host.empty()) return wrong("it has no host");
  if (out.port.empty()) out.port = out.https ? "443" : "80";
  if (out.port.size() > 5 || out.port.find_first_not_of("0123456789") != std::string::npos || std::stoi(out.port) < 1 ||
      std::stoi(out.port) > 65535) {
    return wrong("the port should be a number from 1 to 65535");
  }
  std::string rest = end == std::string::npos ? "" : url.substr(end);
  rest = rest.substr(0, rest.find('#'));
  out.target = rest.empty() || rest[0] != '/' ? "/" + rest : rest;
  for (char c : out.target) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) return wrong("it has blanks or control characters");
  }
  return out;
}

struct HttpPoster::State {
  HttpPostOptions options;
  std::shared_ptr<asio::ssl::context> tls_context;
  std::mutex mutex;
  std::map<std::string, std::vector<std::unique_ptr<Connection>>> idle;  // by scheme://host:port

  std::unique_ptr<Connection> TakeIdle(const std::string& server) {
    std::lock_guard lock(mutex);
    std::vector<std::unique_ptr<Connection>>& list = idle[server];
    while (!list.empty()) {
      std::unique_ptr<Connection> c = std::move(list.back());
      list.pop_back();
      if (c->StillIdle()) return c;
    }
    return nullptr;
  }
  void Keep(const std::string& server, std::unique_ptr<Connection> connection) {
    std::lock_guard lock(mutex);
    std::vector<std::unique_ptr<Connection>>& list = idle[server];
    if (list.size() < options.max_idle) list.push_back(std::move(connection));
  }
};

HttpPoster::HttpPoster(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpPoster::~HttpPoster() = default;

absl::StatusOr<std::unique_ptr<HttpPoster>> HttpPoster::Create(HttpPostOptions options) {
  auto context = MakeTlsContext(options.tls);
  if (!context.ok()) return context.status();
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  state->tls_context = std::move(*context);
  return std::unique_ptr<HttpPoster>(new HttpPoster(std::move(state)));
}

absl::StatusOr<HttpAnswer> HttpPoster::Post(const std::string& url, std::string_view body, bool repeatable) {
  auto failed = [&](const absl::Status& s) {
    std::string text = absl::StrCat("Post ", url, ": ", Message(s));
    if (absl::IsDeadlineExceeded(s)) absl::StrAppend(&text, " after ", absl::FormatDuration(state_->options.timeout));
    return absl::Status(s.code(), text);
  };
  auto parsed = ParseUrl(url);
  if (!parsed.ok()) return parsed.status();
  auto proxy = ProxyFor(*parsed);
  if (!proxy.ok()) return failed(proxy.status());

  http::request<http::span_body<const char>> request(http::verb::post, parsed->target, 11);
  if (*proxy && !parsed->https) request.target(url);
  request.set(http::field::host, HostHeader(*parsed));
  request.set(http::field::user_agent, absl::StrCat("berth/", ToAbsl(Version())));
  request.set(http::field::content_type, "application/json");
  request.body() = beast::span<const char>(body.data(), body.size());
  request.prepare_payload();

  SteadyTime deadline = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(state_->options.timeout);
  std::string server = absl::StrCat(parsed->https ? "https" : "http", "://", parsed->host, ":", parsed->port);
  std::unique_ptr<Connection> connection = state_->TakeIdle(server);
  bool reused = connection != nullptr;
  for (;;) {
    if (connection == nullptr) {
      connection = std::make_unique<Connection>();
      absl::Status opened = connection->Open(*parsed, *proxy, state_->tls_context.get(), state_->options.tls, deadline);
      if (!opened.ok()) return failed(opened);
    }
    bool nothing_read = false;
    absl::StatusOr<HttpAnswer> answer =
        connection->Exchange(request, state_->options.max_body, deadline, &nothing_read);
    if (answer.ok()) {
      if (connection->keep_alive()) state_->Keep(server, std::move(connection));
      return answer;
    }
    if (!reused || !repeatable || !nothing_read) return failed(answer.status());
    reused = false;
    connection = nullptr;
  }
}

}  // namespace berth::util
