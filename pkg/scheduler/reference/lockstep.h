// The production cache and the reference's lists, taken through the same history. For tests only.
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
  // `large`: some 90 nodes, most of them alike.
  explicit Lockstep(uint64_t seed, bool large = false);
  ~Lockstep();
  Lockstep(const Lockstep&) = delete;

  Cache cache;
  NominatedPods nominated;
  VolumeBinder binder;
  Cluster model;
  Random random;
  Character character;

  // One random change to both. Checks that the cache answers as expected.
  void Change();
  // So many changes to nodes that nobody can follow them one by one; in the end all is as before.
  void Storm();
  // A new pod of one of the known templates, or of a new one.
  std::shared_ptr<api::Pod> Pending();
  void Assume(const api::PodPtr& pod, const std::string& node);  // the pod is copied
  void Nominate(const api::PodPtr& pod);
  void Unnominate(const api::Pod& pod);

 private:
  void ChangeNode();
  void ChangePods();
  void ChangeObjects();
  std::shared_ptr<api::Pod> Copy(const std::string& uid);
  std::string SomePod();  // a uid; empty when there is none

  std::vector<std::shared_ptr<const api::PodTemplate>> templates_;
  std::set<std::string> assumed_;
  int next_pod_ = 0;
  int log_level_;  // pods that turn up on other nodes are corrected with an error message each: not wanted here
};

// Everything that can be asked of a cache, by name and in words: for comparing two caches, or one before and after.
// `with_ports` false leaves out the host ports, which are a set without counts and so depend on history.
std::map<std::string, std::string> Describe(Cache& cache, bool with_ports);
// What differs between two descriptions, one line each.
std::vector<std::string> Differences(const std::map<std::string, std::string>& a,
                                     const std::map<std::string, std::string>& b);
// A cache made anew from the lists.
void Rebuild(const Cluster& cluster, Cache* cache);

}  // namespace berth::scheduler::reference
