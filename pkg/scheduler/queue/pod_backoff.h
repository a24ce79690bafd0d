// How long a pod waits after a failed attempt: 1 s, 2 s, 4 s ... 60 s with the default options of the PriorityQueue
// (Kubernetes 1.10 pkg/scheduler/util/backoff_utils.go). As there, a pod is identified by "namespace/name".
//
// Thread-safety: none.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/time/time.h>

#include <string>

namespace berth::scheduler {

class PodBackoff {
 public:
  PodBackoff(absl::Duration initial, absl::Duration max) : initial_(initial), max_(max) {}

  // Returns how long the pod waits after this failure. The next wait is twice as long, up to the maximum.
  absl::Duration Next(const std::string& key, absl::Duration now);
  void Reset(const std::string& key) { entries_.erase(key); }
  // Drops pods whose last wait ended more than the maximum ago. Unlike in 1.10, no pod that still waits is dropped.
  void Collect(absl::Duration now);
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    absl::Duration next, until;  // the length of the next wait; the end of the last one
  };
  absl::Duration initial_, max_;
  absl::flat_hash_map<std::string, Entry> entries_;
  absl::Duration earliest_until_ = absl::InfiniteDuration();  // no entry's wait ended before
};

}  // namespace berth::scheduler
