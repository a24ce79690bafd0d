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

  // The pod's claims must exist before any predicate is asked (1.10: podPassesBasicChecks).
  bool checks_claims_first = false;
};

}  // namespace berth::scheduler
