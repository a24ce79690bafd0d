// Decodes, checks and writes componentconfig/v1alpha1. Decoding is as lenient as 1.10's (any case of field names,
// unknown fields ignored with a warning); what 1.10 finds only later is checked by CheckConfiguration at the start.
#include "cmd/kube-scheduler/component_config.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <arpa/inet.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cmd/kube-scheduler/go_text.h"
#include "cmd/kube-scheduler/profile_config.h"
#include "pkg/api/json.h"
#include "pkg/api/json_writer.h"
#include "pkg/api/stream.h"
#include "pkg/client/leaderelection.h"
#include "pkg/scheduler/configuration/component.h"
#include "pkg/scheduler/configuration/decode.h"
#include "pkg/scheduler/configuration/versions.h"
#include "pkg/util/status.h"

namespace berth::kube_scheduler {
namespace {

using scheduler::configuration::kComponentConfig, scheduler::configuration::kComponentConfigRow;
constexpr std::string_view kKind = "KubeSchedulerConfiguration";
constexpr std::string_view kDefaultAddress = "0.0.0.0:10251";

using scheduler::configuration::ComponentConfiguration;

// Sets what a file gives. What is absent, empty or 0 leaves the default, as in 1.10's defaulting.
template <typename T>
void Set(const T& given, T* out) {
  if (given != T()) *out = given;
}
void Set(const std::optional<bool>& given, bool* out) {
  if (given) *out = *given;
}
void SetSeconds(int32_t given, absl::Duration* out) {
  Set(absl::Seconds(given), out);
}

AlgorithmSource ReadAlgorithm(const ComponentConfiguration::AlgorithmSource& source) {
  AlgorithmSource a;
  if (!source.provider.empty()) a.provider = source.provider;
  if (source.policy) {
    a.policy.emplace();
    if (source.policy->file) a.policy->file = source.policy->file->path;
    if (const auto& map = source.policy->config_map; map) {
      a.policy->config_map = PolicyConfigMapSource{map->ns.empty() ? "kube-system" : map->ns, map->name};
    }
  }
  if (!a.provider && !a.policy) a.provider = "DefaultProvider";
  return a;
}

void ReadAddress(const std::string& given, std::string_view name, std::string* out,
                 std::vector<std::string>* warnings) {
  *out = kDefaultAddress;
  if (given.empty()) return;
  if (IsIpAddress(given)) {
    *out = JoinHostPort(given, SplitHostPort(kDefaultAddress)->port);
    if (warnings != nullptr) {
      warnings->push_back(absl::StrCat(std::string(name), ": no port is given; ", *out, " is used"));
    }
    return;
  }
  const auto parts = SplitHostPort(given);
  *out = JoinHostPort(parts->host.empty() ? "0.0.0.0" : parts->host, parts->port);
}

void ReadValues(const ComponentConfiguration& r, Configuration* c, std::vector<std::string>* warnings) {
  Set(r.scheduler_name, &c->scheduler_name);
  c->algorithm = ReadAlgorithm(r.algorithm_source);
  Set(r.hard_pod_affinity_symmetric_weight, &c->hard_pod_affinity_symmetric_weight);
  const auto& l = r.leader_election;
  auto& le = c->leader_election;
  Set(l.leader_elect, &le.leader_elect);
  Set(l.lease_duration, &le.lease_duration);
  Set(l.renew_deadline, &le.renew_deadline);
  Set(l.retry_period, &le.retry_period);
  Set(l.resource_lock, &le.resource_lock);
  Set(l.lock_object_namespace, &le.lock_object_namespace);
  Set(l.lock_object_name, &le.lock_object_name);
  Set(l.resource_namespace, &le.lock_object_namespace);
  Set(l.resource_name, &le.lock_object_name);
  const auto& k = r.client_connection;
  auto& cc = c->client_connection;
  Set(k.kubeconfig, &cc.kubeconfig);
  Set(k.accept_content_types, &cc.accept_content_types);
  Set(k.content_type, &cc.content_type);
  Set(k.qps, &cc.qps);
  Set(k.burst, &cc.burst);
  ReadAddress(r.healthz_bind_address, "healthzBindAddress", &c->healthz_bind_address, warnings);
  ReadAddress(r.metrics_bind_address, "metricsBindAddress", &c->metrics_bind_address, warnings);
  Set(r.enable_profiling, &c->enable_profiling);
  Set(r.enable_contention_profiling, &c->enable_contention_profiling);
  Set(r.failure_domains, &c->failure_domains);

  Set(r.percentage_of_nodes_to_score, &c->percentage_of_nodes_to_score);
  Set(r.disable_preemption, &c->disable_preemption);
  SetSeconds(r.bind_timeout_seconds, &c->bind_timeout);
  SetSeconds(r.pod_initial_backoff_seconds, &c->pod_initial_backoff);
  SetSeconds(r.pod_max_backoff_seconds, &c->pod_max_backoff);
  Set(r.pod_max_in_unschedulable_pods_duration, &c->pod_max_in_unschedulable);
  Set(r.parallelism, &c->parallelism);
  Set(r.delay_cache_until_active, &c->delay_cache_until_active);
  for (const auto& profile : r.profiles) {
    c->profiles.push_back({profile.scheduler_name, ReadAlgorithm(profile.algorithm_source)});
  }
}

// Returns whether the text is a label of RFC 1123. The name of a namespace is one; names of objects are labels joined
// by dots.
bool IsLabel(std::string_view s) {
  return !s.empty() && s.front() != '-' && s.back() != '-' &&
         s.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}
bool IsObjectName(const std::string& s) {
  const std::vector<std::string> labels = absl::StrSplit(s, '.');
  return s.size() <= 253 && std::all_of(labels.begin(), labels.end(), IsLabel);
}

}  // namespace

absl::StatusOr<Configuration> LoadConfiguration(const std::string& path, std::vector<std::string>* warnings,
                                                const ReadAs& as) {
  absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  return ParseConfiguration(*text, path, warnings, as);
}

// NOLINT(readability-function-size): reads each field by itself, one after another.
absl::StatusOr<Configuration> ParseConfiguration(std::string_view text, const std::string& origin,
                                                 std::vector<std::string>* warnings, const ReadAs& as) {
  const auto here = [&](const absl::Status& s) {
    return absl::InvalidArgumentError(absl::StrCat(origin, ": ", s.message()));
  };
  const auto missing = [&](std::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("Object '", std::string(what), "' is missing in '", std::string(text), "'"));
  };
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return missing("Kind");
  auto document = api::ReadDocument(text);
  if (!document.ok()) return here(document.status());
  api::Json root = document->root();
  if (!root.IsObject()) return missing("Kind");
  namespace configuration = scheduler::configuration;
  const std::string_view given_version = root.FindExact("apiVersion").Text();
  if (as.release != nullptr && root.FindExact("kind").Text() == kKind) {
    const std::string unread = configuration::WhyNotRead(*as.release, given_version);
    if (!unread.empty()) return absl::InvalidArgumentError(unread);
  }
  const release::Id* reader = configuration::ReaderOf(given_version, as.release);
  const bool by_profiles =
      configuration::IsConfigurationVersion(given_version) && configuration::ReadsProfiles(given_version);
  if (by_profiles) {
    auto read = FromProfileConfiguration(root, text, reader, as, warnings);
    if (read.ok()) read->configuration_text = std::string(text);
    // A document that is not for this program at all is reported in upstream's words without an addition.
    if (read.ok() || read.status().message().find("no kind ") == 0) return read;
    return here(read.status());
  }
  const auto read = configuration::ReadComponent(root);
  const std::string &kind = read.values.kind, &version = read.values.api_version;
  const bool of_another_kind = !kind.empty() && kind != kKind;
  if (!read.problems.empty() && !of_another_kind) {
    return here(absl::InvalidArgumentError(configuration::ErrorText(read.problems)));
  }
  if (kind.empty()) return missing("Kind");
  if (version.empty()) return missing("apiVersion");
  const release::Id* asked = as.release;
  if (kind == "Policy" && asked != nullptr && releases::Of(*asked).decides.plugins != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("couldn't decode as KubeSchedulerConfiguration, got /", version, ", Kind=Policy: "));
  }
  if ((version != kComponentConfig && reader == nullptr) || kind != kKind) {
    const std::string scheme = asked == nullptr ? "" : std::string(configuration::SchemeOf(asked->version));
    const std::string only =
        asked == nullptr ? std::string(kComponentConfig) : configuration::NameOfPlain(asked->version);
    return absl::InvalidArgumentError(absl::StrCat("no kind \"", kind, "\" is registered for version \"", version, "\"",
                                                   scheme, " (the only one is ", std::string(kKind), " in ", only,
                                                   ")"));
  }

  if (warnings != nullptr) warnings->insert(warnings->end(), read.warnings.begin(), read.warnings.end());
  Configuration c;
  if (reader != nullptr) {
    UseDefaultsOf(*reader, &c);
  } else if (as.release != nullptr && kComponentConfigRow.read_by.Has(as.release->version)) {
    UseDefaultsOf(*as.release, &c);
  }
  c.leader_election.leader_elect = reader != nullptr;
  ReadValues(read.values, &c, warnings);
  return c;
}

