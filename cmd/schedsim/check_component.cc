#include "cmd/schedsim/check_component.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "cmd/schedsim/check_policy.h"
#include "pkg/api/stream.h"
#include "pkg/scheduler/configuration/component.h"
#include "pkg/scheduler/configuration/decode.h"
#include "pkg/scheduler/configuration/versions.h"
#include "pkg/util/contract.h"
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
    auto read = configuration::ReadComponent(document_);
    report_.warnings = std::move(read.warnings);
    for (const auto& p : read.problems) Error(p.path, p.text);
    if (!read.problems.empty()) return;
    values_ = std::move(read.values);
    const bool leads = configuration::FindVersion(values_.api_version) != nullptr;
    for (const auto& p : configuration::CheckComponentValues(values_, leads)) Error(p.path, p.text);
    const std::string& name = values_.scheduler_name;
    Scheduler("algorithmSource", name.empty() ? "default-scheduler" : name, values_.algorithm_source);
    for (size_t i = 0; i < values_.profiles.size(); ++i) {
      const auto& profile = values_.profiles[i];
      Scheduler(absl::StrCat("profiles[", i, "].algorithmSource"), profile.scheduler_name, profile.algorithm_source);
    }
  }

 private:
  void Error(const std::string& path, const std::string& what) {
    report_.errors.push_back(WhereIn(text_, configuration::Locate(document_, path)) + what);
  }

  // Finds out what one scheduler runs. A provider takes precedence over a Policy, and a Policy's file over its
  // ConfigMap.
  void Scheduler(const std::string& path, const std::string& name,
                 const configuration::ComponentConfiguration::AlgorithmSource& source) {
    const std::string& provider = source.provider;
    RunningAlgorithm& running = report_.algorithms.emplace_back();
    running.scheduler_name = name;
    if (provider.empty() && source.policy) return Policy(path + ".policy", *source.policy, &running);
    const std::string chosen = provider.empty() ? std::string(scheduler::kDefaultProvider) : provider;
    running.source = "provider " + chosen;
    const scheduler::FactoryArgs args = Args();
    auto made = scheduler::CreateFromProvider(chosen, args, &running.effective);
    if (!made.ok()) {
      const bool weight = made.status().message().find("hardPodAffinitySymmetricWeight") != absl::string_view::npos;
      const std::string at = weight ? "hardPodAffinitySymmetricWeight" : path + ".provider";
      Error(at, absl::StrCat(at, ": ", util::Message(made.status())));
    }
  }

  void Policy(const std::string& path, const configuration::ComponentConfiguration::PolicySource& policy,
              RunningAlgorithm* running) {
    const std::string file = policy.file ? policy.file->path : std::string();
    if (file.empty()) {
      const auto map = policy.config_map.value_or(configuration::ComponentConfiguration::PolicyMap());
      running->source =
          absl::StrCat("the Policy of the ConfigMap ", map.ns.empty() ? "kube-system" : map.ns, "/", map.name);
      report_.warnings.push_back(path + ": the Policy is in a cluster and not checked here");
      return;
    }
    running->source = "the Policy of " + file;
    auto text = api::ReadInput(file);
    if (!text.ok()) {
      report_.warnings.push_back(absl::StrCat(path, ".file.path: ", util::Message(text.status()),
                                              ": the file cannot be read here, and its Policy is not checked"));
      return;
    }
    PolicyReport r = ExaminePolicy(file, *text, algorithm_);
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
    if (const int32_t w = values_.hard_pod_affinity_symmetric_weight; w != 0) {
      args.hard_pod_affinity_symmetric_weight = w;
    }
    return args;
  }

  api::Json document_;
  std::string_view text_;
  configuration::ComponentConfiguration values_;
  const lab::Algorithm& algorithm_;
  ConfigurationReport& report_;
  scheduler::Cache cache_;
};

}  // namespace

void ExamineComponent(api::Json document, std::string_view text, const release::Id& release,
                      const lab::Algorithm& algorithm, ConfigurationReport* report) {
  BERTH_REQUIRES(document.FindExact("kind").Text() == "KubeSchedulerConfiguration");
  lab::Algorithm as = algorithm;
  as.release = &release;
  report->release = std::string(release.name);
  ComponentExaminer(document, text, as, report).Examine();
}

}  // namespace berth::schedsim
