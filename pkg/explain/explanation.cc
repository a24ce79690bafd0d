#include "pkg/explain/explanation.h"

namespace berth::explain {

Explanation ExplainPod(const Subject& subject, const api::PodPtr& pod) {
  Explanation e;
  e.pod = pod;
  e.predicates = subject.effective.predicates;
  std::vector<std::pair<std::string, std::vector<Remedy>>> remedies;
  for (auto& [node, judgements] : subject.scheduler.JudgeAll(pod)) {
    Explanation::NodeView& view = e.by_node.emplace_back();
    view.name = node.string();
    view.remedies = RemediesFor(subject.cache, pod, node, e.predicates, judgements);
    view.judgements = std::move(judgements);
    remedies.emplace_back(view.name, view.remedies);
  }
  e.decision = subject.scheduler.Schedule(pod, scheduler::DecisionMode::kReference, &e.trace);
  e.nodes = e.decision.nodes;
  e.feasible = e.decision.feasible;
  if (e.decision.outcome != scheduler::Decision::Outcome::kPlaced) e.ways = WaysToFit(remedies);
  if (subject.pod_priority && e.decision.outcome == scheduler::Decision::Outcome::kUnfit) {
    e.preemption_tried = true;
    e.preemption = subject.scheduler.Preempt(pod, *e.decision.failures);
  }
  return e;
}

}  // namespace berth::explain
