#include "pkg/scheduler/pod_fields.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "pkg/release/history.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

namespace history = release::history;

struct FieldInfo {
  std::string_view path;
  bool demands;  // whether a pod with the field must wait if it is not understood
  release::Span span;
};
constexpr std::array<FieldInfo, kPodFields> kFields = {{
    {"spec.topologySpreadConstraints[] with whenUnsatisfiable DoNotSchedule", true, history::kSpreadConstraints},
    {"spec.topologySpreadConstraints[] with whenUnsatisfiable ScheduleAnyway", false, history::kSpreadConstraints},
    {"namespaceSelector of a required term of spec.affinity.podAffinity or podAntiAffinity", true,
     history::kNamespaceSelectors},
    {"namespaceSelector of a preferred term of spec.affinity.podAffinity or podAntiAffinity", false,
     history::kNamespaceSelectors},
    {"spec.volumes[].ephemeral", true, history::kEphemeralVolumes},
    {"spec.drivers[].allocatable.count of CSINodes, which limits its volumes", true, history::kCsiLimits},
    {"spec.resources", true, history::kPodLevelRequests},
    // No emulated release allocates devices.
    {"spec.resourceClaims", true, history::kNever},
    {"spec.schedulingGroup", true, history::kSchedulingGroups},
    {"a feature of the node (restartPolicyRules with action RestartAllContainers, or hostNetwork with hostUsers false)",
     true, history::kNodeFeatures},
}};

size_t Index(PodField f) {
  return static_cast<size_t>(f);
}

void FindNamespaceSelectors(const std::optional<api::PodAffinity>& affinity, PodFieldSet* used) {
  if (!affinity) return;
  for (const api::PodAffinityTerm& t : affinity->required) {
    if (t.namespace_selector) used->set(Index(PodField::kRequiredNamespaceSelector));
  }
  for (const api::WeightedPodAffinityTerm& t : affinity->preferred) {
    if (t.term.namespace_selector) used->set(Index(PodField::kPreferredNamespaceSelector));
  }
}

// Returns the fields that the pod itself uses, which kCsiLimits is not.
PodFieldSet UsedFields(const api::PodTemplate& t) {
  PodFieldSet used;
  used[Index(PodField::kPodLevelResources)] = !t.pod_requests.empty() || !t.pod_limits.empty();
  used[Index(PodField::kResourceClaims)] = t.has_resource_claims;
  used[Index(PodField::kSchedulingGroup)] = t.in_group;
  used[Index(PodField::kNodeFeatures)] = !t.node_features.empty();
  for (const api::TopologySpreadConstraint& c : t.spread_constraints) {
    const bool preferred = c.action == api::TopologySpreadConstraint::Action::kScheduleAnyway;
    used.set(Index(preferred ? PodField::kPreferredSpread : PodField::kRequiredSpread));
  }
  FindNamespaceSelectors(t.affinity.pod, &used);
  FindNamespaceSelectors(t.affinity.pod_anti, &used);
  for (const api::Volume& v : t.volumes) {
    if (v.kind == api::Volume::Kind::kEphemeral) used.set(Index(PodField::kEphemeralVolume));
  }
  return used;
}

void DropNamespaceSelectors(std::optional<api::PodAffinity>* affinity) {
  if (!*affinity) return;
  for (api::PodAffinityTerm& t : (*affinity)->required) t.namespace_selector.reset();
  for (api::WeightedPodAffinityTerm& t : (*affinity)->preferred) t.term.namespace_selector.reset();
}

void DropFields(std::vector<api::NodeSelectorTerm>* terms) {
  for (api::NodeSelectorTerm& t : *terms) t.fields.clear();
}

}  // namespace

std::string_view PodFieldPath(PodField field) {
  return kFields[Index(field)].path;
}

PodFieldSet PodFieldsUnderstoodBy(release::Version version) {
  PodFieldSet understood;
  for (size_t i = 0; i < kPodFields; ++i) understood[i] = kFields[i].span.Has(version);
  return understood;
}

