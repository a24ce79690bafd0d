// Evictions by NoExecute taints, and the pods of nodes that are gone.
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "pkg/util/status.h"
#include "pkg/world/living/node_lifecycle.h"

namespace berth::world::living {
namespace {

constexpr char kTaintComponent[] = "taint-eviction-controller", kEvicts[] = "NoExecute";

// Returns whether a toleration of a pod covers the taint.
bool Tolerates(const Value& toleration, const Value& taint) {
  const std::string_view effect = toleration.Str("effect"), key = toleration.Str("key"),
                         op = toleration.Str("operator");
  if (!effect.empty() && effect != taint.Str("effect")) return false;
  if (!key.empty() && key != taint.Str("key")) return false;
  if (op == "Exists") return true;
  double bound = 0, value = 0;
  const std::string_view wanted = toleration.Str("value"), have = taint.Str("value");
  if (op == "Lt" || op == "Gt") {
    if (!absl::SimpleAtod(util::ToAbsl(wanted), &bound) || !absl::SimpleAtod(util::ToAbsl(have), &value)) return false;
    return op == "Lt" ? value < bound : value > bound;
  }
  return !key.empty() && wanted == have;
}

// Returns how long a pod may stay on a node with these taints: zero if it does not tolerate one of them.
absl::Duration TimeLeft(const Value& pod, const std::vector<Value>& taints) {
  absl::Duration least = absl::InfiniteDuration();
  const Value* tolerations = pod.At({"spec", "tolerations"});
  for (const Value& taint : taints) {
    if (tolerations == nullptr) return absl::ZeroDuration();
    auto first = std::find_if(tolerations->items.begin(), tolerations->items.end(),
                              [&](const Value& t) { return Tolerates(t, taint); });
    if (first == tolerations->items.end()) return absl::ZeroDuration();
    const Value* seconds = first->Find("tolerationSeconds");
    if (seconds == nullptr || !seconds->IsNumber()) continue;
    least = std::min(least, absl::Seconds(std::max<int64_t>(seconds->AsInt(), 0)));
  }
  return least;
}

class TaintEviction final : public Actor {
 public:
  explicit TaintEviction(World* world) : world_(world) {}

  void OnChange(const Change& c) override {
    if (c.kind == "Node") return OnNode(c);
    if (c.kind != "Pod") return;
    if (c.gone) {
      planned_.erase(std::string(UidOf(*c.object)));
    } else if (!c.after->node.empty() && tainted_.contains(c.after->node) &&
               (c.before == nullptr || c.before->node != c.after->node || c.before->uid != c.after->uid)) {
      world_->Enqueue(this, {"Pod", c.after->ns, c.after->name});
    }
  }

  void Sync(const ObjectName& what) override {
    if (what.kind == "Node") {
      std::vector<PodFactsPtr> pods;
      for (const auto& [uid, pod] : world_->PodsOfNode(what.name)) pods.push_back(pod);
      for (const PodFactsPtr& pod : pods) Look(*pod);
      return;
    }
    if (const PodFactsPtr pod = world_->Pod(what.ns, what.name)) Look(*pod);
  }

 private:
  void OnNode(const Change& c) {
    const std::string name(NameOf(*c.object));
    std::vector<Value> taints;
    const Value* all = c.gone ? nullptr : c.object->At({"spec", "taints"});
    if (all != nullptr) {
      for (const Value& t : all->items) {
        if (t.Str("effect") == kEvicts) taints.push_back(t);
      }
    }
    auto it = tainted_.find(name);
    if (taints.empty() ? it == tainted_.end() : it != tainted_.end() && it->second == taints) return;
    if (taints.empty()) {
      tainted_.erase(it);
    } else {
      tainted_[name] = std::move(taints);
    }
    if (!c.gone) world_->Enqueue(this, {"Node", "", name});
  }

  // Evicts a pod, plans its eviction, or gives a plan up. A plan counts from when it was made.
  void Look(const PodFacts& pod) {
    auto planned = planned_.find(pod.uid);
    auto taints = tainted_.find(pod.node);
    const ValuePtr object = pod.terminating ? nullptr : world_->cluster().Get("Pod", pod.ns, pod.name);
    if (object == nullptr) return;
    const absl::Duration left = taints == tainted_.end() ? absl::InfiniteDuration() : TimeLeft(*object, taints->second);
    if (left == absl::InfiniteDuration()) {
      if (planned != planned_.end()) Tell(*object, "Cancelling deletion of");
      planned_.erase(pod.uid);
      return;
    }
    const absl::Duration since = planned == planned_.end() ? world_->Steady() : planned->second;
    const absl::Duration wait = since + left - world_->Steady();
    if (wait > absl::ZeroDuration()) {
      planned_.try_emplace(pod.uid, since);
      world_->Enqueue(this, {"Pod", pod.ns, pod.name}, wait);
      return;
    }
    planned_.erase(pod.uid);
    Tell(*object, "Marking for deletion");
    Disrupt(world_, pod, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint", std::nullopt);
  }

  void Tell(const Value& pod, std::string_view what) {
    world_->Record(
        pod, kTaintComponent, "", "Normal", "TaintManagerEviction",
        absl::StrCat(util::ToAbsl(what), " Pod ", util::ToAbsl(NamespaceOf(pod)), "/", util::ToAbsl(NameOf(pod))));
  }

  World* world_;
  absl::flat_hash_map<std::string, std::vector<Value>> tainted_;  // NoExecute taints by node
  absl::flat_hash_map<std::string, absl::Duration> planned_;      // when an eviction was planned, by uid of the pod
};

class PodCollector final : public Actor {
 public:
  explicit PodCollector(World* world) : world_(world) {}

  void OnChange(const Change& c) override {
    if (c.kind == "Node" && c.gone) Wait(std::string(NameOf(*c.object)));
    if (c.kind == "Pod" && c.is_new && !c.after->node.empty() && !world_->nodes().contains(c.after->node)) {
      Wait(c.after->node);
    }
  }
  void Sync(const ObjectName& what) override {
    if (world_->nodes().contains(what.name)) return;
    std::vector<PodFactsPtr> pods;
    for (const auto& [uid, pod] : world_->PodsOfNode(what.name)) pods.push_back(pod);
    for (const PodFactsPtr& pod : pods) {
      Disrupt(world_, *pod, "DeletionByPodGC", "PodGC: node no longer exists", 0);
    }
  }

 private:
  // Every 20 s the controller looks; a node that is missing then is given 40 s.
  void Wait(const std::string& node) {
    constexpr absl::Duration kPeriod = absl::Seconds(20), kQuarantine = absl::Seconds(40);
    const absl::Duration since_look = world_->Steady() % kPeriod;
    world_->Enqueue(this, {"Node", "", node}, kPeriod - since_look + kQuarantine);
  }

  World* world_;
};

}  // namespace

std::unique_ptr<Actor> NewTaintEviction(World* world) {
  return std::make_unique<TaintEviction>(world);
}
std::unique_ptr<Actor> NewPodCollector(World* world) {
  return std::make_unique<PodCollector>(world);
}

}  // namespace berth::world::living
