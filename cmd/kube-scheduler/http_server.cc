#include "cmd/kube-scheduler/http_server.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <glog/logging.h>
#include <openssl/x509.h>
#include <zlib.h>

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <mutex>
#include <optional>
#include <thread>

#include "cmd/kube-scheduler/component_config.h"

namespace berth::kube_scheduler {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Error = boost::system::error_code;

constexpr auto kIdle = std::chrono::seconds(60);
constexpr size_t kMaxConnections = 256;  // more are closed at once

std::string Gzip(const std::string& text) {
  z_stream z{};
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(deflateBound(&z, text.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  const int rc = deflate(&z, Z_FINISH);
  out.resize(rc == Z_STREAM_END ? z.total_out : 0);
  deflateEnd(&z);
  return out;
}

void NameFromCertificate(SSL* ssl, HttpRequest* out) {
  if (SSL_get_verify_result(ssl) != X509_V_OK) return;
  X509* cert = SSL_get_peer_certificate(ssl);
  if (cert == nullptr) return;
  X509_NAME* name = X509_get_subject_name(cert);
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    X509_NAME_ENTRY* e = X509_NAME_get_entry(name, i);
    unsigned char* text = nullptr;
    const int n = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(e));
    if (n < 0) continue;
    const std::string value(reinterpret_cast<char*>(text), static_cast<size_t>(n));
    OPENSSL_free(text);
    const int nid = OBJ_obj2nid(X509_NAME_ENTRY_get_object(e));
    if (nid == NID_commonName) out->client_name = value;
    if (nid == NID_organizationName) absl::StrAppend(&out->client_groups, out->client_groups.empty() ? "" : ",", value);
  }
  X509_free(cert);
}

}  // namespace

struct HttpServer::State {
  State(std::string n, std::string a, HttpHandler h)
      : name(std::move(n)), address(std::move(a)), handler(std::move(h)) {}

  std::string name, address;
  HttpHandler handler;
  std::atomic<size_t> connections{0};
  std::atomic<uint64_t> refused{0};
  std::optional<asio::ssl::context> tls;
  asio::io_context io;  // before what runs on it, behind what its handlers use
  tcp::acceptor acceptor{io};
  asio::steady_timer retry{io};
  std::thread thread;
  mutable std::mutex mutex;
  std::string serving;

  // One connection, plain or TLS.
  template <typename Stream>
  struct Session : std::enable_shared_from_this<Session<Stream>> {
    Session(State* s, Stream st) : state(s), stream(std::move(st)) { ++state->connections; }
    ~Session() { --state->connections; }

    void Read() {
      request = {};
      beast::get_lowest_layer(stream).expires_after(kIdle);
      parser.emplace();
      parser->body_limit(1 << 16);
      http::async_read(stream, buffer, *parser, [self = this->shared_from_this()](Error e, size_t) {
        if (!e) self->Answer();
      });
    }
    void Answer() {
      const auto& m = parser->get();
      HttpRequest r;
      r.method = std::string(m.method_string());
      const std::string target(m.target());
      const size_t q = target.find('?');
      r.path = target.substr(0, q);
      r.has_query = q != std::string::npos;
      if (r.has_query) r.query = target.substr(q + 1);
      r.accepts_gzip = std::string_view(m[http::field::accept_encoding]).find("gzip") != std::string_view::npos;
      r.authorization = std::string(m[http::field::authorization]);
      r.bytes = r.method.size() + target.size() + m.body().size();
      for (const auto& field : m) r.bytes += field.name_string().size() + field.value().size();
      if constexpr (requires { stream.native_handle(); }) NameFromCertificate(stream.native_handle(), &r);
      const HttpResponse page = state->handler(r);
      response = {};
      response.version(m.version());
      response.result(static_cast<unsigned>(page.status));
      response.set(http::field::content_type, page.content_type);
      if (page.no_sniff) response.set("X-Content-Type-Options", "nosniff");
      response.body() = page.body;
      if (page.gzip && r.accepts_gzip) {
        if (std::string packed = Gzip(page.body); !packed.empty()) {
          response.set(http::field::content_encoding, "gzip");
          response.body() = std::move(packed);
        }
      }
      if (page.sends) page.sends(response.body().size());
      response.keep_alive(m.keep_alive());
      response.prepare_payload();
      if (r.method == "HEAD") response.body().clear();  // its length stays
      beast::get_lowest_layer(stream).expires_after(kIdle);
      http::async_write(stream, response, [self = this->shared_from_this()](Error e, size_t) {
        if (!e && self->response.keep_alive()) {
          self->Read();
        } else {
          self->Close();
        }
      });
    }
    void Close() {
      Error ignored;
      beast::get_lowest_layer(stream).socket().shutdown(tcp::socket::shutdown_send, ignored);
    }

