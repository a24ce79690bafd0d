// Name lookup that can be given up (inside this package only).
#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace berth::http {

// One lookup. Destroying it gives it up: `done` is not called any more.
//
// getaddrinfo cannot be interrupted and may take half a minute while the name server is away. It runs on a thread of
// its own that nobody waits for, so that neither a timeout nor the end of the process is held up by it.
class Lookup {
 public:
  using Done = std::function<void(const std::string& error, std::vector<boost::asio::ip::tcp::endpoint> found)>;
  // Calls `done` once, later, on the thread of the io_context.
  // `error` is in Go's words ("lookup api.example.com: no such host"), and empty when something was found.
  Lookup(boost::asio::io_context* io, const std::string& host, uint16_t port, Done done);
  ~Lookup();
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace berth::http
