// The lists of cluster.h: what Kubernetes 1.10's NodeInfo and cache do, without their sums.
#include "pkg/scheduler/reference/cluster.h"

#include <algorithm>

namespace berth::scheduler::reference {

std::vector<Port> HostPortsOf(const api::Pod& pod) {
  std::vector<Port> ports;
  for (const api::Container& c : pod.tmpl->containers) {
    for (const api::ContainerPort& p : c.ports) {
      if (p.host_port <= 0) continue;
      ports.emplace_back(p.host_ip.empty() ? "0.0.0.0" : p.host_ip.string(),
                         p.protocol.empty() ? "TCP" : p.protocol.string(), p.host_port);
    }
  }
  return ports;
}

void NodeState::Add(const api::PodPtr& pod) {
  pods.push_back(pod);
  for (const Port& p : HostPortsOf(*pod)) ports.insert(p);
}

void NodeState::Remove(const std::string& uid) {
  for (size_t i = 0; i < pods.size(); ++i) {
    if (pods[i]->meta.uid != uid) continue;
    for (const Port& p : HostPortsOf(*pods[i])) ports.erase(p);
    pods[i] = pods.back();
    pods.pop_back();
    return;
  }
}

bool NodeState::Has(const std::string& uid) const {
  return std::any_of(pods.begin(), pods.end(), [&](const api::PodPtr& p) { return p->meta.uid == uid; });
}

void Cluster::SetNode(const api::NodePtr& node) {
  NodeState& s = nodes[node->meta.name];
  s.name = node->meta.name;
  s.node = node;
}

void Cluster::RemoveNode(const std::string& name) {
  auto it = nodes.find(name);
  if (it == nodes.end()) return;
  it->second.node = nullptr;
  if (it->second.pods.empty()) nodes.erase(it);
}

void Cluster::AddPod(const api::PodPtr& pod) {
  NodeState& s = nodes[pod->node_name.string()];
  s.name = pod->node_name.string();
  s.Add(pod);
}

void Cluster::RemovePod(const std::string& uid) {
  for (auto it = nodes.begin(); it != nodes.end(); ++it) {
    if (!it->second.Has(uid)) continue;
    it->second.Remove(uid);
    if (it->second.node == nullptr && it->second.pods.empty()) nodes.erase(it);
    return;
  }
}

void Cluster::UpdatePod(const api::PodPtr& pod) {
  for (auto& [name, s] : nodes) {
    for (api::PodPtr& p : s.pods) {
      if (p->meta.uid != pod->meta.uid) continue;
      if (p->node_name == pod->node_name && *p->tmpl == *pod->tmpl && p->meta.deleting() == pod->meta.deleting()) {
        p = pod;
        return;
      }
      RemovePod(pod->meta.uid);
      AddPod(pod);
      return;
    }
  }
}

api::PodPtr Cluster::FindPod(const std::string& uid) const {
  for (const auto& [name, s] : nodes) {
    for (const api::PodPtr& p : s.pods) {
      if (p->meta.uid == uid) return p;
    }
  }
  return nullptr;
}

size_t Cluster::listed() const {
  return static_cast<size_t>(
      std::count_if(nodes.begin(), nodes.end(), [](const auto& n) { return n.second.node != nullptr; }));
}

}  // namespace berth::scheduler::reference
