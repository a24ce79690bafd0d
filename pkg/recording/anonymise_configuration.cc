// Policies and KubeSchedulerConfigurations under new names.
//
// A table says for each member what its texts name. A member that is not in it is an error, so that a field of a later
// version cannot be copied in silence.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <string>
#include <utility>

#include "pkg/api/json_writer.h"
#include "pkg/recording/anonymise.h"
#include "pkg/recording/known_words.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/util/status.h"

namespace berth::recording {
namespace {

using api::Json;
using api::NameClass;

enum class Member : uint8_t {
  kWord,  // numbers, true and false, and words of the API
  kKey,
  kValue,
  kLabels,     // a map from keys to values
  kScheduler,  // spec.schedulerName
  kEntry,      // "name" of an entry: of a plugin, a rule, or a resource, depending on the list
  kResource,
  kDomain,  // of resources
  kUrl,
  kVerb,       // a part of an extender's URL
  kLists,      // an object, or a list of objects, with members of this table
  kArguments,  // of a plugin or a rule
  kDropped,    // what does not concern decisions
};
struct MemberRow {
  std::string_view name;
  Member holds;
};
constexpr MemberRow kConfigurationMembers[] = {
    {"apiVersion", Member::kWord},
    {"kind", Member::kWord},
    {"profiles", Member::kLists},
    {"schedulerName", Member::kScheduler},
    {"percentageOfNodesToScore", Member::kWord},
    {"parallelism", Member::kWord},
    {"podInitialBackoffSeconds", Member::kWord},
    {"podMaxBackoffSeconds", Member::kWord},
    {"delayCacheUntilActive", Member::kWord},
    {"enableProfiling", Member::kDropped},
    {"enableContentionProfiling", Member::kDropped},
    {"leaderElection", Member::kDropped},
    {"clientConnection", Member::kDropped},
    {"healthzBindAddress", Member::kDropped},
    {"metricsBindAddress", Member::kDropped},
    // lists of plugins
    {"plugins", Member::kLists},
    {"preEnqueue", Member::kLists},
    {"queueSort", Member::kLists},
    {"preFilter", Member::kLists},
    {"filter", Member::kLists},
    {"postFilter", Member::kLists},
    {"preScore", Member::kLists},
    {"score", Member::kLists},
    {"reserve", Member::kLists},
    {"permit", Member::kLists},
    {"preBind", Member::kLists},
    {"bind", Member::kLists},
    {"postBind", Member::kLists},
    {"multiPoint", Member::kLists},
    {"enabled", Member::kLists},
    {"disabled", Member::kLists},
    {"name", Member::kEntry},
    {"weight", Member::kWord},
    {"pluginConfig", Member::kLists},
    {"args", Member::kArguments},
    // arguments of plugins
    {"addedAffinity", Member::kLists},
    {"requiredDuringSchedulingIgnoredDuringExecution", Member::kLists},
    {"preferredDuringSchedulingIgnoredDuringExecution", Member::kLists},
    {"nodeSelectorTerms", Member::kLists},
    {"preference", Member::kLists},
    {"matchExpressions", Member::kLists},
    {"matchFields", Member::kLists},
    {"key", Member::kKey},
    {"operator", Member::kWord},
    {"values", Member::kValue},
    {"matchLabels", Member::kLabels},
    {"labelSelector", Member::kLists},
    {"defaultConstraints", Member::kLists},
    {"defaultingType", Member::kWord},
    {"maxSkew", Member::kWord},
    {"minDomains", Member::kWord},
    {"topologyKey", Member::kKey},
    {"whenUnsatisfiable", Member::kWord},
    {"nodeAffinityPolicy", Member::kWord},
    {"nodeTaintsPolicy", Member::kWord},
    {"matchLabelKeys", Member::kKey},
    {"ignoredResources", Member::kResource},
    {"ignoredResourceGroups", Member::kDomain},
    {"scoringStrategy", Member::kLists},
    {"type", Member::kWord},
    {"resources", Member::kLists},
    {"requestedToCapacityRatio", Member::kLists},
    {"shape", Member::kLists},
    {"utilization", Member::kWord},
    {"hardPodAffinityWeight", Member::kWord},
    {"ignorePreferredTermsOfExistingPods", Member::kWord},
    {"minCandidateNodesPercentage", Member::kWord},
    {"minCandidateNodesAbsolute", Member::kWord},
    {"bindTimeoutSeconds", Member::kWord},
    // Policies
    {"predicates", Member::kLists},
    {"priorities", Member::kLists},
    {"argument", Member::kArguments},
    {"serviceAffinity", Member::kLists},
    {"labelsPresence", Member::kLists},
    {"serviceAntiAffinity", Member::kLists},
    {"labelPreference", Member::kLists},
    {"requestedToCapacityRatioArguments", Member::kLists},
    {"labels", Member::kKey},
    {"label", Member::kKey},
    {"presence", Member::kWord},
    {"hardPodAffinitySymmetricWeight", Member::kWord},
    {"alwaysCheckAllPredicates", Member::kWord},
    // extenders
    {"extenders", Member::kLists},
    {"extenderConfigs", Member::kLists},
    {"urlPrefix", Member::kUrl},
    {"filterVerb", Member::kVerb},
    {"preemptVerb", Member::kVerb},
    {"prioritizeVerb", Member::kVerb},
    {"bindVerb", Member::kVerb},
    {"enableHTTPS", Member::kDropped},
    {"tlsConfig", Member::kDropped},
    {"httpTimeout", Member::kWord},
    {"nodeCacheCapable", Member::kWord},
    {"managedResources", Member::kLists},
    {"ignoredByScheduler", Member::kWord},
    {"ignorable", Member::kWord},
};

const MemberRow* RowOf(std::string_view member) {
  for (const MemberRow& row : kConfigurationMembers) {
    if (absl::EqualsIgnoreCase(util::ToAbsl(row.name), util::ToAbsl(member))) return &row;
  }
  return nullptr;
}

// Returns whether a rule of plugin/ of this name takes these arguments.
bool RuleAccepts(std::string_view name, const std::string& arguments) {
  const auto accepts = [&](const auto& rules) {
    const auto rule = rules.find(name);
    if (rule == rules.end() || !rule->second.takes_arguments) return false;
    scheduler::Cache cache;
    std::vector<std::string> problems;
    scheduler::PluginFactoryArgs args;
    args.cache = &cache;
    args.arguments = arguments;
    args.problems = &problems;
    (void)rule->second.factory(args);
    return problems.empty();
  };
  for (const release::Id& id : release::All()) {
    const scheduler::Registry registry = scheduler::FrozenRegistry(releases::Of(id).decides);
    if (accepts(registry.predicates()) || accepts(registry.priorities())) return true;
  }
  return false;
}

class ConfigurationRenamer {
 public:
  explicit ConfigurationRenamer(NameMap* names) : names_(names) {}

