// The only way into the scheduler's thread: a bounded queue of batches.
#pragma once
#include <absl/time/time.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include "pkg/api/kinds.h"
#include "pkg/client/informer.h"
#include "pkg/scheduler/scheduler_actions.h"

namespace berth::kube_scheduler {

template <typename... Batch>
using InboxItemOf = std::variant<scheduler::Reply, std::function<void()>, Batch...>;
using InboxItem = api::WatchedKinds::Of<InboxItemOf, client::InformerBatch>;

// Items are taken in the order in which they were put. Thread-safety: any thread may put; one thread takes.
class Inbox {
 public:
  // `limit` is the number of informer events that may wait. While there are more, informers block: they read their
  // watches more slowly, and a server that does not want to wait closes them, after which everything is listed again.
  explicit Inbox(size_t limit) : limit_(limit) {}

  // Adds a batch of changes. Blocks while the inbox is full, unless it is closed.
  template <typename T>
  void PutNews(client::InformerBatch<T> batch) {
    std::unique_lock lock(mutex_);
    if (waiting_ >= limit_) {
      ++full_;
      room_.wait(lock, [&] { return waiting_ < limit_ || closed_; });
    }
    waiting_ += batch.events.size();
    items_.emplace_back(std::move(batch));
    Wake();
  }
  // Adds a reply or a command. Never blocks, because there are at most as many of them as requests.
  void Put(InboxItem item) {
    std::lock_guard lock(mutex_);
    items_.push_back(std::move(item));
    Wake();
  }

  // Moves all items into `out`. If there are none, waits for one, at most for `limit`.
  void Take(std::vector<InboxItem>* out, absl::Duration limit) {
    out->clear();
    std::unique_lock lock(mutex_);
    if (items_.empty() && limit > absl::ZeroDuration()) {
      idle_ = true;
      const auto something = [&] { return !items_.empty(); };
      if (limit < absl::Hours(1)) {
        news_.wait_for(lock, absl::ToChronoMicroseconds(limit), something);
      } else {
        news_.wait(lock, something);
      }
      idle_ = false;
    }
    std::swap(*out, items_);
    waiting_ = 0;
    room_.notify_all();
  }
  // Releases threads that wait in PutNews, because no more items will be taken.
  void Close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    room_.notify_all();
  }
  size_t depth() const {
    std::lock_guard lock(mutex_);
    return waiting_;
  }
  // Returns how often it was full.
  uint64_t full() const {
    std::lock_guard lock(mutex_);
    return full_;
  }
  size_t limit() const { return limit_; }

 private:
  void Wake() {
    if (std::exchange(idle_, false)) news_.notify_one();
  }
  const size_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable news_, room_;
  std::vector<InboxItem> items_;
  size_t waiting_ = 0;
  uint64_t full_ = 0;
  bool idle_ = false, closed_ = false;
};

}  // namespace berth::kube_scheduler
