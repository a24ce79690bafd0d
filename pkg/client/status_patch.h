// Makes strategic merge patches of a pod's status, as Kubernetes 1.29's scheduler sends them. A patch is the difference
// between two statuses, so it cannot overwrite anything else in the object.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/types.h"

namespace berth::client {

struct PodStatusPatch {
  struct Condition {
    std::string type;                      // "PodScheduled"
    std::optional<api::PodCondition> old;  // the server's; absent: the server has none of this type
    api::PodCondition now;                 // an empty time is written as null
    int64_t generation = 0;                // the pod's, which the condition is about; 0: not written
  };
  std::optional<Condition> condition;  // absent: conditions do not change
  // The types of all conditions that the server has, in the server's order.
  std::vector<std::string> types;
  // If absent, the field stays as it is; "" clears it.
  std::optional<std::string> nominated_node_name;
};

// Returns the patch as JSON, or an empty string if nothing would change.
std::string ToJson(const PodStatusPatch& patch);

// Returns a merge patch that gives the annotation `name` of a pod this text and repeats its other annotations, as
// Kubernetes 1.8's scheduler sends it. `pod_json` is the pod as the server has it.
std::string AnnotationPatch(std::string_view pod_json, std::string_view name, std::string_view text);

// Returns the types of the conditions in a pod's JSON, in their order; none if it is not a pod.
std::vector<std::string> ConditionTypes(std::string_view pod_json);

}  // namespace berth::client
