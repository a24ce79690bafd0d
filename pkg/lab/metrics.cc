#include "pkg/lab/metrics.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "pkg/api/zone.h"
#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"
#include "pkg/scheduler/algorithm/per_node.h"
#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"
#include "pkg/util/status.h"

namespace berth::lab {
namespace {

using scheduler::Row;
using scheduler::Symbol;

// Indices into resources().
constexpr size_t kCpu = 0, kMemory = 1, kPods = 2;

int64_t AmountOf(const scheduler::Resource& r, const std::string& resource) {
  if (resource == "cpu") return r.milli_cpu;
  if (resource == "memory") return r.memory;
  if (resource == "ephemeral-storage") return r.ephemeral_storage;
  if (resource == "alpha.kubernetes.io/nvidia-gpu") return r.nvidia_gpu;
  return r.Scalar(Symbol(resource));
}

// Returns whether labels, taints and the cordon of the node admit the pod, whatever else runs there.
bool Admits(const api::PodTemplate& pod, const api::Node& node) {
  if (node.unschedulable) return false;
  for (const auto& [key, value] : pod.node_selector) {
    if (node.labels.Get(key) != value) return false;
  }
  if (pod.affinity.node && pod.affinity.node->required &&
      !scheduler::nodeaffinity::TermsMatch(pod.affinity.node->required->terms, node)) {
    return false;
  }
  return std::all_of(node.taints.begin(), node.taints.end(), [&](const api::Taint& taint) {
    return taint.effect.str() == "PreferNoSchedule" ||
           std::any_of(pod.tolerations.begin(), pod.tolerations.end(),
                       [&](const api::Toleration& t) { return scheduler::tainttoleration::Tolerates(t, taint); });
  });
}

}  // namespace

Workload::Workload(const Scenario& scenario) {
  std::set<std::string> others, zones;
  for (const api::Object& o : scenario.cluster) {
    const auto* node = std::get_if<api::NodePtr>(&o);
    if (node == nullptr) continue;
    nodes_.push_back(*node);
    for (const auto& [name, amount] : (*node)->allocatable) others.insert(name.string());
  }
  std::sort(nodes_.begin(), nodes_.end(), [](const auto& a, const auto& b) { return a->meta.name < b->meta.name; });
  resources_ = {"cpu", "memory", "pods"};
  for (const std::string& r : resources_) others.erase(r);
  others.erase("storage");
  resources_.insert(resources_.end(), others.begin(), others.end());

  scheduler::Cache cache;  // computes allocatable amounts as a scheduler does
  for (const api::NodePtr& node : nodes_) cache.AddNode(node);
  total_.assign(resources_.size(), 0);
  for (const api::NodePtr& node : nodes_) {
    names_.emplace_back(node->meta.name);
    zones.insert(api::ZoneOf(node->labels).string());
    const Row row = cache.FindRow(names_.back());
    const scheduler::Resource allocatable = scheduler::NodeInfo(cache, row).allocatable();
    for (size_t r = 0; r < resources_.size(); ++r) {
      const int64_t amount = r == kPods ? allocatable.allowed_pods : AmountOf(allocatable, resources_[r]);
      allocatable_.push_back(amount);
      total_[r] += static_cast<double>(amount);
    }
  }
  zones_.assign(zones.begin(), zones.end());
  for (const api::NodePtr& node : nodes_) {
    zone_of_.push_back(static_cast<size_t>(
        std::lower_bound(zones_.begin(), zones_.end(), api::ZoneOf(node->labels).string()) - zones_.begin()));
  }

  std::vector<double> demand(resources_.size(), 0);
  for (const api::PodPtr& pod : scenario.pending) {
    class_of_.push_back(ClassOf(*pod->tmpl));
    kept_.push_back(pod->tmpl);
    Class& c = classes_[class_of_.back()];
    ++c.pending;
    for (size_t r = 0; r < resources_.size(); ++r) demand[r] += static_cast<double>(c.request[r]);
  }
  for (const api::Object& o : scenario.cluster) {
    const auto* pod = std::get_if<api::PodPtr>(&o);
    if (pod == nullptr || (*pod)->Finished()) continue;
    ClassOf(*(*pod)->tmpl);
    kept_.push_back((*pod)->tmpl);
  }
  auto share = [&](size_t r) { return r == kPods || total_[r] <= 0 ? 0 : demand[r] / total_[r]; };
  for (size_t r = 1; r < resources_.size(); ++r) {
    if (share(r) > share(scarcest_)) scarcest_ = r;
  }
}

// Templates with equal texts have the same admissible nodes.
uint32_t Workload::MaskOf(const api::PodTemplate& tmpl) {
  std::string text;
  for (const auto& [key, value] : tmpl.node_selector) absl::StrAppend(&text, key.string(), "=", value.string(), ",");
  if (tmpl.affinity.node && tmpl.affinity.node->required) {
    text += "|affinity";
    for (const auto& term : tmpl.affinity.node->required->terms) {
      absl::StrAppend(&text, "|", term.match.ok() ? term.match.selector.String() : term.match.error);
      if (term.match.ok() && term.match.selector.MatchesNothing()) text += "<nothing>";
    }
  }
  for (const api::Toleration& t : tmpl.tolerations) {
    absl::StrAppend(&text, "|", t.key.string(), "\n", t.op.string(), "\n", t.value.string(), "\n", t.effect.string());
  }
  auto [found, is_new] = mask_by_text_.try_emplace(text, static_cast<uint32_t>(masks_.size()));
  if (is_new) {
    std::vector<bool>& mask = masks_.emplace_back();
    for (const api::NodePtr& node : nodes_) mask.push_back(Admits(tmpl, *node));
  }
  return found->second;
}

// Most pods share their template, so that the lookup by its address is usually enough.
uint32_t Workload::ClassOf(const api::PodTemplate& tmpl) {
  auto [known, is_new] = class_by_template_.try_emplace(&tmpl, 0);
  if (!is_new) return known->second;
  Class c;
  c.request = RequestOf(tmpl);
  c.mask = MaskOf(tmpl);
  auto [found, added] = class_by_content_.try_emplace({c.request, c.mask}, static_cast<uint32_t>(classes_.size()));
  if (added) classes_.push_back(std::move(c));
  known->second = found->second;
  return found->second;
}

std::vector<int64_t> Workload::RequestOf(const api::PodTemplate& tmpl) const {
  scheduler::TemplateInfo info;
  info.tmpl = std::shared_ptr<const api::PodTemplate>(std::shared_ptr<void>(), &tmpl);
  scheduler::DescribeTemplate(tmpl, &info);
  std::vector<int64_t> request;
  for (size_t r = 0; r < resources_.size(); ++r) {
    request.push_back(r == kPods ? 1 : AmountOf(info.request, resources_[r]));
  }
  return request;
}

bool Workload::Fits(const Class& c, size_t node, const int64_t* free) const {
  if (!masks_[c.mask][node]) return false;
  for (size_t r = 0; r < resources_.size(); ++r) {
    if (c.request[r] > 0 && c.request[r] > free[r]) return false;
  }
  return true;
}

std::vector<int64_t> Workload::Free(const scheduler::Cache& cache) const {
  const scheduler::Columns& c = cache.columns();
  std::vector<int64_t> free = allocatable_;
  for (size_t n = 0; n < names_.size(); ++n) {
    const Row row = cache.FindRow(names_[n]);
    int64_t* f = &free[n * resources_.size()];
    if (row == scheduler::kNoRow) {
      std::fill(f, f + resources_.size(), 0);
      continue;
    }
    f[kCpu] -= c.used_cpu[row];
    f[kMemory] -= c.used_memory[row];
    f[kPods] -= c.pod_count[row];
    for (size_t r = kPods + 1; r < resources_.size(); ++r) {
      if (resources_[r] == "ephemeral-storage") {
        f[r] -= c.used_ephemeral[row];
      } else if (resources_[r] == "alpha.kubernetes.io/nvidia-gpu") {
        f[r] -= c.used_gpu[row];
      } else {
        f[r] -= cache.row(row).requested.Scalar(Symbol(resources_[r]));
      }
    }
    for (size_t r = 0; r < resources_.size(); ++r) f[r] = std::max<int64_t>(f[r], 0);
  }
  return free;
}

// For each class of pending pods, weighted by its size, sums up what is free on the nodes that accept a pod of the
// class. What remains cannot be used.
std::vector<double> Workload::Fragmentation(const std::vector<int64_t>& free) const {
  const size_t width = resources_.size();
  std::vector<double> usable(width, 0), total(width, 0);
  for (size_t i = 0; i < free.size(); ++i) total[i % width] += static_cast<double>(free[i]);
  double pods = 0;
  for (const Class& c : classes_) {
    if (c.pending == 0) continue;
    const auto weight = static_cast<double>(c.pending);
    pods += weight;
    std::vector<double> here(width, 0);
    for (size_t n = 0; n < nodes_.size(); ++n) {
      const int64_t* f = &free[n * width];
      if (!Fits(c, n, f)) continue;
      for (size_t r = 0; r < width; ++r) here[r] += static_cast<double>(f[r]);
    }
    for (size_t r = 0; r < width; ++r) {
      if (c.request[r] > 0) usable[r] += weight * here[r];
    }
  }
  std::vector<double> out(width, 0);
  for (size_t r = 0; r < width; ++r) {
    if (total[r] > 0 && pods > 0) out[r] = std::clamp(1 - usable[r] / (pods * total[r]), 0.0, 1.0);
  }
  return out;
}

size_t Workload::Compaction(const scheduler::Cache& cache) const {
  const size_t width = resources_.size();
  std::vector<int64_t> count(classes_.size(), 0);
  cache.ForEachPod([&](const scheduler::PlacedPod& p, const scheduler::NodeRow&) {
    auto it = class_by_template_.find(p.pod->tmpl.get());
    if (it != class_by_template_.end()) ++count[it->second];
  });
  auto share = [&](const Class& c) {
    double most = 0;
    for (size_t r = 0; r < width; ++r) {
      if (total_[r] > 0) most = std::max(most, static_cast<double>(c.request[r]) / total_[r]);
    }
    return most;
  };
  // The order of placing: classes with the largest share of any resource first; among equals, those with fewer nodes to
  // choose from.
  std::vector<size_t> order(classes_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const auto nodes = [&](size_t c) {
      return std::count(masks_[classes_[c].mask].begin(), masks_[classes_[c].mask].end(), true);
    };
    const double x = share(classes_[a]), y = share(classes_[b]);
    return x != y ? x > y : nodes(a) < nodes(b);
  });
  std::vector<int64_t> free = allocatable_;
  std::vector<bool> in_use(nodes_.size(), false);
  for (size_t c : order) {
    size_t n = 0;  // a node that rejects one pod of a class also rejects the next
    for (int64_t left = count[c]; left > 0 && n < nodes_.size();) {
      if (!Fits(classes_[c], n, &free[n * width])) {
        ++n;
        continue;
      }
      for (size_t r = 0; r < width; ++r) free[n * width + r] -= classes_[c].request[r];
      in_use[n] = true;
      --left;
    }
  }
  return static_cast<size_t>(std::count(in_use.begin(), in_use.end(), true));
}

