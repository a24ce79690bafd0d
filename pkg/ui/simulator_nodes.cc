// Answers about nodes: what is on one of them, and what it would do to mend many.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <vector>

#include "pkg/api/json_writer.h"
#include "pkg/lab/fixes.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/cache/scalar_lookup.h"
#include "pkg/scheduler/failure_reasons.h"
#include "pkg/ui/answers.h"
#include "pkg/ui/simulator.h"
#include "pkg/util/status.h"

namespace berth::ui {
namespace {

using api::JsonWriter;

constexpr size_t kMostKinds = 20, kMostReasons = 12, kMostWaysOfReason = 2;

void ResourcesJson(const scheduler::Cache& cache, scheduler::Row row, JsonWriter* j) {
  const scheduler::Columns& c = cache.columns();
  const scheduler::NodeRow& node = cache.row(row);
  j->Key("resources").Array();
  const auto add = [&](std::string_view name, int64_t offered, int64_t used) {
    j->Object().Member("name", name).Member("offered", offered).Member("used", used).End();
  };
  add("cpu", c.alloc_cpu[row], c.used_cpu[row]);
  add("memory", c.alloc_memory[row], c.used_memory[row]);
  add("pods", c.alloc_pods[row], c.pod_count[row]);
  for (const auto& [name, offered] : node.allocatable.scalars) add(name.str(), offered, ScalarOf(node.requested, name));
  j->End();
}

void TroublesJson(const scheduler::Cache& cache, scheduler::Row row, JsonWriter* j) {
  const uint8_t flags = cache.columns().flags[row];
  const api::Node& node = *cache.row(row).node;
  std::vector<std::string> troubles, taints;
  if (node.unschedulable) troubles.emplace_back("cordoned");
  if ((flags & scheduler::kRowConditionBad) != 0) troubles.emplace_back("not ready");
  if ((flags & scheduler::kRowMemoryPressure) != 0) troubles.emplace_back("short of memory");
  if ((flags & scheduler::kRowDiskPressure) != 0) troubles.emplace_back("short of disk space");
  for (const api::Taint& t : node.taints) {
    taints.push_back(
        absl::StrCat(t.key.string(), t.value.empty() ? "" : "=", t.value.string(), ":", t.effect.string()));
  }
  j->Key("troubles").Texts(troubles).Key("taints").Texts(taints);
}

void PodsJson(const scheduler::NodeRow& row, JsonWriter* j) {
  std::vector<const scheduler::PlacedPod*> pods;
  for (const scheduler::PlacedPod& p : row.pods) pods.push_back(&p);
  std::sort(pods.begin(), pods.end(),
            [](const auto* a, const auto* b) { return a->pod->meta.Key() < b->pod->meta.Key(); });
  j->Key("pods").Array();
  for (const scheduler::PlacedPod* p : pods) {
    j->Object().Member("pod", p->pod->meta.Key()).Member("milliCPU", p->info->used.milli_cpu);
    j->Member("memoryBytes", p->info->used.memory).Member("priority", int64_t{p->pod->Priority()});
    j->Member("owner", OwnerOf(*p->pod)).Member("created", p->pod->meta.creation_seconds);
    j->Member("ending", p->pod->meta.deleting()).End();
  }
  j->End();
}

// Pods that have the same template and the same reason that decides.
struct Alike {
  int64_t pods = 0;
  const PendingPod* example = nullptr;  // the first by name
};

// Returns for each reason that decides the kind with the most pods, the reasons of most pods first.
std::vector<std::pair<scheduler::FailureReasonId, Alike>> LargestKinds(const PendingPods& pending) {
  std::map<scheduler::FailureReasonId, std::map<const api::PodTemplate*, Alike>> kinds;
  std::map<scheduler::FailureReasonId, int64_t> pods;
  for (const PendingPod& p : pending) {
    if (p.reasons.empty()) continue;
    Alike& alike = kinds[p.reasons[0]][p.pod->tmpl.get()];
    if (alike.pods++ == 0 || p.pod->meta.Key() < alike.example->pod->meta.Key()) alike.example = &p;
    ++pods[p.reasons[0]];
  }
  std::vector<std::pair<scheduler::FailureReasonId, Alike>> out;
  for (const auto& [reason, of_reason] : kinds) {
    const Alike* most = nullptr;
    for (const auto& [tmpl, alike] : of_reason) {
      const bool more = most == nullptr || alike.pods > most->pods ||
                        (alike.pods == most->pods && alike.example->pod->meta.Key() < most->example->pod->meta.Key());
      if (more) most = &alike;
    }
    out.emplace_back(reason, *most);
  }
  std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) { return pods[a.first] > pods[b.first]; });
  return out;
}

