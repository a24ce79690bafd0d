// The interface of the plugins of Kubernetes 1.29's default profile, written as simply as possible. An object is used
// in one scheduling cycle of one pod and keeps what PreFilter and PreScore have computed.
#pragma once
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/decode.h"
#include "pkg/scheduler/configuration/profile.h"
#include "pkg/scheduler/reference/plugins/world.h"

namespace berth::scheduler::reference::plugins {

struct Status {
  enum class Code { kSuccess, kSkip, kUnschedulable, kUnschedulableAndUnresolvable, kError };
  Code code = Code::kSuccess;
  std::vector<std::string> reasons;  // for kError, the text of the error alone
  std::string plugin;                // the plugin that returned this status

  static Status Unschedulable(std::string reason) { return {Code::kUnschedulable, {std::move(reason)}, {}}; }
  static Status Unresolvable(std::string reason) {
    return {Code::kUnschedulableAndUnresolvable, {std::move(reason)}, {}};
  }
  static Status Error(std::string text) { return {Code::kError, {std::move(text)}, {}}; }
  static Status Skip() { return {Code::kSkip, {}, {}}; }

  bool ok() const { return code == Code::kSuccess; }
  bool skip() const { return code == Code::kSkip; }
  bool rejected() const { return code == Code::kUnschedulable || code == Code::kUnschedulableAndUnresolvable; }
  std::string Message() const;  // the reasons joined by ", "
};

using Nodes = std::vector<const NodeInfo*>;

// The input of all plugins in a cycle.
struct Cycle {
  const World& world;
  const configuration::ResolvedProfile& profile;
  const api::Pod& pod;
  const api::PodTemplate& tmpl() const { return *pod.tmpl; }
};

class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual std::unique_ptr<Plugin> Clone() const = 0;

  // Looks at the pod and the whole cluster. May set the names of the only nodes that can fit; nullopt stands for all.
  virtual Status PreFilter(const Cycle&, std::optional<std::set<Symbol>>*) { return {}; }
  // Tell the plugin after PreFilter that the pod is added to a node or removed from it in a simulation.
  virtual void PodAdded(const Cycle&, const api::Pod&, const NodeInfo&) {}
  virtual void PodRemoved(const Cycle&, const api::Pod&, const NodeInfo&) {}
  virtual Status Filter(const Cycle&, const NodeInfo&) { return {}; }
  virtual Status PreScore(const Cycle&, const Nodes&) { return {}; }
  virtual Status Score(const Cycle&, const NodeInfo&, int64_t* score) {
    *score = 0;
    return {};
  }
  virtual void Normalize(const Nodes&, std::vector<int64_t>*) {}

  // Return the error of 1.29 when Filter is called without PreFilter, or Score without PreScore; empty when there is
  // none.
  virtual std::string_view NeedsPreFilter() const { return {}; }
  virtual std::string_view NeedsPreScore() const { return {}; }
};

// Returns a plugin of the default profile for one cycle, or null for a name that it does not have.
std::unique_ptr<Plugin> MakePlugin(std::string_view name, const configuration::ResolvedProfile& profile);

// The plugins, which MakePlugin makes.
std::unique_ptr<Plugin> MakeNodeUnschedulable();
std::unique_ptr<Plugin> MakeNodeName();
std::unique_ptr<Plugin> MakeTaintToleration();
std::unique_ptr<Plugin> MakeNodeAffinity(const configuration::NodeAffinityArgs& args);
std::unique_ptr<Plugin> MakeNodePorts();
std::unique_ptr<Plugin> MakeImageLocality();
std::unique_ptr<Plugin> MakeNodeResourcesFit(const configuration::NodeResourcesFitArgs& args);
std::unique_ptr<Plugin> MakeBalancedAllocation(const configuration::NodeResourcesBalancedAllocationArgs& args);
std::unique_ptr<Plugin> MakePodTopologySpread(const configuration::PodTopologySpreadArgs& args);
std::unique_ptr<Plugin> MakeInterPodAffinity(const configuration::InterPodAffinityArgs& args);
std::unique_ptr<Plugin> MakeVolumeRestrictions();
std::unique_ptr<Plugin> MakeVolumeZone();
std::unique_ptr<Plugin> MakeVolumeBinding();
std::unique_ptr<Plugin> MakeCsiLimits();
std::unique_ptr<Plugin> MakeInTreeLimits(std::string_view plugin);

// ---- functions that several plugins use ----
// Returns whether a node selector term matches a node. A term with an error matches no node.
bool TermMatches(const api::NodeSelectorTerm& term, const api::Node& node);
// Returns whether the node meets the pod's nodeSelector and required node affinity.
bool MeetsNodeAffinity(const api::PodTemplate& pod, const api::Node& node);
bool Tolerates(const api::Toleration& toleration, const api::Taint& taint);
// Returns the node's first taint with effect NoSchedule or NoExecute that the pod does not tolerate, or null.
const api::Taint* UntoleratedTaint(const api::PodTemplate& pod, const api::Node& node);
// Scales scores to 0..100 by their maximum. If `reversed`, the largest score becomes 0.
void ScaleToMaximum(bool reversed, std::vector<int64_t>* scores);
// Joins messages as 1.29 prints several errors: a single one as it is, more as "[a, b]".
std::string Aggregate(const std::vector<std::string>& messages);

}  // namespace berth::scheduler::reference::plugins
