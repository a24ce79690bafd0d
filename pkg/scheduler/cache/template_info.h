// What a pod template means to the scheduler, worked out once per template.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/cache/resource.h"

namespace berth::scheduler {

class PodCount;
class DeclaredTerms;
using Row = uint32_t;
inline constexpr Row kNoRow = ~Row{0};

// Host ports as 1.10 compares them: empty ip is 0.0.0.0, empty protocol TCP.
struct HostPort {
  Symbol ip, protocol;
  int32_t port = 0;  // > 0
  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// One affinity term as declared by pods, with what it counts for.
struct TermUse {
  enum class Kind : uint8_t { kAntiRequired, kAffinityRequired, kPreferred };
  Kind kind;
  int32_t weight;  // of kPreferred: positive for affinity, negative for anti-affinity
  uint32_t term;   // index in DeclaredTerms
};

struct TemplateInfo {
  std::shared_ptr<const api::PodTemplate> tmpl;
  Resource request;  // of a pod to be placed: containers' sum, raised to each init container (predicates)
  Resource used;     // what a placed pod counts for: the containers' sum alone (upstream bug B-03, kept)
  Resource limits;   // containers' limits, raised to each init container's
  int64_t nonzero_milli_cpu = 0, nonzero_memory = 0;  // with 100 milliCPU / 200 MiB for containers that ask nothing
  // Release 1.29: the same for a pod that is to be placed, which differs for sidecars (bug M-05, kept).
  int64_t incoming_milli_cpu = 0, incoming_memory = 0;
  int32_t priority = 0;              // spec.priority, 0 when absent
  bool best_effort = false;          // QoS class
  bool has_pod_affinity = false;     // podAffinity or podAntiAffinity is set, even if empty
  bool saturated = false;            // an amount was cut to fit an int64
  std::vector<HostPort> host_ports;  // of regular containers, port > 0
  std::vector<TermUse> terms;        // declared affinity terms

  // Where pods of this template are now.
  struct Placed {
    int32_t live = 0, terminating = 0;
  };
  absl::flat_hash_map<Row, Placed> rows;
  int64_t pods = 0;                   // sum over rows
  std::vector<PodCount*> counted_by;  // the live counts that match this template

  // Whether evicting a pod of this template would break a disruption budget, as of this version of the budgets:
  // preemption needs it for every pod on every node, and templates are few.
  uint64_t budgets_version = ~uint64_t{0};
  bool violates_budget = false;
};

// Fills in everything that follows from the template alone (not terms, rows, counts), as Kubernetes 1.10 counts it.
void DescribeTemplate(const api::PodTemplate& t, TemplateInfo* info);
// The same as Kubernetes 1.29 counts it.
void DescribeTemplateV1_29(const api::PodTemplate& t, TemplateInfo* info);

}  // namespace berth::scheduler
