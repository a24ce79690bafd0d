// The scheduler against a simulated API server that is slow, fails, forgets to answer and loses its watch, driven by a
// seed. Whatever happens: no pod gets two nodes, no node more than it has, no pod is lost, and once the faults stop
// everything that fits is bound.
#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <random>
#include <set>

#include "pkg/scheduler/testing/scheduler_world.h"

namespace berth::scheduler {
namespace {

using testing::NewNode;
using testing::NewPod;
using testing::World;

int64_t CpuOf(const api::Pod& p) {
  return p.tmpl->containers[0].requests[0].second.Value();
}

class Simulation final : public Actions {
 public:
  Simulation(uint32_t seed, bool pod_priority) : random_(seed), world_(this, pod_priority) {}

  void Run(int steps) {
    for (int i = 0; i < 4; ++i) AddNode();
    for (int i = 0; i < steps; ++i) {
      Step();
      Check();
    }
    Settle();
  }

  size_t bound_in_all() const { return bound_in_all_; }
  size_t faults() const { return faults_; }

 private:
  // ---- what the scheduler asks for ----
  struct Op {
    RequestId id;
    std::function<Answer(api::PodPtr*)> execute;  // the server's part
    bool write;
  };
  void Push(RequestId id, bool write, std::function<Answer(api::PodPtr*)> f) {
    ops_.push_back({id, std::move(f), write});
  }

  void Bind(RequestId id, const api::PodPtr& pod, Extender*) override {
    // While the outcome of one bind is open, no other node may be asked for.
    auto [it, added] = limbo_.try_emplace(pod->meta.uid, pod->node_name);
    if (!added && it->second != pod->node_name) {
      FAIL("pod " << pod->meta.name << " is bound to " << pod->node_name.str() << " while a bind to "
                  << it->second.str() << " is open");
    }
    ++open_binds_[pod->meta.uid];
    Push(id, true, [this, pod](api::PodPtr*) -> Answer {
      if (--open_binds_[pod->meta.uid] == 0) limbo_.erase(pod->meta.uid);
      auto it2 = pods_.find(pod->meta.name);
      if (it2 == pods_.end() || it2->second->meta.uid != pod->meta.uid) return NotFound(*pod);
      if (!it2->second->node_name.empty() || it2->second->meta.deleting()) {
        return {Answer::Kind::kConflict, "pod is already assigned or being deleted", ""};
      }
      auto p = std::make_shared<api::Pod>(*it2->second);
      p->node_name = pod->node_name;
      p->scheduled = api::PodCondition{"True", "", "", "", ""};
      ++bound_in_all_;
      Store(p);
      return {};
    });
  }
  void UpdatePodCondition(RequestId id, const api::PodPtr& pod, const api::PodCondition& c) override {
    Push(id, true,
         [this, pod, c](api::PodPtr* out) { return Write(*pod, out, [&](api::Pod& p) { p.scheduled = c; }); });
  }
  void SetNominatedNode(RequestId id, const api::PodPtr& pod, Symbol node) override {
    Push(id, true, [this, pod, node](api::PodPtr* out) {
      return Write(*pod, out, [&](api::Pod& p) { p.nominated_node_name = node; });
    });
  }
  void DeletePod(RequestId id, const api::PodPtr& pod) override {
    Push(id, true, [this, pod](api::PodPtr*) -> Answer {
      auto it = pods_.find(pod->meta.name);
      if (it == pods_.end() || it->second->meta.uid != pod->meta.uid) return NotFound(*pod);
      MarkDeleted(pod->meta.name);
      return {};
    });
  }
  void GetPod(RequestId id, const api::Pod& pod) override {
    Push(id, false, [this, name = pod.meta.name](api::PodPtr* out) -> Answer {
      auto it = pods_.find(name);
      if (it == pods_.end()) return {Answer::Kind::kNotFound, "not found", "pods"};
      *out = it->second;
      return {};
    });
  }
  void GetNode(RequestId id, Symbol) override {
    Push(id, false, [](api::PodPtr*) -> Answer { return {}; });
  }
  void UpdateVolume(RequestId, const VolumeBinder::Binding&) override { FAIL("no pod here has volumes"); }
  void RecordEvent(const api::PodPtr&, EventType, std::string_view, std::string) override {}

  // ---- the server ----
  static Answer NotFound(const api::Pod& p) {
    return {Answer::Kind::kNotFound, absl::StrCat("pods \"", p.meta.name, "\" not found"), "pods"};
  }
  Answer Write(const api::Pod& pod, api::PodPtr* out, const std::function<void(api::Pod&)>& change) {
    auto it = pods_.find(pod.meta.name);
    if (it == pods_.end() || it->second->meta.uid != pod.meta.uid) return NotFound(pod);
    if (it->second->meta.resource_version != pod.meta.resource_version) {
      return {Answer::Kind::kConflict, "the object has been modified", "pods"};
    }
    auto p = std::make_shared<api::Pod>(*it->second);
    change(*p);
    Store(p);
    *out = p;
    return {};
  }
  void Store(const std::shared_ptr<api::Pod>& p) {
    p->meta.resource_version = absl::StrCat(++version_);
    pods_[p->meta.name] = p;
    news_.push_back({p->meta.name, p});
  }
  void Remove(std::string name) {  // by value: it may be the key of what is removed
    pods_.erase(name);
    news_.push_back({name, nullptr});
  }
  void MarkDeleted(std::string name) {
    auto p = std::make_shared<api::Pod>(*pods_[name]);
    if (p->meta.deleting()) return;
    p->meta.deletion_seconds = 1;
    const bool unbound = p->node_name.empty();
    Store(p);
    if (unbound) Remove(name);
  }
  void AddNode() {
    const std::string name = absl::StrCat("n", nodes_.size());
    nodes_[name] = 4;
    world_.scheduler->Apply(Change<api::Node>{nullptr, NewNode(name, 4)});
  }

