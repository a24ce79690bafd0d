// Release 1.29 in a simulation: one scheduler for each profile. They share the cluster, the round-robin counter, the
// nominated pods, and the assumed volumes and claims.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/lab/scenario.h"
#include "pkg/scheduler/cache/nominated_pods.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/volumebinder/claim_binder.h"

namespace berth::lab {

// What a decision of a release after 1.10 has in addition to that of 1.10.
struct LaterFields {
  std::string not_attempted;  // if not empty, why the pod was not tried; nothing else is meaningful then
  std::map<std::string, std::string> rejections;  // node to "Plugin Code"
  std::vector<std::string> ties;                  // the nodes with the best total, in the order of choice
  std::string preemption_error;
  std::string hint;  // the node that batching proposed
};

class SimulationV1_29 {
 public:
  // Returns an error if a profile cannot be built. Unless `samples`, decisions then look at all nodes. REQUIRES:
  // `cache` describes templates as 1.29 does; it and the sampler outlive the simulation; the caller adds every
  // placement to the cache.
  static absl::StatusOr<std::unique_ptr<SimulationV1_29>> Make(const Scenario& scenario, const Algorithm& algorithm,
                                                               scheduler::Cache* cache, scheduler::NodeSampler* sampler,
                                                               bool samples);

  // Schedules one pod and, if it fits, assumes its volumes. `trace` may be null.
  scheduler::Decision Place(const api::PodPtr& pod, scheduler::DecisionMode mode, scheduler::DecisionTrace* trace);
  // After a decision kUnfit: returns whom to evict, or nullopt if the pod's profile does not preempt.
  std::optional<scheduler::Preemption> Preempt(const api::PodPtr& pod, const scheduler::Decision& decision);

  // Sets the number of the next decision, which says whose turn it is among nodes with the same total.
  void set_last_node_index(uint64_t index) { last_node_index_ = index; }

  // Returns the additional fields of the last decision.
  const LaterFields& fields() const { return fields_; }

  struct Profile {
    scheduler::configuration::ResolvedProfile resolved;
    scheduler::EffectiveAlgorithm effective;
    std::unique_ptr<scheduler::GenericScheduler> scheduler;
  };
  // Assumes the volumes and claims of a pod on a node if its profile does so. Returns why that failed; empty if it did
  // not.
  std::string AssumeClaims(const Profile& profile, const api::Pod& pod, scheduler::Symbol node) {
    if (!profile.resolved.Has(scheduler::configuration::ExtensionPoint::kReserve, "VolumeBinding")) return {};
    auto assumed = claim_binder_.Assume(pod, *cache_->row(cache_->FindRow(node)).node);
    std::string error = std::move(assumed.error);
    if (error.empty() && !assumed.nothing()) assumed_claims_.insert_or_assign(pod.meta.uid, std::move(assumed));
    return error;
  }
  // Gives back what was assumed for the pod.
  void ForgetClaims(const api::Pod& pod) {
    auto it = assumed_claims_.find(pod.meta.uid);
    if (it == assumed_claims_.end()) return;
    claim_binder_.Forget(it->second);
    assumed_claims_.erase(it);
  }
  // The pod no longer waits for its nominated node.
  void Placed(const api::Pod& pod) { nominated_.Remove(pod); }
  std::vector<Profile>& profiles() { return profiles_; }
  uint64_t turn() const { return last_node_index_; }
  void set_turn(uint64_t turn) { last_node_index_ = turn; }

  // Returns the profile for the pod's schedulerName, or null.
  Profile* ProfileOf(const api::Pod& pod);
  Profile& FirstProfile() { return profiles_.front(); }
  // Returns why the pod is not tried at all. Empty if it is tried.
  std::string WhyNotAttempted(const api::Pod& pod);
  // The same, and why a pod is set aside because of fields that the release does not understand.
  std::string WhyNotTried(const api::Pod& pod);

 private:
  SimulationV1_29(scheduler::Cache* cache, const scheduler::ClaimRules& claims, const scheduler::VolumeRules& volumes)
      : cache_(cache), claim_binder_(cache, claims, volumes) {}

  scheduler::Cache* cache_;
  scheduler::ClaimBinder claim_binder_;
  scheduler::NominatedPods nominated_;
  std::vector<Profile> profiles_;
  bool ignore_unknown_fields_ = false;
  uint64_t last_node_index_ = 0, cycle_ = 0;
  // What was assumed for pods, by uid. Pods without such claims are absent.
  absl::flat_hash_map<std::string, scheduler::ClaimBinder::Assumed> assumed_claims_;
  LaterFields fields_;
};

}  // namespace berth::lab
