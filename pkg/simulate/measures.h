// What a simulation shows, measured while it runs.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/simulate/outcome.h"
#include "pkg/simulate/simulate.h"
#include "pkg/simulate/timeline.h"
#include "pkg/util/symbol.h"

namespace berth::simulate {

class Measures {
 public:
  // What is told of a pod that was placed, or never was.
  struct Waiter {
    const api::Pod& pod;
    Micros arrived;
    uint32_t attempts;
  };

  // All arguments must outlive the object. `fragmentation`: of each resource at the present time.
  Measures(const Case& what, const Options& options, const Timeline* timeline,
           std::function<std::vector<double>()> fragmentation);

  // The counts that need no more than counting.
  Outcome& counts() { return out_; }
  // Notes a step that finds nothing to do, so that people learn of it.
  void NoteIdleStep(std::string_view event, const std::string& node, std::string_view why);
  void Arrived();
  // `is_new`: it counts among the pods that were placed.
  void Placed(const Waiter& w, std::string_view node, bool is_new);
  void NeverPlaced(const Waiter& w, const std::string& why);
  // Counts what the pods of a template request as in use (1), or not any more (-1).
  void Use(const std::shared_ptr<const api::PodTemplate>& t, double by);
  // Notes that the present state held until a time: so many pods waited, and nodes offered these amounts.
  void HoldUntil(Micros to, size_t waiting, const std::vector<double>& offered);
  Outcome Finish();

 private:
  const std::vector<int64_t>& RequestOf(const std::shared_ptr<const api::PodTemplate>& t);

  const lab::Workload& workload_;
  const Options& options_;
  const Timeline* const timeline_;
  Outcome out_;
  std::vector<double> used_;
  using KeptRequest = std::pair<std::shared_ptr<const api::PodTemplate>, std::vector<int64_t>>;
  absl::flat_hash_map<const api::PodTemplate*, KeptRequest> requests_;  // with the template itself
  util::Symbol last_namespace_;
  Waits* last_waits_ = nullptr;  // of last_namespace_
};

}  // namespace berth::simulate
