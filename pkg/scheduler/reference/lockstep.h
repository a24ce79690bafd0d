// Applies the same random changes to a production cache and to the reference's lists. For tests only.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/cache/nominated_pods.h"
#include "pkg/scheduler/reference/cluster.h"
#include "pkg/scheduler/reference/random_cluster.h"
#include "pkg/scheduler/volumebinder/volume_binder.h"

namespace berth::scheduler::reference {

class Lockstep {
 public:
  // If `large`, there are about 90 nodes, most of them alike.
  explicit Lockstep(uint64_t seed, bool large = false);
  ~Lockstep();
  Lockstep(const Lockstep&) = delete;

  Cache cache;
  NominatedPods nominated;
  VolumeBinder binder;
  Cluster model;
  Random random;
  Character character;

  // Makes one random change to both, and checks what the cache returns.
  void Change();
  // Changes nodes so often that the cache's logs of changes no longer reach back. In the end all is as it was.
  void Storm();
  // Returns a new pending pod of a template that was used before, or of a new one.
  std::shared_ptr<api::Pod> Pending();
  // Assumes a copy of the pod on the node.
  void Assume(const api::PodPtr& pod, const std::string& node);
  void Nominate(const api::PodPtr& pod);
  void Unnominate(const api::Pod& pod);

 private:
  void ChangeNode();
  void ChangePods();
  void ChangeObjects();
  std::shared_ptr<api::Pod> Copy(const std::string& uid);
  std::string SomePod();  // returns the uid of a random pod, empty when there is none

  std::vector<std::shared_ptr<const api::PodTemplate>> templates_;
  std::set<std::string> assumed_;
  int next_pod_ = 0;
  int log_level_;  // glog's level, which is raised here: each pod found on another node would log an error
};

// Returns everything that the methods of a cache return, as texts by name, to compare two caches, or a cache before and
// after a change. Host ports are left out unless `with_ports`: they are a set without reference counts and depend on
// history.
std::map<std::string, std::string> Describe(Cache& cache, bool with_ports);
// Returns what differs between two descriptions, one text for each difference.
std::vector<std::string> Differences(const std::map<std::string, std::string>& a,
                                     const std::map<std::string, std::string>& b);
// Fills an empty cache from the lists.
void Rebuild(const Cluster& cluster, Cache* cache);

}  // namespace berth::scheduler::reference
