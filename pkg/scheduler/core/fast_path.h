// Decisions from what is kept between them (row_class.h), identical to those of the plain path, which judges every row
// for every pod and remains the reference (GenericScheduler::Schedule with a trace).
//
// For each pod template a PodClass adds to its RowClass what depends on other pods: spreading and inter-pod affinity.
// Both are functions of few values (a node's count, its zone's, its topology domain's), so a reduced score is worked
// out once for each group of rows that share them, not once for each row.
//
// A pod with volumes is one of the class of those that are like it but for the volumes: these, as pods nominated to a
// node do, only narrow where it may go. They are asked for each pod anew, about the rows that fit otherwise.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/functional/function_ref.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/core/row_class.h"

namespace berth::scheduler {

class PodClass;

class FastPath {
 public:
  FastPath(Cache* cache, const AlgorithmConfig* config);
  ~FastPath();

  struct Answer {
    bool decided = false;  // false: the plain path must decide (it also words why a pod does not fit)
    Symbol host;
    size_t feasible = 0;
  };
  // Erases rows where the pod may not go for reasons that its class does not know. False: the plain path must decide.
  using Narrow = absl::FunctionRef<bool(RowSet*)>;
  // Advances *last_node_index as selectHost does. `nominated` erases rows on account of nominated pods; null when there
  // are none.
  Answer Place(const api::PodPtr& pod, const Narrow* nominated, uint64_t* last_node_index);

 private:
  PodClass* ClassOf(const api::PodPtr& pod);
  std::optional<std::vector<std::unique_ptr<FitCheck>>> AboutVolumes(const api::PodPtr& pod) const;
  RowClass* RowClassOf(const api::PodPtr& pod, const std::vector<Symbol>& topology_keys);
  std::shared_ptr<NodeClass> NodeClassOf(PreparedRules* rules, const std::vector<Symbol>& topology_keys);
  uint8_t parts() const;
  void DropOldClasses();

  Cache* cache_;
  const AlgorithmConfig* config_;
  std::optional<SortedRules> rules_;  // as the first pod shows
  absl::flat_hash_map<const api::PodTemplate*, std::unique_ptr<PodClass>> classes_;
  template <typename Class>
  struct Entry {
    std::shared_ptr<const api::PodTemplate> like;  // stands for all whose pods share the class
    std::vector<Symbol> topology_keys;
    Class shared;  // null: no answers can be kept for such pods
  };
  // By hash of what rows, or nodes, look at.
  absl::flat_hash_map<size_t, std::vector<Entry<std::unique_ptr<RowClass>>>> row_classes_;
  absl::flat_hash_map<size_t, std::vector<Entry<std::shared_ptr<NodeClass>>>> node_classes_;
  RowClass::Scratch scratch_;
  uint64_t uses_ = 0;
  bool avoiding_ = false;  // nodes with the preferAvoidPods annotation
};

}  // namespace berth::scheduler
