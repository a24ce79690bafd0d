// Deployments (pkg/controller/deployment, 1.36).
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "pkg/util/status.h"
#include "pkg/world/living/actors.h"
#include "pkg/world/living/owned_pods.h"
#include "pkg/world/workload.h"

namespace berth::world::living {
namespace {

constexpr char kRevision[] = "deployment.kubernetes.io/revision",
               kHistory[] = "deployment.kubernetes.io/revision-history",
               kDesired[] = "deployment.kubernetes.io/desired-replicas",
               kMost[] = "deployment.kubernetes.io/max-replicas", kHash[] = "pod-template-hash";
constexpr int64_t kNoDeadline = 2147483647;

int64_t AnnotationNumber(const Value& object, std::string_view key) {
  int64_t n = 0;
  return absl::SimpleAtoi(util::ToAbsl(AnnotationOf(object, key)), &n) ? n : 0;
}
void Annotate(std::string_view key, const std::string& text, Value* object) {
  object->Child("metadata").Child("annotations").Set(key, Value::String(text));
}
int64_t Replicas(const Value& v) {
  return NumberAt(v, {"spec", "replicas"}, 1);
}
int64_t Counted(const Value& v, std::string_view member) {
  return NumberAt(v, {"status", member});
}

// The ReplicaSets of a Deployment, oldest first.
class OwnedSets {
 public:
  OwnedSets(World* world, std::string ns) : world_(world), ns_(std::move(ns)) {}

  // Finds the sets, adopts those that match and have no owner, and releases those that no longer match.
  void Claim(const Value& deployment) {
    const Value* selector = deployment.At({"spec", "selector"});
    world_->cluster().Each("ReplicaSet", ns_, [&](const Value& set) {
      const Value* owner = ControllerOf(set);
      const Value* labels = set.At({"metadata", "labels"});
      const bool matches = Selects(selector, labels, false);
      if (owner == nullptr ? matches && !IsTerminating(deployment) && !IsTerminating(set)
                           : owner->Str("uid") == UidOf(deployment)) {
        all_.push_back(set);
      }
    });
    for (Value& set : all_) {
      const bool owned = ControllerOf(set) != nullptr;
      const bool matches = Selects(selector, set.At({"metadata", "labels"}), false);
      if (owned && matches) continue;
      if (owned && !IsTerminating(deployment)) {
        RemoveOwner(UidOf(deployment), &set);
      } else if (!owned) {
        Value& meta = set.Child("metadata");
        if (meta.Find("ownerReferences") == nullptr) meta.Set("ownerReferences", Value::Array());
        meta.Find("ownerReferences")->Append(ControllerReference(deployment));
      }
      world_->cluster().UpdateStatus("ReplicaSet", set);
      Refresh(&set);
    }
    std::erase_if(all_, [&](const Value& set) { return ControllerOf(set) == nullptr; });
    std::sort(all_.begin(), all_.end(), [](const Value& a, const Value& b) {
      return std::pair(TextAt(a, {"metadata", "creationTimestamp"}), NameOf(a)) <
             std::pair(TextAt(b, {"metadata", "creationTimestamp"}), NameOf(b));
    });
  }
  // Finds the new set: the one of the Deployment's present template.
  void FindNew(const Value& deployment) {
    const std::string wanted = TemplateText(deployment);
    new_ = 0;
    while (HasNew() && TemplateText(all_[new_]) != wanted) ++new_;
  }
  // Adds the set of the present template, which has just been created.
  void AddNew(Value set) {
    new_ = all_.size();
    all_.push_back(std::move(set));
    Refresh(&all_.back());
  }
  // Reads a set again that has been written.
  void Refresh(size_t i) { Refresh(&all_[i]); }

  size_t size() const { return all_.size(); }
  const Value& operator[](size_t i) const { return all_[i]; }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  bool HasNew() const { return new_ < all_.size(); }
  size_t new_index() const { return new_; }           // not below size(): there is none
  const Value& New() const { return all_.at(new_); }  // there must be one
  std::string NewName() const { return HasNew() ? std::string(NameOf(New())) : std::string(); }
  std::vector<size_t> Old() const {
    std::vector<size_t> old;
    for (size_t i = 0; i < all_.size(); ++i) {
      if (i != new_) old.push_back(i);
    }
    return old;
  }
  template <typename F>
  int64_t Sum(F&& f) const {
    int64_t sum = 0;
    for (const Value& s : all_) sum += f(s);
    return sum;
  }
  int64_t SumOfReplicas() const { return Sum(Replicas); }

