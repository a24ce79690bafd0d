// The command explain: why a pod goes to its node, node by node.
#include <absl/strings/str_cat.h>

#include <iostream>

#include "cmd/schedsim/command.h"
#include "pkg/explain/explanation.h"
#include "pkg/explain/output.h"
#include "pkg/explain/page.h"
#include "pkg/lab/simulation.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

using explain::Explanation;
using lab::Input;
using lab::Scenario;
using lab::Simulation;

// A pod found by name in a scenario: a pending one, or one that is bound in the cluster.
struct Found {
  api::PodPtr pod;
  bool bound = false;
  size_t index = 0;  // index among the pending pods
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
  std::string there = names.empty() ? "no pod is pending" : absl::StrCat("pending are ", explain::Some(names, 5));
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
  Explanation e = (*sim)->Explain(pod);
  e.scenario = scenario.name;
  e.placed_before = found.index;
  if (scenario.origins != nullptr) {
    if (auto it = scenario.origins->find(pod->tmpl.get()); it != scenario.origins->end()) e.admission = *it->second;
  }
  if (scenario.bound_by_controller.contains(found.pod.get())) {
    e.admission.push_back(absl::StrCat("node ", found.pod->node_name.string(),
                                       " from its DaemonSet's controller, which binds its pods without a scheduler and "
                                       "ignores cordons and conditions of nodes"));
  }
  if (found.bound) e.now_on = found.pod->node_name;
  return e;
}

int Explain(const Invocation& options, std::ostream& out) {
  int exit_status = kExitOk;
  std::unique_ptr<Input> input = ReadOrComplain(options, &exit_status);
  if (input == nullptr) return exit_status;
  const auto& pod = options.Get<std::string>("pod");
  std::string key = pod.find('/') == std::string::npos ? absl::StrCat("default/", pod) : pod;
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
    if (!e->decision.difference.empty()) {
      std::cerr << "schedsim: " << key
                << ": the incremental and the reference scheduler disagree: " << e->decision.difference << "\n";
      exit_status = kExitDifference;
    }
    if (options.output == "table") {
      explain::Page page(explain::ScreenOfStdout());
      explain::WriteExplanation(*e, &page);
      out << page.text();
    } else {
      out << (options.output == "wide" ? explain::ExplanationTable(*e) : explain::ExplanationData(*e, options.output));
    }
  }
  if (!any) {
    std::cerr << "schedsim: " << NoSuchPod(*input, key) << "\n";
    exit_status = kExitBadInput;
  }
  return exit_status;
}

void AddExplainFlags(flags::FlagSet& add) {
  add("pod", Takes("NS/NAME"), "the pod to explain");
}

absl::Status CheckExplain(const Invocation& options) {
  if (options.Has("pod") && !options.Get<std::string>("pod").empty()) return absl::OkStatus();
  return util::InvalidArgument("explain: give the pod to explain: --pod NAMESPACE/NAME");
}

constexpr char kExplainExamples[] =
    R"(  schedsim explain cluster.json --pod default/web-1           why is it pending, or why did it go where it went
  schedsim explain cluster.json --pod web-1 -o wide          with the answer of every rule on every node
  kubectl get nodes,pods -A -o json | schedsim explain - --pod web-1
)";

}  // namespace

extern const Command kExplainCommand = {
    .name = "explain",
    .arguments = "FILE... --pod NS/NAME",
    .summary = "why a pod goes where it goes, node by node",
    .outputs = "table wide json yaml",
    .examples = kExplainExamples,
    .groups = kAlgorithmFlags | kGateFlags | kInputFlags,
    .add_flags = AddExplainFlags,
    .check = CheckExplain,
    .run = Explain,
};

}  // namespace berth::schedsim
