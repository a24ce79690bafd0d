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

// Reads the members of one object of a document that CheckComponentMembers has found nothing wrong with. What is
// absent, empty or 0 leaves its default, as in 1.10's defaulting.
class Reader {
 public:
  explicit Reader(api::Json object) : object_(object) {}

  api::Json Get(std::string_view key) const { return object_.Find(key); }
  Reader Object(std::string_view key) const { return Reader(Get(key)); }
  bool Has(std::string_view key) const { return Get(key).IsObject(); }

  void String(std::string_view key, std::string* out) const {
    if (api::Json v = Get(key); !v.Text().empty()) *out = v.Text();
  }
  void Bool(std::string_view key, bool* out) const {
    if (api::Json v = Get(key); !v.IsNull()) *out = v.Bool();
  }
  void Int32(std::string_view key, int32_t* out) const {
    if (api::Json v = Get(key); v.Int() != 0) *out = static_cast<int32_t>(v.Int());
  }
  void Float(std::string_view key, float* out) const {
    if (api::Json v = Get(key); v.Double() != 0) *out = static_cast<float>(v.Double());
  }
  void Duration(std::string_view key, absl::Duration* out) const {
    absl::Duration d;
    if (ParseGoDuration(std::string(Get(key).Text()), &d).ok() && d != absl::ZeroDuration()) *out = d;
  }
  void Seconds(std::string_view key, absl::Duration* out) const {
    if (api::Json v = Get(key); v.Int() != 0) *out = absl::Seconds(v.Int());
  }

 private:
  api::Json object_;
};

AlgorithmSource ReadAlgorithm(const Reader& source) {
  AlgorithmSource a;
  std::string provider;
  source.String("provider", &provider);
  if (!provider.empty()) a.provider = provider;
  if (source.Has("policy")) {
    const Reader policy = source.Object("policy");
    a.policy.emplace();
    if (policy.Has("file")) policy.Object("file").String("path", &a.policy->file.emplace());
    if (policy.Has("configMap")) {
      a.policy->config_map = PolicyConfigMapSource{"kube-system", ""};
      policy.Object("configMap").String("namespace", &a.policy->config_map->ns);
      policy.Object("configMap").String("name", &a.policy->config_map->name);
    }
  }
  if (!a.provider && !a.policy) a.provider = "DefaultProvider";
  return a;
}

void ReadAddress(const Reader& r, std::string_view key, std::string* out, std::vector<std::string>* warnings) {
  std::string given;
  r.String(key, &given);
  *out = kDefaultAddress;
  if (given.empty()) return;
  if (IsIpAddress(given)) {
    *out = JoinHostPort(given, SplitHostPort(kDefaultAddress)->port);
    if (warnings != nullptr) {
      warnings->push_back(absl::StrCat(std::string(key), ": no port is given; ", *out, " is used"));
    }
    return;
  }
  const auto parts = SplitHostPort(given);
  *out = JoinHostPort(parts->host.empty() ? "0.0.0.0" : parts->host, parts->port);
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
  const Reader r(root);
  const auto mistakes = configuration::CheckComponentMembers(root);
  const bool of_another_kind = r.Get("kind").IsString() && r.Get("kind").Text() != kKind;
  if (!mistakes.problems.empty() && !of_another_kind) {
    return here(absl::InvalidArgumentError(configuration::ErrorText(mistakes.problems)));
  }
  std::string kind, version;
  r.String("kind", &kind);
  r.String("apiVersion", &version);
  if (kind.empty()) return missing("Kind");
  if (version.empty()) return missing("apiVersion");
  const release::Id* asked = as.release;
  if (kind == "Policy" && asked != nullptr && releases::Of(*asked).decides.plugins != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("couldn't decode as KubeSchedulerConfiguration, got /", version, ", Kind=Policy: "));
  }
  if ((version != kComponentConfig && reader == nullptr) || kind != kKind) {
    return absl::InvalidArgumentError(absl::StrCat("no kind \"", kind, "\" is registered for version \"", version,
                                                   "\" (the only one is ", std::string(kKind), " in ",
                                                   std::string(kComponentConfig), ")"));
  }

  if (warnings != nullptr) warnings->insert(warnings->end(), mistakes.warnings.begin(), mistakes.warnings.end());
  Configuration c;
  if (reader != nullptr) {
    UseDefaultsOf(*reader, &c);
  } else if (as.release != nullptr && kComponentConfigRow.read_by.Has(as.release->version)) {
    UseDefaultsOf(*as.release, &c);
  }
  r.String("schedulerName", &c.scheduler_name);
  c.algorithm = ReadAlgorithm(r.Object("algorithmSource"));
  r.Int32("hardPodAffinitySymmetricWeight", &c.hard_pod_affinity_symmetric_weight);
  c.leader_election.leader_elect = reader != nullptr;
  const Reader l = r.Object("leaderElection"), k = r.Object("clientConnection");
  auto& le = c.leader_election;
  l.Bool("leaderElect", &le.leader_elect);
  l.Duration("leaseDuration", &le.lease_duration);
  l.Duration("renewDeadline", &le.renew_deadline);
  l.Duration("retryPeriod", &le.retry_period);
  l.String("resourceLock", &le.resource_lock);
  l.String("lockObjectNamespace", &le.lock_object_namespace);
  l.String("lockObjectName", &le.lock_object_name);
  l.String("resourceNamespace", &le.lock_object_namespace);  // the names since 1.19
  l.String("resourceName", &le.lock_object_name);
  auto& cc = c.client_connection;
  k.String("kubeconfig", &cc.kubeconfig);
  k.String("acceptContentTypes", &cc.accept_content_types);
  k.String("contentType", &cc.content_type);
  k.Float("qps", &cc.qps);
  k.Int32("burst", &cc.burst);
  ReadAddress(r, "healthzBindAddress", &c.healthz_bind_address, warnings);
  ReadAddress(r, "metricsBindAddress", &c.metrics_bind_address, warnings);
  r.Bool("enableProfiling", &c.enable_profiling);
  r.Bool("enableContentionProfiling", &c.enable_contention_profiling);
  r.String("failureDomains", &c.failure_domains);

  r.Int32("percentageOfNodesToScore", &c.percentage_of_nodes_to_score);
  r.Bool("disablePreemption", &c.disable_preemption);
  r.Seconds("bindTimeoutSeconds", &c.bind_timeout);
  r.Seconds("podInitialBackoffSeconds", &c.pod_initial_backoff);
  r.Seconds("podMaxBackoffSeconds", &c.pod_max_backoff);
  r.Duration("podMaxInUnschedulablePodsDuration", &c.pod_max_in_unschedulable);
  r.Int32("parallelism", &c.parallelism);
  r.Bool("delayCacheUntilActive", &c.delay_cache_until_active);
  for (const auto& m : r.Get("profiles").Children()) {
    Profile& p = c.profiles.emplace_back();
    Reader(m.value).String("schedulerName", &p.scheduler_name);
    p.algorithm = ReadAlgorithm(Reader(m.value).Object("algorithmSource"));
  }
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