// NOLINT(readability-function-size): checks each field by itself, one after another.
std::vector<std::string> CheckConfiguration(const Configuration& c, Spelling spelling) {
  std::vector<std::string> bad;
  const auto name = [&](const char* field, const char* flag) {
    return std::string(spelling == Spelling::kFlags ? flag : field);
  };
  const auto refuse = [&](const std::string& setting, const std::string& value, const char* want) {
    bad.push_back(absl::StrCat(setting, ": invalid value ", value, ": must be ", want));
  };

  const auto& cc = c.client_connection;
  if (!std::isfinite(cc.qps)) {
    refuse(name("clientConnection.qps", "--kube-api-qps"), FormatGoFloat32(cc.qps),
           "a number; below 0: no limit, 0: 5");
  }
  if (cc.burst < 0) {
    refuse(name("clientConnection.burst", "--kube-api-burst"), absl::StrCat(cc.burst), "0 (which means 10) or more");
  }

  const auto& le = c.leader_election;
  if (le.leader_elect) {
    const std::string lock = name("leaderElection.resourceLock", "--leader-elect-resource-lock");
    if (absl::Status s = client::CheckLockType(le.resource_lock); !s.ok()) {
      bad.push_back(absl::StrCat(s.message(), " (", lock, " must be endpoints, configmaps or leases)"));
    }
    client::LeaderElectionOptions o;
    o.lease = le.lease_duration;
    o.renew_deadline = le.renew_deadline;
    o.retry = le.retry_period;
    if (absl::Status s = client::CheckTimings(o); !s.ok()) {
      bad.push_back(absl::StrCat(s.message(), " (",
                                 name("leaderElection.leaseDuration", "--leader-elect-lease-duration"), " is ",
                                 FormatGoDuration(o.lease), ", ",
                                 name("leaderElection.renewDeadline", "--leader-elect-renew-deadline"), " ") +
                    absl::StrCat(FormatGoDuration(o.renew_deadline), ", ",
                                 name("leaderElection.retryPeriod", "--leader-elect-retry-period"), " ",
                                 FormatGoDuration(o.retry), ")"));
    }
    if (!IsLabel(le.lock_object_namespace) || le.lock_object_namespace.size() > 63) {
      refuse(name("leaderElection.lockObjectNamespace", "--lock-object-namespace"), GoQuoted(le.lock_object_namespace),
             "the name of a namespace: lower case letters, digits and '-', at most 63");
    }
    if (!IsObjectName(le.lock_object_name)) {
      refuse(name("leaderElection.lockObjectName", "--lock-object-name"), GoQuoted(le.lock_object_name),
             "the name of an object: lower case letters, digits, '-' and '.', at most 253");
    }
  }

  // In a file, 1.13 takes any number, and less than 0 and more than 100 mean all nodes.
  const bool judged = spelling == Spelling::kFlags;
  if (judged && (c.percentage_of_nodes_to_score < 0 || c.percentage_of_nodes_to_score > 100)) {
    refuse("percentageOfNodesToScore", absl::StrCat(c.percentage_of_nodes_to_score), "between 0 and 100");
  }
  if (c.pod_initial_backoff <= absl::ZeroDuration()) {
    refuse("podInitialBackoffSeconds", absl::StrCat(c.pod_initial_backoff / absl::Seconds(1)), "greater than 0");
  }
  if (c.pod_max_backoff < c.pod_initial_backoff) {
    refuse("podMaxBackoffSeconds", absl::StrCat(c.pod_max_backoff / absl::Seconds(1)),
           "greater than or equal to podInitialBackoffSeconds");
  }
  if (c.pod_max_in_unschedulable <= absl::ZeroDuration()) {
    refuse(name("podMaxInUnschedulablePodsDuration", "--pod-max-in-unschedulable-pods-duration"),
           FormatGoDuration(c.pod_max_in_unschedulable), "greater than 0");
  }
  if (c.parallelism <= 0) refuse("parallelism", absl::StrCat(c.parallelism), "greater than 0");
  std::vector<std::string> names = {c.scheduler_name};
  for (size_t i = 0; i < c.profiles.size(); ++i) {
    const std::string& n = c.profiles[i].scheduler_name;
    if (std::find(names.begin(), names.end(), n) != names.end()) {
      refuse(absl::StrCat("profiles[", i, "].schedulerName"), GoQuoted(n), "a name that no other scheduler here has");
    }
    names.push_back(n);
  }
  return bad;
}

