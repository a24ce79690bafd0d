#include "pkg/scheduler/cache/label_pair_index.h"

#include <algorithm>

namespace berth::scheduler {

// Returns the requirement under whose pairs the selector is filed, or null when none fits. Of several, the one with the
// fewest values is used: it leads to the fewest candidates that do not match.
const api::Requirement* LabelPairIndex::Equality(const api::Selector& selector) {
  const api::Requirement* best = nullptr;
  for (const api::Requirement& r : selector.requirements()) {
    if (r.op != api::Operator::kIn && r.op != api::Operator::kEquals) continue;
    if (best == nullptr || r.values.size() < best->values.size()) best = &r;
  }
  return best;
}

void LabelPairIndex::Add(const api::Selector& selector, uint32_t number) {
  if (selector.MatchesNothing()) return;
  const api::Requirement* r = Equality(selector);
  if (r == nullptr) {
    rest_.push_back(number);
    return;
  }
  for (util::Symbol value : r->values) by_pair_[{r->key, value}].push_back(number);
}

void LabelPairIndex::Remove(const api::Selector& selector, uint32_t number) {
  if (selector.MatchesNothing()) return;
  auto remove = [&](std::vector<uint32_t>* from) {
    auto it = std::find(from->begin(), from->end(), number);
    if (it == from->end()) return;
    *it = from->back();
    from->pop_back();
  };
  const api::Requirement* r = Equality(selector);
  if (r == nullptr) return remove(&rest_);
  for (util::Symbol value : r->values) {
    auto it = by_pair_.find({r->key, value});
    if (it == by_pair_.end()) continue;
    remove(&it->second);
    if (it->second.empty()) by_pair_.erase(it);
  }
}

void LabelPairIndex::Candidates(const api::Labels& labels, std::vector<uint32_t>* out) const {
  out->insert(out->end(), rest_.begin(), rest_.end());
  if (by_pair_.empty()) return;
  for (const auto& [key, value] : labels) {
    if (auto it = by_pair_.find({key, value}); it != by_pair_.end()) {
      out->insert(out->end(), it->second.begin(), it->second.end());
    }
  }
}

}  // namespace berth::scheduler
