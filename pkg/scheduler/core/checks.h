// Types that the source files of GenericScheduler share. Not to be included elsewhere.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/scheduler/core/batch.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/core/nominated_rows.h"
#include "pkg/scheduler/extender/extender.h"
#include "pkg/util/symbol.h"

namespace berth::scheduler {

// The configured predicates prepared for one pod, in the order of evaluation.
struct GenericScheduler::Checks {
  std::vector<std::unique_ptr<FitCheck>> list;
  std::vector<const ConfiguredPredicate*> rules;  // rules[i] is the predicate of list[i]
  RowSet only;                                    // if `names_nodes`, the only rows that can fit (PreFilterResult)
  bool names_nodes = false;
  const api::Pod* pod = nullptr;  // the pod that they were prepared for
};

// The errors of rules on rows, counted by their texts.
class Errors {
 public:
  struct OfText {
    int64_t rows = 0;
    Symbol kind;  // of the first that was added
  };
  bool empty() const { return by_text_.empty(); }
  const std::map<std::string, OfText>& by_text() const { return by_text_; }
  void Add(const RuleError& error) {
    OfText& of = by_text_[error.text];
    if (of.rows++ == 0) of.kind = error.kind;
  }

 private:
  std::map<std::string, OfText> by_text_;
};

// The result of evaluating the predicates. Each row that was evaluated is in exactly one of the lists, or counted in
// `errors`.
struct GenericScheduler::Filtered {
  std::vector<Row> feasible;
  struct Failed {
    Failed() {}  // Initialises nothing, because lists are first resized and then filled.
    Failed(Row r, uint32_t c, uint32_t n, bool b) : row(r), check(c), number(n), beside(b) {}
    Row row;
    uint32_t check;   // index in Checks::list of the first check that failed
    uint32_t number;  // of its reasons (ColumnCheck::NumberReasons), or 0 when the check does not number them
    bool beside;      // whether nominated pods were added to the row when the check failed
  };
  std::vector<Failed> failed;
  std::vector<std::pair<Row, Why>> explained;  // rows that failed and were evaluated one by one
  Errors errors;
  size_t evaluated = 0;  // number of rows of a sample, otherwise 0
};

// The answers of the extenders for one pod in one attempt. When the attempt is decided twice, first by the incremental
// and then by the reference scheduler, the second decision uses these answers and calls no extender again.
struct GenericScheduler::ExtenderRound {
  std::vector<Extender::FilterResult> answers;               // in the order of the extenders that were called
  std::vector<std::pair<Symbol, std::string>> failed;        // nodes that an extender rejected, with the reasons
  std::vector<std::pair<Symbol, std::string>> unresolvable;  // the same, where evictions would not help
  std::string error;                                         // not empty when a call failed
};

// What 1.10 compares between nodes, the most significant criterion first: the fewest violations of budgets, the lowest
// priority of the first victim, the lowest sum of priorities, the fewest victims. The first victim is the first in the
// list, which is not always the most important one (bug B-25, kept). Ties go to the first node by name.
struct GenericScheduler::VictimCost {
  int64_t violations;
  int32_t first_priority;
  int64_t priority_sum;
  size_t victims;
  auto operator<=>(const VictimCost&) const = default;
};

// What was found for the pods of one template, none of which fitted anywhere (kept_failures.cc).
struct GenericScheduler::KeptFailure {
  std::shared_ptr<const api::PodTemplate> tmpl;
  std::vector<const ConfiguredPredicate*> rules;  // Checks::rules
  uint64_t generation = 0;                        // of the cache
  std::vector<Filtered::Failed> failed;           // by check, and then by row
  std::shared_ptr<const NodeFailures> failures;
  util::KeptTexts texts;            // of the reasons in `failures`
  std::string error;                // Decision::error, which is a text alone where no node fits
  std::vector<Symbol> rejected_by;  // Decision::rejected_by
  uint64_t used = 0;                // the value of Kept::failures_used at the last use
};

// What a GenericScheduler keeps between decisions, apart from the IncrementalScheduler.
struct GenericScheduler::Kept {
  Kept(Cache* cache, const NominatedPods* pods) : nominated(cache, pods) {}
  NominatedRows nominated;
  std::vector<NominatedRows::Found> beside;        // result of nominated.For() for the current pod
  Batch batch;                                     // used if the configuration has BatchParts
  bool wants_totals = false;                       // whether `totals` is filled
  std::vector<std::pair<int64_t, Symbol>> totals;  // of the nodes that the reference scheduler scored last

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
  // Returns the costs for the pod's template and moves them to the front of `costs`.
  Costs& CostsFor(const api::Pod& pod, const Cache& cache);
  std::vector<Costs> costs;  // of the templates that preempted most recently, the latest first

  absl::flat_hash_map<const api::PodTemplate*, KeptFailure> failures;  // by their own templates
  uint64_t failures_used = 0;                                          // the number of uses of `failures`
  uint64_t failures_again = 0;                                         // how many of them decided
};

struct GenericScheduler::Victims {
  // First the pods whose eviction violates a budget, then the others, both by descending priority.
  std::vector<const PlacedPod*> pods;
  int64_t budget_violations = 0;
};

}  // namespace berth::scheduler
