// The scheduling algorithm for one pod (Kubernetes 1.10 core.genericScheduler): filter, score, select; preempt.
//
// Two ways to decide, which always agree: the reference scheduler calls every rule for every node and can say
// everything about it; the incremental scheduler keeps answers between decisions (incremental/incremental_scheduler.h).
//
// Threading: that of its Cache.
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
#include "pkg/scheduler/algorithm/node_failures.h"
#include "pkg/scheduler/cache/nominated_pods.h"
#include "pkg/scheduler/registry/algorithm_config.h"
#include "pkg/util/clock.h"

namespace berth::scheduler {

struct Decision {
  enum class Outcome : uint8_t {
    kPlaced,
    kUnfit,  // 1.10's FitError: every node was evaluated and none fits; preemption may help
    kError,  // the pod could not be evaluated: `error` is the text
  };
  Outcome outcome = Outcome::kError;
  Symbol host;        // kPlaced
  std::string error;  // unless kPlaced
  size_t nodes = 0;   // listed
  size_t feasible = 0;
  size_t ties = 0;                               // kPlaced: nodes that share the best score
  std::shared_ptr<const NodeFailures> failures;  // kUnfit; also when `trace` asked for it
  // kBoth: how the incremental scheduler's decision differs from this one, as a sentence; empty when it does not.
  std::string difference;
};

// What explains a decision in full.
struct DecisionTrace {
  std::shared_ptr<const NodeFailures> failures;
  std::vector<std::pair<Symbol, std::string>> rejected_by;  // nodes that failed, and the first predicate that did it
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

class IncrementalScheduler;

// How to decide.
enum class DecisionMode : uint8_t {
  kIncremental,  // from answers kept between decisions, where the rules allow it
  kReference,    // by calling every rule for every node
  // Both, to find rules whose traits are wrong and mistakes of the incremental scheduler. The reference scheduler's
  // decision is the one that counts; Decision::difference says how the other one differs.
  kBoth,
};

// Returns how the incremental scheduler's decision differs from the reference scheduler's, as a sentence, or an empty
// text. `incremental` is null when the incremental scheduler found that the pod fits nowhere.
std::string DifferenceOf(const Decision* incremental, const Decision& reference);

class GenericScheduler {
 public:
  // `nominated` may be null (gate PodPriority off); without a `clock` nothing is timed. All must outlive the scheduler.
  GenericScheduler(Cache* cache, AlgorithmConfig config, const NominatedPods* nominated,
                   const util::Clock* clock = nullptr);
  ~GenericScheduler();

  // REQUIRES: `trace`, which is filled when it is not null, is not given with kIncremental.
  Decision Schedule(const api::PodPtr& pod, DecisionMode mode = DecisionMode::kIncremental,
                    DecisionTrace* trace = nullptr);
  // The counter of round robin among the best nodes: taking it back repeats a decision.
  void set_last_node_index(uint64_t index) { last_node_index_ = index; }

  // After kUnfit, with its failures: whom to evict from where so that the pod would fit. Gate PodPriority is the
  // caller's to check. Reads the cache only (it simulates on it and restores it).
  Preemption Preempt(const api::PodPtr& pod, const NodeFailures& failures);

  // Returns false when a predicate that looks at one node alone rejects the pod there, as far as it can tell now: a
  // change of such a node is no reason for another attempt. True for nodes that are not known.
  bool PassesNodePredicates(const api::Pod& pod, Symbol node) const;

  // For explain: what every predicate says of every listed node, none skipped, in the order of evaluation.
  struct PredicateResult {
    Verdict verdict;
    std::vector<FailureReason> reasons;
    std::string error;
    std::string detail;  // FitCheck::Detail
  };
  std::vector<std::pair<Symbol, std::vector<PredicateResult>>> EvaluatePredicates(const api::PodPtr& pod);

  // How many bytes the answers that are kept between decisions take, approximately, and how many they may take.
  size_t kept_answers_bytes() const;
  size_t kept_answers_limit() const;
  // Lets the answers of `schedulers` schedulers together take so many bytes; 0: a quarter of what the cluster takes, at
  // least 64 MiB, which is the default. REQUIRES: `schedulers` is not 0.
  void LimitKeptAnswers(size_t bytes, size_t schedulers = 1);

  const AlgorithmConfig& config() const { return config_; }
  uint64_t last_node_index() const { return last_node_index_; }
  // How long the parts of the last decision took (with kBoth: of the reference scheduler's); zero without a clock.
  struct Timing {
    absl::Duration predicates, priorities;
  };
  const Timing& timing() const { return timing_; }

