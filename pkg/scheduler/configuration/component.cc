#include "pkg/scheduler/configuration/component.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/time/time.h>

#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "pkg/api/member_schema.h"
#include "pkg/scheduler/configuration/component_fields.h"
#include "pkg/scheduler/configuration/versions.h"
#include "pkg/util/contract.h"
#include "pkg/util/go_text.h"
#include "pkg/util/host_port.h"
#include "pkg/util/status.h"

namespace berth::scheduler::configuration {
namespace {

using api::Json;
using util::GoQuoted;
using util::ToAbsl;

// Reads the members of a document in its order. Their names may be in any case.
class ComponentReader {
 public:
  explicit ComponentReader(ComponentDocument* out) : out_(*out) {}

  template <typename T>
  void Object(Json j, const std::string& path, T* out) {
    Table table{.reader = this};
    VisitFields(table, *out);
    for (const auto& [key, value] : j.Children()) {
      const std::string at = path.empty() ? std::string(key) : absl::StrCat(path, ".", ToAbsl(key));
      const auto row = std::find_if(table.rows.begin(), table.rows.end(), [&key = key](const auto& r) {
        return absl::EqualsIgnoreCase(ToAbsl(r.name), ToAbsl(key));
      });
      if (row == table.rows.end()) {
        out_.warnings.push_back(absl::StrCat("unknown field \"", at, "\" is ignored"));
      } else if (!value.IsNull()) {
        row->read(value, at);
      }
    }
  }

 private:
  using Table = api::MemberTable<ComponentReader>;
  friend Table;

  void Bad(Json v, const std::string& path, std::string_view want) {
    out_.problems.push_back({Problem::Kind::kDecoding,
                             path,
                             absl::StrCat(path, ": invalid value ", v.Brief(), ": must be ", ToAbsl(want)),
                             {}});
  }

  void Value(Json v, const std::string& path, std::string* out) {
    if (!v.IsString()) return Bad(v, path, "a string");
    *out = v.Text();
  }
  void Value(Json v, const std::string& path, std::optional<bool>* out) {
    if (!v.IsBool()) return Bad(v, path, "true or false");
    *out = v.Bool();
  }
  void Value(Json v, const std::string& path, int32_t* out) {
    if (!v.IsInt() || v.Int() != static_cast<int32_t>(v.Int())) return Bad(v, path, "a whole number of 32 bits");
    *out = static_cast<int32_t>(v.Int());
  }
  void Value(Json v, const std::string& path, float* out) {
    if (!v.IsNumber() || std::abs(v.Double()) > std::numeric_limits<float>::max()) return Bad(v, path, "a number");
    *out = static_cast<float>(v.Double());
  }
  void Value(Json v, const std::string& path, absl::Duration* out) {
    if (!v.IsString()) return Bad(v, path, "a string such as \"15s\"");
    if (absl::Status s = util::ParseGoDuration(std::string(v.Text()), out); !s.ok()) {
      Bad(v, path, absl::StrCat("a duration such as \"15s\" (", s.message(), ")"));
    }
  }
  void Value(Json v, const std::string& path, const BindAddress& out) {
    Value(v, path, out.text);
    if (!v.IsString() || v.Text().empty() || util::IsIpAddress(v.Text())) return;
    const auto parts = util::SplitHostPort(v.Text());
    if (!parts || !util::IsPort(parts->port) || !(parts->host.empty() || util::IsHost(parts->host))) {
      Bad(v, path, "host:port with a port from 0 to 65535");
    }
  }
  void Value(Json v, const std::string& path, std::vector<ComponentConfiguration::Profile>* out) {
    if (!v.IsArray()) return Bad(v, path, "a list");
    out->clear();
    for (const auto& [key, element] : v.Children()) {
      if (!element.IsObject()) return Bad(element, path, "a list of objects");
      const std::string at = absl::StrCat(path, "[", out->size(), "]");
      Object(element, at, &out->emplace_back());
      const Json name = element.Find("schedulerName");
      if (name.Text().empty() && (name.IsNull() || name.IsString())) {
        Bad(name, at + ".schedulerName", "the name of a scheduler");
      }
    }
  }
  template <typename T>
  void Value(Json v, const std::string& path, std::optional<T>* out) {
    Value(v, path, &out->emplace());
  }
  template <typename T>
  requires std::is_class_v<T>
  void Value(Json v, const std::string& path, T* out) {
    v.IsObject() ? Object(v, path, out) : Bad(v, path, "an object");
  }

