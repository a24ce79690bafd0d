// The scheduling algorithm for one pod (Kubernetes 1.10 core.genericScheduler): filter the nodes, score those that fit,
// select one of the best; and, when none fits, preempt.
//
// There are two ways to decide, which always agree. The reference scheduler calls every rule for every node and can
// explain its decision in full. The incremental scheduler keeps answers between decisions and is much faster
// (incremental/incremental_scheduler.h).
//
// Thread-safety: none; used on the thread of its Cache.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/cache/nominated_pods.h"
#include "pkg/scheduler/core/decision.h"
#include "pkg/scheduler/core/guest.h"
#include "pkg/scheduler/registry/algorithm_config.h"
#include "pkg/util/clock.h"

namespace berth::scheduler {

struct BatchCounts;
struct ExtenderRound;
struct SampledWalk;

// Selects how Schedule decides.
enum class DecisionMode : uint8_t {
  kIncremental,  // use answers kept between decisions, and the reference scheduler where these cannot decide
  kReference,    // call every rule for every node
  // Decide both ways, to find rules with wrong traits and bugs of the incremental scheduler. The reference scheduler's
  // decision counts; Decision::difference says how the other one differs.
  kBoth,
};

// Returns a text that says how the incremental scheduler's decision differs from the reference scheduler's, or an empty
// one when it does not. `incremental` is null when the incremental scheduler found that the pod fits nowhere.
std::string DifferenceOf(const Decision* incremental, const Decision& reference);

class GenericScheduler {
 public:
  // `nominated` may be null (gate PodPriority off). If `clock` is null, timing() stays 0. All three pointers must
  // outlive the scheduler.
  GenericScheduler(Cache* cache, AlgorithmConfig config, const NominatedPods* nominated,
                   const util::Clock* clock = nullptr);
  ~GenericScheduler();

  static constexpr uint64_t kUnchanged = std::numeric_limits<uint64_t>::max();

  // Decides where the pod goes. Does not place it: the caller assumes it in the cache. If `trace` is not null, it is
  // filled in. REQUIRES: `trace` is null with kIncremental.
  Decision Schedule(const api::PodPtr& pod, DecisionMode mode = DecisionMode::kIncremental,
                    DecisionTrace* trace = nullptr);
  // Sets the round-robin counter that chooses among the best nodes. With the earlier value, and an unchanged cache, a
  // decision is repeated.
  void set_last_node_index(uint64_t index) { last_node_index_ = index; }
  // Sets the number of the next attempt among those of all schedulers that share a queue. By default, a scheduler
  // counts its own.
  void set_cycle(uint64_t cycle) { cycle_ = cycle - 1; }

  // Returns which pods to evict from which node so that the pod would fit there. Called after Schedule returned kUnfit,
  // with its failures, and only if gate PodPriority is on. If the cache has changed since then, `decided_at` is its
  // generation at that time. Simulates evictions on the cache and restores it.
  Preemption Preempt(const api::PodPtr& pod, const NodeFailures& failures, uint64_t decided_at = kUnchanged);

  // Sets what an embedding program adds to decisions; null: nothing. `guest` must outlive the scheduler or be replaced
  // before. With a guest, pods are not placed in batches, and a nominated node is not tried before the others.
  void set_guest(Guest* guest) { guest_ = guest; }
  // Finds the rows that fit and their totals, and decides nothing: the round-robin counter stays as it is. The guest's
  // filters count; extenders and its choice do not. If `totals` is false, only the rows are found.
  void Evaluate(const api::PodPtr& pod, Evaluation* out, bool totals = true);
  // Calls f for each priority in the order of config().priorities, with its scores for the rows. Only for rows that the
  // pod fits. The referenced values are valid during the call.
  absl::Status ScoreByRule(const api::PodPtr& pod, const std::vector<Row>& rows,
                           absl::FunctionRef<void(const RuleScores&)> f) const;

  // Returns false if a predicate about the node object or the pods on the node rejects the pod there now, so that a
  // change of this node is no reason for another attempt. Returns true for unknown nodes.
  bool PassesNodePredicates(const api::Pod& pod, Symbol node) const;
  // Returns whether the event may let the pod fit, by the hint of the rule that rejected it. Returns true for rules
  // without a hint.
  bool MayHelp(Symbol rule, const api::Pod& pod, const ClusterEvent& event) const;

