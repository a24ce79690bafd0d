// Defines which fields of a pod template belong to each PodPart (traits.h). This is the only place from which the
// equality and the hash of pod equivalence classes are derived.
#pragma once
#include <cstddef>
#include <cstdint>

#include "pkg/scheduler/algorithm/traits.h"
#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler {

// Returns whether pods of both templates are equal in all of the given parts, which are PodPart bits. A controller is
// compared only if the preferAvoidPods annotation of some node names it; rules cannot tell other controllers apart.
bool AlikeIn(uint32_t parts, const TemplateInfo& a, const TemplateInfo& b, const Cache& cache);
// Returns a hash of the given parts. Templates for which AlikeIn returns true have equal hashes.
size_t HashOfParts(uint32_t parts, const TemplateInfo& info, const Cache& cache);

}  // namespace berth::scheduler
