// JSON is written directly from snapshots, without an intermediate tree, because /ui/api/nodes is large: it has one
// array for each node.
#include "pkg/ui/answers.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "pkg/api/json_writer.h"
#include "pkg/api/zone.h"
#include "pkg/ui/help.h"

namespace berth::ui {
namespace {

using api::JsonWriter;
using scheduler::Scheduler;

// The most labels that are offered for grouping. Otherwise a cluster in which each node has its own label would offer
// too many.
constexpr size_t kMostLabels = 200;

void Latency(const char* name, const scheduler::LatencyHistogram& h, JsonWriter* j) {
  j->Key(name).Object().Member("count", static_cast<int64_t>(h.count()));
  j->Member("meanMicros", h.count() == 0 ? 0 : h.sum() / static_cast<int64_t>(h.count()));
  j->Member("p50Micros", h.Quantile(0.5)).Member("p90Micros", h.Quantile(0.9)).Member("p99Micros", h.Quantile(0.99));
  j->End();
}

std::string GroupOf(const api::Node& n, std::string_view label) {
  if (label.empty()) return api::ZoneOf(n.labels).string();
  return n.labels.Get(util::Symbol::Find(label)).value_or(util::Symbol()).string();
}

int64_t FlagsOf(const api::Node& node, const NodeUse& use) {
  const auto flag = [](bool is, NodeFlag f) { return is ? int64_t{f} : 0; };
  return flag(use.flags & scheduler::kRowMemoryPressure, kMemoryPressure) |
         flag(use.flags & scheduler::kRowDiskPressure, kDiskPressure) |
         flag(use.flags & scheduler::kRowConditionBad, kConditionBad) | flag(node.unschedulable, kCordoned) |
         flag(use.flags & scheduler::kRowHardTaints, kTainted);
}

// Returns the extended resources that any node has, by name.
std::vector<util::Symbol> ExtendedResources(const Snapshot& s) {
  std::set<util::Symbol> all;
  for (const auto& [node, use] : s.nodes) {
    for (const auto& e : use.extended) all.insert(e.name);
  }
  std::vector<util::Symbol> out(all.begin(), all.end());
  std::sort(out.begin(), out.end(), [](util::Symbol a, util::Symbol b) { return a.str() < b.str(); });
  return out;
}

void Amounts(const NodeUse& use, const std::vector<util::Symbol>& extended, bool used, JsonWriter* j) {
  j->Array().Number(used ? use.cpu_used : use.cpu).Number(used ? use.memory_used : use.memory);
  j->Number(used ? use.pods_used : use.pods);
  for (util::Symbol name : extended) {
    const auto it =
        std::find_if(use.extended.begin(), use.extended.end(), [&](const auto& e) { return e.name == name; });
    j->Number(it == use.extended.end() ? 0 : used ? it->used : it->offered);
  }
  j->End();
}

// Returns the keys of the nodes' labels, in byte order, at most kMostLabels of them.
std::set<std::string_view> LabelsOf(const Snapshot& s) {
  std::set<util::Symbol> keys;
  for (const auto& [node, use] : s.nodes) {
    if (node == nullptr) continue;
    for (const auto& [key, value] : node->labels) {
      if (keys.size() < kMostLabels) keys.insert(key);
    }
  }
  std::set<std::string_view> out;
  for (util::Symbol k : keys) out.insert(k.str());
  return out;
}

struct NodeWriter {
  const Snapshot& s;
  std::string_view label;
  std::vector<util::Symbol> extended;

