// The state of one scheduling cycle of the reference. To be included by scheduler.cc and preemption.cc only.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pkg/scheduler/reference/plugins/scheduler.h"

namespace berth::scheduler::reference::plugins {

// The Filter plugins of a cycle in the order of the profile. What is done to a Copy() does not affect the original.
struct ActivePlugins {
  struct Entry {
    std::string name;
    std::shared_ptr<Plugin> plugin;
    bool skipped = false;       // PreFilter returned Skip
    bool pre_filtered = false;  // PreFilter has run
  };
  std::vector<Entry> filters;
  ActivePlugins Copy() const {
    ActivePlugins out = *this;
    for (Entry& e : out.filters) e.plugin = e.plugin->Clone();
    return out;
  }
  // Runs Filter of each plugin and returns the first status that is not success.
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

}  // namespace berth::scheduler::reference::plugins
