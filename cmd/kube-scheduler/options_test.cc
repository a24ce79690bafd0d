#include "cmd/kube-scheduler/options.h"

#include <absl/strings/str_join.h>

#include <catch2/catch.hpp>
#include <set>

#include "cmd/kube-scheduler/go_text.h"
#include "cmd/kube-scheduler/release_flags.h"
#include "pkg/http/testing/temp_dir.h"

namespace berth::kube_scheduler {
namespace {

std::string ParseError(std::vector<std::string> args) {
  Options o;
  return std::string(o.Parse(args).message());
}

struct Completed {
  absl::StatusOr<Configuration> config = absl::UnknownError("");
  std::vector<std::string> warnings;
  std::string error() const { return std::string(config.status().message()); }
};
Completed Complete(std::vector<std::string> args) {
  Options o;
  REQUIRE(std::string(o.Parse(args).message()) == "");
  Completed c;
  c.config = o.Complete(&c.warnings);
  return c;
}

TEST_CASE("flags: errors are pflag's") {
  CHECK(ParseError({"--bogus"}) == "unknown flag: --bogus");
  CHECK(ParseError({"--bogus=1"}) == "unknown flag: --bogus");
  CHECK(ParseError({"--leader"}) == "unknown flag: --leader (did you mean \"--leader-elect\"?)");
  CHECK(ParseError({"--Port=1"}) == "unknown flag: --Port (did you mean \"--port\"?)");
  CHECK(ParseError({"-x"}) == "unknown shorthand flag: 'x' in -x");
  CHECK(ParseError({"-port=1"}) == "unknown shorthand flag: 'p' in -port=1");
  CHECK(ParseError({"--config"}) == "flag needs an argument: --config");
  CHECK(ParseError({"-v"}) == "flag needs an argument: 'v' in -v");
  CHECK(ParseError({"--=x"}) == "bad flag syntax: --=x");
  CHECK(ParseError({"--port=abc"}) ==
        R"(invalid argument "abc" for "--port" flag: strconv.ParseInt: parsing "abc": invalid syntax)");
  CHECK(
      ParseError({"--port=99999999999"}) ==
      R"(invalid argument "99999999999" for "--port" flag: strconv.ParseInt: parsing "99999999999": value out of range)");
  CHECK(ParseError({"-v=xx"}) ==
        R"(invalid argument "xx" for "-v, --v" flag: strconv.Atoi: parsing "xx": invalid syntax)");
  CHECK(ParseError({"--leader-elect=maybe"}) ==
        R"(invalid argument "maybe" for "--leader-elect" flag: strconv.ParseBool: parsing "maybe": invalid syntax)");
  CHECK(ParseError({"--leader-elect-lease-duration=2"}) ==
        R"(invalid argument "2" for "--leader-elect-lease-duration" flag: time: missing unit in duration "2")");
  CHECK(ParseError({"--kube-api-qps=many"}) ==
        R"(invalid argument "many" for "--kube-api-qps" flag: strconv.ParseFloat: parsing "many": invalid syntax)");
  CHECK(ParseError({"--feature-gates=Foo=true"}) ==
        R"(invalid argument "Foo=true" for "--feature-gates" flag: unrecognized key: Foo)");
  CHECK(ParseError({"--feature-gates=PodPriority"}) ==
        R"(invalid argument "PodPriority" for "--feature-gates" flag: missing bool value for PodPriority)");
  CHECK(ParseError({"--feature-gates=PodPriority=ja"}) ==
        "invalid argument \"PodPriority=ja\" for \"--feature-gates\" flag: invalid value of PodPriority: ja, err: "
        "strconv.ParseBool: parsing \"ja\": invalid syntax");
  CHECK(
      ParseError({"-v=99999999999"}) ==
      R"(invalid argument "99999999999" for "-v, --v" flag: strconv.Atoi: parsing "99999999999": value out of range)");
  CHECK(ParseError({"--bind-address=localhost"}) ==
        R"(invalid argument "localhost" for "--bind-address" flag: failed to parse IP: "localhost")");
  CHECK(ParseError({"--logging-format=xml"}) ==
        R"(invalid argument "xml" for "--logging-format" flag: must be text or json)");
}

TEST_CASE("flags: every spelling that pflag takes") {
  Options o;
  REQUIRE(o.Parse({"--kube_api_qps=5", "--port", "0x10", "--port=010", "-v2", "--leader-elect=F", "--leader-elect",
                   "--version=raw", "--stderrthreshold=warning", "--feature-gates= PodPriority = true ,,",
                   "--feature-gates=VolumeScheduling=0"})
              .ok());
  std::vector<std::string> warnings;
  Configuration c = o.Complete(&warnings).value();
  CHECK(c.client_connection.qps == 5);
  CHECK(c.healthz_bind_address == "0.0.0.0:8");  // octal, and the last value is used
  CHECK(o.logging.verbosity == 2);
  CHECK(c.leader_election.leader_elect);
  CHECK(o.version == "raw");
  CHECK(o.logging.stderr_threshold == 1);
  CHECK(o.GateOn("PodPriority"));
  CHECK_FALSE(o.GateOn("VolumeScheduling"));
  CHECK_FALSE(o.GateOn("TaintNodesByCondition"));
  CHECK(o.gate_log().back() == "feature gates: map[PodPriority:true VolumeScheduling:false]");
}

TEST_CASE("flags: a bare boolean takes no word, and AllAlpha spares what was set") {
  Completed c = Complete({"--leader-elect", "false"});
  CHECK(c.error() == "no arguments are supported. Run kube-scheduler --help for usage.");
  Options o;
  REQUIRE(o.Parse({"--feature-gates=TaintNodesByCondition=false,AllAlpha=true"}).ok());
  CHECK(o.GateOn("PodPriority"));
  CHECK_FALSE(o.GateOn("TaintNodesByCondition"));
  Options later;
  REQUIRE(later.Parse({"--", "--port=1"}).ok());
  std::vector<std::string> warnings;
  CHECK(std::string(later.Complete(&warnings).status().message()) ==
        "no arguments are supported. Run kube-scheduler --help for usage.");
}

TEST_CASE("flags: defaults are 1.10's") {
  Completed done = Complete({});
  const Configuration& c = *done.config;
  CHECK(done.warnings == std::vector<std::string>{
                             "WARNING: all flags other than --config are deprecated. Please begin using a config file "
                             "ASAP."});
  CHECK(
      ConfigurationToConfigz(c) ==
      R"({"componentconfig":{"SchedulerName":"default-scheduler","AlgorithmSource":{"Policy":null,"Provider":"DefaultProvider"},)"
      R"("HardPodAffinitySymmetricWeight":1,"LeaderElection":{"LeaderElect":true,"LeaseDuration":"15s","RenewDeadline":"10s",)"
      R"("RetryPeriod":"2s","ResourceLock":"endpoints","LockObjectNamespace":"kube-system","LockObjectName":"kube-scheduler"},)"
      R"("ClientConnection":{"KubeConfigFile":"","AcceptContentTypes":"","ContentType":"application/vnd.kubernetes.protobuf",)"
      R"("QPS":50,"Burst":100},"HealthzBindAddress":"0.0.0.0:10251","MetricsBindAddress":"0.0.0.0:10251",)"
      R"("EnableProfiling":false,"EnableContentionProfiling":false,"FailureDomains":"kubernetes.io/hostname,)"
      R"(failure-domain.beta.kubernetes.io/zone,failure-domain.beta.kubernetes.io/region"}})");
}

