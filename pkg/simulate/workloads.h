// The workloads of an input: which one a pod belongs to, and how many pods they want.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "pkg/lab/scenario.h"

namespace berth::simulate {

class Workloads {
 public:
  // The scenario must outlive the object.
  explicit Workloads(const lab::Scenario& scenario) : scenario_(scenario) {}

  // Returns the key of the topmost controller of the pod: "Deployment default/web"; empty if it has none.
  std::string Of(const api::Pod& pod) const;
  // What a workload was scaled to, by its key; nothing if it was not.
  std::optional<int64_t> ScaledTo(const std::string& workload) const;
  void Scale(const std::string& workload, int64_t replicas) { replicas_[workload] = replicas; }

 private:
  const lab::Scenario& scenario_;
  std::map<std::string, int64_t> replicas_;
};

}  // namespace berth::simulate
