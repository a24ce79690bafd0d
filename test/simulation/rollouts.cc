#include "test/simulation/rollouts.h"

namespace berth::simulation {
namespace {

// A Policy without predicates has those of the default provider.
constexpr char kSpread[] = R"({"kind":"Policy","apiVersion":"v1","hardPodAffinitySymmetricWeight":50,"priorities":[
{"name":"SelectorSpreadPriority","weight":3},{"name":"InterPodAffinityPriority","weight":2},
{"name":"BalancedResourceAllocation","weight":1}]})";
constexpr char kPack[] = R"({"kind":"Policy","apiVersion":"v1","alwaysCheckAllPredicates":true,"priorities":[
{"name":"MostRequestedPriority","weight":5},{"name":"TaintTolerationPriority","weight":1}]})";
constexpr char kEqual[] = R"({"kind":"Policy","apiVersion":"v1","priorities":[{"name":"EqualPriority","weight":1}]})";

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

}  // namespace

std::vector<recording::ProfileSource> ProfilesOf(bool later, uint64_t rollout) {
  std::vector<recording::ProfileSource> profiles(2);
  profiles[0].scheduler_name = "default-scheduler";
  profiles[1].scheduler_name = "packing";
  if (later) {
    const char* const configuration = rollout == 0 ? kFirst : rollout == 1 ? kSampling : kNoScores;
    for (auto& p : profiles) p.configuration = configuration;
  } else if (rollout == 0) {
    profiles[0].provider = "DefaultProvider";
    profiles[1].provider = "ClusterAutoscalerProvider";
  } else {
    profiles[0].policy = rollout == 1 ? kSpread : kEqual;
    profiles[1].policy = kPack;
  }
  return profiles;
}

}  // namespace berth::simulation
