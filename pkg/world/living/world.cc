// Invariant: due_ and queued_ have the same entries, one for each actor and object; tries_ of them are tries.
#include "pkg/world/living/world.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <utility>

#include "pkg/api/decode.h"
#include "pkg/util/status.h"

namespace berth::world::living {
namespace {

constexpr size_t kMostEventBuckets = 100'000;

std::string KeyOf(std::string_view ns, std::string_view name) {
  return absl::StrCat(util::ToAbsl(ns), "/", util::ToAbsl(name));
}

// Returns the group of a pod in by_controller_: its controller's uid, or what no uid looks like.
std::string GroupOf(std::string_view controller_uid, std::string_view ns) {
  return controller_uid.empty() ? KeyOf("", ns) : std::string(controller_uid);
}

// Returns whether a pod has the same places in the indexes as before.
bool AreInSameGroups(const PodFacts& a, const PodFacts& b) {
  return a.uid == b.uid && a.ns == b.ns && a.node == b.node && a.controller_uid == b.controller_uid;
}

}  // namespace

// The cluster, with a note whether it has refused a write for a reason that passes. Events are no work of anybody.
class World::Watched final : public Cluster {
 public:
  explicit Watched(Cluster* to) : to_(to) {}
  bool TakeRefused() { return std::exchange(refused_, false); }

  ValuePtr Get(std::string_view kind, std::string_view ns, std::string_view name) const override {
    return to_->Get(kind, ns, name);
  }
  void Each(std::string_view kind, std::string_view ns, const std::function<void(const Value&)>& f) const override {
    to_->Each(kind, ns, f);
  }
  void EachOf(std::string_view kind, const std::function<void(const Value&)>& f) const override {
    to_->EachOf(kind, f);
  }
  bool Serves(std::string_view kind) const override { return to_->Serves(kind); }
  void RenewLease(std::string_view node) override { to_->RenewLease(node); }
  // What exists already stays so; that is no conflict that passes.
  Written Create(std::string_view kind, Value object, Value* stored) override {
    Written refused = to_->Create(kind, std::move(object), stored);
    if (kind != "Event") Note(refused, false);
    return refused;
  }
  Written Update(std::string_view kind, Value object) override { return Note(to_->Update(kind, std::move(object))); }
  Written UpdateStatus(std::string_view kind, Value object) override {
    return Note(to_->UpdateStatus(kind, std::move(object)));
  }
  Written Delete(std::string_view kind, std::string_view ns, std::string_view name, const DeleteHow& how) override {
    return Note(to_->Delete(kind, ns, name, how));
  }
  Written Bind(std::string_view ns, std::string_view pod, std::string_view node) override {
    return Note(to_->Bind(ns, pod, node));
  }

 private:
  Written Note(Written refused, bool conflicts_pass = true) {
    constexpr int kConflict = 409, kTooMany = 429, kServerFails = 500;
    if (refused && (refused->code >= kServerFails || refused->code == kTooMany ||
                    (conflicts_pass && refused->code == kConflict))) {
      refused_ = true;
    }
    return refused;
  }

