// Random objects with everything that rules read, determined by a seed. There are few different names and values, so
// that selectors match and ports collide often. For tests only.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/policy/policy.h"
#include "pkg/scheduler/reference/reference.h"

namespace berth::scheduler::reference {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int Below(int n) { return static_cast<int>(engine_() % static_cast<uint64_t>(n)); }
  int Between(int from, int to) { return from + Below(to - from + 1); }
  bool Chance(int percent) { return Below(100) < percent; }
  template <typename T>
  const T& Of(const std::vector<T>& list) {
    return list[static_cast<size_t>(Below(static_cast<int>(list.size())))];
  }
  std::string Of(std::initializer_list<const char*> list) { return list.begin()[Below(static_cast<int>(list.size()))]; }

 private:
  std::mt19937_64 engine_;
};

// How often each feature occurs in a cluster, in percent. The values are random as well, so that clusters differ in
// kind.
struct Character {
  int pod_affinity, node_affinity, volumes, ports, taints, conditions, odd_labels, owners, priorities, mistakes, absurd;
  int nodes = 11;        // nodes have the numbers 0 .. nodes - 1
  bool uniform = false;  // all nodes have the same size, and two are in each rack
  explicit Character(Random* r);
};

api::NodePtr RandomNode(Random* r, const Character& c, int number);
std::shared_ptr<const api::PodTemplate> RandomTemplate(Random* r, const Character& c);
// Returns a template that differs from `like` in at most one field.
std::shared_ptr<const api::PodTemplate> RandomSibling(Random* r, const Character& c, const api::PodTemplate& like);
// Returns a pending pod of the template.
std::shared_ptr<api::Pod> NewPod(int number, const std::shared_ptr<const api::PodTemplate>& tmpl);
std::string NodeName(int number);
constexpr int kClaims = 10;  // claims are named "claim-0" to "claim-9" in each namespace

std::shared_ptr<const api::Service> RandomService(Random* r, int number);
std::shared_ptr<const api::ReplicationController> RandomReplicationController(Random* r, int number);
std::shared_ptr<const api::ReplicaSet> RandomReplicaSet(Random* r, int number);
std::shared_ptr<const api::StatefulSet> RandomStatefulSet(Random* r, int number);
std::shared_ptr<const api::PersistentVolume> RandomVolume(Random* r, int number);
std::shared_ptr<const api::PersistentVolumeClaim> RandomClaim(Random* r, const Character& c, int number);
std::shared_ptr<const api::StorageClass> RandomStorageClass(Random* r, const Character& c, int number);
std::shared_ptr<const api::PodDisruptionBudget> RandomBudget(Random* r, int number);

// Returns a Policy with random subsets of the rules and arguments of all kinds. Writes the same configuration, apart
// from feature gates, to `*settings`. `taint_nodes_by_condition` and `resource_limits` are feature gates that change
// which rules are registered.
Policy RandomPolicy(Random* r, bool taint_nodes_by_condition, bool resource_limits, Settings* settings);

// Returns `count` seeds, with sanitizers a third of them, or as many as the environment variable BERTH_RANDOM_RUNS
// says; if BERTH_RANDOM_SEED is set, only that one.
std::vector<uint64_t> Seeds(int count);

}  // namespace berth::scheduler::reference
