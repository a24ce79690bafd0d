#include "pkg/scheduler/configuration/policy_profile.h"

#include <absl/strings/str_cat.h>
#include <catch2/catch.hpp>

#include "pkg/api/stream.h"
#include "pkg/releases/v1_19/decides.h"
#include "pkg/scheduler/configuration/load.h"
#include "pkg/util/status.h"

namespace berth::scheduler::configuration {
namespace {

using Strings = std::vector<std::string>;
using enum ExtensionPoint;

absl::StatusOr<ResolvedProfile> Translated(const Policy& policy) {
  const PluginCatalogue& plugins = releases::v1_19::Plugins();
  return ProfileOfPolicy(policy, releases::v1_19::PolicyNames(), plugins, plugins);
}
std::string MistakeOf(const Policy& policy) {
  return util::Message(Translated(policy).status());
}

Policy WithPredicates(std::vector<PredicatePolicy> predicates) {
  Policy policy;
  policy.predicates = std::move(predicates);
  policy.priorities.emplace();
  return policy;
}
Policy WithPriorities(std::vector<PriorityPolicy> priorities) {
  Policy policy;
  policy.predicates.emplace();
  policy.priorities = std::move(priorities);
  return policy;
}
PredicatePolicy Present(std::string name, std::string label, bool presence) {
  PredicatePolicy p{std::move(name), PredicatePolicy::Argument()};
  p.argument->labels_presence = {{std::move(label)}, presence};
  return p;
}
PriorityPolicy Prefers(std::string name, int64_t weight, std::string label, bool presence) {
  PriorityPolicy p{std::move(name), weight, PriorityPolicy::Argument()};
  p.argument->label_preference = {std::move(label), presence};
  return p;
}

// Returns the plugins of an extension point, with their weights if they have any: "TaintToleration 3".
Strings PluginsAt(const ResolvedProfile& profile, ExtensionPoint point) {
  Strings out;
  for (const auto& p : profile.at(point)) {
    out.push_back(p.weight == 0 ? p.name : absl::StrCat(p.name, " ", p.weight));
  }
  return out;
}

LoadedConfiguration LoadBody(const std::string& body) {
  auto document =
      api::ReadDocument("apiVersion: kubescheduler.config.k8s.io/v1beta1\nkind: KubeSchedulerConfiguration\n" + body);
  REQUIRE(document.ok());
  return Load(document->root(), releases::v1_19::Plugins(), {});
}
Strings ProblemsOf(const std::string& body) {
  Strings out;
  for (const Problem& p : LoadBody(body).problems) out.push_back(p.text);
  return out;
}

}  // namespace

TEST_CASE("predicates of a Policy become filters in the order of evaluation, with the mandatory ones") {
  const auto profile = Translated(WithPredicates({{"CheckVolumeBinding", {}}, {"PodFitsPorts", {}}, {"HostName", {}}}));
  REQUIRE(profile.ok());
  CHECK(PluginsAt(*profile, kFilter) ==
        Strings{"NodeUnschedulable", "NodeName", "NodePorts", "TaintToleration", "VolumeBinding"});
  CHECK(PluginsAt(*profile, kPreFilter) == Strings{"NodePorts", "VolumeBinding"});
  CHECK(PluginsAt(*profile, kReserve) == Strings{"VolumeBinding"});
  CHECK(PluginsAt(*profile, kPostFilter) == Strings{"DefaultPreemption"});
  CHECK(PluginsAt(*profile, kScore).empty());
}

TEST_CASE("a Policy without lists has the default predicates and priorities") {
  const auto profile = Translated(Policy());
  REQUIRE(profile.ok());
  CHECK(PluginsAt(*profile, kFilter) == Strings{"NodeUnschedulable", "NodeResourcesFit", "NodeName", "NodePorts",
                                                "NodeAffinity", "VolumeRestrictions", "TaintToleration", "EBSLimits",
                                                "GCEPDLimits", "NodeVolumeLimits", "AzureDiskLimits", "VolumeBinding",
                                                "VolumeZone", "PodTopologySpread", "InterPodAffinity"});
  CHECK(PluginsAt(*profile, kScore) == Strings{"NodeResourcesBalancedAllocation 1", "PodTopologySpread 2",
                                               "ImageLocality 1", "InterPodAffinity 1", "NodeResourcesLeastAllocated 1",
                                               "NodeAffinity 1", "NodePreferAvoidPods 10000", "SelectorSpread 1",
                                               "TaintToleration 1"});
}

TEST_CASE("arguments of a Policy are joined, and an entry with a known name loses its own") {
  auto policy =
      WithPredicates({Present("a", "rack", true), Present("b", "old", false), Present("HostName", "x", true)});
  policy.priorities = {Prefers("p", 3, "ssd", true), Prefers("q", 3, "hdd", false)};
  const auto profile = Translated(policy);
  REQUIRE(profile.ok());
  CHECK(PluginsAt(*profile, kFilter) == Strings{"NodeUnschedulable", "NodeName", "TaintToleration", "NodeLabel"});
  CHECK(PluginsAt(*profile, kScore) == Strings{"NodeLabel 6"});
  const auto labels = profile->Args<NodeLabelArgs>("NodeLabel");
  CHECK(labels.present_labels == Strings{"rack"});
  CHECK(labels.absent_labels == Strings{"old"});
  CHECK(labels.present_labels_preference == Strings{"ssd"});
  CHECK(labels.absent_labels_preference == Strings{"hdd"});
}

TEST_CASE("weights of a Policy are cut to 32 bits, and the last entry of a name counts") {
  CHECK(PluginsAt(*Translated(WithPriorities({{"ImageLocalityPriority", 4294967298, {}}})), kScore) ==
        Strings{"ImageLocality 2"});
  CHECK(PluginsAt(*Translated(WithPriorities({{"ServiceSpreadingPriority", 4, {}}, {"SelectorSpreadPriority", 5, {}}})),
                  kScore) == Strings{"SelectorSpread 5"});
  CHECK(MistakeOf(WithPriorities({{"ImageLocalityPriority", 4294967295, {}}})) ==
        "initializing profiles: creating profile for scheduler name default-scheduler: total score of Score plugins "
        "could overflow");
  CHECK(PluginsAt(*Translated(WithPriorities({{"EqualPriority", 1, {}}})), kScore).empty());
}

TEST_CASE("hardPodAffinitySymmetricWeight needs InterPodAffinityPriority to have an effect") {
  auto policy = WithPriorities({{"InterPodAffinityPriority", 1, {}}});
  policy.hard_pod_affinity_symmetric_weight = 7;
  CHECK(Translated(policy)->Args<InterPodAffinityArgs>("InterPodAffinity").hard_pod_affinity_weight == 7);
  policy.priorities = {{"ImageLocalityPriority", 1, {}}};
  CHECK(Translated(policy)->Args<InterPodAffinityArgs>("InterPodAffinity").hard_pod_affinity_weight == 1);
  policy.hard_pod_affinity_symmetric_weight = 101;
  CHECK(MistakeOf(policy) == "hardPodAffinitySymmetricWeight: Invalid value: 101: not in valid range [0-100]");
}

TEST_CASE("mistakes of a Policy are worded as in 1.19") {
  CHECK(MistakeOf(WithPredicates({{"CheckNodeCondition", {}}})) ==
        "Invalid configuration: Predicate type not found for \"CheckNodeCondition\"");
  CHECK(MistakeOf(WithPredicates({{"GeneralPredicates", {}}, {"PodFitsResources", {}}}))
            .find("plugin \"NodeResourcesFit\" already registered as \"PreFilterPlugin\"") != std::string::npos);
  CHECK(MistakeOf(WithPriorities({{"ImageLocalityPriority", 0, {}}})) ==
        "Priority ImageLocalityPriority should have a positive weight applied to it or it has overflown");
  CHECK(MistakeOf(WithPriorities({Prefers("a", 1, "x", true), Prefers("b", 2, "y", true)})) ==
        "LabelPreference  priority \"b\" has a different weight with \"a\"");
  CHECK(MistakeOf(WithPriorities({{"x", 1, PriorityPolicy::Argument()}})) ==
        "No priority arguments set for priority x");
}

TEST_CASE("a provider is a profile, and an unknown one an error") {
  const auto packs = ProfileOfProvider("ClusterAutoscalerProvider", 9, releases::v1_19::Plugins());
  REQUIRE(packs.ok());
  CHECK(PluginsAt(*packs, kScore)[3] == "NodeResourcesMostAllocated 1");
  CHECK(packs->Args<InterPodAffinityArgs>("InterPodAffinity").hard_pod_affinity_weight == 9);
  CHECK(util::Message(ProfileOfProvider("Nope", 1, releases::v1_19::Plugins()).status()) ==
        "algorithm provider \"Nope\" is not registered");
  CHECK(ProfileOfProvider("DefaultProvider", 0, releases::v1_19::Plugins()).ok());
  CHECK(util::Message(ProfileOfProvider("DefaultProvider", 101, releases::v1_19::Plugins()).status()) ==
        "initializing profiles: creating profile for scheduler name default-scheduler: error initializing plugin "
        "\"InterPodAffinity\": hardPodAffinityWeight: Invalid value: 101: not in valid range [0-100]");
}

TEST_CASE("a profile of v1beta1 appends what it enables to the default list") {
  const auto loaded = LoadBody(
      "profiles: [{plugins: {score: {disabled: [{name: ImageLocality}, {name: TaintToleration}], enabled: "
      "[{name: ImageLocality, weight: 4}, {name: NodeLabel}]}}}]");
  INFO(ErrorText(loaded.problems));
  REQUIRE(loaded.problems.empty());
  CHECK(PluginsAt(loaded.profiles[0], kScore) == Strings{"NodeResourcesBalancedAllocation 1", "InterPodAffinity 1",
                                                         "NodeResourcesLeastAllocated 1", "NodeAffinity 1",
                                                         "NodePreferAvoidPods 10000", "PodTopologySpread 2",
                                                         "SelectorSpread 1", "ImageLocality 4", "NodeLabel 1"});
  CHECK(loaded.configuration.leader_election.resource_lock == "endpointsleases");
}

TEST_CASE("mistakes in profiles of v1beta1 are worded as in 1.19") {
  const std::string creating = "initializing profiles: creating profile for scheduler name default-scheduler: ";
  CHECK(ProblemsOf("profiles: [{plugins: {score: {enabled: [{name: ImageLocality}]}}}]") ==
        Strings{creating + "plugin \"ImageLocality\" already registered as \"ScorePlugin\""});
  CHECK(ProblemsOf("profiles: [{plugins: {filter: {enabled: [{name: Nope}]}}}]") ==
        Strings{creating + "FilterPlugin \"Nope\" does not exist"});
  CHECK(ProblemsOf("profiles: [{plugins: {filter: {enabled: [{name: ImageLocality}]}}}]") ==
        Strings{creating + "plugin \"ImageLocality\" does not extend FilterPlugin plugin"});
  CHECK(ProblemsOf("profiles: [{plugins: {bind: {disabled: [{name: \"*\"}]}}}]") ==
        Strings{creating + "at least one bind plugin is needed"});
  CHECK(ProblemsOf("profiles: [{plugins: {multiPoint: {}}}]") ==
        Strings{"v1beta1.KubeSchedulerConfiguration.Profiles: []v1beta1.KubeSchedulerProfile: "
                "v1beta1.KubeSchedulerProfile.Plugins: v1beta1.Plugins.ReadObject: found unknown field: multiPoint, "
                "error found in #10 byte of ...|ultiPoint\":{}}}]}|..., bigger context "
                "...|onfiguration\",\"profiles\":[{\"plugins\":{\"multiPoint\":{}}}]}|..."});
}

TEST_CASE("arguments in v1beta1 are checked when their plugin is created, with the texts of 1.19") {
  const std::string creating = "initializing profiles: creating profile for scheduler name default-scheduler: ";
  auto with = [&](const std::string& plugin, const std::string& args) {
    return ProblemsOf("profiles: [{plugins: {score: {disabled: [{name: " + plugin + "}], enabled: [{name: " + plugin +
                      "}]}}, pluginConfig: [{name: " + plugin + ", args: {" + args + "}}]}]");
  };
  CHECK(with("InterPodAffinity", "hardPodAffinityWeight: 101") ==
        Strings{creating + "error initializing plugin \"InterPodAffinity\": hardPodAffinityWeight: Invalid value: 101: "
                           "not in valid range [0-100]"});
  CHECK(with("RequestedToCapacityRatio", "shape: [{utilization: 10, score: 1}, {utilization: 10, score: 2}]") ==
        Strings{creating + "error initializing plugin \"RequestedToCapacityRatio\": utilization values must be sorted. "
                           "Utilization[0]==10 >= Utilization[1]==10"});
  CHECK(with("RequestedToCapacityRatio", "") ==
        Strings{creating + "error initializing plugin \"RequestedToCapacityRatio\": at least one point must be "
                           "specified"});
  CHECK(with("NodeLabel", "presentLabels: [a], absentLabels: [a]") ==
        Strings{creating + "error initializing plugin \"NodeLabel\": detecting at least one label (e.g., \"a\") that "
                           "exist in both the present([a]) and absent([a]) label list"});
  CHECK(with("PodTopologySpread", "defaultConstraints: [{maxSkew: 0, topologyKey: a, whenUnsatisfiable: X}]") ==
        Strings{creating + "error initializing plugin \"PodTopologySpread\": defaultConstraints[0].maxSkew: Invalid "
                           "value: 0: must be greater than zero"});
  CHECK(with("NodeResourcesLeastAllocated", "resources: [{name: cpu}]") ==
        Strings{creating +
                "error initializing plugin \"NodeResourcesLeastAllocated\": resource Weight of cpu should be "
                "a positive value, got 0"});
  CHECK(with("RequestedToCapacityRatio", "shape: [{utilization: 10, score: 1}], resources: [{name: cpu}]") ==
        Strings{creating + "error initializing plugin \"RequestedToCapacityRatio\": resource cpu weight 0 must not be "
                           "less than 1"});
  CHECK(with("NodeResourcesMostAllocated", "resources: [{name: cpu, weight: 101}]") ==
        Strings{creating + "error initializing plugin \"NodeResourcesMostAllocated\": resource Weight of cpu should be "
                           "less than 100, got 101"});
}

TEST_CASE("a version that the release does not read is named, with its readers") {
  auto document =
      api::ReadDocument("apiVersion: kubescheduler.config.k8s.io/v1beta2\nkind: KubeSchedulerConfiguration\n");
  REQUIRE(document.ok());
  const auto loaded = Load(document->root(), releases::v1_19::Plugins(), {});
  REQUIRE(loaded.problems.size() == 1);
  CHECK(loaded.problems[0].text ==
        "no kind \"KubeSchedulerConfiguration\" is registered for version \"kubescheduler.config.k8s.io/v1beta2\" in "
        "scheme \"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme/scheme.go:30\"");
  CHECK(loaded.problems[0].hint ==
        "supported are KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1beta1; "
        "kubescheduler.config.k8s.io/v1beta2 is read by releases 1.22 to 1.27 of Kubernetes: convert the file "
        "with schedsim convert FILE --to RELEASE");
}

}  // namespace berth::scheduler::configuration
