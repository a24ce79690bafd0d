#include "pkg/convert/source.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <limits>
#include <utility>

#include "pkg/api/stream.h"
#include "pkg/convert/encode.h"
#include "pkg/convert/foreign_plugins.h"
#include "pkg/convert/older_documents.h"
#include "pkg/convert/policy_rules.h"
#include "pkg/release/history.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/configuration/decode.h"
#include "pkg/scheduler/configuration/load.h"
#include "pkg/scheduler/configuration/versions.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/scheduler/policy/decode.h"
#include "pkg/scheduler/policy/validation.h"
#include "pkg/util/feature_gates.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::convert {
namespace {

using api::Json;
using scheduler::Policy;

const scheduler::Release& DecidesOf(const release::Id& id) {
  return releases::Of(id).decides;
}

// Returns the first emulated release in the span or after it, and otherwise the last one.
const release::Id* NearestOf(const release::Span& span) {
  for (const release::Id& id : release::All()) {
    if (span.since <= id.version) return &id;
  }
  return &release::All().back();
}

// Returns whether a release has all the names in a Policy, and its arguments. Entries with arguments have names of
// their own.
bool HasNames(const Policy& policy, release::Version version) {
  for (const auto& p : policy.priorities.value_or(std::vector<scheduler::PriorityPolicy>())) {
    const bool ratio = p.argument && p.argument->requested_to_capacity_ratio;
    if (ratio && !release::history::kRatioArguments.Has(version)) return false;
  }
  auto has = [&](std::span<const PolicyRule> rules, const auto& entries) {
    if (!entries) return true;
    for (const auto& e : *entries) {
      const PolicyRule* rule = e.argument ? nullptr : FindRule(rules, e.name);
      if (rule != nullptr && !rule->in.Has(version)) return false;
    }
    return true;
  };
  return has(Predicates(), policy.predicates) && has(Priorities(), policy.priorities);
}

// A Policy does not say which release it is for; the names in it may.
const release::Id* ReleaseOf(const Policy& policy) {
  if (HasNames(policy, release::Default().version)) return &release::Default();
  for (const release::Id& id : release::All()) {
    if (DecidesOf(id).has_policies && HasNames(policy, id.version)) return &id;
  }
  return &release::Default();
}

// Reads a Policy with the members of all releases.
absl::Status TakePolicy(Json j, const Options& options, Source* out) {
  scheduler::DecodedPolicy decoded = scheduler::DecodeWholePolicy(j);
  std::vector<std::string>& errors = decoded.errors;
  if (out->release == nullptr) out->release = options.from != nullptr ? options.from : ReleaseOf(decoded.policy);
  constexpr int64_t kMostWeight = 100;
  const bool by_plugins = DecidesOf(*out->release).plugins != nullptr;
  if (errors.empty()) {
    errors = scheduler::ValidatePolicy(decoded.policy, by_plugins ? std::numeric_limits<int64_t>::max() : kMostWeight);
  }
  if (!errors.empty()) return util::InvalidArgument(scheduler::JoinedErrors(errors));
  out->policy = std::move(decoded.policy);
  if (DecidesOf(*out->release).has_policies) return absl::OkStatus();
  return util::InvalidArgument(
      absl::StrCat("--from: release ", std::string(out->release->name), " has no Policies, and this is one"));
}

// Reads the Policy that a configuration names by its path.
absl::Status TakePolicyFile(const std::string& path, const Options& options, Source* out) {
  if (!options.read_file) return util::InvalidArgument("algorithmSource.policy.file: the file cannot be read here");
  auto text = options.read_file(path);
  if (!text.ok()) return text.status();
  auto document = api::ReadDocument(*text);
  absl::Status taken = document.ok() ? TakePolicy(document->root(), options, out) : document.status();
  return taken.ok() ? taken : util::InvalidArgument(absl::StrCat(path, ": ", taken.message()));
}

// ---- the fields of componentconfig/v1alpha1 and of v1alpha1 ----

class OlderFields {
 public:
  explicit OlderFields(Source* out) : out_(out) {}

