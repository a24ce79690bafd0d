#include "pkg/scheduler/algorithm/algorithm.h"

#include <array>

namespace berth::scheduler {

void FitCheck::Filter(RowSet* candidates, RowSet* errors) {
  candidates->ForEach([&](Row row) {
    switch (Check(row)) {
      case Verdict::kFits: break;
      case Verdict::kError: errors->Insert(row); [[fallthrough]];
      case Verdict::kFails: candidates->Erase(row);
    }
  });
}

std::span<const std::string_view> PredicateOrdering() {
  static constexpr std::array<std::string_view, 20> kOrdering = {
      "CheckNodeCondition",     "CheckNodeUnschedulable",  "GeneralPredicates",
      "HostName",               "PodFitsHostPorts",        "MatchNodeSelector",
      "PodFitsResources",       "NoDiskConflict",          "PodToleratesNodeTaints",
      "PodToleratesNodeNoExecuteTaints", "CheckNodeLabelPresence", "CheckServiceAffinity",
      "MaxEBSVolumeCount",      "MaxGCEPDVolumeCount",     "MaxAzureDiskVolumeCount",
      "CheckVolumeBinding",     "NoVolumeZoneConflict",    "CheckNodeMemoryPressure",
      "CheckNodeDiskPressure",  "MatchInterPodAffinity"};
  return kOrdering;
}

}  // namespace berth::scheduler