 private:
  static std::string TemplateText(const Value& workload) {
    Value t = validation::OrEmpty(workload.At({"spec", "template"}));
    if (Value* labels = t.At({"metadata", "labels"})) {
      labels->Erase(kHash);
      if (labels->empty()) t.Find("metadata")->Erase("labels");
    }
    t.Child("metadata").Erase("creationTimestamp");
    return validation::ToSortedJson(t);
  }

  void Refresh(Value* set) {
    if (const ValuePtr now = world_->cluster().Get("ReplicaSet", ns_, NameOf(*set))) *set = *now;
  }

  World* world_;
  const std::string ns_;
  std::vector<Value> all_;
  size_t new_ = std::numeric_limits<size_t>::max();  // unknown until FindNew
};

// One look at a Deployment: what it is and what it has.
class Rollout {
 public:
  Rollout(World* world, Actor* actor, const ObjectName& what, Value deployment)
      : world_(world), actor_(actor), what_(what), d_(std::move(deployment)), sets_(world, what.ns) {
    replicas_ = Replicas(d_);
    const Value* rolling = d_.At({"spec", "strategy", "rollingUpdate"});
    is_rolling_ = TextAt(d_, {"spec", "strategy", "type"}) != "Recreate";
    if (is_rolling_) {
      constexpr int64_t kPart = 4;
      const Value& bounds = validation::OrEmpty(rolling);
      surge_ = ShareOf(bounds.Find("maxSurge"), replicas_, true, (replicas_ + kPart - 1) / kPart);
      unavailable_ = ShareOf(bounds.Find("maxUnavailable"), replicas_, false, replicas_ / kPart);
      if (surge_ == 0 && unavailable_ == 0) unavailable_ = 1;
      unavailable_ = std::min(unavailable_, replicas_);
    } else {
      unavailable_ = 0;
    }
  }

  void Run() {
    sets_.Claim(d_);
    // One that does not select its own sets would make them for ever.
    const bool is_sound =
        Selects(d_.At({"spec", "selector"}), d_.At({"spec", "template", "metadata", "labels"}), false);
    if (IsTerminating(d_) || !is_sound) return Report(false);
    NotePause();
    const bool paused = TrueAt(d_, {"spec", "paused"});
    if (paused || IsScaling()) {
      FindSets(false);
      Scale();
      if (paused) CleanUp();
      return Report(false);
    }
    if (is_rolling_) {
      Roll();
    } else {
      Recreate();
    }
    Report(true);
  }

 private:
  static constexpr char kComponent[] = "deployment-controller";

  void RefreshDeployment() {
    if (const ValuePtr now = world_->cluster().Get("Deployment", what_.ns, what_.name)) d_ = *now;
  }

  // Splits the sets into the one of the present template and the others; makes the former if `create`.
  void FindSets(bool create) {
    sets_.FindNew(d_);
    int64_t last = 0;
    for (size_t i : sets_.Old()) last = std::max(last, AnnotationNumber(sets_[i], kRevision));
    if (sets_.HasNew()) {
      Value set = sets_.New();
      if (AnnotateSet(last + 1, &set)) {
        world_->cluster().Update("ReplicaSet", set);
        sets_.Refresh(sets_.new_index());
      }
      NoteRevision(AnnotationNumber(sets_.New(), kRevision), "FoundNewReplicaSet", "Found new replica set", false);
    } else if (create) {
      MakeNew(last + 1);
    }
  }

