// Runs the scheduler against a simulated API server that is slow, fails, loses answers and breaks its watch, as a seed
// determines. In every run, no pod is bound to two nodes, no node gets more pods than it has room for, no pod is lost,
// and once the faults stop every pod that fits is bound.
#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "pkg/scheduler/reference/random_cluster.h"
#include "pkg/scheduler/testing/running_scheduler.h"
#include "pkg/scheduler/testing/simulated_server.h"

namespace berth::scheduler {
namespace {

using testing::NewNode;
using testing::NewPod;

int64_t CpuOf(const api::Pod& p) {
  return p.tmpl->containers[0].requests[0].second.Value();
}

class Simulation {
 public:
  Simulation(uint32_t seed, bool pod_priority) : server_(seed, &clock_), world_(&server_, pod_priority) {
    server_.Connect([this](const Change<api::Pod>& c) { world_.scheduler->Apply(c); },
                    [this](const Reply& r) { world_.scheduler->Apply(r); });
  }

  void Run(int steps) {
    for (int i = 0; i < 4; ++i) AddNode();
    for (int i = 0; i < steps; ++i) {
      Step();
      Check();
    }
    Settle();
  }

  const testing::SimulatedServer& server() const { return server_; }

 private:
  void AddNode() {
    const std::string name = absl::StrCat("n", nodes_.size());
    nodes_[name] = 4;
    world_.scheduler->Apply(Change<api::Node>{nullptr, NewNode(name, 4)});
  }
  void Advance(absl::Duration d) {
    clock_.Advance(d);
    world_.clock.Advance(d);
  }

  void AddPod() {
    testing::PodArgs args;
    args.cpu = 1 + server_.Dice(3);
    args.priority = static_cast<int32_t>(server_.Dice(3));
    if (server_.Dice(8) == 0) args.scheduler = "another";
    auto p = NewPod(absl::StrCat("p", server_.Dice(40)), args);
    if (server_.pods().contains(p->meta.name)) return;
    p->meta.uid = absl::StrCat("uid-", ++uids_);
    if (server_.Dice(10) != 0) return server_.Store(p);
    // A pod of another scheduler that is placed already, on a node that has room for it.
    for (const auto& [name, cpu] : nodes_) {
      if (cpu - Used(name) - Reserved(name) < CpuOf(*p)) continue;
      p->node_name = util::Symbol(name);
      server_.Store(p);
      server_.Relist();  // otherwise the scheduler could overcommit the node because it does not know the pod
      return;
    }
  }

  void Step() {
    const uint32_t what = server_.Dice(24);
    if (what < 4) {
      AddPod();
    } else if (what == 4) {
      server_.DeleteAny();
    } else if (what == 5) {
      server_.EndOne();
    } else if (what == 6) {
      if (server_.Dice(4) == 0) server_.Relist();
    } else if (what == 7) {
      Advance(absl::Milliseconds(server_.Dice(3000)));
      server_.ServeLateSince(absl::Seconds(50));
      world_.scheduler->Tick();
    } else if (what == 8) {
      if (nodes_.size() < 8 && server_.Dice(10) == 0) AddNode();
    } else if (what == 9) {
      server_.ServeLate();
    } else if (what < 14) {
      server_.ServeOne(true);
    } else if (what < 18) {
      server_.ShowNext();
    } else {
      world_.scheduler->ScheduleOne();
    }
  }

  int64_t Used(const std::string& node) const {
    int64_t used = 0;
    for (const auto& [name, p] : server_.pods()) used += p->node_name.str() == node ? CpuOf(*p) : 0;
    return used;
  }
  // Returns the CPUs of pods that count on the node in the scheduler's cache but not yet on the server.
  int64_t Reserved(const std::string& node) const {
    int64_t reserved = 0;
    for (const PlacedPod& p : world_.cache.row(world_.cache.FindRow(util::Symbol(node))).pods) {
      auto it = server_.pods().find(p.pod->meta.name);
      const bool there =
          it != server_.pods().end() && it->second->meta.uid == p.pod->meta.uid && it->second->node_name.str() == node;
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

  // Runs without faults until everything that can be done is done.
  void Settle() {
    server_.ServeAllLate();
    for (int round = 0; round < 400; ++round) {
      server_.Drain();
      server_.EndAll();
      while (world_.scheduler->ScheduleOne()) {
      }
      Check();
      Advance(absl::Seconds(1));
      world_.scheduler->Tick();
    }
    server_.Drain();
    size_t pending = 0;
    for (const auto& [name, p] : server_.pods()) {
      if (!p->node_name.empty() || p->tmpl->scheduler_name != util::Symbol("default-scheduler")) continue;
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
    for (const auto& [name, p] : server_.pods()) all.push_back(p);
    std::vector<api::NodePtr> nodes;
    for (const auto& [name, cpu] : nodes_) nodes.push_back(NewNode(name, cpu));
    CHECK(world_.scheduler->DumpAndCompare(nodes, all).find("no differences") != std::string::npos);
  }

  util::ManualClock clock_;  // the server's clock
  testing::SimulatedServer server_;
  testing::RunningScheduler world_;
  std::map<std::string, int64_t> nodes_;  // CPUs by node
  uint64_t uids_ = 0;
};

TEST_CASE("simulation: faults, lost answers and lost watches never lose a pod or overcommit a node") {
  for (const bool pod_priority : {false, true}) {
    size_t bound = 0, faults = 0;
    const std::vector<uint64_t> seeds = reference::Seeds(60);
    for (const uint64_t seed : seeds) {
      INFO("PodPriority " << pod_priority << ", seed " << seed);
      Simulation s(static_cast<uint32_t>(seed), pod_priority);
      s.Run(2000);
      bound += s.server().bound_in_all();
      faults += s.server().faults();
    }
    CHECK(bound > 40 * seeds.size());
    CHECK(faults > 40 * seeds.size());
  }
}

}  // namespace
}  // namespace berth::scheduler
