// The only way into the scheduler: a bounded queue of batches, replies and commands (rounds.h says who takes them).
#pragma once
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
#include "pkg/util/contract.h"

namespace berth::kube_scheduler {

template <typename... Batch>
using InboxItemOf = std::variant<scheduler::Reply, std::function<void()>, Batch...>;
using InboxItem = api::WatchedKinds::Of<InboxItemOf, client::InformerBatch>;

// Items are taken in the order in which they were put. Thread-safety: any thread may put and take; whoever takes sees
// to it that nobody else applies items meanwhile.
class Inbox {
 public:
  // `limit` is the number of informer events that may wait. While there are more, informers block: they read their
  // watches more slowly, and a server that does not want to wait closes them, after which everything is listed again.
  explicit Inbox(size_t limit) : limit_(limit) {}

  // Lets `f` be called after each item that is put, on the thread that has put it, with the number of changes, replies
  // and commands that wait. REQUIRES: called before any other thread uses the inbox.
  void Tell(std::function<void(size_t waiting)> f) {
    BERTH_REQUIRES(tell_ == nullptr);
    tell_ = std::move(f);
  }

  // Adds a batch of changes. Blocks while the inbox is full, unless it is closed.
  template <typename T>
  void PutBatch(client::InformerBatch<T> batch) {
    size_t waiting = 0;
    {
      std::unique_lock lock(mutex_);
      if (waiting_ >= limit_) {
        ++full_;
        room_.wait(lock, [&] { return waiting_ < limit_ || closed_; });
      }
      waiting_ += batch.events.size();
      items_.emplace_back(std::move(batch));
      waiting = waiting_ + items_.size();
    }
    if (tell_) tell_(waiting);
  }
  // Adds a reply or a command. Never blocks, because there are at most as many of them as requests.
  void Put(InboxItem item) {
    size_t waiting = 0;
    {
      const std::lock_guard lock(mutex_);
      items_.push_back(std::move(item));
      waiting = waiting_ + items_.size();
    }
    if (tell_) tell_(waiting);
  }

  // Moves all items into `out`.
  void Take(std::vector<InboxItem>* out) {
    out->clear();
    const std::lock_guard lock(mutex_);
    std::swap(*out, items_);
    if (waiting_ >= limit_) room_.notify_all();
    waiting_ = 0;
  }
  bool empty() const {
    const std::lock_guard lock(mutex_);
    return items_.empty();
  }
  // Releases threads that wait in PutBatch, because no more items will be taken.
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
  const size_t limit_;
  std::function<void(size_t)> tell_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::vector<InboxItem> items_;
  size_t waiting_ = 0;
  uint64_t full_ = 0;
  bool closed_ = false;
};

}  // namespace berth::kube_scheduler