  // The result of one predicate on one node, for explain.
  struct PredicateResult {
    Verdict verdict;
    std::vector<FailureReason> reasons;  // `rule` is empty: the position says it
    RuleError error;
    RejectionDetail detail;
  };
  // Evaluates every predicate, without skipping any, on every listed node. Returns the results by node in ascending
  // order of names, each list in the order of config().predicates.
  std::vector<std::pair<Symbol, std::vector<PredicateResult>>> EvaluatePredicates(const api::PodPtr& pod);

  // Return approximately how many bytes the answers kept between decisions take, and how many they may take.
  size_t kept_answers_bytes() const;
  size_t kept_answers_limit() const;
  // Limits the answers of `schedulers` schedulers together to `bytes` bytes. 0, the default, stands for a quarter of
  // the memory that the cluster is estimated to take, and at least 64 MiB. REQUIRES: `schedulers` is not 0.
  void LimitKeptAnswers(size_t bytes, size_t schedulers = 1);

  // Returns how many attempts failed from what was kept of earlier ones, without a look at all nodes.
  uint64_t failures_said_again() const;

  // Returns what became of attempts to place pods in batches; null where the release does not count that.
  const BatchCounts* batch_counts() const;

  const AlgorithmConfig& config() const { return config_; }
  uint64_t last_node_index() const { return last_node_index_; }
  // The time that filtering and scoring took in the last decision (with kBoth, in the reference scheduler's). Zero
  // without a clock.
  struct Timing {
    absl::Duration predicates, priorities;
  };
  const Timing& timing() const { return timing_; }

 private:
  struct Parts;
  absl::Duration Now() const { return clock_ == nullptr ? absl::ZeroDuration() : clock_->Steady(); }
  std::optional<Decision> TryNominatedNode(const api::PodPtr& pod, DecisionTrace* trace) const;
  std::optional<Decision> TryNode(const api::PodPtr& pod, Symbol node, DecisionTrace* trace) const;
  Decision DecideAmongAll(const api::PodPtr& pod, DecisionMode mode, DecisionTrace* trace);
  std::optional<Decision> ScheduleIncrementally(const api::PodPtr& pod, ExtenderRound* round, SampledWalk* walk,
                                                bool* found_unfit);
  Decision ScheduleByReference(const api::PodPtr& pod, ExtenderRound* round, DecisionTrace* trace,
                               bool fits_nowhere = false);
  Decision ScheduleBothWays(const api::PodPtr& pod, SampledWalk* walk, DecisionTrace* trace);
  absl::StatusOr<Symbol> SelectHost(const api::PodPtr& pod, const PodContext& ctx, const std::vector<Row>& rows,
                                    DecisionTrace* trace, size_t* ties);
  absl::StatusOr<std::vector<int64_t>> Prioritize(const api::PodPtr& pod, const PodContext& ctx,
                                                  const std::vector<Row>& rows, DecisionTrace* trace);
  absl::Status AddScores(const api::PodPtr& pod, const PodContext& ctx, const std::vector<Row>& rows,
                         DecisionTrace* trace, std::vector<int64_t>* totals, std::vector<int64_t>* of_rule) const;
  Row ChooseAmongTies(std::vector<Row>* ties, DecisionTrace* trace);

  // batch.cc
  struct BatchRound;
  BatchRound HintFor(const api::PodPtr& pod, const std::string& signature) const;
  void CountBatch(const BatchRound& round, const Decision& d, bool others, bool signed_pod);
  Decision ScheduleInBatch(const api::PodPtr& pod, DecisionMode mode, DecisionTrace* trace);
  Decision ScheduleWithoutBatch(const api::PodPtr& pod, DecisionMode mode, DecisionTrace* trace);

  // guest.cc
  bool GuestFilters() const;
  bool GuestChooses() const;
  bool AskGuest(const api::PodPtr& pod, std::vector<Row>* rows, std::vector<Guest::Rejected>* rejected,
                Decision* d) const;
  bool LetGuestChoose(const api::PodPtr& pod, std::span<const Row> rows, std::span<int64_t> totals, size_t* ties) const;
  void EvaluateByReference(const api::PodPtr& pod, Evaluation* out);
  void ScoreRows(const api::PodPtr& pod, Evaluation* out);

  Cache* cache_;
  AlgorithmConfig config_;
  const util::Clock* clock_;
  std::unique_ptr<Parts> parts_;  // never null
  uint64_t last_node_index_ = 0, cycle_ = 0;
  Timing timing_;
  Guest* guest_ = nullptr;
};

}  // namespace berth::scheduler
