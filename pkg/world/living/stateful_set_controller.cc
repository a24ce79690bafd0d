// StatefulSets (pkg/controller/statefulset, 1.36).
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pkg/util/status.h"
#include "pkg/world/living/actors.h"
#include "pkg/world/living/owned_pods.h"
#include "pkg/world/living/revisions.h"
#include "pkg/world/workload.h"

namespace berth::world::living {
namespace {

constexpr char kSetComponent[] = "statefulset-controller";

// One look at a StatefulSet.
class StatefulLook {
 public:
  StatefulLook(World* world, Actor* actor, const ObjectName& what, Value set)
      : world_(world), actor_(actor), what_(what), set_(std::move(set)) {
    replicas_ = NumberAt(set_, {"spec", "replicas"}, 1);
    if (world->rules().stateful_start) start_ = NumberAt(set_, {"spec", "ordinals", "start"});
    in_order_ = TextAt(set_, {"spec", "podManagementPolicy"}) != "Parallel";
    min_ready_ = NumberAt(set_, {"spec", "minReadySeconds"});
  }

  void Run() {
    update_ = KeepRevision(world_, set_);
    current_ = TextAt(set_, {"status", "currentRevision"});
    if (current_.empty()) current_ = update_;
    const Value selector = validation::OrEmpty(set_.At({"spec", "selector"}));
    for (const PodFactsPtr& p : ClaimPods(world_, set_, &selector)) {
      if (const int64_t n = OrdinalOf(p->name); n >= 0) pods_[n] = p;
    }
    const bool is_sound = Selects(&selector, set_.At({"spec", "template", "metadata", "labels"}), false);
    if (!IsTerminating(set_) && is_sound) Manage();
    Report();
    if (!IsTerminating(set_)) TrimRevisions(world_, set_, {current_, update_});
  }

 private:
  bool Wanted(int64_t n) const { return n >= start_ && n < start_ + replicas_; }
  bool IsHealthy(const PodFacts& p) const {
    return p.phase == "Running" && p.ready && !p.terminating && p.IsAvailable(min_ready_, world_->Now());
  }
  static bool IsReady(const PodFacts& p) { return p.phase == "Running" && p.ready && !p.terminating; }

  // Returns the ordinal in the name of a pod of this set; -1 if it has none.
  int64_t OrdinalOf(std::string_view name) const {
    int64_t n = 0;
    if (!name.starts_with(what_.name + "-")) return -1;
    return absl::SimpleAtoi(util::ToAbsl(name.substr(what_.name.size() + 1)), &n) && n >= 0 ? n : -1;
  }

  void Manage() {
    for (int64_t n = start_; n < start_ + replicas_; ++n) {
      auto it = pods_.find(n);
      const PodFactsPtr p = it == pods_.end() ? nullptr : it->second;
      if (p == nullptr) {
        if (!Make(n)) return;
        if (in_order_) return;
        continue;
      }
      if (p->IsFinished() && !p->terminating) {
        Delete(*p);
        if (in_order_) return;
        continue;
      }
      // A claim may have gone with the pod before this one.
      if (p->phase == "Pending" && !MakeClaims(n)) return;
      OwnClaims(n, true);
      if (in_order_ && !IsHealthy(*p)) return LookAgain(*p);
    }
    if (Shrink()) return;
    if (TextAt(set_, {"spec", "updateStrategy", "type"}) != "OnDelete") Roll();
  }

  // Returns whether the sync ends here: pods beyond the wanted ordinals go from the top.
  bool Shrink() {
    const auto sick = std::find_if(pods_.begin(), pods_.end(), [&](const auto& p) { return !IsReady(*p.second); });
    bool any = false;
    for (auto it = pods_.rbegin(); it != pods_.rend(); ++it) {
      const auto& [n, p] = *it;
      if (Wanted(n)) continue;
      any = true;
      if (p->terminating) {
        if (in_order_) return true;
        continue;
      }
      if (in_order_ && !IsReady(*p) && sick != pods_.end() && sick->first != n) return true;
      OwnClaims(n, false);
      Delete(*p);
      if (in_order_) return true;
    }
    return any && in_order_;
  }

