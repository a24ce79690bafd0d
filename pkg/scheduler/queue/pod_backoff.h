// How long a pod that failed has to wait: 1 s, 2 s, 4 s ... 60 s (Kubernetes 1.10 pkg/scheduler/util/backoff_utils.go).
// Entries go by "namespace/name", as there. One thread.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/time/time.h>

#include <string>

namespace berth::scheduler {

class PodBackoff {
 public:
  PodBackoff(absl::Duration initial, absl::Duration max) : initial_(initial), max_(max) {}

  // The wait for this failure; the next one's is twice as long, up to the maximum.
  absl::Duration Next(const std::string& key, absl::Duration now);
  void Reset(const std::string& key) { entries_.erase(key); }
  // Forgets pods whose last wait ended more than the maximum ago. Unlike 1.10, never one that is still waiting.
  void Collect(absl::Duration now);
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    absl::Duration next, until;
  };
  absl::Duration initial_, max_;
  absl::flat_hash_map<std::string, Entry> entries_;
};

}  // namespace berth::scheduler
