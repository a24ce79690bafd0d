#include "pkg/lab/simulation.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <set>
#include <utility>

#include "pkg/explain/plain_reasons.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/resourceclaims/resourceclaims.h"
#include "pkg/scheduler/algorithm/volumes/attached_volumes.h"
#include "pkg/scheduler/pod_fields.h"
#include "pkg/util/contract.h"
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

absl::StatusOr<std::unique_ptr<Simulation>> Simulation::Make(const Scenario& scenario, const Algorithm& algorithm) {
  BERTH_RETURN_IF_ERROR(algorithm.CheckPercentage());
  const releases::Release& release = releases::Of(*algorithm.release);
  const auto percentage = algorithm.SamplePercentage();
  std::unique_ptr<Simulation> sim(new Simulation(scenario, {.decides = &release.decides,
                                                            .process = &release.process,
                                                            .gates = algorithm.Gates(),
                                                            .percentage = percentage}));
  sim->by_profiles_ = algorithm.ByProfiles();
  sim->pod_priority_ = sim->by_profiles_ || algorithm.Gates().algorithm.pod_priority;
  sim->preempts_ = algorithm.preempt;
  sim->release_ = algorithm.release;
  sim->ties_ = TieBreaker(algorithm.ties);
  sim->ignore_unknown_fields_ = algorithm.ignore_unknown_fields;
  const scheduler::SamplingRules* sampling = release.decides.sampling;
  sim->looks_at_all_nodes_ = !percentage && (sampling == nullptr || !sampling->one_without_scores);
  if (sim->by_profiles_ || release.decides.cache.order != scheduler::NodeOrder::kNameDescending) {
    sim->fields_.emplace();
  }
  auto deciders = MakeDeciders(algorithm, &sim->parts_);
  if (!deciders.ok()) return deciders.status();
  sim->deciders_ = std::move(*deciders);

  sim->Reserve();
  for (const api::Object& o : scenario.cluster) BERTH_RETURN_IF_ERROR(sim->Add(o));
  if (sim->pod_priority_) {
    for (const api::PodPtr& pod : scenario.pending) {
      if (sim->WhyNotTried(*pod).empty()) sim->parts_.queue->nominated()->Add(pod);
    }
  }
  return sim;
}

Decider* Simulation::DeciderOf(const api::Pod& pod) {
  for (Decider& d : deciders_) {
    if (d.Takes(pod)) return &d;
  }
  return nullptr;
}

api::PodPtr Simulation::AsTaken(const api::PodPtr& pod) const {
  if (!ignore_unknown_fields_) return pod;
  return scheduler::WithoutUnknownFields(pod, scheduler::PodFieldsUnderstoodBy(release_->version));
}

// A pod with scheduling gates, or one that uses fields that the release does not understand, waits as in the daemon. It
// is set aside for such fields only when its gates are gone.
std::string Simulation::WhyNotTried(const api::Pod& pod) {
  const Decider* decider = DeciderOf(pod);
  if (decider == nullptr) return "no profile";
  std::string why = decider->waits_for_gates ? scheduler::GatedText(*pod.tmpl) : "";
  if (why.empty() && decider->waits_for_claims) why = scheduler::resourceclaims::WhyClaimsHold(pod, cache_.listers());
  if (!why.empty() || ignore_unknown_fields_) return why;
  const scheduler::PodFieldSet& understood = decider->understood;
  scheduler::PodFieldSet blocking = scheduler::FindUnknownPodFields(*pod.tmpl, understood).blocking;
  constexpr auto kLimits = static_cast<size_t>(scheduler::PodField::kCsiLimits);
  if (!understood[kLimits]) blocking[kLimits] = scheduler::volumes::HasLimitedCsiVolumes(cache_, pod);
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
    const util::Symbol text = explain::PlainReason(r, *deciders_.front().scheduler->config().release).text;
    const auto same = [&](const scheduler::FailureReason& passed) { return passed.text == text; };
    if (std::none_of(std::begin(kPassedOver), std::end(kPassedOver), same)) return;
  }
  d->outcome = scheduler::Decision::Outcome::kPlaced;
  d->host = pod->node_name;
  d->error.clear();
  d->failures.reset();
}

