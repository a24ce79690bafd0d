#include "pkg/convert/encode.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "pkg/api/json_writer.h"
#include "pkg/api/stream.h"
#include "pkg/scheduler/configuration/decode.h"
#include "pkg/scheduler/configuration/fields.h"
#include "pkg/scheduler/configuration/versions.h"
#include "pkg/util/contract.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::convert {
namespace {

using api::JsonWriter;
using namespace scheduler::configuration;  // NOLINT: all of it is about these types

// Writes values of one version. A member is left out if it is written as in a default object.
class Encoder {
 public:
  explicit Encoder(Version version) : version_(version) {}

  template <typename T>
  std::string Object(const T& value, const T& defaults, std::string_view first = "{}") const {
    const auto members = MembersOf(value), plain = MembersOf(defaults);
    JsonWriter out;
    out.Object().MembersOf(first);
    for (size_t i = 0; i < members.size(); ++i) {
      const auto& [name, json] = members[i];
      if (json != plain[i].second && json != "null") out.Key(name).Literal(json);
    }
    return out.End().Take();
  }

  std::string Args(const PluginArgs& from) const {
    return std::visit(
        [&](const auto& args) -> std::string {
          using T = std::remove_cvref_t<decltype(args)>;
          if constexpr (std::is_same_v<T, std::monostate>) {
            return from.json.empty() ? "null" : from.json;
          } else {
            return Object(args, DefaultArgs<T>());
          }
        },
        from.typed);
  }

 private:
  // Calls of VisitFields end here: a name and the JSON of its value for each member.
  struct Collector {
    const Encoder* encoder;
    std::vector<std::pair<std::string_view, std::string>> members;
    template <typename T>
    void operator()(std::string_view name, const T& value, std::string_view, const api::MemberFacts& = {}) {
      members.emplace_back(name, encoder->Value(value));
    }
  };
  template <typename T>
  std::vector<std::pair<std::string_view, std::string>> MembersOf(T value) const {
    Collector collector{this, {}};
    if constexpr (requires { VisitFields(collector, value, version_); }) {
      VisitFields(collector, value, version_);
    } else {
      VisitFields(collector, value);
    }
    return std::move(collector.members);
  }

  std::string Value(const std::string& v) const { return api::JsonString(v); }
  std::string Value(bool v) const { return v ? "true" : "false"; }
  std::string Value(int32_t v) const { return absl::StrCat(v); }
  std::string Value(int64_t v) const { return absl::StrCat(v); }
  std::string Value(float v) const { return absl::StrFormat("%.9g", v); }
  std::string Value(absl::Duration v) const { return api::JsonString(util::FormatGoDuration(v)); }
  std::string Value(const Nanoseconds& v) const { return Value(absl::Nanoseconds(*v.nanos)); }
  std::string Value(const Base64& v) const { return api::JsonString(absl::Base64Escape(*v.bytes)); }
  std::string Value(const AnyObject& v) const { return *v.present ? "{}" : "null"; }
  std::string Value(const ArgsOf& v) const { return Args(v.config->args); }
  template <typename T>
  std::string Value(const std::optional<T>& v) const {
    return v ? Value(*v) : "null";
  }
  template <typename T>
  std::string Value(const std::vector<T>& list) const {
    JsonWriter out;
    return out.Each(list, [&](const T& v) { out.Literal(Value(v)); }).Take();
  }
  // A point without one of its numbers would be read, but not understood.
  std::string Value(const UtilizationShapePoint& p) const {
    return JsonWriter().Object().Member("utilization", p.utilization).Member("score", p.score).End().Take();
  }
  template <typename T>
  requires std::is_class_v<T> std::string Value(const T& v)
  const { return Object(v, T()); }

  // Lists that an absent member does not stand for in every version.
  template <typename T>
  T DefaultArgs() const {
    T args;
    if constexpr (std::is_same_v<T, PodTopologySpreadArgs>) {
      if (version_ == Version::kV1Beta1) args.defaulting_type = "List";
    }
    return args;
  }

  const Version version_;
};

std::string EmptyDocument(Version version) {
  JsonWriter out;
  return out.Object()
      .Member("apiVersion", ApiVersion(version))
      .Member("kind", "KubeSchedulerConfiguration")
      .End()
      .Take();
}

}  // namespace

std::string Encode(const configuration::KubeSchedulerConfiguration& c) {
  return Encoder(c.version).Object(c, DefaultConfiguration(c.version), EmptyDocument(c.version));
}

std::string EncodeArgs(const PluginArgs& args, configuration::Version version) {
  return Encoder(version).Args(args);
}

configuration::Version NewestVersionOf(release::Version release) {
  const std::string versions = VersionsOf(release);
  const VersionRow* row =
      FindVersion(absl::StrCat("kubescheduler.config.k8s.io", versions.substr(0, versions.find(' '))));
  BERTH_REQUIRES(row != nullptr && row->version);
  return *row->version;
}

KubeSchedulerConfiguration DefaultConfiguration(configuration::Version version) {
  auto document = api::ReadDocument(EmptyDocument(version));
  std::vector<Problem> problems;
  const release::Version reader = FindVersion(ApiVersion(version))->read_by.since;
  KubeSchedulerConfiguration c = Decode(document->root(), reader, {}, &problems);
  c.version = version;
  c.profiles.clear();
  return c;
}

}  // namespace berth::convert
