#include "pkg/scheduler/configuration/decode.h"

#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "pkg/api/go_members.h"
#include "pkg/api/line_column.h"
#include "pkg/api/strict_error.h"
#include "pkg/scheduler/configuration/fields.h"
#include "pkg/scheduler/configuration/versions.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"
#include "pkg/util/suggest.h"

namespace berth::scheduler::configuration {
namespace {

using api::Json;
using util::GoQuoted;
using util::ToAbsl;

constexpr std::string_view kGroup = "kubescheduler.config.k8s.io";
constexpr std::string_view kKind = "KubeSchedulerConfiguration";

std::string Member(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : absl::StrCat(path, ".", ToAbsl(name));
}
std::string Element(const std::string& path, size_t i) {
  return absl::StrCat(path, "[", i, "]");
}

// For the words of the decoder of v1beta1.
struct OlderTypes {
  template <typename V, typename T>
  requires requires(V& v, T& t) { VisitFields(v, t); }
  void Visit(V& v, T& t) const { VisitFields(v, t); }
  template <typename V, typename T>
  requires requires(V& v, T& t) { VisitFields(v, t, Version::kV1Beta1); }
  void Visit(V& v, T& t) const { VisitFields(v, t, Version::kV1Beta1); }
  template <typename T>
  requires requires(const T& t) { GoTypeOf(t); }
  std::string_view GoName(const T& t) const { return GoTypeOf(t); }
};
// Returns the members of v1beta1 and of its args that lead to types with names.
const std::vector<api::GoMember>& OlderGoMembers() {
  static const auto& members = *[] {
    const OlderTypes types;
    api::GoMemberFinder finder(types);
    KubeSchedulerConfiguration configuration;
    finder.Find(configuration);
    finder.FindInAll(PluginArgs().typed);
    return new std::vector<api::GoMember>(finder.Take());
  }();
  return members;
}

// The place in a document whose args are being decoded.
struct ArgsPlace {
  std::string outer;   // the path of the pluginConfig entry: profiles[0].pluginConfig[1]
  std::string plugin;  // its name
};

// Reads values into fields and collects errors. Null leaves a field unchanged. Go's decoder for JSON takes the last of
// duplicate keys, and so does this.
class Decoder {
 public:
  Decoder(Version version, release::Version release, const Gates& gates, std::string_view text,
          std::vector<Problem>* problems)
      : version_(version),
        release_(release),
        scheme_(SchemeOf(release)),
        gates_(gates),
        has_text_(!text.empty()),
        places_(text),
        problems_(problems) {}

  // Reads the whole document.
  void Read(Json document, KubeSchedulerConfiguration* out) {
    BeginStrict(document, "v1beta1.KubeSchedulerConfiguration");
    Object(document, "", out, {"apiVersion", "kind"});
  }

  // Reads the members of an object. Keys in `also` are accepted and skipped.
  template <typename T>
  void Object(Json j, const std::string& path, T* out, std::initializer_list<std::string_view> also = {}) {
    if (j.IsNull()) return;
    if (!j.IsObject()) return Wrong(j, path, "must be an object");
    Table table{.reader = this};
    if constexpr (requires { VisitFields(table, *out, version_); }) {
      VisitFields(table, *out, version_);
    } else {
      VisitFields(table, *out);
    }
    std::erase_if(table.rows, [&](const auto& f) { return !HasMember(release_, f.name); });
    std::set<std::string_view> seen;
    for (auto [key, value] : j.Children()) {
      if (!seen.insert(key).second) {
        Strict("duplicate", value, Member(path, key), {});
        continue;
      }
      if (std::find(also.begin(), also.end(), key) != also.end()) continue;
      auto field =
          std::find_if(table.rows.begin(), table.rows.end(), [&key = key](const auto& f) { return f.name == key; });
      if (field == table.rows.end()) {
        std::vector<std::string_view> names = table.Names();
        names.insert(names.begin(), also.begin(), also.end());
        Strict("unknown", value, Member(path, key), util::DidYouMean(key, names));
      } else if (Json last = j.FindExact(key); !last.IsNull()) {
        field->read(last, Member(path, key));
      }
    }
  }

  void Wrong(Json j, const std::string& path, std::string_view right) {
    Add(Problem::Kind::kDecoding, path, absl::StrCat(path, ": Invalid value: ", j.Brief(), ": ", ToAbsl(right)), {});
  }

