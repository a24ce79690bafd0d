// The texts, their levels and the names of values are those of Kubernetes 1.10, 1.19 and 1.29, because users search
// their logs for them.
#include "pkg/scheduler/scheduler_log.h"

#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <string>

#include "pkg/api/zone.h"
#include "pkg/util/go_text.h"
#include "pkg/util/log_line.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

class SentenceLog final : public SchedulerLog {
 public:
  void Gated(const api::Pod& pod) const override {
    VLOG(3) << "Pod " << pod.meta.Key() << " waits for its scheduling gates";
  }
  void Attempting(const api::Pod& pod) const override { VLOG(3) << "Attempting to schedule pod: " << pod.meta.Key(); }
  void SkippedDeleting(const api::Pod& pod) const override {
    VLOG(3) << "Skip schedule deleting pod: " << pod.meta.Key();
  }
  void Binding(const api::Pod& assumed) const override {
    VLOG(3) << "Attempting to bind " << assumed.meta.name << " to " << assumed.node_name.str();
  }
  void Bound(const api::Pod&, Nodes) const override {}
  void BindFailed(const api::Pod& assumed, Failure why, std::string_view error) const override {
    VLOG(1) << "Failed to bind pod: " << assumed.meta.Key();
    if (why != Failure::kNotFound) Retrying(assumed, error);
    LOG(ERROR) << "Internal error binding pod: (" << error << ")";
  }
  void AttemptFailed(const api::Pod& pod, Failure why, std::string_view error) const override {
    if (why == Failure::kNoNodes) {
      VLOG(4) << "Unable to schedule " << Spaced(pod) << ": no nodes are registered to the cluster; waiting";
    } else if (why == Failure::kUnfit) {
      VLOG(4) << "Unable to schedule " << Spaced(pod) << ": no fit: " << error << "; waiting";
    } else {
      Retrying(pod, error);
    }
  }
  void NoDecision(const api::Pod&, std::string_view) const override {}
  void UpdatingCondition(const api::Pod& pod, std::string_view) const override {
    VLOG(2) << "Updating pod condition for " << pod.meta.Key() << " to (PodScheduled==False)";
  }
  void StatusNotUpdated(std::string_view ns, std::string_view name, std::string_view error) const override {
    LOG(WARNING) << "Cannot update the status of pod " << ns << "/" << name << ": " << error;
  }
  void Preempted(const api::Pod&, const api::Pod&, std::string_view) const override {}
  void VictimNotEvicted(const api::Pod&, const api::Pod& victim, std::string_view error) const override {
    LOG(ERROR) << "Error preempting pod " << victim.meta.Key() << ": " << error;
  }
  void CacheFailed(std::string_view operation, const api::Pod&, std::string_view error) const override {
    LOG(ERROR) << "scheduler cache " << operation << " failed: " << error;
  }
  void PodAdded(const api::Pod&, bool) const override {}
  void PodRemoved(const api::Pod&, bool) const override {}
  void NodeChanged(const api::Node*, const api::Node*) const override {}
  void BoundAlready(const api::Pod&, std::string_view) const override {}
  void GoneMeanwhile(const api::Pod&) const override {}
  void VolumeClaimed(const api::Pod&, const api::PersistentVolume&, const api::PersistentVolumeClaim&) const override {}
  void NotPreempting(const api::Pod&, std::string_view, bool) const override {}
  void VolumesFailed(const api::Pod& assumed, std::string_view error) const override {
    VLOG(1) << "Failed to bind volumes for pod \"" << assumed.meta.Key() << "\"";
    Retrying(assumed, error);
  }
  void VolumesBound(const api::Pod&) const override {}

 private:
  static std::string Spaced(const api::Pod& pod) { return absl::StrCat(pod.meta.ns.string(), " ", pod.meta.name); }
  static void Retrying(const api::Pod& pod, std::string_view error) {
    LOG(ERROR) << "Error scheduling " << Spaced(pod) << ": " << error << "; retrying";
  }
};

