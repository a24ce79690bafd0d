// What one scheduling cycle of the reference keeps. For scheduler.cc and preemption.cc alone.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pkg/scheduler/reference/v1_29/scheduler.h"

namespace berth::scheduler::reference::v1_29 {

// The plugins of one extension point that take part in a cycle, in order. Copies are independent.
struct ActivePlugins {
  struct Entry {
    std::string name;
    std::shared_ptr<Plugin> plugin;
    bool skipped = false;       // PreFilter said so
    bool pre_filtered = false;  // PreFilter ran
  };
  std::vector<Entry> filters;
  ActivePlugins Copy() const {
    ActivePlugins out = *this;
    for (Entry& e : out.filters) e.plugin = e.plugin->Clone();
    return out;
  }
  // Runs Filter in order; the first plugin that does not succeed decides.
  Status Filter(const Cycle& cycle, const NodeInfo& info) const;
  void PodAdded(const Cycle& cycle, const api::Pod& q, const NodeInfo& info) const;
  void PodRemoved(const Cycle& cycle, const api::Pod& q, const NodeInfo& info) const;
};

struct Scheduler::Attempt {
  api::PodPtr pod;
  Cycle cycle;
  Decision decision;
  ActivePlugins active;
  Nodes feasible;
};

}  // namespace berth::scheduler::reference::v1_29
