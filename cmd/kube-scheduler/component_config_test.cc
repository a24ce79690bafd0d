#include "cmd/kube-scheduler/component_config.h"

#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <set>

namespace berth::kube_scheduler {
namespace {

const std::string kHead = "apiVersion: componentconfig/v1alpha1\nkind: KubeSchedulerConfiguration\n";

std::string ErrorOf(const std::string& text) {
  return std::string(ParseConfiguration(text, "f", nullptr).status().message());
}

TEST_CASE("configuration file: defaults") {
  Configuration c = ParseConfiguration(kHead, "f", nullptr).value();
  CHECK_FALSE(c.leader_election.leader_elect);  // unlike with flags
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
                                       "f", &warnings)
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
  // What is written can be read back.
  Configuration again = ParseConfiguration(ConfigurationToYaml(c), "f", nullptr).value();
  CHECK(ConfigurationToYaml(again) == ConfigurationToYaml(c));
  CHECK(ConfigurationToConfigz(again) == ConfigurationToConfigz(c));
}

TEST_CASE("configuration file: provider wins over policy; an empty policy is one") {
  Configuration both =
      ParseConfiguration(kHead + "algorithmSource: {provider: P, policy: {file: {path: f}}}\n", "f", nullptr).value();
  CHECK(both.algorithm.provider == "P");
  Configuration empty = ParseConfiguration(kHead + "algorithmSource: {policy: {}}\n", "f", nullptr).value();
  CHECK_FALSE(empty.algorithm.provider);
  CHECK(empty.algorithm.policy);
}

TEST_CASE("configuration file: an IP address without a port gets the usual one, and it is said") {
  std::vector<std::string> warnings;
  Configuration c =
      ParseConfiguration(kHead + "healthzBindAddress: 127.0.0.1\nmetricsBindAddress: '::1'\n", "f", &warnings).value();
  CHECK(c.healthz_bind_address == "127.0.0.1:10251");
  CHECK(c.metrics_bind_address == "[::1]:10251");
  CHECK(warnings == std::vector<std::string>{"healthzBindAddress: no port is given; 127.0.0.1:10251 is used",
                                             "metricsBindAddress: no port is given; [::1]:10251 is used"});
}

// Returns every path of a written configuration: "leaderElection.leaseDuration", "profiles.schedulerName".
std::set<std::string> FieldsOf(const Configuration& c) {
  std::set<std::string> out;
  std::vector<std::pair<size_t, std::string>> parents;  // indentation and path
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(ConfigurationToYaml(c), '\n'))) {
    const size_t indent = line.find_first_not_of(" -");
    if (indent == std::string::npos) continue;
    while (!parents.empty() && parents.back().first >= indent) parents.pop_back();
    const std::string key = line.substr(indent, line.find(':') - indent);
    const std::string path = parents.empty() ? key : parents.back().second + "." + key;
    out.insert(path);
    parents.emplace_back(indent, path);
  }
  return out;
}

