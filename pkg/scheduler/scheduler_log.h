// The log lines of a release's scheduler, with its texts and at its verbosity: sentences in 1.10, messages with named
// values in 1.29, and in between some of either. Lines that no release has are written as util::LogLine where they
// occur.
#pragma once
#include <string_view>

#include "pkg/api/types.h"

namespace berth::scheduler {

class SchedulerLog {
 public:
  // How many nodes a decision evaluated, and how many of them fit.
  struct Nodes {
    size_t evaluated = 0, feasible = 0;
  };
  // Why an attempt failed.
  enum class Failure {
    kNoNodes,   // there is no node in the cluster
    kUnfit,     // the pod fits no node
    kNotFound,  // something that the attempt needed does not exist
    kError,     // any other error
  };

  virtual ~SchedulerLog() = default;
  virtual void Gated(const api::Pod& pod) const = 0;
  virtual void Attempting(const api::Pod& pod) const = 0;
  virtual void SkippedDeleting(const api::Pod& pod) const = 0;
  // `assumed` has the node in spec.nodeName.
  virtual void Binding(const api::Pod& assumed) const = 0;
  virtual void Bound(const api::Pod& assumed, Nodes nodes) const = 0;
  virtual void BindFailed(const api::Pod& assumed, Failure why, std::string_view error) const = 0;
  virtual void AttemptFailed(const api::Pod& pod, Failure why, std::string_view error) const = 0;
  // The decision itself ended with an error. AttemptFailed() follows.
  virtual void NoDecision(const api::Pod& pod, std::string_view error) const = 0;
  virtual void UpdatingCondition(const api::Pod& pod, std::string_view reason) const = 0;
  virtual void StatusNotUpdated(std::string_view ns, std::string_view name, std::string_view error) const = 0;
  virtual void Preempted(const api::Pod& preemptor, const api::Pod& victim, std::string_view node) const = 0;
  virtual void VictimNotEvicted(const api::Pod& preemptor, const api::Pod& victim, std::string_view error) const = 0;
  // `operation` is the function of the cache that failed, such as "AddPod".
  virtual void CacheFailed(std::string_view operation, const api::Pod& pod, std::string_view error) const = 0;
  // A watch has shown a pod that the scheduler did not know in this state, or no longer shows it: `assigned` says
  // whether the pod has a node. A pod that gets one is removed in one state and added in the other.
  virtual void PodAdded(const api::Pod& pod, bool assigned) const = 0;
  virtual void PodRemoved(const api::Pod& pod, bool assigned) const = 0;
  // `before` is null for a new node, and `after` is null for a node that is gone.
  virtual void NodeChanged(const api::Node* before, const api::Node* after) const = 0;
  // The bind failed, but the pod has a node.
  virtual void BoundAlready(const api::Pod& pod, std::string_view node) const = 0;
  // The attempt failed, and the pod does not exist any more.
  virtual void GoneMeanwhile(const api::Pod& pod) const = 0;
  virtual void VolumeClaimed(const api::Pod& pod, const api::PersistentVolume& volume,
                             const api::PersistentVolumeClaim& claim) const = 0;
  // `failed`: preemption itself ended with an error.
  virtual void NotPreempting(const api::Pod& pod, std::string_view why, bool failed) const = 0;
  virtual void VolumesFailed(const api::Pod& assumed, std::string_view error) const = 0;
  virtual void VolumesBound(const api::Pod& pod) const = 0;
};

const SchedulerLog& SchedulerLogInSentences();
const SchedulerLog& SchedulerLogInMessages();
// What 1.29 says about decisions and their ends in messages, and sentences for the rest (1.19).
const SchedulerLog& SchedulerLogMixed();

}  // namespace berth::scheduler
