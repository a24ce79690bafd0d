// A cluster as plain lists, for the reference scheduler: no caches, no columns, no counts. For tests only.
//
// Nodes are in order of name. Texts are compared as texts; nothing here is shared with the production cache.
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

// ip, protocol, port; defaults filled in (0.0.0.0, TCP).
using Port = std::tuple<std::string, std::string, int>;
std::vector<Port> HostPortsOf(const api::Pod& pod);

// What 1.10 calls a NodeInfo. The order of pods and the ports (a set without counts) depend on history, so they are
// kept; everything else is added up anew whenever it is asked for.
struct NodeState {
  std::string name;
  api::NodePtr node;  // null: only pods are known
  std::vector<api::PodPtr> pods;
  std::set<Port> ports;

  void Add(const api::PodPtr& pod);     // at the end
  void Remove(const std::string& uid);  // the last moves into the hole
  bool Has(const std::string& uid) const;
};

struct Cluster {
  using Key = std::pair<std::string, std::string>;  // namespace, name
  template <typename T>
  using Objects = std::map<Key, std::shared_ptr<const T>>;

  std::map<std::string, NodeState> nodes;
  std::map<std::string, std::vector<api::PodPtr>> nominated;  // pending pods by nominated node, in order of arrival
  Objects<api::Service> services;
  Objects<api::ReplicationController> replication_controllers;
  Objects<api::ReplicaSet> replica_sets;
  Objects<api::StatefulSet> stateful_sets;
  Objects<api::PersistentVolume> volumes;  // namespace ""
  Objects<api::PersistentVolumeClaim> claims;
  Objects<api::StorageClass> storage_classes;  // namespace ""
  Objects<api::PodDisruptionBudget> budgets;

  void SetNode(const api::NodePtr& node);
  void RemoveNode(const std::string& name);
  void AddPod(const api::PodPtr& pod);  // on pod->node_name
  void RemovePod(const std::string& uid);
  // Replaces in place when nothing that is counted changed, else removes and adds.
  void UpdatePod(const api::PodPtr& pod);
  api::PodPtr FindPod(const std::string& uid) const;
  size_t listed() const;  // nodes that exist

  template <typename T>
  static std::shared_ptr<const T> Find(const Objects<T>& objects, const std::string& ns, const std::string& name) {
    auto it = objects.find({ns, name});
    return it == objects.end() ? nullptr : it->second;
  }
};

}  // namespace berth::scheduler::reference
