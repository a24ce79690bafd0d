#include "pkg/scheduler/queue/pod_backoff.h"

#include <algorithm>

namespace berth::scheduler {

absl::Duration PodBackoff::Next(const std::string& key, absl::Duration now) {
  auto [it, added] = entries_.try_emplace(key, Entry{initial_, now});
  Entry& e = it->second;
  const absl::Duration wait = e.next;
  e.next = std::min(e.next * 2, max_);
  e.until = now + wait;
  earliest_until_ = std::min(earliest_until_, e.until);
  return wait;
}

void PodBackoff::Collect(absl::Duration now) {
  if (now - earliest_until_ <= max_) return;
  earliest_until_ = absl::InfiniteDuration();
  absl::erase_if(entries_, [&](const auto& e) {
    if (now - e.second.until > max_) return true;
    earliest_until_ = std::min(earliest_until_, e.second.until);
    return false;
  });
}

}  // namespace berth::scheduler
