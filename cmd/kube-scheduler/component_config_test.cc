#include "cmd/kube-scheduler/component_config.h"

#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>

namespace berth::kube_scheduler {
namespace {

const std::string kHead = "apiVersion: componentconfig/v1alpha1\nkind: KubeSchedulerConfiguration\n";

std::string ErrorOf(const std::string& text) {
  return std::string(ParseConfiguration(text, nullptr).status().message());
}

TEST_CASE("configuration file: defaults") {
  Configuration c = ParseConfiguration(kHead, nullptr).value();
  CHECK_FALSE(c.leader_election.leader_elect);  // unlike the flags
  CHECK(c.leader_election.lease_duration == absl::Seconds(15));
  CHECK(c.algorithm.provider == "DefaultProvider");
  CHECK(c.client_connection.qps == 50);
  CHECK(c.healthz_bind_address == "0.0.0.0:10251");
}

TEST_CASE("configuration file: every field, YAML and JSON, any letter case") {
  std::vector<std::string> warnings;
  Configuration c = ParseConfiguration(R"({"KIND":"KubeSchedulerConfiguration","apiVersion":"componentconfig/v1alpha1",
    "schedulerName":"s","algorithmsource":{"policy":{"configMap":{"name":"m"}}},"hardPodAffinitySymmetricWeight":7,
    "leaderElection":{"leaderElect":true,"leaseDuration":"20s","renewDeadline":"11s","retryPeriod":"3s",
      "resourceLock":"leases","lockObjectNamespace":"n","lockObjectName":"o"},
    "clientConnection":{"kubeconfig":"/k","acceptContentTypes":"a","contentType":"c","qps":1.5,"burst":9},
    "healthzBindAddress":":1234","metricsBindAddress":"localhost:1","enableProfiling":true,"enableContentionProfiling":true,
    "failureDomains":"f","podInitialBackoffSeconds":2,"podMaxBackoffSeconds":8,"parallelism":4,"percentageOfNodesToScore":100,
    "delayCacheUntilActive":true,"profiles":[{"schedulerName":"p","algorithmSource":{"provider":"ClusterAutoscalerProvider"}}],
    "typo":1})",
                                       &warnings)
                        .value();
  CHECK(c.scheduler_name == "s");
  CHECK_FALSE(c.algorithm.provider);
  CHECK(c.algorithm.policy->config_map->ns == "kube-system");
  CHECK(c.algorithm.policy->config_map->name == "m");
  CHECK(c.hard_pod_affinity_symmetric_weight == 7);
  CHECK(c.leader_election.leader_elect);
  CHECK(c.leader_election.resource_lock == "leases");
  CHECK(c.client_connection.qps == 1.5f);
  CHECK(c.healthz_bind_address == "0.0.0.0:1234");
  CHECK(c.pod_max_backoff == absl::Seconds(8));
  CHECK(c.delay_cache_until_active);
  REQUIRE(c.profiles.size() == 1);
  CHECK(c.profiles[0].algorithm.provider == "ClusterAutoscalerProvider");
  CHECK(warnings == std::vector<std::string>{"unknown field \"typo\" is ignored"});
  // What is written is read back as the same.
  Configuration again = ParseConfiguration(ConfigurationToYaml(c), nullptr).value();
  CHECK(ConfigurationToYaml(again) == ConfigurationToYaml(c));
  CHECK(ConfigurationToConfigz(again) == ConfigurationToConfigz(c));
}

TEST_CASE("configuration file: provider wins over policy; an empty policy is one") {
  Configuration both =
      ParseConfiguration(kHead + "algorithmSource: {provider: P, policy: {file: {path: f}}}\n", nullptr).value();
  CHECK(both.algorithm.provider == "P");
  Configuration empty = ParseConfiguration(kHead + "algorithmSource: {policy: {}}\n", nullptr).value();
  CHECK_FALSE(empty.algorithm.provider);
  CHECK(empty.algorithm.policy);
}

TEST_CASE("configuration file: an address that is none is replaced, and said so") {
  std::vector<std::string> warnings;
  Configuration c = ParseConfiguration(kHead + "healthzBindAddress: 127.0.0.1\n", &warnings).value();
  CHECK(c.healthz_bind_address == "0.0.0.0:10251");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0] == "healthzBindAddress: \"127.0.0.1\" is not host:port; 0.0.0.0:10251 is used instead");
}

TEST_CASE("configuration file: errors") {
  CHECK(ErrorOf("") == "Object 'Kind' is missing in ''");
  CHECK(ErrorOf("apiVersion: componentconfig/v1alpha1\n") ==
        "Object 'Kind' is missing in 'apiVersion: componentconfig/v1alpha1\n'");
  CHECK(ErrorOf("kind: KubeSchedulerConfiguration\n") ==
        "Object 'apiVersion' is missing in 'kind: KubeSchedulerConfiguration\n'");
  CHECK(ErrorOf("kind: Foo\napiVersion: componentconfig/v1alpha1\n")
            .find("no kind \"Foo\" is registered for version \"componentconfig/v1alpha1\"") == 0);
  CHECK(ErrorOf("kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1alpha1\n")
            .find("no kind \"KubeSchedulerConfiguration\" is registered for version "
                  "\"kubescheduler.config.k8s.io/v1alpha1\"") == 0);
  CHECK(ErrorOf(kHead + "leaderElection: {leaseDuration: 15}\n") ==
        "leaderElection.leaseDuration: invalid value 15: must be a string such as \"15s\"");
  CHECK(
      ErrorOf(kHead + "leaderElection: {leaseDuration: 15 s}\n").find("leaderElection.leaseDuration: invalid value") ==
      0);
  CHECK(ErrorOf(kHead + "clientConnection: {qps: fast}\n") ==
        "clientConnection.qps: invalid value \"fast\": must be a number");
  CHECK(ErrorOf(kHead + "clientConnection: [1]\n") == "clientConnection: invalid value [1]: must be an object");
  CHECK(ErrorOf(kHead + "hardPodAffinitySymmetricWeight: 4294967297\n") ==
        "hardPodAffinitySymmetricWeight: invalid value 4294967297: must be a whole number of 32 bits");
  CHECK(ErrorOf(kHead + "profiles: [{algorithmSource: {}}]\n") ==
        "profiles[0].schedulerName: invalid value null: must be the name of a scheduler");
  CHECK_FALSE(ErrorOf("{\"kind\": ").empty());
  CHECK(std::string(LoadConfiguration("/nonexistent", nullptr).status().message()) ==
        "open /nonexistent: no such file or directory");
  CHECK(std::string(LoadConfiguration("/", nullptr).status().message()) == "read /: is a directory");
}

TEST_CASE("configuration: what 1.10 finds only later") {
  Configuration c;
  CHECK(CheckConfiguration(c).empty());
  c.percentage_of_nodes_to_score = 101;
  c.pod_max_backoff = absl::ZeroDuration();
  c.parallelism = 0;
  c.profiles = {{"default-scheduler", {}}, {"x", {}}};
  CHECK(CheckConfiguration(c).size() == 4);
}

TEST_CASE("host:port") {
  CHECK(SplitHostPort("[::1]:80")->host == "::1");
  CHECK_FALSE(SplitHostPort("::1:80"));
  CHECK_FALSE(SplitHostPort("localhost"));
  CHECK(SplitHostPort(":80")->host.empty());
  CHECK(JoinHostPort("::1", "80") == "[::1]:80");
}

}  // namespace
}  // namespace berth::kube_scheduler
