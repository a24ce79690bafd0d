#include "pkg/scheduler/configuration/schema.h"

#include <optional>

#include "pkg/api/json_writer.h"
#include "pkg/scheduler/configuration/fields.h"
#include "pkg/scheduler/configuration/versions.h"

namespace berth::scheduler::configuration {
namespace {

// What validation.cc requires beyond the type, by the name of the field.
struct Range {
  std::string_view field;
  int64_t least;
  std::optional<int64_t> most = {};
};
constexpr Range kRanges[] = {{"parallelism", 1},
                             {"percentageOfNodesToScore", 0, 100},
                             {"podInitialBackoffSeconds", 1},
                             {"podMaxBackoffSeconds", 1},
                             {"burst", 0},
                             {"minCandidateNodesPercentage", 0, 100},
                             {"minCandidateNodesAbsolute", 0},
                             {"hardPodAffinityWeight", 0, 100},
                             {"maxSkew", 1},
                             {"utilization", 0, 100},
                             {"score", 0, 10},
                             {"bindTimeoutSeconds", 0}};

struct Choice {
  std::string_view field;
  std::vector<std::string> values;
};
const std::vector<Choice>& Choices() {
  static const std::vector<Choice> choices = {{"operator", {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}},
                                              {"whenUnsatisfiable", {"DoNotSchedule", "ScheduleAnyway"}},
                                              {"defaultingType", {"System", "List"}},
                                              {"type", {"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"}},
                                              {"nodeAffinityPolicy", {"Honor", "Ignore"}},
                                              {"nodeTaintsPolicy", {"Honor", "Ignore"}}};
  return choices;
}

constexpr char kDuration[] = R"(^[-+]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+$)";

// Writes the schema of a type, one member after another.
class SchemaWriter {
 public:
  SchemaWriter(const PluginCatalogue& catalogue, Version version, api::JsonWriter* out)
      : catalogue_(catalogue), version_(version), out_(*out) {}

  template <typename T>
  void operator()(std::string_view name, T&& member, std::string_view what) {
    if (!HasMember(catalogue_.release(), name)) return;
    out_.Key(name).Object().Member("description", what);
    field_ = name;
    Value(member);
    out_.End();
  }

  // Writes the schema of an object into the braces that the caller has opened.
  template <typename T>
  void ObjectOf(T& t, bool arguments = false) {
    out_.Member("type", "object").Member("additionalProperties", false).Key("properties").Object();
    if (arguments) {
      out_.Key("apiVersion").Object().Member("type", "string").End();
      out_.Key("kind").Object().Member("type", "string").End();
    }
    if constexpr (requires { VisitFields(*this, t, version_); }) {
      VisitFields(*this, t, version_);
    } else {
      VisitFields(*this, t);
    }
    out_.End();
  }

  // `versions` are the versions with the same fields, the newest first.
  void Document(const std::vector<std::string>& versions) {
    out_.Object().Member("$schema", "http://json-schema.org/draft-07/schema#");
    out_.Member("title", "KubeSchedulerConfiguration of " + versions[0]);
    out_.Member("type", "object").Member("additionalProperties", false);
    out_.Key("required").Texts({"apiVersion", "kind"}).Key("properties").Object();
    out_.Key("apiVersion").Object().Key("enum").Texts(versions).End();
    out_.Key("kind").Object().Member("const", "KubeSchedulerConfiguration").End();
    KubeSchedulerConfiguration c;
    VisitFields(*this, c, version_);
    out_.End().End();
  }