 private:
  using Table = api::MemberTable<Decoder>;
  friend Table;

  void Value(Json j, const std::string& path, std::string* out) {
    if (!j.IsString()) return Wrong(j, path, "must be a string");
    *out = j.Text();
  }
  void Value(Json j, const std::string& path, bool* out) {
    if (!j.IsBool()) return Wrong(j, path, "must be true or false");
    *out = j.Bool();
  }
  void Value(Json j, const std::string& path, int64_t* out) {
    if (!j.IsInt()) return Wrong(j, path, "must be a whole number");
    *out = j.Int();
  }
  void Value(Json j, const std::string& path, int32_t* out) {
    if (!j.IsInt()) return Wrong(j, path, "must be a whole number");
    if (j.Int() != static_cast<int32_t>(j.Int())) return Wrong(j, path, "must be a whole number of 32 bits");
    *out = static_cast<int32_t>(j.Int());
  }
  void Value(Json j, const std::string& path, float* out) {
    if (!j.IsNumber() || std::abs(j.Double()) > std::numeric_limits<float>::max()) {
      return Wrong(j, path, "must be a number");
    }
    *out = static_cast<float>(j.Double());
  }
  void Value(Json j, const std::string& path, absl::Duration* out) {
    if (!j.IsString()) return Wrong(j, path, "must be a duration such as \"15s\"");
    if (absl::Status s = util::ParseGoDuration(std::string(j.Text()), out); !s.ok()) Wrong(j, path, util::Message(s));
  }
  void Value(Json j, const std::string& path, const Nanoseconds& out) {
    absl::Duration d = absl::Nanoseconds(*out.nanos);
    Value(j, path, &d);
    *out.nanos = absl::ToInt64Nanoseconds(d);
  }
  void Value(Json j, const std::string& path, const Base64& out) {
    std::string text;
    Value(j, path, &text);
    if (j.IsString() && !absl::Base64Unescape(text, out.bytes)) Wrong(j, path, "must be base64");
  }
  void Value(Json, const std::string&, const AnyObject& out) { *out.present = true; }
  void Value(Json j, const std::string&, const ArgsOf& out) { out.config->args.json = j.Serialize(); }
  template <typename T>
  void Value(Json j, const std::string& path, std::optional<T>* out) {
    Value(j, path, &out->emplace());
  }
  template <typename T>
  void Value(Json j, const std::string& path, std::vector<T>* out) {
    if (!j.IsArray()) return Wrong(j, path, "must be a list");
    out->clear();
    for (auto member : j.Children()) {
      std::string at = Element(path, out->size());
      // The args are read after the whole entry, because their type depends on the name, which may come later.
      T& element = out->emplace_back();
      if (!member.value.IsNull()) Value(member.value, at, &element);
      if constexpr (std::is_same_v<T, PluginConfig>) Args(member.value.FindExact("args"), at, &element);
    }
  }
  template <typename T>
  requires std::is_class_v<T>
  void Value(Json j, const std::string& path, T* out) { Object(j, path, out); }

  // Reads the args of a known plugin as that plugin's type. The args of others remain JSON.
  template <typename T>
  void ArgsAs(Json j, PluginConfig* config) {
    T args;
    if constexpr (std::is_same_v<T, PodTopologySpreadArgs>) {
      if (version_ == Version::kV1Beta1) args.defaulting_type = "List";
    }
    Object(j, "", &args, {"apiVersion", "kind"});
    config->args.typed = std::move(args);
  }
  void BeginStrict(Json value, std::string_view type) { strict_.emplace(value, type, OlderGoMembers()); }

