// An HTTP server for tests that behaves as the test specifies: it answers, rejects, hangs, disconnects, or sends
// invalid data. It uses one thread for each connection, blocking sockets and a free port.
#pragma once
#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "pkg/http/executor.h"

namespace berth::http {

struct FakeRequest {
  std::string method, target, body;
  std::map<std::string, std::string> headers;  // names in lower case
  int connection = 0;                          // 1, 2, ... in the order of acceptance
  int number = 0;                              // 1, 2, ... on this connection
};

class FakeServer {
 public:
  // One request. Answer with Write or Respond; the connection stays open unless Close is called.
  class Turn {
   public:
    virtual ~Turn() = default;
    virtual void Write(const std::string& bytes) = 0;
    virtual void Close() = 0;
    // Waits until the client disconnects or the server ends.
    virtual void Hang() = 0;
    void Respond(int status, const std::string& body, const std::string& headers = "") {
      Write("HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Type: application/json\r\nContent-Length: " +
            std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body);
    }
    void StartChunks() {
      Write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
    }
    void Chunk(const std::string& data) {
      char size[20];
      snprintf(size, sizeof size, "%zx\r\n", data.size());
      Write(size + data + "\r\n");
    }
    void EndChunks() { Write("0\r\n\r\n"); }
  };
  using Handler = std::function<void(const FakeRequest&, Turn&)>;
  struct Tls {
    std::string cert_file, key_file, client_ca_file;  // with a client CA: a certificate is demanded
    bool resumes = true;                              // whether clients with certificates can resume sessions
  };

  explicit FakeServer(Handler handler) : FakeServer(std::move(handler), nullptr) {}
  FakeServer(Handler handler, const Tls* tls) : handler_(std::move(handler)), acceptor_(io_) {
    namespace asio = boost::asio;
    if (tls != nullptr) {
      tls_ = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
      tls_->use_certificate_chain_file(tls->cert_file);
      tls_->use_private_key_file(tls->key_file, asio::ssl::context::pem);
      if (!tls->client_ca_file.empty()) {
        tls_->load_verify_file(tls->client_ca_file);
        tls_->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
      }
      // Without a context of sessions, OpenSSL ends connections that resume one with a client's certificate.
      if (tls->resumes) SSL_CTX_set_session_id_context(tls_->native_handle(), reinterpret_cast<const uint8_t*>("t"), 1);
    }
    Listen(0);
  }
  ~FakeServer() { Stop(); }

