#include "pkg/explain/explanation.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "pkg/explain/lacking.h"
#include "pkg/explain/plain_reasons.h"
#include "pkg/explain/trial.h"

namespace berth::explain {
namespace {

// If no node has a resource, choosing another node does not help; the pod must do without.
void DoWithout(const std::vector<std::string>& resources, std::vector<Remedy>* remedies) {
  for (Remedy& r : *remedies) {
    if (std::find(resources.begin(), resources.end(), r.resource) == resources.end()) continue;
    r.kind = r.text = absl::StrCat("do without ", r.resource);
    r.change = WithoutResource(r.resource);
  }
}

}  // namespace

size_t Explanation::NodeView::FirstFailing() const {
  auto fails = [](const auto& j) { return j.verdict != scheduler::Verdict::kFits; };
  return static_cast<size_t>(std::find_if(results.begin(), results.end(), fails) - results.begin());
}

// The predicates are evaluated separately, because the scheduler itself stops at the first one that fails. The decision
// is made in both ways, so that a difference between them is noticed.
Explanation ExplainPod(const Subject& subject, const api::PodPtr& pod) {
  Explanation e;
  e.pod = pod;
  e.ties = subject.ties;
  e.predicates = subject.effective.predicates;
  e.max_score = subject.scheduler.config().release->max_score;
  std::vector<std::pair<std::string, std::vector<Remedy>>> remedies;
  const std::vector<std::string> missing = ResourcesNoNodeHas(subject.cache, *pod->tmpl);
  for (auto& [node, results] : subject.scheduler.EvaluatePredicates(pod)) {
    Explanation::NodeView& view = e.by_node.emplace_back();
    view.name = node.string();
    view.remedies = RemediesFor(subject.cache, pod, node, e.predicates,
                                WithPlainReasons(results, *subject.scheduler.config().release, *pod->tmpl));
    DoWithout(missing, &view.remedies);
    view.results = std::move(results);
    remedies.emplace_back(view.name, view.remedies);
  }
  e.decision = subject.scheduler.Schedule(pod, scheduler::DecisionMode::kBoth, &e.trace);
  e.nodes = e.decision.nodes;
  e.feasible = e.decision.feasible;
  if (e.decision.outcome != scheduler::Decision::Outcome::kPlaced) {
    e.awaited = WhoseEndIsAwaited(subject, pod);
    e.lacking = WhatNoNodeHas(subject.cache, *pod->tmpl);
    e.claims_to_create = ClaimsToCreate(subject.cache, *pod->tmpl);
    e.lacking.insert(e.lacking.end(), e.claims_to_create.begin(), e.claims_to_create.end());
  }
  if (subject.pod_priority && e.decision.outcome == scheduler::Decision::Outcome::kUnfit) {
    e.preemption_tried = true;
    e.preemption = subject.scheduler.Preempt(pod, *e.decision.failures);
  }
  if (e.decision.outcome != scheduler::Decision::Outcome::kPlaced && e.awaited.empty()) {
    e.ways = WaysToFit(remedies);
    Subject tried = subject;
    tried.decides_alike = subject.decides_alike && subject.scheduler.config().extenders.empty();
    KeepWhatHelps(tried, &e);
  }
  return e;
}

std::string DifferenceWarning(const Explanation& e) {
  if (e.decision.difference.empty()) return {};
  return "WARNING: the incremental and the reference scheduler disagree: " + e.decision.difference +
         ". What follows is the reference scheduler's decision; \"schedsim run\" may decide otherwise. Either the "
         "traits "
         "of a plugin claim too little (plugin/README.md says how to test them), or this is a mistake in the "
         "scheduler: "
         "please report it.";
}

std::vector<size_t> Ranking(const Explanation& e) {
  const scheduler::DecisionTrace& t = e.trace;
  std::vector<size_t> order(t.totals.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::map<scheduler::Symbol, size_t> numbers;
  for (size_t i = 0; i < t.tied.size(); ++i) numbers.try_emplace(t.tied[i], i);
  auto number_of = [&](size_t i) {
    const auto it = numbers.find(t.feasible[i]);
    return it == numbers.end() ? t.tied.size() : it->second;
  };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const bool wins = t.feasible[a] == e.decision.host, other_wins = t.feasible[b] == e.decision.host;
    if (wins != other_wins) return wins;
    if (t.totals[a] != t.totals[b]) return t.totals[a] > t.totals[b];
    const size_t number = number_of(a), other_number = number_of(b);
    return number != other_number ? number < other_number : t.feasible[a].str() > t.feasible[b].str();
  });
  return order;
}

std::string OrderOfTies(const scheduler::DecisionTrace& trace) {
  return trace.order == scheduler::NodeOrder::kZoneTree ? "one of each zone in turn" : "in descending order of name";
}

}  // namespace berth::explain