  absl::StatusOr<std::string> Document(Json j) {
    List(j, "");
    if (!error_.empty()) return util::InvalidArgument(error_);
    return std::move(out_);
  }

 private:
  template <typename F>
  void Array(Json j, F each) {
    j_.Array();
    for (auto m : j.Children()) each(m.value);
    j_.End();
  }
  // A text, or a list of texts. Numbers and the like are kept; an object in its place has no meaning.
  template <typename F>
  void Texts(Json j, F rename) {
    if (j.IsString()) {
      j_.Text(rename(j.Text()));
    } else if (j.IsArray()) {
      Array(j, [&](Json v) { Texts(v, rename); });
    } else if (j.IsObject()) {
      error_ = "a value of a configuration is an object and should be a text";
      j_.Literal("{}");
    } else {
      j_.Literal(j.Serialize());
    }
  }
  // An object, or a list of objects, that are the value of `member`.
  void List(Json j, std::string_view member) {
    if (j.IsArray()) return Array(j, [&](Json v) { List(v, member); });
    if (!j.IsObject()) return Texts(j, [&](std::string_view t) { return Named(member, t); });
    const Json name = j.Find("name");
    j_.Object();
    for (auto [key, value] : j.Children()) {
      const MemberRow* row = RowOf(key);
      if (row == nullptr) {
        error_ = absl::StrCat("a configuration has the member \"", std::string(key), "\", which is unknown here");
        continue;
      }
      if (row->holds == Member::kDropped) continue;
      j_.Key(key);
      Value(row->holds, row->holds == Member::kEntry ? member : std::string_view(row->name), value, name.Text());
    }
    j_.End();
  }
  std::string Named(std::string_view member, std::string_view text) {
    if (member == "resources" || member == "managedResources") return names_->Rename(NameClass::kResource, text);
    // Plugins and rules of Kubernetes and of this program; others are the user's names in a Policy.
    return IsKnownWord(text) ? std::string(text) : names_->Rename(NameClass::kName, text);
  }
  void Value(Member holds, std::string_view member, Json j, std::string_view entry) {
    const auto as = [&](NameClass what) { Texts(j, [&](std::string_view t) { return names_->Rename(what, t); }); };
    switch (holds) {
      case Member::kWord:
        return as(NameClass::kWord);
      case Member::kKey:
        return as(NameClass::kLabelKey);
      case Member::kValue:
        return as(NameClass::kLabelValue);
      case Member::kScheduler:
        return as(NameClass::kSchedulerName);
      case Member::kResource:
        return as(NameClass::kResource);
      case Member::kDomain:
        return Texts(j, [&](std::string_view t) { return names_->Domain(t); });
      case Member::kUrl:
        return Texts(j, [&](std::string_view t) { return names_->Url(t); });
      case Member::kVerb:
        return as(NameClass::kWord);
      case Member::kEntry:
        return Texts(j, [&](std::string_view t) { return Named(member, t); });
      case Member::kLabels:
        return Labels(j);
      case Member::kArguments:
        return Arguments(j, entry);
      case Member::kLists:
        return List(j, member);
      case Member::kDropped:
        return;
    }
  }
  void Labels(Json j) {
    j_.Object();
    for (auto [key, value] : j.Children()) {
      j_.Key(names_->Rename(NameClass::kLabelKey, key));
      Texts(value, [&](std::string_view t) { return names_->Rename(NameClass::kLabelValue, t); });
    }
    j_.End();
  }
  // The arguments of Kubernetes' own plugins are in the table. Those of a rule of plugin/ have member names of its own,
  // which are part of the program if the rule accepts them; their texts most likely are keys of labels.
  void Arguments(Json j, std::string_view entry) {
    bool in_table = true;
    for (auto [key, value] : j.Children()) in_table &= RowOf(key) != nullptr;
    if (in_table) return List(j, "args");
    const std::string begun = std::exchange(out_, "");
    Free(j);
    if (!RuleAccepts(entry, j.Serialize()) || (names_->sealed() && !RuleAccepts(entry, out_))) {
      error_ = absl::StrCat("the arguments of \"", std::string(entry),
                            "\" cannot be renamed: no rule of this program of that name accepts them");
    }
    out_ = begun + out_;
  }
  void Free(Json j) {
    if (j.IsObject()) {
      j_.Object();
      for (auto [key, value] : j.Children()) {
        j_.Key(key);
        Free(value);
      }
      j_.End();
    } else if (j.IsArray()) {
      Array(j, [&](Json v) { Free(v); });
    } else {
      Texts(j, [&](std::string_view t) { return names_->Rename(NameClass::kLabelKey, t); });
    }
  }

  NameMap* names_;
  std::string out_, error_;
  api::JsonWriter j_{&out_};
};

}  // namespace

absl::StatusOr<std::string> AnonymiseConfiguration(Json document, NameMap* names) {
  return ConfigurationRenamer(names).Document(document);
}

}  // namespace berth::recording