  void Args(Json j, const std::string& at, PluginConfig* config) {
    ArgsPlace place{at, config->name};
    std::swap(place_, place);
    const std::string& name = config->name;
    std::optional<api::StrictDocument> document = std::move(strict_);
    BeginStrict(j, absl::StrCat("v1beta1.", name, "Args"));
    in_args_ = true;
    if (version_ != Version::kV1Beta1) NewerArgs(j, config);
    if (name == "InterPodAffinity") ArgsAs<InterPodAffinityArgs>(j, config);
    if (name == "NodeResourcesFit") ArgsAs<NodeResourcesFitArgs>(j, config);
    if (name == "PodTopologySpread") ArgsAs<PodTopologySpreadArgs>(j, config);
    if (name == "VolumeBinding") ArgsAs<VolumeBindingArgs>(j, config);
    if (version_ == Version::kV1Beta1) OlderArgs(j, config);
    if (config->args.typed.index() != 0) CheckArgsKind(j, name);
    in_args_ = false;
    strict_ = std::move(document);
    std::swap(place_, place);
  }
  // The plugins that take arguments in some versions only.
  void NewerArgs(Json j, PluginConfig* config) {
    const std::string& name = config->name;
    if (name == "DefaultPreemption") ArgsAs<DefaultPreemptionArgs>(j, config);
    if (name == "NodeAffinity") ArgsAs<NodeAffinityArgs>(j, config);
    if (name == "NodeResourcesBalancedAllocation") ArgsAs<NodeResourcesBalancedAllocationArgs>(j, config);
    if (name == "DynamicResources" && HasDeviceArguments(release_)) ArgsAs<DynamicResourcesArgs>(j, config);
  }
  void OlderArgs(Json j, PluginConfig* config) {
    const std::string& name = config->name;
    if (name == "NodeResourcesLeastAllocated") ArgsAs<NodeResourcesLeastAllocatedArgs>(j, config);
    if (name == "NodeResourcesMostAllocated") ArgsAs<NodeResourcesMostAllocatedArgs>(j, config);
    if (name == "RequestedToCapacityRatio") ArgsAs<RequestedToCapacityRatioArgs>(j, config);
    if (name == "NodeLabel") ArgsAs<NodeLabelArgs>(j, config);
    if (name == "ServiceAffinity") ArgsAs<ServiceAffinityArgs>(j, config);
  }
  // Returns whether the version has arguments of this kind.
  bool IsArgsKind(std::string_view kind) const {
    constexpr std::string_view kAll[] = {"InterPodAffinity", "NodeResourcesFit", "PodTopologySpread", "VolumeBinding"};
    constexpr std::string_view kNewer[] = {"DefaultPreemption", "NodeAffinity", "NodeResourcesBalancedAllocation"};
    constexpr std::string_view kOlder[] = {"NodeResourcesLeastAllocated", "NodeResourcesMostAllocated",
                                           "RequestedToCapacityRatio", "NodeLabel", "ServiceAffinity"};
    auto in = [&](std::span<const std::string_view> names) {
      return std::any_of(names.begin(), names.end(),
                         [&](std::string_view name) { return kind == absl::StrCat(ToAbsl(name), "Args"); });
    };
    return in(kAll) || (version_ == Version::kV1Beta1 ? in(kOlder) : in(kNewer)) ||
           (HasDeviceArguments(release_) && kind == "DynamicResourcesArgs");
  }
  // The kind and apiVersion of args may be omitted; if present, they must be those of the plugin and of the document.
  void CheckArgsKind(Json j, const std::string& name) {
    std::string want = absl::StrCat(name, "Args");
    std::string version = ApiVersion(version_);
    std::string kind(j.FindExact("kind").Text()), given(j.FindExact("apiVersion").Text());
    if (kind.empty()) kind = want;
    if (given.empty()) given = version;
    if (kind == want && given == version) return;
    if (given == version && IsArgsKind(kind)) {
      problems_->push_back({Problem::Kind::kDecoding, absl::StrCat(place_.outer, ".args.kind"),
                            absl::StrCat("decoding .", place_.outer, ": args for plugin ", name, " were not of type ",
                                         want, ".", ToAbsl(kGroup), ", got ", kind, ".", ToAbsl(kGroup)),
                            absl::StrCat("must be ", want)});
      return;
    }
    Add(Problem::Kind::kDecoding, "kind",
        absl::StrCat("no kind ", GoQuoted(kind), " is registered for version ", GoQuoted(given), ToAbsl(scheme_)),
        absl::StrCat("must be ", want, " of ", version));
  }

