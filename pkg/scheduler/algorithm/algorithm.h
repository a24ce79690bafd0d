// The two kinds of rules: fit predicates, which decide whether a pod may run on a node, and priority functions, which
// score the nodes where it may. A rule is a function that is registered under a name together with its traits
// (traits.h, registry/registry.h). The function is called once for each pod. It computes whatever depends on the pod
// alone and returns an object that is then called for one row after another. A row is the dense index of a node in the
// cache.
//
// Rules that are written for one node at a time, as users of RegisterFitPredicate write them, are adapted by
// per_node.h. Rules about the pods in topology domains implement the interfaces of domain_rule.h.
//
// Thread-safety: none. Rules run on the thread that owns the cache.
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

// Why a node does not fit.
struct FailureReason {
  Symbol text;  // the release's text, as it appears in events and pod conditions
  // True if removing pods from the node can never make it fit (1.10: unresolvable failures; 1.29:
  // UnschedulableAndUnresolvable). Preemption then skips the node.
  bool unresolvable = false;
  // A text that stands for all reasons of this kind where few values may occur, such as in metrics. Empty if the text
  // itself is one of few, because it names no object.
  Symbol kind{};
  // The resource of which the node has too little left. Empty if that is not the reason.
  Symbol resource{};
  // The predicate or plugin that rejected the node. Rules leave it empty; whoever calls them fills it in.
  Symbol rule{};
  friend auto operator<=>(const FailureReason&, const FailureReason&) = default;
};

// An error of a rule, which ends the scheduling cycle.
struct RuleError {
  RuleError() {}
  // Implicit, because most errors are a text alone.
  RuleError(std::string t, Symbol k = {}) : text(std::move(t)), kind(k) {}  // NOLINT(google-explicit-constructor)
  RuleError(const char* t) : text(t) {}                                     // NOLINT(google-explicit-constructor)
  bool empty() const { return text.empty(); }

  std::string text;  // empty if there is no error
  Symbol kind{};     // as FailureReason::kind
};

// What a rule says about a node beyond its reasons, for users.
struct RejectionDetail {
  // What the text is about, where it decides what would help.
  enum class About : uint8_t { kOther, kMissingLabel, kFewDomains, kSkew };
  RejectionDetail() {}
  // Implicit, because a rule whose detail nothing else needs to read returns a text alone.
  RejectionDetail(std::string t) : text(std::move(t)) {}  // NOLINT(google-explicit-constructor)
  RejectionDetail(const char* t) : text(t) {}             // NOLINT(google-explicit-constructor)

  std::string text;       // with the numbers involved and what would be enough; empty if the reasons say everything
  std::string elsewhere;  // where the pod would fit instead; empty if that is not known
  Symbol label{};         // kMissingLabel: the key that the node lacks
  About about = About::kOther;
};

// What the factory of a rule receives when a scheduler is built (PluginFactoryArgs of 1.10). All pointers outlive the
// rules.
struct PluginFactoryArgs {
  Cache* cache = nullptr;
  VolumeBinder* volume_binder = nullptr;  // null if the gate VolumeScheduling is off
  ClaimBinder* claim_binder = nullptr;    // of a release that provisions claims; null if nothing is ever assumed
  AlgorithmGates gates;
  int hard_pod_affinity_symmetric_weight = 1;  // 1..100
  int64_t max_score = 10;                      // the highest score of a priority in this release
  // For priorities of releases with Policies: the names of the predicates of the scheduler, in the order of evaluation.
  std::vector<std::string> predicates;
  // Extended resources that extenders manage. PodFitsResources ignores them.
  std::set<Symbol> ignored_extended_resources;
  // The arguments of this rule as JSON: the `argument` of a Policy entry or the `args` of a pluginConfig entry. Empty
  // if there are none.
  std::string arguments;
  // Where a factory appends what is wrong with its arguments, one complete sentence for each mistake. If there are any,
  // the scheduler is not built. Not null while a factory runs; valid only during that call.
  std::vector<std::string>* problems = nullptr;
};

// The pod to be placed, as rules see it. All references stay valid as long as the rule object that was made from it.
struct PodContext {
  const api::Pod& pod;
  const TemplateInfo& info;  // of pod.tmpl
  const Cache& cache;
};

enum class Verdict : uint8_t { kFits, kFails, kError };

// How much must be released on a row, by evicting pods, before the pod fits there. Preemption uses it to avoid
// simulating evictions. Amounts are in milliCPU, bytes and pods; an amount of 0 or less requires nothing to be
// released.
struct FreedNeed {
  bool known = true;     // false: amounts alone do not decide, so pods must be removed and the rules called again
  bool possible = true;  // false: no eviction makes the row fit
  int64_t milli_cpu = INT64_MIN, memory = INT64_MIN, nvidia_gpu = INT64_MIN, ephemeral_storage = INT64_MIN,
          pods = INT64_MIN;
  // Combines the needs of two predicates: both must be satisfied.
  void And(const FreedNeed& o);
};

