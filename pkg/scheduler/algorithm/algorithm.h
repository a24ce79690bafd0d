// The two kinds of rules: fit predicates, which say where a pod may go, and priority functions, which say where it goes
// best. A rule is a function registered under a name together with its traits (traits.h, registry/registry.h). Called
// for a pod, it looks up and adds up what it needs once and returns an object that answers for one node row after
// another.
//
// Rules written for one node at a time, as users of RegisterFitPredicate write them, are adapted: see per_node.h. Rules
// about the pods in topology domains implement the interfaces of domain_rule.h.
#pragma once
#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/algorithm/traits.h"
#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/cache/gates.h"
#include "pkg/util/symbol.h"

namespace berth::scheduler {

class ClaimBinder;
class VolumeBinder;

// Why a node does not fit: the release's text, as it stands in events and conditions.
struct FailureReason {
  Symbol text;
  // True for what removing pods from the node can never change (1.10: unresolvable failures; 1.29:
  // UnschedulableAndUnresolvable); preemption skips the node.
  bool unresolvable = false;
  friend auto operator<=>(const FailureReason&, const FailureReason&) = default;
};

// What a rule's factory gets when a scheduler is built (1.10 PluginFactoryArgs). All pointers outlive the rules.
struct PluginFactoryArgs {
  Cache* cache = nullptr;
  VolumeBinder* volume_binder = nullptr;  // null when the gate VolumeScheduling is off
  ClaimBinder* claim_binder = nullptr;    // of release 1.29; null where nothing is ever assumed
  AlgorithmGates gates;
  int hard_pod_affinity_symmetric_weight = 1;  // 1..100
  int64_t max_score = 10;                      // the release's largest score of a priority
  // Extended resources that extenders manage and PodFitsResources ignores.
  std::set<Symbol> ignored_extended_resources;
  // The rule's own arguments as JSON: the `argument` of a Policy entry or the `args` of a pluginConfig entry; empty
  // when there are none.
  std::string arguments;
  // A factory appends what is wrong with its arguments, in whole sentences; the scheduler is then not built. Not null
  // while a factory runs; not to be kept.
  std::vector<std::string>* problems = nullptr;
};

// The pod to be placed, as rules see it.
struct PodContext {
  const api::Pod& pod;
  const TemplateInfo& info;  // of pod.tmpl
  const Cache& cache;
};

enum class Verdict : uint8_t { kFits, kFails, kError };

// How much pods of a row would have to give back, together, for it to fit: for preemption, which simulates evictions.
// In milliCPU, bytes and pods; what is not positive needs nothing.
struct FreedNeed {
  bool known = true;     // false: amounts alone cannot tell, so the pods must be removed and the rules called again
  bool possible = true;  // false: no eviction makes the row fit
  int64_t milli_cpu = INT64_MIN, memory = INT64_MIN, nvidia_gpu = INT64_MIN, ephemeral_storage = INT64_MIN,
          pods = INT64_MIN;
  void And(const FreedNeed& o);
};

// Amounts that count as used on a row beside those of the pods that are on it.
struct Beside {
  int64_t milli_cpu = 0, memory = 0, nvidia_gpu = 0, ephemeral_storage = 0, pods = 0;
};

// A rejection of the pod as a whole, before any node is looked at (1.29: PreFilter).
struct PodRejection {
  FailureReason reason;  // of every node
};

// A fit predicate prepared for one pod. It reads the cache as it is at the time of each call, so that the cache may be
// changed between calls by a Simulation. REQUIRES: it is destroyed before its pod.
class FitCheck {
 public:
  virtual ~FitCheck() = default;
  virtual Verdict Check(Row row) = 0;
  // Appends the reasons of a row for which Check returns kFails; at least one.
  virtual void Explain(Row row, std::vector<FailureReason>* reasons) = 0;
  // Returns what stands in the way on a row for which Check returns kFails, with the numbers behind it and what would
  // be enough; empty where the reasons say everything.
  virtual std::string Detail(Row) { return {}; }
  // Reasons of many rows at once. Returns how many bits the numbers have that NumberReasons writes, or 0 when this
  // predicate does not number its reasons.
  virtual int ReasonBits() const { return 0; }
  // Writes 0 for each row that fits, and for each other row a number that stands for its reasons: rows with one number
  // get the same reasons from Explain. `beside` is null, or has one element for each row and ReadsOnlyAmounts() is
  // true. REQUIRES: ReasonBits() is not 0.
  virtual void NumberReasons(std::span<const Row> rows, const Beside* beside, std::span<uint32_t> numbers);
  // Returns whether the predicate reads nothing of the pods on a node but the amounts of Beside.
  virtual bool ReadsOnlyAmounts() const { return false; }
  // Returns whether a pod without affinity terms that comes to a node changes nothing of what the predicate says.
  virtual bool IgnoresPodsWithoutTerms() const { return false; }
  // Appends the columns of the labels that it reads, and returns true, when it reads nothing else of a node and
  // MayError() is false.
  virtual bool NodeLabels(std::vector<const LabelColumn*>* /*columns*/) { return false; }
  // Writes rows, each once and in any order, outside of which no row fits, and returns true when that is cheaper than
  // looking at all rows.
  virtual bool Candidates(std::vector<Row>* /*rows*/) { return false; }
  // Returns the text of kError.
  virtual std::string Error(Row) { return {}; }
  // Returns true when the pod has nothing that this predicate looks at, so that it fits every row whatever happens
  // there.
  virtual bool FitsAlways() const { return false; }
  // Returns whether some row may get kError.
  virtual bool MayError() const { return false; }
  // Returns a rejection when no node can fit for a reason that is the pod's own, and null otherwise (1.29: PreFilter).
  // Such a pod fits no row.
  virtual const PodRejection* RejectsPod() { return nullptr; }
  // Returns the names of the only nodes that can fit, or null when the rule does not name nodes (1.29: the PreFilter
  // result of required node affinity on metadata.name). Nodes that are left out get no reason.
  virtual const std::vector<Symbol>* OnlyNodes() { return nullptr; }
  // Returns the text of a mistake that ends the scheduling cycle before any node is looked at (1.29: an error of
  // PreFilter); empty when there is none.
  virtual std::string PodError() { return {}; }
  // Returns true when the rule has nothing to say about this pod as the cluster is now, whatever is simulated on nodes
  // afterwards (1.29: a PreFilter that returns Skip).
  virtual bool SkipsPod() { return FitsAlways(); }
  // Returns what would have to leave the row for it to fit, as far as this predicate goes.
  virtual FreedNeed NeedsFreed(Row) {
    FreedNeed need;
    need.known = FitsAlways();
    return need;
  }
  // The same for a rule about the node object alone: evictions change nothing.
  FreedNeed Unchangeable(Row row) {
    FreedNeed need;
    need.possible = Check(row) == Verdict::kFits;
    return need;
  }
  // Erases from `candidates` the rows that do not fit and moves those with errors to `errors`. Override where a whole
  // column can be decided faster than row by row.
  virtual void Filter(RowSet* candidates, RowSet* errors);
  // Erases the rows that do not fit; the others stay in their order. REQUIRES: the predicate knows no errors.
  virtual void KeepFitting(std::vector<Row>* rows);
};
// Erases the rows whose flags have one of the given RowFlag bits.
void EraseFlagged(const Cache& cache, uint8_t flags, RowSet* rows);
void EraseFlagged(const Cache& cache, uint8_t flags, std::vector<Row>* rows);

using FitPredicate = std::function<std::unique_ptr<FitCheck>(const PodContext&)>;
using FitPredicateFactory = std::function<FitPredicate(const PluginFactoryArgs&)>;

// A priority function prepared for one pod.
class Scoring {
 public:
  virtual ~Scoring() = default;
  // Writes the raw scores of feasible rows, one place in `scores` for each. An error fails the scoring of the pod; it
  // is reported once for each row, unless OnePass().
  virtual absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) = 0;
  // Returns true for functions that look at all nodes at once (1.10's old form), which fail as a whole.
  virtual bool OnePass() const { return false; }
  // Returns true when the function has nothing to say about this pod among these rows: it adds nothing to any total and
  // is absent from the scores (1.29: a PreScore that returns Skip). Called before Map.
  virtual bool Skips(std::span<const Row> /*rows*/) { return false; }
  // Appends the columns of the labels that Map reads, and returns true, when it reads nothing else of a node and has no
  // errors. Without a label it must score 0.
  virtual bool NodeLabels(std::vector<const LabelColumn*>* /*columns*/) { return false; }
  // Turns the raw scores of all feasible rows into 0..max_score, in place.
  virtual absl::Status Reduce(std::span<const Row> /*rows*/, std::span<int64_t> /*scores*/) { return {}; }
};
using PriorityFunction = std::function<std::unique_ptr<Scoring>(const PodContext&)>;
using PriorityFunctionFactory = std::function<PriorityFunction(const PluginFactoryArgs&)>;

}  // namespace berth::scheduler
