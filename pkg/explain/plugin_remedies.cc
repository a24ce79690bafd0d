#include "pkg/explain/plugin_remedies.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cstdint>

#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"
#include "pkg/util/status.h"

namespace berth::explain {
namespace {

namespace reasons = scheduler::reasons;
using scheduler::RejectionDetail;

// Returns a remedy without an amount.
Remedy Plainly(const std::string& text, Cost cost, Change change = {}) {
  Remedy r;
  r.change = std::move(change);
  r.text = r.kind = text;
  r.cost = cost;
  return r;
}

std::string SelectorText(const api::DecidedSelector& s) {
  if (!s.ok()) return s.error;
  const std::string text = s.selector.String();
  return text.empty() ? "anything" : text;
}

std::string TextsOfTerms(const std::vector<api::PodAffinityTerm>& terms) {
  return absl::StrJoin(terms, ", ", [](std::string* out, const api::PodAffinityTerm& t) {
    absl::StrAppend(out, SelectorText(t.selector), " in one ", t.topology_key.string());
    if (t.namespace_selector) absl::StrAppend(out, " of namespaces ", SelectorText(*t.namespace_selector));
  });
}

std::string RequiredTexts(const std::optional<api::PodAffinity>& affinity) {
  return affinity ? TextsOfTerms(affinity->required) : std::string();
}

// Returns the remedy for a spread constraint from what the rule says about it. That the pod would fit in other domains
// is left out: if it did, it would not be pending.
Remedy ForSpread(const api::PodTemplate& pod, const RejectionDetail& detail) {
  const bool domains = detail.about == RejectionDetail::About::kFewDomains;
  const std::string& what = detail.text;
  const auto hard = [](const api::TopologySpreadConstraint& c) {
    return c.action == api::TopologySpreadConstraint::Action::kDoNotSchedule;
  };
  if (detail.about == RejectionDetail::About::kMissingLabel) {
    return Plainly("label it with " + detail.label.string(), Cost::kLabel, [hard](Copies* c) {
      std::vector<std::pair<util::Symbol, util::Symbol>> labels(c->node.labels.begin(), c->node.labels.end());
      for (const api::TopologySpreadConstraint& constraint : c->tmpl.spread_constraints) {
        if (hard(constraint) && !c->node.labels.Has(constraint.topology_key)) {
          labels.emplace_back(constraint.topology_key, util::Symbol("a-new-domain"));
        }
      }
      c->node.labels = api::Labels(std::move(labels));
    });
  }
  const std::string change = domains ? "lower minDomains" : "raise maxSkew";
  Remedy r = Plainly(absl::StrCat(change, " (", what, ")"), Cost::kLabel, [hard, domains](Copies* c) {
    for (api::TopologySpreadConstraint& constraint : c->tmpl.spread_constraints) {
      if (hard(constraint)) (domains ? constraint.min_domains : constraint.max_skew) = domains ? 1 : INT32_MAX;
    }
  });
  const bool ignores = std::any_of(pod.spread_constraints.begin(), pod.spread_constraints.end(),
                                   [&](const auto& c) { return hard(c) && !c.honor_node_affinity; });
  if (!ignores || domains) return r;
  constexpr std::string_view kHonor = "set nodeAffinityPolicy: Honor";
  r.first_text = r.text;
  r.second_text = absl::StrCat(util::ToAbsl(kHonor), " (", what, ")");
  r.kind = r.text = absl::StrCat(change, " or ", util::ToAbsl(kHonor), " (", what, ")");
  r.second = [](Copies* c) {
    for (api::TopologySpreadConstraint& constraint : c->tmpl.spread_constraints) constraint.honor_node_affinity = true;
  };
  return r;
}

// What is wrong with a node that has one of these taints, which its conditions and its cordon give it and take away.
struct TaintOfState {
  std::string_view key, remedy;
};
constexpr TaintOfState kTaintsOfStates[] = {
    {"node.kubernetes.io/not-ready", "wait for Ready"},
    {"node.kubernetes.io/unreachable", "wait for Ready"},
    {"node.kubernetes.io/memory-pressure", "relieve memory pressure"},
    {"node.kubernetes.io/disk-pressure", "relieve disk pressure"},
    {"node.kubernetes.io/pid-pressure", "relieve PID pressure"},
    {"node.kubernetes.io/network-unavailable", "bring up the network"},
    {"node.kubernetes.io/out-of-disk", "free disk space (OutOfDisk)"},
};

Remedy ForTaint(const api::Taint& taint, bool cordoned) {
  if (cordoned && taint.key.str() == "node.kubernetes.io/unschedulable") {
    return Plainly("uncordon", Cost::kSmall, Uncordoned());
  }
  for (const TaintOfState& s : kTaintsOfStates) {
    if (taint.key.str() == s.key) return Plainly(std::string(s.remedy), Cost::kElsewhere, Healthy());
  }
  return Plainly(absl::StrCat("tolerate ", taint.key.string(), taint.value.empty() ? "" : "=", taint.value.string(),
                              ":", taint.effect.string()),
                 Cost::kSmall, Tolerating(taint));
}

}  // namespace

void AddTaintRemedies(const api::PodTemplate& pod, const api::Node& node, std::vector<Remedy>* out) {
  for (const api::Taint& taint : node.taints) {
    const bool hard = taint.effect.str() == "NoSchedule" || taint.effect.str() == "NoExecute";
    const bool tolerated = std::any_of(pod.tolerations.begin(), pod.tolerations.end(), [&](const api::Toleration& t) {
      return scheduler::tainttoleration::Tolerates(t, taint);
    });
    if (hard && !tolerated) out->push_back(ForTaint(taint, node.unschedulable));
  }
}

bool AddPluginRemedies(const api::PodTemplate& pod, const api::Node& node, const scheduler::FailureReason& reason,
                       const RejectionDetail& detail, std::vector<Remedy>* out) {
  if (reason.kind == reasons::kUntoleratedTaint || reason.text == reasons::kUntoleratedTaints.text) {
    AddTaintRemedies(pod, node, out);
  } else if (reason.text == reasons::kTooManyPods.text) {
    Remedy r = Plainly("move away 1 pod", Cost::kMove);
    r.moves = true;
    r.kind = "move away pods";
    r.resource = "pods";
    r.shortage = 1;
    out->push_back(std::move(r));
  } else if (reason.text == reasons::kEnforcedNodeAffinity.text) {
    out->push_back(Plainly("meet the addedAffinity of the profile", Cost::kElsewhere));
  } else if (reason.text == reasons::kRequiredPodAffinity.text && reason.unresolvable) {
    out->push_back(Plainly("place pods for the required affinity there: " + RequiredTexts(pod.affinity.pod),
                           Cost::kMove, PlacingForAffinity(pod)));
  } else if (detail.about != RejectionDetail::About::kOther) {
    out->push_back(ForSpread(pod, detail));
  } else if (!detail.text.empty()) {
    out->push_back(Plainly(detail.text, Cost::kElsewhere, [](Copies* c) { c->tmpl.volumes.clear(); }));
  } else {
    return false;
  }
  return true;
}

}  // namespace berth::explain
