#include "pkg/scheduler/configuration/component.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/time/time.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "pkg/api/json_writer.h"
#include "pkg/scheduler/configuration/versions.h"
#include "pkg/util/go_text.h"
#include "pkg/util/host_port.h"
#include "pkg/util/status.h"
#include "pkg/util/suggest.h"

namespace berth::scheduler::configuration {
namespace {

using api::Json;
using util::GoQuoted;
using util::ToAbsl;

enum class ComponentType : uint8_t { kText, kBool, kInt32, kFloat, kDuration, kAddress, kObject, kList };

struct ComponentField {
  std::string_view path;  // "leaderElection.leaseDuration"; in the elements of a list "profiles[].schedulerName"
  ComponentType type;
  std::string_view what;  // for readers of the schema
  std::optional<int64_t> least = {};
};

// The members of an algorithmSource come with each list of schedulers, so they are written once.
constexpr std::string_view kSource = "algorithmSource", kSourceOfProfile = "profiles[].algorithmSource";

using C = ComponentType;  // in the table below
constexpr ComponentField kComponentFields[] = {
    {"apiVersion", C::kText, "The version of the file."},
    {"kind", C::kText, "KubeSchedulerConfiguration."},
    {"schedulerName", C::kText, "The pods with this schedulerName are placed."},
    {"algorithmSource", C::kObject, "A provider or a Policy; a provider counts if both are given."},
    {"algorithmSource.provider", C::kText, "The name of a provider."},
    {"algorithmSource.policy", C::kObject, "Where a Policy is; a file counts if both are given."},
    {"algorithmSource.policy.file", C::kObject, "A file."},
    {"algorithmSource.policy.file.path", C::kText, "Its path."},
    {"algorithmSource.policy.configMap", C::kObject, "The key policy.cfg of a ConfigMap."},
    {"algorithmSource.policy.configMap.namespace", C::kText, "Its namespace; kube-system when absent."},
    {"algorithmSource.policy.configMap.name", C::kText, "Its name."},
    {"hardPodAffinitySymmetricWeight", C::kInt32, "Weight of placed pods' required affinity, 1 to 100."},
    {"leaderElection", C::kObject, "How one of several processes becomes the one that schedules."},
    {"leaderElection.leaderElect", C::kBool, "Whether there is an election."},
    {"leaderElection.leaseDuration", C::kDuration, "How long others wait for a leader that is silent."},
    {"leaderElection.renewDeadline", C::kDuration, "How long a leader tries to renew its lock."},
    {"leaderElection.retryPeriod", C::kDuration, "How long to wait between attempts."},
    {"leaderElection.resourceLock", C::kText, "The kind of the lock: endpoints, configmaps or leases."},
    {"leaderElection.lockObjectNamespace", C::kText, "The namespace of the lock."},
    {"leaderElection.lockObjectName", C::kText, "The name of the lock."},
    {"leaderElection.resourceNamespace", C::kText, "The name of lockObjectNamespace in later versions."},
    {"leaderElection.resourceName", C::kText, "The name of lockObjectName in later versions."},
    {"clientConnection", C::kObject, "How the API server is reached."},
    {"clientConnection.kubeconfig", C::kText, "The path of a kubeconfig."},
    {"clientConnection.acceptContentTypes", C::kText, "Accepted and not used."},
    {"clientConnection.contentType", C::kText, "Accepted; JSON is always used."},
    {"clientConnection.qps", C::kFloat, "Requests a second; below 0: no limit."},
    {"clientConnection.burst", C::kInt32, "How many requests may be sent at once.", 0},
    {"healthzBindAddress", C::kAddress, "host:port where health is served."},
    {"metricsBindAddress", C::kAddress, "host:port where metrics are served."},
    {"enableProfiling", C::kBool, "Whether profiles of the process are served."},
    {"enableContentionProfiling", C::kBool, "Accepted and not used."},
    {"failureDomains", C::kText, "Accepted and not used."},
    {"percentageOfNodesToScore", C::kInt32, "Counts with --percentage-of-nodes-to-score=release."},
    {"disablePreemption", C::kBool, "Whether no pod is evicted for another one."},
    {"bindTimeoutSeconds", C::kInt32, "How long the claims of a pod may take to be bound."},
    {"podInitialBackoffSeconds", C::kInt32, "How long a pod waits after its first failure.", 0},
    {"podMaxBackoffSeconds", C::kInt32, "How long it waits at most.", 0},
    {"podMaxInUnschedulablePodsDuration", C::kDuration, "After how long a pod is tried again without an event."},
    {"parallelism", C::kInt32, "Accepted; a decision uses one core.", 0},
    {"delayCacheUntilActive", C::kBool, "Whether only a leader follows the API server."},
    {"profiles", C::kList, "More schedulers in the same process."},
    {"profiles[].schedulerName", C::kText, "The pods with this schedulerName are placed."},
    {"profiles[].algorithmSource", C::kObject, "As above."},
};

// Returns the member, or null if there is none. The members of every algorithmSource are those of the first.
const ComponentField* FindComponentField(std::string path) {
  if (path.starts_with(kSourceOfProfile) && path.size() > kSourceOfProfile.size()) {
    path = absl::StrCat(ToAbsl(kSource), path.substr(kSourceOfProfile.size()));
  }
  for (const ComponentField& f : kComponentFields) {
    if (absl::EqualsIgnoreCase(ToAbsl(f.path), path)) return &f;
  }
  return nullptr;
}

std::string Joined(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : absl::StrCat(path, ".", ToAbsl(name));
}

class ComponentChecker {
 public:
  explicit ComponentChecker(ComponentMistakes* out) : out_(*out) {}

