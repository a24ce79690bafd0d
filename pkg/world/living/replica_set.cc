// ReplicaSets and ReplicationControllers (pkg/controller/replicaset, 1.36).
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "pkg/util/status.h"
#include "pkg/world/living/actors.h"
#include "pkg/world/living/owned_pods.h"
#include "pkg/world/workload.h"

namespace berth::world::living {
namespace {

constexpr size_t kMostAtOnce = 500;
constexpr absl::Duration kRetry = absl::Seconds(1), kLongestSetRetry = absl::Minutes(5);

class ReplicaSets final : public Actor {
 public:
  ReplicaSets(World* world, std::string_view kind)
      : world_(world),
        kind_(kind),
        component_(kind == "ReplicaSet" ? "replicaset-controller" : "replication-controller") {}

  void OnChange(const Change& c) override {
    if (c.kind == kind_ && !c.gone) {
      world_->Enqueue(this, {kind_, std::string(NamespaceOf(*c.object)), std::string(NameOf(*c.object))});
      return;
    }
    if (c.kind != "Pod") return;
    for (const PodFactsPtr& pod : {c.before, c.after}) {
      if (pod == nullptr) continue;
      if (pod->controller_kind == kind_) {
        world_->Enqueue(this, {kind_, pod->ns, pod->controller_name},
                        CalmFor(world_->PodsOfController(pod->controller_uid).size()));
      } else if (pod->controller_uid.empty() && pod->IsActive()) {
        EnqueueMatching(*pod);
      }
    }
  }

  void Sync(const ObjectName& what) override {
    const ValuePtr found = world_->cluster().Get(kind_, what.ns, what.name);
    if (found == nullptr) return;
    const Value set = *found;
    const Value selector = SelectorOf(set);
    std::vector<PodFactsPtr> pods = ClaimPods(world_, set, &selector);
    std::vector<PodFactsPtr> active;
    for (const PodFactsPtr& p : pods) {
      if (p->IsActive()) active.push_back(p);
    }
    const int64_t wanted = NumberAt(set, {"spec", "replicas"}, 1);
    Written refused;
    // A set that does not select its own pods would make them for ever.
    const bool is_sound = Selects(&selector, set.At({"spec", "template", "metadata", "labels"}), false);
    // What was refused is tried again when its time has come, not whenever something changes.
    const std::string uid(UidOf(set));
    auto wait = waits_.find(uid);
    if (wait != waits_.end() && wait->second.until > world_->Steady()) {
      refused = wait->second.refused;
      world_->EnqueueTry(this, what, wait->second.until - world_->Steady());
    } else if (!IsTerminating(set) && is_sound) {
      refused = Manage(set, wanted - static_cast<int64_t>(active.size()), &active, what);
      if (refused) {
        Wait& w = waits_[uid];
        w.delay = std::clamp(w.delay * 2, kRetry, kLongestSetRetry);
        w.until = world_->Steady() + w.delay;
        w.refused = refused;
        world_->EnqueueTry(this, what, w.delay);
      } else {
        waits_.erase(uid);
      }
    }
    Report(set, what, refused);
  }

 private:
  // A ReplicationController has labels as its selector.
  Value SelectorOf(const Value& set) const {
    const Value* selector = set.At({"spec", "selector"});
    if (kind_ == "ReplicaSet") return validation::OrEmpty(selector);
    Value v = Value::Object();
    v.Set("matchLabels", validation::OrEmpty(selector));
    return v;
  }

  void EnqueueMatching(const PodFacts& pod) {
    world_->cluster().Each(kind_, pod.ns, [&](const Value& set) {
      const Value selector = SelectorOf(set);
      if (Selects(&selector, &pod.labels, false)) {
        world_->Enqueue(this, {kind_, pod.ns, std::string(NameOf(set))});
      }
    });
  }

