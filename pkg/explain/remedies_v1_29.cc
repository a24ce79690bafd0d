#include "pkg/explain/remedies_v1_29.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>

#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"
#include "pkg/util/status.h"

namespace berth::explain {
namespace {

// Returns a remedy without an amount.
Remedy Change(const std::string& text, Cost cost) {
  Remedy r;
  r.text = r.kind = text;
  r.cost = cost;
  return r;
}

std::string SelectorText(const api::DecidedSelector& s) {
  if (!s.ok()) return s.error;
  const std::string text = s.selector.String();
  return text.empty() ? "anything" : text;
}

std::string TermTexts(const std::vector<api::PodAffinityTerm>& terms) {
  return absl::StrJoin(terms, ", ", [](std::string* out, const api::PodAffinityTerm& t) {
    absl::StrAppend(out, SelectorText(t.selector), " in one ", t.topology_key.string());
    if (t.namespace_selector) absl::StrAppend(out, " of namespaces ", SelectorText(*t.namespace_selector));
  });
}

void AddTaints(const api::PodTemplate& pod, const api::Node& node, std::vector<Remedy>* out) {
  for (const api::Taint& taint : node.taints) {
    const bool hard = taint.effect.str() == "NoSchedule" || taint.effect.str() == "NoExecute";
    const bool tolerated = std::any_of(pod.tolerations.begin(), pod.tolerations.end(), [&](const api::Toleration& t) {
      return scheduler::tainttoleration::Tolerates(t, taint);
    });
    if (!hard || tolerated) continue;
    out->push_back(Change(absl::StrCat("tolerate ", taint.key.string(), taint.value.empty() ? "" : "=",
                                       taint.value.string(), ":", taint.effect.string()),
                          Cost::kSmall));
  }
}

std::string RequiredTexts(const std::optional<api::PodAffinity>& affinity) {
  return affinity ? TermTexts(affinity->required) : std::string();
}

}  // namespace

// Reasons are recognised by their texts, because the rules of 1.29 do not export them.
bool AddLaterRemedies(const api::PodTemplate& pod, const api::Node& node, const scheduler::FailureReason& reason,
                      const std::string& detail, std::vector<Remedy>* out) {
  const std::string_view text = reason.text.str();
  if (text.starts_with("node(s) had untolerated taint")) {
    AddTaints(pod, node, out);
  } else if (text == "Too many pods") {
    Remedy r = Change("move away 1 pod", Cost::kMove);
    r.kind = "move away pods";
    r.resource = "pods";
    r.shortage = 1;
    out->push_back(std::move(r));
  } else if (text == "node(s) didn't match scheduler-enforced node affinity") {
    out->push_back(Change("meet the addedAffinity of the profile", Cost::kElsewhere));
  } else if (text == "node(s) didn't match pod affinity rules" && reason.unresolvable) {
    out->push_back(
        Change("place pods for the required affinity there: " + RequiredTexts(pod.affinity.pod), Cost::kMove));
  } else if (!detail.empty()) {
    out->push_back(Change(detail, Cost::kElsewhere));
  } else {
    return false;
  }
  return true;
}

}  // namespace berth::explain
