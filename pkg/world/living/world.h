// The world around an API server: what controllers and kubelets do, as state machines over an injected clock.
//
// Whoever keeps the objects tells of each change (Changed), and calls RunDue when something is due (NextDue). Actors
// read objects and write them through Cluster; a write's change is told before the write returns. Work is done in the
// order of its time, then of its becoming due, so that equal histories have equal results. Thread-safety: one thread.
#pragma once
#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>
#include <absl/hash/hash.h>
#include <absl/time/time.h>

#include <compare>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/decode.h"
#include "pkg/util/clock.h"
#include "pkg/world/living/cluster.h"
#include "pkg/world/living/fields.h"

namespace berth::world::living {

// What actors often ask about a pod.
struct PodFacts {
  std::string ns, name, uid, node, phase, ip;
  std::string controller_kind, controller_name, controller_uid;
  Value labels;
  std::string hash, revision;  // the labels pod-template-hash and controller-revision-hash
  bool ready = false, terminating = false, started = false;
  absl::Time created, ready_since = absl::InfiniteFuture();
  int64_t deletion_cost = 0, restarts = 0;
  int64_t index = -1;       // of a pod of an Indexed Job
  bool is_tracked = false;  // has the finalizer of Jobs

  std::string pinned;  // the node that its affinity names, as DaemonSets have it

  const std::string& TargetNode() const { return node.empty() ? pinned : node; }
  bool IsFinished() const { return phase == "Succeeded" || phase == "Failed"; }
  bool IsActive() const { return !terminating && !IsFinished(); }
  // Returns whether the pod has been ready for `seconds`.
  bool IsAvailable(int64_t seconds, absl::Time now) const {
    return ready && (seconds == 0 || ready_since + absl::Seconds(seconds) <= now);
  }
};
using PodFactsPtr = std::shared_ptr<const PodFacts>;

struct ObjectName {
  std::string kind, ns, name;
  friend auto operator<=>(const ObjectName&, const ObjectName&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ObjectName& o) {
    return H::combine(std::move(h), o.kind, o.ns, o.name);
  }
};

struct Change {
  std::string_view kind;
  ValuePtr object{};  // the new state; the last one if `gone`
  bool is_new = false, gone = false;
  PodFactsPtr before{}, after{};  // of pods; `before` is null if the pod is new, `after` if it is gone
};

class Actor {
 public:
  virtual ~Actor() = default;
  // Must not write.
  virtual void OnChange(const Change& c) = 0;
  // Does what is due for the object that the actor has enqueued.
  virtual void Sync(const ObjectName& what) = 0;
};

class World {
 public:
  // Both must outlive the world.
  World(Cluster* cluster, const util::Clock* clock, const Rules& rules);
  ~World();
  void Add(std::unique_ptr<Actor> actor) { actors_.push_back(std::move(actor)); }

  // ---- for whoever keeps the objects ----
  // `object` is the last state if `gone`. Kinds that no actor reads need not be told.
  void Changed(std::string_view kind, ValuePtr object, bool gone);
  // Does at most `most` things that are due, and returns how many.
  size_t RunDue(size_t most);
  // Returns when the next thing is due on the steady clock.
  std::optional<absl::Duration> NextDue() const;
  // Called when NextDue has become earlier.
  void OnEarlier(std::function<void()> f) { earlier_ = std::move(f); }
  // Returns whether nothing will happen until somebody else changes an object: all that is due is tries (EnqueueTry),
  // and each was made since the last change.
  bool IsSettled() const;
  // Nobody reads the events of this cluster, so none are written.
  void WriteNoEvents() { writes_events_ = false; }
  // An owner with this uid is there, although nobody has told of it: what names it as its owner is no garbage.
  void PresumeThere(std::string uid) { presumed_.insert(std::move(uid)); }

  // ---- for actors ----
  // When it refuses a write of an actor's work for a reason that passes (a conflict, a server that cannot), the work is
  // done again later: after 0.1 s, and then after twice as long each time, up to 30 s.
  Cluster& cluster();
  const Rules& rules() const { return rules_; }
  absl::Time Now() const { return clock_->Wall(); }
  absl::Duration Steady() const { return clock_->Steady(); }
  // Calls actor->Sync(what) after the delay, or earlier if it has been enqueued before.
  void Enqueue(Actor* actor, const ObjectName& what, absl::Duration delay = absl::ZeroDuration());
  // The same for what was refused or has failed and is tried again. As long as nothing changes, nothing comes of it.
  void EnqueueTry(Actor* actor, const ObjectName& what, absl::Duration delay);

