// Random objects with everything that rules look at, from a seed. Small alphabets, so that things meet. For tests only.
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

// How often each kind of thing turns up, in percent; drawn anew for each cluster, so that each has its character.
struct Character {
  int pod_affinity, node_affinity, volumes, ports, taints, conditions, odd_labels, owners, priorities, mistakes, absurd;
  int nodes = 11;        // numbers 0 .. nodes - 1
  bool uniform = false;  // nodes of one size, two in a rack
  explicit Character(Random* r);
};

api::NodePtr RandomNode(Random* r, const Character& c, int number);
std::shared_ptr<const api::PodTemplate> RandomTemplate(Random* r, const Character& c);
// A template that differs from this one in one thing alone.
std::shared_ptr<const api::PodTemplate> RandomSibling(Random* r, const Character& c, const api::PodTemplate& like);
// A pod of the template, without a node.
std::shared_ptr<api::Pod> NewPod(int number, const std::shared_ptr<const api::PodTemplate>& tmpl);
std::string NodeName(int number);
constexpr int kClaims = 10;  // "claim-0" ... in each namespace

std::shared_ptr<const api::Service> RandomService(Random* r, int number);
std::shared_ptr<const api::ReplicationController> RandomReplicationController(Random* r, int number);
std::shared_ptr<const api::ReplicaSet> RandomReplicaSet(Random* r, int number);
std::shared_ptr<const api::StatefulSet> RandomStatefulSet(Random* r, int number);
std::shared_ptr<const api::PersistentVolume> RandomVolume(Random* r, int number);
std::shared_ptr<const api::PersistentVolumeClaim> RandomClaim(Random* r, const Character& c, int number);
std::shared_ptr<const api::StorageClass> RandomStorageClass(Random* r, const Character& c, int number);
std::shared_ptr<const api::PodDisruptionBudget> RandomBudget(Random* r, int number);

// A Policy of random subsets with arguments of all kinds, and the same as the reference's settings (but for gates).
// `taint_nodes_by_condition` and `resource_limits` say which names there are.
Policy RandomPolicy(Random* r, bool taint_nodes_by_condition, bool resource_limits, Settings* settings);

// Seeds to try: `count` of them, or more when BERTH_RANDOM_RUNS says so; only BERTH_RANDOM_SEED when that is set.
std::vector<uint64_t> Seeds(int count);

}  // namespace berth::scheduler::reference
