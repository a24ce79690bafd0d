// The status of PodDisruptionBudgets (pkg/controller/disruption, 1.36).
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "pkg/util/status.h"
#include "pkg/world/budget.h"
#include "pkg/world/kinds.h"
#include "pkg/world/living/actors.h"
#include "pkg/world/living/owned_pods.h"

namespace berth::world::living {
namespace {

constexpr absl::Duration kDisruptedFor = absl::Minutes(2);

class Disruption final : public Actor {
 public:
  explicit Disruption(World* world) : world_(world) {}

  void OnChange(const Change& c) override {
    const std::string ns(NamespaceOf(*c.object));
    if (c.kind == "PodDisruptionBudget") {
      budgets_[ns].erase(std::string(NameOf(*c.object)));
      if (c.gone) return;
      budgets_[ns][std::string(NameOf(*c.object))] = validation::OrEmpty(c.object->At({"spec", "selector"}));
      world_->Enqueue(this, {std::string(c.kind), ns, std::string(NameOf(*c.object))});
      return;
    }
    auto there = budgets_.find(ns);
    if (there == budgets_.end()) return;
    const bool scales = c.kind == "ReplicaSet" || c.kind == "Deployment" || c.kind == "StatefulSet" ||
                        c.kind == "ReplicationController";
    if (c.kind != "Pod" && !scales) return;
    for (const auto& [name, selector] : there->second) {
      bool concerned = scales;
      for (const PodFactsPtr& pod : {c.before, c.after}) {
        concerned = concerned || (pod != nullptr && Selects(&selector, &pod->labels, false));
      }
      if (concerned) {
        world_->Enqueue(this, {"PodDisruptionBudget", ns, name}, CalmFor(world_->PodsIn(ns).size()));
      }
    }
  }

  void Sync(const ObjectName& what) override {
    const ValuePtr found = world_->cluster().Get(what.kind, what.ns, what.name);
    if (found == nullptr) return;
    Value budget = *found;
    const Value* selector = budget.At({"spec", "selector"});
    std::vector<PodOfBudget> pods;
    std::string no_scale;
    const bool none = IsAboutNoPod(world_->rules(), budget);
    const Value disrupted = StillDisrupted(what, budget);
    for (const auto& [uid, p] : world_->PodsIn(what.ns)) {
      if (none || !Selects(selector, &p->labels, false)) continue;
      PodOfBudget pod;
      pod.ready = p->ready && disrupted.Find(p->name) == nullptr;
      pod.terminating = p->terminating;
      pod.controller = p->controller_uid;
      if (!p->controller_uid.empty()) pod.scale = ScaleOf(*p, &pod.controller);
      if (!p->controller_uid.empty() && !pod.scale) no_scale = p->controller_kind;
      pods.push_back(std::move(pod));
    }
    const BudgetState state = StateOfBudget(budget, pods);
    TellWhatIsWrong(budget, pods, state, no_scale);
    Write(state, no_scale, disrupted, &budget);
    WriteStatus(world_, what.kind, *found, std::move(budget));
  }

 private:
  // Returns the pods that have been evicted lately and are still there, and comes back when the first may be forgotten.
  Value StillDisrupted(const ObjectName& what, const Value& budget) {
    Value left = Value::Object();
    const Value* old = budget.At({"status", "disruptedPods"});
    if (old == nullptr) return left;
    for (size_t i = 0; i < old->keys.size(); ++i) {
      const PodFactsPtr pod = world_->Pod(what.ns, old->keys[i]);
      const absl::Time end = TimeAt(*old, {old->keys[i]}) + kDisruptedFor;
      if (pod == nullptr || pod->terminating || end <= world_->Now()) continue;
      left.Set(old->keys[i], old->items[i]);
      world_->Enqueue(this, what, end - world_->Now());
    }
    return left;
  }

