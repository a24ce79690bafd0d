// What one attempt to schedule a pod, and one to preempt for it, come to.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/algorithm/node_failures.h"
#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler {

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

}  // namespace berth::scheduler
