// Functions of berth.h for experiments: arrays over all nodes, steps of an agent, hooks, victims.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "pkg/capi/berth.h"
#include "pkg/capi/calls.h"
#include "pkg/capi/cluster.h"
#include "pkg/capi/columns.h"
#include "pkg/util/status.h"

namespace berth::capi {
namespace {

using scheduler::Row;

// Writes where a pod fits, and what of it columns have. Marks nothing for a pod that is not tried.
int32_t Look(Cluster& c, const api::PodPtr& pod, size_t nodes, uint8_t* feasible, double* requests) {
  std::memset(feasible, 0, nodes);
  if (requests != nullptr) {
    const double* of = c.own.columns.Requests(c.cache().Info(pod->tmpl)->request);
    std::copy(of, of + c.own.columns.resources().size(), requests);
  }
  auto* scheduler = c.simulation->SchedulerOf(*pod);
  if (scheduler == nullptr || !c.simulation->WhyHeld(pod).empty()) return BERTH_OK;
  scheduler->Evaluate(pod, &c.evaluation, /*totals=*/false);
  if (!c.evaluation.error.empty()) {
    return Fail(c.own.Error().empty() ? BERTH_INVALID : BERTH_CALLBACK, c.evaluation.error);
  }
  c.evaluation.fits.ForEach([&](Row r) { feasible[r] = 1; });
  return BERTH_OK;
}

// Writes a label's value; null if there is none. `text` keeps it.
int32_t WriteLabel(const api::Labels* labels, const char* key, std::string* text, const char** value) {
  *value = nullptr;
  const util::Symbol k = util::Symbol::Find(key);
  if (labels == nullptr || k.empty()) return BERTH_OK;
  const auto found = labels->Get(k);
  if (!found) return BERTH_OK;
  if (absl::Status s = NameProblem(found->string(), absl::StrCat("label ", key)); !s.ok()) return Fail(s);
  *text = found->string();
  *value = text->c_str();
  return BERTH_OK;
}

int32_t Refresh(Cluster& c) {
  absl::Status s = c.own.columns.Refresh(c.cache());
  return s.ok() ? BERTH_OK : Fail(s);
}

}  // namespace
}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: the rest of this file defines functions of C
using berth::scheduler::Row;

extern "C" {

int32_t berth_set_log(berth_cluster* cluster, berth_log_function log, void* user) {
  return WithCluster(cluster, [&](Cluster& c) {
    c.log = log;
    c.log_user = user;
    return int32_t{BERTH_OK};
  });
}

int32_t berth_set_hook(berth_cluster* cluster, berth_hook_function hook, void* user) {
  return WithCluster(cluster, [&](Cluster& c) {
    c.hook = hook;
    c.hook_user = user;
    for (Row r = 0; r < c.cache().row_count(); ++r) {
      for (const auto& placed : c.cache().row(r).pods) c.Tell(*placed.pod, r, true);
    }
    return int32_t{BERTH_OK};
  });
}

int32_t berth_resources(berth_cluster* cluster, const char** names, size_t* size) {
  return WithCluster(cluster, [&](Cluster& c) {
    if (names == nullptr || size == nullptr) return Null("names or size");
    c.resources.clear();
    for (const std::string& r : ResourcesOf(c.cache())) absl::StrAppend(&c.resources, r, "\n");
    *names = c.resources.c_str();
    *size = c.resources.size();
    return int32_t{BERTH_OK};
  });
}

int32_t berth_use_columns(berth_cluster* cluster, const char* const* resources, size_t count, size_t nodes,
                          double* allocatable, double* free) {
  return WithCluster(cluster, [&](Cluster& c) {
    if (allocatable == nullptr && free == nullptr) {
      c.own.columns.Use({}, 0, nullptr, nullptr);
      return int32_t{BERTH_OK};
    }
    if (resources == nullptr || allocatable == nullptr || free == nullptr)
      return Null("resources, allocatable or free");
    if (const int32_t code = CheckNodes(c, nodes); code != BERTH_OK) return code;
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      if (const int32_t code = CheckName(resources[i], "the name of a resource"); code != BERTH_OK) return code;
      names.emplace_back(resources[i]);
    }
    c.own.columns.Use(std::move(names), nodes, allocatable, free);
    return Refresh(c);
  });
}