  // `path` is that of the object in the document, and `place` the same with "[]" for each index.
  void Object(Json j, const std::string& path, const std::string& place) {
    for (const auto& [key, value] : j.Children()) {
      const std::string at = Joined(path, key);
      if (const ComponentField* field = FindComponentField(Joined(place, key)); field == nullptr) {
        out_.warnings.push_back(absl::StrCat("unknown field \"", at, "\" is ignored"));
      } else if (!value.IsNull()) {
        Value(*field, value, at, Joined(place, key));
      }
    }
  }

 private:
  void Bad(const std::string& path, Json v, std::string_view want) {
    out_.problems.push_back({Problem::Kind::kDecoding,
                             path,
                             absl::StrCat(path, ": invalid value ", v.Brief(), ": must be ", ToAbsl(want)),
                             {}});
  }

  void Value(const ComponentField& field, Json v, const std::string& path, const std::string& place) {
    switch (field.type) {
      case C::kText:
        if (!v.IsString()) Bad(path, v, "a string");
        return;
      case C::kBool:
        if (!v.IsBool()) Bad(path, v, "true or false");
        return;
      case C::kInt32:
        if (!v.IsInt() || v.Int() != static_cast<int32_t>(v.Int())) Bad(path, v, "a whole number of 32 bits");
        return;
      case C::kFloat:
        if (!v.IsNumber() || std::abs(v.Double()) > std::numeric_limits<float>::max()) Bad(path, v, "a number");
        return;
      case C::kDuration:
        return Duration(v, path);
      case C::kAddress:
        return Address(v, path);
      case C::kObject:
        return v.IsObject() ? Object(v, path, place) : Bad(path, v, "an object");
      case C::kList:
        return List(v, path, place);
    }
  }

  void Duration(Json v, const std::string& path) {
    if (!v.IsString()) return Bad(path, v, "a string such as \"15s\"");
    absl::Duration d;
    if (absl::Status s = util::ParseGoDuration(std::string(v.Text()), &d); !s.ok()) {
      Bad(path, v, absl::StrCat("a duration such as \"15s\" (", s.message(), ")"));
    }
  }

