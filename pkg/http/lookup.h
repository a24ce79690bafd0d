// Name lookup that can be cancelled. For use within this package.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace boost::asio {
class io_context;
}

namespace berth::http {

// A name lookup. Destroying it cancels the lookup; `done` is not called afterwards.
//
// getaddrinfo cannot be interrupted and may take half a minute while no name server responds. It therefore runs on a
// detached thread, so that it delays neither a timeout nor the end of the process.
class Lookup {
 public:
  using Done = std::function<void(const std::string& error, std::vector<std::string> addresses)>;
  // Calls `done` once, later, on the thread of the io_context, with IP addresses. `error` uses Go's words ("lookup
  // api.example.com: no such host") and is empty if an address was found.
  Lookup(boost::asio::io_context* io, const std::string& host, Done done);
  ~Lookup();
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace berth::http
