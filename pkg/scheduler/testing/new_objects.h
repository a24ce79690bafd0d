// Builders for pods and nodes that set the fields directly. For tests and benchmarks only.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "pkg/api/types.h"

namespace berth::scheduler::testing {

struct PodArgs {
  int64_t cpu = 1;  // whole CPUs
  int32_t priority = 0;
  std::string scheduler = "default-scheduler";
  std::string ns = "default";
  std::string claim = {};
};

// Returns a pending pod with one container. Its uid is "uid-" and the name.
inline std::shared_ptr<api::Pod> NewPod(const std::string& name, const PodArgs& args = {}) {
  api::PodTemplate t;
  t.ns = util::Symbol(args.ns);
  t.scheduler_name = util::Symbol(args.scheduler);
  t.priority = args.priority;
  api::Container c;
  c.requests = {{util::Symbol("cpu"), api::Quantity::FromInt(args.cpu)}};
  t.containers.push_back(c);
  if (!args.claim.empty()) t.volumes.emplace_back().id = args.claim;
  auto p = std::make_shared<api::Pod>();
  p->meta.name = name;
  p->meta.ns = t.ns;
  p->meta.uid = "uid-" + name;
  p->meta.resource_version = "1";
  p->tmpl = api::PodTemplate::Intern(std::move(t));
  return p;
}

// Returns a ready node with `cpu` CPUs, 1 TiB of memory and room for 110 pods.
inline api::NodePtr NewNode(const std::string& name, int64_t cpu, std::string_view label = {}) {
  auto n = std::make_shared<api::Node>();
  n->meta.name = name;
  n->meta.uid = "uid-" + name;
  if (!label.empty()) n->labels = api::Labels({{util::Symbol("label"), util::Symbol(label)}});
  n->allocatable = {{util::Symbol("cpu"), api::Quantity::FromInt(cpu)},
                    {util::Symbol("memory"), api::Quantity::FromInt(int64_t{1} << 40)},
                    {util::Symbol("pods"), api::Quantity::FromInt(110)}};
  n->conditions = {{util::Symbol("Ready"), util::Symbol("True")}};
  return n;
}

// Returns a copy of the pod, bound to the node.
inline std::shared_ptr<api::Pod> Bound(const api::PodPtr& p, std::string_view node) {
  auto copy = std::make_shared<api::Pod>(*p);
  copy->node_name = util::Symbol(node);
  return copy;
}

// Returns a copy of the pod that is being deleted.
inline std::shared_ptr<api::Pod> Deleting(const api::PodPtr& p) {
  auto copy = std::make_shared<api::Pod>(*p);
  copy->meta.deletion_seconds = 1;
  return copy;
}

}  // namespace berth::scheduler::testing
