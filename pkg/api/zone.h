// Where a node stands, for people: in tables, in counts by zone and in the log.
#pragma once
#include "pkg/api/labels.h"

namespace berth::api {

// Returns the value of topology.kubernetes.io/zone or, where there is none, that of the label that it replaced
// (failure-domain.beta.kubernetes.io/zone); the empty symbol if the node has neither.
util::Symbol ZoneOf(const Labels& labels);

// Returns the same of topology.kubernetes.io/region.
util::Symbol RegionOf(const Labels& labels);

}  // namespace berth::api
