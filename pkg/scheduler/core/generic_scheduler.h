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
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/algorithm/node_failures.h"
#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/cache/nominated_pods.h"
#include "pkg/scheduler/core/guest.h"
#include "pkg/scheduler/registry/algorithm_config.h"
#include "pkg/util/clock.h"

namespace berth::scheduler {

class Errors;

struct Decision {
  enum class Outcome : uint8_t {
    kPlaced,
    kUnfit,    // no node fits (1.10: FitError); preemption may help
    kNoNodes,  // the cluster has no nodes
    kError,    // the pod could not be evaluated; `error` says why
  };
  Outcome outcome = Outcome::kError;
  Symbol host;        // only for kPlaced
  std::string error;  // the text for events and conditions; empty for kPlaced
  Symbol error_kind;  // kError: RuleError::kind
  size_t nodes = 0;   // number of listed nodes
  size_t feasible = 0;
  size_t evaluated = 0;  // number of nodes that were looked at, if not all were to be; else 0
  size_t ties = 0;       // kPlaced: number of nodes that share the best score
  Symbol hint;           // the node that the decision before this one proposed (batch.h); empty if none did
  std::shared_ptr<const NodeFailures> failures;  // set for kUnfit; for kPlaced only if a trace was requested
  // kUnfit: the rules that rejected the pod, on some node or as a whole. Nodes that extenders rejected count for
  // kExtenderRule.
  std::vector<Symbol> rejected_by;
  // DecisionMode::kBoth: a text that says how the incremental scheduler's decision differs from this one; empty when it
  // does not.
  std::string difference;

  void SetError(RuleError e) {
    error = std::move(e.text);
    error_kind = e.kind;
  }
};

// The rule of reasons that extenders give. The name is that of a plugin that 1.29 pretends to have.
inline constexpr std::string_view kExtenderRule = "Extender";

// Explains a decision in full.
struct DecisionTrace {
  std::shared_ptr<const NodeFailures> failures;
  std::vector<std::pair<Symbol, std::string>> rejected_by;  // nodes that failed, each with the first failed predicate
  // With always_check_all_predicates: every predicate that rejected a node, and whether evictions cannot help against
  // it.
  struct Rejection {
    Symbol node;
    std::string predicate;
    bool unresolvable;
  };
  std::vector<Rejection> rejections;
  struct Priority {
    std::string name;
    int64_t weight;
    std::vector<int64_t> scores;  // scores[i] is that of feasible[i], from 0 to the release's maximum
  };
  std::vector<Symbol> feasible;      // the nodes that fit, by name
  std::vector<Priority> priorities;  // empty when fewer than two nodes fit, because they are not scored then
  std::vector<int64_t> totals;  // totals[i] is that of feasible[i]; empty when `priorities` is empty for this reason
  size_t ties = 0;              // number of nodes that share the best total
  std::vector<Symbol> tied;     // the nodes that share the best total, in the order in which one is chosen
  NodeOrder order = NodeOrder::kNameDescending;  // of `tied`
  uint64_t round_robin = 0;                      // the value of the round-robin counter that chose among them
};

struct Preemption {
  enum class Outcome : uint8_t {
    kNone,         // preemption helps on no node, or room is being made already; `error` is empty
    kChosen,       // the victims are to be evicted
    kNotEligible,  // the pod must not preempt now
    kHelpsNowhere,
    kFailed,
  };
  Outcome outcome = Outcome::kNone;
  Symbol node;                                  // empty when preemption helps on no node
  std::vector<api::PodPtr> victims;             // the pods to evict from `node`
  std::vector<api::PodPtr> nominated_to_clear;  // pods whose status.nominatedNodeName should be cleared
  // Why the attempt failed or found nothing, where the release says so. Ready to be appended to the error of the
  // decision.
  std::string error;
};

class IncrementalScheduler;
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
  // with its failures, and only if gate PodPriority is on. Simulates evictions on the cache and restores it.
  Preemption Preempt(const api::PodPtr& pod, const NodeFailures& failures);

  // Sets what an embedding program adds to decisions; null: nothing. `guest` must outlive the scheduler or be replaced
  // before. With a guest, pods are not placed in batches, and a nominated node is not tried before the others.
  void set_guest(Guest* guest) { guest_ = guest; }
  // Finds the rows that fit and their totals, and decides nothing: the round-robin counter stays as it is. The guest's
  // filters count; extenders and its choice do not. If `totals` is false, only the rows are found.
  void Evaluate(const api::PodPtr& pod, Evaluation* out, bool totals = true);
  // Calls f for each priority in the order of config().priorities, with its scores for the rows. REQUIRES: the pod fits
  // on the rows. The referenced values are valid during the call.
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

  const AlgorithmConfig& config() const { return config_; }
  uint64_t last_node_index() const { return last_node_index_; }
  // The time that filtering and scoring took in the last decision (with kBoth, in the reference scheduler's). Zero
  // without a clock.
  struct Timing {
    absl::Duration predicates, priorities;
  };
  const Timing& timing() const { return timing_; }

