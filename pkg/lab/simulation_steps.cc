// The parts of a Simulation that callers use who place pods step by step, with decisions of their own (pkg/capi).
#include <absl/strings/str_cat.h>

#include <utility>

#include "pkg/lab/simulation.h"
#include "pkg/util/status.h"

namespace berth::lab {

using scheduler::Symbol;

std::string Simulation::AssumeClaims(const Decider& decider, const api::Pod& pod, Symbol node) {
  if (decider.assumes_claims == nullptr) return {};
  auto assumed = decider.assumes_claims->Assume(pod, *cache_.row(cache_.FindRow(node)).node);
  std::string error = std::move(assumed.error);
  if (error.empty() && !assumed.nothing()) assumed_claims_.insert_or_assign(pod.meta.uid, std::move(assumed));
  return error;
}

absl::Status Simulation::PlaceOn(const api::PodPtr& as_given, Symbol node) {
  const api::PodPtr pod = AsTaken(as_given);
  const scheduler::Row row = cache_.FindRow(node);
  if (row == scheduler::kNoRow || !cache_.listed().Has(row)) {
    return util::NotFound(absl::StrCat("there is no node \"", node.string(), "\""));
  }
  const Decider* decider = DeciderOf(*pod);
  const std::string error = decider == nullptr ? "" : AssumeClaims(*decider, *pod, node);
  if (!error.empty()) return util::FailedPrecondition(error);
  auto placed = std::make_shared<api::Pod>(*pod);
  placed->node_name = node;
  if (absl::Status s = cache_.AssumePod(placed); !s.ok()) return s;
  last_placed_ = std::move(placed);
  if (pod_priority_) parts_.queue->nominated()->Remove(*pod);
  return absl::OkStatus();
}

absl::Status Simulation::Forget(const api::Pod& pod) {
  BERTH_RETURN_IF_ERROR(cache_.ForgetPod(pod));
  if (auto it = assumed_claims_.find(pod.meta.uid); it != assumed_claims_.end()) {
    parts_.claim_binder->Forget(it->second);
    assumed_claims_.erase(it);
  }
  return absl::OkStatus();
}

scheduler::GenericScheduler* Simulation::SchedulerOf(const api::Pod& pod) {
  Decider* decider = DeciderOf(pod);
  return decider == nullptr ? nullptr : decider->scheduler.get();
}

std::string Simulation::WhyHeld(const api::PodPtr& pod) {
  return WhyNotTried(*AsTaken(pod));
}

void Simulation::set_guest(scheduler::Guest* guest) {
  for (Decider& d : deciders_) d.scheduler->set_guest(guest);
}

}  // namespace berth::lab
