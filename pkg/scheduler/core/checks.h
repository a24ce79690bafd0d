// Shared by the parts of GenericScheduler; not for anybody else.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/scheduler/core/generic_scheduler.h"

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
  std::vector<std::pair<Row, uint32_t>> failed;  // and the first check that failed
  std::vector<std::pair<Row, Why>> explained;    // failed rows that were judged one by one
  std::map<std::string, int64_t> errors;         // text, rows
};

struct GenericScheduler::Victims {
  std::vector<const PlacedPod*> pods;  // those whose eviction violates a budget first; each part by descending priority
  int64_t budget_violations = 0;
};

}  // namespace berth::scheduler
