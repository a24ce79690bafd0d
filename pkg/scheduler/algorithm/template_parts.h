// Which fields of a pod template each PodPart covers: the one place from which the equality and the hash of "alike for
// these rules" come (traits.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "pkg/scheduler/algorithm/traits.h"
#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler {

// Returns whether pods of both templates are alike in all of the parts, which are PodPart bits. A controller counts
// only when some node's preferAvoidPods annotation names it: to every rule all other controllers are the same.
bool AlikeIn(uint32_t parts, const TemplateInfo& a, const TemplateInfo& b, const Cache& cache);
// Equal for templates that are alike in the parts.
size_t HashOfParts(uint32_t parts, const TemplateInfo& info, const Cache& cache);

}  // namespace berth::scheduler
