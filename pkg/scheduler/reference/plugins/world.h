// A cluster for the independent reference of release 1.29, as plain lists. Nothing is kept but the sums of each node.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/cache/listers.h"
#include "pkg/scheduler/reference/plugins/resources.h"

namespace berth::scheduler::reference::plugins {

// Host address, protocol and port. Defaults (0.0.0.0, TCP) are filled in.
using HostPort = std::tuple<Symbol, Symbol, int32_t>;
// Returns the host ports of a pod's containers.
std::vector<HostPort> HostPortsOf(const api::PodTemplate& pod);

// A node and the pods on it. A copy can be changed without changing the original.
class NodeInfo {
 public:
  explicit NodeInfo(api::NodePtr node) { SetNode(std::move(node)); }
  void SetNode(api::NodePtr node);

  void Add(const api::PodPtr& pod);     // adds it at the end
  void Remove(const std::string& uid);  // moves the last pod into its place

  const api::Node& node() const { return *node_; }
  const api::NodePtr& node_ptr() const { return node_; }
  Symbol name() const { return name_; }
  const std::vector<api::PodPtr>& pods() const { return pods_; }
  const Resource& requested() const { return requested_; }
  const NonZero& non_zero() const { return non_zero_; }
  const Resource& allocatable() const { return allocatable_; }
  // Returns the host ports in use. They are a set without reference counts: when one of two pods with the same port
  // leaves, the port is free (upstream bug M-04, kept).
  const std::set<HostPort>& ports() const { return ports_; }

 private:
  api::NodePtr node_;  // null if there are pods on it but no node object
  Symbol name_;
  std::vector<api::PodPtr> pods_;
  Resource requested_, allocatable_;
  NonZero non_zero_;
  std::set<HostPort> ports_;
};

class World {
 public:
  ObjectStore<api::Service> services;
  ObjectStore<api::ReplicationController> replication_controllers;
  ObjectStore<api::ReplicaSet> replica_sets;
  ObjectStore<api::StatefulSet> stateful_sets;
  ObjectStore<api::PersistentVolume> volumes;
  ObjectStore<api::PersistentVolumeClaim> claims;
  ObjectStore<api::StorageClass> storage_classes;
  ObjectStore<api::PodDisruptionBudget> budgets;
  ObjectStore<api::Namespace> namespaces;
  ObjectStore<api::CsiNode> csi_nodes;
  ObjectStore<api::CsiDriver> csi_drivers;
  ObjectStore<api::CsiStorageCapacity> csi_capacities;
  ObjectStore<api::VolumeAttachment> attachments;

  void AddNode(const api::NodePtr& node);
  void AddPod(const api::PodPtr& pod);  // adds it to pod->node_name
  // Returns the nodes in the order of 1.29's node tree: one of each zone in turn.
  const std::vector<const NodeInfo*>& nodes() const { return nodes_; }
  const NodeInfo* Find(Symbol name) const;

  struct Image {
    int64_t size_bytes = 0;  // as the first node with the image reports it
    int64_t nodes = 0;       // number of nodes that have it
  };
  // Returns the image, or null when no node has it.
  const Image* FindImage(Symbol name) const;
  // Returns the labels of the namespace, or null when there is no such object.
  const api::Labels* NamespaceLabels(Symbol ns) const;

 private:
  void Order();

  std::map<Symbol, std::unique_ptr<NodeInfo>> by_name_;
  std::vector<Symbol> arrival_;  // the nodes that exist in the order in which they were added
  std::vector<const NodeInfo*> nodes_;
  std::map<Symbol, Image> images_;
};

}  // namespace berth::scheduler::reference::plugins