  // Replaces pods of other revisions from the highest ordinal down to the partition, one at a time.
  void Roll() {
    const int64_t partition = NumberAt(set_, {"spec", "updateStrategy", "rollingUpdate", "partition"});
    for (auto it = pods_.rbegin(); it != pods_.rend(); ++it) {
      const auto& [n, p] = *it;
      if (!Wanted(n) || n < start_ + partition) continue;
      if (p->revision != update_ && !p->terminating) return Delete(*p);
      if (!IsHealthy(*p)) return LookAgain(*p);
    }
  }

  void LookAgain(const PodFacts& p) {
    if (!p.ready || min_ready_ == 0) return;
    world_->Enqueue(actor_, what_, p.ready_since + absl::Seconds(min_ready_) - world_->Now());
  }

  // Makes the claims of an ordinal that are missing. Returns false if one is refused.
  bool MakeClaims(int64_t n) {
    for (Value& claim : ClaimsOfOrdinal(set_, n)) {
      const std::string name(NameOf(claim));
      if (world_->cluster().Get("PersistentVolumeClaim", what_.ns, name) != nullptr) continue;
      if (Written refused = world_->cluster().Create("PersistentVolumeClaim", std::move(claim))) {
        Tell("Warning", "FailedCreate",
             absl::StrCat("Create Claim ", name, " for Pod ", what_.name, "-", n, " in StatefulSet ", what_.name,
                          " failed: ", refused->message));
        world_->EnqueueTry(actor_, what_, absl::Seconds(1));
        return false;
      }
      Tell(
          "Normal", "SuccessfulCreate",
          absl::StrCat("Create Claim ", name, " Pod ", what_.name, "-", n, " in StatefulSet ", what_.name, " success"));
    }
    return true;
  }

  // Returns whether the pod was made.
  bool Make(int64_t n) {
    const int64_t partition = NumberAt(set_, {"spec", "updateStrategy", "rollingUpdate", "partition"});
    const bool old = TextAt(set_, {"spec", "updateStrategy", "type"}) != "OnDelete" && n < start_ + partition;
    Value like = set_;
    if (old && current_ != update_) {
      if (auto t = TemplateOfRevision(world_, what_.ns, current_)) like.Child("spec").Set("template", *std::move(t));
    }
    if (!MakeClaims(n)) return false;
    if (Written refused = world_->cluster().Create("Pod", PodOf("StatefulSet", like, n, world_->rules()))) {
      Tell("Warning", "FailedCreate",
           absl::StrCat("create Pod ", what_.name, "-", n, " in StatefulSet ", what_.name,
                        " failed error: ", refused->message));
      world_->EnqueueTry(actor_, what_, absl::Seconds(1));
      return false;
    }
    OwnClaims(n, true);
    Tell("Normal", "SuccessfulCreate",
         absl::StrCat("Create Pod ", what_.name, "-", n, " in StatefulSet ", what_.name, " successful"));
    return true;
  }

  void Delete(const PodFacts& p) {
    const std::string name = p.name;
    if (world_->cluster().Delete("Pod", p.ns, name, {.grace_seconds = {}, .uid = p.uid, .propagation = ""})) return;
    Tell("Normal", "SuccessfulDelete",
         absl::StrCat("Delete Pod ", name, " in StatefulSet ", what_.name, " successful"));
  }

  void Tell(std::string_view type, std::string_view reason, const std::string& message) {
    world_->Record(set_, kSetComponent, "", type, reason, message);
  }