  // Writes the annotations of the set of the present template. Returns whether that changed anything.
  bool AnnotateSet(int64_t revision, Value* set) {
    const Value before = validation::OrEmpty(set->At({"metadata", "annotations"}));
    if (const Value* own = d_.At({"metadata", "annotations"})) {
      for (size_t i = 0; i < own->keys.size(); ++i) {
        if (own->keys[i] == "kubectl.kubernetes.io/last-applied-configuration") continue;
        if (!own->keys[i].starts_with("deployment.kubernetes.io/")) Annotate(own->keys[i], own->items[i].text(), set);
      }
    }
    const int64_t old = AnnotationNumber(*set, kRevision);
    if (old < revision) {
      Annotate(kRevision, absl::StrCat(revision), set);
      if (old > 0) {
        const std::string history(AnnotationOf(*set, kHistory));
        Annotate(kHistory, history.empty() ? absl::StrCat(old) : absl::StrCat(history, ",", old), set);
      }
    }
    const int64_t min_ready = NumberAt(d_, {"spec", "minReadySeconds"});
    const bool other = NumberAt(*set, {"spec", "minReadySeconds"}) != min_ready;
    if (other) set->Child("spec").Set("minReadySeconds", Value::Int(min_ready));
    return other || !(validation::OrEmpty(set->At({"metadata", "annotations"})) == before);
  }

  // Writes the revision, and how the set of the present template came to be: if it is new, or nothing is said yet.
  void NoteRevision(int64_t revision, std::string_view reason, std::string_view text, bool is_new) {
    Value d = d_;
    const std::string number = absl::StrCat(revision);
    const bool other = AnnotationOf(d, kRevision) != number;
    if (other) Annotate(kRevision, number, &d);
    const bool first = Deadline() != kNoDeadline && (is_new || ConditionOf(d, "Progressing") == nullptr);
    if (first) {
      Progress("True", reason, absl::StrCat(util::ToAbsl(text), " \"", util::ToAbsl(sets_.NewName()), "\""), &d);
    }
    if (!other && !first) return;
    world_->cluster().UpdateStatus("Deployment", std::move(d));
    RefreshDeployment();
  }

  void MakeNew(int64_t revision) {
    Value set = ReplicaSetOf(d_);
    const int64_t total = sets_.SumOfReplicas();
    const int64_t size =
        is_rolling_ ? std::min(std::max<int64_t>(replicas_ + surge_ - total, 0), replicas_) : replicas_;
    set.Child("spec").Set("replicas", Value::Int(size));
    AnnotateSet(revision, &set);
    AnnotateSize(&set);
    if (Written refused = world_->cluster().Create("ReplicaSet", set)) {
      if (refused->code == 409) return;
      Value d = d_;
      Progress("False", "ReplicaSetCreateError",
               absl::StrCat("Failed to create new replica set \"", util::ToAbsl(NameOf(set)), "\": ", refused->message),
               &d);
      world_->cluster().UpdateStatus("Deployment", std::move(d));
      return RefreshDeployment();
    }
    sets_.AddNew(std::move(set));
    if (size > 0) TellScaled(sets_.New(), 0, size);
    NoteRevision(revision, "NewReplicaSetCreated", "Created new replica set", true);
  }

  void AnnotateSize(Value* set) const {
    Annotate(kDesired, absl::StrCat(replicas_), set);
    Annotate(kMost, absl::StrCat(replicas_ > 0 ? replicas_ + surge_ : 0), set);
  }

  void TellScaled(const Value& set, int64_t from, int64_t to) {
    world_->Record(d_, kComponent, "", "Normal", "ScalingReplicaSet",
                   absl::StrCat("Scaled ", from < to ? "up" : "down", " replica set ", util::ToAbsl(NameOf(set)),
                                " from ", from, " to ", to));
  }

  // Returns whether anything was written.
  bool ScaleTo(size_t i, int64_t size) {
    Value set = sets_[i];
    const int64_t from = Replicas(set);
    set.Child("spec").Set("replicas", Value::Int(size));
    AnnotateSize(&set);
    if (set == sets_[i]) return false;
    if (world_->cluster().Update("ReplicaSet", set)) return true;
    sets_.Refresh(i);
    if (from != size) TellScaled(sets_[i], from, size);
    return from != size;
  }

  bool IsScaling() const {
    return std::any_of(sets_.begin(), sets_.end(), [&](const Value& s) {
      return Replicas(s) > 0 && !AnnotationOf(s, kDesired).empty() && AnnotationNumber(s, kDesired) != replicas_;
    });
  }