  void Whole(size_t row, JsonWriter* j) const {
    const auto& [node, use] = s.nodes[row];
    j->Array().Number(static_cast<int64_t>(row)).Text(node->meta.name).Text(GroupOf(*node, label));
    j->Number(FlagsOf(*node, use));
    Amounts(use, extended, false, j);
    Amounts(use, extended, true, j);
    j->End();
  }
  void Used(size_t row, JsonWriter* j) const {
    const auto& [node, use] = s.nodes[row];
    j->Array().Number(static_cast<int64_t>(row)).Number(FlagsOf(*node, use));
    Amounts(use, extended, true, j);
    j->End();
  }
};

void Numbers(const Snapshot& s, JsonWriter* j) {
  j->Member("time", Millis(s.time)).Member("leading", s.leading);
  j->Member("pods", static_cast<int64_t>(s.pods)).Member("pending", static_cast<int64_t>(s.pending));
}

}  // namespace

int64_t Millis(absl::Time t) {
  return absl::ToUnixMillis(t);
}

std::string OwnerOf(const api::Pod& p) {
  const auto& o = p.tmpl->controller;
  return o ? absl::StrCat(o->kind.string(), "/", o->name) : "";
}

std::string SummaryJson(const Snapshot& s, const History& h, bool live) {
  JsonWriter j;
  const scheduler::SchedulerMetrics& m = s.metrics;
  const auto number = [](auto n) { return static_cast<int64_t>(n); };
  j.Object().Member("live", live);
  Numbers(s, &j);
  j.Member("nodes",
           number(std::count_if(s.nodes.begin(), s.nodes.end(), [](const auto& n) { return n.first != nullptr; })));
  j.Member("assumed", number(s.assumed));
  j.Key("queue").Object().Member("active", number(s.queue.active)).Member("backoff", number(s.queue.backoff));
  j.Member("unschedulable", number(s.queue.unschedulable)).End();
  j.Key("places").Array();
  for (size_t i = 0; i < s.by_place.size(); ++i) {
    const std::string_view name = scheduler::PlaceName(static_cast<Scheduler::Place>(i));
    j.Object().Member("place", name).Member("meaning", PlaceInWords(name)).Member("pods", number(s.by_place[i])).End();
  }
  j.End().Key("attempts").Object().Member("scheduled", number(m.scheduled));
  j.Member("unschedulable", number(m.unschedulable)).Member("errors", number(m.errors));
  j.Member("bound", number(m.bound)).Member("bindFailures", number(m.bind_failures)).End();
  j.Key("latency").Object();
  Latency("endToEnd", m.e2e, &j);
  Latency("algorithm", m.algorithm, &j);
  Latency("binding", m.binding, &j);
  j.End().Member("ratePeriodSeconds", number(absl::ToInt64Seconds(History::kRatePeriod)));
  j.Key("rateColumns").Texts({"time", "bound", "failed", "pending"}).Key("rates").Array();
  for (const History::Rate& r : h.Rates()) {
    j.Array().Number(Millis(r.time)).Number(number(r.bound)).Number(number(r.unschedulable + r.errors));
    j.Number(number(r.pending)).End();
  }
  return j.End().End().Finish("json");
}

std::string NodesJson(const Snapshot& s, std::string_view label) {
  const NodeWriter writer{s, label, ExtendedResources(s)};
  JsonWriter j;
  j.Object();
  Numbers(s, &j);
  std::vector<std::string> resources = {"cpu", "memory", "pods"};
  for (util::Symbol e : writer.extended) resources.push_back(e.string());
  j.Key("resources").Texts(resources).Member("group", label.empty() ? "zone" : label);
  j.Key("nodes").Array();
  for (size_t row = 0; row < s.nodes.size(); ++row) {
    if (s.nodes[row].first != nullptr) writer.Whole(row, &j);
  }
  j.End().Key("labels").Array();
  for (std::string_view l : LabelsOf(s)) j.Text(l);
  return j.End().End().Finish("json");
}

// Nodes are compared by pointer: objects are immutable, so a changed node is another object. Amounts are compared by
// value.
std::string NodesDeltaJson(const Snapshot& before, const Snapshot& now, std::string_view label, bool* whole) {
  const NodeWriter writer{now, label, ExtendedResources(now)};
  *whole = writer.extended != ExtendedResources(before);
  if (*whole) return "";
  static const std::pair<api::NodePtr, NodeUse> kNone;
  const auto in = [](const Snapshot& s, size_t row) -> const auto& {
    return row < s.nodes.size() ? s.nodes[row] : kNone;
  };
  std::vector<size_t> used, nodes, gone;
  for (size_t row = 0; row < std::max(before.nodes.size(), now.nodes.size()); ++row) {
    const auto& [was, was_use] = in(before, row);
    const auto& [is, is_use] = in(now, row);
    if (is == nullptr) {
      if (was != nullptr) gone.push_back(row);
    } else if (was != is) {
      nodes.push_back(row);
    } else if (!(was_use == is_use)) {
      used.push_back(row);
    }
  }
  *whole = !nodes.empty() && LabelsOf(before) != LabelsOf(now);
  if (*whole) return "";
  const bool numbers = before.pending != now.pending || before.pods != now.pods || before.leading != now.leading;
  if (used.empty() && nodes.empty() && gone.empty() && !numbers) return "";
  JsonWriter j;
  j.Object();
  Numbers(now, &j);
  j.Key("used").Array();
  for (size_t row : used) writer.Used(row, &j);
  j.End().Key("nodes").Array();
  for (size_t row : nodes) writer.Whole(row, &j);
  j.End().Key("gone").Array();
  for (size_t row : gone) j.Number(static_cast<int64_t>(row));
  return j.End().End().Finish("json");
}

std::string PreemptionsJson(const History& h) {
  JsonWriter j;
  j.Object().Key("preemptions").Array();
  for (const History::Preemption& p : h.Preemptions()) {
    j.Object().Member("time", Millis(p.time)).Member("pod", p.pod).Member("node", p.node.str());
    j.Member("victimCount", static_cast<int64_t>(p.victim_count)).Key("victims").Texts(p.victims).End();
  }
  return j.End().End().Finish("json");
}

std::string SearchJson(const Cluster& cluster, std::string_view text, size_t limit) {
  // In the order of names, and each name once: a pod can be among the pending ones twice, and on its node too.
  std::set<std::string> nodes, pods;
  const auto look = [&](const std::string& name, std::set<std::string>* found) {
    if (found->size() < limit && name.find(text) != std::string::npos) found->insert(name);
  };
  for (const api::PodPtr& p : cluster.pending) look(p->meta.Key(), &pods);
  for (const auto& row : cluster.rows) {
    if (row == nullptr) continue;
    if (row->node != nullptr) look(row->node->meta.name, &nodes);
    for (const api::PodPtr& p : row->pods) {
      if (pods.size() < limit) look(p->meta.Key(), &pods);
    }
  }
  JsonWriter j;
  j.Object().Member("limit", static_cast<int64_t>(limit)).Key("nodes").Texts({nodes.begin(), nodes.end()});
  return j.Key("pods").Texts({pods.begin(), pods.end()}).End().Finish("json");
}

}  // namespace berth::ui