  // ---- the watch ----
  void Show(const std::string& name, const api::PodPtr& now) {
    auto it = shown_.find(name);
    api::PodPtr before = it == shown_.end() ? nullptr : it->second;
    if (before == nullptr && now == nullptr) return;
    if (now == nullptr) {
      shown_.erase(it);
    } else {
      shown_[name] = now;
    }
    world_.scheduler->Apply(Change<api::Pod>{before, now});
  }
  void ShowNext() {
    if (news_.empty()) return;
    auto [name, pod] = news_.front();
    news_.pop_front();
    Show(name, pod);
  }
  void Relist() {
    news_.clear();
    std::set<std::string> names;
    for (const auto& [name, p] : shown_) names.insert(name);
    for (const auto& [name, p] : pods_) names.insert(name);
    for (const std::string& name : names) {
      auto it = pods_.find(name);
      Show(name, it == pods_.end() ? nullptr : api::PodPtr(it->second));
    }
  }

  // ---- one thing after another ----
  uint32_t Dice(uint32_t sides) { return static_cast<uint32_t>(random_() % sides); }

  // Carries out any of the open requests (they travel on many connections) and answers it, or does not.
  void ServeOne(bool faulty) {
    if (ops_.empty()) return;
    const size_t i = Dice(static_cast<uint32_t>(ops_.size()));
    Op op = std::move(ops_[i]);
    ops_.erase(ops_.begin() + static_cast<std::ptrdiff_t>(i));
    const uint32_t luck = faulty ? Dice(12) : 11;
    if (luck < 3) ++faults_;
    Reply r;
    r.id = op.id;
    if (luck == 0) {
      // The answer is lost; what was asked for happens at once, or later, or never.
      const uint32_t fate = Dice(3);
      if (fate == 0) (void)op.execute(&r.pod);
      r.pod = nullptr;
      r.answer = {Answer::Kind::kLost, "EOF", ""};
      if (fate == 1) late_.emplace_back(world_.clock.Steady(), op);
      if (fate == 2) Drop(op);
    } else if (luck == 1) {
      if (Dice(2) == 0) {
        (void)op.execute(&r.pod);
      } else {
        Drop(op);
      }
      r.pod = nullptr;
      r.answer = {Answer::Kind::kServerError, "etcdserver: request timed out", ""};
    } else if (luck == 2) {
      Drop(op);
      r.answer = op.write ? Answer{Answer::Kind::kRefused, "forbidden", ""}
                          : Answer{Answer::Kind::kServerError, "injected", ""};
    } else {
      r.answer = op.execute(&r.pod);
    }
    world_.scheduler->Apply(r);
  }
  // A request that will never be carried out.
  void Drop(const Op& op) {
    std::map<std::string, std::shared_ptr<api::Pod>> none;
    std::swap(pods_, none);
    api::PodPtr ignored;
    (void)op.execute(&ignored);
    std::swap(pods_, none);
  }
  void ServeLate() {
    if (late_.empty()) return;
    Op op = late_.front().second;
    late_.pop_front();
    api::PodPtr ignored;
    (void)op.execute(&ignored);
  }

  // NOLINT(readability-function-size): one case for each thing that can happen.
  void Step() {
    switch (Dice(24)) {
      case 0:
      case 1:
      case 2:
      case 3: {
        testing::PodArgs args;
        args.cpu = 1 + Dice(3);
        args.priority = static_cast<int32_t>(Dice(3));
        if (Dice(8) == 0) args.scheduler = "another";
        auto p = NewPod(absl::StrCat("p", Dice(40)), args);
        if (pods_.contains(p->meta.name)) break;
        p->meta.uid = absl::StrCat("uid-", ++uids_);
        if (Dice(10) == 0) {
          // Somebody else's pod that is placed already, where there is room by the server's books.
          for (const auto& [name, cpu] : nodes_) {
            if (cpu - Used(name) - Reserved(name) >= CpuOf(*p)) {
              p->node_name = Symbol(name);
              break;
            }
          }
          if (p->node_name.empty()) break;
          Store(p);
          Relist();  // so that the scheduler cannot miss it and overcommit for want of news
          break;
        }
        Store(p);
        break;
      }
      case 4: {
        if (pods_.empty()) break;
        auto it = pods_.begin();
        std::advance(it, Dice(static_cast<uint32_t>(pods_.size())));
        MarkDeleted(it->first);
        break;
      }
      case 5:
        for (const auto& [name, p] : pods_) {
          if (!p->meta.deleting() || Dice(2) == 0) continue;
          Remove(name);  // the kubelet is done with it
          break;
        }
        break;
      case 6:
        if (Dice(4) == 0) Relist();
        break;
      case 7:
        world_.clock.Advance(absl::Milliseconds(Dice(3000)));
        while (!late_.empty() && world_.clock.Steady() - late_.front().first > absl::Seconds(50)) ServeLate();
        world_.scheduler->Tick();
        break;
      case 8:
        if (nodes_.size() < 8 && Dice(10) == 0) AddNode();
        break;
      case 9:
        ServeLate();
        break;
      case 10:
      case 11:
      case 12:
      case 13:
        ServeOne(true);
        break;
      case 14:
      case 15:
      case 16:
      case 17:
        ShowNext();
        break;
      default:
        world_.scheduler->ScheduleOne();
    }
  }

