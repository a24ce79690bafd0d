// What happens to nodes and workloads at given times in a simulation: a CSV file with the columns time, event, object
// and value.
//
//   join: a name; the node that it is like, or empty: it is a node of the input, which is not there before
//   leave: nodes
//   fail: nodes; after which time they are back; empty: never
//   drain: nodes; after which time, once they are empty, they are uncordoned; empty: never
//   roll: nodes, one after another, as drain; the next one when the last one is uncordoned
//   scale: "KIND NAMESPACE/NAME"; the number of replicas
//   restart: "KIND NAMESPACE/NAME", all of whose pods are replaced as by `kubectl rollout restart`
//
// Nodes are a name, * for all, or a label selector such as pool=blue.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/lab/scenario.h"
#include "pkg/simulate/virtual_clock.h"

namespace berth::simulate {

// A pod of each workload, by "KIND NAMESPACE/NAME".
using WorkloadPods = absl::flat_hash_map<std::string, api::PodPtr>;

struct Step {
  enum class Kind : uint8_t { kJoin, kLeave, kFail, kDrain, kRoll, kScale, kRestart };
  Micros at = 0;
  Kind kind = Kind::kJoin;
  std::vector<std::string> nodes;  // in the order of their names
  api::NodePtr joins;              // kJoin
  Micros back_after = kNever;      // kFail, kDrain, kRoll
  std::string workload;            // kScale, kRestart: "KIND NAMESPACE/NAME"
  int64_t replicas = 0;            // kScale
};

// The steps of a file in the order of time.
struct StepFile {
  std::vector<Step> steps;
  size_t out_of_order = 0;  // rows that are earlier than the one before them
};
// Reads a file. An error names file, line, column and value: a node or workload that is not in the input, an event that
// is not known, a negative time.
absl::StatusOr<StepFile> ReadSteps(const std::string& path, const lab::Scenario& scenario,
                                   const WorkloadPods& workloads);

// Return the node as it is when it is cordoned or not, or has failed or not; with this name, as a new one.
api::NodePtr WithState(const api::Node& node, bool cordoned, bool failed);
absl::StatusOr<api::NodePtr> Named(const api::Node& like, const std::string& name);

}  // namespace berth::simulate
