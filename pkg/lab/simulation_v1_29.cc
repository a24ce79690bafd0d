#include "pkg/lab/simulation_v1_29.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <set>

#include "pkg/scheduler/algorithm/resourceclaims/resourceclaims.h"
#include "pkg/scheduler/extender/http_extender.h"
#include "pkg/scheduler/factory/from_profile.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/scheduler/pod_fields.h"

namespace berth::lab {

namespace configuration = scheduler::configuration;
using configuration::ExtensionPoint;
using scheduler::Decision;
using scheduler::Symbol;

absl::StatusOr<std::unique_ptr<SimulationV1_29>> SimulationV1_29::Make(const Scenario& scenario,
                                                                       const Algorithm& algorithm,
                                                                       scheduler::Cache* cache,
                                                                       scheduler::NodeSampler* sampler, bool samples) {
  std::unique_ptr<SimulationV1_29> sim(
      new SimulationV1_29(cache, algorithm.Decides().claims, algorithm.Decides().volume_rules));
  sim->ignore_unknown_fields_ = algorithm.ignore_unknown_fields;
  auto profiles = algorithm.Profiles();
  if (!profiles.ok()) return profiles.status();
  for (configuration::ResolvedProfile& p : *profiles) {
    Profile& profile = sim->profiles_.emplace_back();
    scheduler::FactoryArgs args;
    args.cache = cache;
    args.release = &algorithm.Decides();
    args.nominated = &sim->nominated_;
    args.claim_binder = &sim->claim_binder_;
    args.sampler = samples ? sampler : nullptr;
    args.sampler_without_scores = sampler;
    if (algorithm.call_extenders()) {
      args.make_extender = [](const scheduler::ExtenderConfig& c) { return scheduler::NewHttpExtender(c); };
    }
    const auto& extenders = algorithm.policy ? algorithm.policy->extenders : algorithm.extenders;
    auto made = scheduler::CreateFromProfile(p, extenders, args, &profile.effective);
    if (!made.ok()) return made.status();
    profile.resolved = std::move(p);
    profile.scheduler = std::move(*made);
  }
  for (const api::PodPtr& pod : scenario.pending) {
    if (sim->WhyNotTried(*pod).empty()) sim->nominated_.Add(pod);
  }
  return sim;
}

SimulationV1_29::Profile* SimulationV1_29::ProfileOf(const api::Pod& pod) {
  for (Profile& p : profiles_) {
    if (p.resolved.scheduler_name == pod.tmpl->scheduler_name.str()) return &p;
  }
  return nullptr;
}

std::string SimulationV1_29::WhyNotAttempted(const api::Pod& pod) {
  const Profile* profile = ProfileOf(pod);
  if (profile == nullptr) return "no profile";
  const auto gates = [&](std::string_view plugin) {
    return profile->resolved.Has(ExtensionPoint::kPreEnqueue, plugin);
  };
  std::string why = gates("SchedulingGates") ? scheduler::GatedText(*pod.tmpl) : "";
  if (why.empty() && gates("DynamicResources")) why = scheduler::resourceclaims::WhyClaimsHold(pod, cache_->listers());
  return why;
}

// As in the daemon, a pod is set aside only after its gates are gone.
std::string SimulationV1_29::WhyNotTried(const api::Pod& pod) {
  std::string why = WhyNotAttempted(pod);
  if (!why.empty() || ignore_unknown_fields_ || ProfileOf(pod) == nullptr) return why;
  const auto understood = scheduler::PodFieldsUnderstoodBy(ProfileOf(pod)->scheduler->config());
  const scheduler::PodFieldSet blocking = scheduler::FindUnknownPodFields(*pod.tmpl, understood).blocking;
  return blocking.none() ? why : scheduler::BlockedText(blocking);
}

namespace {

void FillTies(const scheduler::DecisionTrace& trace, LaterFields* fields) {
  for (Symbol node : trace.tied) fields->ties.push_back(node.string());
}

// Derives the additional fields from the trace.
void FillFields(const scheduler::DecisionTrace& trace, LaterFields* fields) {
  const auto code = [](bool unresolvable) { return unresolvable ? " UnschedulableAndUnresolvable" : " Unschedulable"; };
  std::map<std::string, std::set<std::string>> all;
  for (const auto& r : trace.rejections) all[r.node.string()].insert(r.predicate + code(r.unresolvable));
  for (const auto& [node, plugins] : all) fields->rejections[node] = absl::StrJoin(plugins, "; ");
  if (!all.empty()) return FillTies(trace, fields);
  for (const auto& [node, plugin] : trace.rejected_by) {
    const auto* reasons = trace.failures->Find(node);
    const bool unresolvable =
        std::any_of(reasons->begin(), reasons->end(), [](const auto& r) { return r.unresolvable; });
    fields->rejections[node.string()] = plugin + code(unresolvable);
  }
  FillTies(trace, fields);
}

}  // namespace

Decision SimulationV1_29::Place(const api::PodPtr& pod, scheduler::DecisionMode mode, scheduler::DecisionTrace* trace) {
  fields_ = {};
  Decision d;
  fields_.not_attempted = WhyNotTried(*pod);
  if (!fields_.not_attempted.empty()) {
    d.nodes = cache_->node_count();
    d.error = fields_.not_attempted;
    return d;
  }
  Profile& profile = *ProfileOf(*pod);
  // All profiles share one counter, as in the release.
  profile.scheduler->set_last_node_index(last_node_index_);
  profile.scheduler->set_cycle(++cycle_);
  d = profile.scheduler->Schedule(pod, mode, trace);
  last_node_index_ = profile.scheduler->last_node_index();
  if (trace != nullptr) FillFields(*trace, &fields_);
  fields_.hint = d.hint.string();
  if (d.outcome != Decision::Outcome::kPlaced) return d;
  if (const std::string error = AssumeClaims(profile, *pod, d.host); !error.empty()) {
    d.outcome = Decision::Outcome::kError;
    d.host = Symbol();
    d.error = absl::StrCat("running Reserve plugin \"VolumeBinding\": ", error);
    return d;
  }
  nominated_.Remove(*pod);
  return d;
}

std::optional<scheduler::Preemption> SimulationV1_29::Preempt(const api::PodPtr& pod, const Decision& decision) {
  Profile* profile = ProfileOf(*pod);
  if (profile == nullptr) return std::nullopt;
  const auto& plugins = profile->resolved.at(ExtensionPoint::kPostFilter);
  if (std::none_of(plugins.begin(), plugins.end(), [&](const auto& p) {
        return p.name == "DefaultPreemption" || p.name == profile->scheduler->config().release->claims_plugin;
      })) {
    return std::nullopt;
  }
  scheduler::Preemption preemption = profile->scheduler->Preempt(pod, *decision.failures);
  fields_.preemption_error = preemption.error;
  return preemption;
}

}  // namespace berth::lab
