// Finds selectors by the labels of a pod without looking at all of them.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "pkg/api/labels.h"
#include "pkg/util/symbol.h"

namespace berth::scheduler {

// Numbers by selector. A selector that requires a label to have one of some values is found by each such pair of key
// and value; one that requires no such thing is a candidate for every pod.
class LabelPairIndex {
 public:
  void Add(const api::Selector& selector, uint32_t number);
  void Remove(const api::Selector& selector, uint32_t number);
  // Appends the numbers of all selectors that match the labels, and perhaps of some that do not. A number may come
  // twice only if it was added twice.
  void Candidates(const api::Labels& labels, std::vector<uint32_t>* out) const;

 private:
  using Pair = std::pair<util::Symbol, util::Symbol>;
  static const api::Requirement* Equality(const api::Selector& selector);
  absl::flat_hash_map<Pair, std::vector<uint32_t>> by_pair_;
  std::vector<uint32_t> rest_;
};

}  // namespace berth::scheduler
