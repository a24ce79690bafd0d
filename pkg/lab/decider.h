// The schedulers of a simulation: one by a provider or a Policy, which decides about every pod, or one for each
// profile.
#pragma once
#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pkg/lab/algorithm.h"
#include "pkg/scheduler/assembly/assembly.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/pod_fields.h"

namespace berth::lab {

// A scheduler, and what its release and its profile do around its decisions.
struct Decider {
  std::optional<std::string> scheduler_name;  // of the pods that it decides about; if absent, all pods
  scheduler::EffectiveAlgorithm effective;
  std::unique_ptr<scheduler::GenericScheduler> scheduler;
  scheduler::PodFieldSet understood;  // what the release and the scheduler's rules know of newer fields of pods
  scheduler::ClaimBinder* assumes_claims = nullptr;  // what assumes the claims of a placed pod; null: nothing does
  std::string claims_failed;                         // precedes the error of a claim that could not be assumed
  bool preempts = false;
  bool waits_for_gates = true;    // whether a pod with scheduling gates is held
  bool waits_for_claims = false;  // whether a pod is held until its resource claims can be allocated
  // Whether the pod's own nomination is taken from the others while the pod is tried, as the queue of 1.10 does. The
  // rules of profiles pass over it.
  bool sets_nomination_aside = false;

  bool Takes(const api::Pod& pod) const { return !scheduler_name || *scheduler_name == pod.tmpl->scheduler_name.str(); }
};

// Returns the deciders of an algorithm, at least one. Returns an error if one of them cannot be built. REQUIRES:
// `parts` are those of the algorithm's release, and outlive the deciders.
absl::StatusOr<std::vector<Decider>> MakeDeciders(const Algorithm& algorithm, scheduler::Assembly* parts);

}  // namespace berth::lab