// ---- writing ------------------------------------------------------------------------------------

namespace {

void WriteAlgorithm(const AlgorithmSource& a, api::JsonWriter* out) {
  out->Key("algorithmSource").Object();
  if (a.provider) out->Member("provider", *a.provider);
  if (a.policy) {
    out->Key("policy").Object();
    if (a.policy->file) {
      out->Key("file").Object().Member("path", *a.policy->file).End();
    } else if (a.policy->config_map) {
      out->Key("configMap").Object();
      out->Member("namespace", a.policy->config_map->ns).Member("name", a.policy->config_map->name).End();
    }
    out->End();
  }
  out->End();
}

void WriteLeaderElection(const Configuration::LeaderElection& le, api::JsonWriter* out) {
  out->Key("leaderElection").Object();
  out->Member("leaderElect", le.leader_elect).Member("leaseDuration", FormatGoDuration(le.lease_duration));
  out->Member("lockObjectName", le.lock_object_name).Member("lockObjectNamespace", le.lock_object_namespace);
  out->Member("renewDeadline", FormatGoDuration(le.renew_deadline)).Member("resourceLock", le.resource_lock);
  out->Member("retryPeriod", FormatGoDuration(le.retry_period)).End();
}

}  // namespace

void WriteClientConnection(const Configuration::ClientConnection& cc, api::JsonWriter* out) {
  out->Key("clientConnection").Object();
  out->Member("acceptContentTypes", cc.accept_content_types).Key("burst").Number(cc.burst);
  out->Member("contentType", cc.content_type).Member("kubeconfig", cc.kubeconfig);
  out->Key("qps").Literal(JsonFloat32(cc.qps)).End();
}

