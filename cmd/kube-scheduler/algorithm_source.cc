#include "cmd/kube-scheduler/algorithm_source.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <glog/logging.h>
#include <sys/stat.h>

#include "cmd/kube-scheduler/go_text.h"
#include "cmd/kube-scheduler/profile_config.h"
#include "pkg/scheduler/factory/read_policy.h"
#include "pkg/util/status.h"

namespace berth::kube_scheduler {
namespace {

absl::StatusOr<std::string> ReadPolicyFile(const std::string& path) {
  struct stat st;
  if (stat(path.c_str(), &st) != 0) return absl::NotFoundError(absl::StrCat("missing policy config file ", path));
  auto text = ReadFile(path);
  if (!text.ok()) return absl::NotFoundError(absl::StrCat("couldn't read policy config: ", text.status().message()));
  return text;
}

}  // namespace

scheduler::SchedulerGates GatesOfRules(const Configuration& config, const Options& options) {
  const scheduler::Release& release = ReleaseToRun(config);
  if (release.plugins != nullptr) {
    scheduler::SchedulerGates all;
    scheduler::AlgorithmGates& gates = all.algorithm;
    gates.pod_priority = gates.volume_scheduling = gates.block_volume = gates.storage_object_in_use_protection = true;
    return all;
  }
  const scheduler::SchedulerGates gates =
      scheduler::MakeGates([&](std::string_view name) { return options.GateOn(name, release.gates); });
  if (gates.taint_nodes_by_condition) {
    LOG(WARNING) << "TaintNodesByCondition is enabled, PodToleratesNodeTaints predicate is mandatory";
  }
  if (options.GateOn("EnableEquivalenceClassCache")) {
    LOG(INFO) << "EnableEquivalenceClassCache has no effect: decisions are never taken from a cache that may be stale";
  }
  return gates;
}

absl::StatusOr<std::unique_ptr<scheduler::GenericScheduler>> BuildAlgorithm(const std::string& scheduler_name,
                                                                            const AlgorithmSource& source,
                                                                            scheduler::FactoryArgs args,
                                                                            const PolicyConfigMapReader& read_map,
                                                                            bool* node_json, std::string* policy_text) {
  if (source.provider) {
    auto built = scheduler::CreateFromProvider(*source.provider, std::move(args));
    if (!built.ok()) {
      return util::InvalidArgument(absl::StrCat("couldn't create scheduler using provider ", GoQuoted(*source.provider),
                                                ": ", util::Message(built.status())));
    }
    return built;
  }
  if (!source.policy) return util::InvalidArgument("unsupported algorithm source: {<nil> <nil>}");

  scheduler::Policy policy;
  if (policy_text != nullptr) *policy_text = "{}";
  std::string origin = "the empty policy";
  if (source.policy->file || source.policy->config_map) {
    absl::StatusOr<std::string> text =
        source.policy->file ? ReadPolicyFile(*source.policy->file) : read_map(*source.policy->config_map);
    if (!text.ok()) return text.status();
    origin = source.policy->file ? absl::StrCat("policy file ", *source.policy->file)
                                 : absl::StrCat("policy config map ", source.policy->config_map->ns, "/",
                                                source.policy->config_map->name);
    std::vector<std::string> warnings;
    auto decoded = scheduler::ReadPolicy(*text, *args.release, args.gates, &warnings);
    for (const std::string& w : warnings) LOG(WARNING) << origin << ": " << w;
    if (!decoded.ok()) return util::InvalidArgument(absl::StrCat("invalid policy: ", util::Message(decoded.status())));
    policy = *std::move(decoded);
    if (policy_text != nullptr) *policy_text = *text;
  }
  VLOG(1) << "Scheduler " << scheduler_name << " uses " << origin;
  for (const scheduler::ExtenderConfig& e : policy.extenders) {
    *node_json |= !e.node_cache_capable && (!e.filter_verb.empty() || !e.prioritize_verb.empty());
  }
  auto built = scheduler::CreateFromConfig(policy, std::move(args));
  if (!built.ok()) {
    return util::InvalidArgument(
        absl::StrCat("couldn't create scheduler from policy: ", util::Message(built.status())));
  }
  return built;
}

void LogNotIncremental(const std::string& scheduler_name, const scheduler::GenericScheduler& algorithm) {
  const std::vector<std::string> rules = algorithm.config().NotIncremental();
  if (rules.empty()) return;
  LOG(WARNING)
      << "Scheduler " << scheduler_name << " has rules without traits: " << absl::StrJoin(rules, ", ")
      << ". Each is called for every candidate node of every pod, which costs some 0.03 to 0.1 ms a pod for "
         "every 1000 nodes; plugin/README.md says how to declare what a rule reads, so that its answers are kept";
}

}  // namespace berth::kube_scheduler
