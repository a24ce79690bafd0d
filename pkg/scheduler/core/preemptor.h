// Finds the pods to evict so that a pod fits that fits nowhere now: as 1.10 does it (preemption.cc), as the plugin
// DefaultPreemption does (preemption_by_importance.cc), and by the PostFilter plugins in turn (post_filter.cc).
//
// Thread-safety: none; used on the thread of its Cache.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "pkg/scheduler/core/costs_by_row.h"
#include "pkg/scheduler/core/filtering.h"
#include "pkg/scheduler/extender/extender.h"
#include "pkg/util/symbol.h"

namespace berth::scheduler {

class Preemptor {
 public:
  // `nominated` may be null: no nominated pods count. All pointers must outlive the preemptor.
  Preemptor(Cache* cache, const AlgorithmConfig* config, const NominatedPods* nominated, Filtering* filtering)
      : cache_(cache), config_(config), nominated_(nominated), filtering_(filtering) {}

  // See GenericScheduler::Preempt.
  Preemption Preempt(const api::PodPtr& pod, const NodeFailures& failures, uint64_t decided_at);

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
  // What 1.29 compares between candidates, in this order; the smallest is best.
  using Rank = std::tuple<int64_t, int64_t, int64_t, size_t, int64_t>;
  // What a trial on a row came to: a rank if evictions make the pod fit, else an error or the reasons why they do not.
  struct Trial {
    bool fits = false;
    std::string error = {};
    std::vector<FailureReason> reasons = {};
    Rank rank = {};
    util::KeptTexts texts = {};  // of the reasons
  };
  // The rows that were tried, in ascending order of names.
  struct Trials {
    std::vector<std::pair<Row, const Trial*>> of_rows;
    std::deque<Trial> not_kept;  // those that are not in trials_
  };

  Preemption PreemptByCost(const api::PodPtr& pod, const NodeFailures& failures);
  std::vector<Row> PreemptionCandidates(const NodeFailures& failures) const;
  bool RowsDecideVictims(Checks& checks) const;
  std::optional<VictimCost> CostOfVictims(const api::Pod& pod, Checks& checks, Row row) const;
  bool SelectVictims(const api::Pod& pod, Checks& checks, Row row, Victims* out) const;
  std::optional<bool> SelectVictimsByAmounts(const api::Pod& pod, Checks& checks, Row row, Victims* out) const;
  std::optional<FreedNeed> NeedOf(const api::Pod& pod, Checks& checks, Row row) const;
  bool ExtendersAgree(const api::Pod& pod, Row row) const;

  Preemption PreemptByImportance(const api::PodPtr& pod, const NodeFailures& failures, uint64_t decided_at);
  Trials TryAll(const api::Pod& pod, Checks& checks, const NodeFailures& failures, uint64_t decided_at);
  NodeFailures StatusesOf(const Trials& trials, std::string* error) const;
  Trial Try(const api::Pod& pod, Checks& checks, Row row, bool changed) const;
  std::vector<Candidate> Candidates(const api::Pod& pod, Checks& checks, const Trials& trials,
                                    uint64_t decided_at) const;
  bool DryRun(const api::Pod& pod, Checks& checks, Row row, bool changed, Candidate* candidate, Why* why) const;
  std::string AskExtendersToPreempt(const api::Pod& pod, std::vector<Candidate>* candidates) const;
  std::string TakeAgreed(const Extender& extender, const std::vector<Extender::AgreedEviction>& agreed,
                         std::vector<Candidate>* candidates) const;

  bool ClaimsWerePrepared(const api::PodPtr& pod) const;
  Preemption RunPostFilters(const api::PodPtr& pod, const NodeFailures& failures, uint64_t decided_at);

  Cache* const cache_;
  const AlgorithmConfig* const config_;
  const NominatedPods* const nominated_;
  Filtering* const filtering_;
  CostsByRow<VictimCost> costs_;
  CostsByRow<Trial> trials_;
};

}  // namespace berth::scheduler
