// Copies of the scheduler's state. They are made on the scheduler's thread and read on others.
#pragma once
#include <absl/time/time.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/decode.h"
#include "pkg/api/types.h"
#include "pkg/lab/scenario.h"
#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/scheduler.h"
#include "pkg/scheduler/scheduler_metrics.h"

namespace berth::ui {

// The allocatable amounts of a node, and what the pods on it request. Units: milliCPU, bytes, pods.
struct NodeUse {
  int64_t cpu = 0, cpu_used = 0, memory = 0, memory_used = 0, pods = 0, pods_used = 0;
  uint8_t flags = 0;  // scheduler::RowFlag bits
  // Extended resources: name, allocatable amount, requested amount; sorted by symbol.
  struct Extended {
    util::Symbol name;
    int64_t offered = 0, used = 0;
    friend bool operator==(const Extended&, const Extended&) = default;
  };
  std::vector<Extended> extended;
  friend bool operator==(const NodeUse&, const NodeUse&) = default;
};

// The nodes and the scheduler's counters at one moment.
struct Snapshot {
  absl::Time time;
  // By row of the node table. A row whose node is null is not in use.
  std::vector<std::pair<api::NodePtr, NodeUse>> nodes;
  scheduler::SchedulerMetrics metrics;
  scheduler::SchedulingQueue::Depth queue;
  std::array<size_t, scheduler::kPendingPlaces> by_place{};
  size_t pending = 0;  // pods without a node
  size_t pods = 0;     // pods with a node
  size_t assumed = 0;  // those of `pods` whose binding the API server has not confirmed
  bool leading = true;
};

// Fills in the nodes of `out`. Takes about 50 ns for each node.
void CopyNodes(const scheduler::Cache& cache, Snapshot* out);

struct PendingPod {
  api::PodPtr pod;
  scheduler::Scheduler::Place place = scheduler::Scheduler::Place::kQueued;
  uint32_t attempts = 0;
  std::vector<scheduler::FailureReasonId>
      reasons;  // of the last attempt, the one that decides first; empty before the first attempt
  absl::Time until = absl::InfiniteFuture();  // when it is tried again at the latest, if that is known
};
using PendingPods = std::vector<PendingPod>;

// All objects of the cluster, for simulations.
struct Cluster {
  // A node and the pods on it. `node` is null if there are pods on it but no node object.
  struct Row {
    api::NodePtr node;
    std::vector<api::PodPtr> pods;
  };
  std::vector<std::shared_ptr<const Row>> rows;  // an entry may be null
  // Services, controllers, volumes, claims, classes, budgets and namespaces.
  std::vector<std::shared_ptr<const std::vector<api::Object>>> others;
  // Pods without a node. A pod that was placed while the copy was made is also on a row, and the row is then the right
  // one. A pod may be in the list twice.
  std::vector<api::PodPtr> pending;

  // Calls f for each pod that has a node.
  template <typename F>
  void ForEachPod(F f) const {
    for (const auto& row : rows) {
      if (row == nullptr) continue;
      for (const api::PodPtr& p : row->pods) f(*p);
    }
  }
};

// How pods are scheduled: an algorithm for each schedulerName. Each of `notes` is a sentence about something that an
// explanation cannot take into account.
struct Algorithms {
  std::map<std::string, lab::Algorithm> by_scheduler;
  std::vector<std::string> notes;
};

}  // namespace berth::ui
