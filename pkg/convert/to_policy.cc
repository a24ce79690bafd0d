#include "pkg/convert/to_policy.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <limits>
#include <set>

#include "pkg/api/json_writer.h"
#include "pkg/convert/policy_rules.h"
#include "pkg/convert/source.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/util/status.h"

namespace berth::convert {
namespace {

using api::JsonWriter;
using configuration::ExtensionPoint;
using configuration::ResolvedProfile;
using scheduler::ExtenderConfig;
using scheduler::Registry;

class PolicyWriter {
 public:
  PolicyWriter(const Meaning& meaning, const release::Id& to, const Registry& registry, Notes* notes)
      : meaning_(meaning), rules_(meaning.profiles[0].rules), to_(to), registry_(registry), notes_(notes) {}

  std::string Write() {
    NoteProfiles();
    out_.Object().Member("kind", "Policy").Member("apiVersion", "v1");
    out_.Key("predicates").Array();
    for (const auto& p : rules_.at(ExtensionPoint::kFilter)) Predicate(p.name);
    Conditions();
    out_.End().Key("priorities").Array();
    factor_ = Factor();
    for (const auto& p : rules_.at(ExtensionPoint::kScore)) Priority(p.name, p.weight * factor_);
    out_.End();
    if (!meaning_.extenders.empty()) {
      out_.Key("extenders").Array();
      for (const ExtenderConfig& e : meaning_.extenders) Extender(e);
      out_.End();
    }
    Rest();
    out_.End();
    return out_.Finish("json");
  }

 private:
  void Note(std::string subject, std::string text) { notes_->push_back({std::move(subject), std::move(text)}); }
  std::string InRelease() const { return absl::StrCat("release ", std::string(to_.name)); }

  void NoteProfiles() {
    for (size_t i = 1; i < meaning_.profiles.size(); ++i) {
      Note(absl::StrCat("profiles[", i, "] ", meaning_.profiles[i].rules.scheduler_name),
           "a Policy is for one scheduler: convert this profile by itself, and run a second scheduler with it");
    }
    if (rules_.scheduler_name != "default-scheduler") {
      Note(absl::StrCat("schedulerName ", rules_.scheduler_name),
           "a Policy has no place for it: use the flag --scheduler-name");
    }
    for (const auto& [point, change] : meaning_.profiles[0].changes) {
      for (const std::string& name : change.removed) {
        Note(absl::StrCat(std::string(FieldName(point)), ": ", name), WhyNotOff(name));
      }
      for (const std::string& name : change.added) {
        Note(absl::StrCat(std::string(FieldName(point)), ": ", name),
             "a Policy has only predicates and priorities, so it is left out");
      }
    }
  }

  std::string WhyNotOff(std::string_view plugin) const {
    if (plugin != kPreemption) {
      return absl::StrCat(InRelease(), " always does what it does, and a Policy cannot turn it off");
    }
    if (kDisablesPreemption.Has(to_.version)) {
      return "a Policy cannot turn it off: write disablePreemption: true into the configuration that names the Policy";
    }
    return absl::StrCat("off in ", InRelease(), ", too, unless the feature gate PodPriority is on");
  }

  // ---- predicates ----

