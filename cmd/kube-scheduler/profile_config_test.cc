#include "cmd/kube-scheduler/profile_config.h"

#include <catch2/catch.hpp>

#include "pkg/scheduler/configuration/load.h"
#include "pkg/util/status.h"

namespace berth::kube_scheduler {
namespace {

constexpr char kProfileHead[] = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

TEST_CASE("A configuration of kubescheduler.config.k8s.io chooses release 1.29 and its defaults") {
  std::vector<std::string> warnings;
  auto c =
      ParseConfiguration(kProfileHead + std::string("percentageOfNodesToScore: 5\nleaderElection: {resourceName: x}\n"
                                                    "podMaxBackoffSeconds: 20\nprofiles: [{schedulerName: a}, "
                                                    "{schedulerName: b}]\nextenders: [{urlPrefix: http://x}]"),
                         "file", &warnings);
  REQUIRE(c.ok());
  CHECK(c->release->name == "1.29");
  CHECK(c->leader_election.leader_elect);
  CHECK(c->leader_election.resource_lock == "leases");
  CHECK(c->leader_election.lock_object_name == "x");
  CHECK(c->pod_max_backoff == absl::Seconds(20));
  CHECK(c->pod_max_in_unschedulable == absl::Minutes(5));
  REQUIRE(c->plugin_profiles.size() == 2);
  CHECK(c->plugin_profiles[1].scheduler_name == "b");
  CHECK(c->extenders.size() == 1);
  CHECK(warnings == std::vector<std::string>{std::string(scheduler::configuration::kPercentageNotice)});
}

TEST_CASE("A profile has the plugins of the emulated release") {
  using scheduler::configuration::ExtensionPoint;
  const auto filters = [](const release::Id* release) {
    const auto c = ParseConfiguration(kProfileHead, "file", nullptr, {release, "", {}});
    REQUIRE(c.ok());
    return c->plugin_profiles[0].Has(ExtensionPoint::kFilter, "NodeDeclaredFeatures");
  };
  CHECK(filters(*release::Named("1.36")));
  CHECK(!filters(*release::Named("1.29")));
  CHECK(!filters(nullptr));
}

TEST_CASE("Gates of the release change its profiles, with and without a file") {
  const GateSettings on = {{"StorageCapacityScoring", true}, {"OpportunisticBatching", false}};
  const std::string shape = kProfileHead + std::string(
                                               "profiles: [{pluginConfig: [{name: VolumeBinding, args: {shape: "
                                               "[{utilization: 0, score: 3}]}}]}]");
  const auto file = ParseConfiguration(shape, "file", nullptr, {*release::Named("1.36"), "", on});
  REQUIRE(file.ok());
  CHECK(file->plugin_profiles[0].gates.storage_capacity_scoring);
  CHECK_FALSE(file->plugin_profiles[0].gates.opportunistic_batching);
  CHECK_FALSE(ParseConfiguration(shape, "file", nullptr, {*release::Named("1.36"), "", {}}).ok());
  // 1.29 does not have the gate.
  CHECK_FALSE(ParseConfiguration(shape, "file", nullptr, {*release::Named("1.29"), "", on}).ok());
  Configuration flags;
  CHECK(SetRelease("1.36", "", &flags, on).ok());
  CHECK(flags.plugin_profiles[0].gates.storage_capacity_scoring);
  CHECK_FALSE(flags.plugin_profiles[0].gates.opportunistic_batching);
}

TEST_CASE("Such a configuration is read strictly, and all its mistakes are reported with the file") {
  auto c = ParseConfiguration(kProfileHead + std::string("parallelism: 0\nschedulerName: x"), "file", nullptr);
  CHECK(util::Message(c.status()) ==
        "file: [strict decoding error: unknown field \"schedulerName\", parallelism: Invalid value: 0: should be an "
        "integer value greater than zero]");
}

TEST_CASE("A configuration of componentconfig/v1alpha1 chooses release 1.10") {
  auto c = ParseConfiguration("apiVersion: componentconfig/v1alpha1\nkind: KubeSchedulerConfiguration\n", "f", nullptr);
  REQUIRE(c.ok());
  CHECK(c->release->name == "1.10");
  CHECK(ReleaseToRun(*c).version == release::Version{10});
}

TEST_CASE("--emulated-version and the file must agree") {
  Configuration c;
  CHECK(SetRelease("", "", &c).ok());
  CHECK(SetRelease("1.10", "", &c).ok());
  CHECK(c.release->name == "1.10");
  CHECK(util::Message(SetRelease("1.11", "", &c)) ==
        "--emulated-version: invalid value \"1.11\": must be " + release::Names());
  CHECK(util::Message(SetRelease("1.29", "f", &c)) ==
        "--emulated-version=1.29 contradicts --config=f, which is a configuration of release 1.10");
  CHECK(SetRelease("1.29", "", &c).ok());
  CHECK(c.release->name == "1.29");
  REQUIRE(c.plugin_profiles.size() == 1);
  CHECK(c.plugin_profiles[0].scheduler_name == "default-scheduler");
  CHECK(util::Message(SetRelease("1.10", "f", &c)) ==
        "--emulated-version=1.10 contradicts --config=f, which is a configuration of release 1.29");
  CHECK(ReleaseToRun(c).version == release::Version{29});
  CHECK(c.leader_election.resource_lock == "leases");
  CHECK(c.pod_max_backoff == absl::Seconds(10));
  CHECK(c.pod_max_in_unschedulable == absl::Minutes(5));
}

}  // namespace
}  // namespace berth::kube_scheduler