std::string ConfigurationToYaml(const Configuration& c) {
  api::JsonWriter out;
  out.Object();
  WriteAlgorithm(c.algorithm, &out);
  const auto* version = scheduler::configuration::NewestReadBy(c.release->version);
  out.Member("apiVersion",
             version == nullptr ? std::string(kComponentConfig) : scheduler::configuration::NameOf(*version));
  if (version != nullptr) out.Member("bindTimeoutSeconds", c.bind_timeout / absl::Seconds(1));
  WriteClientConnection(c.client_connection, &out);
  out.Member("delayCacheUntilActive", c.delay_cache_until_active);
  if (version != nullptr) out.Member("disablePreemption", c.disable_preemption);
  out.Member("enableContentionProfiling", c.enable_contention_profiling).Member("enableProfiling", c.enable_profiling);
  out.Member("failureDomains", c.failure_domains);
  out.Key("hardPodAffinitySymmetricWeight").Number(c.hard_pod_affinity_symmetric_weight);
  out.Member("healthzBindAddress", c.healthz_bind_address).Member("kind", kKind);
  WriteLeaderElection(c.leader_election, &out);
  out.Member("metricsBindAddress", c.metrics_bind_address).Key("parallelism").Number(c.parallelism);
  out.Key("percentageOfNodesToScore").Number(c.percentage_of_nodes_to_score);
  out.Member("podInitialBackoffSeconds", c.pod_initial_backoff / absl::Seconds(1));
  out.Member("podMaxBackoffSeconds", c.pod_max_backoff / absl::Seconds(1));
  out.Member("podMaxInUnschedulablePodsDuration", FormatGoDuration(c.pod_max_in_unschedulable));
  if (!c.profiles.empty()) {
    out.Key("profiles").Array();
    for (const Profile& p : c.profiles) {
      out.Object().Member("schedulerName", p.scheduler_name);
      WriteAlgorithm(p.algorithm, &out);
      out.End();
    }
    out.End();
  }
  out.Member("schedulerName", c.scheduler_name).End();
  return out.Finish("yaml");
}

