// The cache's record of a pod template: what its pods request, computed once, and where they are. Equal templates are
// one object (api::PodTemplate::Intern), so there is one record for many pods.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/cache/resource.h"

namespace berth::scheduler {

class PodCount;
class DeclaredTerms;
// The dense index of a node in the cache's table (cache.h).
using Row = uint32_t;
inline constexpr Row kNoRow = ~Row{0};

// A host port as 1.10 compares it. An empty address has been replaced by 0.0.0.0 and an empty protocol by TCP.
struct HostPort {
  Symbol ip, protocol;
  int32_t port = 0;  // > 0
  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// A template's use of a declared affinity term.
struct TermUse {
  enum class Kind : uint8_t { kAntiRequired, kAffinityRequired, kPreferred };
  Kind kind;
  int32_t weight;  // only for kPreferred: positive for affinity, negative for anti-affinity
  uint32_t term;   // index in DeclaredTerms::terms()
};

// What the templates with one namespace and the same labels have in common: no query tells their pods apart.
struct LabelledPods {
  Symbol ns;
  api::Labels labels;
  // The number of their placed pods by row, without rows that have none.
  struct Placed {
    int32_t live = 0, terminating = 0;
  };
  absl::flat_hash_map<Row, Placed> rows;
  std::vector<PodCount*> counted_by;  // the live counts whose query matches these pods
  size_t templates = 0;               // how many there are
};

struct TemplateInfo {
  std::shared_ptr<const api::PodTemplate> tmpl;
  // What predicates compare for a pod to be placed: for each resource, the sum over the containers, or the request of
  // an init container where that is larger.
  Resource request;
  // What a placed pod adds to its node. In 1.10 init containers do not count (bug B-03, kept); in 1.29 it is `request`.
  Resource used;
  Resource limits;  // the sum over the containers, or the limit of an init container where that is larger
  // What a placed pod adds to the sums that priorities read, in milliCPU and bytes. A container without a request for
  // the resource counts as 100 milliCPU or 200 MiB.
  int64_t nonzero_milli_cpu = 0, nonzero_memory = 0;
  // The same for a pod to be placed, which differs for sidecars in 1.29 (bug M-05, kept) and for the overhead of cpu in
  // 1.19.
  int64_t incoming_milli_cpu = 0, incoming_memory = 0;
  // What scores of a pod to be placed read of scalar resources, where that is not what `request` has (1.36: pod-level
  // requests do not count).
  std::optional<std::vector<std::pair<Symbol, int64_t>>> incoming_scalars;
  int32_t priority = 0;              // spec.priority, 0 when absent
  bool best_effort = false;          // QoS class
  bool has_pod_affinity = false;     // podAffinity or podAntiAffinity is set, even if empty
  bool saturated = false;            // an amount was cut to fit an int64
  std::vector<HostPort> host_ports;  // of regular containers, port > 0
  std::vector<TermUse> terms;        // the pod's inter-pod affinity terms

  int64_t pods = 0;                  // the number of placed pods of this template
  LabelledPods* labelled = nullptr;  // what it shares with templates that have the same labels; set by the cache

  // Whether evicting a pod of this template violates a disruption budget, as of this version of the budgets. Preemption
  // needs this for every pod on every node, so the result is kept by template.
  uint64_t budgets_version = ~uint64_t{0};
  bool violates_budget = false;
};

// Returns the pod-level requests that count: of cpu, memory and huge pages. Other names have no meaning there.
api::ResourceList PodLevelRequests(const api::PodTemplate& t);

// Fills in what follows from the template alone, that is all but terms, rows, pods and counts, by the rules of
// Kubernetes 1.10.
void DescribeTemplate(const api::PodTemplate& t, TemplateInfo* info);
// The same by the rules of Kubernetes 1.9, and of 1.8.
void DescribeTemplateWithOuterNames(const api::PodTemplate& t, TemplateInfo* info);
void DescribeTemplateWithOpaqueNames(const api::PodTemplate& t, TemplateInfo* info);
// The same by the rules of Kubernetes 1.11 to 1.13, where alpha.kubernetes.io/nvidia-gpu and every other name that
// contains "kubernetes.io/" is a scalar resource.
void DescribeTemplateWithScalarGpu(const api::PodTemplate& t, TemplateInfo* info);
// The same by the rules of Kubernetes 1.29.
void DescribeTemplateWithSidecars(const api::PodTemplate& t, TemplateInfo* info);
// The same by the rules of Kubernetes 1.19.
void DescribeTemplateWithOverhead(const api::PodTemplate& t, TemplateInfo* info);
// The same by the rules of Kubernetes 1.36.
void DescribeWithPodLevel(const api::PodTemplate& t, TemplateInfo* info);

}  // namespace berth::scheduler