void AlgorithmToYaml(const AlgorithmSource& a, std::string_view indent, std::string* out) {
  const std::string in(indent);
  absl::StrAppend(out, in, "algorithmSource:\n");
  if (a.provider) absl::StrAppend(out, in, "  provider: ", api::JsonString(*a.provider), "\n");
  if (!a.policy) return;
  if (a.policy->file) {
    absl::StrAppend(out, in, "  policy:\n", in, "    file:\n", in, "      path: ", api::JsonString(*a.policy->file),
                    "\n");
  } else if (a.policy->config_map) {
    absl::StrAppend(out, in, "  policy:\n", in, "    configMap:\n", in,
                    "      namespace: ", api::JsonString(a.policy->config_map->ns), "\n");
    absl::StrAppend(out, in, "      name: ", api::JsonString(a.policy->config_map->name), "\n");
  } else {
    absl::StrAppend(out, in, "  policy: {}\n");
  }
}

const char* Text(bool b) {
  return b ? "true" : "false";
}

}  // namespace

std::string ConfigurationToYaml(const Configuration& c) {
  std::string out;
  const auto& le = c.leader_election;
  const auto& cc = c.client_connection;
  AlgorithmToYaml(c.algorithm, "", &out);
  const auto* version = scheduler::configuration::NewestReadBy(c.release->version);
  absl::StrAppend(&out, "apiVersion: ",
                  version == nullptr ? std::string(kComponentConfig) : scheduler::configuration::NameOf(*version));
  if (version != nullptr) {
    absl::StrAppend(&out, "\nbindTimeoutSeconds: ", c.bind_timeout / absl::Seconds(1));
  }
  absl::StrAppend(&out, "\nclientConnection:\n  acceptContentTypes: ", api::JsonString(cc.accept_content_types),
                  "\n  burst: ", cc.burst, "\n  contentType: ", api::JsonString(cc.content_type));
  absl::StrAppend(&out, "\n  kubeconfig: ", api::JsonString(cc.kubeconfig), "\n  qps: ", JsonFloat32(cc.qps), "\n");
  absl::StrAppend(&out, "delayCacheUntilActive: ", Text(c.delay_cache_until_active), "\n");
  if (version != nullptr) absl::StrAppend(&out, "disablePreemption: ", Text(c.disable_preemption), "\n");
  absl::StrAppend(&out, "enableContentionProfiling: ", Text(c.enable_contention_profiling),
                  "\nenableProfiling: ", Text(c.enable_profiling),
                  "\nfailureDomains: ", api::JsonString(c.failure_domains));
  absl::StrAppend(&out, "\nhardPodAffinitySymmetricWeight: ", c.hard_pod_affinity_symmetric_weight,
                  "\nhealthzBindAddress: ", api::JsonString(c.healthz_bind_address), "\nkind: ", std::string(kKind),
                  "\n");
  absl::StrAppend(&out, "leaderElection:\n  leaderElect: ", Text(le.leader_elect),
                  "\n  leaseDuration: ", FormatGoDuration(le.lease_duration),
                  "\n  lockObjectName: ", api::JsonString(le.lock_object_name));
  absl::StrAppend(&out, "\n  lockObjectNamespace: ", api::JsonString(le.lock_object_namespace),
                  "\n  renewDeadline: ", FormatGoDuration(le.renew_deadline),
                  "\n  resourceLock: ", api::JsonString(le.resource_lock),
                  "\n  retryPeriod: ", FormatGoDuration(le.retry_period));
  absl::StrAppend(&out, "\nmetricsBindAddress: ", api::JsonString(c.metrics_bind_address),
                  "\nparallelism: ", c.parallelism, "\npercentageOfNodesToScore: ", c.percentage_of_nodes_to_score);
  absl::StrAppend(&out, "\npodInitialBackoffSeconds: ", c.pod_initial_backoff / absl::Seconds(1),
                  "\npodMaxBackoffSeconds: ", c.pod_max_backoff / absl::Seconds(1),
                  "\npodMaxInUnschedulablePodsDuration: ", FormatGoDuration(c.pod_max_in_unschedulable), "\n");
  if (!c.profiles.empty()) absl::StrAppend(&out, "profiles:\n");
  for (const Profile& p : c.profiles) {
    absl::StrAppend(&out, "- schedulerName: ", api::JsonString(p.scheduler_name), "\n");
    AlgorithmToYaml(p.algorithm, "  ", &out);
  }
  absl::StrAppend(&out, "schedulerName: ", api::JsonString(c.scheduler_name), "\n");
  return out;
}

