#include "pkg/scheduler/algorithm/volumes/missing_object.h"

#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/volumebinder/csi_translation.h"
#include "pkg/util/contract.h"

namespace berth::scheduler::volumes {

RuleError NoClaim(std::string_view name) {
  return {NotFound("persistentvolumeclaim", name), reasons::kNoClaim};
}
RuleError NoVolume(std::string_view name) {
  return {NotFound("persistentvolume", name), reasons::kNoVolume};
}
RuleError NoStorageClass(std::string_view name) {
  return {NotFound("storageclass.storage.k8s.io", name), reasons::kNoStorageClass};
}

FailureReason RejectionFor(const RuleError& error) {
  BERTH_REQUIRES(!error.empty());
  return {Symbol::InternBriefly(error.text), true, error.kind};
}

}  // namespace berth::scheduler::volumes