void Simulation::FillFields(const scheduler::DecisionTrace& trace) {
  for (Symbol node : trace.tied) fields_->ties.push_back(node.string());
  if (!by_profiles_) return;
  const auto code = [](bool unresolvable) { return unresolvable ? " UnschedulableAndUnresolvable" : " Unschedulable"; };
  std::map<std::string, std::set<std::string>> all;
  for (const auto& r : trace.rejections) all[r.node.string()].insert(r.predicate + code(r.unresolvable));
  for (const auto& [node, plugins] : all) fields_->rejections[node] = absl::StrJoin(plugins, "; ");
  if (!all.empty()) return;
  for (const auto& [node, plugin] : trace.rejected_by) {
    const auto* reasons = trace.failures->Find(node);
    const bool unresolvable =
        std::any_of(reasons->begin(), reasons->end(), [](const auto& r) { return r.unresolvable; });
    fields_->rejections[node.string()] = plugin + code(unresolvable);
  }
}

namespace {

void EndInError(std::string error, scheduler::Decision* d) {
  d->outcome = scheduler::Decision::Outcome::kError;
  d->host = Symbol();
  d->error = std::move(error);
}

}  // namespace

scheduler::Decision Simulation::Place(const api::PodPtr& as_given, scheduler::DecisionMode mode,
                                      scheduler::DecisionTrace* trace) {
  BERTH_REQUIRES(mode != scheduler::DecisionMode::kIncremental || trace == nullptr);
  const api::PodPtr pod = AsTaken(as_given);
  if (fields_) *fields_ = {};
  if (std::string why = WhyNotTried(*pod); !why.empty()) {
    scheduler::Decision held;
    held.nodes = cache_.node_count();
    held.error = why;
    if (by_profiles_) fields_->not_attempted = std::move(why);
    return held;
  }
  Decider& decider = *DeciderOf(*pod);
  if (decider.sets_nomination_aside) parts_.queue->nominated()->Remove(*pod);
  decider.scheduler->set_last_node_index(ties_.Next().value_or(turn_));
  decider.scheduler->set_cycle(++cycle_);
  scheduler::Decision d = decider.scheduler->Schedule(pod, mode, trace);
  turn_ = decider.scheduler->last_node_index();
  if (fields_) {
    if (trace != nullptr) FillFields(*trace);
    fields_->hint = d.hint.string();
  }
  if (scenario_.bound_by_controller.contains(as_given.get())) BindAsController(pod, &d);
  // The next pods must respect the nomination again.
  if (d.outcome != scheduler::Decision::Outcome::kPlaced) {
    if (decider.sets_nomination_aside) parts_.queue->nominated()->Add(pod);
    return d;
  }
  if (const std::string error = AssumeClaims(decider, *pod, d.host); !error.empty()) {
    EndInError(decider.claims_failed + error, &d);
    return d;
  }
  if (!decider.sets_nomination_aside && pod_priority_) parts_.queue->nominated()->Remove(*pod);
  auto placed = std::make_shared<api::Pod>(*pod);
  placed->node_name = d.host;
  last_placed_ = placed;
  if (absl::Status s = cache_.AssumePod(placed); !s.ok()) {
    EndInError(absl::StrCat("AssumePod failed: ", s.message()), &d);
  }
  return d;
}

std::optional<scheduler::Preemption> Simulation::Preempt(const api::PodPtr& pod, const scheduler::Decision& decision) {
  if (decision.outcome != scheduler::Decision::Outcome::kUnfit) return std::nullopt;
  Decider* decider = DeciderOf(*pod);
  if (decider == nullptr || !decider->preempts) return std::nullopt;
  // Profiles have a plugin that says so; before, no release knew the field.
  if (!by_profiles_ && pod->tmpl->never_preempts) return std::nullopt;
  scheduler::Preemption preemption = decider->scheduler->Preempt(pod, *decision.failures);
  if (by_profiles_) fields_->preemption_error = preemption.error;
  return preemption;
}

explain::Explanation Simulation::Explain(const api::PodPtr& as_given) {
  const api::PodPtr pod = AsTaken(as_given);
  if (const std::string why = WhyNotTried(*pod); !why.empty()) {
    explain::Explanation e;
    e.pod = pod;
    e.nodes = e.decision.nodes = cache_.node_count();
    e.decision.error = why;
    return e;
  }
  Decider& decider = *DeciderOf(*pod);
  if (decider.sets_nomination_aside) parts_.queue->nominated()->Remove(*pod);
  decider.scheduler->set_last_node_index(ties_.Next().value_or(turn_));
  return explain::ExplainPod({*decider.scheduler, cache_, decider.effective, pod_priority_, ties_.ties().InWords(),
                              /*alike=*/looks_at_all_nodes_},
                             pod);
}

}  // namespace berth::lab
