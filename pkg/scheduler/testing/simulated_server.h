// A simulated API server for pods that is slow, fails, loses answers and reports changes late. What it does follows
// from a seed. For tests only.
//
// The scheduler's requests wait until ServeOne() executes one of them, in any order, because requests travel on many
// connections. Changes wait until ShowNext() reports the oldest one to the scheduler, as a watch does.
#pragma once
#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/scheduler/scheduler.h"
#include "pkg/scheduler/scheduler_actions.h"
#include "pkg/util/clock.h"
#include "pkg/util/contract.h"

namespace berth::scheduler::testing {

class SimulatedServer final : public Actions {
 public:
  using Pods = std::map<std::string, std::shared_ptr<api::Pod>>;  // by name

  // `clock` must outlive the server.
  SimulatedServer(uint32_t seed, const util::Clock* clock) : random_(seed), clock_(*clock) {}

  // Sets the functions that get the changes and the answers. REQUIRES: called once, before any other function.
  void Connect(std::function<void(const Change<api::Pod>&)> change, std::function<void(const Reply&)> reply) {
    BERTH_REQUIRES(!change_ && !reply_);
    change_ = std::move(change);
    reply_ = std::move(reply);
  }

  // Returns a random number below `sides`. Tests use it, too, so that a seed determines the whole run.
  uint32_t Dice(uint32_t sides) { return static_cast<uint32_t>(random_() % sides); }

  const Pods& pods() const { return pods_; }
  size_t bound_in_all() const { return bound_in_all_; }  // number of binds that succeeded
  size_t faults() const { return faults_; }              // number of injected faults
  // Returns whether no change waits to be reported and no request to be executed.
  bool idle() const { return news_.empty() && ops_.empty(); }

  // ---- what users and kubelets do ----
  void Store(const std::shared_ptr<api::Pod>& p) {
    p->meta.resource_version = absl::StrCat(++version_);
    pods_[p->meta.name] = p;
    news_.push_back({p->meta.name, p});
  }
  void Remove(std::string name) {  // by value: it may be the key of what is removed
    if (pods_.erase(name) > 0) news_.push_back({name, nullptr});
  }
  // Sets the pod's deletion timestamp. A pod without a node is removed at once.
  void Delete(const std::string& name) {
    auto p = std::make_shared<api::Pod>(*pods_.at(name));
    if (p->meta.deleting()) return;
    p->meta.deletion_seconds = 1;
    const bool unbound = p->node_name.empty();
    Store(p);
    if (unbound) Remove(p->meta.name);
  }
  void DeleteAny() {
    if (pods_.empty()) return;
    Delete(std::string(std::next(pods_.begin(), Dice(static_cast<uint32_t>(pods_.size())))->first));
  }
  // Removes at most one of the terminating pods, as a kubelet does when the pod has ended.
  void EndOne() {
    for (const auto& [name, p] : pods_) {
      if (!p->meta.deleting() || Dice(2) == 0) continue;
      Remove(name);
      return;
    }
  }
  // Removes all terminating pods.
  void EndAll() {
    for (auto it = pods_.begin(); it != pods_.end();) {
      auto next = std::next(it);
      if (it->second->meta.deleting()) Remove(it->first);
      it = next;
    }
  }

  // ---- the watch ----
  // Reports the oldest change.
  void ShowNext() {
    if (news_.empty()) return;
    auto [name, pod] = news_.front();
    news_.pop_front();
    Show(name, pod);
  }
  // Reports the difference between what was reported and all pods as they are now, as a list after a broken watch does.
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

  // ---- requests ----
  // Executes one of the open requests, chosen at random, and answers it. If `faulty`, a quarter of the requests fail in
  // one of several ways.
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
      // The answer is lost. The request is executed now, later or never.
      const uint32_t fate = Dice(3);
      if (fate == 0) (void)op.execute(&r.pod);
      r.pod = nullptr;
      r.answer = {Answer::Kind::kLost, "EOF", ""};
      if (fate == 1) late_.emplace_back(clock_.Steady(), op);
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
    reply_(r);
  }
  // Executes the oldest request whose answer was lost and that was left for later.
  void ServeLate() {
    if (late_.empty()) return;
    Op op = late_.front().second;
    late_.pop_front();
    api::PodPtr ignored;
    (void)op.execute(&ignored);
  }
  void ServeLateSince(absl::Duration age) {
    while (!late_.empty() && clock_.Steady() - late_.front().first > age) ServeLate();
  }
  void ServeAllLate() {
    while (!late_.empty()) ServeLate();
  }
  // Reports changes and executes requests without faults until idle().
  void Drain() {
    while (!idle()) {
      ShowNext();
      ServeOne(false);
    }
  }

