#include "pkg/scheduler/queue/pod_backoff.h"

#include <algorithm>

namespace berth::scheduler {

absl::Duration PodBackoff::Next(const std::string& key, absl::Duration now) {
  auto [it, added] = entries_.try_emplace(key, Entry{initial_, now});
  Entry& e = it->second;
  const absl::Duration wait = e.next;
  e.next = std::min(e.next * 2, max_);
  e.until = now + wait;
  return wait;
}

void PodBackoff::Collect(absl::Duration now) {
  absl::erase_if(entries_, [&](const auto& e) { return now - e.second.until > max_; });
}

}  // namespace berth::scheduler
