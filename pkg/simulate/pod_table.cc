#include "pkg/simulate/pod_table.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/util/contract.h"

namespace berth::simulate {

bool StaysOnNode(const api::Pod& pod) {
  const auto& controller = pod.tmpl->controller;
  return controller && (controller->kind.str() == "DaemonSet" || controller->kind.str() == "Node");
}

std::string PodTable::TakeName(const std::string& ns, std::string name) {
  if (names_.insert(absl::StrCat(ns, "/", name)).second) return name;
  ++renamed_;
  for (int64_t i = 2;; ++i) {
    std::string other = absl::StrCat(name, "-", i);
    if (names_.insert(absl::StrCat(ns, "/", other)).second) return other;
  }
}

PodState& PodTable::Add(api::PodPtr object, Micros now) {
  uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<uint32_t>(pods_.size());
    pods_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  PodState& p = pods_[slot];
  const uint32_t generation = p.generation + 1;
  p = {};
  p.slot = slot;
  p.generation = generation;
  p.object = std::move(object);
  p.arrived = now;
  by_uid_[p.object->meta.uid] = slot;
  ++unplaced_;
  most_ = std::max(most_, by_uid_.size());
  return p;
}

void PodTable::Remove(PodState* p) {
  BERTH_REQUIRES(p->node == nullptr);
  by_uid_.erase(p->object->meta.uid);
  names_.erase(p->object->meta.Key());
  p->object = nullptr;
  free_slots_.push_back(p->slot);
}

PodState* PodTable::Find(const std::string& uid) {
  auto it = by_uid_.find(uid);
  return it == by_uid_.end() ? nullptr : &pods_[it->second];
}

PodState* PodTable::Find(PodHandle h) {
  PodState& p = pods_[h.slot];
  return p.object != nullptr && p.generation == h.generation ? &p : nullptr;
}

void PodTable::Place(PodState* p, NodeState* node) {
  --unplaced_;
  if (node == nullptr) return;
  p->node = node;
  p->position = node->pods.size();
  node->pods.push_back(p->slot);
}

void PodTable::Unplace(PodState* p) {
  if (p->object->node_name.empty()) {
    --unplaced_;
    return;
  }
  if (p->node == nullptr) return;
  std::vector<uint32_t>& pods = p->node->pods;
  pods_[pods.back()].position = p->position;
  pods[p->position] = pods.back();
  pods.pop_back();
  p->node = nullptr;
}

}  // namespace berth::simulate