  void Bind(RequestId id, const api::PodPtr& pod, Extender*) override {
    // While a bind of a pod may still be executed, the scheduler must not request a bind to another node.
    auto [it, added] = limbo_.try_emplace(pod->meta.uid, pod->node_name);
    if (!added && it->second != pod->node_name) {
      FAIL("pod " << pod->meta.name << " is bound to " << pod->node_name.str() << " while a bind to "
                  << it->second.str() << " is open");
    }
    ++open_binds_[pod->meta.uid];
    Push(id, true, [this, pod](api::PodPtr*) -> Answer {
      if (--open_binds_[pod->meta.uid] == 0) limbo_.erase(pod->meta.uid);
      const auto now = Find(*pod);
      if (now == nullptr) return NotFound(*pod);
      if (!now->node_name.empty() || now->meta.deleting()) {
        return {Answer::Kind::kConflict, "pod is already assigned or being deleted", ""};
      }
      auto p = std::make_shared<api::Pod>(*now);
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
  void SetNominatedNode(RequestId id, const api::PodPtr& pod, util::Symbol node) override {
    Push(id, true, [this, pod, node](api::PodPtr* out) {
      return Write(*pod, out, [&](api::Pod& p) { p.nominated_node_name = node; });
    });
  }
  void DeletePod(RequestId id, const api::PodPtr& pod) override {
    Push(id, true, [this, pod](api::PodPtr*) -> Answer {
      if (Find(*pod) == nullptr) return NotFound(*pod);
      Delete(pod->meta.name);
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
  void GetNode(RequestId id, util::Symbol) override {
    Push(id, false, [](api::PodPtr*) -> Answer { return {}; });
  }
  void UpdateVolume(RequestId, const VolumeBinder::Binding&) override { FAIL("no pod here has volumes"); }
  void RecordEvent(const api::PodPtr&, EventType, std::string_view, std::string) override {}

 private:
  struct Op {
    RequestId id;
    std::function<Answer(api::PodPtr*)> execute;  // changes the server's pods and returns the answer
    bool write;                                   // false for reads
  };
  void Push(RequestId id, bool write, std::function<Answer(api::PodPtr*)> f) {
    ops_.push_back({id, std::move(f), write});
  }
  // Drops a request. It is executed without any pods, so that it changes nothing but the bookkeeping of open binds.
  void Drop(const Op& op) {
    Pods none;
    std::swap(pods_, none);
    api::PodPtr ignored;
    (void)op.execute(&ignored);
    std::swap(pods_, none);
  }
  // Returns the pod as it is now, or null when it is gone or another pod has its name.
  std::shared_ptr<api::Pod> Find(const api::Pod& pod) const {
    auto it = pods_.find(pod.meta.name);
    return it == pods_.end() || it->second->meta.uid != pod.meta.uid ? nullptr : it->second;
  }
  static Answer NotFound(const api::Pod& p) {
    return {Answer::Kind::kNotFound, absl::StrCat("pods \"", p.meta.name, "\" not found"), "pods"};
  }
  // Changes the pod unless it has been modified since the caller read it.
  Answer Write(const api::Pod& pod, api::PodPtr* out, const std::function<void(api::Pod&)>& change) {
    const auto now = Find(pod);
    if (now == nullptr) return NotFound(pod);
    if (now->meta.resource_version != pod.meta.resource_version) {
      return {Answer::Kind::kConflict, "the object has been modified", "pods"};
    }
    auto p = std::make_shared<api::Pod>(*now);
    change(*p);
    Store(p);
    *out = p;
    return {};
  }
  // Reports the pod as it is now to the scheduler.
  void Show(const std::string& name, const api::PodPtr& now) {
    auto it = shown_.find(name);
    api::PodPtr before = it == shown_.end() ? nullptr : it->second;
    if (before == nullptr && now == nullptr) return;
    if (now == nullptr) {
      shown_.erase(it);
    } else {
      shown_[name] = now;
    }
    change_({before, now});
  }

  std::mt19937 random_;
  const util::Clock& clock_;
  std::function<void(const Change<api::Pod>&)> change_;
  std::function<void(const Reply&)> reply_;
  Pods pods_;
  uint64_t version_ = 1;
  std::deque<std::pair<std::string, api::PodPtr>> news_;  // changes that are not reported yet; null: the pod is gone
  std::map<std::string, api::PodPtr> shown_;              // the pods as they were reported last
  std::vector<Op> ops_;                                   // open requests
  std::deque<std::pair<absl::Duration, Op>> late_;        // requests to execute later, with the time of the lost answer
  std::map<std::string, util::Symbol> limbo_;             // by uid, the node of binds that may still be executed
  std::map<std::string, int> open_binds_;                 // by uid, how many binds may still be executed
  size_t bound_in_all_ = 0, faults_ = 0;
};

}  // namespace berth::scheduler::testing
