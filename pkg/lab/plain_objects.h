// The objects of an input that stand outside of Scenarios: those of all files together are one Scenario, which is what
// a cluster would have made of them.
#pragma once
#include <cstdint>
#include <memory>

#include <absl/status/status.h>

#include "pkg/lab/expand.h"
#include "pkg/lab/input_places.h"
#include "pkg/lab/manifests.h"
#include "pkg/lab/scenario.h"
#include "pkg/lab/stray_pods.h"
#include "pkg/lab/validate.h"

namespace berth::lab {

// Returns whether priorities of pods count: in release 1.10 by a gate only.
bool ByPriority(const Algorithm& algorithm);

class PlainObjects {
 public:
  // All arguments must outlive the object.
  PlainObjects(const ReadOptions* options, Input* out);

  bool empty() const { return !any_; }
  // The scenario to which single objects are added; AppendWorkloads must be called for each document.
  Scenario* scenario() { return &plain_; }
  // What admission knows of the objects.
  Manifests* manifests() { return manifests_.get(); }
  // Adds the objects of a list, which become an input of their own in `list`.
  void AppendList(Scenario* list);
  // Adds the workloads of a document.
  void AppendWorkloads(Expander workloads);
  // Counts a pending pod that is left out because it is being deleted.
  void CountDeleted() { ++deleted_; }

  // Completes the scenario, once all of the input has been read, and adds it to the input: objects are admitted, the
  // pods of workloads are made, and what looks like a mistake is said. Returns an error if that is refused.
  absl::Status Finish(const ObjectPlaces& places, const StrayPods& strays, Validator* validator);

 private:
  void TakeAwayRefused();
  absl::Status TakeExpanded();
  void NoteRepeated();
  void NoteCronJobs();
  void NoteAutoscalersWithoutTarget();
  void NoteNothingToPlace();
  void NoteDeleted();
  void PutInOrder();

  const ReadOptions& options_;
  Input* out_;
  Scenario plain_;
  Expander workloads_;
  std::shared_ptr<Manifests> manifests_;
  int64_t deleted_ = 0;
  bool any_ = false;
};

}  // namespace berth::lab
