// Where a pod's nomination stands in releases that keep it in an annotation and not in status.nominatedNodeName.
#pragma once
#include <string_view>

#include "pkg/api/json.h"
#include "pkg/api/types.h"

namespace berth::api {

// Returns the text of an annotation of an object; empty if there is none of this name.
std::string_view AnnotationOf(Json object, std::string_view name);

// Returns the pod with the nomination that the annotation of this name says, whatever its status says. `object` is the
// JSON from which the pod was decoded. A pod with a node is returned as it is.
PodPtr WithNominationFrom(std::string_view annotation, const PodPtr& pod, Json object);

}  // namespace berth::api