  // Spreads a change of replicas over the sets.
  void Scale() {
    std::vector<size_t> active;
    for (size_t i = 0; i < sets_.size(); ++i) {
      if (Replicas(sets_[i]) > 0) active.push_back(i);
    }
    if (active.size() <= 1) {
      if (active.empty() && !sets_.HasNew() && sets_.size() == 0) return;
      ScaleTo(!active.empty() ? active[0] : sets_.HasNew() ? sets_.new_index() : sets_.size() - 1, replicas_);
      return;
    }
    if (sets_.HasNew() && Replicas(sets_.New()) == replicas_ && AnnotationNumber(sets_.New(), kDesired) == replicas_ &&
        Counted(sets_.New(), "availableReplicas") == replicas_) {
      for (size_t i : sets_.Old()) ScaleTo(i, 0);
      return;
    }
    if (!is_rolling_) return;
    ScaleInProportion(active);
  }

  void ScaleInProportion(std::vector<size_t> active) {
    const int64_t allowed = replicas_ > 0 ? replicas_ + surge_ : 0;
    const int64_t change = allowed - sets_.SumOfReplicas();
    std::stable_sort(active.begin(), active.end(), [&](size_t a, size_t b) {
      const int64_t size_a = Replicas(sets_[a]), size_b = Replicas(sets_[b]);
      if (size_a != size_b) return size_a > size_b;
      return change > 0 ? a > b : a < b;
    });
    int64_t done = 0;
    std::vector<int64_t> sizes;
    for (size_t i : active) {
      const int64_t size = Replicas(sets_[i]), most = AnnotationNumber(sets_[i], kMost);
      int64_t share = -size;
      if (replicas_ > 0) {
        const double whole = most > 0 ? static_cast<double>(most) : static_cast<double>(Counted(d_, "replicas"));
        share = std::llround(static_cast<double>(size * (replicas_ + surge_)) / std::max(whole, 1.0)) - size;
      }
      share = change > 0 ? std::min(share, change - done) : std::max(share, change - done);
      if (change == 0) share = 0;
      sizes.push_back(size + share);
      done += share;
    }
    if (change != 0) sizes[0] = std::max<int64_t>(0, sizes[0] + change - done);
    for (size_t k = 0; k < active.size(); ++k) ScaleTo(active[k], sizes[k]);
  }

  void Roll() {
    FindSets(true);
    if (!sets_.HasNew()) return;
    const int64_t now = Replicas(sets_.New()), total = sets_.SumOfReplicas();
    int64_t size = now;
    if (now > replicas_) {
      size = replicas_;
    } else if (now < replicas_ && total < replicas_ + surge_) {
      size = now + std::min(replicas_ + surge_ - total, replicas_ - now);
    }
    if (ScaleTo(sets_.new_index(), size)) return;
    if (ShrinkOld(total)) return;
    if (IsComplete(d_)) CleanUp();
  }

  // Returns whether an old set became smaller: first by its pods that are not available, then by others.
  bool ShrinkOld(int64_t total) {
    const std::vector<size_t> old = sets_.Old();
    const int64_t least = replicas_ - unavailable_;
    const int64_t new_missing = Replicas(sets_.New()) - Counted(sets_.New(), "availableReplicas");
    int64_t room = total - least - new_missing;
    if (room <= 0) return false;
    bool any = false;
    for (size_t i : old) {
      const int64_t sick = Replicas(sets_[i]) - Counted(sets_[i], "availableReplicas");
      const int64_t less = std::min(room, sick);
      if (less <= 0) continue;
      any |= ScaleTo(i, Replicas(sets_[i]) - less);
      room -= less;
    }
    int64_t spare = sets_.Sum([](const Value& s) { return Counted(s, "availableReplicas"); }) - least;
    for (size_t i : old) {
      const int64_t less = std::min(spare, Replicas(sets_[i]));
      if (less <= 0) continue;
      any |= ScaleTo(i, Replicas(sets_[i]) - less);
      spare -= less;
    }
    return any;
  }

  void Recreate() {
    FindSets(false);
    bool shrank = false;
    for (size_t i : sets_.Old()) {
      if (Replicas(sets_[i]) > 0) shrank |= ScaleTo(i, 0);
    }
    if (shrank) return;
    for (size_t i : sets_.Old()) {
      for (const auto& [uid, pod] : world_->PodsOfController(UidOf(sets_[i]))) {
        if (!pod->IsFinished()) return;
      }
    }
    if (!sets_.HasNew()) FindSets(true);
    if (!sets_.HasNew()) return;
    ScaleTo(sets_.new_index(), replicas_);
    if (IsComplete(d_)) CleanUp();
  }