  absl::Status Read(Json j, const Options& options, bool leads_by_default) {
    configuration::KubeSchedulerConfiguration& to = out_->process;
    to = DefaultConfiguration(configuration::Version::kV1Beta1);
    out_->has_process = true;
    Take(j, "schedulerName", &out_->scheduler_name);
    Take(j, "healthzBindAddress", &to.healthz_bind_address);
    Take(j, "metricsBindAddress", &to.metrics_bind_address);
    to.enable_profiling = false;
    Take(j, "enableProfiling", &to.enable_profiling);
    to.enable_contention_profiling = false;
    Take(j, "enableContentionProfiling", &*to.enable_contention_profiling);
    Take(j, "percentageOfNodesToScore", &to.percentage_of_nodes_to_score);
    int32_t weight = 0;
    Take(j, "hardPodAffinitySymmetricWeight", &weight);
    if (weight != 0) out_->hard_pod_affinity_weight = weight;
    bool no_preemption = false;
    Take(j, "disablePreemption", &no_preemption);
    out_->preempts = !no_preemption;
    Leadership(j.Find("leaderElection"), leads_by_default, &to.leader_election);
    Json client = j.Find("clientConnection");
    Take(client, "kubeconfig", &to.client_connection.kubeconfig);
    Take(client, "acceptContentTypes", &to.client_connection.accept_content_types);
    Take(client, "contentType", &to.client_connection.content_type);
    Take(client, "burst", &to.client_connection.burst);
    if (Json qps = client.Find("qps"); qps.IsNumber() && qps.Double() != 0) {
      to.client_connection.qps = static_cast<float>(qps.Double());
    }
    if (j.Find("failureDomains").IsString()) {
      out_->notes.push_back(
          {"failureDomains", "the releases that have it do not use it, and the others do not have it"});
    }
    if (!errors_.empty()) return util::InvalidArgument(scheduler::JoinedErrors(errors_));
    return Algorithm(j.Find("algorithmSource"), options);
  }

  // Returns bindTimeoutSeconds, or 0 if the file does not give it.
  static int64_t BindTimeout(Json j) { return j.Find("bindTimeoutSeconds").Int(); }

 private:
  void Wrong(const char* name, Json v, const char* right) {
    errors_.push_back(absl::StrCat(name, ": Invalid value: ", v.Brief(), ": must be ", right));
  }
  void Take(Json j, const char* name, std::string* to) {
    Json v = j.Find(name);
    if (v.IsNull()) return;
    if (!v.IsString()) return Wrong(name, v, "a string");
    if (!v.Text().empty()) *to = v.Text();
  }
  void Take(Json j, const char* name, bool* to) {
    Json v = j.Find(name);
    if (v.IsNull()) return;
    if (!v.IsBool()) return Wrong(name, v, "true or false");
    *to = v.Bool();
  }
  void Take(Json j, const char* name, int32_t* to) {
    Json v = j.Find(name);
    if (v.IsNull()) return;
    if (!v.IsInt() || v.Int() != static_cast<int32_t>(v.Int())) return Wrong(name, v, "a whole number of 32 bits");
    if (v.Int() != 0) *to = static_cast<int32_t>(v.Int());
  }
  void Take(Json j, const char* name, absl::Duration* to) {
    Json v = j.Find(name);
    if (v.IsNull()) return;
    if (!v.IsString() || !util::ParseGoDuration(std::string(v.Text()), to).ok()) Wrong(name, v, "such as \"15s\"");
  }

  void Leadership(Json j, bool leads_by_default, configuration::LeaderElection* to) {
    to->leader_elect = leads_by_default;
    to->resource_lock = "endpoints";
    Take(j, "leaderElect", &to->leader_elect);
    Take(j, "leaseDuration", &to->lease_duration);
    Take(j, "renewDeadline", &to->renew_deadline);
    Take(j, "retryPeriod", &to->retry_period);
    Take(j, "resourceLock", &to->resource_lock);
    Take(j, "lockObjectNamespace", &to->resource_namespace);
    Take(j, "lockObjectName", &to->resource_name);
  }

  // A provider takes precedence over a Policy, and a Policy's file over its ConfigMap.
  absl::Status Algorithm(Json source, const Options& options) {
    const Json provider = source.Find("provider"), policy = source.Find("policy");
    if (!provider.Text().empty() || !policy.IsObject()) {
      out_->provider =
          provider.Text().empty() ? std::string(scheduler::kDefaultProvider) : std::string(provider.Text());
      return absl::OkStatus();
    }
    if (const Json path = policy.Find("file").Find("path"); !path.Text().empty()) {
      return TakePolicyFile(std::string(path.Text()), options, out_);
    }
    return util::InvalidArgument(
        "algorithmSource.policy.configMap: the Policy is in a cluster; convert the key policy.cfg of that ConfigMap, "
        "or "
        "name its file in algorithmSource.policy.file.path");
  }

