// Answers about nodes: what is on one of them, and what it would do to mend many.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <vector>

#include "pkg/lab/fixes.h"
#include "pkg/ui/answers.h"
#include "pkg/ui/simulator.h"
#include "pkg/util/status.h"

namespace berth::ui {
namespace {

using explain::JsonOut;

constexpr size_t kMostKinds = 20;

void ResourcesJson(const scheduler::Cache& cache, scheduler::Row row, JsonOut* j) {
  const scheduler::Columns& c = cache.columns();
  const scheduler::NodeRow& node = cache.row(row);
  j->Key("resources").Array();
  const auto add = [&](std::string_view name, int64_t offered, int64_t used) {
    j->Object().Member("name", name).Member("offered", offered).Member("used", used).End();
  };
  add("cpu", c.alloc_cpu[row], c.used_cpu[row]);
  add("memory", c.alloc_memory[row], c.used_memory[row]);
  add("pods", c.alloc_pods[row], c.pod_count[row]);
  for (const auto& [name, offered] : node.allocatable.scalars) add(name.str(), offered, node.requested.Scalar(name));
  j->End();
}

void TroublesJson(const scheduler::Cache& cache, scheduler::Row row, JsonOut* j) {
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

void PodsJson(const scheduler::NodeRow& row, JsonOut* j) {
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

// Writes why a pod does not fit on the node.
void WhyNotJson(scheduler::GenericScheduler& scheduler, const api::PodPtr& pod, const std::string& name, JsonOut* j) {
  std::vector<std::string> reasons;
  for (const auto& [node, results] : scheduler.EvaluatePredicates(pod)) {
    if (node.str() != name) continue;
    for (const auto& result : results) {
      for (const auto& reason : result.reasons) {
        if (std::find(reasons.begin(), reasons.end(), reason.text.str()) == reasons.end()) {
          reasons.push_back(reason.text.string());
        }
      }
      if (!result.error.empty()) reasons.push_back(result.error);
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
  JsonOut j;
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

absl::StatusOr<std::string> Simulator::FixesJson(const std::shared_ptr<const Cluster>& cluster, absl::Time deadline) {
  // The simulation is used up, because volumes stay assumed.
  auto lab = LabFor(cluster, util::Symbol(algorithms_->by_scheduler.begin()->first));
  if (!lab.ok()) return lab.status();
  auto simulation = lab::Simulation::Make((*lab)->scenario);
  if (!simulation.ok()) return simulation.status();
  const std::vector<api::PodPtr>& pending = (*lab)->scenario.pending;
  JsonOut j;
  j.Object().Member("pending", static_cast<int64_t>(std::min(pending.size(), lab::kMostFixPods))).Key("fixes").Array();
  for (const lab::Fix& fix : lab::FixesOfNodes(simulation->get(), pending, deadline)) {
    j.Object().Member("what", fix.what).Member("nodes", fix.nodes).Member("placed", fix.placed).End();
  }
  return j.End().Key("notes").Texts(algorithms_->notes).End().Finish("json");
}

}  // namespace berth::ui