  // Deletes old sets beyond the limit of history.
  void CleanUp() {
    const int64_t limit = NumberAt(d_, {"spec", "revisionHistoryLimit"}, kNoDeadline);
    std::vector<size_t> old = sets_.Old();
    std::erase_if(old, [&](size_t i) { return IsTerminating(sets_[i]); });
    const int64_t many = static_cast<int64_t>(old.size()) - limit;
    if (many <= 0) return;
    std::sort(old.begin(), old.end(), [&](size_t a, size_t b) {
      return AnnotationNumber(sets_[a], kRevision) < AnnotationNumber(sets_[b], kRevision);
    });
    for (int64_t k = 0; k < many; ++k) {
      const Value& set = sets_[old[static_cast<size_t>(k)]];
      if (Counted(set, "replicas") != 0 || Replicas(set) != 0) continue;
      world_->cluster().Delete("ReplicaSet", what_.ns, NameOf(set),
                               {.grace_seconds = {}, .uid = "", .propagation = "Background"});
    }
  }

  // ---- status ----
  int64_t Deadline() const { return NumberAt(d_, {"spec", "progressDeadlineSeconds"}, kNoDeadline); }

  bool IsComplete(const Value& d) const {
    return Counted(d, "updatedReplicas") == replicas_ && Counted(d, "replicas") == replicas_ &&
           Counted(d, "availableReplicas") == replicas_ &&
           Counted(d, "observedGeneration") >= NumberAt(d, {"metadata", "generation"});
  }

  void Progress(std::string_view status, std::string_view reason, const std::string& message, Value* d) const {
    SetCondition({"Progressing", status, reason, message, true}, world_->Now(), d);
  }

  void NotePause() {
    if (Deadline() == kNoDeadline) return;
    const Value* now = ConditionOf(d_, "Progressing");
    const std::string_view reason = now == nullptr ? "" : now->Str("reason");
    if (reason == "ProgressDeadlineExceeded") return;
    const bool paused = TrueAt(d_, {"spec", "paused"}), is_said = reason == "DeploymentPaused";
    if (paused == is_said) return;
    Value d = d_;
    if (paused) {
      Progress("Unknown", "DeploymentPaused", "Deployment is paused", &d);
    } else {
      Progress("Unknown", "DeploymentResumed", "Deployment is resumed", &d);
    }
    world_->cluster().UpdateStatus("Deployment", std::move(d));
    RefreshDeployment();
  }

  void CountInto(Value* d) {
    const int64_t total = sets_.Sum([](const Value& s) { return Counted(s, "replicas"); });
    const int64_t available = sets_.Sum([](const Value& s) { return Counted(s, "availableReplicas"); });
    Value& status = d->Child("status");
    status.Set("observedGeneration", Value::Int(NumberAt(*d, {"metadata", "generation"})));
    SetCount("replicas", total, &status);
    SetCount("updatedReplicas", sets_.HasNew() ? Counted(sets_.New(), "replicas") : 0, &status);
    SetCount("readyReplicas", sets_.Sum([](const Value& s) { return Counted(s, "readyReplicas"); }), &status);
    SetCount("availableReplicas", available, &status);
    // Of pods that are wanted, also while they are being deleted with the Deployment.
    const int64_t wanted = sets_.Sum([](const Value& s) { return NumberAt(s, {"spec", "replicas"}, 1); });
    SetCount("unavailableReplicas", std::max<int64_t>(0, wanted - available), &status);
    status.Set("terminatingReplicas",
               Value::Int(sets_.Sum([](const Value& s) { return Counted(s, "terminatingReplicas"); })));
    if (available >= replicas_ - unavailable_) {
      SetCondition({"Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.", true},
                   world_->Now(), d);
    } else {
      SetCondition(
          {"Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.", true},
          world_->Now(), d);
    }
    const Value* failure = sets_.HasNew() ? ConditionOf(sets_.New(), "ReplicaFailure") : nullptr;
    if (failure != nullptr) {
      SetCondition({"ReplicaFailure", "True", failure->Str("reason"), failure->Str("message"), true}, world_->Now(), d);
    } else {
      RemoveCondition("ReplicaFailure", d);
    }
  }

  void Report(bool rolls) {
    if (!sets_.HasNew()) FindSets(false);
    Value d = d_;
    CountInto(&d);
    if (rolls && Deadline() != kNoDeadline) JudgeProgress(&d);
    WriteStatus(world_, "Deployment", d_, std::move(d));
  }