  Source* out_;
  std::vector<std::string> errors_;
};

absl::Status TakeOlder(Json j, const Options& options, bool leads_by_default, Source* out) {
  OlderFields fields(out);
  BERTH_RETURN_IF_ERROR(fields.Read(j, options, leads_by_default));
  if (const int64_t seconds = OlderFields::BindTimeout(j); seconds > 0) out->bind_timeout_seconds = seconds;
  return absl::OkStatus();
}

// ---- configurations with profiles ----

absl::Status TakeProfiles(Json j, const configuration::PluginCatalogue& catalogue, const Options& options,
                          Source* out) {
  configuration::Gates gates;
  if (auto it = options.gates.find("DynamicResourceAllocation"); it != options.gates.end()) {
    gates.dynamic_resource_allocation = it->second;
  }
  // Only a changed document is read anew, so that the mistakes in others have their positions.
  const std::optional<std::string> changed = WithoutForeignPlugins(j, catalogue.Names(), &out->notes);
  api::Document document;
  if (changed) {
    auto read = api::ReadDocument(*changed);
    if (!read.ok()) return read.status();
    document = *std::move(read);
  }
  auto loaded = configuration::LoadOrError(changed ? document.root() : j, catalogue, gates);
  if (!loaded.ok()) return loaded.status();
  out->process = std::move(loaded->configuration);
  out->has_process = true;
  out->profiles = std::move(loaded->profiles);
  out->extenders = std::exchange(out->process.extenders, {});
  for (const configuration::Profile& p : out->process.profiles) {
    out->percentages.push_back(p.percentage_of_nodes_to_score);
  }
  out->process.profiles.clear();
  return absl::OkStatus();
}

// Reads a document of a version that no emulated release reads as the version after it.
absl::Status TakeRewritten(Json j, const Options& options, Source* out) {
  const scheduler::Release& decides = DecidesOf(*out->release);
  const OlderDocument* older = FindOlderDocument(j.FindExact("apiVersion").Text());
  if (older == nullptr) return util::InvalidArgument("apiVersion: this version cannot be converted");
  auto document = api::ReadDocument(Rewritten(*older, j, &out->notes));
  if (!document.ok()) return document.status();
  out->approximate = true;
  BERTH_RETURN_IF_ERROR(
      TakeProfiles(document->root(), CatalogueOf(*older, scheduler::PluginsToConfigure(decides)), options, out));
  out->gone = GonePlugins(*older, decides);
  return absl::OkStatus();
}

absl::Status TakeConfiguration(Json j, const configuration::VersionRow& row, const Options& options, Source* out) {
  out->release =
      options.from != nullptr && row.read_by.Has(options.from->version) ? options.from : NearestOf(row.read_by);
  if (options.from != nullptr && out->release != options.from) {
    return util::InvalidArgument(absl::StrCat("--from: release ", std::string(options.from->name), " does not read ",
                                              out->what, ", which is read by ", configuration::ReadersOf(row)));
  }
  if (row.version) return TakeProfiles(j, scheduler::PluginsToConfigure(DecidesOf(*out->release)), options, out);
  if (row.read_by.Has(out->release->version)) return TakeOlder(j, options, /*leads_by_default=*/true, out);
  return TakeRewritten(j, options, out);
}

}  // namespace

scheduler::SchedulerGates GatesOf(const scheduler::Release& release, const std::map<std::string, bool>& named) {
  return scheduler::MakeGates([&](std::string_view name) {
    if (auto it = named.find(std::string(name)); it != named.end()) return it->second;
    const util::FeatureGate* gate = util::FindGate(release.gates, name);
    return gate != nullptr && gate->on;
  });
}

absl::StatusOr<Source> ReadSource(std::string_view text, const Options& options) {
  auto document = api::ReadDocument(text);
  if (!document.ok()) return document.status();
  const Json j = document->root();
  if (!j.IsObject()) return util::InvalidArgument(absl::StrCat(j.Brief(), ": must be a Policy or a configuration"));
  Source out;
  out.what = j.Find("apiVersion").Text();
  const std::string_view kind = j.Find("kind").Text();
  const bool is_policy = kind == "Policy" || (kind.empty() && (out.what.empty() || out.what == "v1"));
  absl::Status taken;
  if (is_policy) {
    out.what = "a Policy";
    taken = TakePolicy(j, options, &out);
  } else if (kind != "KubeSchedulerConfiguration") {
    return util::InvalidArgument(
        absl::StrCat("kind: ", j.Find("kind").Brief(), ": must be Policy or KubeSchedulerConfiguration"));
  } else if (out.what == configuration::kComponentConfig) {
    out.release = options.from != nullptr && configuration::kComponentConfigRow.read_by.Has(options.from->version)
                      ? options.from
                      : &release::Default();
    taken = TakeOlder(j, options, /*leads_by_default=*/false, &out);
  } else if (const configuration::VersionRow* row = configuration::FindVersion(out.what); row != nullptr) {
    taken = TakeConfiguration(j, *row, options, &out);
  } else {
    return util::InvalidArgument(
        absl::StrCat("apiVersion: ", j.Find("apiVersion").Brief(),
                     ": must be componentconfig/v1alpha1 or one of kubescheduler.config.k8s.io: "
                     "v1alpha1, v1alpha2, v1beta1, v1beta2, v1beta3 or v1"));
  }
  if (!taken.ok()) return taken;
  return out;
}

}  // namespace berth::convert