    State* state;
    Stream stream;
    beast::flat_buffer buffer;
    std::optional<http::request_parser<http::string_body>> parser;
    http::request<http::string_body> request;
    http::response<http::string_body> response;
  };

  void Listen() {
    const auto hp = SplitHostPort(address);
    Error e;
    tcp::resolver resolver(io);
    tcp::endpoint endpoint;
    if (!hp) {
      e = asio::error::invalid_argument;
    } else {
      const auto found = resolver.resolve(hp->host, hp->port, tcp::resolver::passive, e);
      if (!e) endpoint = found.begin()->endpoint();
    }
    if (!e) acceptor.open(endpoint.protocol(), e);
    if (!e) acceptor.set_option(tcp::acceptor::reuse_address(true), e);
    if (!e) acceptor.bind(endpoint, e);
    if (!e) acceptor.listen(asio::socket_base::max_listen_connections, e);
    if (e) {
      LOG(ERROR) << "failed to start " << name << " server: listen tcp " << address << ": "
                 << absl::AsciiStrToLower(e.message());
      Error ignored;
      acceptor.close(ignored);
      retry.expires_after(std::chrono::seconds(5));
      retry.async_wait([this](Error cancelled) {
        if (!cancelled) Listen();
      });
      return;
    }
    const auto local = acceptor.local_endpoint();
    {
      std::lock_guard lock(mutex);
      serving = JoinHostPort(hp->host, absl::StrCat(local.port()));
    }
    LOG(INFO) << "starting " << name << " server on " << serving;
    Accept();
  }

  void Accept() {
    acceptor.async_accept([this](Error e, tcp::socket socket) {
      if (e == asio::error::operation_aborted) return;
      if (e) {
        // Most likely no file descriptor is left; the next may be free soon.
        LOG(ERROR) << "cannot accept a connection to the " << name << " server: " << e.message();
        retry.expires_after(std::chrono::milliseconds(100));
        retry.async_wait([this](Error cancelled) {
          if (!cancelled) Accept();
        });
        return;
      }
      if (connections >= kMaxConnections) {
        ++refused;
      } else {
        Error ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        if (tls) {
          using Tls = beast::ssl_stream<beast::tcp_stream>;
          auto s = std::make_shared<Session<Tls>>(this, Tls(beast::tcp_stream(std::move(socket)), *tls));
          beast::get_lowest_layer(s->stream).expires_after(kIdle);
          s->stream.async_handshake(asio::ssl::stream_base::server, [s](Error failed) {
            if (!failed) s->Read();
          });
        } else {
          std::make_shared<Session<beast::tcp_stream>>(this, beast::tcp_stream(std::move(socket)))->Read();
        }
      }
      Accept();
    });
  }
};

HttpServer::HttpServer(std::string name, std::string address, HttpHandler handler)
    : state_(std::make_unique<State>(std::move(name), std::move(address), std::move(handler))) {}

HttpServer::~HttpServer() {
  state_->io.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

absl::Status HttpServer::UseTls(const ServerTls& t) {
  auto& c = state_->tls.emplace(asio::ssl::context::tls_server);
  Error e;
  c.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 | asio::ssl::context::no_sslv3 |
                    asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1,
                e);
  if (!e) c.use_certificate_chain(asio::buffer(t.cert_pem), e);
  if (e) return absl::InvalidArgumentError(absl::StrCat(t.cert_from, ": bad certificate: ", e.message()));
  c.use_private_key(asio::buffer(t.key_pem), asio::ssl::context::pem, e);
  if (e) return absl::InvalidArgumentError(absl::StrCat(t.key_from, ": bad key: ", e.message()));
  if (t.client_ca_pem.empty()) return absl::OkStatus();
  c.add_certificate_authority(asio::buffer(t.client_ca_pem), e);
  if (!e) c.set_verify_mode(asio::ssl::verify_peer, e);
  if (e) return absl::InvalidArgumentError(absl::StrCat(t.client_ca_from, ": bad certificate: ", e.message()));
  return absl::OkStatus();
}

void HttpServer::Start() {
  state_->thread = std::thread([s = state_.get()] {
    s->Listen();
    auto work = asio::make_work_guard(s->io);
    s->io.run();
  });
}

std::string HttpServer::address() const {
  std::lock_guard lock(state_->mutex);
  return state_->serving;
}

HttpServer::Stats HttpServer::stats() const {
  return {state_->name, state_->connections, state_->refused};
}

HttpResponse NotFoundPage() {
  HttpResponse r;
  r.status = 404;
  r.body = "404 page not found\n";
  r.no_sniff = true;
  return r;
}

}  // namespace berth::kube_scheduler