class MessageLog : public SchedulerLog {
 public:
  void Gated(const api::Pod& pod) const override {
    if (!VLOG_IS_ON(2)) return;
    Of("Status after running PreEnqueue plugin", pod).Add("plugin", "SchedulingGates").AddEmptyObject("status").Info(2);
  }
  void Attempting(const api::Pod& pod) const override {
    if (VLOG_IS_ON(3)) Of("Attempting to schedule pod", pod).Info(3);
  }
  void SkippedDeleting(const api::Pod& pod) const override {
    if (VLOG_IS_ON(3)) Of("Skip schedule deleting pod", pod).Info(3);
  }
  void Binding(const api::Pod& assumed) const override {
    if (!VLOG_IS_ON(3)) return;
    Of("Attempting to bind pod to node", assumed).Add("node", assumed.node_name.str()).Info(3);
  }
  void Bound(const api::Pod& assumed, Nodes nodes) const override {
    if (!VLOG_IS_ON(2)) return;
    Of("Successfully bound pod to node", assumed)
        .Add("node", assumed.node_name.str())
        .Add("evaluatedNodes", static_cast<int64_t>(nodes.evaluated))
        .Add("feasibleNodes", static_cast<int64_t>(nodes.feasible))
        .Info(2);
  }
  void BindFailed(const api::Pod& assumed, Failure, std::string_view error) const override {
    util::LogLine("Plugin Failed")
        .Add("plugin", "DefaultBinder")
        .AddObject("pod", assumed.meta.ns.str(), assumed.meta.name)
        .Add("node", assumed.node_name.str())
        .Error(error);
    if (VLOG_IS_ON(1)) Of("Failed to bind pod", assumed).Info(1);
  }
  void AttemptFailed(const api::Pod& pod, Failure why, std::string_view error) const override {
    if (why == Failure::kError) return Of("Error scheduling pod; retrying", pod).Error(error);
    if (!VLOG_IS_ON(2)) return;
    switch (why) {
      case Failure::kNoNodes:
        return Of("Unable to schedule pod; no nodes are registered to the cluster; waiting", pod).Info(2);
      case Failure::kUnfit:
        return Of("Unable to schedule pod; no fit; waiting", pod).Add("err", error).Info(2);
      default:
        return Of("Unable to schedule pod, possibly due to node not found; waiting", pod).Add("err", error).Info(2);
    }
  }
  void NoDecision(const api::Pod& pod, std::string_view error) const override {
    Of("Error selecting node for pod", pod).Error(error);
  }
  void UpdatingCondition(const api::Pod& pod, std::string_view reason) const override {
    if (!VLOG_IS_ON(3)) return;
    Of("Updating pod condition", pod)
        .Add("conditionType", "PodScheduled")
        .Add("conditionStatus", "False")
        .Add("conditionReason", reason)
        .Info(3);
  }
  void StatusNotUpdated(std::string_view ns, std::string_view name, std::string_view error) const override {
    util::LogLine("Error updating pod").AddObject("pod", ns, name).Error(error);
  }
  void Preempted(const api::Pod& preemptor, const api::Pod& victim, std::string_view node) const override {
    if (!VLOG_IS_ON(2)) return;
    util::LogLine("Preemptor Pod preempted victim Pod")
        .AddObject("preemptor", preemptor.meta.ns.str(), preemptor.meta.name)
        .AddObject("victim", victim.meta.ns.str(), victim.meta.name)
        .Add("node", node)
        .Info(2);
  }
  // The message is that of Kubernetes, although the victim could not be preempted.
  void VictimNotEvicted(const api::Pod& preemptor, const api::Pod& victim, std::string_view error) const override {
    Of("Preempted pod", victim).AddObject("preemptor", preemptor.meta.ns.str(), preemptor.meta.name).Error(error);
  }
  void CacheFailed(std::string_view operation, const api::Pod& pod, std::string_view error) const override {
    const std::string_view scheduler = operation == "ForgetPod" ? "scheduler" : "Scheduler";
    Of(absl::StrCat(util::ToAbsl(scheduler), " cache ", util::ToAbsl(operation), " failed"), pod).Error(error);
  }
  void PodAdded(const api::Pod& pod, bool assigned) const override {
    if (VLOG_IS_ON(3)) Of(assigned ? "Add event for scheduled pod" : "Add event for unscheduled pod", pod).Info(3);
  }
  void PodRemoved(const api::Pod& pod, bool assigned) const override {
    if (VLOG_IS_ON(3))
      Of(assigned ? "Delete event for scheduled pod" : "Delete event for unscheduled pod", pod).Info(3);
  }
  void NodeChanged(const api::Node* before, const api::Node* after) const override {
    if (!VLOG_IS_ON(2)) return;
    if (before == nullptr && VLOG_IS_ON(3)) Watched(/*added=*/true, *after);
    if (after == nullptr && VLOG_IS_ON(3)) Watched(/*added=*/false, *before);
    // As GetZoneKey of component-helpers, which the node tree asks.
    const auto zone_of = [](const api::Node* node) {
      return node == nullptr ? std::string() : api::ZoneKeyOf(node->labels, api::ZoneLabels::kFormerOrTodays);
    };
    const std::string from = zone_of(before), to = zone_of(after);
    if (before != nullptr && after != nullptr && from == to) return;
    if (before != nullptr) InTree(/*added=*/false, *before, from);
    if (after != nullptr) InTree(/*added=*/true, *after, to);
  }
  void BoundAlready(const api::Pod& pod, std::string_view node) const override {
    Of("Pod has been assigned to node. Abort adding it back to queue.", pod).Add("node", node).Info();
  }
  void GoneMeanwhile(const api::Pod& pod) const override {
    Of("Pod doesn't exist in informer cache", pod)
        .Add("err", absl::StrCat("pod ", util::GoQuoted(pod.meta.name), " not found"))
        .Info();
  }
  void VolumeClaimed(const api::Pod& pod, const api::PersistentVolume& volume,
                     const api::PersistentVolumeClaim& claim) const override {
    if (!VLOG_IS_ON(2)) return;
    Of("Updated PersistentVolume with claim. Waiting for binding to complete", pod)
        .AddObject("PV", "", volume.meta.name)
        .AddObject("PVC", claim.meta.ns.str(), claim.meta.name)
        .Info(2);
  }
  void NotPreempting(const api::Pod& pod, std::string_view why, bool failed) const override {
    constexpr std::string_view kStatus = "Status after running PostFilter plugins for pod";
    if (failed) return Of(kStatus, pod).Add("status", why).Error({});
    if (VLOG_IS_ON(5)) Of(kStatus, pod).Add("status", why).Info(5);
  }
  void VolumesFailed(const api::Pod& assumed, std::string_view error) const override {
    util::LogLine("Plugin failed")
        .Add("plugin", "VolumeBinding")
        .AddObject("pod", assumed.meta.ns.str(), assumed.meta.name)
        .Add("node", assumed.node_name.str())
        .Error(error);
  }
  void VolumesBound(const api::Pod& pod) const override {
    if (VLOG_IS_ON(2)) Of("All PVCs for pod are bound", pod).Info(2);
  }