  // Returns the wanted number of pods of the pod's controller; `*identity` becomes the Deployment of a ReplicaSet.
  std::optional<int64_t> ScaleOf(const PodFacts& pod, std::string* identity) const {
    const std::string& kind = pod.controller_kind;
    if (kind != "ReplicaSet" && kind != "StatefulSet" && kind != "ReplicationController") return std::nullopt;
    ValuePtr owner = world_->cluster().Get(kind, pod.ns, pod.controller_name);
    if (owner == nullptr || UidOf(*owner) != pod.controller_uid) return 0;
    const Value* above = ControllerOf(*owner);
    if (above != nullptr && above->Str("kind") == "Deployment") {
      const ValuePtr deployment = world_->cluster().Get("Deployment", pod.ns, above->Str("name"));
      if (deployment != nullptr) {
        *identity = UidOf(*deployment);
        owner = deployment;
      }
    }
    return NumberAt(*owner, {"spec", "replicas"}, 1);
  }

  // The same thing is said about a budget once.
  void Tell(const Value& budget, std::string_view type, std::string_view reason, const std::string& message) {
    if (!told_.insert(absl::StrCat(util::ToAbsl(UidOf(budget)), "/", util::ToAbsl(reason))).second) return;
    world_->Record(budget, "controllermanager", "", type, reason, message);
  }
  void TellWhatIsWrong(const Value& budget, const std::vector<PodOfBudget>& pods, const BudgetState& state,
                       const std::string& no_scale) {
    if (pods.empty()) Tell(budget, "Normal", "NoPods", "No matching pods found");
    if (!state.error.empty()) {
      Tell(budget, "Warning", "CalculateExpectedPodCountFailed",
           absl::StrCat("Failed to calculate the number of expected pods: ", NoScale(no_scale)));
      return;
    }
    const Value* least = budget.At({"spec", "minAvailable"});
    if (least != nullptr && least->IsNumber()) return;
    if (std::none_of(pods.begin(), pods.end(), [](const PodOfBudget& p) { return p.controller.empty(); })) return;
    std::string labels;
    if (const Value* wanted = budget.At({"spec", "selector", "matchLabels"})) {
      for (size_t i = 0; i < wanted->keys.size(); ++i) {
        absl::StrAppend(&labels, wanted->keys[i], ": ", wanted->items[i].text(), ",");
      }
    }
    Tell(budget, "Warning", "UnmanagedPods",
         absl::StrCat(
             "Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{",
             labels,
             "},MatchExpressions:[]LabelSelectorRequirement{},}) were found to be unmanaged. As a result, the "
             "status of the PDB cannot be calculated correctly, which may result in undefined behavior. To "
             "account for these pods please set \".spec.minAvailable\" field of the PDB to an integer value."));
  }
  static std::string NoScale(const std::string& kind) {
    return absl::StrCat(ResourceText(kind), " does not implement the scale subresource");
  }

  void Write(const BudgetState& state, const std::string& no_scale, const Value& disrupted, Value* budget) {
    Value& status = budget->Child("status");
    if (!state.error.empty()) {
      status.SetAll({{"disruptionsAllowed", 0}, {"observedGeneration", NumberAt(*budget, {"metadata", "generation"})}});
      SetCondition({"DisruptionAllowed", "False", "SyncFailed", NoScale(no_scale)}, world_->Now(), budget);
      return;
    }
    status.SetAll({{"disruptionsAllowed", state.disruptions_allowed},
                   {"currentHealthy", state.current_healthy},
                   {"desiredHealthy", state.desired_healthy},
                   {"expectedPods", state.expected_pods},
                   {"observedGeneration", NumberAt(*budget, {"metadata", "generation"})}});
    if (disrupted.empty()) {
      status.Erase("disruptedPods");
    } else {
      status.Set("disruptedPods", disrupted);
    }
    const bool any = state.disruptions_allowed > 0;
    SetCondition({"DisruptionAllowed", any ? "True" : "False", any ? "SufficientPods" : "InsufficientPods", ""},
                 world_->Now(), budget);
  }

  World* world_;
  absl::flat_hash_map<std::string, absl::btree_map<std::string, Value>> budgets_;  // selectors by namespace and name
  absl::btree_set<std::string> told_;
};

}  // namespace

std::unique_ptr<Actor> NewDisruptionController(World* world) {
  return std::make_unique<Disruption>(world);
}

}  // namespace berth::world::living
