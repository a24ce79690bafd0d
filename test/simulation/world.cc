#include "test/simulation/world.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <cstdio>
#include <utility>

#include "pkg/api/decode.h"
#include "test/simulation/living.h"
#include "test/simulation/scheduler_process.h"
#include "test/simulation/storage.h"

namespace berth::simulation {
namespace {

constexpr absl::Duration kRest = absl::Seconds(300), kLongestUnrest = absl::Hours(2);

bool Ours(const PodView& p) {
  return p.scheduler == "default-scheduler" || p.scheduler == "packing";
}

}  // namespace

World::World(WorldOptions o)
    : options(o), emulated(options.release), network_random(o.seed ^ 0x6e6574), random_(o.seed ^ 0x6b7562) {
  etcd.on_commit = [this](const Commit& c) { OnCommit(c); };
  for (size_t i = 0; i < options.servers; ++i) servers.push_back(std::make_unique<ApiServer>(&etcd));
  processes_.resize(options.schedulers);
  for (size_t i = 0; i < options.schedulers; ++i) loop.In(absl::Milliseconds(10), [this, i] { StartScheduler(i); });
  if (options.claims) CreateStorageClasses(&etcd);
  if (options.living) living_ = std::make_unique<LivingActors>(this);
  loop.In(absl::Seconds(1), [this] { ControllerTurn(); });
  loop.In(absl::Seconds(60), [this] { Bookmarks(); });
}

World::~World() {
  for (auto& [name, alive] : alive_) *alive = false;
}

void World::Fail(std::string what) {
  if (problem_.empty()) problem_ = absl::StrCat(absl::FormatDuration(loop.now()), ": ", what);
}

void World::Record(std::string_view what) {
  const std::string line = absl::StrCat(absl::ToInt64Microseconds(loop.now()), " ", std::string(what));
  for (const char c : line) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  if (verbose) std::fprintf(stderr, "%s\n", line.c_str());
}

void World::RunUntil(absl::Duration end) {
  while (loop.now() < end && problem_.empty()) {
    // Processes that ended are destroyed only between events, when nothing of theirs is on the stack.
    loop.RunUntil(end, [this] { return !problem_.empty() || !graveyard_.empty(); });
    graveyard_.clear();
  }
}

// ---- objects ------------------------------------------------------------------------------------

void World::CreatePod(const PodSpec& spec) {
  const std::string key = "default/" + spec.name;
  if (etcd.Get("pods", key) != nullptr) return;
  etcd.Put("pods", key, PodJson(spec));
}

void World::CreateNode(const NodeSpec& spec) {
  if (etcd.Get("nodes", spec.name) == nullptr) etcd.Put("nodes", spec.name, NodeJson(spec));
}

void World::DeletePod(const std::string& key) {
  ObjectPtr o = etcd.Get("pods", key);
  if (o == nullptr) return;
  if (ReadPod(key, *o).node.empty()) {
    etcd.Delete("pods", key);
    return;
  }
  Edit("pods", key, [](Tree* t) {
    SetText(t, {"metadata", "deletionTimestamp"}, "2017-07-14T02:40:00Z");
    Set(t, {"metadata", "deletionGracePeriodSeconds"}, Node(30));
  });
}

void World::DeleteNode(const std::string& name) {
  if (etcd.Get("nodes", name) != nullptr) etcd.Delete("nodes", name);
}

void World::Edit(const std::string& resource, const std::string& key, const std::function<void(Tree*)>& edit) {
  ObjectPtr o = etcd.Get(resource, key);
  if (o == nullptr) return;
  Tree t = ParseJson(o->json);
  edit(&t);
  const std::string json = WriteJson(t);
  if (json != o->json) etcd.Put(resource, key, json);
}

std::vector<std::string> World::Keys(const std::string& resource) {
  std::vector<std::string> keys;
  for (const auto& [key, o] : etcd.List(resource)) keys.push_back(key);
  return keys;
}

std::string World::RandomKey(const std::string& resource, Random* r) {
  const std::vector<std::string> keys = Keys(resource);
  return keys.empty() ? "" : keys[r->Below(keys.size())];
}

PodView World::View(const api::Pod& pod) const {
  auto it = created_.find(pod.meta.uid);
  PodView v = it == created_.end() ? PodView{} : it->second;
  v.key = pod.meta.name;
  v.node = pod.node_name.string();
  v.deleting = pod.meta.deleting();
  v.gated = false;
  return v;
}

// ---- what the rest of the cluster does ------------------------------------------------------------

void World::OnCommit(const Commit& c) {
  Record(absl::StrCat("commit ", c.version, " ", c.resource, " ", c.key, c.after == nullptr ? " deleted" : ""));
  for (auto& s : servers) {
    const absl::Duration behind =
        loop.now() < lag_until_ ? lag_ * random_.Unit() : absl::Milliseconds(5) * random_.Unit();
    loop.In(behind, [server = s.get(), version = c.version] { server->CatchUp(version); });
  }
  if (c.resource == "nodes" || c.resource == "persistentvolumes" || c.resource == "persistentvolumeclaims")
    last_change_ = loop.now();
  if (c.resource == "pods") {
    const auto frees_or_takes = [&] {
      const PodView &before = ReadPod(c.key, *c.before), &after = ReadPod(c.key, *c.after);
      return before.node != after.node || before.gated != after.gated || before.Finished() != after.Finished();
    };
    if (c.before == nullptr || c.after == nullptr || frees_or_takes()) last_change_ = loop.now();
    if (c.before == nullptr) created_[c.after->uid] = ReadPod(c.key, *c.after);
    if (c.after == nullptr) loop.In(absl::Seconds(120), [this, uid = c.before->uid] { created_.erase(uid); });
    KubeletSees(c);
  }
  if (living_ != nullptr) living_->OnCommit(c);
  if (c.resource == "nodes" && c.before != nullptr &&
      (c.after == nullptr || ReadNode(c.key, *c.before).milli_cpu != ReadNode(c.key, *c.after).milli_cpu)) {
    Excuse();
  }
}

void World::KubeletSees(const Commit& c) {
  if (c.after == nullptr) return;
  const PodView& now = ReadPod(c.key, *c.after);
  const PodView before = c.before == nullptr ? PodView{} : ReadPod(c.key, *c.before);
  const auto still_there = [this, key = c.key, uid = c.after->uid] {
    ObjectPtr o = etcd.Get("pods", key);
    return o != nullptr && o->uid == uid;
  };
  if (!now.node.empty() && before.node.empty()) {
    CheckPlacement(now);
  }
  if (living_ == nullptr && !now.node.empty() && before.node.empty()) {
    loop.In(absl::Milliseconds(random_.Between(300, 3000)), [this, still_there, key = c.key] {
      // A pod that was evicted meanwhile stays so: no kubelet leaves Failed or Succeeded.
      if (!still_there() || ReadPod(key, *etcd.Get("pods", key)).Finished()) return;
      Edit("pods", key, [](Tree* t) { SetText(t, {"status", "phase"}, "Running"); });
    });
    int64_t seconds = 0;
    (void)absl::SimpleAtoi(TextAt(ParseJson(c.after->json), {"metadata", "annotations", "runs-seconds"}), &seconds);
    if (seconds > 0) {
      loop.In(absl::Seconds(seconds), [this, still_there, key = c.key] {
        if (!still_there() || ReadPod(key, *etcd.Get("pods", key)).Finished()) return;
        Edit("pods", key, [](Tree* t) { SetText(t, {"status", "phase"}, "Succeeded"); });
      });
    }
  }
  // Finished pods are deleted by the garbage collector of those that have ended.
  const bool ends = (living_ == nullptr && now.deleting && !before.deleting) || (now.Finished() && !before.Finished());
  if (ends) {
    loop.In(absl::Milliseconds(random_.Between(500, 8000)), [this, still_there, key = c.key] {
      if (still_there()) etcd.Delete("pods", key);
    });
  }
}

void World::SimpleReplicaSetTurn() {
  std::map<std::string, std::vector<std::string>> owned;
  for (const auto& [key, o] : etcd.List("pods")) {
    const PodView& p = ReadPod(key, *o);
    if (!p.owner.empty() && !p.deleting && !p.Finished()) owned[p.owner].push_back(key);
  }
  for (auto& [name, rs] : replica_sets) {
    std::vector<std::string>& pods = owned[name];
    for (int i = static_cast<int>(pods.size()), made = 0; i < rs.replicas && made < 10; ++i, ++made) {
      PodSpec spec = rs.spec;
      spec.name = absl::StrCat(name, "-", ++pods_made_);
      spec.owner = name;
      CreatePod(spec);
    }
    for (; pods.size() > static_cast<size_t>(std::max(0, rs.replicas)); pods.pop_back()) DeletePod(pods.back());
  }
  for (const auto& [name, pods] : owned) {
    if (replica_sets.contains(name)) continue;
    for (const std::string& key : pods) DeletePod(key);
  }
}

void World::ControllerTurn() {
  if (living_ == nullptr) SimpleReplicaSetTurn();
  // The garbage collector: pods of nodes that are gone.
  for (const std::string& key : Keys("pods")) {
    const PodView p = ReadPod(key, *etcd.Get("pods", key));
    if (!p.node.empty() && etcd.Get("nodes", p.node) == nullptr) etcd.Delete("pods", key);
  }
  if (options.claims) StorageTurn(this, &random_);
  loop.In(absl::Seconds(1), [this] { ControllerTurn(); });
}

void World::Bookmarks() {
  for (auto& s : servers) s->SendBookmarks();
  loop.In(absl::Seconds(60), [this] { Bookmarks(); });
}

// ---- schedulers and servers -----------------------------------------------------------------------

void World::StartScheduler(size_t i) {
  if (processes_[i] != nullptr) return;
  const std::string name = absl::StrCat("s", i, "-", ++pods_made_);
  alive_[name] = std::make_shared<bool>(true);
  processes_[i] = std::make_unique<SchedulerProcess>(this, i, name);
  Record(absl::StrCat(name, " starts"));
  Excuse();
}

void World::OnEnded(size_t i, absl::Duration restart_in) {
  if (processes_[i] == nullptr) return;
  Record(absl::StrCat(processes_[i]->name(), " ends"));
  *alive_[processes_[i]->name()] = false;
  alive_.erase(processes_[i]->name());
  processes_[i]->executor().Kill();
  graveyard_.push_back(std::move(processes_[i]));
  loop.In(restart_in, [this, i] { StartScheduler(i); });
  Excuse();
}

void World::Kill(size_t i, absl::Duration down) {
  OnEnded(i, down);
}

void World::Terminate(size_t i) {
  if (processes_[i] != nullptr) processes_[i]->Terminate();
}

void World::Pause(size_t i, absl::Duration how_long) {
  if (processes_[i] != nullptr) processes_[i]->executor().PauseUntil(loop.now() + how_long);
  Excuse();
}

void World::JumpClock(size_t i, absl::Duration by) {
  if (processes_[i] != nullptr) processes_[i]->executor().process_clock().Jump(by);
}

void World::CutOff(size_t i, absl::Duration how_long) {
  if (processes_[i] != nullptr) cut_off_[processes_[i]->name()] = loop.now() + how_long;
  Excuse();
}

void World::StallWatches(size_t i, absl::Duration how_long) {
  if (processes_[i] != nullptr) stalled_[processes_[i]->name()] = loop.now() + how_long;
  Excuse();
}

bool World::IsCutOff(const std::string& process) const {
  auto it = cut_off_.find(process);
  return it != cut_off_.end() && loop.now() < it->second;
}

absl::Duration World::StalledUntil(const std::string& process) const {
  auto it = stalled_.find(process);
  return it == stalled_.end() ? absl::ZeroDuration() : it->second;
}

void World::StopServer(size_t i, absl::Duration down) {
  ApiServer* s = servers[i % servers.size()].get();
  if (!s->up()) return;
  s->Stop();
  loop.In(down, [s] {
    if (!s->up()) s->Start();
  });
}

void World::Lag(absl::Duration lag, absl::Duration how_long) {
  lag_ = lag;
  lag_until_ = loop.now() + how_long;
  Excuse();
}

void World::SetFaults(const Faults& f, absl::Duration how_long) {
  if (settling_) return;
  faults = f;
  const uint64_t turn = ++fault_turn_;
  loop.In(how_long, [this, turn] {
    if (turn == fault_turn_) faults = {};
  });
}

std::string World::LockHolder() const {
  const client::LockKinds kinds = client::KindsOfLock(emulated.form.dialect.lock).value();
  ObjectPtr o = etcd.Get(std::string(kinds.first), "kube-system/kube-scheduler");
  if (o == nullptr) return "";
  const Tree lock = ParseJson(o->json);
  if (kinds.first == "leases") return TextAt(lock, {"spec", "holderIdentity"});
  const std::string record = TextAt(lock, {"metadata", "annotations", "control-plane.alpha.kubernetes.io/leader"});
  return TextAt(ParseJson(record), {"holderIdentity"});
}

// The uid that a binding names; "" when it names none.
static std::string UidIn(const std::string& body) {
  constexpr std::string_view kKey = "\"uid\":\"";
  const size_t at = body.find(kKey);
  if (at == std::string::npos) return "";
  const size_t begin = at + kKey.size();
  return body.substr(begin, body.find('"', begin) - begin);
}

void World::OnSent(const std::string& process, const client::Request& r) {
  if (r.method == client::Method::kGet) return;
  Record(absl::StrCat(process, " sends ", std::string(client::MethodName(r.method)), " ", r.target));
  if (!absl::EndsWith(r.target, "/binding")) return;
  // A pod that was replaced under its name must not get the node of the old one.
  if (!absl::StrContains(r.body, "\"uid\":\""))
    Fail(absl::StrCat(process, " sends ", r.target, " without the pod's uid"));
  // Whatever became of the answer: what a process has bound it asks for no other node.
  if (const auto bound = carried_out_.find({process, UidIn(r.body)}); bound != carried_out_.end()) {
    if (bound->second.body != r.body) Fail(absl::StrCat(process, " sends ", r.target, " again, for another node"));
  }
  const std::string holder = LockHolder();
  if (!holder.empty() && holder != process) {
    Fail(absl::StrCat(process, " sends ", r.target, " while ", holder, " holds the lease"));
  }
}

void World::OnExecuted(const std::string& process, const client::Request& r, int status) {
  if (r.method == client::Method::kGet) return;
  Record(absl::StrCat(process, " ", std::string(client::MethodName(r.method)), " ", r.target, " answered ", status));
  if (status != 201 || !absl::EndsWith(r.target, "/binding")) return;
  ++binds_;
  carried_out_[{process, UidIn(r.body)}] = {r.body, TextAt(ParseJson(r.body), {"target", "name"})};
}

std::string World::CarriedOut(const std::string& process, const std::string& uid) const {
  const auto it = carried_out_.find({process, uid});
  return it == carried_out_.end() ? "" : it->second.node;
}

// ---- checks ---------------------------------------------------------------------------------------

void World::Excuse() {
  excused_until_ = std::max(excused_until_, loop.now() + absl::Seconds(90));
}

void World::CheckPlacement(const PodView& pod) {
  const std::string& node = pod.node;
  ObjectPtr o = etcd.Get("nodes", node);
  // A claim is bound before its pod. That its volume is in the zone of the node cannot be known while the node changes.
  if (std::string why = WhyNotBoundStorage(etcd, pod, o == nullptr ? NodeView{} : ReadNode(node, *o)); !why.empty()) {
    if (loop.now() >= excused_until_ || why != kOtherZone)
      Fail(absl::StrCat("pod ", pod.key, " is bound to ", node, ", and ", why));
  }
  if (o == nullptr || loop.now() < excused_until_) return;
  std::vector<PodView> pods;
  for (const auto& [key, p] : etcd.List("pods")) pods.push_back(ReadPod(key, *p));
  const NodeView& n = ReadNode(node, *o);
  if (!pod.zone.empty() && n.zone != pod.zone && Ours(pod)) {
    Fail(absl::StrCat("pod ", pod.key, " of zone ", pod.zone, " is bound to ", node, " of zone ", n.zone));
  }
  const NodeUse used = Use(pods)[node];
  if (used.milli_cpu > n.milli_cpu || used.memory_mib > n.memory_mib || used.pods > n.pods) {
    Fail(absl::StrCat("node ", node, " is overcommitted: ", used.milli_cpu, "m of ", n.milli_cpu, "m, ",
                      used.memory_mib, " of ", n.memory_mib, " MiB, ", used.pods, " of ", n.pods, " pods"));
  }
}

void World::Settle() {
  settling_ = true;
  faults = {};
  cut_off_.clear();
  stalled_.clear();
  lag_until_ = absl::ZeroDuration();
  for (auto& s : servers) {
    if (!s->up()) s->Start();
    s->Thaw();
  }
  // Rest is when nothing has changed for longer than the longest back-off of a pod. A pod whose status could not be
  // written, because of a fault, waits for that long and half a minute more before that is tried again.
  const recording::CoreConfiguration waits = emulated.Configuration(options.pod_priority, options.claims);
  const absl::Duration quiet = std::max(waits.max_backoff, waits.unschedulable_limit) + absl::Seconds(100);
  // A release that does not count nominated pods lets others take the room that was made for them, and evicts again:
  // for ever where a ReplicaSet replaces what is evicted.
  const bool must_rest = emulated.decides.counts_nominated || !options.pod_priority;
  // Where the end of a pod does not bring others back into the queue, pods that fit only one after another take a
  // back-off each.
  int64_t waiting = 0;
  for (const auto& [key, o] : etcd.List("pods")) {
    const PodView& p = ReadPod(key, *o);
    waiting += p.node.empty() && !p.Finished() ? 1 : 0;
  }
  const absl::Duration longest = kLongestUnrest + waiting * waits.max_backoff;
  const absl::Duration limit = loop.now() + (must_rest ? longest : kLongestUnrest / 4);
  RunUntil(loop.now() + kRest);
  while (problem_.empty() && loop.now() - last_change_ < quiet && loop.now() < limit) RunUntil(last_change_ + quiet);
  if (loop.now() >= limit) {
    if (!must_rest) return;
    Fail(absl::StrCat("no rest within ", absl::FormatDuration(longest), " after the last fault"));
  }
  if (problem_.empty()) CheckAtRest();
}

void World::CheckAtRest() {
  std::vector<PodView> pods;
  for (const auto& [key, o] : etcd.List("pods")) pods.push_back(ReadPod(key, *o));
  std::vector<PodView> counted = pods;  // those nominated to a node count there
  for (PodView& p : counted) {
    if (p.node.empty()) p.node = p.nominated;
  }
  std::vector<NodeView> nodes;
  for (const auto& [name, o] : etcd.List("nodes")) nodes.push_back(ReadNode(name, *o));
  for (const PodView& p : pods) {
    if (!p.node.empty() || p.deleting || p.Finished() || !Ours(p)) continue;
    const bool waits = p.max_skew > 0 && !emulated.spreads;
    std::vector<PodView> others;
    for (const PodView& c : counted) {
      if (c.key != p.key) others.push_back(c);
    }
    const auto use = Use(others);
    for (const auto& [name, o] : etcd.List("nodes")) {
      auto u = use.find(name);
      const NodeView& node = ReadNode(name, *o);
      if (!waits && WhyNot(p, node, u == use.end() ? NodeUse{} : u->second).empty() &&
          !TooUneven(p, node, nodes, others) && WhyNotStorage(&etcd, p, node).empty()) {
        Fail(absl::StrCat("pod ", p.key, " is pending ", absl::FormatDuration(loop.now() - last_change_),
                          " after the last change, and fits on ", name, ": ", etcd.Get("pods", p.key)->json));
      }
    }
    if (p.condition != "False") {
      Fail(absl::StrCat("pod ", p.key, " is pending and its condition PodScheduled is \"", p.condition, "\""));
    }
  }
  size_t leaders = 0;
  for (const auto& p : processes_) {
    if (p == nullptr || !p->leading()) continue;
    ++leaders;
    CheckProcessAtRest(*p, pods);
  }
  if (living_ != nullptr) living_->CheckAtRest();
  if (leaders != 1) Fail(absl::StrCat(leaders, " schedulers lead at rest"));
}

void World::CheckProcessAtRest(const SchedulerProcess& p, const std::vector<PodView>& pods) {
  std::vector<api::PodPtr> all;
  std::vector<api::NodePtr> nodes;
  size_t pending = 0;
  for (const PodView& v : pods) {
    if (v.Finished()) continue;
    pending += v.node.empty() && !v.deleting && Ours(v) ? 1 : 0;
    api::Document d;
    if (d.Parse(etcd.Get("pods", v.key)->json).ok()) all.push_back(api::DecodePod(d.root()).value());
  }
  for (const auto& [name, o] : etcd.List("nodes")) {
    api::Document d;
    if (d.Parse(o->json).ok()) nodes.push_back(api::DecodeNode(d.root()).value());
  }
  const scheduler::Scheduler& s = p.scheduler();
  if (s.pending_pods() != pending) {
    Fail(absl::StrCat(p.name(), " knows ", s.pending_pods(), " pending pods of ", pending));
  }
  if (s.binds_in_flight() != 0) Fail(absl::StrCat(p.name(), " has ", s.binds_in_flight(), " binds in flight at rest"));
  if (p.cache().assumed_count() != 0) Fail(absl::StrCat(p.name(), " has assumed pods at rest"));
  const std::string dump = s.DumpAndCompare(nodes, all);
  if (dump.find("no differences") == std::string::npos)
    Fail(absl::StrCat(p.name(), " differs from the server: ", dump));
  if (const std::string bad = s.CheckInvariants(); !bad.empty()) Fail(absl::StrCat(p.name(), ": ", bad));
}

}  // namespace berth::simulation