 private:
  // A watch has shown a node for the first time, or for the last.
  virtual void Watched(bool added, const api::Node& node) const {
    util::LogLine(added ? "Add event for node" : "Delete event for node").AddObject("node", "", node.meta.name).Info(3);
  }
  // The node has become one of its zone, or no longer is.
  virtual void InTree(bool added, const api::Node& node, std::string_view zone) const {
    util::LogLine(added ? "Added node in listed group to NodeTree" : "Removed node in listed group from NodeTree")
        .AddObject("node", "", node.meta.name)
        .Add("zone", zone)
        .Info(2);
  }
  static util::LogLine Of(std::string_view message, const api::Pod& pod,
                          util::LogOrigin where = util::LogOrigin::Current()) {
    util::LogLine line(message, where);
    line.AddObject("pod", pod.meta.ns.str(), pod.meta.name);
    return line;
  }
};

class MixedLog final : public MessageLog {
 public:
  void Attempting(const api::Pod& pod) const override { VLOG(3) << "Attempting to schedule pod: " << pod.meta.Key(); }
  void SkippedDeleting(const api::Pod& pod) const override {
    VLOG(3) << "Skip schedule deleting pod: " << pod.meta.Key();
  }
  void Binding(const api::Pod& assumed) const override {
    VLOG(3) << "Attempting to bind " << assumed.meta.Key() << " to " << assumed.node_name.str();
  }
  void BindFailed(const api::Pod& assumed, Failure, std::string_view error) const override {
    LOG(ERROR) << "plugin \"DefaultBinder\" failed to bind pod \"" << assumed.meta.Key() << "\": " << error;
    VLOG(1) << "Failed to bind pod: " << assumed.meta.Key();
  }
  void AttemptFailed(const api::Pod& pod, Failure why, std::string_view error) const override {
    if (why != Failure::kNotFound) return MessageLog::AttemptFailed(pod, why, error);
    VLOG(2) << "Unable to schedule " << pod.meta.Key() << ": possibly due to node not found: " << error << "; waiting";
  }
  void UpdatingCondition(const api::Pod& pod, std::string_view reason) const override {
    VLOG(3) << "Updating pod condition for " << pod.meta.Key() << " to (PodScheduled==False, Reason=" << reason << ")";
  }
  void StatusNotUpdated(std::string_view ns, std::string_view name, std::string_view error) const override {
    LOG(ERROR) << "Error updating pod " << ns << "/" << name << ": " << error;
  }
  void Preempted(const api::Pod&, const api::Pod&, std::string_view) const override {}  // the event tells of it
  void VictimNotEvicted(const api::Pod&, const api::Pod& victim, std::string_view error) const override {
    LOG(ERROR) << "Error preempting pod " << victim.meta.Key() << ": " << error;
  }
  void CacheFailed(std::string_view operation, const api::Pod&, std::string_view error) const override {
    LOG(ERROR) << "scheduler cache " << operation << " failed: " << error;
  }
  // The blank at the end of lines about pods with a node is the release's own.
  void PodAdded(const api::Pod& pod, bool assigned) const override {
    VLOG(3) << "add event for " << State(assigned) << " pod " << pod.meta.Key() << (assigned ? " " : "");
  }
  void PodRemoved(const api::Pod& pod, bool assigned) const override {
    VLOG(3) << "delete event for " << State(assigned) << " pod " << pod.meta.Key() << (assigned ? " " : "");
  }
  void BoundAlready(const api::Pod& pod, std::string_view node) const override {
    LOG(WARNING) << "Pod " << pod.meta.Key() << " has been assigned to " << node << ". Abort adding it back to queue.";
  }
  void GoneMeanwhile(const api::Pod& pod) const override {
    LOG(WARNING) << "Pod " << pod.meta.Key() << " doesn't exist in informer cache: pod "
                 << util::GoQuoted(pod.meta.name) << " not found";
  }
  void VolumeClaimed(const api::Pod&, const api::PersistentVolume& volume,
                     const api::PersistentVolumeClaim& claim) const override {
    VLOG(4) << "updating PersistentVolume[" << volume.meta.name << "]: bound to " << util::GoQuoted(claim.meta.Key());
  }
  void NotPreempting(const api::Pod& pod, std::string_view why, bool failed) const override {
    constexpr std::string_view kStatus = "Status after running PostFilter plugins for pod ";
    LOG_IF(ERROR, failed) << kStatus << pod.meta.Key() << ": " << why;
    if (!failed) VLOG(5) << kStatus << pod.meta.Key() << ": " << why;
  }
  void VolumesFailed(const api::Pod& assumed, std::string_view error) const override {
    LOG(ERROR) << "error while running \"VolumeBinding\" prebind plugin for pod " << util::GoQuoted(assumed.meta.name)
               << ": " << error;
  }
  void VolumesBound(const api::Pod& pod) const override {
    VLOG(4) << "All PVCs for pod " << util::GoQuoted(pod.meta.Key()) << " are bound";
  }

 private:
  void Watched(bool added, const api::Node& node) const override {
    VLOG(3) << (added ? "add" : "delete") << " event for node " << util::GoQuoted(node.meta.name);
  }
  void InTree(bool added, const api::Node& node, std::string_view zone) const override {
    VLOG(2) << (added ? "Added" : "Removed") << " node " << util::GoQuoted(node.meta.name) << " in group "
            << util::GoQuoted(zone) << (added ? " to" : " from") << " NodeTree";
  }
  static std::string_view State(bool assigned) { return assigned ? "scheduled" : "unscheduled"; }
};

}  // namespace

const SchedulerLog& SchedulerLogInSentences() {
  static const SentenceLog kLog;
  return kLog;
}

const SchedulerLog& SchedulerLogInMessages() {
  static const MessageLog kLog;
  return kLog;
}

const SchedulerLog& SchedulerLogMixed() {
  static const MixedLog kLog;
  return kLog;
}

}  // namespace berth::scheduler
