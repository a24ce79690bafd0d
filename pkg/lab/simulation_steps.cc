// The parts of a Simulation that callers use who place pods step by step, with decisions of their own (pkg/capi).
#include <absl/strings/str_cat.h>

#include <utility>

#include "pkg/lab/simulation.h"
#include "pkg/util/status.h"

namespace berth::lab {

using scheduler::Symbol;

std::string Simulation::AssumeClaims(const api::Pod& pod, Symbol node) {
  if (claim_binder_ == nullptr) return {};
  auto assumed = claim_binder_->Assume(pod, *cache_.row(cache_.FindRow(node)).node);
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
  auto* profile = later_ == nullptr ? nullptr : later_->ProfileOf(*pod);
  std::string error;
  if (profile != nullptr) {
    error = later_->AssumeClaims(*profile, *pod, node);
  } else if (later_ == nullptr) {
    error = AssumeClaims(*pod, node);
  }
  if (!error.empty()) return util::FailedPrecondition(error);
  auto placed = std::make_shared<api::Pod>(*pod);
  placed->node_name = node;
  if (absl::Status s = cache_.AssumePod(placed); !s.ok()) return s;
  last_placed_ = std::move(placed);
  if (later_ != nullptr) {
    later_->Placed(*pod);
  } else if (pod_priority_) {
    nominated_.Remove(*pod);
  }
  return absl::OkStatus();
}

absl::Status Simulation::Forget(const api::Pod& pod) {
  BERTH_RETURN_IF_ERROR(cache_.ForgetPod(pod));
  if (later_ != nullptr) {
    later_->ForgetClaims(pod);
  } else if (auto it = assumed_claims_.find(pod.meta.uid); it != assumed_claims_.end()) {
    claim_binder_->Forget(it->second);
    assumed_claims_.erase(it);
  }
  return absl::OkStatus();
}

scheduler::GenericScheduler* Simulation::SchedulerOf(const api::Pod& pod) {
  if (later_ == nullptr) return scheduler_.get();
  auto* profile = later_->ProfileOf(pod);
  return profile == nullptr ? nullptr : profile->scheduler.get();
}

std::string Simulation::WhyHeld(const api::PodPtr& as_given) {
  const api::PodPtr pod = AsTaken(as_given);
  return later_ == nullptr ? WhyNotTried(*pod) : later_->WhyNotTried(*pod);
}

void Simulation::set_guest(scheduler::Guest* guest) {
  if (later_ == nullptr) {
    scheduler_->set_guest(guest);
    return;
  }
  for (auto& p : later_->profiles()) p.scheduler->set_guest(guest);
}

uint64_t Simulation::turn() const {
  return later_ == nullptr ? scheduler_->last_node_index() : later_->turn();
}

void Simulation::set_turn(uint64_t turn) {
  if (later_ == nullptr) {
    scheduler_->set_last_node_index(turn);
  } else {
    later_->set_turn(turn);
  }
}

}  // namespace berth::lab