TEST_CASE("configuration file: every field refuses what is wrong, and is named with the value") {
  const std::string kText = "a string", kObject = "an object", kBool = "true or false",
                    kWhole = "a whole number of 32 bits";
  const std::string kTime = "a string such as \"15s\"", kAddress = "host:port with a port from 0 to 65535";
  struct Case {
    std::string yaml, field, value, want;
  };
  const std::vector<Case> cases = {
      {"apiVersion: 1", "apiVersion", "1", kText},
      {"kind: 1", "kind", "1", kText},
      {"schedulerName: 1", "schedulerName", "1", kText},
      {"algorithmSource: x", "algorithmSource", "\"x\"", kObject},
      {"algorithmSource: {provider: 1}", "algorithmSource.provider", "1", kText},
      {"algorithmSource: {policy: x}", "algorithmSource.policy", "\"x\"", kObject},
      {"algorithmSource: {policy: {file: x}}", "algorithmSource.policy.file", "\"x\"", kObject},
      {"algorithmSource: {policy: {file: {path: 1}}}", "algorithmSource.policy.file.path", "1", kText},
      {"algorithmSource: {policy: {configMap: x}}", "algorithmSource.policy.configMap", "\"x\"", kObject},
      {"algorithmSource: {policy: {configMap: {name: 1}}}", "algorithmSource.policy.configMap.name", "1", kText},
      {"algorithmSource: {policy: {configMap: {namespace: 1}}}", "algorithmSource.policy.configMap.namespace", "1",
       kText},
      {"hardPodAffinitySymmetricWeight: heavy", "hardPodAffinitySymmetricWeight", "\"heavy\"", kWhole},
      {"hardPodAffinitySymmetricWeight: 1.5", "hardPodAffinitySymmetricWeight", "1.5", kWhole},
      {"leaderElection: true", "leaderElection", "true", kObject},
      {"leaderElection: {leaderElect: 1}", "leaderElection.leaderElect", "1", kBool},
      {"leaderElection: {leaseDuration: 15}", "leaderElection.leaseDuration", "15", kTime},
      {"leaderElection: {renewDeadline: 15}", "leaderElection.renewDeadline", "15", kTime},
      {"leaderElection: {retryPeriod: '2'}", "leaderElection.retryPeriod", "\"2\"", "a duration such as \"15s\""},
      {"leaderElection: {resourceLock: 1}", "leaderElection.resourceLock", "1", kText},
      {"leaderElection: {lockObjectNamespace: 1}", "leaderElection.lockObjectNamespace", "1", kText},
      {"leaderElection: {lockObjectName: 1}", "leaderElection.lockObjectName", "1", kText},
      {"clientConnection: x", "clientConnection", "\"x\"", kObject},
      {"clientConnection: {kubeconfig: 1}", "clientConnection.kubeconfig", "1", kText},
      {"clientConnection: {acceptContentTypes: 1}", "clientConnection.acceptContentTypes", "1", kText},
      {"clientConnection: {contentType: 1}", "clientConnection.contentType", "1", kText},
      {"clientConnection: {qps: fast}", "clientConnection.qps", "\"fast\"", "a number"},
      {"clientConnection: {qps: 1e39}", "clientConnection.qps", "1e39", "a number"},
      {"clientConnection: {burst: 1.5}", "clientConnection.burst", "1.5", kWhole},
      {"healthzBindAddress: 1", "healthzBindAddress", "1", kText},
      {"healthzBindAddress: localhost", "healthzBindAddress", "\"localhost\"", kAddress},
      {"healthzBindAddress: 'localhost:70000'", "healthzBindAddress", "\"localhost:70000\"", kAddress},
      {"healthzBindAddress: '256.0.0.1:80'", "healthzBindAddress", "\"256.0.0.1:80\"", kAddress},
      {"healthzBindAddress: 'a b:80'", "healthzBindAddress", "\"a b:80\"", kAddress},
      {"metricsBindAddress: 'localhost:'", "metricsBindAddress", "\"localhost:\"", kAddress},
      {"enableProfiling: 'yes'", "enableProfiling", "\"yes\"", kBool},
      {"enableContentionProfiling: 0", "enableContentionProfiling", "0", kBool},
      {"failureDomains: [a]", "failureDomains", "[\"a\"]", kText},
      {"percentageOfNodesToScore: all", "percentageOfNodesToScore", "\"all\"", kWhole},
      {"podInitialBackoffSeconds: 1s", "podInitialBackoffSeconds", "\"1s\"", kWhole},
      {"podMaxBackoffSeconds: 99999999999", "podMaxBackoffSeconds", "99999999999", kWhole},
      {"podMaxInUnschedulablePodsDuration: 5", "podMaxInUnschedulablePodsDuration", "5", kTime},
      {"parallelism: {}", "parallelism", "{}", kWhole},
      {"delayCacheUntilActive: 1", "delayCacheUntilActive", "1", kBool},
      {"profiles: x", "profiles", "\"x\"", "a list"},
      {"profiles: [x]", "profiles", "\"x\"", "a list of objects"},
      {"profiles: [{schedulerName: 1}]", "profiles[0].schedulerName", "1", kText},
      {"profiles: [{schedulerName: a, algorithmSource: 1}]", "profiles[0].algorithmSource", "1", kObject},
      {"profiles: [{schedulerName: a, algorithmSource: {provider: 1}}]", "profiles[0].algorithmSource.provider", "1",
       kText},
      {"profiles: [{schedulerName: a, algorithmSource: {policy: 1}}]", "profiles[0].algorithmSource.policy", "1",
       kObject},
  };
  std::set<std::string> tested;
  for (const Case& one : cases) {
    INFO(one.yaml);
    std::string text = one.yaml + "\n";
    for (const char* head : {"apiVersion: componentconfig/v1alpha1\n", "kind: KubeSchedulerConfiguration\n"}) {
      if (text.find(std::string(head).substr(0, 5)) != 0) text += head;
    }
    const std::string error = ErrorOf(text),
                      wanted = "f: " + one.field + ": invalid value " + one.value + ": must be " + one.want;
    CHECK(error.substr(0, wanted.size()) == wanted);
    CHECK(error.find('\n') == std::string::npos);
    tested.insert(absl::StrReplaceAll(one.field, {{"[0]", ""}}));
  }
  // The document above has every field that can be written.
  Configuration file, map;
  file.algorithm.policy.emplace().file = "f";
  map.algorithm.policy.emplace().config_map = {"n", "m"};
  file.profiles = {{"p", {.provider = "x", .policy = std::nullopt}}, {"q", {.provider = {}, .policy = PolicySource{}}}};
  Configuration provider;
  provider.algorithm.provider = "x";
  for (const Configuration* c : {&file, &map, &provider}) {
    for (const std::string& field : FieldsOf(*c)) {
      INFO(field);
      CHECK(tested.contains(field));
    }
  }
}