  void NamedPredicate(std::string_view name) {
    if (!written_.emplace(name).second) return;
    out_.Object().Member("name", name).End();
  }
  void Predicate(const std::string& rule) {
    const auto parts = GeneralParts();
    const bool is_part = std::find(parts.begin(), parts.end(), rule) != parts.end();
    const bool all = std::all_of(parts.begin(), parts.end(),
                                 [&](std::string_view p) { return rules_.Has(ExtensionPoint::kFilter, p); });
    if (is_part && all) return NamedPredicate(kGeneralPredicates);
    if (rule == kNodeLabel) return Labels();
    if (rule == kServiceAffinity) return Services();
    if (const PolicyRule* r = NamedIn(Predicates(), rule, to_.version); r != nullptr) return NamedPredicate(r->name);
    if (registry_.predicates().contains(rule) && FindRule(Predicates(), rule) == nullptr) return Own(rule);
    // A mandatory predicate does what NodeUnschedulable does, and more.
    if (rule == "NodeUnschedulable") {
      return Note("filter: NodeUnschedulable", absl::StrCat("CheckNodeCondition does the same, which is mandatory in ",
                                                            InRelease(), " and also rejects nodes that are not ready"));
    }
    if (const std::string_view plain = ConditionText(rule); !plain.empty()) {
      return Note(absl::StrCat("predicates: ", rule), std::string(plain));
    }
    Note(absl::StrCat("filter: ", rule),
         absl::StrCat(InRelease(), " has no such predicate, so pods may go where it would reject them"));
  }
  static std::string_view ConditionText(const std::string& rule) {
    if (!rule.starts_with("CheckNode")) return {};
    return "conditions of nodes become taints, and PodToleratesNodeTaints decides in its place";
  }
  void Own(const std::string& rule) {
    out_.Object().Member("name", rule);
    if (auto it = rules_.args.find(rule); it != rules_.args.end() && !it->second.json.empty()) {
      out_.Key("argument").Literal(it->second.json);
    }
    out_.End();
  }
  void Labels() {
    const auto args = rules_.Args<configuration::NodeLabelArgs>(kNodeLabel);
    auto write = [&](const char* name, const std::vector<std::string>& labels, bool presence) {
      if (labels.empty()) return;
      out_.Object().Member("name", name).Key("argument").Object().Key("labelsPresence").Object();
      out_.Key("labels").Texts(labels).Member("presence", presence).End().End().End();
    };
    write("CheckNodeLabelPresence", args.present_labels, true);
    write(args.present_labels.empty() ? "CheckNodeLabelPresence" : "CheckNodeLabelAbsence", args.absent_labels, false);
  }
  void Services() {
    const auto args = rules_.Args<configuration::ServiceAffinityArgs>(kServiceAffinity);
    if (args.affinity_labels.empty()) return;
    out_.Object().Member("name", "CheckServiceAffinity").Key("argument").Object().Key("serviceAffinity").Object();
    out_.Key("labels").Texts(args.affinity_labels).End().End().End();
  }
  // Where conditions are not taints, predicates say what tolerations say elsewhere.
  void Conditions() {
    if (!kConditionTaints.Has(to_.version) && !meaning_.known.contains("CheckNodeCondition") &&
        rules_.Has(ExtensionPoint::kFilter, "TaintToleration")) {
      NamedPredicate("CheckNodeMemoryPressure");
      NamedPredicate("CheckNodeDiskPressure");
    }
    for (const std::string& name : registry_.mandatory()) {
      const PolicyRule* r = FindRule(Predicates(), name);
      if (r == nullptr || rules_.Has(ExtensionPoint::kFilter, r->rule) || name == "CheckNodeCondition") continue;
      if (name == "CheckNodeUnschedulable" && rules_.Has(ExtensionPoint::kFilter, "CheckNodeCondition")) continue;
      Note(absl::StrCat("predicates: ", name),
           absl::StrCat("mandatory in ", InRelease(), ", though the source does without it"));
    }
  }

  // ---- priorities ----

  // Returns what all weights are multiplied by, so that the share of each label is a whole number.
  int64_t Factor() const {
    int64_t factor = 1;
    for (const auto& p : rules_.at(ExtensionPoint::kScore)) {
      const int64_t n = p.name == kNodeLabel ? Count(rules_.Args<configuration::NodeLabelArgs>(kNodeLabel))
                        : p.name == kServiceAffinity
                            ? Count(rules_.Args<configuration::ServiceAffinityArgs>(kServiceAffinity))
                            : 1;
      if (n > 0 && p.weight * factor % n != 0) factor *= n;
    }
    return factor;
  }
  static int64_t Count(const configuration::NodeLabelArgs& a) {
    return static_cast<int64_t>(a.present_labels_preference.size() + a.absent_labels_preference.size());
  }
  static int64_t Count(const configuration::ServiceAffinityArgs& a) {
    return static_cast<int64_t>(a.anti_affinity_labels_preference.size());
  }