  void Strict(std::string_view what, Json value, const std::string& path, std::string hint) {
    if (version_ == Version::kV1Beta1) return StrictInOlderWords(what == "duplicate", value, path, std::move(hint));
    Add(Problem::Kind::kStrict, path, absl::StrCat(ToAbsl(what), " field ", GoQuoted(path)), std::move(hint));
  }
  // As the decoders of 1.19 do. They name the member alone, and where it stands is a hint.
  void StrictInOlderWords(bool twice, Json value, const std::string& path, std::string hint) {
    const std::string member = path.substr(path.find_last_of('.') + 1);
    std::string text;
    if (twice) {
      const std::string where = places_.At(value.begin_offset());
      text = absl::StrCat("error converting YAML to JSON: yaml: unmarshal errors:\n  ",
                          !has_text_ ? "" : absl::StrCat(where.substr(0, where.find(',')), ": "), "key ",
                          GoQuoted(member), " already set in map");
    } else {
      text = strict_->UnknownMember(path);
    }
    if (member != path) hint = absl::StrCat("at ", path, hint.empty() ? "" : "; ", hint);
    Add(Problem::Kind::kStrict, path, text, std::move(hint));
  }
  void Add(Problem::Kind kind, const std::string& path, std::string text, std::string hint) {
    const bool strict = kind == Problem::Kind::kStrict, older = version_ == Version::kV1Beta1;
    if (!in_args_) return problems_->push_back({kind, path, std::move(text), std::move(hint), strict && older});
    // 1.29 decodes the args of plugins separately, and its messages show that.
    std::string_view prefix = !strict ? "" : older ? kOlderStrictPrefix : kStrictPrefix;
    problems_->push_back({kind, absl::StrCat(place_.outer, ".args.", path),
                          absl::StrCat("decoding .", place_.outer, ": ", ToAbsl(older ? "" : prefix),
                                       "decoding args for plugin ", place_.plugin, ": ", ToAbsl(prefix), text),
                          std::move(hint), strict && older, true});
  }

