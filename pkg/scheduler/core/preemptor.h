// Finds the pods to evict so that a pod fits that fits nowhere now: as 1.10 does it (preemption.cc), as the plugin
// DefaultPreemption does (preemption_by_importance.cc), and by the PostFilter plugins in turn (post_filter.cc).
//
// Thread-safety: none; used on the thread of its Cache.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pkg/scheduler/core/filtering.h"
#include "pkg/scheduler/extender/extender.h"

namespace berth::scheduler {

class Preemptor {
 public:
  // `nominated` may be null: no nominated pods count. All pointers must outlive the preemptor.
  Preemptor(Cache* cache, const AlgorithmConfig* config, const NominatedPods* nominated, Filtering* filtering)
      : cache_(cache), config_(config), nominated_(nominated), filtering_(filtering) {}

  // See GenericScheduler::Preempt.
  Preemption Preempt(const api::PodPtr& pod, const NodeFailures& failures);

 private:
  struct Candidate;
  struct Victims {
    // First the pods whose eviction violates a budget, then the others, both by descending priority.
    std::vector<const PlacedPod*> pods;
    int64_t budget_violations = 0;
  };
  // What 1.10 compares between nodes, the most significant criterion first: the fewest violations of budgets, the
  // lowest priority of the first victim, the lowest sum of priorities, the fewest victims. The first victim is the
  // first in the list, which is not always the most important one (bug B-25, kept). Ties go to the first node by name.
  struct VictimCost {
    int64_t violations;
    int32_t first_priority;
    int64_t priority_sum;
    size_t victims;
    auto operator<=>(const VictimCost&) const = default;
  };
  // The cost of evictions for pods of one template, by row. Used only where the cost depends on nothing but the row
  // (RowsDecideVictims), and for rows without nominated pods. Invariant: if rows[r].generation is the generation of row
  // r and `budgets_version` is the version of the budgets, rows[r].cost is what CostOfVictims would return.
  struct Costs {
    std::shared_ptr<const api::PodTemplate> tmpl;
    uint64_t budgets_version = 0;
    struct OfRow {
      uint64_t generation = 0;  // 0: not computed
      std::optional<VictimCost> cost;
    };
    std::vector<OfRow> rows;
  };
  // Returns the costs for the pod's template and moves them to the front of `costs_`.
  Costs& CostsFor(const api::Pod& pod);

  Preemption PreemptByCost(const api::PodPtr& pod, const NodeFailures& failures);
  std::vector<Row> PreemptionCandidates(const NodeFailures& failures) const;
  bool RowsDecideVictims(Checks& checks) const;
  std::optional<VictimCost> CostOfVictims(const api::Pod& pod, Checks& checks, Row row) const;
  bool SelectVictims(const api::Pod& pod, Checks& checks, Row row, Victims* out) const;
  std::optional<bool> SelectVictimsByAmounts(const api::Pod& pod, Checks& checks, Row row, Victims* out) const;
  bool ExtendersAgree(const api::Pod& pod, Row row) const;

  Preemption PreemptByImportance(const api::PodPtr& pod, const NodeFailures& failures) const;
  bool DryRun(const api::Pod& pod, Checks& checks, Row row, Candidate* candidate, Why* why) const;
  std::string AskExtendersToPreempt(const api::Pod& pod, std::vector<Candidate>* candidates) const;
  std::string TakeAgreed(const Extender& extender, const std::vector<Extender::AgreedEviction>& agreed,
                         std::vector<Candidate>* candidates) const;

  bool ClaimsWerePrepared(const api::PodPtr& pod) const;
  Preemption RunPostFilters(const api::PodPtr& pod, const NodeFailures& failures) const;

  Cache* const cache_;
  const AlgorithmConfig* const config_;
  const NominatedPods* const nominated_;
  Filtering* const filtering_;
  std::vector<Costs> costs_;  // of the templates that preempted most recently, the latest first
};

}  // namespace berth::scheduler
