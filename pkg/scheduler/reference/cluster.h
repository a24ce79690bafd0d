// A cluster as plain lists for the independent reference scheduler of 1.10, without caches, columns or counts. For
// tests only.
//
// Nodes are in ascending order of names. Nothing here is shared with the production cache, so that a bug cannot be in
// both.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "pkg/api/types.h"

namespace berth::scheduler::reference {

// Address, protocol and port. Defaults (0.0.0.0, TCP) are filled in.
using Port = std::tuple<std::string, std::string, int>;
std::vector<Port> HostPortsOf(const api::Pod& pod);

// 1.10's NodeInfo. The order of the pods and the ports, a set without reference counts, depend on history, so they are
// kept. Everything else is computed from the objects whenever it is needed.
struct NodeState {
  std::string name;
  api::NodePtr node;  // null if there are pods on it but no node object
  std::vector<api::PodPtr> pods;
  std::set<Port> ports;

  void Add(const api::PodPtr& pod);     // adds it at the end
  void Remove(const std::string& uid);  // moves the last pod into its place
  bool Has(const std::string& uid) const;
};

struct Cluster {
  using Key = std::pair<std::string, std::string>;  // namespace, name
  template <typename T>
  using Objects = std::map<Key, std::shared_ptr<const T>>;

  std::map<std::string, NodeState> nodes;
  // The pending pods by the node that they are nominated to, in the order in which they were nominated.
  std::map<std::string, std::vector<api::PodPtr>> nominated;
  Objects<api::Service> services;
  Objects<api::ReplicationController> replication_controllers;
  Objects<api::ReplicaSet> replica_sets;
  Objects<api::StatefulSet> stateful_sets;
  Objects<api::PersistentVolume> volumes;  // in namespace ""
  Objects<api::PersistentVolumeClaim> claims;
  Objects<api::StorageClass> storage_classes;  // in namespace ""
  Objects<api::PodDisruptionBudget> budgets;

  void SetNode(const api::NodePtr& node);
  void RemoveNode(const std::string& name);
  void AddPod(const api::PodPtr& pod);  // adds it to pod->node_name
  void RemovePod(const std::string& uid);
  // Replaces the pod in place when nothing that is counted has changed; otherwise removes it and adds it at the end.
  void UpdatePod(const api::PodPtr& pod);
  api::PodPtr FindPod(const std::string& uid) const;
  size_t listed() const;  // number of nodes with a node object

  template <typename T>
  static std::shared_ptr<const T> Find(const Objects<T>& objects, const std::string& ns, const std::string& name) {
    auto it = objects.find({ns, name});
    return it == objects.end() ? nullptr : it->second;
  }
};

}  // namespace berth::scheduler::reference
