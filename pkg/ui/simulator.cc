// Questions about pods are answered by a lab::Simulation of the copied cluster, which is kept for further questions
// about the same copy. Whatever a question changes in it, such as the removal of a pod or the round-robin counter, is
// undone afterwards. A drain edits the cluster, so it has a simulation of its own.
#include "pkg/ui/simulator.h"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>
#include <absl/time/clock.h>

#include <algorithm>
#include <set>
#include <vector>

#include "pkg/api/decode.h"
#include "pkg/api/json_writer.h"
#include "pkg/api/stream.h"
#include "pkg/lab/edit.h"
#include "pkg/lab/validate.h"
#include "pkg/ui/answers.h"
#include "pkg/ui/explanation_json.h"
#include "pkg/ui/help.h"
#include "pkg/util/status.h"

namespace berth::ui {
namespace {

using api::JsonWriter;
using scheduler::Scheduler;

constexpr size_t kMostAttempts = 50, kMostMoves = 1000, kMostDrained = 1000;
// The number of decisions of a drain between two checks of the deadline.
constexpr size_t kBetweenLooks = 64;

lab::Scenario ScenarioOf(const Cluster& cluster, const lab::Algorithm& algorithm) {
  lab::Scenario s;
  s.algorithm = algorithm;
  for (const auto& others : cluster.others) s.cluster.insert(s.cluster.end(), others->begin(), others->end());
  for (const auto& row : cluster.rows) {
    if (row != nullptr && row->node != nullptr) s.cluster.emplace_back(row->node);
  }
  for (const auto& row : cluster.rows) {
    if (row == nullptr) continue;
    for (const api::PodPtr& p : row->pods) s.cluster.emplace_back(p);
  }
  absl::flat_hash_set<std::string_view> known;
  cluster.ForEachPod([&](const api::Pod& p) { known.insert(p.meta.uid); });
  for (const api::PodPtr& p : cluster.pending) {
    if (known.insert(p->meta.uid).second) s.AddPending(p);
  }
  return s;
}

api::PodPtr WithoutNode(const api::Pod& pod) {
  auto copy = std::make_shared<api::Pod>(pod);
  copy->node_name = util::Symbol();
  return copy;
}

struct Found {
  api::PodPtr pod;
  bool placed = false;
};
Found FindPod(const Cluster& cluster, const std::string& key) {
  // Compares without building a key for each pod. Names that an API server would reject may contain slashes.
  const auto is = [&](const api::PodPtr& p) {
    const std::string_view ns = p->meta.ns.str(), name = p->meta.name;
    return key.size() == ns.size() + 1 + name.size() && key.starts_with(ns) && key[ns.size()] == '/' &&
           key.ends_with(name);
  };
  for (const auto& row : cluster.rows) {
    if (row == nullptr) continue;
    for (const api::PodPtr& p : row->pods) {
      if (is(p)) return {p, true};
    }
  }
  for (const api::PodPtr& p : cluster.pending) {
    if (is(p)) return {p, false};
  }
  return {};
}

// What the containers of a pod request, in milliCPU and bytes.
struct Requests {
  int64_t cpu = 0, memory = 0;
};
Requests RequestsOf(const api::Pod& pod) {
  Requests out;
  for (const api::Container& c : pod.tmpl->containers) {
    for (const auto& [name, quantity] : c.requests) {
      if (name.str() == "cpu") out.cpu += quantity.MilliValue();
      if (name.str() == "memory") out.memory += quantity.Value();
    }
  }
  return out;
}

void PodFields(const Found& found, JsonWriter* j) {
  const api::Pod& pod = *found.pod;
  j->Member("state", found.placed ? "placed" : "pending").Member("node", pod.node_name.str());
  j->Member("nominatedNode", pod.nominated_node_name.str()).Member("priority", int64_t{pod.Priority()});
  j->Member("schedulerName", pod.tmpl->scheduler_name.str()).Member("owner", OwnerOf(pod));
  const Requests requests = RequestsOf(pod);
  j->Member("created", pod.meta.creation_seconds).Key("requests").Object();
  j->Member("milliCPU", requests.cpu).Member("memoryBytes", requests.memory).End();
  j->Member("condition", pod.scheduled ? pod.scheduled->message : "");
}

void PreemptionJson(const History::Preemption& p, JsonWriter* j) {
  j->Object().Member("time", Millis(p.time)).Member("pod", p.pod).Member("node", p.node.str());
  j->Member("victimCount", static_cast<int64_t>(p.victim_count)).Key("victims").Texts(p.victims).End();
}

void HistoryJson(const std::vector<History::Attempt>& attempts, const std::vector<History::Preemption>& preemptions,
                 JsonWriter* j) {
  j->Key("attempts").Array();
  for (const History::Attempt& a : attempts) {
    j->Object().Member("time", Millis(a.time)).Member("uid", a.uid).Member("node", a.node.str());
    j->Member("message", a.message).Member("nodes", int64_t{a.nodes}).Member("feasible", int64_t{a.feasible});
    j->Member("ties", int64_t{a.ties}).End();
  }
  j->End().Key("preemptions").Array();
  for (const History::Preemption& p : preemptions) PreemptionJson(p, j);
  j->End();
}

// Says what a pending pod waits for: the first thing that somebody who looks at it wants to know.
void WaitsFor(const api::Pod& pod, const PendingPod& pending, const explain::Explanation* e, JsonWriter* j) {
  using Place = scheduler::Scheduler::Place;
  std::string sentence;
  util::Symbol node;
  std::vector<std::string> pods;
  const bool backs_off =
      pending.until != absl::InfiniteFuture() && (pending.place == Place::kBackoff || pending.place == Place::kQueued);
  if (pending.place == Place::kBinding || pending.place == Place::kBindUnknown) {
    sentence =
        "It has a node, and its bind waits for the API server; requests are limited by --kube-api-qps. Its node is";
    node = pod.node_name;
  } else if (pending.place == Place::kGated || pending.place == Place::kUnsupported) {
    sentence = absl::StrCat("It ", std::string(PlaceInWords(scheduler::PlaceName(pending.place))), ".");
  } else if (e != nullptr && !e->awaited.empty()) {
    sentence = "It waits for the end of pods that were evicted for it, on";
    node = pod.nominated_node_name;
    pods = e->awaited;
  } else if (e != nullptr && !e->claims_to_create.empty()) {
    sentence = e->claims_to_create.back();
  } else if (e != nullptr && e->decision.outcome == scheduler::Decision::Outcome::kPlaced) {
    sentence = pending.reasons.empty() ? "It waits for its turn."
               : backs_off             ? "It waits for the end of its back-off; it would fit on"
                                       : "It waits for its next try; it would fit on";
    if (!pending.reasons.empty()) node = e->decision.host;
  } else if (!pod.nominated_node_name.empty()) {
    sentence = "Room was made for it, and it waits to be tried again on";
    node = pod.nominated_node_name;
  } else if (pending.reasons.empty()) {
    sentence = "It waits for its turn.";
  } else if (backs_off) {
    sentence = "It waits for the end of its back-off, and for a change in the cluster that makes it fit.";
  } else {
    sentence = "It waits for a change in the cluster that makes it fit.";
  }
  j->Key("waitsFor").Object().Member("place", scheduler::PlaceName(pending.place)).Member("sentence", sentence);
  if (!node.empty()) j->Member("node", node.str());
  j->Key("pods").Texts(pods);
  if (pending.until != absl::InfiniteFuture()) j->Member("until", Millis(pending.until)).Member("backsOff", backs_off);
  j->End();
}

}  // namespace

explain::Explanation ExplainOnce(lab::Simulation* simulation, const api::Pod& pod) {
  const uint64_t counter = simulation->scheduler().last_node_index();
  explain::Explanation e = simulation->Explain(WithoutNode(pod));
  simulation->scheduler().set_last_node_index(counter);
  return e;
}

void Simulator::Forget() {
  labs_.clear();
  cluster_.reset();
}

absl::StatusOr<const lab::Algorithm*> Simulator::AlgorithmFor(util::Symbol scheduler_name) const {
  const auto it = algorithms_->by_scheduler.find(scheduler_name.string());
  if (it != algorithms_->by_scheduler.end()) return &it->second;
  return util::InvalidArgument(
      absl::StrCat("the pod asks for the scheduler \"", scheduler_name.string(), "\", which is not this one"));
}

absl::StatusOr<Simulator::Lab*> Simulator::LabFor(const std::shared_ptr<const Cluster>& cluster,
                                                  util::Symbol scheduler_name) {
  auto algorithm = AlgorithmFor(scheduler_name);
  if (!algorithm.ok()) return algorithm.status();
  if (cluster_ != cluster) {
    labs_.clear();
    cluster_ = cluster;
  }
  std::unique_ptr<Lab>& lab = labs_[scheduler_name.string()];
  if (lab != nullptr) return lab.get();
  auto fresh = std::make_unique<Lab>();
  fresh->scenario = ScenarioOf(*cluster, **algorithm);
  auto simulation = lab::Simulation::Make(fresh->scenario);
  if (!simulation.ok()) return simulation.status();
  fresh->simulation = *std::move(simulation);
  lab = std::move(fresh);
  return lab.get();
}

absl::StatusOr<std::string> Simulator::PodJson(std::shared_ptr<const Cluster> cluster, const History& history,
                                               const std::string& key, const PendingPod* pending) {
  const Found found = FindPod(*cluster, key);
  const auto attempts = history.AttemptsOf(key, kMostAttempts);
  const auto preemptions = history.PreemptionsOf(key);
  if (found.pod == nullptr && attempts.empty() && preemptions.empty()) {
    return util::NotFound(absl::StrCat("there is no pod ", key));
  }
  JsonWriter j;
  j.Object().Member("pod", key);
  found.pod != nullptr ? PodFields(found, &j) : static_cast<void>(j.Member("state", "gone"));
  HistoryJson(attempts, preemptions, &j);
  j.Key("notes").Texts(algorithms_->notes);
  if (found.pod == nullptr) return j.End().Finish("json");
  auto lab = LabFor(cluster, found.pod->tmpl->scheduler_name);
  if (!lab.ok()) {
    if (pending != nullptr) WaitsFor(*found.pod, *pending, nullptr, &j);
    return j.Member("explanationError", util::Message(lab.status())).End().Finish("json");
  }
  // A pod that has a node is removed first and explained as if it were new, because it must not count against itself.
  lab::Simulation& simulation = *(*lab)->simulation;
  if (found.placed) {
    if (absl::Status s = simulation.cache().RemovePod(*found.pod); !s.ok()) return s;
  }
  const explain::Explanation e = ExplainOnce(&simulation, *found.pod);
  if (pending != nullptr) WaitsFor(*found.pod, *pending, &e, &j);
  j.Key("explanation");
  ExplanationJson(e, &j);
  if (found.placed) {
    if (absl::Status s = simulation.cache().AddPod(found.pod); !s.ok()) return s;
  }
  return j.End().Finish("json");
}

absl::StatusOr<std::string> Simulator::ExplainNew(const std::shared_ptr<const Cluster>& cluster, api::Json json,
                                                  const std::vector<std::string>& mistakes) {
  api::DecodeOptions o;
  o.server_defaults = true;
  auto pod = api::DecodePod(json, o);
  if (!pod.ok()) return pod.status();
  auto lab = LabFor(cluster, (*pod)->tmpl->scheduler_name);
  if (!lab.ok()) return lab.status();
  std::vector<std::string> notes = algorithms_->notes;
  notes.insert(notes.end(), mistakes.begin(), mistakes.end());
  JsonWriter j;
  j.Object().Member("pod", (*pod)->meta.Key()).Key("notes").Texts(notes).Key("explanation");
  ExplanationJson(ExplainOnce((*lab)->simulation.get(), **pod), &j);
  return j.End().Finish("json");
}

// Takes the pod of a workload from its template.
absl::StatusOr<std::string> Simulator::ExplainManifest(const std::shared_ptr<const Cluster>& cluster,
                                                       const std::string& text) {
  auto document = api::ReadDocument(text);
  if (!document.ok()) {
    return util::InvalidArgument(absl::StrCat("This is not JSON or YAML: ", util::Message(document.status())));
  }
  const api::Json root = document->root();
  const api::Json spec = root.FindExact("spec"), job = spec.FindExact("jobTemplate").FindExact("spec");
  const api::Json tmpl = (job.IsObject() ? job : spec).FindExact("template");
  const std::string_view kind = root.FindExact("kind").Text();
  if (kind != "Pod" && !tmpl.IsObject()) {
    return util::InvalidArgument(absl::StrCat(kind.empty() ? "The manifest has no kind" : "There is no pod in a ",
                                              std::string(kind), ": give a Pod, or a workload with a pod template"));
  }
  lab::Validator validator(lab::Validate::kWarn, algorithms_->by_scheduler.begin()->second.release->version);
  validator.Check(root, "", "", [&](size_t at) { return api::LineAndColumn(text, at); });
  const std::vector<std::string> mistakes = validator.Warnings();
  if (kind == "Pod") return ExplainNew(cluster, root, mistakes);
  JsonWriter pod;
  pod.Object().Key("metadata").Object();
  for (const auto& [name, from] : {std::pair("name", root), std::pair("namespace", root), std::pair("labels", tmpl)}) {
    const api::Json value = from.FindExact("metadata").FindExact(name);
    if (!value.IsNull()) pod.Key(name).Literal(value.Serialize());
  }
  pod.End().Key("spec").Literal(tmpl.FindExact("spec").Serialize()).End();
  api::Document made;
  BERTH_RETURN_IF_ERROR(made.Parse(pod.Take()));
  return ExplainNew(cluster, made.root(), mistakes);
}

absl::StatusOr<std::string> Simulator::Drain(const std::shared_ptr<const Cluster>& cluster, api::Json names,
                                             absl::Time deadline) {
  lab::Edits edits;
  for (auto member : names.Children()) {
    if (!member.value.IsString()) return util::InvalidArgument("drain: the names of nodes must be strings");
    edits.drain.emplace_back(member.value.Text());
  }
  if (edits.drain.size() > kMostDrained) {
    return util::InvalidArgument(absl::StrCat("drain: at most ", kMostDrained, " nodes at a time"));
  }
  const auto& [name, algorithm] = *algorithms_->by_scheduler.begin();
  lab::Scenario scenario = ScenarioOf(*cluster, algorithm);
  // Pending pods are left out, because the question is where the evicted pods would go.
  scenario.pending.clear();
  scenario.pending_after.clear();
  auto edited = lab::ApplyEdits(scenario, edits);
  if (!edited.ok()) {
    // Those who ask on the page have given no flag.
    return util::InvalidArgument(std::string(absl::StripPrefix(edited.status().message(), "--")));
  }
  auto simulation = lab::Simulation::Make(edited->scenario);
  if (!simulation.ok()) return simulation.status();
  JsonWriter j;
  j.Object().Key("notes").Texts(algorithms_->notes).Key("moves").Array();
  int64_t placed = 0, decided = 0;
  for (const auto& eviction : edited->evictions) {
    if (decided % kBetweenLooks == 0 && absl::Now() > deadline) break;
    const scheduler::Decision d = (*simulation)->Place(eviction.pod);
    placed += !d.host.empty();
    if (static_cast<size_t>(decided++) >= kMostMoves) continue;
    j.Object().Member("pod", eviction.pod->meta.Key()).Member("from", eviction.from.str()).Member("to", d.host.str());
    j.Member("error", d.error).End();
  }
  const auto evicted = static_cast<int64_t>(edited->evictions.size());
  j.End().Member("evicted", evicted).Member("placed", placed).Member("pending", decided - placed);
  j.Member("complete", decided == evicted).Key("violatedBudgets").Array();
  for (const auto& b : edited->violated) {
    j.Object().Member("budget", b.name).Member("allowed", int64_t{b.allowed}).Key("evicted").Texts(b.evicted).End();
  }
  return j.End().Key("withoutController").Texts(edited->bare).End().Finish("json");
}

absl::StatusOr<std::string> Simulator::SimulateJson(std::shared_ptr<const Cluster> cluster, std::string_view request,
                                                    absl::Time deadline) {
  api::Document doc;
  BERTH_RETURN_IF_ERROR(doc.Parse(request));
  const api::Json pod = doc.root().FindExact("pod"), drain = doc.root().FindExact("drain");
  if (pod.IsObject()) return ExplainNew(cluster, pod, {});
  if (const api::Json manifest = doc.root().FindExact("manifest"); manifest.IsString()) {
    return ExplainManifest(cluster, std::string(manifest.Text()));
  }
  if (drain.IsArray() && drain.size() > 0) return Drain(cluster, drain, deadline);
  return util::InvalidArgument(
      "the body must be {\"pod\": a Pod}, {\"manifest\": a Pod or a workload as YAML or JSON} or {\"drain\": [names of "
      "nodes]}");
}

}  // namespace berth::ui
