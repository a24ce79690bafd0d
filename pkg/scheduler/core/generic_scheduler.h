// The scheduling algorithm for one pod (Kubernetes 1.10 core.genericScheduler): filter, score, select; preempt.
// Threading: that of its Cache. Holds no pod between calls but the round-robin counter.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/core/extender.h"
#include "pkg/scheduler/core/nominated_pods.h"

namespace berth::scheduler {

struct ConfiguredPredicate {
  std::string name;
  FitPredicate predicate;
};
struct ConfiguredPriority {
  std::string name;
  PriorityFunction function;
  int64_t weight = 1;
};

// Everything a scheduler was built of; made by the factory.
struct AlgorithmConfig {
  std::vector<ConfiguredPredicate> predicates;  // in the order of evaluation
  std::vector<ConfiguredPriority> priorities;   // by name
  std::vector<std::unique_ptr<Extender>> extenders;
  PluginFactoryArgs args;
  bool always_check_all_predicates = false;
};

// Which nodes failed and why. Lists of reasons that repeat are kept once.
class NodeFailures {
 public:
  void Add(Symbol node, const std::vector<FailureReason>& reasons);     // appended when the node is already there
  void AddNew(Symbol node, const std::vector<FailureReason>& reasons);  // the node is not there yet
  void Reserve(size_t nodes) { nodes_.reserve(nodes); }
  size_t size() const { return nodes_.size(); }
  const std::vector<FailureReason>* Find(Symbol node) const;  // null: the node is not among the failed
  template <typename F>
  void ForEach(F f) const {
    for (const auto& [node, list] : nodes_) f(node, *lists_[list]);
  }
  // How often each reason was given, by text.
  std::vector<std::pair<std::string, int64_t>> Histogram() const;
  // "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable."
  std::string FitErrorText(size_t nodes) const;

 private:
  uint32_t ListOf(const std::vector<FailureReason>& reasons);
  void Index() const;
  std::vector<std::pair<Symbol, uint32_t>> nodes_;  // and the number of the list
  std::map<std::vector<FailureReason>, uint32_t> list_index_;
  std::vector<const std::vector<FailureReason>*> lists_;  // keys of list_index_
  uint32_t last_list_ = 0;                                // used last
  mutable absl::flat_hash_map<Symbol, uint32_t> index_;   // of the first nodes, as far as somebody asked
};

struct Decision {
  enum class Outcome : uint8_t {
    kPlaced,
    kUnfit,  // 1.10's FitError: every node was judged and none fits; preemption may help
    kError,  // the pod could not be judged: `error` is the text
  };
  Outcome outcome = Outcome::kError;
  Symbol host;        // kPlaced
  std::string error;  // unless kPlaced
  size_t nodes = 0;   // listed
  size_t feasible = 0;
  std::shared_ptr<const NodeFailures> failures;  // kUnfit; also when `trace` asked for it
};

// What explains a decision in full; filled only when asked for.
struct DecisionTrace {
  std::shared_ptr<const NodeFailures> failures;
  struct Priority {
    std::string name;
    int64_t weight;
    std::vector<int64_t> scores;  // by `feasible`, 0..10
  };
  std::vector<Symbol> feasible;      // nodes that fit, by name
  std::vector<Priority> priorities;  // empty when fewer than two nodes fit: 1.10 does not score then
  std::vector<int64_t> totals;       // by `feasible`; empty likewise
  size_t ties = 0;                   // nodes that share the best total
  uint64_t round_robin = 0;          // the counter that chose among them
};

struct Preemption {
  Symbol node;  // empty: none found
  std::vector<api::PodPtr> victims;
  std::vector<api::PodPtr> nominated_to_clear;  // whose status.nominatedNodeName should be emptied
  std::string error;                            // the attempt failed
};

class FastPath;

class GenericScheduler {
 public:
  // `nominated` may be null (gate PodPriority off). Both must outlive the scheduler.
  GenericScheduler(Cache* cache, AlgorithmConfig config, const NominatedPods* nominated);
  ~GenericScheduler();

  // With a trace every row is judged anew; without one, answers kept from earlier decisions are used where they can be
  // (fast_path.h). Both decide the same.
  Decision Schedule(const api::PodPtr& pod, DecisionTrace* trace = nullptr);

  // After kUnfit, with its failures: whom to evict from where so that the pod would fit. Gate PodPriority is the
  // caller's to check. Reads the cache only (it simulates on it and restores it).
  Preemption Preempt(const api::PodPtr& pod, const NodeFailures& failures);

  // For explain: every predicate judged on every listed node, no short circuit, in the order of evaluation.
  struct Judgement {
    Verdict verdict;
    std::vector<FailureReason> reasons;
    std::string error;
  };
  std::vector<std::pair<Symbol, std::vector<Judgement>>> JudgeAll(const api::PodPtr& pod);

  const AlgorithmConfig& config() const { return config_; }
  uint64_t last_node_index() const { return last_node_index_; }
  // How long the parts of the last Schedule took.
  struct Timing {
    absl::Duration predicates, priorities;
  };
  const Timing& timing() const { return timing_; }

 private:
  struct Checks;
  struct Filtered;
  struct Victims;
  Checks Prepare(const PodContext& ctx) const;
  void PrepareNominated() const;
  Filtered Filter(const api::PodPtr& pod, Checks& checks) const;
  std::shared_ptr<NodeFailures> Explain(Checks& checks, const Filtered& filtered) const;
  bool AskExtenders(const api::PodPtr& pod, Filtered* filtered, NodeFailures* failures, std::string* error);
  absl::StatusOr<Symbol> SelectHost(const api::PodPtr& pod, const PodContext& ctx, const std::vector<Row>& rows,
                                    DecisionTrace* trace);
  absl::StatusOr<std::vector<int64_t>> Prioritize(const api::PodPtr& pod, const PodContext& ctx,
                                                  const std::vector<Row>& rows, DecisionTrace* trace);
  bool HasNominated(const api::Pod& pod, Symbol node) const;
  std::vector<Row> RowsWithNominated(const api::Pod& pod) const;
  bool DropUnfit(const api::PodPtr& pod, const std::vector<Row>& nominated, RowSet* rows) const;
  Verdict CheckRow(Checks& checks, Row row, bool check_all, std::vector<FailureReason>* reasons,
                   std::string* error) const;
  Verdict CheckRowWithNominated(const api::Pod& pod, Checks& checks, Row row, bool check_all,
                                std::vector<FailureReason>* reasons, std::string* error) const;
  bool SelectVictims(const api::Pod& pod, Checks& checks, Row row, Victims* out) const;
  std::optional<bool> SelectVictimsByAmounts(const api::Pod& pod, Checks& checks, Row row, Victims* out) const;
  bool ExtendersAgree(const api::Pod& pod, Row row) const;

  Cache* cache_;
  AlgorithmConfig config_;
  const NominatedPods* nominated_;
  std::unique_ptr<FastPath> fast_path_;
  uint64_t last_node_index_ = 0;
  Timing timing_;
};

}  // namespace berth::scheduler
