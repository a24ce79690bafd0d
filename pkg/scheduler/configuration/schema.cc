#include "pkg/scheduler/configuration/schema.h"

#include "pkg/api/member_schema.h"
#include "pkg/scheduler/configuration/fields.h"
#include "pkg/scheduler/configuration/versions.h"

namespace berth::scheduler::configuration {
namespace {

class SchemaWriter : public api::MemberSchema<SchemaWriter> {
 public:
  SchemaWriter(const PluginCatalogue& catalogue, Version version, api::JsonWriter* out)
      : MemberSchema(out), catalogue_(catalogue), version_(version) {}

  // `versions` are the versions with the same fields, the newest first.
  void Document(const std::vector<std::string>& versions) {
    Begin("KubeSchedulerConfiguration of " + versions[0]);
    out_.Member("type", "object").Member("additionalProperties", false);
    out_.Key("required").Texts({"apiVersion", "kind"}).Key("properties").Object();
    out_.Key("apiVersion").Object().Key("enum").Texts(versions).End();
    out_.Key("kind").Object().Member("const", "KubeSchedulerConfiguration").End();
    KubeSchedulerConfiguration c;
    VisitFields(*this, c, version_);
    out_.End().End();
  }

 private:
  friend MemberSchema;
  using MemberSchema::Value;

  template <typename V, typename T>
  void Visit(V& v, T& t) {
    if constexpr (requires { VisitFields(v, t, version_); }) {
      VisitFields(v, t, version_);
    } else {
      VisitFields(v, t);
    }
  }
  bool Describes(std::string_view name, const api::MemberFacts&) const { return HasMember(catalogue_.release(), name); }

  void Value(Nanoseconds&) { Duration(); }
  void Value(AnyObject&) { out_.Member("not", true); }
  void Value(ArgsOf&) { out_.Member("type", "object"); }
  // An extension point may enable the plugins that implement it, and disable any name.
  void Value(PluginSet&) {
    const std::string point(name_);
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
    Object(t);
    out_.Key("allOf").Array();
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
  // Requires the args of a plugin to have that plugin's type.
  template <typename T>
  void ArgumentsOf(std::string_view plugin) {
    T args;
    out_.Object().Key("if").Object().Key("properties").Object();
    out_.Key("name").Object().Member("const", plugin).End().End().End();
    out_.Key("then").Object().Key("properties").Object().Key("args").Object();
    out_.Member("type", "object").Member("additionalProperties", false).Key("properties").Object();
    out_.Key("apiVersion").Object().Member("type", "string").End();
    out_.Key("kind").Object().Member("type", "string").End();
    Visit(*this, args);
    out_.End();
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
