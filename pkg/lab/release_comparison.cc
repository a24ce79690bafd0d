#include "pkg/lab/release_comparison.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <optional>

#include "pkg/lab/simulation.h"

namespace berth::lab {
namespace {

using scheduler::Decision;
using scheduler::DecisionTrace;
using scheduler::Symbol;

constexpr char kOrderOfEquals[] = "order of equals";

absl::StatusOr<std::vector<Symbol>> HostsOf(const Scenario& scenario, const Algorithm& algorithm) {
  auto sim = Simulation::Make(scenario, algorithm);
  if (!sim.ok()) return sim.status();
  std::vector<Symbol> hosts;
  hosts.reserve(scenario.pending.size());
  for (const api::PodPtr& pod : scenario.pending) hosts.push_back((*sim)->Place(pod).host);
  return hosts;
}

// A decision together with its trace.
struct Traced {
  Decision decision;
  DecisionTrace trace;
};

// Returns the rule that rejects the node, or nothing if the node fits.
std::optional<std::string> RejectedBy(const DecisionTrace& trace, Symbol node) {
  for (const auto& [name, rule] : trace.rejected_by) {
    if (name == node) return rule;
  }
  return std::nullopt;
}
std::string ReasonAt(const DecisionTrace& trace, Symbol node) {
  const auto* reasons = trace.failures == nullptr ? nullptr : trace.failures->Find(node);
  return reasons == nullptr || reasons->empty() ? "" : reasons->front().text.string();
}
// Returns the index of the node among those that were scored.
std::optional<size_t> PlaceOf(const DecisionTrace& trace, Symbol node) {
  auto it = std::find(trace.feasible.begin(), trace.feasible.end(), node);
  if (it == trace.feasible.end() || trace.totals.empty()) return std::nullopt;
  return static_cast<size_t>(it - trace.feasible.begin());
}

// Finds the score that favours `winner` over `loser` most, in a decision in which both fit.
void Outscored(const std::string& name, const DecisionTrace& trace, Symbol winner, Symbol loser, PodDifference* d) {
  const auto w = PlaceOf(trace, winner), l = PlaceOf(trace, loser);
  if (!w || !l) return;
  if (trace.totals[*w] == trace.totals[*l]) {
    d->rule = kOrderOfEquals;
    d->why = absl::StrCat(name, " scores ", winner.string(), " and ", loser.string(), " alike (", trace.totals[*w],
                          "), and takes nodes of one score in turn");
    return;
  }
  int64_t most = 0;
  for (const DecisionTrace::Priority& p : trace.priorities) {
    const int64_t lead = (p.scores[*w] - p.scores[*l]) * p.weight;
    if (lead <= most) continue;
    most = lead;
    d->rule = p.name;
    d->why = absl::StrCat(name, " scores ", winner.string(), " above ", loser.string(), " (", trace.totals[*w], " to ",
                          trace.totals[*l], "), most by ", p.name, " (", p.scores[*w], " to ", p.scores[*l],
                          p.weight == 1 ? "" : absl::StrCat(", weight ", p.weight), ")");
  }
}

// If the decision rejects the node, makes the rule that does so the cause of the difference.
void Reject(const std::string& name, const DecisionTrace& trace, Symbol node, PodDifference* d) {
  const auto rule = RejectedBy(trace, node);
  if (!rule) return;
  d->rule = *rule;
  d->why = absl::StrCat(name, " rejects ", node.string(), ": ", ReasonAt(trace, node));
}

// Finds the cause of a difference. For a pod that both place, a rejection by one of them explains more than scores do,
// and a difference in scores more than a tie.
void FindRule(const Variant& a, const Traced& before, const Variant& b, const Traced& after, PodDifference* d) {
  switch (d->kind) {
    case PodDifference::Kind::kNoLongerFits:
      Reject(b.name, after.trace, d->before, d);
      if (d->rule.empty()) d->why = absl::StrCat(b.name, ": ", after.decision.error);
      return;
    case PodDifference::Kind::kNewlyFits:
      Reject(a.name, before.trace, d->after, d);
      if (d->rule.empty()) d->why = absl::StrCat(a.name, ": ", before.decision.error);
      return;
    case PodDifference::Kind::kElsewhere:
      break;
  }
  Reject(b.name, after.trace, d->before, d);
  if (d->rule.empty()) Reject(a.name, before.trace, d->after, d);
  if (d->rule.empty()) Outscored(b.name, after.trace, d->after, d->before, d);
  if (d->rule.empty() || d->rule == kOrderOfEquals) {
    PodDifference other = *d;
    Outscored(a.name, before.trace, d->before, d->after, &other);
    if (d->rule.empty() || other.rule != kOrderOfEquals) *d = other;
  }
}

}  // namespace

absl::StatusOr<std::vector<PodDifference>> CompareByPod(const Scenario& scenario, const Variant& before,
                                                        const Variant& after) {
  auto a = HostsOf(scenario, before.algorithm), b = HostsOf(scenario, after.algorithm);
  if (!a.ok()) return a.status();
  if (!b.ok()) return b.status();
  // The second run records traces, but only for pods that differ, because traces are slow.
  auto first = Simulation::Make(scenario, before.algorithm), second = Simulation::Make(scenario, after.algorithm);
  if (!first.ok()) return first.status();
  if (!second.ok()) return second.status();
  std::vector<PodDifference> out;
  for (size_t i = 0; i < scenario.pending.size(); ++i) {
    const api::PodPtr& pod = scenario.pending[i];
    if ((*a)[i] == (*b)[i]) {
      (*first)->Place(pod);
      (*second)->Place(pod);
      continue;
    }
    Traced one, two;
    one.decision = (*first)->Place(pod, &one.trace);
    two.decision = (*second)->Place(pod, &two.trace);
    PodDifference& d = out.emplace_back();
    d.pod = pod;
    d.before = (*a)[i];
    d.after = (*b)[i];
    if (d.after.empty()) d.kind = PodDifference::Kind::kNoLongerFits;
    if (d.before.empty()) d.kind = PodDifference::Kind::kNewlyFits;
    FindRule(before, one, after, two, &d);
  }
  return out;
}

}  // namespace berth::lab