  // Creates or deletes what is missing or too many. Returns the first refusal.
  Written Manage(const Value& set, int64_t missing, std::vector<PodFactsPtr>* active, const ObjectName& what) {
    if (missing > 0) {
      const Value pod = PodOf("ReplicaSet", set, std::nullopt, world_->rules());
      const auto now = std::min<size_t>(static_cast<size_t>(missing), kMostAtOnce);
      for (size_t i = 0; i < now; ++i) {
        if (Written refused = CreatePod(world_, set, component_, pod)) return refused;
      }
      if (now < static_cast<size_t>(missing)) world_->Enqueue(this, what);
    } else if (missing < 0) {
      SortForDeletion(active);
      const auto now = std::min<size_t>(static_cast<size_t>(-missing), kMostAtOnce);
      for (size_t i = 0; i < now; ++i) DeletePod(world_, set, component_, *(*active)[i]);
      if (now < static_cast<size_t>(-missing)) world_->Enqueue(this, what);
    }
    return std::nullopt;
  }

  // Those that go first are in front: without a node, not running, not ready, of lower cost, beside more of the same
  // on their node, ready for less time, restarted more often, younger.
  void SortForDeletion(std::vector<PodFactsPtr>* pods) const {
    absl::flat_hash_map<std::string, int> on_node;
    for (const PodFactsPtr& p : *pods) ++on_node[p->node];
    auto phase = [](const PodFacts& p) { return p.phase == "Pending" ? 0 : p.phase == "Unknown" ? 1 : 2; };
    auto order = [&](const PodFacts& p) {
      // Ready for about as long counts as equal: powers of two of the age.
      auto bucket = [&](absl::Time t) {
        int b = 0;
        for (double s = absl::ToDoubleSeconds(world_->Now() - t); s >= 2 && b < 40; s /= 2) ++b;
        return b;
      };
      return std::tuple(!p.node.empty(), phase(p), p.ready, p.deletion_cost, -on_node[p.node],
                        p.ready ? bucket(p.ready_since) : 0, -p.restarts, bucket(p.created), std::string_view(p.uid));
    };
    std::sort(pods->begin(), pods->end(),
              [&](const PodFactsPtr& a, const PodFactsPtr& b) { return order(*a) < order(*b); });
  }

  void Report(const Value& before, const ObjectName& what, const Written& refused) {
    const ValuePtr found = world_->cluster().Get(kind_, what.ns, what.name);
    if (found == nullptr) return;
    Value set = *found;
    const int64_t min_ready = NumberAt(set, {"spec", "minReadySeconds"});
    const Value* labels = set.At({"spec", "template", "metadata", "labels"});
    Value all_labels = Value::Object();
    all_labels.Set("matchLabels", validation::OrEmpty(labels));
    int64_t replicas = 0, labeled = 0, ready = 0, available = 0, terminating = 0;
    for (const auto& [uid, p] : world_->PodsOfController(UidOf(set))) {
      if (p->IsFinished()) continue;
      if (p->terminating) {
        ++terminating;
        continue;
      }
      ++replicas;
      labeled += Selects(&all_labels, &p->labels, false);
      ready += p->ready;
      if (p->IsAvailable(min_ready, world_->Now())) {
        ++available;
      } else if (p->ready) {
        world_->Enqueue(this, what, p->ready_since + absl::Seconds(min_ready) - world_->Now());
      }
    }
    Value& status = set.Child("status");
    status.Set("replicas", Value::Int(replicas));
    SetCount("fullyLabeledReplicas", labeled, &status);
    SetCount("readyReplicas", ready, &status);
    SetCount("availableReplicas", available, &status);
    if (kind_ == "ReplicaSet") status.Set("terminatingReplicas", Value::Int(terminating));
    status.Set("observedGeneration", Value::Int(NumberAt(before, {"metadata", "generation"})));
    // The condition keeps the message of the first refusal, although each try has another name of a pod in it.
    if (!refused) {
      RemoveCondition("ReplicaFailure", &set);
    } else if (ConditionOf(set, "ReplicaFailure") == nullptr) {
      SetCondition({"ReplicaFailure", "True", "FailedCreate", refused->message}, world_->Now(), &set);
    }
    WriteStatus(world_, kind_, *found, std::move(set));
  }

  struct Wait {
    absl::Duration delay = absl::ZeroDuration(), until = absl::ZeroDuration();
    Written refused;
  };

  World* world_;
  const std::string kind_, component_;
  std::map<std::string, Wait> waits_;  // by uid, of sets whose pods are refused
};

}  // namespace

std::unique_ptr<Actor> NewReplicaSetController(World* world, std::string_view kind) {
  return std::make_unique<ReplicaSets>(world, kind);
}

}  // namespace berth::world::living