  int port() const { return port_; }
  int resumed() const { return resumed_; }  // the number of connections that resumed a session
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  // Closes the listener and every connection; Listen opens it again.
  void Stop() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
      if (acceptor_.is_open()) ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
      for (auto& c : connections_) c->Shutdown();
    }
    changed_.notify_all();
    if (accepting_.joinable()) accepting_.join();
    for (auto& c : connections_) {
      if (c->thread.joinable()) c->thread.join();
    }
    connections_.clear();
    boost::system::error_code ignored;
    acceptor_.close(ignored);
  }
  void Listen(int port) {
    using tcp = boost::asio::ip::tcp;
    stopping_ = false;
    acceptor_.open(tcp::v4());
    acceptor_.set_option(boost::asio::socket_base::reuse_address(true));
    acceptor_.bind(tcp::endpoint(boost::asio::ip::address_v4::loopback(), static_cast<unsigned short>(port)));
    acceptor_.listen();
    port_ = acceptor_.local_endpoint().port();
    accepting_ = std::thread([this] { Accept(); });
  }

  // Returns the requests received so far.
  std::vector<FakeRequest> requests() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return requests_;
  }
  // Waits until `n` requests have been received. Returns false after a minute.
  bool WaitForRequests(size_t n) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return requests_.size() >= n; });
  }

 private:
  struct Connection : Turn {
    explicit Connection(FakeServer* s) : server(s), socket(s->io_) {}
    void Write(const std::string& bytes) override {
      boost::system::error_code ignored;
      if (tls) {
        boost::asio::write(*tls, boost::asio::buffer(bytes), ignored);
      } else {
        boost::asio::write(socket, boost::asio::buffer(bytes), ignored);
      }
    }
    void Close() override { Shutdown(); }
    void Shutdown() {
      closed = true;
      ::shutdown(socket.native_handle(), SHUT_RDWR);
    }
    void Hang() override {
      char buffer[1024];
      while (Read(buffer, sizeof buffer) > 0) {
      }
      closed = true;
    }
    size_t Read(char* data, size_t size) {
      boost::system::error_code ec;
      size_t n = tls ? tls->read_some(boost::asio::buffer(data, size), ec)
                     : socket.read_some(boost::asio::buffer(data, size), ec);
      return ec ? 0 : n;
    }
    FakeServer* server;
    boost::asio::ip::tcp::socket socket;
    std::unique_ptr<boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>> tls;
    std::thread thread;
    std::atomic<bool> closed{false};
    int id = 0;
  };

  void Accept() {
    for (;;) {
      auto c = std::make_unique<Connection>(this);
      boost::system::error_code ec;
      acceptor_.accept(c->socket, ec);
      std::lock_guard<std::mutex> lock(mutex_);
      if (stopping_) return;
      if (ec == boost::asio::error::no_descriptors) continue;  // a test lets there be none for a moment
      if (ec) return;
      c->socket.set_option(boost::asio::ip::tcp::no_delay(true));
      c->id = ++accepted_;
      Connection* raw = c.get();
      connections_.push_back(std::move(c));
      raw->thread = std::thread([this, raw] { Serve(raw); });
    }
  }

  void Serve(Connection* c) {
    if (tls_) {
      c->tls = std::make_unique<boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>>(c->socket, *tls_);
      boost::system::error_code ec;
      c->tls->handshake(boost::asio::ssl::stream_base::server, ec);
      if (ec) {
        c->Shutdown();
        return;
      }
      resumed_ += SSL_session_reused(c->tls->native_handle());
    }
    std::string in;
    int number = 0;
    while (!c->closed) {
      size_t end;
      char buffer[16384];
      while ((end = in.find("\r\n\r\n")) == std::string::npos) {
        size_t n = c->Read(buffer, sizeof buffer);
        if (n == 0) return Gone(c);
        in.append(buffer, n);
      }
      FakeRequest r;
      size_t line = in.find("\r\n");
      size_t space = in.find(' ');
      r.method = in.substr(0, space);
      r.target = in.substr(space + 1, in.find(' ', space + 1) - space - 1);
      while (line < end) {
        size_t next = in.find("\r\n", line + 2);
        std::string header = in.substr(line + 2, next - line - 2);
        size_t colon = header.find(": ");
        std::string name = header.substr(0, colon);
        for (char& ch : name) ch = static_cast<char>(std::tolower(static_cast<unsigned char>(ch)));
        if (colon != std::string::npos) r.headers[name] = header.substr(colon + 2);
        line = next;
      }
      size_t length = r.headers.count("content-length") ? std::stoul(r.headers["content-length"]) : 0;
      while (in.size() < end + 4 + length) {
        size_t n = c->Read(buffer, sizeof buffer);
        if (n == 0) return Gone(c);
        in.append(buffer, n);
      }
      r.body = in.substr(end + 4, length);
      in.erase(0, end + 4 + length);
      r.connection = c->id;
      r.number = ++number;
      {
        std::lock_guard<std::mutex> lock(mutex_);
        requests_.push_back(r);
      }
      changed_.notify_all();
      handler_(r, *c);
    }
    Gone(c);
  }
  void Gone(Connection* c) { c->Shutdown(); }

  Handler handler_;
  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::unique_ptr<boost::asio::ssl::context> tls_;
  std::atomic<int> resumed_{0};
  std::thread accepting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<std::unique_ptr<Connection>> connections_;
  std::vector<FakeRequest> requests_;
  bool stopping_ = false;
  int port_ = 0, accepted_ = 0;
};

// An I/O thread for tests.
class IoThread {
 public:
  IoThread() : executor_(&io_), work_(boost::asio::make_work_guard(io_)), thread_([this] { io_.run(); }) {}
  ~IoThread() { Join(); }
  void Join() {
    work_.reset();
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }
  AsioExecutor* executor() { return &executor_; }
  // Runs f on the I/O thread and waits for it.
  void Run(const std::function<void()>& f) {
    std::mutex mutex;
    std::condition_variable done;
    bool ran = false;
    executor_.Post([&] {
      f();
      std::lock_guard<std::mutex> lock(mutex);
      ran = true;
      done.notify_all();
    });
    std::unique_lock<std::mutex> lock(mutex);
    done.wait(lock, [&] { return ran; });
  }

 private:
  boost::asio::io_context io_;
  AsioExecutor executor_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

// Passes values from other threads to a test that waits for them.
template <typename T>
class Mailbox {
 public:
  void Put(T v) {
    std::lock_guard<std::mutex> lock(mutex_);
    values_.push_back(std::move(v));
    changed_.notify_all();
  }
  // Waits until there are `n` values. Returns false after a minute.
  bool WaitFor(size_t n) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return values_.size() >= n; });
  }
  std::vector<T> values() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return values_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<T> values_;
};

}  // namespace berth::http
