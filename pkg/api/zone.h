// Where a node stands, as its labels say.
#pragma once
#include <absl/functional/function_ref.h>

#include <optional>
#include <string>
#include <string_view>

#include "pkg/api/labels.h"

namespace berth::api {

// Returns the value of topology.kubernetes.io/zone or, where there is none, that of the label that it replaced
// (failure-domain.beta.kubernetes.io/zone); the empty symbol if the node has neither. For people: in tables, in counts
// by zone and in the log.
util::Symbol ZoneOf(const Labels& labels);

// Returns the same of topology.kubernetes.io/region.
util::Symbol RegionOf(const Labels& labels);

// Which labels tell the zones of nodes apart.
enum class ZoneLabels {
  kFormer,          // failure-domain.beta.kubernetes.io/region and zone alone, as before 1.17
  kFormerOrTodays,  // for each of the two, topology.kubernetes.io/... where the node lacks it
};

// Returns region and zone joined, as the scheduler and the controllers tell zones apart (GetZoneKey of Kubernetes);
// empty if both are empty. `label` returns the value of a label of the node.
std::string ZoneKeyOf(absl::FunctionRef<std::optional<std::string_view>(util::Symbol key)> label, ZoneLabels which);
std::string ZoneKeyOf(const Labels& labels, ZoneLabels which);

}  // namespace berth::api
