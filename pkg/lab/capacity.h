// How much more a cluster holds, and how many nodes it lacks.
#pragma once
#include <absl/status/statusor.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "pkg/explain/explanation.h"
#include "pkg/lab/scenario.h"

namespace berth::lab {

// A pod to multiply, and how many of it come in one round.
struct PodShare {
  std::string file;
  api::PodPtr spec;
  int64_t ratio = 1;  // > 0
};

struct Filled {
  int64_t rounds = 0;                      // that fit whole
  std::vector<int64_t> replicas;           // by PodShare, also those of the last round, which does not fit whole
  bool limited = false;                    // stopped at `max` rounds, not by the cluster
  std::map<std::string, int64_t> by_node;  // replicas; nodes without any are not there
  size_t stopped_by = 0;                   // index of the PodShare whose next replica does not fit, unless limited
  explain::Explanation next;               // of that replica
};

// Places the scenario's pending pods, then round after round of the pods until one does not fit or `max` rounds (> 0)
// are placed. `step` is called with the number of replicas now and then; it may be null.
absl::StatusOr<Filled> Fill(const Scenario& scenario, const std::vector<PodShare>& pods, int64_t max,
                            const std::function<void(size_t)>& step = {});

struct NodesNeeded {
  int64_t pods = 0;            // to be placed
  int64_t pending_before = 0;  // of them without a new node
  bool enough = false;         // false: even `nodes` new nodes leave pods pending
  int64_t nodes = 0;           // enough: all pods fit with so many, and not with one fewer (unless 0)
  int64_t pending = 0;         // pods that stay pending with one node fewer; when not enough, with `nodes`
  std::string first_pending;   // the first of them, namespace/name
  std::string error;           // why
};

// Returns how many nodes like `like` the cluster needs until the scenario's pending pods and `rounds` rounds of the
// given ones fit. More nodes than pods are never tried.
absl::StatusOr<NodesNeeded> NodesUntilAllFit(const Scenario& scenario, const std::vector<PodShare>& pods,
                                             int64_t rounds, const api::Node& like,
                                             const std::function<void(size_t)>& step = {});

}  // namespace berth::lab
