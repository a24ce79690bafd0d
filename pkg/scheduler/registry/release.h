// A release of Kubernetes as a value: everything that differs between the algorithms of two releases, as data and small
// functions. A scheduler is built for one release; several may live in one process. Nothing switches on the name.
#pragma once
#include <absl/status/status.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "pkg/scheduler/algorithm/node_failures.h"
#include "pkg/scheduler/cache/template_info.h"
#include "pkg/scheduler/registry/registry.h"

namespace berth::scheduler {

enum class PreemptionStyle : uint8_t {
  kByPosition,    // 1.10: the first victim on a node counts as its most important one (bug B-25, kept)
  kByImportance,  // 1.29: by priority and start time, with budgets that are used up by one victim after another
};

struct Release {
  std::string_view name;  // "1.10"; the value of --emulated-version
  int64_t max_score = 0;  // the largest score of a priority, before its weight

  // Registers the release's own predicates, priorities and providers.
  void (*register_algorithms)(Registry*) = nullptr;
  // The order in which predicates are evaluated; names outside of it come after, by name (bug B-15 of 1.10, fixed).
  std::span<const std::string_view> predicate_ordering;

  // Fills in what a pod of a template counts for: requests, non-zero requests, host ports, QoS. A cache counts for one
  // release.
  void (*describe_template)(const api::PodTemplate&, TemplateInfo*) = nullptr;

  // Returns the text of a decision without a fitting node, from the failures of the nodes; `nodes` are listed in all.
  // `rejection` is the reason why the pod as a whole was rejected before any node was looked at, or null.
  std::string (*fit_error_text)(const NodeFailures& failures, size_t nodes, const PodRejection* rejection) = nullptr;

  // The pod's claims must exist before any predicate is called (1.10: podPassesBasicChecks).
  bool checks_claims_first = false;
  // A pod with status.nominatedNodeName goes there when it fits, and no other node is looked at.
  bool tries_nominated_node_first = false;
  // Of several errors in one cycle only the first is reported; otherwise all are, joined.
  bool reports_first_error_only = false;
  // Wraps the error of a predicate, found when it was prepared for the pod or on a node; null: it stands alone.
  enum class Step : uint8_t { kPrepare, kFilter };
  std::string (*error_text)(Step step, std::string_view predicate, std::string_view error) = nullptr;
  // How preemption chooses victims and nodes.
  PreemptionStyle preemption = PreemptionStyle::kByPosition;
};

}  // namespace berth::scheduler
