#include "pkg/scheduler/cache/taint_lists.h"

#include <absl/hash/hash.h>

#include "pkg/util/contract.h"
#include "pkg/util/release_memory.h"

namespace berth::scheduler {

size_t TaintLists::HashOf(const std::vector<api::Taint>& taints) {
  size_t hash = taints.size();
  for (const api::Taint& t : taints) hash = absl::HashOf(hash, t.key, t.value, t.effect);
  return hash;
}

uint32_t TaintLists::Use(const std::vector<api::Taint>& taints) {
  if (taints.empty()) return 0;
  std::vector<uint32_t>& same_hash = by_hash_[HashOf(taints)];
  for (const uint32_t number : same_hash) {
    if (lists_[number].taints != taints) continue;
    ++lists_[number].uses;
    return number;
  }
  uint32_t number = limit();
  if (free_.empty()) {
    lists_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  lists_[number] = {taints, 1};
  same_hash.push_back(number);
  ++version_;
  return number;
}

void TaintLists::Release(uint32_t number) {
  if (number == 0) return;
  List& list = lists_[number];
  BERTH_REQUIRES(list.uses > 0);
  if (--list.uses > 0) return;
  const auto same_hash = by_hash_.find(HashOf(list.taints));
  std::erase(same_hash->second, number);
  if (same_hash->second.empty()) by_hash_.erase(same_hash);
  util::ReleaseMemory(&list.taints);
  free_.push_back(number);
}

}  // namespace berth::scheduler