 private:
  struct Checks;
  struct Filtered;
  struct Victims;
  struct Kept;
  struct ExtenderRound;
  struct VictimCost;
  absl::Duration Now() const { return clock_ == nullptr ? absl::ZeroDuration() : clock_->Steady(); }
  std::optional<Decision> ScheduleIncrementally(const api::PodPtr& pod, ExtenderRound* round,
                                                bool* found_unfit = nullptr);
  Decision ScheduleByReference(const api::PodPtr& pod, ExtenderRound* round, DecisionTrace* trace);
  Decision ScheduleBothWays(const api::PodPtr& pod, DecisionTrace* trace);
  Checks Prepare(const PodContext& ctx) const;
  Checks PrepareActive(const PodContext& ctx) const;
  bool RejectPod(Checks& checks, Decision* d, DecisionTrace* trace) const;
  std::optional<Decision> TryNominatedNode(const api::PodPtr& pod, DecisionTrace* trace) const;
  std::string ErrorText(const Checks& checks, size_t check, Row row) const;
  std::string ErrorOf(const std::map<std::string, int64_t>& errors) const;
  Filtered Filter(const api::PodPtr& pod, Checks& checks) const;
  std::shared_ptr<NodeFailures> Explain(const api::Pod& pod, Checks& checks, const Filtered& filtered,
                                        DecisionTrace* trace) const;
  bool IsExtended(const api::Pod& pod) const;
  bool AskExtenders(const api::Pod& pod, std::vector<Row>* feasible, ExtenderRound* round) const;
  void AddExtenderScores(const api::Pod& pod, std::span<const Row> rows, std::span<int64_t> totals) const;
  absl::StatusOr<Symbol> SelectHost(const api::PodPtr& pod, const PodContext& ctx, const std::vector<Row>& rows,
                                    DecisionTrace* trace, size_t* ties);
  absl::StatusOr<std::vector<int64_t>> Prioritize(const api::PodPtr& pod, const PodContext& ctx,
                                                  const std::vector<Row>& rows, DecisionTrace* trace);
  bool HasNominated(const api::Pod& pod, Symbol node) const;
  // Why a row does not fit, from CheckRow.
  struct Why {
    std::vector<FailureReason> reasons;
    size_t check = 0;   // the first that failed
    std::string error;  // of kError
  };
  bool AmountsDecide(const Checks& checks, size_t i) const;
  bool DropUnfit(const api::PodPtr& pod, RowSet* rows) const;
  void FilterColumns(Checks& checks, RowSet* candidates, Filtered* out) const;
  void FilterNominated(const api::Pod& pod, Checks& checks, RowSet* candidates, Filtered* out) const;
  void FilterRow(const api::Pod& pod, Checks& checks, Row row, RowSet* candidates, Filtered* out) const;
  void AddNominated(const api::Pod& pod, Row row, Cache::Simulation* simulation) const;
  Verdict CheckRow(Checks& checks, Row row, bool check_all, Why* why) const;
  Verdict CheckRowWithNominated(const api::Pod& pod, Checks& checks, Row row, bool check_all, Why* why) const;
  std::vector<Row> PreemptionCandidates(const NodeFailures& failures) const;
  bool RowsDecideVictims(Checks& checks) const;
  std::optional<VictimCost> CostOfVictims(const api::Pod& pod, Checks& checks, Row row) const;
  bool SelectVictims(const api::Pod& pod, Checks& checks, Row row, Victims* out) const;
  std::optional<bool> SelectVictimsByAmounts(const api::Pod& pod, Checks& checks, Row row, Victims* out) const;
  bool ExtendersAgree(const api::Pod& pod, Row row) const;
  Preemption PreemptByImportance(const api::PodPtr& pod, const NodeFailures& failures) const;
  struct Candidate;
  bool DryRun(const api::Pod& pod, Checks& checks, Row row, Candidate* candidate, Why* why) const;
  std::string AskExtendersToPreempt(const api::Pod& pod, std::vector<Candidate>* candidates) const;
  std::string TakeAgreed(const Extender& extender, const std::vector<Extender::AgreedEviction>& agreed,
                         std::vector<Candidate>* candidates) const;

  Cache* cache_;
  AlgorithmConfig config_;
  const NominatedPods* nominated_;
  const util::Clock* clock_;
  std::unique_ptr<IncrementalScheduler> incremental_;
  std::unique_ptr<Kept> kept_;  // between decisions, beside the answers of the incremental scheduler
  uint64_t last_node_index_ = 0;
  Timing timing_;
};

}  // namespace berth::scheduler
