// What a pod says about how many of its kind one node may hold: the labels app and max-per-node.
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

// The rule reads the pod's namespace and labels, and the pods on the node. Without this declaration it would be called
// for every node of every pod; with too small a one (say, without kPodLabels) pods of different apps would be given
// each other's answers, which the test of traits in examples_test.cc notices.
inline constexpr berth::scheduler::Traits kReplicaLimitTraits = berth::scheduler::PredicateTraits(
    berth::scheduler::kPodNamespace | berth::scheduler::kPodLabels, berth::scheduler::ClusterPart::kNodePods);

struct ReplicaLimit {
  bool wanted = false;  // the pod has both labels
  berth::util::Symbol app;
  int64_t max = 0;
  std::string error;  // max-per-node is not a number from 1 up
};

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
