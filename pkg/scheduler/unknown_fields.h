// What becomes of the fields of pods that the emulated release, or this program, does not understand: which of them are
// reported, and which let a pod wait.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <memory>

#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/pending_pod.h"
#include "pkg/scheduler/pod_fields.h"
#include "pkg/scheduler/scheduler_metrics.h"

namespace berth::scheduler {

class UnknownFields {
 public:
  using Profiles = absl::flat_hash_map<Symbol, GenericScheduler*>;
  // `understood`: the newer fields that the release understands, without those that only the rules of a pod's profile
  // implement. If `ignored`, pods are treated as if they had none. All pointers must outlive this object.
  UnknownFields(const PodFieldSet& understood, bool ignored, const Cache* cache, const Profiles* profiles,
                SchedulerMetrics* metrics)
      : understood_(understood), ignored_(ignored), cache_(cache), profiles_(profiles), metrics_(metrics) {}

  // Counts the templates with fields that this program does not know, and logs a warning for each.
  void CountUnknown(const api::Pod& pod);
  // Counts the fields that are ignored, and logs a warning when a field is ignored for the first time.
  void CountIgnored(const api::PodTemplate& t);
  // Returns the fields because of which the pod must wait, including kCsiLimits.
  PodFieldSet BlockingOf(const PendingPod& p) const;
  // Returns the object as it is used.
  api::PodPtr AsTaken(const api::PodPtr& pod) const { return ignored_ ? WithoutUnknownFields(pod, understood_) : pod; }

 private:
  UnknownPodFields Of(const api::PodTemplate& t) const;

  PodFieldSet understood_;
  bool ignored_;
  const Cache* cache_;
  const Profiles* profiles_;
  SchedulerMetrics* metrics_;
  // The templates whose unknown fields were reported; swept when there are as many as the second member says.
  absl::flat_hash_map<const api::PodTemplate*, std::weak_ptr<const api::PodTemplate>> reported_;
  size_t sweep_at_ = 1024;
};

}  // namespace berth::scheduler
