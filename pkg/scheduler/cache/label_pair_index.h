// An index from the labels of a pod to the selectors that may match them.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "pkg/api/labels.h"
#include "pkg/util/symbol.h"

namespace berth::scheduler {

// Maps selectors to numbers that the user chooses. A selector that requires a label to have one of some values is filed
// under each pair of that key and such a value. A selector without such a requirement is a candidate for every pod.
class LabelPairIndex {
 public:
  void Add(const api::Selector& selector, uint32_t number);
  void Remove(const api::Selector& selector, uint32_t number);
  // Appends the numbers of all selectors that match the labels, and of some that do not match. A number is appended at
  // most once for each time it was added.
  void Candidates(const api::Labels& labels, std::vector<uint32_t>* out) const;

 private:
  using Pair = std::pair<util::Symbol, util::Symbol>;
  static const api::Requirement* Equality(const api::Selector& selector);
  absl::flat_hash_map<Pair, std::vector<uint32_t>> by_pair_;
  std::vector<uint32_t> rest_;  // selectors that no pair leads to
};

}  // namespace berth::scheduler