  void Address(Json v, const std::string& path) {
    if (!v.IsString()) return Bad(path, v, "a string");
    if (v.Text().empty() || util::IsIpAddress(v.Text())) return;
    const auto parts = util::SplitHostPort(v.Text());
    if (!parts || !util::IsPort(parts->port) || !(parts->host.empty() || util::IsHost(parts->host))) {
      Bad(path, v, "host:port with a port from 0 to 65535");
    }
  }

  void List(Json v, const std::string& path, const std::string& place) {
    if (!v.IsArray()) return Bad(path, v, "a list");
    size_t i = 0;
    for (const auto& [key, element] : v.Children()) {
      if (!element.IsObject()) return Bad(path, element, "a list of objects");
      const std::string at = absl::StrCat(path, "[", i++, "]");
      Object(element, at, place + "[]");
      const Json name = element.Find("schedulerName");
      if (name.Text().empty() && (name.IsNull() || name.IsString())) {
        Bad(Joined(at, "schedulerName"), name, "the name of a scheduler");
      }
    }
  }

  ComponentMistakes& out_;
};

// Reads values of a document whose members have the right types; what is absent or 0 has its default.
absl::Duration DurationOf(Json v, absl::Duration by_default) {
  absl::Duration d;
  if (!util::ParseGoDuration(std::string(v.Text()), &d).ok() || d == absl::ZeroDuration()) return by_default;
  return d;
}
int64_t NumberOf(Json v, int64_t by_default) {
  return v.Int() == 0 ? by_default : v.Int();
}

// Returns what the elector of the daemon says to these times, or an empty text.
std::string_view ElectionTimesProblem(absl::Duration lease, absl::Duration renew, absl::Duration retry) {
  constexpr double kJitter = 1.2;
  if (lease < absl::Nanoseconds(1)) return "leaseDuration must be greater than zero";
  if (renew < absl::Nanoseconds(1)) return "renewDeadline must be greater than zero";
  if (retry < absl::Nanoseconds(1)) return "retryPeriod must be greater than zero";
  if (lease <= renew) return "leaseDuration must be greater than renewDeadline";
  if (renew <= kJitter * retry) return "renewDeadline must be greater than retryPeriod*JitterFactor";
  return {};
}

// Writes the schemas of the members of the object with this path. `place` is that of the table.
void WriteMembers(std::string_view place, api::JsonWriter* out);

void WriteType(const ComponentField& field, api::JsonWriter* out) {
  switch (field.type) {
    case C::kText:
    case C::kAddress:
      out->Member("type", "string");
      return;
    case C::kBool:
      out->Member("type", "boolean");
      return;
    case C::kInt32:
      out->Member("type", "integer");
      if (field.least) out->Member("minimum", *field.least);
      return;
    case C::kFloat:
      out->Member("type", "number");
      return;
    case C::kDuration:
      out->Member("type", "string").Member("pattern", R"(^[-+]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+$)");
      return;
    case C::kObject:
      out->Member("type", "object").Member("additionalProperties", false).Key("properties").Object();
      WriteMembers(field.path == kSourceOfProfile ? kSource : field.path, out);
      out->End();
      return;
    case C::kList:
      out->Member("type", "array").Key("items").Object().Member("type", "object");
      out->Member("additionalProperties", false).Key("required").Texts({"schedulerName"}).Key("properties").Object();
      WriteMembers(absl::StrCat(ToAbsl(field.path), "[]"), out);
      out->End().End();
      return;
  }
}

void WriteMembers(std::string_view place, api::JsonWriter* out) {
  for (const ComponentField& f : kComponentFields) {
    const size_t dot = f.path.rfind('.');
    const std::string_view parent = dot == std::string_view::npos ? std::string_view() : f.path.substr(0, dot);
    if (parent != place || f.path == "apiVersion" || f.path == "kind") continue;
    out->Key(f.path.substr(dot + 1)).Object().Member("description", f.what);
    WriteType(f, out);
    out->End();
  }
}

}  // namespace

ComponentMistakes CheckComponentMembers(Json document) {
  ComponentMistakes out;
  ComponentChecker(&out).Object(document, "", "");
  return out;
}

std::vector<Problem> CheckComponentValues(Json document, bool leads_by_default) {
  std::vector<Problem> problems;
  const auto bad = [&](const std::string& path, const std::string& text) {
    problems.push_back({Problem::Kind::kValidation, path, text, {}});
  };
  const auto refuse = [&](const std::string& path, int64_t value, std::string_view want) {
    bad(path, absl::StrCat(path, ": invalid value ", value, ": must be ", ToAbsl(want)));
  };
  const Json election = document.Find("leaderElection"), elect = election.Find("leaderElect");
  if (elect.IsNull() ? leads_by_default : elect.Bool()) {
    const std::string_view lock = election.Find("resourceLock").Text();
    if (!lock.empty() && lock != "endpoints" && lock != "configmaps" && lock != "leases") {
      bad("leaderElection.resourceLock",
          absl::StrCat("couldn't create resource lock: Invalid lock-type ", ToAbsl(lock),
                       " (leaderElection.resourceLock must be endpoints, configmaps or leases)"));
    }
    const absl::Duration lease = DurationOf(election.Find("leaseDuration"), absl::Seconds(15)),
                         renew = DurationOf(election.Find("renewDeadline"), absl::Seconds(10)),
                         retry = DurationOf(election.Find("retryPeriod"), absl::Seconds(2));
    const std::string_view why = ElectionTimesProblem(lease, renew, retry);
    if (!why.empty()) {
      bad("leaderElection", absl::StrCat("couldn't create leader elector: ", ToAbsl(why)));
    }
  }
  if (const int64_t burst = document.Find("clientConnection").Find("burst").Int(); burst < 0) {
    refuse("clientConnection.burst", burst, "0 (which means 10) or more");
  }
  const int64_t first = NumberOf(document.Find("podInitialBackoffSeconds"), 1),
                most = NumberOf(document.Find("podMaxBackoffSeconds"), 60);
  if (first <= 0) refuse("podInitialBackoffSeconds", first, "greater than 0");
  if (most < first) refuse("podMaxBackoffSeconds", most, "greater than or equal to podInitialBackoffSeconds");
  if (const int64_t n = document.Find("parallelism").Int(); n < 0) refuse("parallelism", n, "greater than 0");
  const std::string_view own = document.Find("schedulerName").Text();
  std::set<std::string_view> names = {own.empty() ? "default-scheduler" : own};
  size_t i = 0;
  for (const auto& [key, profile] : document.Find("profiles").Children()) {
    const std::string path = absl::StrCat("profiles[", i++, "].schedulerName");
    const std::string_view name = profile.Find("schedulerName").Text();
    if (names.insert(name).second) continue;
    bad(path,
        absl::StrCat(path, ": invalid value ", GoQuoted(name), ": must be a name that no other scheduler here has"));
  }
  return problems;
}

std::string ComponentSchema(release::Version release) {
  const VersionRow* row = NewestReadBy(release);
  const std::string version = row != nullptr ? NameOf(*row) : std::string(kComponentConfig);
  api::JsonWriter out(api::JsonWriter::Layout::kIndented);
  out.Object().Member("$schema", "http://json-schema.org/draft-07/schema#");
  out.Member("title", "KubeSchedulerConfiguration of " + version);
  out.Member("type", "object").Member("additionalProperties", false);
  out.Key("required").Texts({"apiVersion", "kind"}).Key("properties").Object();
  out.Key("apiVersion").Object().Member("const", version).End();
  out.Key("kind").Object().Member("const", "KubeSchedulerConfiguration").End();
  WriteMembers("", &out);
  out.End().End();
  return out.Finish();
}

}  // namespace berth::scheduler::configuration