PodFieldSet PodFieldsUnderstoodBy(const AlgorithmConfig& rules) {
  PodFieldSet understood = PodFieldsUnderstoodBy(rules.release->version);
  for (const ConfiguredPredicate& p : rules.predicates) {
    if (p.name == "EvenPodsSpread") understood.set(Index(PodField::kRequiredSpread));
    if (p.name == "MaxCSIVolumeCountPred") understood.set(Index(PodField::kCsiLimits));
    // It lets a pod wait for its claims, and says for which.
    if (p.name == "DynamicResources") understood.set(Index(PodField::kResourceClaims));
  }
  for (const ConfiguredPriority& p : rules.priorities) {
    if (p.name == "EvenPodsSpreadPriority") understood.set(Index(PodField::kPreferredSpread));
  }
  return understood;
}

std::string GatedText(const api::PodTemplate& pod) {
  if (pod.scheduling_gates.empty()) return {};
  auto append = [](std::string* out, Symbol gate) { out->append(gate.str()); };
  return absl::StrCat("waiting for scheduling gates: [", absl::StrJoin(pod.scheduling_gates, " ", append), "]");
}

UnknownPodFields FindUnknownPodFields(const api::PodTemplate& pod, const PodFieldSet& understood) {
  UnknownPodFields found;
  const PodFieldSet unknown = UsedFields(pod) & ~understood;
  for (size_t i = 0; i < kPodFields; ++i) {
    if (unknown[i]) (kFields[i].demands ? found.blocking : found.ignored).set(i);
  }
  return found;
}

std::string BlockedText(const PodFieldSet& blocking) {
  BERTH_REQUIRES(blocking.any());
  std::string fields;
  release::Version since;
  for (size_t i = 0; i < kPodFields; ++i) {
    if (!blocking[i]) continue;
    since = std::max(since, kFields[i].span.since);
    absl::StrAppend(&fields, fields.empty() ? "" : ", ", std::string(kFields[i].path));
  }
  // The first release of the list that understands all of them.
  const auto all = release::All();
  auto first = std::find_if(all.begin(), all.end(), [&](const release::Id& id) { return id.version >= since; });
  const std::string helps =
      first == all.end() ? "" : absl::StrCat("--emulated-version=", std::string(first->name), " supports them, ");
  return absl::StrCat("the emulated release does not support fields of the pod: ", fields, "; ", helps,
                      "--ignore-unknown-fields ignores them");
}

api::PodPtr WithoutUnknownFields(const api::PodPtr& pod, const PodFieldSet& understood) {
  const api::PodTemplate& t = *pod->tmpl;
  api::PodTemplate plain = t;
  const auto knows = [&](PodField f) { return understood[Index(f)]; };
  if (!knows(PodField::kResourceClaims)) plain.has_resource_claims = false;
  if (!knows(PodField::kSchedulingGroup)) plain.in_group = false;
  if (!knows(PodField::kNodeFeatures)) plain.node_features.clear();
  const auto preferred = [](const api::TopologySpreadConstraint& c) {
    return c.action == api::TopologySpreadConstraint::Action::kScheduleAnyway;
  };
  std::erase_if(plain.spread_constraints, [&](const api::TopologySpreadConstraint& c) {
    return !knows(preferred(c) ? PodField::kPreferredSpread : PodField::kRequiredSpread);
  });
  if (!knows(PodField::kEphemeralVolume)) {
    std::erase_if(plain.volumes, [](const api::Volume& v) { return v.kind == api::Volume::Kind::kEphemeral; });
  }
  if (!knows(PodField::kRequiredNamespaceSelector)) {
    DropNamespaceSelectors(&plain.affinity.pod);
    DropNamespaceSelectors(&plain.affinity.pod_anti);
  }
  // What every release honours, but 1.10 did not know.
  if (!knows(PodField::kRequiredSpread)) {
    plain.scheduling_gates.clear();
    plain.never_preempts = false;
    if (auto& node = plain.affinity.node) {
      if (node->required) DropFields(&node->required->terms);
      for (api::PreferredSchedulingTerm& p : node->preferred) p.preference.fields.clear();
    }
  }
  if (plain == t) return pod;
  auto copy = std::make_shared<api::Pod>(*pod);
  copy->tmpl = api::PodTemplate::Intern(std::move(plain));
  return copy;
}

}  // namespace berth::scheduler