TEST_CASE("options: --help of a release has its flags, defaults and gates") {
  const auto help_of = [](const std::string& release) {
    Options o;
    REQUIRE(o.Parse({"--emulated-version=" + release}).ok());
    return o.Help();
  };
  const auto has = [](const std::string& help, const std::string& text) {
    return help.find(text) != std::string::npos;
  };
  const std::string old = help_of("1.13"), middle = help_of("1.19"), modern = help_of("1.29");
  CHECK(has(old, "--log-file"));
  CHECK(has(middle, "--one-output"));
  CHECK_FALSE(has(old, "--one-output"));
  CHECK_FALSE(has(middle, "--tls-curve-preferences"));
  CHECK(has(middle, "--policy-config-file"));
  CHECK_FALSE(has(modern, "--policy-config-file"));
  CHECK(has(middle, "endpointsleases"));
  CHECK_FALSE(has(old, "endpointsleases"));
  CHECK(has(old, "EnableEquivalenceClassCache=true|false"));
  CHECK(has(middle, "DefaultPodTopologySpread=true|false (ALPHA -"));
  CHECK(has(old, "Predicates that a Policy may name"));
  CHECK_FALSE(has(middle, "Predicates that a Policy may name"));
}

TEST_CASE("options: what /configz shows of 1.13") {
  Options o;
  REQUIRE(o.Parse({"--emulated-version=1.13", "--kubeconfig=k"}).ok());
  std::vector<std::string> warnings;
  const auto c = o.Complete(&warnings);
  REQUIRE(c.ok());
  CHECK(warnings.empty());
  const std::string shown = ConfigurationToConfigz(*c);
  CHECK_THAT(shown, Catch::Matchers::Contains(R"("ClientConnection":{"Kubeconfig":"k",)"));
  CHECK_THAT(shown, Catch::Matchers::Contains(
                        R"("EnableContentionProfiling":false,"DisablePreemption":false,"PercentageOfNodesToScore":50,)"
                        R"("FailureDomains":"kubernetes.io/hostname,)"));
  CHECK_THAT(shown, Catch::Matchers::EndsWith(R"(,"BindTimeoutSeconds":600}})"));
}

TEST_CASE("flags: where the algorithm comes from") {
  const auto source = [](std::vector<std::string> args) {
    Completed c = Complete(std::move(args));
    const AlgorithmSource& a = c.config->algorithm;
    if (a.provider) return "provider " + *a.provider;
    if (a.policy->file) return "file " + *a.policy->file;
    return "map " + a.policy->config_map->ns + "/" + a.policy->config_map->name;
  };
  CHECK(source({}) == "provider DefaultProvider");
  CHECK(source({"--algorithm-provider="}) == "provider DefaultProvider");
  CHECK(source({"--algorithm-provider=X"}) == "provider X");
  CHECK(source({"--algorithm-provider=X", "--policy-config-file=f"}) == "file f");
  CHECK(source({"--policy-configmap=m", "--policy-config-file=f"}) == "map kube-system/m");
  CHECK(source({"--policy-configmap=m", "--policy-configmap-namespace=n"}) == "map n/m");
  CHECK(source({"--policy-configmap=m", "--policy-config-file=f", "--use-legacy-policy-config"}) == "file f");
  CHECK(source({"--use-legacy-policy-config"}) == "file ");
}

TEST_CASE("flags: address and port") {
  CHECK(Complete({"--port=-1"}).config->healthz_bind_address.empty());
  CHECK(Complete({"--address=::1", "--port=0"}).config->metrics_bind_address == "[::1]:0");
  CHECK(Complete({"--address=1.2.3.4:80"}).error() ==
        "--address: invalid value \"1.2.3.4:80\": must be an IP address or a host's name, without a port");
  CHECK(Complete({"--client-ca-file=x"}).error() == "--client-ca-file: \"x\" has no effect without --secure-port");
  CHECK(Complete({"--port=70000"}).error() ==
        "--port: invalid value 70000: must be -1 (not served) or between 0 and 65535");
}

TEST_CASE("flags: words that are no flags, and address and port, in each release") {
  const auto with = [](const char* release, const char* flag) {
    return Complete({std::string("--emulated-version=") + release, flag});
  };
  const auto parse_error = [](const char* release, std::vector<std::string> words) {
    Options o;
    words.insert(words.begin(), std::string("--emulated-version=") + release);
    return std::string(o.Parse(words).message());
  };
  CHECK(with("1.8", "word").config.ok());
  CHECK(with("1.9", "word").error() == "no arguments are supported. Run kube-scheduler --help for usage.");
  CHECK(with("1.13", "word").config.ok());
  for (const char* release : {"1.19", "1.29", "1.36"}) {
    CHECK(parse_error(release, {"one", "two"}) ==
          "\"kube-scheduler\" does not take any arguments, got [\"one\" \"two\"]");
    CHECK(parse_error(release, {"one", "--help"}).empty());
  }
  constexpr const char* kSays = ", inclusive. 0 for turning off insecure (HTTP) port";
  CHECK(with("1.13", "--port=70000").error() == std::string("--port 70000 must be between 0 and 65335") + kSays);
  CHECK(with("1.19", "--port=-1").error() == std::string("--port -1 must be between 0 and 65535") + kSays);
  for (const char* release : {"1.13", "1.19"}) {
    CHECK(with(release, "--address=name").error() == "--address has no valid IP address");
    CHECK(with(release, "--port=0").config->healthz_bind_address.empty());
  }
  CHECK(with("1.10", "--port=0").config->healthz_bind_address == "0.0.0.0:0");
}

TEST_CASE("flags: what --config puts out of force is said") {
  http::TempDir dir;
  const std::string file =
      dir.Write("config", "apiVersion: componentconfig/v1alpha1\nkind: KubeSchedulerConfiguration\n");
  const std::set<std::string> in_force = {"config",
                                          "write-config-to",
                                          "emulated-version",
                                          "ignore-unknown-fields",
                                          "record-dir",
                                          "record-max-bytes",
                                          "check-decisions",
                                          "kept-answers-max-bytes",
                                          "min-sync-period",
                                          "context",
                                          "master",
                                          "feature-gates",
                                          "bind-address",
                                          "enable-ui",
                                          "secure-port",
                                          "cert-dir",
                                          "tls-cert-file",
                                          "help",
                                          "version",
                                          "client-ca-file",
                                          "tls-private-key-file",
                                          "pod-max-in-unschedulable-pods-duration"};
  Options o;
  std::vector<std::string> args = {"--config=" + file}, lost;
  for (const flags::Flag* f : o.flags().Listed()) {
    if (f->name == "config") continue;
    const std::string arg = "--" + f->name + "=" + f->text();
    // Flags of later releases would be refused.
    Options alone;
    std::vector<std::string> of_no_effect;
    if (!alone.Parse({arg}).ok() || !CheckFlagsOfRelease(alone.flags(), release::Default(), &of_no_effect).ok() ||
        !of_no_effect.empty()) {
      continue;
    }
    args.push_back(arg);
    if (f->section != "Logging" && !in_force.contains(f->name)) lost.push_back("--" + f->name);
  }
  REQUIRE(o.Parse(args).ok());
  std::vector<std::string> warnings;
  REQUIRE(o.Complete(&warnings).ok());
  CHECK(warnings == std::vector<std::string>{"ignored because --config is given: " + absl::StrJoin(lost, ", ")});
}

TEST_CASE("flags: help names every flag but the deprecated ones") {
  Options o;
  const std::string help = o.Help();
  for (const flags::Flag* f : o.flags().Listed()) {
    INFO(f->name);
    const bool named =
        help.find("--" + f->name + " ") != std::string::npos || help.find("--" + f->name + "\n") != std::string::npos;
    CHECK(named != f->deprecated);
  }
  CHECK(help.find("ClusterAutoscalerProvider | DefaultProvider") != std::string::npos);
  CHECK(help.find(" PodPriority=true|false (ALPHA - default=false)\n") != std::string::npos);
  CHECK(help.find(" ExperimentalHostUserNamespaceDefaulting=true|false\n") != std::string::npos);
  CHECK(help.find("VolumeSubpath=true|false (default=true)") != std::string::npos);
  CHECK(help.find("-v, --v Level") != std::string::npos);
  for (size_t at = 0; at < help.size();) {
    const size_t end = std::min(help.find('\n', at), help.size());
    CHECK(end - at <= 80);
    at = end + 1;
  }
}

TEST_CASE("Go's texts") {
  const auto duration = [](const char* s) {
    absl::Duration d;
    absl::Status st = ParseGoDuration(s, &d);
    return st.ok() ? FormatGoDuration(d) : std::string(st.message());
  };
  CHECK(duration("300ms") == "300ms");
  CHECK(duration("1.5h") == "1h30m0s");
  CHECK(duration("2h45m") == "2h45m0s");
  CHECK(duration("-1.5s") == "-1.5s");
  CHECK(duration("0") == "0s");
  CHECK(duration("90s") == "1m30s");
  CHECK(duration("1us") == "1\u00b5s");
  CHECK(duration("3x") == "time: unknown unit \"x\" in duration \"3x\"");
  CHECK(duration("") == "time: invalid duration \"\"");
  CHECK(duration("1e3s") == "time: unknown unit \"e\" in duration \"1e3s\"");
  CHECK(FormatGoFloat(1024000) == "1.024e+06");
  CHECK(FormatGoFloat(512000) == "512000");
  CHECK(FormatGoFloat(0.001) == "0.001");
  CHECK(FormatGoFloat(0.00001) == "1e-05");
  CHECK(FormatGoFloat(1.5049e7) == "1.5049e+07");
  CHECK(JsonFloat32(1e6f) == "1000000");
  CHECK(GoQuoted("a\"b\\\n\x01") == R"("a\"b\\\n\x01")");
  int64_t v = 0;
  CHECK(ParseInt("-0x80000000", 32, &v).ok());
  CHECK(v == -2147483648LL);
  CHECK_FALSE(ParseInt("", 32, &v).ok());
  CHECK_FALSE(ParseInt("08", 32, &v).ok());
}

}  // namespace
}  // namespace berth::kube_scheduler