  const Version version_;
  const release::Version release_;
  const std::string_view scheme_;
  const Gates& gates_;
  const bool has_text_;      // whether the text of the document is known
  api::LineColumns places_;  // in that text
  std::vector<Problem>* problems_;
  std::optional<api::StrictDocument> strict_;  // what is decoded as one value: the document, or args
  ArgsPlace place_;
  bool in_args_ = false;
};

// An empty list becomes cpu and memory.
void DefaultResources(std::vector<ResourceSpec>* resources) {
  if (resources->empty()) *resources = {{"cpu", 1}, {"memory", 1}};
}
// A missing weight becomes 1, too.
void DefaultWeights(std::vector<ResourceSpec>* resources) {
  DefaultResources(resources);
  for (ResourceSpec& r : *resources) {
    if (r.weight == 0) r.weight = 1;
  }
}
// The arguments of v1beta1, where a resource without a weight is an error.
void DefaultOlderArgs(PluginArgs::Typed* args) {
  if (auto* a = std::get_if<NodeResourcesLeastAllocatedArgs>(args)) DefaultResources(&a->resources);
  if (auto* a = std::get_if<NodeResourcesMostAllocatedArgs>(args)) DefaultResources(&a->resources);
  if (auto* a = std::get_if<RequestedToCapacityRatioArgs>(args)) DefaultResources(&a->resources);
}

// What is different in a document of v1beta1.
KubeSchedulerConfiguration DefaultsOf(Version version) {
  KubeSchedulerConfiguration c;
  c.version = version;
  if (version == Version::kV1Beta1) c.leader_election.resource_lock = "endpointsleases";
  return c;
}

// Sets the defaults that 1.29 also sets for members that are present but empty.
void ApplyDefaults(const Gates& gates, KubeSchedulerConfiguration* c) {
  const KubeSchedulerConfiguration defaults = DefaultsOf(c->version);
  auto fill = [](auto& member, const auto& value) {
    if (member == std::remove_cvref_t<decltype(member)>()) member = value;
  };
  LeaderElection& l = c->leader_election;
  fill(l.lease_duration, defaults.leader_election.lease_duration);
  fill(l.renew_deadline, defaults.leader_election.renew_deadline);
  fill(l.retry_period, defaults.leader_election.retry_period);
  fill(l.resource_lock, defaults.leader_election.resource_lock);
  fill(l.resource_namespace, defaults.leader_election.resource_namespace);
  fill(l.resource_name, defaults.leader_election.resource_name);
  fill(c->client_connection.content_type, defaults.client_connection.content_type);
  fill(c->client_connection.qps, defaults.client_connection.qps);
  fill(c->client_connection.burst, defaults.client_connection.burst);
  if (c->profiles.empty()) c->profiles.emplace_back();
  if (c->profiles.size() == 1 && !c->profiles[0].scheduler_name) c->profiles[0].scheduler_name = "default-scheduler";
  for (Profile& p : c->profiles) {
    for (PluginConfig& config : p.plugin_config) {
      DefaultOlderArgs(&config.args.typed);
      if (auto* a = std::get_if<NodeResourcesBalancedAllocationArgs>(&config.args.typed)) DefaultWeights(&a->resources);
      if (auto* a = std::get_if<NodeResourcesFitArgs>(&config.args.typed)) {
        if (!a->scoring_strategy) a->scoring_strategy = NodeResourcesFitArgs().scoring_strategy;
        DefaultWeights(&a->scoring_strategy->resources);
      }
      if (auto* a = std::get_if<PodTopologySpreadArgs>(&config.args.typed)) fill(a->defaulting_type, "System");
      auto* a = std::get_if<VolumeBindingArgs>(&config.args.typed);
      if (a != nullptr && a->shape.empty()) a->shape = DefaultVolumeShape(gates);
    }
  }
}

// Returns the version of the document, or reports an error in its kind or version.
std::optional<Version> VersionOf(Json document, release::Version release, std::vector<Problem>* problems) {
  auto fail = [&](std::string text, std::string hint) {
    problems->push_back({Problem::Kind::kDecoding, "", std::move(text), std::move(hint)});
    return std::nullopt;
  };
  const std::string versions = VersionsOf(release);
  const std::string wanted =
      absl::StrCat("give a KubeSchedulerConfiguration of ", ToAbsl(kGroup), versions.substr(0, versions.find(' ')));
  if (!document.IsObject())
    return fail(absl::StrCat("Invalid value: ", document.Brief(), ": must be an object"), wanted);
  std::string kind(document.FindExact("kind").Text()), version(document.FindExact("apiVersion").Text());
  if (kind.empty()) return fail(absl::StrCat("Object 'Kind' is missing in '", document.Brief(), "'"), wanted);
  if (version.empty()) return fail(absl::StrCat("Object 'apiVersion' is missing in '", document.Brief(), "'"), wanted);
  const VersionRow* row = FindVersion(version);
  const bool read = row != nullptr && row->version && row->read_by.Has(release);
  if (read && kind == kKind) return row->version;
  if (read && absl::EndsWith(kind, "Args")) {
    return fail(absl::StrCat("couldn't decode as KubeSchedulerConfiguration, got ", version, ", Kind=", kind, ": "),
                wanted);
  }
  std::string hint = absl::StrCat("supported are ", ToAbsl(kKind), " of ", ToAbsl(kGroup), versions);
  if (row != nullptr && kind == kKind) absl::StrAppend(&hint, "; ", WhoReads(version));
  return fail(absl::StrCat("no kind ", GoQuoted(kind), " is registered for version ", GoQuoted(version),
                           ToAbsl(SchemeOf(release))),
              std::move(hint));
}

}  // namespace

bool IsConfigurationVersion(std::string_view api_version) {
  return absl::StartsWith(ToAbsl(api_version), absl::StrCat(ToAbsl(kGroup), "/"));
}

KubeSchedulerConfiguration Decode(Json document, release::Version release, const Gates& gates,
                                  std::vector<Problem>* problems, std::string_view text) {
  KubeSchedulerConfiguration c;
  std::optional<Version> version = VersionOf(document, release, problems);
  if (version) {
    c = DefaultsOf(*version);
    Decoder(*version, release, gates, text, problems).Read(document, &c);
  }
  ApplyDefaults(gates, &c);
  return c;
}

Json Locate(Json at, std::string_view path) {
  while (!path.empty()) {
    if (path.front() == '.') path.remove_prefix(1);
    Json next;
    size_t end = 0;
    if (!path.empty() && path.front() == '[') {
      end = path.find(']');
      if (end == std::string_view::npos) return at;
      int64_t index = -1, i = 0;
      if (!absl::SimpleAtoi(ToAbsl(path.substr(1, end - 1)), &index)) return at;
      for (auto child : at.Children()) {
        if (at.IsArray() && i++ == index) next = child.value;
      }
      ++end;
    } else {
      end = std::min(path.find_first_of(".["), path.size());
      if (at.IsObject()) next = at.FindExact(path.substr(0, end));
    }
    if (next.IsNull()) return at;
    at = next;
    path.remove_prefix(end);
  }
  return at;
}

}  // namespace berth::scheduler::configuration