namespace {

std::string AlgorithmToConfigz(const AlgorithmSource& a) {
  std::string out = "{\"Policy\":";
  if (!a.policy) {
    out += "null";
  } else {
    out += "{\"File\":";
    if (a.policy->file) {
      absl::StrAppend(&out, "{\"Path\":", api::JsonString(*a.policy->file), "}");
    } else {
      out += "null";
    }
    out += ",\"ConfigMap\":";
    if (a.policy->config_map) {
      absl::StrAppend(&out, "{\"Namespace\":", api::JsonString(a.policy->config_map->ns),
                      ",\"Name\":", api::JsonString(a.policy->config_map->name), "}");
    } else {
      out += "null";
    }
    out += "}";
  }
  absl::StrAppend(&out, ",\"Provider\":", a.provider ? api::JsonString(*a.provider) : "null", "}");
  return out;
}

}  // namespace

std::string ConfigurationToConfigz(const Configuration& c) {
  const auto& le = c.leader_election;
  const auto& cc = c.client_connection;
  std::string out = absl::StrCat("{\"componentconfig\":{\"SchedulerName\":", api::JsonString(c.scheduler_name),
                                 ",\"AlgorithmSource\":", AlgorithmToConfigz(c.algorithm));
  absl::StrAppend(&out, ",\"HardPodAffinitySymmetricWeight\":", c.hard_pod_affinity_symmetric_weight,
                  ",\"LeaderElection\":{\"LeaderElect\":", Text(le.leader_elect), ",\"LeaseDuration\":\"",
                  FormatGoDuration(le.lease_duration));
  absl::StrAppend(&out, "\",\"RenewDeadline\":\"", FormatGoDuration(le.renew_deadline), "\",\"RetryPeriod\":\"",
                  FormatGoDuration(le.retry_period), "\",\"ResourceLock\":", api::JsonString(le.resource_lock));
  absl::StrAppend(&out, ",\"LockObjectNamespace\":", api::JsonString(le.lock_object_namespace),
                  ",\"LockObjectName\":", api::JsonString(le.lock_object_name),
                  "},\"ClientConnection\":{\"KubeConfigFile\":", api::JsonString(cc.kubeconfig));
  absl::StrAppend(&out, ",\"AcceptContentTypes\":", api::JsonString(cc.accept_content_types),
                  ",\"ContentType\":", api::JsonString(cc.content_type), ",\"QPS\":", JsonFloat32(cc.qps),
                  ",\"Burst\":", cc.burst);
  absl::StrAppend(&out, "},\"HealthzBindAddress\":", api::JsonString(c.healthz_bind_address),
                  ",\"MetricsBindAddress\":", api::JsonString(c.metrics_bind_address),
                  ",\"EnableProfiling\":", Text(c.enable_profiling));
  absl::StrAppend(&out, ",\"EnableContentionProfiling\":", Text(c.enable_contention_profiling),
                  ",\"FailureDomains\":", api::JsonString(c.failure_domains));
  // Fields that 1.10 does not have are shown only if they are used.
  if (!c.profiles.empty()) {
    out += ",\"Profiles\":[";
    for (size_t i = 0; i < c.profiles.size(); ++i) {
      absl::StrAppend(&out, i == 0 ? "" : ",", "{\"SchedulerName\":", api::JsonString(c.profiles[i].scheduler_name),
                      ",\"AlgorithmSource\":", AlgorithmToConfigz(c.profiles[i].algorithm), "}");
    }
    out += "]";
  }
  return out + "}}";
}

}  // namespace berth::kube_scheduler
