#include "pkg/scheduler/core/incremental/common_keys.h"

#include <algorithm>

namespace berth::scheduler {
namespace {

// The cost of a decision grows with the number of groups, so labels that only some pods need must not make many.
constexpr size_t kMostCommonGroups = 8;

// Pods may name any number of labels as topology keys, so the number of keys is bounded.
constexpr size_t kMostKeys = 16;

}  // namespace

void CommonKeys::Add(const GroupKey& key) {
  if (keys_.size() == kMostKeys || std::find(keys_.begin(), keys_.end(), key) != keys_.end()) return;
  keys_.push_back(key);
}

std::vector<GroupKey> CommonKeys::Few() const {
  std::vector<GroupKey> few;
  size_t groups = 1;
  for (const GroupKey& key : keys_) {
    const size_t values = key.presence_only ? 2 : key.column->distinct() + 1;
    if (values < 2 || values > kMostCommonGroups || groups * values > kMostCommonGroups) continue;
    groups *= values;
    few.push_back(key);
  }
  return few;
}

}  // namespace berth::scheduler