 private:
  void Value(std::string&) {
    out_.Member("type", "string");
    for (const Choice& c : Choices()) {
      if (c.field == field_) out_.Key("enum").Texts(c.values);
    }
  }
  void Value(bool&) { out_.Member("type", "boolean"); }
  void Value(int32_t&) { Integer(); }
  void Value(int64_t&) { Integer(); }
  void Value(float&) { out_.Member("type", "number"); }
  void Value(absl::Duration&) { out_.Member("type", "string").Member("pattern", kDuration); }
  void Value(Nanoseconds&) { out_.Member("type", "string").Member("pattern", kDuration); }
  void Value(Base64&) { out_.Member("type", "string").Member("contentEncoding", "base64"); }
  void Value(AnyObject&) { out_.Member("not", true); }
  void Value(ArgsOf&) { out_.Member("type", "object"); }
  template <typename T>
  void Value(std::optional<T>&) {
    T t;
    Value(t);
  }
  template <typename T>
  void Value(std::vector<T>&) {
    out_.Member("type", "array").Key("items").Object();
    T t;
    Value(t);
    out_.End();
  }
  // An extension point may enable the plugins that implement it, and disable any name.
  void Value(PluginSet&) {
    const std::string point(field_);
    out_.Member("type", "object").Member("additionalProperties", false).Key("properties").Object();
    out_.Key("enabled").Object().Member("type", "array").Key("items").Object();
    out_.Member("type", "object").Member("additionalProperties", false).Key("required").Texts({"name"});
    out_.Key("properties").Object().Key("name").Object().Key("enum").Texts(NamesFor(point)).End();
    out_.Key("weight").Object().Member("type", "integer").End().End().End().End();
    out_.Key("disabled").Object().Member("type", "array").Key("items").Object();
    out_.Member("type", "object").Member("additionalProperties", false).Key("required").Texts({"name"});
    out_.Key("properties").Object().Key("name").Object().Member("type", "string").End();
    out_.Key("weight").Object().Member("type", "integer").End().End().End().End();
    out_.End();
  }
  void Value(PluginConfig& t) {
    ObjectOf(t);
    out_.Key("required").Texts({"name"}).Key("allOf").Array();
    const bool older = version_ == Version::kV1Beta1;
    if (!older) ArgumentsOf<DefaultPreemptionArgs>("DefaultPreemption");
    if (HasDeviceArguments(catalogue_.release())) ArgumentsOf<DynamicResourcesArgs>("DynamicResources");
    ArgumentsOf<InterPodAffinityArgs>("InterPodAffinity");
    if (!older) ArgumentsOf<NodeAffinityArgs>("NodeAffinity");
    if (older) ArgumentsOf<NodeLabelArgs>("NodeLabel");
    if (!older) ArgumentsOf<NodeResourcesBalancedAllocationArgs>("NodeResourcesBalancedAllocation");
    ArgumentsOf<NodeResourcesFitArgs>("NodeResourcesFit");
    if (older) ArgumentsOf<NodeResourcesLeastAllocatedArgs>("NodeResourcesLeastAllocated");
    if (older) ArgumentsOf<NodeResourcesMostAllocatedArgs>("NodeResourcesMostAllocated");
    ArgumentsOf<PodTopologySpreadArgs>("PodTopologySpread");
    if (older) ArgumentsOf<RequestedToCapacityRatioArgs>("RequestedToCapacityRatio");
    if (older) ArgumentsOf<ServiceAffinityArgs>("ServiceAffinity");
    ArgumentsOf<VolumeBindingArgs>("VolumeBinding");
    out_.End();
  }
  template <typename T>
  requires std::is_class_v<T>
  void Value(T& t) { ObjectOf(t); }

  void Integer() {
    out_.Member("type", "integer");
    for (const Range& r : kRanges) {
      if (r.field != field_) continue;
      out_.Member("minimum", r.least);
      if (r.most) out_.Member("maximum", *r.most);
    }
  }

  // Requires the args of a plugin to have that plugin's type.
  template <typename T>
  void ArgumentsOf(std::string_view plugin) {
    T args;
    out_.Object().Key("if").Object().Key("properties").Object();
    out_.Key("name").Object().Member("const", plugin).End().End().End();
    out_.Key("then").Object().Key("properties").Object().Key("args").Object();
    ObjectOf(args, /*arguments=*/true);
    out_.End().End().End().End();
  }

  std::vector<std::string> NamesFor(const std::string& point) const {
    for (ExtensionPoint p : ExtensionPoints()) {
      if (FieldName(p) == point) return catalogue_.Names(p);
    }
    return catalogue_.Names();
  }

  const PluginCatalogue& catalogue_;
  const Version version_;
  api::JsonWriter& out_;
  std::string_view field_;
};

}  // namespace

std::string Schema(const PluginCatalogue& catalogue, release::Version release) {
  const Version version = NewestReadBy(release)->version.value();
  std::vector<std::string> versions = {ApiVersion(version)};
  if (version == Version::kV1 && FindVersion(ApiVersion(Version::kV1Beta3))->read_by.Has(release)) {
    versions.push_back(ApiVersion(Version::kV1Beta3));
  }
  api::JsonWriter out(api::JsonWriter::Layout::kIndented);
  SchemaWriter(catalogue, version, &out).Document(versions);
  return out.Finish();
}

}  // namespace berth::scheduler::configuration
