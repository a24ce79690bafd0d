// Determines how many more pods a cluster can hold.
#pragma once
#include <absl/status/statusor.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "pkg/explain/explanation.h"
#include "pkg/lab/scenario.h"

namespace berth::lab {

// A pod to multiply, and how many of it one round consists of.
struct PodShare {
  std::string file;
  api::PodPtr spec;
  int64_t ratio = 1;  // at least 1
};

// The result of Fill.
struct Filled {
  int64_t rounds = 0;                      // complete rounds
  std::vector<int64_t> replicas;           // by PodShare; includes those of the last, incomplete round
  bool limited = false;                    // whether `max` rounds were placed, so that the cluster may hold more
  std::map<std::string, int64_t> by_node;  // replicas by node; nodes without any are absent
  size_t stopped_by = 0;                   // unless limited: index of the PodShare whose next replica does not fit
  explain::Explanation next;               // unless limited: the explanation for that replica
};

// Places the pending pods of the scenario and then round after round of `pods`, until one does not fit or `max` rounds
// are placed. Calls `step` with the number of replicas after each one; `step` may be null. REQUIRES: max is at least 1.
absl::StatusOr<Filled> Fill(const Scenario& scenario, const std::vector<PodShare>& pods, int64_t max,
                            const std::function<void(size_t)>& step = {});

}  // namespace berth::lab