// Writes why a pod does not fit on the node.
void WhyNotJson(scheduler::GenericScheduler& scheduler, const api::PodPtr& pod, const std::string& name,
                JsonWriter* j) {
  std::vector<std::string> reasons;
  bool claim_is_missing = false;
  const auto add = [&](const std::string& text, scheduler::Symbol kind) {
    // Several rules say of a claim that it does not exist, each in its own words.
    const bool missing = kind == scheduler::reasons::kNoClaim;
    if ((missing && claim_is_missing) || std::find(reasons.begin(), reasons.end(), text) != reasons.end()) return;
    claim_is_missing = claim_is_missing || missing;
    reasons.push_back(text);
  };
  for (const auto& [node, results] : scheduler.EvaluatePredicates(pod)) {
    if (node.str() != name) continue;
    for (const auto& result : results) {
      for (const auto& reason : result.reasons) add(reason.text.string(), reason.kind);
      if (!result.error.empty()) add(result.error.text, result.error.kind);
    }
  }
  j->Member("fits", reasons.empty()).Key("reasons").Texts(reasons);
}

}  // namespace

absl::StatusOr<std::string> Simulator::NodeJson(const std::shared_ptr<const Cluster>& cluster,
                                                const std::string& name) {
  auto first = LabFor(cluster, util::Symbol(algorithms_->by_scheduler.begin()->first));
  if (!first.ok()) return first.status();
  const scheduler::Cache& cache = (*first)->simulation->cache();
  const util::Symbol known = util::Symbol::Find(name);
  const scheduler::Row row = known.empty() ? scheduler::kNoRow : cache.FindRow(known);
  if (row == scheduler::kNoRow || cache.row(row).node == nullptr) {
    return util::NotFound(absl::StrCat("there is no node ", name));
  }
  JsonWriter j;
  j.Object().Member("node", name);
  ResourcesJson(cache, row, &j);
  TroublesJson(cache, row, &j);
  PodsJson(cache.row(row), &j);
  // Pods of one template are one kind.
  std::map<const api::PodTemplate*, std::pair<int64_t, api::PodPtr>> kinds;
  for (const api::PodPtr& pod : (*first)->scenario.pending) {
    auto& [pods, example] = kinds[pod->tmpl.get()];
    if (pods++ == 0) example = pod;
  }
  std::vector<std::pair<int64_t, api::PodPtr>> order;
  for (const auto& [tmpl, kind] : kinds) order.push_back(kind);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second->meta.Key() < b.second->meta.Key();
  });
  j.Key("pending").Array();
  for (size_t i = 0; i < std::min(order.size(), kMostKinds); ++i) {
    const auto& [pods, pod] = order[i];
    auto lab = LabFor(cluster, pod->tmpl->scheduler_name);
    j.Object().Member("pod", pod->meta.Key()).Member("pods", pods);
    if (lab.ok()) {
      WhyNotJson((*lab)->simulation->scheduler(), pod, name, &j);
    } else {
      j.Member("fits", false).Key("reasons").Texts({util::Message(lab.status())});
    }
    j.End();
  }
  j.End().Member("morePending", static_cast<int64_t>(order.size() - std::min(order.size(), kMostKinds)));
  j.Key("notes").Texts(algorithms_->notes);
  return j.End().Finish("json");
}

// Each way was tried, but on a pod that is alone: a way places the example, and not necessarily all pods of its kind.
void Simulator::WaysByReasonJson(const std::shared_ptr<const Cluster>& cluster, const PendingPods& pending,
                                 absl::Time deadline, JsonWriter* j) {
  j->Key("byReason").Array();
  size_t written = 0;
  for (const auto& [reason, alike] : LargestKinds(pending)) {
    if (written++ == kMostReasons || absl::Now() > deadline) break;
    const api::Pod& example = *alike.example->pod;
    auto lab = LabFor(cluster, example.tmpl->scheduler_name);
    if (!lab.ok()) continue;
    const explain::Explanation e = ExplainOnce((*lab)->simulation.get(), example);
    j->Object().Member("reason", scheduler::FailureReasonText(reason)).Member("pod", example.meta.Key());
    j->Member("alike", alike.pods).Member("fitsNow", !e.decision.host.empty()).Key("lacking").Texts(e.lacking);
    std::vector<std::string> ways;
    for (const explain::Way& w : e.ways) {
      if (ways.size() < kMostWaysOfReason && (w.possible || !e.ways[0].possible)) ways.push_back(explain::Describe(w));
    }
    j->Key("awaited").Texts(e.awaited).Key("ways").Texts(ways).End();
  }
  j->End();
}

absl::StatusOr<std::string> Simulator::FixesJson(const std::shared_ptr<const Cluster>& cluster,
                                                 const PendingPods& pending_pods, absl::Time deadline) {
  // The simulation is used up, because volumes stay assumed.
  auto lab = LabFor(cluster, util::Symbol(algorithms_->by_scheduler.begin()->first));
  if (!lab.ok()) return lab.status();
  auto simulation = lab::Simulation::Make((*lab)->scenario);
  if (!simulation.ok()) return simulation.status();
  const std::vector<api::PodPtr>& pending = (*lab)->scenario.pending;
  JsonWriter j;
  j.Object().Member("pending", static_cast<int64_t>(std::min(pending.size(), lab::kMostFixPods))).Key("fixes").Array();
  for (const lab::Fix& fix : lab::FixesOfNodes(simulation->get(), pending, deadline)) {
    j.Object().Member("what", fix.what).Member("nodes", fix.nodes).Member("placed", fix.placed).End();
  }
  j.End();
  WaysByReasonJson(cluster, pending_pods, deadline, &j);
  return j.Key("notes").Texts(algorithms_->notes).End().Finish("json");
}

}  // namespace berth::ui