  Cluster* to_;
  bool refused_ = false;
};

World::World(Cluster* cluster, const util::Clock* clock, const Rules& rules)
    : cluster_(std::make_unique<Watched>(cluster)), clock_(clock), rules_(rules) {}
World::~World() = default;

Cluster& World::cluster() {
  return *cluster_;
}

PodFacts FactsOf(const Value& pod) {
  PodFacts f;
  f.ns = NamespaceOf(pod);
  f.name = NameOf(pod);
  f.uid = UidOf(pod);
  f.node = TextAt(pod, {"spec", "nodeName"});
  f.phase = TextAt(pod, {"status", "phase"});
  f.ip = TextAt(pod, {"status", "podIP"});
  if (const Value* c = ControllerOf(pod)) {
    f.controller_kind = c->Str("kind");
    f.controller_name = c->Str("name");
    f.controller_uid = c->Str("uid");
  }
  if (const Value* labels = pod.At({"metadata", "labels"})) f.labels = *labels;
  f.hash = f.labels.Str("pod-template-hash");
  f.revision = f.labels.Str("controller-revision-hash");
  f.terminating = IsTerminating(pod);
  f.started = !TextAt(pod, {"status", "startTime"}).empty();
  f.created = TimeAt(pod, {"metadata", "creationTimestamp"});
  if (const Value* ready = ConditionOf(pod, "Ready"); ready != nullptr && ready->Str("status") == "True") {
    f.ready = true;
    f.ready_since = TimeAt(*ready, {"lastTransitionTime"});
  }
  if (std::string_view cost = AnnotationOf(pod, "controller.kubernetes.io/pod-deletion-cost"); !cost.empty()) {
    if (!absl::SimpleAtoi(util::ToAbsl(cost), &f.deletion_cost)) f.deletion_cost = 0;
  }
  if (std::string_view index = AnnotationOf(pod, "batch.kubernetes.io/job-completion-index"); !index.empty()) {
    if (!absl::SimpleAtoi(util::ToAbsl(index), &f.index)) f.index = -1;
  }
  const Value* terms = pod.At(
      {"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
  if (terms != nullptr && terms->items.size() == 1) {
    const Value* fields = terms->items[0].Find("matchFields");
    const Value* values = fields != nullptr && fields->items.size() == 1 ? fields->items[0].Find("values") : nullptr;
    if (values != nullptr && values->items.size() == 1) f.pinned = values->items[0].text();
  }
  f.is_tracked = HasFinalizer(pod, "batch.kubernetes.io/job-tracking");
  for (std::string_view list : {"containerStatuses", "initContainerStatuses"}) {
    const Value* containers = pod.At({"status", list});
    if (containers == nullptr) continue;
    for (const Value& c : containers->items) f.restarts += NumberAt(c, {"restartCount"});
  }
  return f;
}

const World::PodSet& World::Look(const absl::flat_hash_map<std::string, PodSet>& in, std::string_view key) {
  static const auto* none = new PodSet;
  auto it = in.find(util::ToAbsl(key));
  return it == in.end() ? *none : it->second;
}

const World::PodSet& World::PodsWithoutController(std::string_view ns) const {
  return Look(by_controller_, GroupOf("", ns));
}

PodFactsPtr World::Pod(std::string_view ns, std::string_view name) const {
  auto it = pods_.find(KeyOf(ns, name));
  return it == pods_.end() ? nullptr : it->second;
}

PodFactsPtr World::IndexPod(const Value& pod, bool gone, PodFactsPtr* before) {
  const std::string key = KeyOf(NamespaceOf(pod), NameOf(pod));
  auto remove = [](absl::flat_hash_map<std::string, PodSet>* from, const std::string& group, const std::string& uid) {
    auto it = from->find(group);
    if (it == from->end()) return;
    it->second.erase(uid);
    if (it->second.empty()) from->erase(it);
  };
  const PodFactsPtr facts = gone ? nullptr : std::make_shared<const PodFacts>(FactsOf(pod));
  if (auto it = pods_.find(key); it != pods_.end()) {
    *before = it->second;
    const PodFacts& old = **before;
    if (facts == nullptr || !AreInSameGroups(old, *facts)) {
      remove(&by_controller_, GroupOf(old.controller_uid, old.ns), old.uid);
      remove(&by_node_, old.node, old.uid);
      remove(&by_namespace_, old.ns, old.uid);
    }
    if (gone) pods_.erase(it);
  }
  if (gone) return nullptr;
  pods_[key] = facts;
  by_controller_[GroupOf(facts->controller_uid, facts->ns)][facts->uid] = facts;
  if (!facts->node.empty()) by_node_[facts->node][facts->uid] = facts;
  by_namespace_[facts->ns][facts->uid] = facts;
  return facts;
}

void World::IndexOwners(std::string_view kind, const Value& object, bool gone) {
  const std::string_view uid = UidOf(object);
  const Value& owners = validation::OrEmpty(object.At({"metadata", "ownerReferences"}));
  const auto same = by_uid_.find(util::ToAbsl(uid));
  if (!gone && same != by_uid_.end() && same->second.owners == owners) return;
  ObjectName name{std::string(kind), std::string(NamespaceOf(object)), std::string(NameOf(object))};
  if (auto it = owners_.find(name); it != owners_.end()) {
    for (const std::string& owner : it->second) {
      auto d = dependents_.find(util::ToAbsl(owner));
      if (d == dependents_.end()) continue;
      d->second.erase(name);
      if (d->second.empty()) dependents_.erase(d);
    }
    owners_.erase(it);
  }
  if (gone) {
    if (same != by_uid_.end()) by_uid_.erase(same);
    return;
  }
  by_uid_[std::string(uid)] = {name, owners};
  if (owners.empty()) return;
  std::vector<std::string>& uids = owners_[name];
  for (const Value& o : owners.items) {
    uids.emplace_back(o.Str("uid"));
    dependents_[uids.back()].insert(name);
  }
}

void World::Changed(std::string_view kind, ValuePtr object, bool gone) {
  changed_at_ = sequence_;
  Change change{.kind = kind, .object = std::move(object), .gone = gone};
  const Value& v = *change.object;
  change.is_new = !gone && ByUid(UidOf(v)) == nullptr;
  IndexOwners(kind, v, gone);
  if (kind == "Pod") {
    change.after = IndexPod(v, gone, &change.before);
  } else if (kind == "Node") {
    const std::string name(NameOf(v));
    if (gone) {
      nodes_.erase(name);
    } else {
      api::Document document;
      if (document.Parse(validation::ToJson(v)).ok()) {
        if (auto node = api::DecodeNode(document.root()); node.ok()) nodes_[name] = *std::move(node);
      }
    }
  }
  for (const auto& actor : actors_) actor->OnChange(change);
}

void World::Enqueue(Actor* actor, const ObjectName& what, absl::Duration delay) {
  Add({actor, what, false}, delay);
}

void World::EnqueueTry(Actor* actor, const ObjectName& what, absl::Duration delay) {
  Add({actor, what, true}, delay);
}

void World::Add(const Work& work, absl::Duration delay) {
  const Due due{Steady() + std::max(delay, absl::ZeroDuration()), ++sequence_};
  auto [it, is_new] = queued_.try_emplace(work, due);
  bool is_try = work.is_try;
  if (!is_new) {
    auto known = due_.find(it->second);
    tries_ -= known->second.is_try;
    is_try = is_try && known->second.is_try;
    if (it->second.first <= due.first) {
      known->second.is_try = is_try;
      tries_ += is_try;
      return;
    }
    due_.erase(known);
    it->second = due;
  }
  const bool earliest = due_.empty() || due < due_.begin()->first;
  due_.emplace(due, Work{work.actor, work.what, is_try});
  tries_ += is_try;
  if (earliest && earlier_) earlier_();
}

bool World::IsSettled() const {
  return tries_ == due_.size() &&
         std::all_of(due_.begin(), due_.end(), [this](const auto& work) { return work.first.second > changed_at_; });
}

std::optional<absl::Duration> World::NextDue() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first.first;
}

size_t World::RunDue(size_t most) {
  size_t done = 0;
  for (; done < most && !due_.empty() && due_.begin()->first.first <= Steady(); ++done) {
    const Work work = std::move(due_.begin()->second);
    due_.erase(due_.begin());
    tries_ -= work.is_try;
    queued_.erase(work);
    work.actor->Sync(work.what);
    DoAgainIfRefused(work);
  }
  return done;
}

void World::DoAgainIfRefused(const Work& work) {
  constexpr absl::Duration kFirst = absl::Milliseconds(100), kLongest = absl::Seconds(30);
  constexpr int kMostDoublings = 10;
  const bool refused = cluster_->TakeRefused();
  if (!refused && refused_.empty()) return;
  const std::pair<Actor*, ObjectName> key(work.actor, work.what);
  if (!refused) {
    refused_.erase(key);
    return;
  }
  const int before = std::min(refused_[key]++, kMostDoublings);
  // What the work itself has enqueued for now would be refused again.
  if (auto it = queued_.find(work); it != queued_.end()) {
    const auto due = due_.find(it->second);
    tries_ -= due->second.is_try;
    due_.erase(due);
    queued_.erase(it);
  }
  EnqueueTry(work.actor, work.what, std::min(kFirst * (1 << before), kLongest));
}

std::vector<ObjectName> World::Dependents(std::string_view uid) const {
  auto it = dependents_.find(util::ToAbsl(uid));
  if (it == dependents_.end()) return {};
  return {it->second.begin(), it->second.end()};
}

const ObjectName* World::ByUid(std::string_view uid) const {
  auto it = by_uid_.find(util::ToAbsl(uid));
  return it == by_uid_.end() ? nullptr : &it->second.name;
}

bool World::Bucket::Take(double most, double per_second, absl::Duration now) {
  left = std::min(most, left + per_second * absl::ToDoubleSeconds(now - at));
  at = now;
  if (left < 1) return false;
  left -= 1;
  return true;
}

void World::Record(const Value& about, std::string_view component, std::string_view host, std::string_view type,
                   std::string_view reason, const std::string& message) {
  if (!writes_events_) return;
  constexpr double kAtOnce = 25, kPerSecond = 1.0 / 300, kAllAtOnce = 2000, kAllPerSecond = 200;
  const std::string source = absl::StrCat(util::ToAbsl(component), "/", util::ToAbsl(UidOf(about)));
  if (event_buckets_.size() > kMostEventBuckets) event_buckets_.clear();
  auto [bucket, is_new] = event_buckets_.try_emplace(source, Bucket{kAtOnce, Steady()});
  if (!bucket->second.Take(kAtOnce, kPerSecond, Steady()) || !all_events_.Take(kAllAtOnce, kAllPerSecond, Steady()))
    return;
  const std::string ns(NamespaceOf(about).empty() ? "default" : NamespaceOf(about)), now = TimeText(Now());
  Value event = Value::Object();
  Value& meta = event.Child("metadata");
  meta.SetAll({{"name", absl::StrFormat("%s.%016x", util::ToAbsl(NameOf(about)),
                                        absl::ToUnixNanos(Now()) + static_cast<int64_t>(++events_))},
               {"namespace", ns}});
  Value& object = event.Child("involvedObject");
  object.SetAll({{"kind", about.Str("kind")}, {"apiVersion", about.Str("apiVersion")}, {"name", NameOf(about)}});
  if (!NamespaceOf(about).empty()) object.Set("namespace", Value::String(ns));
  object.Set("uid", Value::String(UidOf(about)));
  event.SetAll({{"type", type}, {"reason", reason}, {"message", message}});
  Value& from = event.Child("source");
  from.Set("component", Value::String(component));
  if (!host.empty()) from.Set("host", Value::String(host));
  event.SetAll({{"firstTimestamp", now},
                {"lastTimestamp", now},
                {"count", 1},
                {"reportingComponent", component},
                {"reportingInstance", host}});
  cluster_->Create("Event", std::move(event), nullptr);
}

}  // namespace berth::world::living
