#include "cmd/schedsim/check_component.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "cmd/schedsim/check_policy.h"
#include "pkg/api/stream.h"
#include "pkg/scheduler/configuration/component.h"
#include "pkg/scheduler/configuration/decode.h"
#include "pkg/scheduler/configuration/versions.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

namespace configuration = scheduler::configuration;

class ComponentExaminer {
 public:
  ComponentExaminer(api::Json document, std::string_view text, const lab::Algorithm& algorithm,
                    ConfigurationReport* report)
      : document_(document), text_(text), algorithm_(algorithm), report_(*report) {}

  void Examine() {
    auto mistakes = configuration::CheckComponentMembers(document_);
    report_.warnings = std::move(mistakes.warnings);
    for (const auto& p : mistakes.problems) Error(p.path, p.text);
    if (!mistakes.problems.empty()) return;
    const bool leads = configuration::FindVersion(document_.Find("apiVersion").Text()) != nullptr;
    for (const auto& p : configuration::CheckComponentValues(document_, leads)) Error(p.path, p.text);
    const std::string_view name = document_.Find("schedulerName").Text();
    Scheduler("algorithmSource", name.empty() ? "default-scheduler" : std::string(name),
              document_.Find("algorithmSource"));
    size_t i = 0;
    for (const auto& [key, profile] : document_.Find("profiles").Children()) {
      Scheduler(absl::StrCat("profiles[", i++, "].algorithmSource"), std::string(profile.Find("schedulerName").Text()),
                profile.Find("algorithmSource"));
    }
  }

 private:
  void Error(const std::string& path, const std::string& what) {
    report_.errors.push_back(WhereIn(text_, configuration::Locate(document_, path)) + what);
  }

  // Finds out what one scheduler runs. A provider takes precedence over a Policy, and a Policy's file over its
  // ConfigMap.
  void Scheduler(const std::string& path, const std::string& name, api::Json source) {
    const std::string_view provider = source.Find("provider").Text();
    const api::Json policy = source.Find("policy");
    RunningAlgorithm& running = report_.algorithms.emplace_back();
    running.scheduler_name = name;
    if (provider.empty() && policy.IsObject()) return Policy(path + ".policy", policy, &running);
    const std::string chosen = provider.empty() ? std::string(scheduler::kDefaultProvider) : std::string(provider);
    running.source = "provider " + chosen;
    const scheduler::FactoryArgs args = Args();
    auto made = scheduler::CreateFromProvider(chosen, args, &running.effective);
    if (!made.ok()) {
      const bool weight = made.status().message().find("hardPodAffinitySymmetricWeight") != absl::string_view::npos;
      const std::string at = weight ? "hardPodAffinitySymmetricWeight" : path + ".provider";
      Error(at, absl::StrCat(at, ": ", util::Message(made.status())));
    }
  }

  void Policy(const std::string& path, api::Json policy, RunningAlgorithm* running) {
    const std::string_view file = policy.Find("file").Find("path").Text();
    if (file.empty()) {
      const api::Json map = policy.Find("configMap");
      const std::string_view ns = map.Find("namespace").Text();
      running->source = absl::StrCat("the Policy of the ConfigMap ", util::ToAbsl(ns.empty() ? "kube-system" : ns), "/",
                                     util::ToAbsl(map.Find("name").Text()));
      report_.warnings.push_back(path + ": the Policy is in a cluster and not checked here");
      return;
    }
    running->source = absl::StrCat("the Policy of ", util::ToAbsl(file));
    auto text = api::ReadInput(std::string(file));
    if (!text.ok()) {
      report_.warnings.push_back(absl::StrCat(path, ".file.path: ", util::Message(text.status()),
                                              ": the file cannot be read here, and its Policy is not checked"));
      return;
    }
    PolicyReport r = ExaminePolicy(std::string(file), *text, algorithm_);
    for (const std::string& e : r.errors) Error(path + ".file.path", absl::StrCat(r.file, ": ", e));
    for (const std::string& w : r.warnings) report_.warnings.push_back(absl::StrCat(r.file, ": ", w));
    for (const std::string& n : r.notes) report_.warnings.push_back(absl::StrCat(r.file, ": ", n));
    running->effective = std::move(r.effective);
    running->checks_all_predicates = r.policy.always_check_all_predicates;
  }

  scheduler::FactoryArgs Args() {
    scheduler::FactoryArgs args;
    args.cache = &cache_;
    args.release = &algorithm_.Decides();
    args.gates = algorithm_.Gates();
    if (const int64_t w = document_.Find("hardPodAffinitySymmetricWeight").Int(); w != 0) {
      args.hard_pod_affinity_symmetric_weight = static_cast<int>(w);
    }
    return args;
  }

  api::Json document_;
  std::string_view text_;
  const lab::Algorithm& algorithm_;
  ConfigurationReport& report_;
  scheduler::Cache cache_;
};

}  // namespace

void ExamineComponent(api::Json document, std::string_view text, const release::Id& release,
                      const lab::Algorithm& algorithm, ConfigurationReport* report) {
  lab::Algorithm as = algorithm;
  as.release = &release;
  report->release = std::string(release.name);
  ComponentExaminer(document, text, as, report).Examine();
}

}  // namespace berth::schedsim
