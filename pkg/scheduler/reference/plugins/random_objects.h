// Random objects of release 1.29 as JSON, with everything that its rules read. There are few different names and
// values, so that selectors match and ports collide often. For tests only.
#pragma once
#include <string>
#include <vector>

#include "pkg/scheduler/reference/random_cluster.h"

namespace berth::scheduler::reference::plugins {

// How often each feature occurs in a cluster, in percent. The values are random as well.
struct Likely {
  int spread, pod_affinity, node_affinity, volumes, ports, taints, priorities, mistakes, gates, deleting, odd_labels;
  explicit Likely(Random* r);
};

class RandomObjects {
 public:
  explicit RandomObjects(uint64_t seed) : random_(seed), likely_(&random_) {}

  // Returns all objects but pods: nodes, namespaces, services and controllers, classes, volumes, claims, CSI objects
  // and budgets.
  std::vector<std::string> Cluster();
  // Returns a pod on the node, or a pending pod if `node` is empty.
  std::string Pod(int number, const std::string& node);
  // Returns a KubeSchedulerConfiguration with one profile.
  std::string Configuration();
  std::string NodeName() { return Name("n", kNodes); }
  Random& random() { return random_; }

  static constexpr int kNodes = 9;

 private:
  std::string Name(const std::string& prefix, int n);
  std::string Labels(int chance);
  std::string Selector();
  std::string NodeTerm();
  std::string PodTerm();
  std::string Spread();
  std::string Affinity();
  std::string Volumes(int number);
  std::string Containers();
  std::string Node(int number);
  std::string Volume(int number);
  std::string Claim(int number);

  Random random_;
  Likely likely_;
  bool placed_ = false;  // whether the pod being made is placed; such pods have no errors that an API server refuses
};

}  // namespace berth::scheduler::reference::plugins