  int64_t Used(const std::string& node) const {
    int64_t used = 0;
    for (const auto& [name, p] : pods_) used += p->node_name.str() == node ? CpuOf(*p) : 0;
    return used;
  }
  // What the scheduler holds there for pods that the server does not show there.
  int64_t Reserved(const std::string& node) const {
    int64_t reserved = 0;
    for (const PlacedPod& p : world_.cache.row(world_.cache.FindRow(Symbol(node))).pods) {
      auto it = pods_.find(p.pod->meta.name);
      const bool there =
          it != pods_.end() && it->second->meta.uid == p.pod->meta.uid && it->second->node_name.str() == node;
      if (!there) reserved += CpuOf(*p.pod);
    }
    return reserved;
  }

  void Check() {
    const std::string bad = world_.scheduler->CheckInvariants();
    if (!bad.empty()) FAIL(bad);
    for (const auto& [name, cpu] : nodes_) {
      if (Used(name) > cpu) FAIL("node " << name << " is overcommitted: " << Used(name) << " of " << cpu);
    }
  }

  void Drain() {
    while (!news_.empty() || !ops_.empty()) {
      ShowNext();
      ServeOne(false);
    }
  }

  // No more faults: everything that can be done gets done.
  void Settle() {
    while (!late_.empty()) ServeLate();
    for (int round = 0; round < 400; ++round) {
      Drain();
      for (auto it = pods_.begin(); it != pods_.end();) {
        auto next = std::next(it);
        if (it->second->meta.deleting()) Remove(it->first);
        it = next;
      }
      while (world_.scheduler->ScheduleOne()) {
      }
      Check();
      world_.clock.Advance(absl::Seconds(1));
      world_.scheduler->Tick();
    }
    Drain();
    size_t pending = 0;
    for (const auto& [name, p] : pods_) {
      if (!p->node_name.empty() || p->tmpl->scheduler_name != Symbol("default-scheduler")) continue;
      ++pending;
      for (const auto& [node, cpu] : nodes_) {
        INFO("pod " << name << " of " << CpuOf(*p) << " cpus is pending, " << node << " has " << cpu - Used(node));
        CHECK(cpu - Used(node) < CpuOf(*p));
      }
    }
    CHECK(world_.scheduler->pending_pods() == pending);
    CHECK(world_.scheduler->binds_in_flight() == 0);
    CHECK(world_.cache.assumed_count() == 0);
    std::vector<api::PodPtr> all;
    for (const auto& [name, p] : pods_) all.push_back(p);
    std::vector<api::NodePtr> nodes;
    for (const auto& [name, cpu] : nodes_) nodes.push_back(NewNode(name, cpu));
    CHECK(world_.scheduler->DumpAndCompare(nodes, all).find("no differences") != std::string::npos);
  }

  std::mt19937 random_;
  World world_;
  std::map<std::string, int64_t> nodes_;  // cpus
  std::map<std::string, std::shared_ptr<api::Pod>> pods_;
  uint64_t version_ = 1, uids_ = 0;
  std::deque<std::pair<std::string, api::PodPtr>> news_;  // not shown yet; null: gone
  std::map<std::string, api::PodPtr> shown_;
  std::vector<Op> ops_;
  std::deque<std::pair<absl::Duration, Op>> late_;  // lost at that time, and to be carried out within a minute
  std::map<std::string, Symbol> limbo_;             // binds that may still be carried out, by uid
  std::map<std::string, int> open_binds_;
  size_t bound_in_all_ = 0, faults_ = 0;
};

TEST_CASE("simulation: faults, lost answers and lost watches never lose a pod or overcommit a node") {
  for (const bool pod_priority : {false, true}) {
    size_t bound = 0, faults = 0;
    for (uint32_t seed = 1; seed <= 60; ++seed) {
      INFO("PodPriority " << pod_priority << ", seed " << seed);
      Simulation s(seed, pod_priority);
      s.Run(2000);
      bound += s.bound_in_all();
      faults += s.faults();
    }
    CHECK(bound > 2500);
    CHECK(faults > 2500);
  }
}

}  // namespace
}  // namespace berth::scheduler