  // Pods by uid.
  using PodSet = absl::btree_map<std::string, PodFactsPtr>;
  const PodSet& PodsOfController(std::string_view uid) const { return Look(by_controller_, uid); }
  // Pods of the namespace without a controller.
  const PodSet& PodsWithoutController(std::string_view ns) const;
  const PodSet& PodsOfNode(std::string_view node) const { return Look(by_node_, node); }
  const PodSet& PodsIn(std::string_view ns) const { return Look(by_namespace_, ns); }
  PodFactsPtr Pod(std::string_view ns, std::string_view name) const;
  // Decoded nodes by name.
  const absl::btree_map<std::string, api::Ptr<api::Node>>& nodes() const { return nodes_; }

  // Objects that name this uid among their owners.
  std::vector<ObjectName> Dependents(std::string_view uid) const;
  const ObjectName* ByUid(std::string_view uid) const;
  bool IsPresumed(std::string_view uid) const { return presumed_.contains(uid); }

  // Writes an event about an object, within the limits of what one source may write: 25 at once about one object, then
  // one in five minutes; all together 2,000 at once, then 200 a second.
  void Record(const Value& about, std::string_view component, std::string_view host, std::string_view type,
              std::string_view reason, const std::string& message);

 private:
  static const PodSet& Look(const absl::flat_hash_map<std::string, PodSet>& in, std::string_view key);
  PodFactsPtr IndexPod(const Value& pod, bool gone, PodFactsPtr* before);
  void IndexOwners(std::string_view kind, const Value& object, bool gone);

  struct Work {
    Actor* actor = nullptr;
    ObjectName what;
    bool is_try = false;
    template <typename H>
    friend H AbslHashValue(H h, const Work& w) {
      return H::combine(std::move(h), w.actor, w.what);
    }
  };
  struct SameWork {
    bool operator()(const Work& a, const Work& b) const { return a.actor == b.actor && a.what == b.what; }
  };
  void Add(const Work& work, absl::Duration delay);
  using Due = std::pair<absl::Duration, uint64_t>;
  struct Bucket {
    double left = 0;
    absl::Duration at;
    bool Take(double most, double per_second, absl::Duration now);
  };

  class Watched;
  void DoAgainIfRefused(const Work& work);

  std::unique_ptr<Watched> cluster_;
  const util::Clock* clock_;
  const Rules rules_;
  std::vector<std::unique_ptr<Actor>> actors_;
  std::function<void()> earlier_;

  absl::btree_map<Due, Work> due_;
  absl::flat_hash_map<Work, Due, absl::Hash<Work>, SameWork> queued_;
  absl::btree_map<std::pair<Actor*, ObjectName>, int> refused_;  // how often in a row
  uint64_t sequence_ = 0, changed_at_ = 0;                       // changed_at_: sequence_ at the last change
  size_t tries_ = 0;                                             // of due_
  bool writes_events_ = true;
  absl::btree_set<std::string, std::less<>> presumed_;

  absl::flat_hash_map<std::string, PodFactsPtr> pods_;  // by namespace/name
  absl::flat_hash_map<std::string, PodSet> by_controller_, by_node_, by_namespace_;
  absl::btree_map<std::string, api::Ptr<api::Node>> nodes_;
  struct Known {
    ObjectName name;
    Value owners;
  };
  absl::flat_hash_map<std::string, Known> by_uid_;
  absl::flat_hash_map<std::string, absl::btree_set<ObjectName>> dependents_;
  absl::btree_map<ObjectName, std::vector<std::string>> owners_;
  absl::flat_hash_map<std::string, Bucket> event_buckets_;
  Bucket all_events_{2000, {}};
  uint64_t events_ = 0;
};

// Makes a PodFacts of a pod.
PodFacts FactsOf(const Value& pod);

}  // namespace berth::world::living
