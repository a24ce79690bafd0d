// Strategic merge patches of a pod's status, as Kubernetes 1.29's scheduler sends them: the difference between two
// statuses, so that nothing else in the object can be overwritten.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "pkg/api/types.h"

namespace berth::client {

struct PodStatusPatch {
  struct Condition {
    std::string type;                      // "PodScheduled"
    std::optional<api::PodCondition> old;  // as the server has it; absent: it has none of this type
    api::PodCondition now;                 // an empty time is null
  };
  std::optional<Condition> condition;  // absent: no condition changes
  // The types of all conditions that the server has, in their order.
  std::vector<std::string> types;
  // Absent: stays; "": cleared.
  std::optional<std::string> nominated_node_name;
};

// Returns the patch's JSON; empty when nothing would change.
std::string ToJson(const PodStatusPatch& patch);

// Returns the types of the conditions in a pod's JSON, in their order; none when it is no pod.
std::vector<std::string> ConditionTypes(std::string_view pod_json);

}  // namespace berth::client