  void Priority(const std::string& rule, int64_t weight) {
    if (rule == kNodeLabel) return LabelPreferences(weight);
    if (rule == kServiceAffinity) return AntiAffinities(weight);
    if (rule == kTopologySpread) return Spread(weight);
    // It scores only with a shape.
    if (rule == kVolumeBinding && rules_.Args<configuration::VolumeBindingArgs>(rule).shape.empty()) return;
    NoteArguments(rule);
    const PolicyRule* r = NamedIn(Priorities(), rule, to_.version);
    const bool own = r == nullptr && registry_.priorities().contains(rule) && FindRule(Priorities(), rule) == nullptr;
    if (r == nullptr && !own) {
      return Note(absl::StrCat("score: ", rule),
                  absl::StrCat(InRelease(), " has no such priority; its weight was ", weight / factor_));
    }
    if (r != nullptr && r->name == "ResourceLimitsPriority" && !registry_.priorities().contains(std::string(r->name))) {
      Note("priorities: ResourceLimitsPriority", "needs the feature gate ResourceLimitsPriorityFunction");
    }
    out_.Object().Member("name", own ? std::string_view(rule) : r->name).Member("weight", weight);
    if (rule == kRatio) Ratio();
    if (auto it = rules_.args.find(rule); own && it != rules_.args.end() && !it->second.json.empty()) {
      out_.Key("argument").Literal(it->second.json);
    }
    out_.End();
  }
  void Ratio() {
    const auto args = rules_.Args<configuration::RequestedToCapacityRatioArgs>(kRatio);
    out_.Key("argument").Object().Key("requestedToCapacityRatioArguments").Object().Key("shape").Array();
    for (const auto& p : args.shape) {
      out_.Object().Member("utilization", int64_t{p.utilization}).Member("score", int64_t{p.score}).End();
    }
    out_.End().End().End();
  }
  void NoteArguments(const std::string& rule) {
    const std::vector<configuration::ResourceSpec> plain = {{"cpu", 1}, {"memory", 1}};
    std::vector<configuration::ResourceSpec> resources = plain;
    if (rule == kLeast) resources = rules_.Args<configuration::NodeResourcesLeastAllocatedArgs>(kLeast).resources;
    if (rule == kMost) resources = rules_.Args<configuration::NodeResourcesMostAllocatedArgs>(kMost).resources;
    if (rule == kRatio) resources = rules_.Args<configuration::RequestedToCapacityRatioArgs>(kRatio).resources;
    if (rule == kBalanced) {
      resources = rules_.Args<configuration::NodeResourcesBalancedAllocationArgs>(kBalanced).resources;
    }
    if (resources != plain) {
      Note(absl::StrCat("score: ", rule, " resources"),
           absl::StrCat("in ", InRelease(), " cpu and memory count, alike; other resources and weights are lost"));
    }
  }
  void LabelPreferences(int64_t weight) {
    const auto args = rules_.Args<configuration::NodeLabelArgs>(kNodeLabel);
    Shares("NodeLabel", args.present_labels_preference, weight / std::max<int64_t>(1, Count(args)),
           [&](const std::string& label) {
             out_.Key("labelPreference").Object().Member("label", label).Member("presence", true).End();
           });
    Shares("NodeLabelAbsent", args.absent_labels_preference, weight / std::max<int64_t>(1, Count(args)),
           [&](const std::string& label) {
             out_.Key("labelPreference").Object().Member("label", label).Member("presence", false).End();
           });
  }
  void AntiAffinities(int64_t weight) {
    const auto args = rules_.Args<configuration::ServiceAffinityArgs>(kServiceAffinity);
    Shares("ServiceAntiAffinity", args.anti_affinity_labels_preference, weight / std::max<int64_t>(1, Count(args)),
           [&](const std::string& label) { out_.Key("serviceAntiAffinity").Object().Member("label", label).End(); });
  }
  // Writes a priority for each label, with its share of the weight for each time that it is listed.
  template <typename F>
  void Shares(const char* name, const std::vector<std::string>& labels, int64_t share, F argument) {
    std::vector<std::string> distinct;
    for (const std::string& label : labels) {
      if (std::find(distinct.begin(), distinct.end(), label) == distinct.end()) distinct.push_back(label);
    }
    for (size_t i = 0; i < distinct.size(); ++i) {
      const int64_t times = std::count(labels.begin(), labels.end(), distinct[i]);
      out_.Object()
          .Member("name", absl::StrCat(name, "-", i + 1))
          .Member("weight", share * times)
          .Key("argument")
          .Object();
      argument(distinct[i]);
      out_.End().End();
    }
  }
  void Spread(int64_t weight) {
    if (const PolicyRule* r = NamedIn(Priorities(), kTopologySpread, to_.version); r != nullptr) {
      out_.Object().Member("name", r->name).Member("weight", weight).End();
      return;
    }
    const auto args = rules_.Args<configuration::PodTopologySpreadArgs>(kTopologySpread);
    if (args.defaulting_type != "System" || rules_.Has(ExtensionPoint::kScore, kSelectorSpread)) {
      return Note(absl::StrCat("score: ", std::string(kTopologySpread)),
                  absl::StrCat(InRelease(), " has no such priority; its weight was ", weight / factor_));
    }
    Note(absl::StrCat("score: ", std::string(kTopologySpread)),
         "SelectorSpreadPriority stands for its default constraints: it counts the pods of services and controllers by "
         "zone and node, too, with another formula; constraints of pods have no effect");
    out_.Object().Member("name", "SelectorSpreadPriority").Member("weight", weight).End();
  }

  // ---- the rest ----