// Amounts that count as used on a row in addition to the pods that are on it, such as those of nominated pods.
struct AddedAmounts {
  int64_t milli_cpu = 0, memory = 0, nvidia_gpu = 0, ephemeral_storage = 0, pods = 0;
};

// A rejection of the pod as a whole, before any node is examined (a PreFilter status of 1.29).
struct PodRejection {
  FailureReason reason;  // reported for every node
};

// What a rule says of a pod before any node is examined (1.29: PreFilter).
struct PreFilterResult {
  // The rejection if a property of the pod itself means that no node can fit, and null otherwise. A rejected pod fits
  // no row. Valid as long as the check.
  const PodRejection* rejection = nullptr;
  RuleError error;
  // The names of the only nodes that can fit, or null if the rule does not restrict the nodes by name (1.29: required
  // node affinity on metadata.name). Nodes that are not in the list get no failure reason. Valid as long as the check.
  const std::vector<Symbol>* only_nodes = nullptr;
  // True if the rule does not apply to this pod in the present state of the cluster. The rule is then not called for
  // the rest of the cycle, even if a simulated change would make it apply.
  bool skip = false;
};

class ColumnCheck;

// A fit predicate that has been prepared for one pod. Each call reads the cache as it is at that moment, so a
// Simulation may change the cache between calls. A predicate that can say more about many rows at once is a ColumnCheck
// (column_check.h). The pod must outlive the object.
class FitCheck {
 public:
  virtual ~FitCheck() = default;
  // Returns whether the pod fits on the row, as far as this predicate is concerned.
  virtual Verdict Check(Row row) = 0;
  // Appends the reasons why the row does not fit, at least one. Only for rows whose Check returns kFails.
  virtual void Explain(Row row, std::vector<FailureReason>* reasons) = 0;
  // Returns what users may want to know about why the row does not fit. Only if Check(row) returns kFails.
  virtual RejectionDetail Detail(Row) { return {}; }
  // Returns whether Check may return kError for some row.
  virtual bool MayError() const { return false; }
  // Returns the error. Only for rows whose Check returns kError.
  virtual RuleError Error(Row) { return {}; }
  // Returns true if the pod has nothing that this predicate examines, so that every row fits whatever happens there.
  virtual bool FitsAlways() const { return false; }
  // Returns what the rule says of the pod as a whole, in the present state of the cluster.
  virtual PreFilterResult PreFilter() {
    PreFilterResult result;
    result.skip = FitsAlways();
    return result;
  }
  // Erases the rows that do not fit from `candidates`; of these, inserts the rows with errors into `errors`. Override
  // it where a whole column can be evaluated faster than row by row.
  virtual void Filter(RowSet* candidates, RowSet* errors);
  // Returns how much must be released on the row before it fits, as far as this predicate is concerned.
  virtual FreedNeed NeedsFreed(Row) {
    FreedNeed need;
    need.known = FitsAlways();
    return need;
  }
  // Implements NeedsFreed for a predicate that no eviction can change, such as one about the node object alone.
  FreedNeed Unchangeable(Row row) {
    FreedNeed need;
    need.possible = Check(row) == Verdict::kFits;
    return need;
  }
  // Returns this object if it is a ColumnCheck, and null otherwise.
  virtual ColumnCheck* AsColumns() { return nullptr; }
};
// Erases the rows that have at least one of the given RowFlag bits set.
void EraseFlagged(const Cache& cache, uint8_t flags, RowSet* rows);
void EraseFlagged(const Cache& cache, uint8_t flags, std::vector<Row>* rows);

using FitPredicate = std::function<std::unique_ptr<FitCheck>(const PodContext&)>;
using FitPredicateFactory = std::function<FitPredicate(const PluginFactoryArgs&)>;

// A priority function that has been prepared for one pod.
class Scoring {
 public:
  virtual ~Scoring() = default;
  // Writes the raw score of each of the feasible `rows` to the same index of `scores`. An error fails the scheduling of
  // the pod; it is reported once for each row, or once in all if OnePass().
  virtual absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) = 0;
  // Returns true for a function that examines all nodes in one call and therefore fails as a whole (the old form of
  // 1.10).
  virtual bool OnePass() const { return false; }
  // Returns true if the function does not apply to this pod on these rows: it then adds nothing to any total and does
  // not appear among the scores (1.29: a PreScore that returns Skip). Called before Map.
  virtual bool Skips(std::span<const Row> /*rows*/) { return false; }
  // If Map cannot fail and reads nothing of a node but its labels, appends the columns of those labels and returns
  // true. If there are no such labels, all raw scores must be 0.
  virtual bool NodeLabels(std::vector<const LabelColumn*>* /*columns*/) { return false; }
  // Converts the raw scores of all feasible rows to 0..max_score, in place.
  virtual absl::Status Reduce(std::span<const Row> /*rows*/, std::span<int64_t> /*scores*/) { return {}; }
};
using PriorityFunction = std::function<std::unique_ptr<Scoring>(const PodContext&)>;
using PriorityFunctionFactory = std::function<PriorityFunction(const PluginFactoryArgs&)>;

}  // namespace berth::scheduler