TEST_CASE("configuration file: errors") {
  CHECK(ErrorOf("") == "Object 'Kind' is missing in ''");
  CHECK(ErrorOf("apiVersion: componentconfig/v1alpha1\n") ==
        "Object 'Kind' is missing in 'apiVersion: componentconfig/v1alpha1\n'");
  CHECK(ErrorOf("kind: KubeSchedulerConfiguration\n") ==
        "Object 'apiVersion' is missing in 'kind: KubeSchedulerConfiguration\n'");
  CHECK(ErrorOf("kind: Foo\napiVersion: componentconfig/v1alpha1\n")
            .find("no kind \"Foo\" is registered for version \"componentconfig/v1alpha1\"") == 0);
  CHECK(ErrorOf("kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1alpha2\n")
            .find("no kind \"KubeSchedulerConfiguration\" is registered for version "
                  "\"kubescheduler.config.k8s.io/v1alpha2\"") == 0);
  CHECK(ErrorOf("kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1alpha1\n").empty());
  CHECK(ErrorOf(kHead + "leaderElection: {leaseDuration: 15}\n") ==
        "f: leaderElection.leaseDuration: invalid value 15: must be a string such as \"15s\"");
  CHECK(ErrorOf(kHead + "leaderElection: {leaseDuration: 15 s}\n")
            .find("f: leaderElection.leaseDuration: invalid value") == 0);
  CHECK(ErrorOf(kHead + "clientConnection: {qps: fast}\n") ==
        "f: clientConnection.qps: invalid value \"fast\": must be a number");
  CHECK(ErrorOf(kHead + "clientConnection: [1]\n") == "f: clientConnection: invalid value [1]: must be an object");
  CHECK(ErrorOf(kHead + "hardPodAffinitySymmetricWeight: 4294967297\n") ==
        "f: hardPodAffinitySymmetricWeight: invalid value 4294967297: must be a whole number of 32 bits");
  CHECK(ErrorOf(kHead + "profiles: [{algorithmSource: {}}]\n") ==
        "f: profiles[0].schedulerName: invalid value null: must be the name of a scheduler");
  CHECK_FALSE(ErrorOf("{\"kind\": ").empty());
  CHECK(std::string(LoadConfiguration("/nonexistent", nullptr).status().message()) ==
        "open /nonexistent: no such file or directory");
  CHECK(std::string(LoadConfiguration("/", nullptr).status().message()) == "read /: is a directory");
}