  ComponentDocument& out_;
};

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

class ComponentSchemaWriter : public api::MemberSchema<ComponentSchemaWriter> {
 public:
  ComponentSchemaWriter(const std::string& version, api::JsonWriter* out) : MemberSchema(out), version_(version) {}

  void Document() {
    Begin("KubeSchedulerConfiguration of " + version_);
    ComponentConfiguration c;
    Object(c);
    out_.End();
  }

 private:
  friend MemberSchema;
  using MemberSchema::Value;

  template <typename V, typename T>
  void Visit(V& v, T& t) {
    VisitFields(v, t);
  }
  bool Describes(std::string_view, const api::MemberFacts&) const { return true; }
  void Value(std::string& text) {
    // The two members that say what a document is have one value each.
    if (name_ == "apiVersion") return (void)out_.Member("const", version_);
    if (name_ == "kind") return (void)out_.Member("const", "KubeSchedulerConfiguration");
    MemberSchema::Value(text);
  }
  void Value(BindAddress&) { out_.Member("type", "string"); }

  const std::string version_;
};

// What stands for a value that is absent or 0.
template <typename T>
T Or(T value, T by_default) {
  return value == T() ? by_default : value;
}

void CheckElection(const ComponentConfiguration::LeaderElection& l, std::vector<Problem>* problems) {
  const std::string& lock = l.resource_lock;
  if (!lock.empty() && lock != "endpoints" && lock != "configmaps" && lock != "leases") {
    problems->push_back({Problem::Kind::kValidation,
                         "leaderElection.resourceLock",
                         absl::StrCat("couldn't create resource lock: Invalid lock-type ", lock,
                                      " (leaderElection.resourceLock must be endpoints, configmaps or leases)"),
                         {}});
  }
  const std::string_view why =
      ElectionTimesProblem(Or(l.lease_duration, absl::Seconds(15)), Or(l.renew_deadline, absl::Seconds(10)),
                           Or(l.retry_period, absl::Seconds(2)));
  if (!why.empty()) {
    problems->push_back({Problem::Kind::kValidation,
                         "leaderElection",
                         absl::StrCat("couldn't create leader elector: ", ToAbsl(why)),
                         {}});
  }
}

}  // namespace

ComponentDocument ReadComponent(Json document) {
  BERTH_REQUIRES(document.IsObject());
  ComponentDocument out;
  ComponentReader(&out).Object(document, "", &out.values);
  return out;
}

std::vector<Problem> CheckComponentValues(const ComponentConfiguration& c, bool leads_by_default) {
  std::vector<Problem> problems;
  const auto refuse = [&](const std::string& path, const std::string& value, std::string_view want) {
    problems.push_back({Problem::Kind::kValidation,
                        path,
                        absl::StrCat(path, ": invalid value ", value, ": must be ", ToAbsl(want)),
                        {}});
  };
  if (c.leader_election.leader_elect.value_or(leads_by_default)) CheckElection(c.leader_election, &problems);
  if (const int32_t burst = c.client_connection.burst; burst < 0) {
    refuse("clientConnection.burst", absl::StrCat(burst), "0 (which means 10) or more");
  }
  const int32_t first = Or(c.pod_initial_backoff_seconds, 1), most = Or(c.pod_max_backoff_seconds, 60);
  if (first <= 0) refuse("podInitialBackoffSeconds", absl::StrCat(first), "greater than 0");
  if (most < first) {
    refuse("podMaxBackoffSeconds", absl::StrCat(most), "greater than or equal to podInitialBackoffSeconds");
  }
  if (c.parallelism < 0) refuse("parallelism", absl::StrCat(c.parallelism), "greater than 0");
  std::set<std::string_view> names = {c.scheduler_name.empty() ? "default-scheduler" : c.scheduler_name};
  for (size_t i = 0; i < c.profiles.size(); ++i) {
    const std::string& name = c.profiles[i].scheduler_name;
    if (names.insert(name).second) continue;
    refuse(absl::StrCat("profiles[", i, "].schedulerName"), GoQuoted(name), "a name that no other scheduler here has");
  }
  return problems;
}

std::string ComponentSchema(release::Version release) {
  const VersionRow* row = NewestReadBy(release);
  api::JsonWriter out(api::JsonWriter::Layout::kIndented);
  ComponentSchemaWriter(row != nullptr ? NameOf(*row) : std::string(kComponentConfig), &out).Document();
  return out.Finish();
}

}  // namespace berth::scheduler::configuration
