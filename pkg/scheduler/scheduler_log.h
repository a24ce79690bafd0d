// What a release's scheduler writes to the log about pods, in its words and at its verbosity: sentences in 1.10, a
// message with named values in 1.29. Lines that no release has are written where they arise and are the same in all.
#pragma once
#include <string_view>

#include "pkg/api/types.h"

namespace berth::scheduler {

class SchedulerLog {
 public:
  // What an attempt looked at before it chose a node.
  struct Nodes {
    size_t evaluated = 0, feasible = 0;
  };
  // Why an attempt failed.
  enum class Failure {
    kNoNodes,   // there is no node in the cluster
    kUnfit,     // no node can take the pod
    kNotFound,  // something that the attempt needs does not exist
    kError,     // anything else
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
  virtual void UpdatingCondition(const api::Pod& pod, std::string_view reason) const = 0;
  virtual void StatusNotUpdated(std::string_view ns, std::string_view name, std::string_view error) const = 0;
  virtual void Preempted(const api::Pod& preemptor, const api::Pod& victim, std::string_view node) const = 0;
  virtual void VictimNotEvicted(const api::Pod& preemptor, const api::Pod& victim, std::string_view error) const = 0;
  virtual void VolumesFailed(const api::Pod& assumed, std::string_view error) const = 0;
  virtual void VolumesBound(const api::Pod& pod) const = 0;
};

const SchedulerLog& SchedulerLog110();
const SchedulerLog& SchedulerLog129();

}  // namespace berth::scheduler