namespace {

void WriteAlgorithmOfConfigz(const AlgorithmSource& a, api::JsonWriter* out) {
  const auto null = [&](const char* key) { out->Key(key).Literal("null"); };
  out->Key("AlgorithmSource").Object();
  if (a.policy) {
    out->Key("Policy").Object();
    if (a.policy->file) {
      out->Key("File").Object().Member("Path", *a.policy->file).End();
    } else {
      null("File");
    }
    if (a.policy->config_map) {
      out->Key("ConfigMap").Object();
      out->Member("Namespace", a.policy->config_map->ns).Member("Name", a.policy->config_map->name).End();
    } else {
      null("ConfigMap");
    }
    out->End();
  } else {
    null("Policy");
  }
  if (a.provider) {
    out->Member("Provider", *a.provider);
  } else {
    null("Provider");
  }
  out->End();
}

}  // namespace

std::string ConfigurationToConfigz(const Configuration& c) {
  const auto& le = c.leader_election;
  const auto& cc = c.client_connection;
  api::JsonWriter out;
  out.Object().Key("componentconfig").Object().Member("SchedulerName", c.scheduler_name);
  WriteAlgorithmOfConfigz(c.algorithm, &out);
  out.Key("HardPodAffinitySymmetricWeight").Number(c.hard_pod_affinity_symmetric_weight);
  out.Key("LeaderElection").Object().Member("LeaderElect", le.leader_elect);
  out.Member("LeaseDuration", FormatGoDuration(le.lease_duration));
  out.Member("RenewDeadline", FormatGoDuration(le.renew_deadline));
  out.Member("RetryPeriod", FormatGoDuration(le.retry_period)).Member("ResourceLock", le.resource_lock);
  out.Member("LockObjectNamespace", le.lock_object_namespace).Member("LockObjectName", le.lock_object_name).End();
  out.Key("ClientConnection").Object();
  out.Member(c.Form().shows_search ? "Kubeconfig" : "KubeConfigFile", cc.kubeconfig);
  out.Member("AcceptContentTypes", cc.accept_content_types).Member("ContentType", cc.content_type);
  out.Key("QPS").Literal(JsonFloat32(cc.qps)).Key("Burst").Number(cc.burst).End();
  out.Member("HealthzBindAddress", c.healthz_bind_address).Member("MetricsBindAddress", c.metrics_bind_address);
  out.Member("EnableProfiling", c.enable_profiling).Member("EnableContentionProfiling", c.enable_contention_profiling);
  if (c.Form().shows_search) {
    const scheduler::SamplingRules* sampling = c.Release().decides.sampling;
    const int64_t share = c.percentage_of_nodes_to_score != 0 || sampling == nullptr ? c.percentage_of_nodes_to_score
                                                                                     : sampling->default_percentage;
    out.Member("DisablePreemption", c.disable_preemption).Member("PercentageOfNodesToScore", share);
  }
  out.Member("FailureDomains", c.failure_domains);
  if (c.Form().shows_search) out.Member("BindTimeoutSeconds", c.bind_timeout / absl::Seconds(1));
  // Fields that 1.10 does not have are shown only if they are used.
  if (!c.profiles.empty()) {
    out.Key("Profiles").Array();
    for (const Profile& p : c.profiles) {
      out.Object().Member("SchedulerName", p.scheduler_name);
      WriteAlgorithmOfConfigz(p.algorithm, &out);
      out.End();
    }
    out.End();
  }
  std::string text = out.End().End().Finish();
  text.pop_back();  // the page has no line feed at its end
  return text;
}

}  // namespace berth::kube_scheduler
