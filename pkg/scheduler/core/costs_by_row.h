// What preemption found on each row for pods of one template, kept until the row changes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler {

// Used only where the cost of evictions depends on nothing but the row, and for rows without nominated pods. Invariant:
// if rows[r].generation is the generation of row r and `budgets_version` is the version of the budgets, rows[r].cost is
// what would be computed now.
//
// Thread-safety: none.
template <typename Cost>
class CostsByRow {
 public:
  struct OfRow {
    uint64_t generation = 0;  // 0: not computed
    std::optional<Cost> cost;
  };
  struct OfTemplate {
    std::shared_ptr<const api::PodTemplate> tmpl;
    uint64_t budgets_version = 0;
    std::vector<OfRow> rows;
  };
  // Returns the costs for the pod's template. Valid until the next call.
  OfTemplate& For(const api::Pod& pod, const Cache& cache) {
    auto it = std::find_if(templates_.begin(), templates_.end(), [&](const auto& t) { return t.tmpl == pod.tmpl; });
    if (it == templates_.end()) {
      if (templates_.size() >= kMostTemplates) templates_.pop_back();
      templates_.push_back({pod.tmpl, 0, {}});
      it = std::prev(templates_.end());
    }
    std::rotate(templates_.begin(), it, std::next(it));
    OfTemplate& kept = templates_.front();
    if (kept.budgets_version != cache.listers().budgets.version()) kept.rows.clear();
    kept.budgets_version = cache.listers().budgets.version();
    kept.rows.resize(cache.row_count());
    return kept;
  }

 private:
  static constexpr size_t kMostTemplates = 4;
  std::vector<OfTemplate> templates_;  // those that preempted most recently, the latest first
};

}  // namespace berth::scheduler
