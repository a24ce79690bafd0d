#include "pkg/lab/decider.h"

#include <algorithm>
#include <utility>

#include "pkg/scheduler/extender/http_extender.h"
#include "pkg/scheduler/factory/from_profile.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/util/contract.h"
#include "pkg/util/status.h"

namespace berth::lab {
namespace {

using scheduler::configuration::ExtensionPoint;
using scheduler::configuration::ResolvedProfile;

absl::StatusOr<std::vector<Decider>> OfPolicy(const Algorithm& algorithm, scheduler::Assembly* parts) {
  const bool priorities = parts->config.gates.algorithm.pod_priority;
  if (algorithm.preempt && !priorities) return util::InvalidArgument("preempt needs featureGates PodPriority=true");
  if (!algorithm.call_extenders() && algorithm.policy && !algorithm.policy->extenders.empty()) {
    return util::InvalidArgument("policy.extenders: a Scenario cannot call extenders, --policy-config-file can");
  }
  const scheduler::FactoryArgs& args = parts->args;
  Decider d;
  auto made = algorithm.policy
                  ? scheduler::CreateFromConfig(*algorithm.policy, args, &d.effective)
                  : scheduler::CreateFromProvider(algorithm.provider.value_or(std::string(scheduler::kDefaultProvider)),
                                                  args, &d.effective);
  if (!made.ok()) return made.status();
  d.scheduler = std::move(*made);
  d.assumes_claims = parts->claim_binder.get();
  d.claims_failed = "AssumePodVolumes failed: ";
  d.preempts = algorithm.preempt;
  d.sets_nomination_aside = priorities;
  std::vector<Decider> out;
  out.push_back(std::move(d));
  return out;
}

bool Preempts(const ResolvedProfile& profile, const scheduler::Release& release) {
  const auto& plugins = profile.at(ExtensionPoint::kPostFilter);
  return std::any_of(plugins.begin(), plugins.end(),
                     [&](const auto& p) { return p.name == "DefaultPreemption" || p.name == release.claims_plugin; });
}

absl::StatusOr<std::vector<Decider>> OfProfiles(const Algorithm& algorithm, scheduler::Assembly* parts) {
  BERTH_RETURN_IF_ERROR(algorithm.CheckSource());
  auto profiles = algorithm.Profiles();
  if (!profiles.ok()) return profiles.status();
  const scheduler::Release& release = algorithm.Decides();
  const auto& extenders = algorithm.policy ? algorithm.policy->extenders : algorithm.extenders;
  std::vector<Decider> out;
  for (const ResolvedProfile& profile : *profiles) {
    Decider d;
    auto made = scheduler::CreateFromProfile(profile, extenders, parts->args, &d.effective);
    if (!made.ok()) return made.status();
    d.scheduler = std::move(*made);
    d.scheduler_name = profile.scheduler_name;
    if (profile.Has(ExtensionPoint::kReserve, "VolumeBinding")) d.assumes_claims = parts->claim_binder.get();
    d.claims_failed = "running Reserve plugin \"VolumeBinding\": ";
    d.preempts = algorithm.preempt && Preempts(profile, release);
    d.waits_for_gates = !d.scheduler->config().passes_gates;
    d.waits_for_claims = profile.Has(ExtensionPoint::kPreEnqueue, "DynamicResources");
    out.push_back(std::move(d));
  }
  return out;
}

}  // namespace

absl::StatusOr<std::vector<Decider>> MakeDeciders(const Algorithm& algorithm, scheduler::Assembly* parts) {
  BERTH_REQUIRES(parts->config.decides == &algorithm.Decides());
  parts->args.hard_pod_affinity_symmetric_weight = algorithm.hard_pod_affinity_symmetric_weight;
  if (algorithm.call_extenders()) {
    parts->args.make_extender = [](const scheduler::ExtenderConfig& c) { return scheduler::NewHttpExtender(c); };
  }
  absl::StatusOr<std::vector<Decider>> made =
      algorithm.ByProfiles() ? OfProfiles(algorithm, parts) : OfPolicy(algorithm, parts);
  if (!made.ok()) return made;
  for (Decider& d : *made) d.understood = scheduler::PodFieldsUnderstoodBy(d.scheduler->config());
  return made;
}

}  // namespace berth::lab