  void JudgeProgress(Value* d) {
    const Value* found = ConditionOf(*d, "Progressing");
    const Value condition = validation::OrEmpty(found);
    const std::string_view reason = condition.Str("reason");
    if (Counted(*d, "replicas") == Counted(*d, "updatedReplicas") && reason == "NewReplicaSetAvailable") return;
    const std::string who = sets_.HasNew() ? absl::StrCat("ReplicaSet \"", util::ToAbsl(sets_.NewName()), "\"")
                                           : absl::StrCat("Deployment \"", what_.name, "\"");
    auto old_left = [](const Value& v) { return Counted(v, "replicas") - Counted(v, "updatedReplicas"); };
    const absl::Time since = TimeAt(condition, {"lastUpdateTime"});
    if (IsComplete(*d)) {
      Progress("True", "NewReplicaSetAvailable", absl::StrCat(who, " has successfully progressed."), d);
    } else if (Counted(*d, "updatedReplicas") > Counted(d_, "updatedReplicas") || old_left(*d) < old_left(d_) ||
               Counted(*d, "readyReplicas") > Counted(d_, "readyReplicas") ||
               Counted(*d, "availableReplicas") > Counted(d_, "availableReplicas")) {
      Progress("True", "ReplicaSetUpdated", absl::StrCat(who, " is progressing."), d);
      for (Value& c : d->At({"status", "conditions"})->items) {
        if (c.Str("type") == "Progressing") c.Set("lastUpdateTime", Value::String(TimeText(world_->Now())));
      }
    } else if (found != nullptr && reason != "NewReplicaSetAvailable" && reason != "ProgressDeadlineExceeded") {
      const absl::Time end = since + absl::Seconds(Deadline());
      if (end < world_->Now()) {
        Progress("False", "ProgressDeadlineExceeded", absl::StrCat(who, " has timed out progressing."), d);
      } else {
        world_->Enqueue(actor_, what_, end - world_->Now() + absl::Seconds(1));
      }
    }
  }

  World* world_;
  Actor* actor_;
  const ObjectName what_;
  Value d_;
  OwnedSets sets_;
  int64_t replicas_ = 0, surge_ = 0, unavailable_ = 0;
  bool is_rolling_ = true;
};

class Deployments final : public Actor {
 public:
  explicit Deployments(World* world) : world_(world) {}

  void OnChange(const Change& c) override {
    if (c.kind == "Deployment" && !c.gone) return Look(NamespaceOf(*c.object), NameOf(*c.object));
    if (c.kind == "ReplicaSet") {
      const Value* owner = ControllerOf(*c.object);
      if (owner != nullptr && owner->Str("kind") == "Deployment")
        return Look(NamespaceOf(*c.object), owner->Str("name"));
      if (owner == nullptr && !c.gone) {
        world_->cluster().Each("Deployment", NamespaceOf(*c.object), [&](const Value& d) {
          if (Selects(d.At({"spec", "selector"}), c.object->At({"metadata", "labels"}), false)) {
            Look(NamespaceOf(d), NameOf(d));
          }
        });
      }
    }
    // Recreate waits for the end of the last pod of the old sets.
    if (c.kind == "Pod" && c.before != nullptr && c.before->controller_kind == "ReplicaSet" &&
        (c.gone || (c.after->IsFinished() && !c.before->IsFinished()))) {
      const ValuePtr set = world_->cluster().Get("ReplicaSet", c.before->ns, c.before->controller_name);
      const Value* owner = set == nullptr ? nullptr : ControllerOf(*set);
      if (owner != nullptr && owner->Str("kind") == "Deployment") Look(c.before->ns, owner->Str("name"));
    }
  }

  void Sync(const ObjectName& what) override {
    const ValuePtr found = world_->cluster().Get("Deployment", what.ns, what.name);
    if (found != nullptr) Rollout(world_, this, what, *found).Run();
  }

 private:
  void Look(std::string_view ns, std::string_view name) {
    world_->Enqueue(this, {"Deployment", std::string(ns), std::string(name)});
  }
  World* world_;
};

}  // namespace

std::unique_ptr<Actor> NewDeploymentController(World* world) {
  return std::make_unique<Deployments>(world);
}

}  // namespace berth::world::living
