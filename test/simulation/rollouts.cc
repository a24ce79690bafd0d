#include "test/simulation/rollouts.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include "pkg/scheduler/factory/factory.h"
#include "pkg/util/status.h"

namespace berth::simulation {
namespace {

// What stands in Policies beside their predicates.
constexpr char kSpread[] = R"("hardPodAffinitySymmetricWeight":50,"priorities":[
{"name":"SelectorSpreadPriority","weight":3},{"name":"InterPodAffinityPriority","weight":2},
{"name":"BalancedResourceAllocation","weight":1}])";
constexpr char kPack[] = R"("alwaysCheckAllPredicates":true,"priorities":[
{"name":"MostRequestedPriority","weight":5},{"name":"TaintTolerationPriority","weight":1}])";
constexpr char kEqual[] = R"("priorities":[{"name":"EqualPriority","weight":1}])";

constexpr char kFirst[] = R"({"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",
"profiles":[{"schedulerName":"default-scheduler"},{"schedulerName":"packing","pluginConfig":[{"name":"NodeResourcesFit",
"args":{"scoringStrategy":{"type":"MostAllocated","resources":[{"name":"cpu","weight":1}]}}}]}]})";
constexpr char kSampling[] = R"({"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",
"percentageOfNodesToScore":30,"profiles":[{"schedulerName":"default-scheduler","plugins":{"score":{"disabled":[
{"name":"NodeResourcesBalancedAllocation"},{"name":"ImageLocality"}]}}},{"schedulerName":"packing","pluginConfig":[
{"name":"NodeResourcesFit","args":{"scoringStrategy":{"type":"RequestedToCapacityRatio","resources":[{"name":"memory",
"weight":1}],"requestedToCapacityRatio":{"shape":[{"utilization":0,"score":0},{"utilization":100,"score":10}]}}}}]}]})";
constexpr char kNoScores[] = R"({"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",
"profiles":[{"schedulerName":"default-scheduler","plugins":{"score":{"disabled":[{"name":"*"}]}}},
{"schedulerName":"packing","pluginConfig":[{"name":"InterPodAffinity","args":{"hardPodAffinityWeight":100}}]}]})";

// Returns a Policy with the predicates of the default provider. In most releases they are those of a Policy that names
// none, which is tried there; in others such a Policy has no predicates.
std::string PolicyWith(const scheduler::Release& release, std::string_view rest) {
  std::string predicates;
  if (release.absent_lists_are_empty) {
    const scheduler::Registry registry = scheduler::FrozenRegistry(release);
    const auto& names = registry.providers().find(scheduler::kDefaultProvider)->second.predicates;
    predicates = absl::StrCat("\"predicates\":[{\"name\":\"", absl::StrJoin(names, "\"},{\"name\":\""), "\"}],");
  }
  return absl::StrCat(R"({"kind":"Policy","apiVersion":"v1",)", predicates, util::ToAbsl(rest), "}");
}

}  // namespace

std::vector<recording::ProfileSource> ProfilesOf(const Emulated& release, uint64_t rollout) {
  std::vector<recording::ProfileSource> profiles(2);
  profiles[0].scheduler_name = "default-scheduler";
  profiles[1].scheduler_name = "packing";
  if (release.by_profiles) {
    const char* const configuration = rollout == 0 ? kFirst : rollout == 1 ? kSampling : kNoScores;
    for (auto& p : profiles) p.configuration = configuration;
  } else if (rollout == 0) {
    profiles[0].provider = "DefaultProvider";
    profiles[1].provider = "ClusterAutoscalerProvider";
  } else {
    profiles[0].policy = PolicyWith(release.decides, rollout == 1 ? kSpread : kEqual);
    profiles[1].policy = PolicyWith(release.decides, kPack);
  }
  return profiles;
}

}  // namespace berth::simulation
