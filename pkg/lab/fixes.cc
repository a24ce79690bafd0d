#include "pkg/lab/fixes.h"

#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "pkg/explain/output.h"

namespace berth::lab {
namespace {

using scheduler::Row;

constexpr size_t kMostTaintsMended = 5;
constexpr std::string_view kTaintsOfStates = "node.kubernetes.io/";

// Returns the node without a trouble, or nothing if it does not have it.
using Mend = std::function<std::optional<api::Node>(const api::Node&)>;

bool Hard(const api::Taint& t) {
  return t.effect.str() == "NoSchedule" || t.effect.str() == "NoExecute";
}

std::optional<api::Node> WithoutCordon(const api::Node& node) {
  if (!node.unschedulable) return std::nullopt;
  api::Node out = node;
  out.unschedulable = false;
  out.taints =
      out.taints.Without([](const api::Taint& t) { return t.key.str() == "node.kubernetes.io/unschedulable"; });
  return out;
}

std::optional<api::Node> MadeReady(const api::Node& node) {
  const util::Symbol ready("Ready"), yes("True"), no("False");
  const auto is_state = [](const api::Taint& t) {
    return t.key.str().starts_with(kTaintsOfStates) && t.key.str() != "node.kubernetes.io/unschedulable";
  };
  bool sick = std::any_of(node.taints.begin(), node.taints.end(), is_state);
  std::vector<api::NodeCondition> conditions;
  for (const api::NodeCondition& c : node.conditions) {
    const util::Symbol well = c.type == ready ? yes : no;
    sick = sick || c.status != well;
    conditions.push_back({c.type, well});
  }
  if (!sick) return std::nullopt;
  api::Node out = node;
  out.conditions = std::move(conditions);
  out.taints = out.taints.Without(is_state);
  return out;
}

// Tries to place the pods, and takes them away again. Returns how many were placed.
int64_t CountPlaced(Simulation* simulation, const std::vector<api::PodPtr>& pods) {
  std::vector<api::PodPtr> placed;
  for (const api::PodPtr& pod : pods) {
    if (simulation->Place(pod).outcome == scheduler::Decision::Outcome::kPlaced) {
      placed.push_back(simulation->last_placed());
    }
  }
  for (const api::PodPtr& p : placed) simulation->cache().RemovePod(*p).IgnoreError();
  return static_cast<int64_t>(placed.size());
}

// Mends all nodes, counts, and gives them back their trouble. Returns nothing if no node has it.
std::optional<Fix> Try(Simulation* simulation, const std::vector<api::PodPtr>& pods, int64_t before, const Mend& mend,
                       const std::function<std::string(const std::string& nodes)>& word) {
  scheduler::Cache& cache = simulation->cache();
  std::vector<api::NodePtr> changed;
  for (Row row = 0; row < cache.row_count(); ++row) {
    const api::NodePtr node = cache.row(row).in_use ? cache.row(row).node : nullptr;
    if (node == nullptr) continue;
    auto mended = mend(*node);
    if (!mended) continue;
    changed.push_back(node);
    cache.UpdateNode(std::make_shared<api::Node>(*std::move(mended)));
  }
  if (changed.empty()) return std::nullopt;
  Fix fix;
  fix.nodes = static_cast<int64_t>(changed.size());
  fix.what = word(explain::Counted(fix.nodes, "node"));
  fix.placed = std::max<int64_t>(CountPlaced(simulation, pods) - before, 0);
  for (const api::NodePtr& node : changed) cache.UpdateNode(node);
  return fix;
}

}  // namespace

std::vector<Fix> FixesOfNodes(Simulation* simulation, const std::vector<api::PodPtr>& pending, absl::Time deadline) {
  std::vector<Fix> fixes;
  // Extenders must not be asked about clusters that do not exist.
  if (pending.empty() || !simulation->scheduler().config().extenders.empty()) return fixes;
  const std::vector<api::PodPtr> pods(pending.begin(),
                                      pending.begin() + static_cast<ptrdiff_t>(std::min(pending.size(), kMostFixPods)));
  const int64_t before = CountPlaced(simulation, pods);
  const auto add = [&](const Mend& mend, const std::function<std::string(const std::string&)>& word) {
    if (absl::Now() > deadline) return;
    if (auto fix = Try(simulation, pods, before, mend, word)) fixes.push_back(*std::move(fix));
  };
  add(WithoutCordon, [](const std::string& nodes) { return absl::StrCat("uncordoning ", nodes); });
  add(MadeReady, [](const std::string& nodes) { return absl::StrCat("repairing the conditions of ", nodes); });
  // By key, value and effect.
  std::map<std::string, std::pair<int64_t, api::Taint>> taints;
  for (Row row = 0; row < simulation->cache().row_count(); ++row) {
    const scheduler::NodeRow& r = simulation->cache().row(row);
    if (!r.in_use || r.node == nullptr) continue;
    for (const api::Taint& t : r.node->taints) {
      if (!Hard(t) || t.key.str().starts_with(kTaintsOfStates)) continue;
      const std::string text =
          absl::StrCat(t.key.string(), t.value.empty() ? "" : "=", t.value.string(), ":", t.effect.string());
      auto& [nodes, taint] = taints[text];
      ++nodes;
      taint = t;
    }
  }
  std::vector<std::pair<int64_t, std::string>> commonest;
  for (const auto& [text, entry] : taints) commonest.emplace_back(-entry.first, text);
  std::sort(commonest.begin(), commonest.end());
  if (commonest.size() > kMostTaintsMended) commonest.resize(kMostTaintsMended);
  for (const auto& [nodes, text] : commonest) {
    const api::Taint taint = taints[text].second;
    const auto same = [&](const api::Taint& t) {
      return t.key == taint.key && t.value == taint.value && t.effect == taint.effect;
    };
    add(
        [&](const api::Node& node) -> std::optional<api::Node> {
          if (std::none_of(node.taints.begin(), node.taints.end(), same)) return std::nullopt;
          api::Node out = node;
          out.taints = out.taints.Without(same);
          return out;
        },
        [&](const std::string& n) { return absl::StrCat("taking the taint ", text, " from ", n); });
  }
  std::stable_sort(fixes.begin(), fixes.end(), [](const Fix& a, const Fix& b) { return a.placed > b.placed; });
  return fixes;
}

}  // namespace berth::lab
