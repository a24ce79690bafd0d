#include "pkg/recording/corrections.h"

#include <absl/strings/str_cat.h>

#include <iterator>
#include <string_view>

#include "pkg/release/history.h"

namespace berth::recording {
namespace {

namespace history = release::history;

struct Correction {
  release::Span releases;
  std::string_view text;
};
// In the order in which they were made; the number of a row never changes.
constexpr Correction kCorrections[] = {
    {{}, "pods count for their pod-level requests, and during a resize in place for the most they have or ask"},
    {{}, "pods with spec.resources, resourceClaims, schedulingGroup or needs of node features wait"},
    {{}, "with --ignore-unknown-fields, overhead and sidecars count"},
    {history::kDecidesByProfiles, "resources that extenders want to be ignored are ignored by NodeResourcesFit"},
    {history::kDecidesByProfiles, "rules of plugin/ get the args of their pluginConfig"},
    {history::kDecidesByProfiles, "a pod on a node that shrinks wakes those that wait for its resources"},
    {history::kDecidesByProfiles, "errors of extenders that bind are reported as they are"},
    {history::kKnowsOverheadAlone, "sidecars and pod-level requests count"},
    {history::kTakesSidecarsForInitContainers, "host ports of sidecars are in use"},
    {history::kConditionsTellAttempts, "conditions say when the pod was tried last, and equal pods go by that"},
    {history::kDecidesByProfiles,
     "several profiles take turns together, and one without SchedulingGates tries pods with gates"},
    {history::kWakesByObjects, "an event wakes a pod if its objects help against what rejected the pod"},
    {history::kNominatesByAnnotation, "nominations are in the pod's annotation"},
    {history::kPreemptsByLists,
     "victims are found anew after pods on other nodes changed whose anti-affinity keeps the pod out"},
    {history::kEvictsWithoutBackOff, "a pod that has evicted others waits for the end of its back-off"},
    {history::kReadsPreemptors,
     "nobody is evicted for a pod that fits on a node where the last pods of lower priority ended while it was read"},
    {history::kDecidesByProfiles, "nobody is evicted for the pods of a profile without DefaultPreemption"},
    {history::kDecidesByProfiles, "the notes of events are cut to 1,024 bytes"},
    {history::kVolumeErrorsEndNominations, "a pod whose volumes cannot be claimed loses its nomination"},
};

}  // namespace

int CorrectionCount() {
  return static_cast<int>(std::size(kCorrections));
}

std::string CorrectionsAfter(int had, release::Version version) {
  std::string out;
  for (size_t i = static_cast<size_t>(had < 0 ? 0 : had); i < std::size(kCorrections); ++i) {
    if (kCorrections[i].releases.Has(version)) absl::StrAppend(&out, "  ", std::string(kCorrections[i].text), "\n");
  }
  return out;
}

}  // namespace berth::recording
