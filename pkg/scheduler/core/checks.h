// Shared by the parts of GenericScheduler; not for anybody else.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/core/nominated_rows.h"
#include "pkg/scheduler/extender/extender.h"

namespace berth::scheduler {

// The configured predicates, prepared for one pod, in the order of evaluation.
struct GenericScheduler::Checks {
  std::vector<std::unique_ptr<FitCheck>> list;
  std::vector<const ConfiguredPredicate*> rules;  // by place in `list`
  RowSet only;                                    // rows that rules name as the only ones that can fit, if any do
  bool names_nodes = false;                       // `only` counts
};

struct GenericScheduler::Filtered {
  std::vector<Row> feasible;
  struct Failed {
    Failed() {}  // Sets nothing: lists are made long enough first and filled afterwards.
    Failed(Row r, uint32_t c, uint32_t n, bool b) : row(r), check(c), number(n), beside(b) {}
    Row row;
    uint32_t check;   // the first that failed
    uint32_t number;  // of its reasons (FitCheck::NumberReasons); 0: they have none
    bool beside;      // whether it failed beside nominated pods
  };
  std::vector<Failed> failed;
  std::vector<std::pair<Row, Why>> explained;  // failed rows that were evaluated one by one
  std::map<std::string, int64_t> errors;       // text, rows
};

// What the extenders said about one pod in one attempt. No extender is called again for what it has answered.
struct GenericScheduler::ExtenderRound {
  std::vector<Extender::FilterResult> answers;               // of the extenders asked, in their order
  std::vector<std::pair<Symbol, std::string>> failed;        // nodes that they refused, with the reasons
  std::vector<std::pair<Symbol, std::string>> unresolvable;  // the same, where evictions would not help
  std::string error;                                         // one of them failed
};

// 1.10's criteria: fewest violations, lowest first victim, lowest sum of priorities, fewest victims; then by name.
// "First" is by position, not by importance (B-25, kept).
struct GenericScheduler::VictimCost {
  int64_t violations;
  int32_t first_priority;
  int64_t priority_sum;
  size_t victims;
  auto operator<=>(const VictimCost&) const = default;
};

struct GenericScheduler::Kept {
  Kept(Cache* cache, const NominatedPods* pods) : nominated(cache, pods) {}
  NominatedRows nominated;
  std::vector<NominatedRows::Found> beside;  // the rows with nominated pods that matter to the pod at hand

  // What evictions cost for pods of one template, row by row. Valid for a row while its generation is the same, as long
  // as nothing but the row matters (RowsDecideVictims).
  struct Costs {
    std::shared_ptr<const api::PodTemplate> tmpl;
    uint64_t budgets_version = 0;
    struct OfRow {
      uint64_t generation = 0;  // 0: not known
      std::optional<VictimCost> cost;
    };
    std::vector<OfRow> rows;
  };
  Costs& CostsFor(const api::Pod& pod, const Cache& cache);
  std::vector<Costs> costs;  // of the templates that preempted last, the last one first
};

struct GenericScheduler::Victims {
  std::vector<const PlacedPod*> pods;  // those whose eviction violates a budget first; each part by descending priority
  int64_t budget_violations = 0;
};

}  // namespace berth::scheduler