  void Extender(const ExtenderConfig& e) {
    out_.Object().Member("urlPrefix", e.url_prefix);
    auto text = [&](const char* name, const std::string& value) {
      if (!value.empty()) out_.Member(name, value);
    };
    text("filterVerb", e.filter_verb);
    text("prioritizeVerb", e.prioritize_verb);
    text("bindVerb", e.bind_verb);
    if (e.weight != 0) out_.Member("weight", e.weight * factor_);
    if (e.enable_https) out_.Member("enableHttps", true);
    if (e.tls) Tls(*e.tls);
    if (e.http_timeout_nanos != 0) out_.Member("httpTimeout", e.http_timeout_nanos);
    if (e.node_cache_capable) out_.Member("nodeCacheCapable", true);
    if (!kManagedResources.Has(to_.version)) {
      if (!e.managed_resources.empty()) {
        Note(absl::StrCat("extender ", e.url_prefix, " managedResources"),
             absl::StrCat(InRelease(), " asks an extender about every pod, and counts every resource itself"));
      }
    } else if (!e.managed_resources.empty()) {
      out_.Key("managedResources").Array();
      for (const auto& r : e.managed_resources) {
        out_.Object().Member("name", r.name);
        if (r.ignored_by_scheduler) out_.Member("ignoredByScheduler", true);
        out_.End();
      }
      out_.End();
    }
    if (kPreemptVerb.Has(to_.version)) {
      text("preemptVerb", e.preempt_verb);
    } else if (!e.preempt_verb.empty()) {
      Note(absl::StrCat("extender ", e.url_prefix, " preemptVerb"),
           absl::StrCat(InRelease(), " asks no extender about victims"));
    }
    if (e.ignorable && kIgnorable.Has(to_.version)) {
      out_.Member("ignorable", true);
    } else if (e.ignorable) {
      Note(absl::StrCat("extender ", e.url_prefix, " ignorable"),
           absl::StrCat("in ", InRelease(), " no pod is scheduled while an extender fails"));
    }
    out_.End();
  }
  void Tls(const scheduler::ExtenderTls& t) {
    out_.Key("tlsConfig").Object();
    auto text = [&](const char* name, const std::string& value) {
      if (!value.empty()) out_.Member(name, value);
    };
    if (t.insecure) out_.Member("insecure", true);
    text("serverName", t.server_name);
    text("certFile", t.cert_file);
    text("keyFile", t.key_file);
    text("caFile", t.ca_file);
    text("certData", absl::Base64Escape(t.cert_data));
    text("keyData", absl::Base64Escape(t.key_data));
    text("caData", absl::Base64Escape(t.ca_data));
    out_.End();
  }

  void Rest() {
    const auto affinity = rules_.Args<configuration::InterPodAffinityArgs>(kInterPodAffinity);
    if (affinity.hard_pod_affinity_weight == 0) {
      Note("hardPodAffinityWeight 0", "in a Policy 0 means that the flag counts, whose least value is 1");
    } else if (affinity.hard_pod_affinity_weight != 1) {
      out_.Member("hardPodAffinitySymmetricWeight", int64_t{affinity.hard_pod_affinity_weight});
    }
    if (rules_.always_check_all_filters) out_.Member("alwaysCheckAllPredicates", true);
    if (affinity.ignore_preferred_terms_of_existing_pods) {
      Note("InterPodAffinity ignorePreferredTermsOfExistingPods",
           absl::StrCat("in ", InRelease(), " they always count"));
    }
    const auto added = rules_.Args<configuration::NodeAffinityArgs>(kNodeAffinity);
    if (added.added_affinity) Note("NodeAffinity addedAffinity", absl::StrCat(InRelease(), " has none"));
    const auto fit = rules_.Args<configuration::NodeResourcesFitArgs>(kFit);
    if (!fit.ignored_resources.empty() || !fit.ignored_resource_groups.empty()) {
      Note("NodeResourcesFit ignoredResources", "a Policy can only ignore what an extender manages (managedResources)");
    }
    const auto binding = rules_.Args<configuration::VolumeBindingArgs>(kVolumeBinding);
    if (binding.bind_timeout_seconds != configuration::VolumeBindingArgs().bind_timeout_seconds) {
      Note("VolumeBinding bindTimeoutSeconds", "a Policy has no place for it");
    }
    if (meaning_.has_process) {
      Note("the settings of the process",
           "a Policy has only rules: leader election, addresses, the client and back-off are flags or fields of the "
           "configuration that names the Policy");
    }
  }

  const Meaning& meaning_;
  const ResolvedProfile& rules_;
  const release::Id& to_;
  const Registry& registry_;
  Notes* notes_;
  JsonWriter out_;
  int64_t factor_ = 1;
  std::set<std::string, std::less<>> written_;
};

}  // namespace

std::string ToPolicy(const Meaning& meaning, const release::Id& to, const std::map<std::string, bool>& gates,
                     Notes* notes) {
  const scheduler::Release& decides = releases::Of(to).decides;
  Registry registry = scheduler::RegisteredAlgorithms(decides);
  if (decides.apply_gates != nullptr) decides.apply_gates(GatesOf(decides, gates), &registry);
  return PolicyWriter(meaning, to, registry, notes).Write();
}

}  // namespace berth::convert
