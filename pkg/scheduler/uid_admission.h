// Which pods that the watch shows may enter the scheduler's tables: those that have a name and a uid that no other pod
// has. The API server gives every pod a uid of its own, but what answers may not be one, or may lose an event. A pod
// with the uid of another one waits here until that one is gone. Thread-safety: none.
#pragma once
#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>

#include <string>

#include "pkg/api/types.h"
#include "pkg/scheduler/scheduling_state.h"

namespace berth::scheduler {

class UidAdmission {
 public:
  // `state` must outlive the object.
  explicit UidAdmission(SchedulingState* state) : s_(*state) {}

  // Returns whether no other pod with the same uid is known.
  bool Owns(const api::Pod& pod) const;
  // Returns whether the pod may enter the tables. If not, it is logged and counted when it is shown first, and waits if
  // another pod has its uid.
  bool Admit(const api::PodPtr& pod);
  // A pod that does not own its uid is gone, or has finished. It waits no longer.
  void Drop(const api::Pod& pod);
  // Returns the next pod that waited for a uid which is free now, or null. The caller is to admit it.
  api::PodPtr NextFreed();

 private:
  SchedulingState& s_;
  // By uid and "namespace/name".
  absl::flat_hash_map<std::string, absl::btree_map<std::string, api::PodPtr>> waiting_;
};

}  // namespace berth::scheduler
