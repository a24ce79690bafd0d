#include "pkg/explain/remedies.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "pkg/explain/plugin_remedies.h"
#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/cache/scalar_lookup.h"
#include "pkg/util/status.h"

namespace berth::explain {
namespace {

namespace reasons = scheduler::reasons;
using scheduler::FailureReason;
using scheduler::NodeRow;
using scheduler::Row;
using scheduler::Symbol;

// Returns an amount in the largest binary unit with at most two decimals.
std::string Bytes(int64_t n) {
  static constexpr const char* kUnits[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  size_t unit = 0;
  double v = static_cast<double>(n);
  while (v >= 1024 && unit < 6) {
    v /= 1024;
    ++unit;
  }
  // Rounded up, so that freeing the displayed amount is enough.
  double shown = std::ceil(v * 100 - 1e-9) / 100;
  return absl::StrFormat("%g%s", shown, kUnits[unit]);
}

// What the pod requests, what is in use on the node, and what is allocatable. In milliCPU, bytes or units.
struct Balance {
  int64_t request = 0, used = 0, allocatable = 0;
};

Balance BalanceOf(const scheduler::Cache& cache, const scheduler::TemplateInfo& info, Row row,
                  std::string_view resource) {
  const scheduler::Columns& c = cache.columns();
  const NodeRow& node = cache.row(row);
  if (resource == "pods") return {1, c.pod_count[row], c.alloc_pods[row]};
  if (resource == "cpu") return {info.request.milli_cpu, c.used_cpu[row], c.alloc_cpu[row]};
  if (resource == "memory") return {info.request.memory, c.used_memory[row], c.alloc_memory[row]};
  if (resource == "alpha.kubernetes.io/nvidia-gpu") return {info.request.nvidia_gpu, c.used_gpu[row], c.alloc_gpu[row]};
  if (resource == "ephemeral-storage") {
    return {info.request.ephemeral_storage, c.used_ephemeral[row], c.alloc_ephemeral[row]};
  }
  Symbol name(resource);
  return {ScalarOf(info.request, name), ScalarOf(node.requested, name), ScalarOf(node.allocatable, name)};
}

// Returns a remedy without an amount.
Remedy Plain(std::string text, Cost cost, Change change = {}, bool possible = true) {
  Remedy r;
  r.change = std::move(change);
  r.kind = r.text = std::move(text);
  r.cost = cost;
  r.possible = possible;
  return r;
}

// Returns the change of a pod that no longer requests a resource.
Change Without(std::string_view resource) {
  return [name = Symbol(resource)](Copies* c) {
    const auto drop = [&](api::ResourceList* requests) {
      std::erase_if(*requests, [&](const auto& entry) { return entry.first == name; });
    };
    for (auto* containers : {&c->tmpl.containers, &c->tmpl.init_containers}) {
      for (api::Container& container : *containers) {
        drop(&container.requests);
        drop(&container.limits);
      }
    }
    drop(&c->tmpl.pod_requests);
    drop(&c->tmpl.pod_limits);
  };
}

// Returns the remedy for a lack of the resource. Returns nothing if there is enough of it; then a plugin uses the text
// of 1.10 for another purpose.
std::optional<Remedy> ForResource(const scheduler::Cache& cache, const scheduler::TemplateInfo& info, Row row,
                                  std::string_view resource) {
  Balance b = BalanceOf(cache, info, row, resource);
  const bool pods = resource == "pods";
  std::string what = pods ? "place for pods" : std::string(resource);
  Remedy r;
  r.cost = Cost::kMove;
  r.resource = resource;
  if (b.allocatable == 0 && b.request > 0) {
    r.kind = r.text = absl::StrCat("choose a node with ", what, ", of which this one has none");
    r.effort = static_cast<double>(b.request);
    r.possible = false;
    r.shortage = b.request;
    return r;
  }
  if (b.request > b.allocatable) {
    r.kind = absl::StrCat("ask for less ", what);
    r.text = absl::StrCat(r.kind, " (", AmountOf(resource, b.request), ", more than the ",
                          AmountOf(resource, b.allocatable), " there is)");
    r.effort = static_cast<double>(b.request) - static_cast<double>(b.allocatable);
    r.possible = false;
    r.shortage = scheduler::SaturatingSub(b.request, b.allocatable);
    if (!pods) r.change = Without(resource);
    return r;
  }
  r.shortage = scheduler::SaturatingSub(scheduler::SaturatingAdd(b.request, b.used), b.allocatable);
  if (r.shortage <= 0) return std::nullopt;
  if (pods) what = r.shortage == 1 ? "pod" : "pods";
  r.kind = pods ? "move away pods" : absl::StrCat("free ", what);
  r.text = absl::StrCat(pods ? "move away " : "free ", AmountOf(resource, r.shortage), " ", what);
  r.moves = true;
  r.effort = static_cast<double>(r.shortage) / static_cast<double>(std::max<int64_t>(b.allocatable, 1));
  return r;
}

// Returns the labels with these in addition; a label without a value is taken away.
api::Labels WithLabels(const api::Labels& labels, const std::map<Symbol, std::optional<Symbol>>& others) {
  std::vector<std::pair<Symbol, Symbol>> pairs;
  for (const auto& [key, value] : labels) {
    if (!others.contains(key)) pairs.emplace_back(key, value);
  }
  for (const auto& [key, value] : others) {
    if (value) pairs.emplace_back(key, *value);
  }
  return api::Labels(std::move(pairs));
}

// Returns labels that the selector matches; nothing if it is not known how.
std::optional<std::map<Symbol, std::optional<Symbol>>> Matching(const api::Selector& selector) {
  using api::Operator;
  std::map<Symbol, std::optional<Symbol>> labels;
  if (selector.MatchesNothing()) return std::nullopt;
  for (const api::Requirement& r : selector.requirements()) {
    std::optional<Symbol>& value = labels[r.key];
    switch (r.op) {
      case Operator::kNotIn:
      case Operator::kNotEquals:
      case Operator::kDoesNotExist:
        break;
      case Operator::kGreaterThan:
      case Operator::kLessThan:
        value = Symbol(absl::StrCat(r.bound + (r.op == Operator::kGreaterThan ? 1 : -1)));
        break;
      case Operator::kExists:
        if (!value) value = Symbol("true");
        break;
      default:
        if (!r.values.empty()) value = r.values[0];
    }
  }
  return labels;
}

// Returns the change of a node that gets labels which the selector matches.
Change Labelling(const api::Selector& selector) {
  auto labels = Matching(selector);
  if (!labels) return {};
  return [labels = *std::move(labels)](Copies* c) { c->node.labels = WithLabels(c->node.labels, labels); };
}

// Returns the change that puts a pod on the node for each term of the required affinity.
Change PlacingFor(const std::vector<api::PodAffinityTerm>& terms) {
  std::vector<std::shared_ptr<api::Pod>> pods;
  for (const api::PodAffinityTerm& t : terms) {
    auto labels = Matching(t.selector.selector);
    if (!t.selector.ok() || !labels || t.namespaces.empty()) return {};
    api::PodTemplate tmpl;
    tmpl.ns = t.namespaces[0];
    tmpl.labels = WithLabels({}, *labels);
    auto pod = std::make_shared<api::Pod>();
    pod->meta.ns = tmpl.ns;
    pod->meta.name = pod->meta.uid = absl::StrCat("trial of a remedy ", pods.size());
    pod->tmpl = api::PodTemplate::Intern(std::move(tmpl));
    pods.push_back(std::move(pod));
  }
  return [pods](Copies* c) { c->added.insert(c->added.end(), pods.begin(), pods.end()); };
}

Change WithoutVolumes() {
  return [](Copies* c) { c->tmpl.volumes.clear(); };
}

// The node selector and the required node affinity share one reason, so both are checked.
void ForSelector(const api::PodTemplate& pod, const api::Node& node, std::vector<Remedy>* out) {
  std::vector<std::string> missing;
  for (const auto& [key, value] : pod.node_selector) {
    if (node.labels.Get(key) != value) missing.push_back(absl::StrCat(key.string(), "=", value.string()));
  }
  if (!missing.empty()) {
    std::sort(missing.begin(), missing.end());
    const std::string labels = absl::StrJoin(missing, ",");
    Remedy& r = out->emplace_back(Plain(absl::StrCat("label ", labels, " (or drop it from nodeSelector)"), Cost::kLabel,
                                        Labelling(api::Selector::FromMap(pod.node_selector))));
    r.first_text = absl::StrCat("label ", labels);
    r.second_text = absl::StrCat("drop ", labels, " from nodeSelector for it");
    r.second = [](Copies* c) { c->tmpl.node_selector = {}; };
  }
  if (!pod.affinity.node || !pod.affinity.node->required) return;
  const auto& terms = pod.affinity.node->required->terms;
  if (scheduler::nodeaffinity::TermsMatch(terms, node)) return;
  std::vector<std::string> wanted;
  for (const api::NodeSelectorTerm& t : terms) {
    if (!t.match.ok()) {
      out->push_back(Plain(absl::StrCat("correct the required node affinity: ", t.match.error), Cost::kLabel,
                           [](Copies* c) { c->tmpl.affinity.node->required.reset(); }));
      return;
    }
    if (!t.match.selector.MatchesNothing()) wanted.push_back(t.match.selector.String());
  }
  const Change loosen = [](Copies* c) { c->tmpl.affinity.node->required.reset(); };
  if (wanted.empty()) {
    out->push_back(Plain("correct the required node affinity: it matches no node", Cost::kLabel, loosen));
    return;
  }
  const std::string labels = absl::StrJoin(wanted, " or ");
  Remedy& r =
      out->emplace_back(Plain(absl::StrCat("label ", labels, " (or loosen the required node affinity)"), Cost::kLabel));
  r.first_text = absl::StrCat("label ", labels);
  r.second_text = "loosen the required node affinity for it";
  r.second = loosen;
  const bool by_labels_alone = std::all_of(terms.begin(), terms.end(), [](const auto& t) { return t.fields.empty(); });
  if (wanted.size() == 1 && terms.size() == 1 && by_labels_alone) r.change = Labelling(terms[0].match.selector);
}

void ForPorts(const scheduler::TemplateInfo& info, const NodeRow& row, std::vector<Remedy>* out) {
  for (const scheduler::HostPort& p : info.host_ports) {
    if (!row.ports.Conflicts(p)) continue;
    out->push_back(Plain(absl::StrCat("free host port ", p.port, "/", p.protocol.string()), Cost::kMove));
    out->back().moves = true;
  }
}

std::string TermTexts(const std::vector<api::PodAffinityTerm>& terms) {
  std::vector<std::string> texts;
  for (const api::PodAffinityTerm& t : terms) {
    std::string selector = t.selector.ok() ? t.selector.selector.String() : t.selector.error;
    texts.push_back(absl::StrCat(selector.empty() ? "anything" : selector, " in one ", t.topology_key.string()));
  }
  return absl::StrJoin(texts, ", ");
}

std::string Claims(const api::PodTemplate& pod) {
  std::vector<std::string> names;
  for (const api::Volume& v : pod.volumes) {
    if (v.kind == api::Volume::Kind::kClaim) names.push_back(v.id);
  }
  return absl::StrJoin(names, ", ");
}

// Returns the remedy for reasons that need one fixed sentence. Empty for those that depend on the node.
std::string Sentence(const FailureReason& reason, const api::PodTemplate& pod) {
  if (reason == reasons::kNodeNotReady) return "wait for Ready";
  if (reason == reasons::kNodeOutOfDisk) return "free disk space (OutOfDisk)";
  if (reason == reasons::kNodeNetworkUnavailable) return "bring up the network";
  if (reason == reasons::kNodeUnschedulable) return "uncordon";
  if (reason == reasons::kNodeUnderMemoryPressure) {
    return "relieve memory pressure (or give the pod requests, it is best-effort)";
  }
  if (reason == reasons::kNodeUnderDiskPressure) return "relieve disk pressure";
  if (reason == reasons::kDiskConflict) return "stop the pod that uses the same disk";
  if (reason == reasons::kMaxVolumeCountExceeded) return "detach volumes (the limit is reached)";
  if (reason == reasons::kVolumeZoneConflict) return "use volumes of the zone";
  if (reason == reasons::kVolumeNodeConflict) {
    return absl::StrCat("use volumes reachable there (claims ", Claims(pod), ")");
  }
  if (reason == reasons::kVolumeBindConflict) {
    return absl::StrCat("provide volumes there for the claims ", Claims(pod));
  }
  if (reason == reasons::kServiceAffinityViolated) return "go where the other pods of the service are";
  if (reason == reasons::kNodeLabelPresenceViolated) return "change the labels that the Policy requires or forbids";
  if (reason == reasons::kExistingPodsAntiAffinityRulesNotMatch) {
    return "move away the pods whose anti-affinity keeps this one out";
  }
  if (reason == reasons::kPodAffinityRulesNotMatch) {
    return absl::StrCat("place pods for the required affinity there: ",
                        pod.affinity.pod ? TermTexts(pod.affinity.pod->required) : "");
  }
  if (reason == reasons::kPodAntiAffinityRulesNotMatch) {
    return absl::StrCat("move away pods of the required anti-affinity: ",
                        pod.affinity.pod_anti ? TermTexts(pod.affinity.pod_anti->required) : "");
  }
  return {};
}

// Returns the cost of the remedy of Sentence.
Cost CostOf(const FailureReason& reason) {
  if (reason == reasons::kNodeUnschedulable) return Cost::kSmall;
  for (const FailureReason* r :
       {&reasons::kDiskConflict, &reasons::kMaxVolumeCountExceeded, &reasons::kExistingPodsAntiAffinityRulesNotMatch,
        &reasons::kPodAntiAffinityRulesNotMatch, &reasons::kPodAffinityRulesNotMatch}) {
    if (reason == *r) return Cost::kMove;
  }
  return Cost::kElsewhere;
}

// Returns the change that is the remedy of Sentence. Null if it cannot be tried, or if pods have to leave.
Change ChangeOf(const FailureReason& reason, const api::PodTemplate& pod) {
  if (reason == reasons::kNodeUnschedulable) return Uncordoned();
  for (const FailureReason* r : {&reasons::kNodeNotReady, &reasons::kNodeOutOfDisk, &reasons::kNodeNetworkUnavailable,
                                 &reasons::kNodeUnderMemoryPressure, &reasons::kNodeUnderDiskPressure}) {
    if (reason == *r) return Healthy();
  }
  for (const FailureReason* r :
       {&reasons::kDiskConflict, &reasons::kMaxVolumeCountExceeded, &reasons::kVolumeZoneConflict,
        &reasons::kVolumeNodeConflict, &reasons::kVolumeBindConflict}) {
    if (reason == *r) return WithoutVolumes();
  }
  if (reason == reasons::kPodAffinityRulesNotMatch && pod.affinity.pod) return PlacingFor(pod.affinity.pod->required);
  return {};
}

bool NeedsMoves(const FailureReason& reason) {
  return reason == reasons::kExistingPodsAntiAffinityRulesNotMatch || reason == reasons::kPodAntiAffinityRulesNotMatch;
}

// Adds the remedies for one reason of one predicate.
void ForReason(const scheduler::Cache& cache, const api::PodPtr& pod, const scheduler::TemplateInfo& info, Row row,
               const std::string& predicate, const FailureReason& reason, const scheduler::RejectionDetail& detail,
               std::vector<Remedy>* out) {
  const NodeRow& node = cache.row(row);
  if (reason.text == reasons::kPodAffinityNotMatch.text) return;  // another reason beside it says more
  if (!reason.resource.empty()) {
    if (auto remedy = ForResource(cache, info, row, reason.resource.str())) {
      out->push_back(std::move(*remedy));
      return;
    }
  }
  if (AddPluginRemedies(*pod->tmpl, *node.node, reason, detail, out)) return;
  if (std::string sentence = Sentence(reason, *pod->tmpl); !sentence.empty()) {
    out->push_back(Plain(std::move(sentence), CostOf(reason), ChangeOf(reason, *pod->tmpl)));
    out->back().moves = NeedsMoves(reason);
  } else if (reason == reasons::kTaintsTolerationsNotMatch) {
    AddTaintRemedies(*pod->tmpl, *node.node, out);
  } else if (reason == reasons::kNodeSelectorNotMatch || reason == reasons::kOwnNodeAffinity) {
    ForSelector(*pod->tmpl, *node.node, out);
  } else if (reason == reasons::kPodNotFitsHostPorts) {
    ForPorts(info, node, out);
  } else if (reason == reasons::kPodNotMatchHostName || reason == reasons::kOtherNode) {
    out->push_back(Plain(
        absl::StrCat("clear spec.nodeName (", pod->node_name.string(), ")"), Cost::kSmall,
        [](Copies* c) { c->pod.node_name = Symbol(); }, false));
  } else {
    out->push_back(Plain(absl::StrCat("satisfy ", predicate, ": ", reason.text.string()), Cost::kElsewhere));
  }
}

}  // namespace

Change Tolerating(const api::Taint& taint) {
  return [taint](Copies* c) {
    api::Toleration t;
    t.key = taint.key;
    t.value = taint.value;
    t.effect = taint.effect;
    c->tmpl.tolerations.push_back(t);
  };
}

Change Healthy() {
  return [](Copies* c) {
    const Symbol ready("Ready"), yes("True"), no("False");
    std::vector<api::NodeCondition> conditions;
    for (const api::NodeCondition& condition : c->node.conditions) {
      conditions.push_back({condition.type, condition.type == ready ? yes : no});
    }
    c->node.conditions = std::move(conditions);
    c->node.taints = c->node.taints.Without([](const api::Taint& t) {
      return t.key.str().starts_with("node.kubernetes.io/") && t.key.str() != "node.kubernetes.io/unschedulable";
    });
  };
}

Change Uncordoned() {
  return [](Copies* c) {
    c->node.unschedulable = false;
    c->node.taints =
        c->node.taints.Without([](const api::Taint& t) { return t.key.str() == "node.kubernetes.io/unschedulable"; });
  };
}

Change PlacingForAffinity(const api::PodTemplate& pod) {
  return pod.affinity.pod ? PlacingFor(pod.affinity.pod->required) : Change();
}

Change WithoutResource(std::string_view resource) {
  return Without(resource);
}

std::string AmountOf(std::string_view resource, int64_t n) {
  if (resource == "cpu") return n % 1000 == 0 ? absl::StrCat(n / 1000) : absl::StrCat(n, "m");
  if (resource == "memory" || resource == "ephemeral-storage" ||
      absl::StartsWith(util::ToAbsl(resource), "hugepages-")) {
    return Bytes(n);
  }
  return absl::StrCat(n);
}

std::vector<Remedy> RemediesFor(const scheduler::Cache& cache, const api::PodPtr& pod, Symbol node,
                                const std::vector<std::string>& names,
                                const std::vector<scheduler::GenericScheduler::PredicateResult>& results) {
  std::vector<Remedy> all, once;
  Row row = cache.FindRow(node);
  scheduler::TemplateInfo info;
  info.tmpl = pod->tmpl;
  cache.Describe(*pod->tmpl, &info);
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].verdict == scheduler::Verdict::kError) {
      all.push_back(
          Plain(absl::StrCat("correct what ", names[i], " cannot use: ", results[i].error.text), Cost::kElsewhere));
    }
    for (const FailureReason& reason : results[i].reasons) {
      ForReason(cache, pod, info, row, names[i], reason, results[i].detail, &all);
    }
  }
  for (Remedy& r : all) {
    bool known = std::any_of(once.begin(), once.end(), [&](const Remedy& o) { return o.text == r.text; });
    if (!known) once.push_back(std::move(r));
  }
  return once;
}

}  // namespace berth::explain
