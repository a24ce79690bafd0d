#include "pkg/scheduler/reference/plugins/world.h"

#include <algorithm>

namespace berth::scheduler::reference::plugins {

std::vector<HostPort> HostPortsOf(const api::PodTemplate& pod) {
  static const Symbol kAnyAddress("0.0.0.0"), kTcp("TCP");
  std::vector<HostPort> out;
  for (const api::Container& c : pod.containers) {
    for (const api::ContainerPort& p : c.ports) {
      if (p.host_port <= 0) continue;
      out.emplace_back(p.host_ip.empty() ? kAnyAddress : p.host_ip, p.protocol.empty() ? kTcp : p.protocol,
                       p.host_port);
    }
  }
  return out;
}

void NodeInfo::SetNode(api::NodePtr node) {
  node_ = std::move(node);
  if (node_ == nullptr) return;
  name_ = Symbol(node_->meta.name);
  allocatable_ = ResourceOf(node_->allocatable);
}

void NodeInfo::Add(const api::PodPtr& pod) {
  pods_.push_back(pod);
  requested_.Add(RequestOf(*pod->tmpl), 1);
  NonZero n = NonZeroOf(*pod->tmpl);
  non_zero_ = {non_zero_.cpu + n.cpu, non_zero_.memory + n.memory};
  for (const HostPort& p : HostPortsOf(*pod->tmpl)) ports_.insert(p);
}

void NodeInfo::Remove(const std::string& uid) {
  auto it = std::find_if(pods_.begin(), pods_.end(), [&](const api::PodPtr& p) { return p->meta.uid == uid; });
  if (it == pods_.end()) return;
  api::PodPtr pod = *it;
  *it = pods_.back();
  pods_.pop_back();
  requested_.Add(RequestOf(*pod->tmpl), -1);
  NonZero n = NonZeroOf(*pod->tmpl);
  non_zero_ = {non_zero_.cpu - n.cpu, non_zero_.memory - n.memory};
  for (const HostPort& p : HostPortsOf(*pod->tmpl)) ports_.erase(p);
}

void World::AddNode(const api::NodePtr& node) {
  Symbol name(node->meta.name);
  std::unique_ptr<NodeInfo>& info = by_name_[name];
  if (info == nullptr) info = std::make_unique<NodeInfo>(nullptr);
  info->SetNode(node);
  arrival_.push_back(name);
  std::set<Symbol> names;
  for (const api::NodeImage& image : node->images) {
    for (Symbol n : image.names) {
      Image& known = images_.try_emplace(n, Image{image.size_bytes, 0}).first->second;
      if (names.insert(n).second) ++known.nodes;
    }
  }
  Order();
}

void World::AddPod(const api::PodPtr& pod) {
  std::unique_ptr<NodeInfo>& info = by_name_[pod->node_name];
  if (info == nullptr) info = std::make_unique<NodeInfo>(nullptr);
  info->Add(pod);
}

const NodeInfo* World::Find(Symbol name) const {
  auto it = by_name_.find(name);
  return it == by_name_.end() || it->second->node_ptr() == nullptr ? nullptr : it->second.get();
}

const World::Image* World::FindImage(Symbol name) const {
  auto it = images_.find(name);
  return it == images_.end() ? nullptr : &it->second;
}

const api::Labels* World::NamespaceLabels(Symbol ns) const {
  auto object = namespaces.Get(Symbol(), ns.string());
  return object == nullptr ? nullptr : &object->labels;
}

// Lists the nodes as 1.29's node tree does: zones in the order in which their first node was added, and of each zone in
// turn the next node.
void World::Order() {
  static const Symbol kBetaZone("failure-domain.beta.kubernetes.io/zone"), kZone("topology.kubernetes.io/zone");
  static const Symbol kBetaRegion("failure-domain.beta.kubernetes.io/region"), kRegion("topology.kubernetes.io/region");
  std::vector<std::pair<std::pair<Symbol, Symbol>, std::vector<const NodeInfo*>>> zones;
  for (Symbol name : arrival_) {
    const NodeInfo* info = by_name_.at(name).get();
    auto label = [&](Symbol beta, Symbol ga) {
      auto value = info->node().labels.Get(beta);
      return value ? *value : info->node().labels.Get(ga).value_or(Symbol());
    };
    std::pair key(label(kBetaRegion, kRegion), label(kBetaZone, kZone));
    auto it = std::find_if(zones.begin(), zones.end(), [&](const auto& z) { return z.first == key; });
    if (it == zones.end()) it = zones.insert(zones.end(), {key, {}});
    it->second.push_back(info);
  }
  nodes_.clear();
  for (size_t i = 0; nodes_.size() < arrival_.size(); ++i) {
    for (const auto& [key, members] : zones) {
      if (i < members.size()) nodes_.push_back(members[i]);
    }
  }
}

}  // namespace berth::scheduler::reference::plugins
