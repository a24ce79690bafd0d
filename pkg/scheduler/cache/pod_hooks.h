// What a rule with a state of its own is told of the pods on nodes, such as one that knows which device of its node
// each pod has (Cache::Tell).
#pragma once
#include "pkg/scheduler/cache/template_info.h"

namespace berth::scheduler {

struct PlacedPod;

class PodHooks {
 public:
  virtual ~PodHooks() = default;
  // Are called when a pod begins to count on a row, and when it no longer does: when it is assumed or added, and when
  // it is forgotten or removed. A pod whose template or node changes leaves and is placed again. A pod that is
  // confirmed is not placed a second time. Pods are identified by meta.uid.
  //
  // `trial` says that an eviction or a nominated pod is only tried. What is told so is told back in reverse order
  // before anything else changes: a pod that left comes again, and must get what it had. So a state that depends on
  // more than the pods on the row, such as on the order in which they came, keeps its record of a pod until the pod
  // leaves without `trial`.
  //
  // Both run on the thread that owns the cache and must not change it.
  virtual void Placed(Row row, const PlacedPod& pod, bool trial) = 0;
  virtual void Left(Row row, const PlacedPod& pod, bool trial) = 0;
};

}  // namespace berth::scheduler
