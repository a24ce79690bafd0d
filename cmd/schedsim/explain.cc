#include "cmd/schedsim/explain.h"

#include <absl/strings/str_cat.h>

#include <iostream>

#include "cmd/schedsim/commands.h"
#include "cmd/schedsim/output.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

// The pod of this name in a scenario: a pending one, or one that is bound in the cluster.
struct Found {
  api::PodPtr pod;
  bool bound = false;
  size_t index = 0;  // among the pending
};

Found FindPod(const Scenario& s, const std::string& key) {
  for (size_t i = 0; i < s.pending.size(); ++i) {
    if (s.pending[i]->meta.Key() == key) return {s.pending[i], false, i};
  }
  for (const api::Object& o : s.cluster) {
    const auto* pod = std::get_if<api::PodPtr>(&o);
    if (pod != nullptr && (*pod)->meta.Key() == key) return {*pod, true, 0};
  }
  return {};
}

std::string NoSuchPod(const Input& input, const std::string& key) {
  std::vector<std::string> names;
  for (const Scenario& s : input.scenarios) {
    for (const api::PodPtr& p : s.pending) names.push_back(p->meta.Key());
  }
  std::string there = names.empty() ? "no pod is pending" : absl::StrCat("pending are ", Some(names, 5));
  return absl::StrCat("--pod: there is no pod \"", key, "\" in the input; ", there);
}

absl::StatusOr<Explanation> ExplainIn(const Scenario& scenario, const Found& found) {
  if (!scenario.error.empty()) return util::InvalidArgument(scenario.error);
  auto sim = Simulation::Make(scenario);
  if (!sim.ok()) return sim.status();
  api::PodPtr pod = found.pod;
  if (found.bound && !pod->Finished()) {
    BERTH_RETURN_IF_ERROR((*sim)->cache().RemovePod(*pod));
    auto free = std::make_shared<api::Pod>(*pod);
    free->node_name = scheduler::Symbol();
    pod = std::move(free);
  }
  for (size_t i = 0; i < found.index; ++i) (*sim)->Place(scenario.pending[i]);
  Explanation e = ExplainPod(**sim, pod);
  e.scenario = scenario.name;
  e.placed_before = found.index;
  if (found.bound) e.now_on = found.pod->node_name;
  return e;
}

}  // namespace

Explanation ExplainPod(Simulation& sim, const api::PodPtr& pod) {
  Explanation e;
  e.pod = pod;
  e.predicates = sim.effective().predicates;
  std::vector<std::pair<std::string, std::vector<Remedy>>> remedies;
  for (auto& [node, judgements] : sim.scheduler().JudgeAll(pod)) {
    Explanation::NodeView& view = e.by_node.emplace_back();
    view.name = node.string();
    view.remedies = RemediesFor(sim.cache(), pod, node, e.predicates, judgements);
    view.judgements = std::move(judgements);
    remedies.emplace_back(view.name, view.remedies);
  }
  e.decision = sim.Place(pod, &e.trace);
  e.nodes = e.decision.nodes;
  e.feasible = e.decision.feasible;
  if (e.decision.outcome != scheduler::Decision::Outcome::kPlaced) e.ways = WaysToFit(remedies);
  if (sim.pod_priority() && e.decision.outcome == scheduler::Decision::Outcome::kUnfit) {
    e.preemption_tried = true;
    e.preemption = sim.scheduler().Preempt(pod, *e.decision.failures);
  }
  return e;
}

int Explain(const Options& options, std::ostream& out) {
  int exit_status = kExitOk;
  std::unique_ptr<Input> input = ReadOrComplain(options, &exit_status);
  if (input == nullptr) return exit_status;
  std::string key = options.pod.find('/') == std::string::npos ? absl::StrCat("default/", options.pod) : options.pod;
  bool any = false;
  for (const Scenario& scenario : input->scenarios) {
    Found found = FindPod(scenario, key);
    if (found.pod == nullptr) continue;
    any = true;
    auto e = ExplainIn(scenario, found);
    if (!e.ok()) {
      std::cerr << "schedsim: " << scenario.name << (scenario.name.empty() ? "" : ": ") << util::Message(e.status())
                << "\n";
      exit_status = kExitBadInput;
      continue;
    }
    out << (options.output == "table" ? ExplanationTable(*e) : ExplanationData(*e, options.output));
  }
  if (!any) {
    std::cerr << "schedsim: " << NoSuchPod(*input, key) << "\n";
    exit_status = kExitBadInput;
  }
  out.flush();
  return exit_status;
}

}  // namespace berth::schedsim
