#include "pkg/scheduler/extender/sent_nodes.h"

#include <algorithm>

#include "pkg/util/status.h"

namespace berth::scheduler {

size_t SentNames::Find(std::string_view name) {
  constexpr size_t kLookedAt = 4;
  for (size_t i = next_; i < std::min(next_ + kLookedAt, sent_.nodes.size()); ++i) {
    if (sent_.nodes[i]->meta.name != name) continue;
    Found(i);
    return i;
  }
  if (places_.empty()) {
    places_.reserve(sent_.nodes.size());
    for (size_t i = 0; i < sent_.nodes.size(); ++i) places_.emplace(util::ToAbsl(sent_.nodes[i]->meta.name), i);
  }
  auto it = places_.find(util::ToAbsl(name));
  if (it == places_.end()) return kNone;
  Found(it->second);
  return it->second;
}

}  // namespace berth::scheduler
