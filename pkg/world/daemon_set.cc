#include "pkg/world/daemon_set.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "pkg/util/status.h"
#include "pkg/world/workload.h"

namespace berth::world {
namespace {

struct DaemonToleration {
  std::string_view key, effect;
};
constexpr DaemonToleration kOfDaemons[] = {
    {"node.kubernetes.io/not-ready", "NoExecute"},
    {"node.kubernetes.io/unreachable", "NoExecute"},
    {"node.kubernetes.io/disk-pressure", "NoSchedule"},
    {"node.kubernetes.io/memory-pressure", "NoSchedule"},
    {"node.kubernetes.io/pid-pressure", "NoSchedule"},
    {"node.kubernetes.io/unschedulable", "NoSchedule"},
    {"node.kubernetes.io/network-unavailable", "NoSchedule"},
};

// Adds a toleration, or overwrites the one with the same key, effect and operator.
void AddOrOverwrite(const DaemonToleration& t, Value* tolerations) {
  Value added = Value::Object({{"key", t.key}, {"operator", "Exists"}, {"effect", t.effect}});
  for (Value& own : tolerations->items) {
    if (own.Str("key") == t.key && own.Str("effect") == t.effect && own.Str("operator") == "Exists") {
      own = std::move(added);
      return;
    }
  }
  tolerations->Append(std::move(added));
}

bool TermMatches(const api::NodeSelectorTerm& term, const api::Node& node) {
  if (!term.has_expressions && term.fields.empty()) return false;
  if (term.has_expressions && (!term.match.ok() || !term.match.selector.Matches(node.labels))) return false;
  return std::all_of(term.fields.begin(), term.fields.end(), [&](const api::FieldRequirement& f) {
    const std::string_view value = f.key.str() == "metadata.name" ? std::string_view(node.meta.name) : "";
    const bool listed = std::any_of(f.values.begin(), f.values.end(), [&](api::Symbol v) { return v.str() == value; });
    return f.op == "NotIn" ? !listed : listed;
  });
}

bool TaintTolerated(const api::Toleration& t, const api::Taint& taint) {
  if (!t.effect.empty() && t.effect != taint.effect) return false;
  if (!t.key.empty() && t.key != taint.key) return false;
  if (t.op.str() == "Exists") return true;
  return (t.op.empty() || t.op.str() == "Equal") && !t.key.empty() && t.value == taint.value;
}

}  // namespace

Value PodOfDaemonSet(const Value& daemon_set, const Rules& rules) {
  const Value& spec = validation::OrEmpty(daemon_set.Find("spec"));
  const Value& pod_template = validation::OrEmpty(spec.Find("template"));
  Value pod = PodOfTemplate(pod_template, daemon_set);
  const Value* generation = spec.Find("templateGeneration");
  std::string number(AnnotationOf(daemon_set, "deprecated.daemonset.template.generation"));
  if (number.empty()) number = generation != nullptr && generation->IsNumber() ? generation->text() : "1";
  Value& labels = pod.Child("metadata").Child("labels");
  labels.SetAll({{"controller-revision-hash", TemplateHash(pod_template)}, {"pod-template-generation", number}});
  Value& pod_spec = pod.Child("spec");
  const Value* host = pod_spec.Find("hostNetwork");
  const bool host_network = host != nullptr && host->AsBool();
  const Value* own = pod_spec.Find("tolerations");
  if (own == nullptr || !own->IsArray()) pod_spec.Set("tolerations", Value::Array());
  Value& tolerations = *pod_spec.Find("tolerations");
  for (const DaemonToleration& t : kOfDaemons) {
    if (t.key.ends_with("/pid-pressure") && !rules.daemons_tolerate_pid_pressure) continue;
    if (t.key.ends_with("/unschedulable") && !rules.daemon_pods_are_scheduled) continue;
    if (t.key.ends_with("/network-unavailable") && !host_network) continue;
    AddOrOverwrite(t, &tolerations);
  }
  return pod;
}

bool DaemonRunsOn(const api::PodTemplate& pod, std::string_view node_name_of_template, const api::Node& node) {
  if (!node_name_of_template.empty() && node_name_of_template != node.meta.name) return false;
  for (const auto& [key, value] : pod.node_selector) {
    if (node.labels.Get(key) != value) return false;
  }
  if (pod.affinity.node && pod.affinity.node->required) {
    const auto& terms = pod.affinity.node->required->terms;
    if (std::none_of(terms.begin(), terms.end(), [&](const auto& t) { return TermMatches(t, node); })) return false;
  }
  return std::all_of(node.taints.begin(), node.taints.end(), [&](const api::Taint& taint) {
    // A cordon is tolerated in every release; up to 1.11 the controller passes it over without a toleration.
    if (taint.effect.str() == "PreferNoSchedule" || taint.key.str() == "node.kubernetes.io/unschedulable") return true;
    return std::any_of(pod.tolerations.begin(), pod.tolerations.end(),
                       [&](const api::Toleration& t) { return TaintTolerated(t, taint); });
  });
}

void PinToNode(std::string_view node, Value* pod) {
  Value requirement = Value::Object({{"key", "metadata.name"}, {"operator", "In"}});
  requirement.Set("values", Value::Array()).Append(Value::String(node));
  Value term = Value::Object();
  term.Set("matchFields", Value::Array()).Append(std::move(requirement));
  Value required = Value::Object();
  required.Set("nodeSelectorTerms", Value::Array()).Append(std::move(term));
  pod->Child("spec")
      .Child("affinity")
      .Child("nodeAffinity")
      .Set("requiredDuringSchedulingIgnoredDuringExecution", std::move(required));
}

std::shared_ptr<const api::PodTemplate> PinnedToNode(const api::PodTemplate& pod, std::string_view node) {
  api::PodTemplate pinned = pod;
  if (!pinned.affinity.node) pinned.affinity.node.emplace();
  api::NodeSelectorTerm term;
  term.fields.push_back({api::Symbol("metadata.name"), "In", {api::Symbol(node)}});
  pinned.affinity.node->required.emplace().terms = {std::move(term)};
  pinned.has_affinity = true;
  return api::PodTemplate::Intern(std::move(pinned));
}

}  // namespace berth::world
