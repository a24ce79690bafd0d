// The thread and the Lookup share one object. Whichever of them ends first leaves it to the other: a cancelled lookup
// clears `io`, so that the thread posts nothing to a context that may be gone.
#include "pkg/http/lookup.h"

#include <absl/strings/str_cat.h>
#include <netdb.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace berth::http {

using boost::asio::ip::tcp;

struct Lookup::Shared {
  std::mutex mutex;
  boost::asio::io_context* io;  // null after cancellation; guarded by mutex
  Done done;                    // used on the thread of the io_context

  void Tell(const std::shared_ptr<Shared>& self, std::string error, std::vector<std::string> found) {
    std::lock_guard lock(mutex);
    if (io == nullptr) return;
    boost::asio::post(*io, [self, error = std::move(error), found = std::move(found)]() mutable {
      if (self->done) std::exchange(self->done, nullptr)(error, std::move(found));
    });
  }
};

Lookup::Lookup(boost::asio::io_context* io, const std::string& host, Done done) : shared_(std::make_shared<Shared>()) {
  shared_->io = io;
  shared_->done = std::move(done);
  boost::system::error_code no_address;
  if (auto address = boost::asio::ip::make_address(host, no_address); !no_address) {
    shared_->Tell(shared_, "", {address.to_string()});
    return;
  }
  try {
    std::thread([shared = shared_, host] {
      addrinfo hints{}, *list = nullptr;
      hints.ai_socktype = SOCK_STREAM;
      hints.ai_flags = AI_ADDRCONFIG;
      const int rc = getaddrinfo(host.c_str(), nullptr, &hints, &list);
      std::vector<std::string> found;
      for (addrinfo* a = rc == 0 ? list : nullptr; a != nullptr; a = a->ai_next) {
        tcp::endpoint endpoint;
        if (a->ai_addrlen > endpoint.capacity()) continue;
        std::memcpy(endpoint.data(), a->ai_addr, a->ai_addrlen);
        endpoint.resize(a->ai_addrlen);
        found.push_back(endpoint.address().to_string());
      }
      if (rc == 0) freeaddrinfo(list);
      const bool unknown = rc == EAI_NONAME || rc == EAI_AGAIN || (rc == 0 && found.empty());
      std::string error;
      if (found.empty()) error = absl::StrCat("lookup ", host, ": ", unknown ? "no such host" : gai_strerror(rc));
      shared->Tell(shared, std::move(error), std::move(found));
    }).detach();
  } catch (const std::system_error& e) {
    shared_->Tell(shared_, absl::StrCat("lookup ", host, ": no thread for it: ", e.what()), {});
  }
}

Lookup::~Lookup() {
  std::lock_guard lock(shared_->mutex);
  shared_->io = nullptr;
  shared_->done = nullptr;
}

}  // namespace berth::http