 private:
  struct Checks;
  struct Filtered;
  struct Victims;
  struct Kept;
  struct KeptFailure;
  struct ExtenderRound;
  struct VictimCost;
  absl::Duration Now() const { return clock_ == nullptr ? absl::ZeroDuration() : clock_->Steady(); }
  std::optional<Decision> ScheduleIncrementally(const api::PodPtr& pod, ExtenderRound* round, SampledWalk* walk,
                                                bool* found_unfit);
  Decision ScheduleByReference(const api::PodPtr& pod, ExtenderRound* round, DecisionTrace* trace,
                               bool fits_nowhere = false);
  Decision ScheduleBothWays(const api::PodPtr& pod, SampledWalk* walk, DecisionTrace* trace);
  void PutIntoOrderOf(const SampledWalk& walk, std::vector<Row>* rows) const;
  Checks Prepare(const PodContext& ctx) const;
  Checks PrepareActive(const PodContext& ctx) const;
  bool RejectPod(Checks& checks, Decision* d, DecisionTrace* trace) const;
  std::optional<Decision> TryNominatedNode(const api::PodPtr& pod, DecisionTrace* trace) const;
  Symbol RuleOf(const Checks& checks, size_t check) const;
  void AppendReasons(const Checks& checks, size_t check, Row row, std::vector<FailureReason>* reasons) const;
  std::optional<Decision> TryNode(const api::PodPtr& pod, Symbol node, DecisionTrace* trace) const;
  Decision DecideAmongAll(const api::PodPtr& pod, DecisionMode mode, DecisionTrace* trace);
  Symbol HintFor(const api::PodPtr& pod, const std::string& signature) const;
  Decision ScheduleInBatch(const api::PodPtr& pod, DecisionMode mode, DecisionTrace* trace);
  bool ClaimsWerePrepared(const api::PodPtr& pod) const;
  Preemption RunPostFilters(const api::PodPtr& pod, const NodeFailures& failures) const;
  void InWordsOfRelease(size_t first, std::vector<FailureReason>* reasons) const;
  RuleError ErrorOfCheck(const Checks& checks, size_t check, Row row) const;
  RuleError ErrorOf(const Errors& errors) const;
  std::optional<Decision> FailAgain(const api::PodPtr& pod);
  void KeepFailure(const api::PodPtr& pod, const Checks& checks, Filtered filtered, const Decision& d);
  bool RowsDecide(const Checks& checks) const;
  bool Renew(const api::Pod& pod, Checks& checks, const std::vector<Row>& rows, KeptFailure* kept) const;
  Filtered Filter(const api::PodPtr& pod, Checks& checks) const;
  Filtered FilterSample(const api::PodPtr& pod, Checks& checks) const;
  std::shared_ptr<NodeFailures> Explain(const api::Pod& pod, Checks& checks, const Filtered& filtered,
                                        DecisionTrace* trace) const;
  bool IsExtended(const api::Pod& pod) const;
  bool AskExtenders(const api::Pod& pod, std::vector<Row>* feasible, ExtenderRound* round) const;
  void AddExtenderScores(const api::Pod& pod, std::span<const Row> rows, std::span<int64_t> totals) const;
  absl::StatusOr<Symbol> SelectHost(const api::PodPtr& pod, const PodContext& ctx, const std::vector<Row>& rows,
                                    DecisionTrace* trace, size_t* ties);
  Row ChooseAmongTies(std::vector<Row>* ties, DecisionTrace* trace);
  absl::StatusOr<std::vector<int64_t>> Prioritize(const api::PodPtr& pod, const PodContext& ctx,
                                                  const std::vector<Row>& rows, DecisionTrace* trace);
  bool GuestFilters() const;
  bool GuestChooses() const;
  bool AskGuest(const api::PodPtr& pod, std::vector<Row>* rows, std::vector<Guest::Rejected>* rejected,
                Decision* d) const;
  bool LetGuestChoose(const api::PodPtr& pod, std::span<const Row> rows, std::span<int64_t> totals, size_t* ties) const;
  void EvaluateByReference(const api::PodPtr& pod, Evaluation* out);
  void ScoreRows(const api::PodPtr& pod, Evaluation* out);
  bool HasNominated(const api::Pod& pod, Symbol node) const;
  // Why a row does not fit.
  struct Why {
    std::vector<FailureReason> reasons;
    size_t check = 0;  // index in Checks::list of the first check that failed
    // If all checks were evaluated: those that failed, each with whether evictions cannot help against it.
    std::vector<std::pair<size_t, bool>> all;
    RuleError error;  // for Verdict::kError
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
  std::vector<Symbol> rule_names_;  // of config_.predicates
  const NominatedPods* nominated_;
  const util::Clock* clock_;
  std::unique_ptr<IncrementalScheduler> incremental_;
  std::unique_ptr<Kept> kept_;  // never null
  uint64_t last_node_index_ = 0, cycle_ = 0;
  Timing timing_;
  Guest* guest_ = nullptr;
};

}  // namespace berth::scheduler
