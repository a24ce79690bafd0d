// Kubelets of all nodes: what becomes of a pod once it is bound, and what nodes report.
//
// Stages of a pod: bound -> admitted (or Failed, as a kubelet rejects what does not fit), containers being created ->
// Running and ready -> ended, if it ends by itself -> started again or finished. A pod that is deleted is gone within
// its grace period. Sources: pkg/kubelet of Kubernetes 1.36; the idea of stages: KWOK.
#pragma once
#include <absl/time/time.h>

#include <functional>
#include <memory>
#include <optional>

#include "pkg/world/living/world.h"

namespace berth::world::living {

// What becomes of one pod.
struct PodPlan {
  bool becomes_ready = true;
  absl::Duration start_delay{}, stop_delay{};
  std::optional<absl::Duration> runs_for{};  // none: it does not end by itself
  int64_t exit_code = 0;
};

struct KubeletOptions {
  absl::Duration start_delay = absl::Milliseconds(500);  // from the binding until it is Running
  absl::Duration stop_delay = absl::Milliseconds(200);   // from the deletion, but at most the grace period
  absl::Duration job_duration = absl::Seconds(3);        // of pods that a Job owns
  absl::Duration lease_period = absl::Seconds(10);       // between the renewals of a node's lease
  // Whether nodes renew their leases and post their status now and then. If not, they write only what has changed.
  bool reports = true;
  std::string version = "v0.0.0-simulated";  // what nodes without a version say of their kubelet
  // Returns the plan of a pod; null: PlanByAnnotations.
  std::function<PodPlan(const Value& pod)> plan;
};

// Annotations of a pod win over the options: simulate.berth/start-delay, /stop-delay, /runs-for (durations such as
// "1m30s"; KWOK's pod-complete.stage.kwok.x-k8s.io/delay counts as /runs-for), /exit-code, /unready ("true").
PodPlan PlanByAnnotations(const KubeletOptions& options, const Value& pod);

// A node with this annotation and the value "true" has no kubelet that runs: it posts nothing and its pods stay as they
// are.
inline constexpr char kDownAnnotation[] = "simulate.berth/down";

std::unique_ptr<Actor> NewKubelets(World* world, KubeletOptions options);

}  // namespace berth::world::living
