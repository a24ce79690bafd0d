#include "pkg/lab/edit.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "pkg/api/stream.h"
#include "pkg/lab/budgets.h"
#include "pkg/util/status.h"
#include "pkg/world/budget.h"
#include "pkg/world/daemon_set.h"

namespace berth::lab {
namespace {

using scheduler::Symbol;
using Names = absl::flat_hash_set<std::string>;

// Names of nodes contain none of these characters.
bool IsSelector(const std::string& text) {
  return text.find('=') != std::string::npos || text.find(" in ") != std::string::npos ||
         text.find(" notin ") != std::string::npos || text.find('!') != std::string::npos;
}

// Adds the names of the nodes that `text` selects to `names`.
absl::Status Choose(const Scenario& s, const std::string& flag, const std::string& text, Names* names) {
  const size_t before = names->size();
  if (IsSelector(text)) {
    auto selector = api::Selector::Parse(text);
    if (!selector.ok()) return util::InvalidArgument(absl::StrCat(flag, ": ", text, ": ", selector.status().message()));
    for (const api::Object& o : s.cluster) {
      const auto* node = std::get_if<api::NodePtr>(&o);
      if (node != nullptr && selector->Matches((*node)->labels)) names->insert((*node)->meta.name);
    }
    if (names->size() == before) {
      return util::InvalidArgument(absl::StrCat(flag, ": no node has labels that match \"", text, "\""));
    }
    return absl::OkStatus();
  }
  for (absl::string_view name : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    bool found = false;
    for (const api::Object& o : s.cluster) {
      const auto* node = std::get_if<api::NodePtr>(&o);
      found = found || (node != nullptr && (*node)->meta.name == util::FromAbsl(name));
    }
    if (!found) return util::InvalidArgument(absl::StrCat(flag, ": the cluster has no node \"", name, "\""));
    names->emplace(name);
  }
  return absl::OkStatus();
}

absl::StatusOr<Names> ChooseAll(const Scenario& s, const std::string& flag, const std::vector<std::string>& texts) {
  Names names;
  for (const std::string& text : texts) BERTH_RETURN_IF_ERROR(Choose(s, flag, text, &names));
  return names;
}

// Returns the pod as it would be pending.
api::PodPtr Unbound(const api::Pod& pod) {
  auto copy = std::make_shared<api::Pod>(pod);
  copy->node_name = Symbol();
  copy->nominated_node_name = Symbol();
  copy->phase = api::PodPhase::kPending;
  return copy;
}

bool OfDaemonSet(const api::Pod& pod) {
  return pod.tmpl->controller && pod.tmpl->controller->kind.str() == "DaemonSet";
}

bool IsMirror(const Scenario& s, const api::Pod& pod) {
  return (PodNotesOf(s, pod) & kMirrorPod) != 0 || (pod.tmpl->controller && pod.tmpl->controller->kind.str() == "Node");
}

// Finds the PodDisruptionBudgets that allow fewer disruptions than there are evictions. `before` is the cluster before
// them, and `evicted` its pods that were evicted.
void FindViolatedBudgets(const Scenario& before, const std::vector<api::PodPtr>& evicted, Edited* e) {
  const world::Rules rules = world::RulesOf(before.algorithm.release->version);
  absl::flat_hash_map<const api::Pod*, int> budgets_of;
  for (const api::Object& o : e->scenario.cluster) {
    const auto* pdb = std::get_if<std::shared_ptr<const api::PodDisruptionBudget>>(&o);
    if (pdb == nullptr || !(*pdb)->has_selector || !(*pdb)->selector.ok()) continue;
    world::BudgetState state;
    state.disruptions_allowed = (*pdb)->disruptions_allowed;
    auto known = before.budgets.find((*pdb)->meta.Key());
    if (known != before.budgets.end() && world::IsAboutNoPod(rules, *known->second)) continue;
    if (known != before.budgets.end()) state = StateOfBudget(before, **pdb, *known->second);
    Edited::Budget budget{(*pdb)->meta.Key(), static_cast<int32_t>(state.disruptions_allowed), {}};
    for (const api::PodPtr& pod : evicted) {
      if (pod->meta.ns != (*pdb)->meta.ns || !(*pdb)->selector.selector.Matches(pod->tmpl->labels)) continue;
      // Evictions do not ask for pods that do not run yet.
      if (rules.unhealthy_pod_eviction_policy && pod->phase == api::PodPhase::kPending) continue;
      const bool unready = (PodNotesOf(before, *pod) & kNotReadyPod) != 0;
      if (++budgets_of[pod.get()] == 2) e->with_several_budgets.push_back(pod->meta.Key());
      if (unready && known != before.budgets.end() && world::LetsUnreadyPodGo(rules, *known->second, state)) continue;
      budget.evicted.push_back(pod->meta.Key());
    }
    if (static_cast<int64_t>(budget.evicted.size()) > budget.allowed) e->violated.push_back(std::move(budget));
  }
}

// Returns by controller how many pods it has beyond those that it wants. Only controllers of the input are known.
std::map<std::string, int64_t> SurplusOf(const Scenario& s) {
  std::map<std::string, int64_t> surplus;
  if (s.scales.empty()) return surplus;
  auto count = [&](const api::Pod& pod) {
    if (pod.Finished() || pod.meta.deleting() || !pod.tmpl->controller) return;
    const std::string key = ControllerKey(pod);
    if (s.scales.contains(key)) ++surplus[key];
  };
  for (const api::Object& o : s.cluster) {
    if (const auto* pod = std::get_if<api::PodPtr>(&o)) count(**pod);
  }
  for (const api::PodPtr& pod : s.pending) count(*pod);
  for (auto& [key, pods] : surplus) pods -= s.scales.at(key).replicas;
  return surplus;
}

// Takes a pod off its node. Its controller creates it again, if it has one that wants as many pods.
void Evict(const Scenario& before, const api::PodPtr& pod, std::map<std::string, int64_t>* surplus, Edited* e) {
  if ((PodNotesOf(before, *pod) & kEmptyDirPod) != 0) e->with_empty_dir.push_back(pod->meta.Key());
  if (!pod->tmpl->controller) {
    e->bare.push_back(pod->meta.Key());
    return;
  }
  if (auto beyond = surplus->find(ControllerKey(*pod)); beyond != surplus->end() && beyond->second > 0) {
    --beyond->second;
    e->not_wanted.push_back(pod->meta.Key());
    return;
  }
  api::PodPtr again = Unbound(*pod);
  e->evictions.push_back({again, pod->node_name});
  e->scenario.AddPending(again);
}

// Returns a node like the given one as it is when it is new.
std::shared_ptr<api::Node> NewNode(const api::Node& like, const std::string& name) {
  auto node = std::make_shared<api::Node>(like);
  node->meta.name = name;
  node->meta.uid = absl::StrCat("new/", name);
  node->meta.deletion_seconds.reset();
  node->unschedulable = false;
  node->taints = node->taints.Without([](const api::Taint& t) { return IsPassingTaint(t.key.str()); });
  std::vector<api::NodeCondition> conditions(like.conditions.begin(), like.conditions.end());
  for (api::NodeCondition& c : conditions) c.status = Symbol(c.type.str() == "Ready" ? "True" : "False");
  node->conditions = api::SharedList<api::NodeCondition>(std::move(conditions));
  std::vector<std::pair<Symbol, Symbol>> labels(like.labels.begin(), like.labels.end());
  for (auto& [key, value] : labels) {
    if (key.str() == "kubernetes.io/hostname") value = Symbol(name);
  }
  node->labels = api::Labels(std::move(labels));
  return node;
}

// Returns the pod of a DaemonSet on a new node.
api::PodPtr DaemonPod(const api::Pod& like, const std::string& name, const api::Node& node) {
  auto pod = std::make_shared<api::Pod>();
  pod->meta.name = absl::StrCat(name, "-", node.meta.name);
  pod->meta.ns = like.meta.ns;
  pod->meta.uid = absl::StrCat("new/", like.meta.ns.string(), "/", pod->meta.name);
  pod->tmpl = like.tmpl;
  pod->node_name = Symbol(node.meta.name);
  pod->phase = api::PodPhase::kRunning;
  return pod;
}

}  // namespace

std::vector<api::PodPtr> DaemonPodsOn(const api::Node& node, const Scenario& scenario) {
  std::vector<api::PodPtr> pods;
  for (const Daemon& d : scenario.daemons) {
    if (world::DaemonRunsOn(*d.pod->tmpl, d.node_name, node)) pods.push_back(DaemonPod(*d.pod, d.pod->meta.name, node));
  }
  return pods;
}

absl::StatusOr<api::NodePtr> NodeTemplate(const std::string& like, const Scenario& scenario) {
  struct stat unused {};
  if (stat(like.c_str(), &unused) != 0) {
    for (const api::Object& o : scenario.cluster) {
      const auto* node = std::get_if<api::NodePtr>(&o);
      if (node != nullptr && (*node)->meta.name == like) return *node;
    }
    return util::InvalidArgument(absl::StrCat("\"", like, "\" is neither a file nor a node of the cluster"));
  }
  auto text = api::ReadInput(like);
  if (!text.ok()) return text.status();
  auto document = api::ReadDocument(*text);
  if (!document.ok()) return util::InvalidArgument(absl::StrCat(like, ": ", document.status().message()));
  auto object = api::DecodeObject(document->root(), {}, {.server_defaults = true});
  if (!object.ok()) return util::InvalidArgument(absl::StrCat(like, ": ", object.status().message()));
  const auto* node = std::get_if<api::NodePtr>(&*object);
  if (node == nullptr) return util::InvalidArgument(absl::StrCat(like, ": is not a Node"));
  return *node;
}

bool IsPassingTaint(std::string_view key) {
  // The taints of the node controller for conditions and cordons, those of cloud providers, and those with which
  // cluster-autoscaler and Karpenter mark nodes that are going.
  static constexpr std::string_view kPassing[] = {
      "node.kubernetes.io/not-ready",
      "node.kubernetes.io/unreachable",
      "node.kubernetes.io/unschedulable",
      "node.kubernetes.io/memory-pressure",
      "node.kubernetes.io/disk-pressure",
      "node.kubernetes.io/pid-pressure",
      "node.kubernetes.io/network-unavailable",
      "node.kubernetes.io/out-of-disk",
      "node.kubernetes.io/out-of-service",
      "node.alpha.kubernetes.io/notReady",
      "node.alpha.kubernetes.io/unreachable",
      "node.cloudprovider.kubernetes.io/uninitialized",
      "node.cloudprovider.kubernetes.io/shutdown",
      "ToBeDeletedByClusterAutoscaler",
      "DeletionCandidateOfClusterAutoscaler",
      "karpenter.sh/disruption",
      "karpenter.sh/disrupted",
      "karpenter.sh/unregistered",
  };
  return std::find(std::begin(kPassing), std::end(kPassing), key) != std::end(kPassing);
}

void AddNodes(const api::Node& like, int64_t count, Scenario* scenario) {
  Names taken, known;
  for (const Daemon& d : scenario->daemons) known.insert(d.key);
  std::vector<api::PodPtr> of_template;
  for (const api::Object& o : scenario->cluster) {
    if (const auto* node = std::get_if<api::NodePtr>(&o)) taken.insert((*node)->meta.name);
    const auto* pod = std::get_if<api::PodPtr>(&o);
    if (pod == nullptr || (*pod)->Finished() || (*pod)->meta.deleting() || !OfDaemonSet(**pod)) continue;
    if ((*pod)->node_name.string() != like.meta.name) continue;
    const auto& owner = *(*pod)->tmpl->controller;
    if (!known.contains(ObjectKey("DaemonSet", (*pod)->meta.ns.str(), owner.name))) of_template.push_back(*pod);
  }
  for (int64_t number = 1; count > 0; ++number) {
    const std::string name = absl::StrCat(like.meta.name, "-new-", number);
    if (!taken.insert(name).second) continue;
    api::NodePtr node = NewNode(like, name);
    scenario->cluster.push_back(node);
    for (api::PodPtr& pod : DaemonPodsOn(*node, *scenario)) scenario->cluster.emplace_back(std::move(pod));
    for (const api::PodPtr& pod : of_template) {
      scenario->cluster.emplace_back(DaemonPod(*pod, pod->tmpl->controller->name, *node));
    }
    --count;
  }
}

absl::StatusOr<Edited> ApplyEdits(const Scenario& scenario, const Edits& edits) {
  auto drained = ChooseAll(scenario, "--drain", edits.drain);
  if (!drained.ok()) return drained.status();
  auto cordoned = ChooseAll(scenario, "--cordon", edits.cordon);
  if (!cordoned.ok()) return cordoned.status();
  auto removed = ChooseAll(scenario, "--remove", edits.remove);
  if (!removed.ok()) return removed.status();

  Edited e;
  e.scenario = scenario;
  e.scenario.cluster.clear();
  e.scenario.pending.clear();
  e.scenario.pending_after.clear();
  std::vector<api::PodPtr> evicted;
  std::map<std::string, int64_t> surplus = SurplusOf(scenario);
  size_t next = 0;  // the next pending pod; they keep their places among those evicted
  // Adds the pending pods that precede object `before` of the cluster in the input.
  auto take_pending = [&](size_t before) {
    for (; next < scenario.pending.size() && scenario.pending_after[next] <= before; ++next) {
      e.scenario.AddPending(scenario.pending[next]);
    }
  };
  for (size_t i = 0; i < scenario.cluster.size(); ++i) {
    take_pending(i);
    const api::Object& o = scenario.cluster[i];
    if (const auto* node = std::get_if<api::NodePtr>(&o)) {
      const std::string& name = (*node)->meta.name;
      if (removed->contains(name)) {
        ++e.removed;
        continue;
      }
      if (!drained->contains(name) && !cordoned->contains(name)) {
        e.scenario.cluster.push_back(o);
        continue;
      }
      auto copy = std::make_shared<api::Node>(**node);
      copy->unschedulable = true;
      ++e.cordoned;
      e.scenario.cluster.push_back(api::NodePtr(std::move(copy)));
      continue;
    }
    const auto* pod = std::get_if<api::PodPtr>(&o);
    const std::string on = pod != nullptr ? (*pod)->node_name.string() : std::string();
    const bool gone = removed->contains(on);
    if (pod == nullptr || (*pod)->Finished() || (!gone && !drained->contains(on))) {
      e.scenario.cluster.push_back(o);
      continue;
    }
    if (OfDaemonSet(**pod) || IsMirror(scenario, **pod)) {
      if (!gone) e.scenario.cluster.push_back(o);
      continue;
    }
    if ((*pod)->meta.deleting()) continue;
    evicted.push_back(*pod);
    Evict(scenario, *pod, &surplus, &e);
  }
  take_pending(SIZE_MAX);
  for (const NewNodes& n : edits.add) {
    auto like = NodeTemplate(n.like, scenario);
    if (!like.ok()) return util::InvalidArgument(absl::StrCat("--add-nodes: ", like.status().message()));
    AddNodes(**like, n.count, &e.scenario);
    e.added += n.count;
  }
  FindViolatedBudgets(scenario, evicted, &e);
  return e;
}

}  // namespace berth::lab
