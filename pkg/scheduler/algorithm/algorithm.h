// The two kinds of rules: fit predicates, which say where a pod may go, and priority functions, which say where it goes
// best. A rule is a function registered under a name (factory/factory.h). Called for a pod it *prepares*: it looks up
// and adds up whatever it needs once, and returns an object that answers for one node row after another.
//
// Rules written per node, as users of RegisterFitPredicate write them, are adapted: see per_node.h.
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
#include "pkg/scheduler/cache/cache.h"
#include "pkg/util/symbol.h"

namespace berth::scheduler {

class VolumeBinder;

inline constexpr int64_t kMaxPriority = 10;

// Why a node does not fit: 1.10's text, as it stands in events and conditions.
struct FailureReason {
  Symbol text;
  // True for what removing pods from the node can never change (1.10: unresolvable failures); preemption skips it.
  bool unresolvable = false;
  friend auto operator<=>(const FailureReason&, const FailureReason&) = default;
};

// Feature gates that rules consult, with 1.10's defaults.
struct AlgorithmGates {
  bool pod_priority = false;
  bool volume_scheduling = true;
  bool block_volume = false;
  bool storage_object_in_use_protection = true;
};

// What a rule's factory gets when a scheduler is built (1.10 PluginFactoryArgs). All outlive the rules.
struct PluginFactoryArgs {
  Cache* cache = nullptr;
  VolumeBinder* volume_binder = nullptr;  // null when gate VolumeScheduling is off
  AlgorithmGates gates;
  int hard_pod_affinity_symmetric_weight = 1;  // 1..100
  // Extended resources that extenders manage and PodFitsResources ignores.
  std::set<Symbol> ignored_extended_resources;
};

// The pod to be placed, as rules see it.
struct PodContext {
  const api::Pod& pod;
  const TemplateInfo& info;  // of pod.tmpl
  const Cache& cache;
};

enum class Verdict : uint8_t { kFits, kFails, kError };

// What a prepared rule's answers for a row depend on, besides the pod's template. It decides how long an answer may be
// kept (core/fast_path.h); a rule that does not say is asked for every pod anew.
enum class Scope : uint8_t {
  kAnything,  // not known
  kNode,      // the node object alone
  kRow,       // the node object and the pods on it
  kAffinity,  // inter-pod affinity terms (predicates/match_inter_pod_affinity.h, priorities/inter_pod_affinity.h)
  kSpread,    // pods of the same services (priorities/selector_spread.h)
  // Predicates only: the pod's volumes, with their claims and classes, the node and the volumes on it. Such a predicate
  // fits always for a pod without volumes.
  kVolumes,
};

// Of the pod's template, rules of scope kNode read only its QoS class, tolerations, node selector and node affinity,
// and rules of scope kRow also its requests (with and without defaults) and host ports - and what they declare beyond
// that.
enum TemplatePart : uint8_t { kImages = 1, kLimits = 2, kController = 4 };

// How much pods of a row would have to give back, together, for it to fit: for preemption, which thinks pods away. By
// milliCPU, bytes and pods; what is not positive needs nothing.
struct FreedNeed {
  bool known = true;     // false: amounts alone cannot tell, the pods must really be taken away and asked again
  bool possible = true;  // false: no eviction makes the row fit
  int64_t milli_cpu = INT64_MIN, memory = INT64_MIN, nvidia_gpu = INT64_MIN, ephemeral_storage = INT64_MIN,
          pods = INT64_MIN;
  void And(const FreedNeed& o);
};

// A fit predicate prepared for one pod. It reads the cache as it is at the time of each question, so that the cache may
// be changed between questions by a Simulation. Lives no longer than the scheduling of its pod.
class FitCheck {
 public:
  virtual ~FitCheck() = default;
  virtual Verdict Check(Row row) = 0;
  // Appends the reasons of a row whose verdict is kFails; at least one.
  virtual void Explain(Row row, std::vector<FailureReason>* reasons) = 0;
  // The text of kError.
  virtual std::string Error(Row) { return {}; }
  virtual Scope scope() const { return Scope::kAnything; }
  // The pod asks for nothing that this predicate looks at: it fits on every row, whatever happens there.
  virtual bool FitsAlways() const { return false; }
  // Of scope kVolumes: whether some row may get kError.
  virtual bool MayError() const { return false; }
  // Takes a predicate that is made of others apart, into those that must all hold; empty for one that is not.
  virtual std::vector<std::unique_ptr<FitCheck>> TakeParts() { return {}; }
  // What would have to leave the row for it to fit, as far as this predicate goes.
  virtual FreedNeed NeedsFreed(Row row) {
    FreedNeed need;
    need.known = FitsAlways() || scope() == Scope::kNode;
    need.possible = !need.known || Check(row) == Verdict::kFits;
    return need;
  }
  // Erases from `candidates` the rows that do not fit and moves those with errors to `errors`. Overridden where a whole
  // column can be asked faster than row by row.
  virtual void Filter(RowSet* candidates, RowSet* errors);
  // Erases the rows that do not fit. For predicates that know no errors.
  virtual void KeepFitting(std::vector<Row>* rows);
};
using FitPredicate = std::function<std::unique_ptr<FitCheck>(const PodContext&)>;
using FitPredicateFactory = std::function<FitPredicate(const PluginFactoryArgs&)>;

// How raw scores become 0..10.
enum class ReduceKind : uint8_t {
  kNone,               // they are already
  kNormalize,          // 10 * raw / the largest
  kNormalizeReversed,  // 10 - that
  kOwn,                // by Reduce alone
};

// A priority function prepared for one pod.
class Scoring {
 public:
  virtual Scope scope() const { return Scope::kAnything; }
  virtual ReduceKind reduce_kind() const { return ReduceKind::kOwn; }
  virtual uint8_t parts() const { return 0; }  // TemplatePart bits
  virtual ~Scoring() = default;
  // Raw scores of feasible rows, one place in `scores` each. An error fails the scoring of the pod; it is reported once
  // for each row, unless OnePass().
  virtual absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) = 0;
  // True for functions that look at all nodes at once (1.10's old form), which fail as a whole.
  virtual bool OnePass() const { return false; }
  // Turns the raw scores of all feasible rows into 0..10, in place.
  virtual absl::Status Reduce(std::span<const Row> /*rows*/, std::span<int64_t> /*scores*/) { return {}; }
};
using PriorityFunction = std::function<std::unique_ptr<Scoring>(const PodContext&)>;
using PriorityFunctionFactory = std::function<PriorityFunction(const PluginFactoryArgs&)>;

// The order in which predicates are asked (1.10 predicates.Ordering); names outside of it come after, by name (B-15).
std::span<const std::string_view> PredicateOrdering();

}  // namespace berth::scheduler
