// The streams of one object that opens them one after the other, and its one timer.
#pragma once
#include <absl/time/time.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "pkg/client/http.h"

namespace berth::client {

// What belongs to an earlier stream does nothing any more, although it may still be called while that is being closed.
// Thread-safety: used on the I/O thread alone.
class CurrentStream {
 public:
  // Both must outlive the object.
  CurrentStream(Executor* executor, HttpClient* client) : executor_(executor), client_(client) {}

  // Sets the object that this one is a member of. It stays alive while one of its functions runs, and none is called
  // once it is gone. Must be called before anything else.
  void SetOwner(std::weak_ptr<void> owner) { owner_ = std::move(owner); }

  void Open(const Request& request, const StreamOptions& options, StreamHandlers handlers) {
    ++turn_;
    handlers.on_head = WhileCurrent(std::move(handlers.on_head));
    handlers.on_data = WhileCurrent(std::move(handlers.on_data));
    handlers.on_end = WhileCurrent(std::move(handlers.on_end));
    stream_ = client_->Open(request, options, std::move(handlers));
  }
  // Returns a function that calls `f` only as long as the present stream is the current one.
  template <typename Argument>
  std::function<void(Argument)> WhileCurrent(std::function<void(Argument)> f) const {
    return [this, owner = owner_, turn = turn_, f = std::move(f)](Argument a) {
      if (const auto kept = owner.lock(); kept != nullptr && turn_ == turn) f(a);
    };
  }
  // May be called inside one of the stream's handlers.
  void Close() {
    ++turn_;
    if (stream_ != nullptr) {
      executor_->Post([s = std::shared_ptr<Stream>(std::move(stream_))] {});
    }
  }
  // Must be called when the stream has ended by itself.
  void Ended() {
    ++turn_;
    stream_.reset();
  }

  // Calls `f` after a time, instead of what the timer would have called.
  void After(absl::Duration wait, std::function<void()> f) {
    executor_->Cancel(timer_);
    timer_ = executor_->After(wait, [this, owner = owner_, f = std::move(f)] {
      const auto kept = owner.lock();
      if (kept == nullptr || timer_ == 0) return;
      timer_ = 0;
      f();
    });
  }
  void CancelTimer() {
    executor_->Cancel(timer_);
    timer_ = 0;
  }
  // Ends the stream and the timer. Nothing is called afterwards.
  void Stop() {
    Ended();
    CancelTimer();
  }

 private:
  Executor* executor_;
  HttpClient* client_;
  std::weak_ptr<void> owner_;
  std::unique_ptr<Stream> stream_;
  uint64_t turn_ = 0;  // the number of the present stream
  Executor::TimerId timer_ = 0;
};

}  // namespace berth::client
