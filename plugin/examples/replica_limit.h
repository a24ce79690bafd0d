// The limit that a pod sets to the number of its replicas on one node: the labels app and max-per-node.
#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/api/types.h"
#include "pkg/scheduler/algorithm/traits.h"

namespace plugin::examples {

inline berth::util::Symbol kAppLabel() {
  return berth::util::Symbol("app");
}
inline constexpr std::string_view kTooManyReplicas =
    "node(s) had as many replicas as the pod's label max-per-node allows";

// The rule reads the pod's namespace and labels, and the pods on the node. Without this declaration, it would be called
// for every node of every pod. With an incomplete one, for example without kPodLabels, pods of different apps would get
// each other's answers; the test of traits in examples_test.cc detects that.
inline constexpr berth::scheduler::Traits kReplicaLimitTraits = berth::scheduler::PredicateTraits(
    berth::scheduler::kPodNamespace | berth::scheduler::kPodLabels, berth::scheduler::ClusterPart::kNodePods);

struct ReplicaLimit {
  bool wanted = false;  // whether the pod has both labels
  berth::util::Symbol app;
  int64_t max = 0;
  std::string error;  // set if max-per-node is not a whole number of at least 1
};

// Returns the limit that the pod's labels set.
inline ReplicaLimit ReplicaLimitOf(const berth::api::PodTemplate& pod) {
  ReplicaLimit limit;
  std::optional<berth::util::Symbol> app = pod.labels.Get(kAppLabel());
  std::optional<berth::util::Symbol> max = pod.labels.Get(berth::util::Symbol("max-per-node"));
  if (!app || !max) return limit;
  limit.wanted = true;
  limit.app = *app;
  std::string_view text = max->str();
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit.max);
  if (error != std::errc() || end != text.data() + text.size() || limit.max < 1) {
    limit.error = "pod label max-per-node: \"" + std::string(text) + "\" should be a whole number, 1 or more";
  }
  return limit;
}

}  // namespace plugin::examples
