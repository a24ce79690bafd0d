#include "pkg/lab/simulation.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/volumes/attached_volumes.h"
#include "pkg/scheduler/extender/http_extender.h"
#include "pkg/scheduler/pod_fields.h"
#include "pkg/util/status.h"

namespace berth::lab {

using scheduler::Symbol;

// Finished pods use nothing and are left out.
absl::Status Simulation::Add(const api::Object& object) {
  scheduler::Listers& l = cache_.listers();
  if (const auto* pod = std::get_if<api::PodPtr>(&object)) {
    if ((*pod)->Finished()) return absl::OkStatus();
    return cache_.AddPod(AsTaken(*pod));
  }
  if (const auto* node = std::get_if<api::NodePtr>(&object)) cache_.AddNode(*node);
  api::StoredKinds::ForEach([&]<typename T>() {
    if (const auto* o = std::get_if<api::Ptr<T>>(&object)) l.Of<T>().Set(*o);
  });
  return absl::OkStatus();
}

// Prepares the cache for everything in the scenario.
void Simulation::Reserve() {
  size_t nodes = 0, pods = scenario_.pending.size();
  for (const api::Object& o : scenario_.cluster) {
    nodes += std::holds_alternative<api::NodePtr>(o);
    pods += std::holds_alternative<api::PodPtr>(o);
  }
  cache_.Reserve(nodes, pods);
}

void Simulation::MakeBinder(const scheduler::SchedulerGates& gates, scheduler::FactoryArgs* args) {
  if (!gates.algorithm.volume_scheduling) return;
  if (args->release->provisions_claims) {
    scheduler::ClaimRules rules = args->release->claims;
    rules.compares_modes = gates.algorithm.block_volume;
    claim_binder_ = std::make_unique<scheduler::ClaimBinder>(&cache_, rules);
    args->claim_binder = claim_binder_.get();
  } else {
    volume_binder_ = std::make_unique<scheduler::VolumeBinder>(&cache_, gates.algorithm);
    args->volume_binder = volume_binder_.get();
  }
}

absl::StatusOr<std::unique_ptr<Simulation>> Simulation::Make(const Scenario& scenario, const Algorithm& algorithm) {
  const bool later = algorithm.ByProfiles();
  std::unique_ptr<Simulation> sim(new Simulation(scenario, algorithm.Decides()));
  scheduler::SchedulerGates gates = algorithm.Gates();
  sim->pod_priority_ = gates.algorithm.pod_priority;
  sim->preempts_ = algorithm.preempt;
  sim->release_ = algorithm.release;
  sim->ties_ = TieBreaker(algorithm.ties);
  sim->ignore_unknown_fields_ = algorithm.ignore_unknown_fields;
  BERTH_RETURN_IF_ERROR(algorithm.CheckPercentage());
  const auto percentage = algorithm.SamplePercentage();
  const scheduler::SamplingRules* sampling = algorithm.Decides().sampling;
  if (percentage || (sampling != nullptr && sampling->one_without_scores)) {
    sim->sampler_ = std::make_unique<scheduler::NodeSampler>(&sim->cache_, *sampling, percentage.value_or(100));
  }
  if (later) {
    BERTH_RETURN_IF_ERROR(algorithm.CheckSource());
    auto made = SimulationV1_29::Make(scenario, algorithm, &sim->cache_, sim->sampler_.get(), percentage.has_value());
    if (!made.ok()) return made.status();
    sim->later_ = std::move(*made);
  } else if (sim->preempts_ && !sim->pod_priority_) {
    return util::InvalidArgument("preempt needs featureGates PodPriority=true");
  }

  if (!later && algorithm.Decides().cache.order != scheduler::NodeOrder::kNameDescending) sim->fields_.emplace();

  sim->Reserve();
  for (const api::Object& o : scenario.cluster) BERTH_RETURN_IF_ERROR(sim->Add(o));
  if (later) {
    sim->pod_priority_ = true;
    return sim;
  }
  if (sim->pod_priority_) {
    for (const api::PodPtr& pod : scenario.pending) sim->nominated_.Add(pod);
  }

  scheduler::FactoryArgs args;
  args.cache = &sim->cache_;
  args.release = &algorithm.Decides();
  args.gates = gates;
  args.hard_pod_affinity_symmetric_weight = algorithm.hard_pod_affinity_symmetric_weight;
  if (sim->pod_priority_) args.nominated = &sim->nominated_;
  if (algorithm.call_extenders()) {
    args.make_extender = [](const scheduler::ExtenderConfig& c) { return scheduler::NewHttpExtender(c); };
  } else if (algorithm.policy && !algorithm.policy->extenders.empty()) {
    return util::InvalidArgument("policy.extenders: a Scenario cannot call extenders, --policy-config-file can");
  }
  args.sampler = percentage ? sim->sampler_.get() : nullptr;
  sim->MakeBinder(gates, &args);
  auto made = algorithm.policy
                  ? scheduler::CreateFromConfig(*algorithm.policy, args, &sim->effective_)
                  : scheduler::CreateFromProvider(algorithm.provider.value_or(std::string(scheduler::kDefaultProvider)),
                                                  args, &sim->effective_);
  if (!made.ok()) return made.status();
  sim->scheduler_ = std::move(*made);
  return sim;
}

api::PodPtr Simulation::AsTaken(const api::PodPtr& pod) const {
  if (!ignore_unknown_fields_) return pod;
  return scheduler::WithoutUnknownFields(pod, scheduler::PodFieldsUnderstoodBy(release_->version));
}

// A pod with scheduling gates, or one that uses fields that the release does not understand, waits as in the daemon.
std::string Simulation::WhyNotTried(const api::Pod& pod) const {
  if (std::string gated = scheduler::GatedText(*pod.tmpl); !gated.empty()) return gated;
  if (ignore_unknown_fields_) return {};
  const auto understood = scheduler::PodFieldsUnderstoodBy(scheduler_->config());
  scheduler::PodFieldSet blocking = scheduler::FindUnknownPodFields(*pod.tmpl, understood).blocking;
  constexpr auto kLimits = static_cast<size_t>(scheduler::PodField::kCsiLimits);
  if (!understood[kLimits]) {
    blocking[kLimits] = scheduler::volumes::HasLimitedCsiVolumes(cache_, pod);
  }
  return blocking.none() ? std::string() : scheduler::BlockedText(blocking);
}

// The DaemonSet controller of 1.10 binds its pods itself, and passes over conditions and cordons of the node.
void Simulation::BindAsController(const api::PodPtr& pod, scheduler::Decision* d) const {
  if (d->outcome != scheduler::Decision::Outcome::kUnfit || d->failures == nullptr) return;
  const std::vector<scheduler::FailureReason>* reasons = d->failures->Find(pod->node_name);
  if (reasons == nullptr) return;
  static const scheduler::FailureReason kPassedOver[] = {
      scheduler::reasons::kNodeUnschedulable, scheduler::reasons::kNodeNotReady, scheduler::reasons::kNodeOutOfDisk,
      scheduler::reasons::kNodeNetworkUnavailable};
  for (const scheduler::FailureReason& r : *reasons) {
    const auto same = [&](const scheduler::FailureReason& passed) { return passed.text == r.text; };
    if (std::none_of(std::begin(kPassedOver), std::end(kPassedOver), same)) return;
  }
  d->outcome = scheduler::Decision::Outcome::kPlaced;
  d->host = pod->node_name;
  d->error.clear();
  d->failures.reset();
}

scheduler::Decision Simulation::Place(const api::PodPtr& as_given, scheduler::DecisionMode mode,
                                      scheduler::DecisionTrace* trace) {
  const api::PodPtr pod = AsTaken(as_given);
  if (later_ == nullptr) {
    if (std::string why = WhyNotTried(*pod); !why.empty()) {
      scheduler::Decision d;
      d.nodes = cache_.node_count();
      d.error = std::move(why);
      return d;
    }
  }
  // As in the daemon's queue, a pod's own nomination does not count while the pod is tried.
  if (pod_priority_ && later_ == nullptr) nominated_.Remove(*pod);
  if (const auto number = ties_.Next()) {
    later_ != nullptr ? later_->set_last_node_index(*number) : scheduler_->set_last_node_index(*number);
  }
  scheduler::Decision d = later_ != nullptr ? later_->Place(pod, mode, trace) : scheduler_->Schedule(pod, mode, trace);
  if (fields_) {
    fields_->ties.clear();
    if (trace != nullptr) {
      for (Symbol node : trace->tied) fields_->ties.push_back(node.string());
    }
  }
  if (scenario_.bound_by_controller.contains(as_given.get())) BindAsController(pod, &d);
  // The next pods must respect the nomination again.
  if (d.outcome != scheduler::Decision::Outcome::kPlaced) {
    if (pod_priority_ && later_ == nullptr) nominated_.Add(pod);
    return d;
  }
  if (const std::string error = AssumeClaims(*pod, d.host); !error.empty()) {
    d.outcome = scheduler::Decision::Outcome::kError;
    d.host = Symbol();
    d.error = absl::StrCat("AssumePodVolumes failed: ", error);
    return d;
  }
  auto placed = std::make_shared<api::Pod>(*pod);
  placed->node_name = d.host;
  last_placed_ = placed;
  if (absl::Status s = cache_.AssumePod(placed); !s.ok()) {
    d.outcome = scheduler::Decision::Outcome::kError;
    d.host = Symbol();
    d.error = absl::StrCat("AssumePod failed: ", s.message());
  }
  return d;
}

std::optional<scheduler::Preemption> Simulation::Preempt(const api::PodPtr& pod, const scheduler::Decision& decision) {
  if (!preempts_ || decision.outcome != scheduler::Decision::Outcome::kUnfit) return std::nullopt;
  return later_ == nullptr ? scheduler_->Preempt(pod, *decision.failures) : later_->Preempt(pod, decision);
}

explain::Explanation Simulation::Explain(const api::PodPtr& as_given) {
  const api::PodPtr pod = AsTaken(as_given);
  if (const std::string why = later_ == nullptr ? WhyNotTried(*pod) : later_->WhyNotTried(*pod); !why.empty()) {
    explain::Explanation e;
    e.pod = pod;
    e.nodes = e.decision.nodes = cache_.node_count();
    e.decision.error = why;
    return e;
  }
  const auto number = ties_.Next();
  const std::string ties = ties_.ties().InWords();
  const bool alike = sampler_ == nullptr;
  if (later_ == nullptr) {
    if (pod_priority_) nominated_.Remove(*pod);
    if (number) scheduler_->set_last_node_index(*number);
    return explain::ExplainPod({*scheduler_, cache_, effective_, pod_priority_, ties, alike}, pod);
  }
  SimulationV1_29::Profile* profile = later_->ProfileOf(*pod);
  if (number) profile->scheduler->set_last_node_index(*number);
  return explain::ExplainPod({*profile->scheduler, cache_, profile->effective, true, ties, alike}, pod);
}

}  // namespace berth::lab