// The standard deviation is computed as the square root of E[x^2] - E[x]^2, which rounding can make negative.
void MeasureCluster(const Workload& w, const scheduler::Cache& cache, bool with_compaction, Metrics* m) {
  const size_t width = w.resources().size();
  const std::vector<int64_t> free = w.Free(cache);
  std::vector<double> used(width, 0), zone_used(w.zones().size(), 0), zone_total(w.zones().size(), 0);
  double sum[2] = {0, 0}, squares[2] = {0, 0};
  m->nodes_in_use = 0;
  for (size_t n = 0; n < w.node_count(); ++n) {
    for (size_t r = 0; r < width; ++r) {
      used[r] += static_cast<double>(w.allocatable(n, r) - free[n * width + r]);
    }
    for (size_t r : {kCpu, kMemory}) {
      const auto total = static_cast<double>(w.allocatable(n, r));
      const double share = total > 0 ? 1 - static_cast<double>(free[n * width + r]) / total : 0;
      sum[r] += share;
      squares[r] += share * share;
    }
    zone_total[w.zone_of(n)] += static_cast<double>(w.allocatable(n, kCpu));
    zone_used[w.zone_of(n)] += static_cast<double>(w.allocatable(n, kCpu) - free[n * width + kCpu]);
    m->nodes_in_use += w.allocatable(n, kPods) > free[n * width + kPods];
  }
  m->allocation.assign(width, 0);
  for (size_t r = 0; r < width; ++r) m->allocation[r] = w.total(r) > 0 ? used[r] / w.total(r) : 0;
  const auto nodes = static_cast<double>(std::max<size_t>(w.node_count(), 1));
  auto deviation = [&](size_t r) {
    return std::sqrt(std::max(0.0, squares[r] / nodes - sum[r] * sum[r] / nodes / nodes));
  };
  m->imbalance = (deviation(kCpu) + deviation(kMemory)) / 2;
  double most = 0, least = 1;
  for (size_t z = 0; z < w.zones().size(); ++z) {
    const double share = zone_total[z] > 0 ? zone_used[z] / zone_total[z] : 0;
    most = std::max(most, share);
    least = std::min(least, share);
  }
  m->zone_skew = w.zones().size() > 1 ? most - least : 0;
  m->fragmentation = w.Fragmentation(free);
  // The placements themselves prove that their own number of nodes is enough.
  m->compaction = with_compaction ? std::min(static_cast<int64_t>(w.Compaction(cache)), m->nodes_in_use) : 0;
}

}  // namespace berth::lab