TEST_CASE("configuration: what 1.10 finds only later") {
  using Problems = std::vector<std::string>;
  CHECK(CheckConfiguration({}, Spelling::kFile).empty());
  const auto problems = [](const std::function<void(Configuration&)>& change, Spelling spelling) {
    Configuration c;
    change(c);
    return CheckConfiguration(c, spelling);
  };
  struct Case {
    std::function<void(Configuration&)> change;
    std::string file, flags;  // flags empty: the same text, because there is no flag
  };
  const std::vector<Case> cases = {
      {[](Configuration& c) { c.client_connection.qps = NAN; },
       "clientConnection.qps: invalid value NaN: must be a number; below 0: no limit, 0: 5",
       "--kube-api-qps: invalid value NaN: must be a number; below 0: no limit, 0: 5"},
      {[](Configuration& c) { c.client_connection.burst = -1; },
       "clientConnection.burst: invalid value -1: must be 0 (which means 10) or more",
       "--kube-api-burst: invalid value -1: must be 0 (which means 10) or more"},
      {[](Configuration& c) { c.leader_election.resource_lock = "stone"; },
       "couldn't create resource lock: Invalid lock-type stone (leaderElection.resourceLock must be endpoints, "
       "configmaps or leases)",
       "couldn't create resource lock: Invalid lock-type stone (--leader-elect-resource-lock must be endpoints, "
       "configmaps or leases)"},
      {[](Configuration& c) { c.leader_election.lease_duration = absl::Seconds(10); },
       "couldn't create leader elector: leaseDuration must be greater than renewDeadline "
       "(leaderElection.leaseDuration is 10s, leaderElection.renewDeadline 10s, leaderElection.retryPeriod 2s)",
       "couldn't create leader elector: leaseDuration must be greater than renewDeadline "
       "(--leader-elect-lease-duration is 10s, --leader-elect-renew-deadline 10s, --leader-elect-retry-period 2s)"},
      {[](Configuration& c) { c.leader_election.lock_object_namespace = "a.b"; },
       "leaderElection.lockObjectNamespace: invalid value \"a.b\": must be the name of a namespace: lower case "
       "letters, "
       "digits and '-', at most 63",
       "--lock-object-namespace: invalid value \"a.b\": must be the name of a namespace: lower case letters, digits "
       "and "
       "'-', at most 63"},
      {[](Configuration& c) { c.leader_election.lock_object_name = "a..b"; },
       "leaderElection.lockObjectName: invalid value \"a..b\": must be the name of an object: lower case letters, "
       "digits, '-' and '.', at most 253",
       "--lock-object-name: invalid value \"a..b\": must be the name of an object: lower case letters, digits, '-' and "
       "'.', at most 253"},
      {[](Configuration& c) { c.pod_initial_backoff = -absl::Seconds(1); },
       "podInitialBackoffSeconds: invalid value -1: must be greater than 0", ""},
      {[](Configuration& c) { c.pod_max_backoff = absl::ZeroDuration(); },
       "podMaxBackoffSeconds: invalid value 0: must be greater than or equal to podInitialBackoffSeconds", ""},
      {[](Configuration& c) { c.pod_max_in_unschedulable = absl::ZeroDuration(); },
       "podMaxInUnschedulablePodsDuration: invalid value 0s: must be greater than 0",
       "--pod-max-in-unschedulable-pods-duration: invalid value 0s: must be greater than 0"},
      {[](Configuration& c) { c.parallelism = 0; }, "parallelism: invalid value 0: must be greater than 0", ""},
      {[](Configuration& c) {
         c.profiles = {{"x", {}}, {"default-scheduler", {}}};
       },
       "profiles[1].schedulerName: invalid value \"default-scheduler\": must be a name that no other scheduler here "
       "has",
       ""},
  };
  // 1.13 does not validate this one in a file.
  const auto percentage = [](Configuration& c) { c.percentage_of_nodes_to_score = 101; };
  CHECK(problems(percentage, Spelling::kFile).empty());
  CHECK(problems(percentage, Spelling::kFlags) ==
        Problems{"percentageOfNodesToScore: invalid value 101: must be between 0 and 100"});
  for (const Case& one : cases) {
    CHECK(problems(one.change, Spelling::kFile) == Problems{one.file});
    CHECK(problems(one.change, Spelling::kFlags) == Problems{one.flags.empty() ? one.file : one.flags});
  }
  // Without leader election its settings are not checked.
  CHECK(problems(
            [](Configuration& c) {
              c.leader_election = {.leader_elect = false, .lease_duration = {}, .resource_lock = "stone"};
            },
            Spelling::kFile)
            .empty());
  // All mistakes are reported at once.
  CHECK(problems(
            [](Configuration& c) {
              c.parallelism = 0;
              c.client_connection.burst = -1;
            },
            Spelling::kFile)
            .size() == 2);
}

TEST_CASE("hosts") {
  for (const char* good : {"10.0.0.1", "::1", "fe80::1%eth0", "localhost", "a-b.example.com", "host_1"}) {
    INFO(good);
    CHECK(IsHost(good));
  }
  for (const char* bad : {"", "256.0.0.1", "1.2.3", "a b", "h:80", "[::1]", "-x", "http://h"}) {
    INFO(bad);
    CHECK_FALSE(IsHost(bad));
  }
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