int32_t berth_refresh(berth_cluster* cluster) {
  return WithCluster(cluster, [&](Cluster& c) { return Refresh(c); });
}

int32_t berth_step(berth_cluster* cluster, berth_pods* pods, size_t pod, int32_t node, size_t next, size_t nodes,
                   uint8_t* feasible, double* requests) {
  return WithPod(cluster, pods, pod, [&](Cluster& c, Pods& p, const berth::api::PodPtr& of) {
    if (feasible == nullptr) return Null("feasible");
    if (const int32_t code = CheckNodes(c, nodes); code != BERTH_OK) return code;
    if (next > p.pods.size()) return OutOfRange("pod", next, p.pods.size());
    if (node != -1) {
      berth::util::Symbol name;
      if (const int32_t code = NameOf(c, node, &name); code != BERTH_OK) return code;
      c.NoteList(p);
      if (absl::Status s = c.simulation->PlaceOn(of, name); !s.ok()) return Fail(s);
      c.Tell(*of, static_cast<Row>(node), true);
    }
    if (const int32_t code = Refresh(c); code != BERTH_OK) return code;
    if (next < p.pods.size()) return Look(c, p.pods[next], nodes, feasible, requests);
    std::memset(feasible, 0, nodes);
    return int32_t{BERTH_OK};
  });
}

int32_t berth_feasible(berth_cluster* cluster, berth_pods* pods, size_t pod, size_t nodes, uint8_t* feasible,
                       double* requests) {
  return WithPod(cluster, pods, pod, [&](Cluster& c, Pods&, const berth::api::PodPtr& of) {
    if (feasible == nullptr) return Null("feasible");
    if (const int32_t code = CheckNodes(c, nodes); code != BERTH_OK) return code;
    if (const int32_t code = Refresh(c); code != BERTH_OK) return code;
    return Look(c, of, nodes, feasible, requests);
  });
}

int32_t berth_preempt(berth_cluster* cluster, berth_pods* pods, size_t pod, int32_t apply, const char** json,
                      size_t* size) {
  return WithPod(cluster, pods, pod, [&](Cluster& c, Pods&, const berth::api::PodPtr& of) {
    if (json == nullptr || size == nullptr) return Null("json or size");
    c.own.Begin();
    auto found = Preempt(&c, of, apply != 0);
    if (!found.ok() && c.own.needed() && !c.own.Error().empty()) return Fail(BERTH_CALLBACK, c.own.Error());
    if (!found.ok()) return Fail(found.status());
    c.preemption = std::move(*found);
    *json = c.preemption.c_str();
    *size = c.preemption.size();
    return int32_t{BERTH_OK};
  });
}

int32_t berth_node_label(berth_cluster* cluster, size_t node, const char* key, const char** value) {
  return WithCluster(cluster, [&](Cluster& c) {
    if (value == nullptr) return Null("value");
    if (const int32_t code = CheckName(key, "the key of the label"); code != BERTH_OK) return code;
    if (node >= c.cache().row_count()) return OutOfRange("node", node, c.cache().row_count());
    const auto& object = c.cache().row(static_cast<Row>(node)).node;
    return WriteLabel(object == nullptr ? nullptr : &object->labels, key, &c.label, value);
  });
}

int32_t berth_pod_label(berth_pods* pods, size_t pod, const char* key, const char** value) {
  return WithPods(pods, [&](Pods& p) {
    if (value == nullptr) return Null("value");
    if (const int32_t code = CheckName(key, "the key of the label"); code != BERTH_OK) return code;
    if (pod >= p.pods.size()) return OutOfRange("pod", pod, p.pods.size());
    return WriteLabel(&p.pods[pod]->tmpl->labels, key, &p.label, value);
  });
}

}  // extern "C"