  // The owners of the claims of an ordinal, as the retention policy says: the set if claims go with it, the pod if they
  // go when the set has become smaller.
  void OwnClaims(int64_t n, bool wanted) {
    const Value& policy = validation::OrEmpty(set_.At({"spec", "persistentVolumeClaimRetentionPolicy"}));
    const bool with_set = policy.Str("whenDeleted") == "Delete", with_pod = policy.Str("whenScaled") == "Delete";
    if (!with_set && !with_pod) return;
    const ValuePtr pod = world_->cluster().Get("Pod", what_.ns, absl::StrCat(what_.name, "-", n));
    for (const Value& c : ClaimsOfOrdinal(set_, n)) {
      const ValuePtr found = world_->cluster().Get("PersistentVolumeClaim", what_.ns, NameOf(c));
      if (found == nullptr || IsTerminating(*found)) continue;
      Value claim = *found;
      RemoveOwner(UidOf(set_), &claim);
      if (pod != nullptr) RemoveOwner(UidOf(*pod), &claim);
      const Value* owner = !wanted && with_pod && pod != nullptr ? pod.get() : with_set ? &set_ : nullptr;
      if (owner != nullptr) {
        Value reference = ControllerReference(*owner);
        reference.Erase("controller");
        reference.Erase("blockOwnerDeletion");
        Value& meta = claim.Child("metadata");
        if (meta.Find("ownerReferences") == nullptr) meta.Set("ownerReferences", Value::Array());
        meta.Find("ownerReferences")->Append(std::move(reference));
      }
      if (!(claim == *found)) world_->cluster().UpdateStatus("PersistentVolumeClaim", std::move(claim));
    }
  }

  void Report() {
    const ValuePtr found = world_->cluster().Get("StatefulSet", what_.ns, what_.name);
    if (found == nullptr) return;
    Value set = *found;
    int64_t replicas = 0, ready = 0, available = 0, current = 0, updated = 0;
    for (const auto& [uid, p] : world_->PodsOfController(UidOf(set))) {
      ++replicas;
      if (p->phase == "Running" && p->ready) {
        ++ready;
        available += p->IsAvailable(min_ready_, world_->Now());
        if (!p->IsAvailable(min_ready_, world_->Now())) LookAgain(*p);
      }
      if (p->terminating) continue;
      current += p->revision == current_;
      updated += p->revision == update_;
    }
    const bool rolls = TextAt(set, {"spec", "updateStrategy", "type"}) != "OnDelete";
    if (rolls && updated == replicas && ready == replicas && replicas == replicas_) {
      current_ = update_;
      current = updated;
    }
    Value& status = set.Child("status");
    status.SetAll({{"observedGeneration", NumberAt(set_, {"metadata", "generation"})}, {"replicas", replicas}});
    SetCount("readyReplicas", ready, &status);
    status.Set("availableReplicas", Value::Int(available));
    SetCount("currentReplicas", current, &status);
    SetCount("updatedReplicas", updated, &status);
    status.SetAll({{"currentRevision", current_}, {"updateRevision", update_}, {"collisionCount", 0}});
    WriteStatus(world_, "StatefulSet", *found, std::move(set));
  }

  World* world_;
  Actor* actor_;
  const ObjectName what_;
  const Value set_;
  std::map<int64_t, PodFactsPtr> pods_;  // by ordinal
  std::string update_, current_;
  int64_t replicas_ = 0, start_ = 0, min_ready_ = 0;
  bool in_order_ = true;
};

class StatefulSets final : public Actor {
 public:
  explicit StatefulSets(World* world) : world_(world) {}
  void OnChange(const Change& c) override {
    if (c.kind == "StatefulSet" && !c.gone) {
      world_->Enqueue(this, {"StatefulSet", std::string(NamespaceOf(*c.object)), std::string(NameOf(*c.object))});
    }
    if (c.kind != "Pod") return;
    for (const PodFactsPtr& pod : {c.before, c.after}) {
      if (pod != nullptr && pod->controller_kind == "StatefulSet") {
        world_->Enqueue(this, {"StatefulSet", pod->ns, pod->controller_name},
                        CalmFor(world_->PodsOfController(pod->controller_uid).size()));
      }
    }
  }
  void Sync(const ObjectName& what) override {
    const ValuePtr found = world_->cluster().Get("StatefulSet", what.ns, what.name);
    if (found != nullptr) StatefulLook(world_, this, what, *found).Run();
  }

 private:
  World* world_;
};

}  // namespace

std::unique_ptr<Actor> NewStatefulSetController(World* world) {
  return std::make_unique<StatefulSets>(world);
}

}  // namespace berth::world::living
