#include "pkg/convert/convert.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "pkg/convert/from_source.h"
#include "pkg/util/status.h"

namespace berth::convert {
namespace {

using configuration::ExtensionPoint;

Conversion Converted(const std::string& text, const char* to, const char* from = nullptr) {
  Options options;
  options.to = *release::Named(to);
  if (from != nullptr) options.from = *release::Named(from);
  auto made = Convert(text, options);
  INFO(text << "\nto " << to << ": " << util::Message(made.status()));
  REQUIRE(made.ok());
  return *std::move(made);
}
std::string Refused(const std::string& text, const char* to = "1.29") {
  Options options;
  options.to = *release::Named(to);
  auto made = Convert(text, options);
  return made.ok() ? "no error" : util::Message(made.status());
}
// Returns the subjects of the notes.
std::string Subjects(const Conversion& c) {
  return absl::StrJoin(c.notes, "; ", [](std::string* out, const Note& n) { absl::StrAppend(out, n.subject); });
}

// Returns the rules of the first profile as one text: filters, then scores with weights relative to one another.
std::string RulesOf(const std::string& text, const char* from) {
  Options options;
  options.from = *release::Named(from);
  auto source = ReadSource(text, options);
  INFO(text << "\nfrom " << from << ": " << util::Message(source.status()));
  REQUIRE(source.ok());
  Notes notes;
  auto meaning = MeaningOf(*source, {}, &notes);
  REQUIRE(meaning.ok());
  const configuration::ResolvedProfile& rules = meaning->profiles[0].rules;
  std::vector<std::string> filters, scores;
  for (const auto& p : rules.at(ExtensionPoint::kFilter)) {
    // Nodes' conditions and what only some releases know are not compared.
    if (!p.name.starts_with("CheckNode") && p.name != "NodeUnschedulable" && p.name != "DynamicResources" &&
        p.name != "NodeDeclaredFeatures") {
      filters.push_back(p.name);
    }
  }
  int64_t unit = 0;
  for (const auto& p : rules.at(ExtensionPoint::kScore)) unit = std::gcd(unit, p.weight);
  for (const auto& p : rules.at(ExtensionPoint::kScore)) {
    if (p.name == kVolumeBinding || p.name == "DynamicResources") continue;
    scores.push_back(absl::StrCat(p.name, "=", p.weight / unit));
  }
  const auto labels = rules.Args<configuration::NodeLabelArgs>(kNodeLabel);
  for (const std::string& l : labels.present_labels) filters.push_back("present " + l);
  for (const std::string& l : labels.absent_labels) filters.push_back("absent " + l);
  for (const std::string& l : labels.present_labels_preference) scores.push_back("present " + l);
  for (const std::string& l : labels.absent_labels_preference) scores.push_back("absent " + l);
  std::sort(filters.begin(), filters.end());
  std::sort(scores.begin(), scores.end());
  const auto affinity = rules.Args<configuration::InterPodAffinityArgs>(kInterPodAffinity);
  // The weight counts only where inter-pod affinity scores.
  return absl::StrCat(absl::StrJoin(filters, " "), " | ", absl::StrJoin(scores, " "), " | ",
                      rules.Has(ExtensionPoint::kScore, kInterPodAffinity) ? affinity.hard_pod_affinity_weight : 0);
}

// ---- random documents ----

std::string RandomPolicy(std::mt19937* random, std::vector<const char*> predicates, std::vector<const char*> priorities,
                         bool labels) {
  auto chance = [&](int percent) { return static_cast<int>((*random)() % 100) < percent; };
  std::vector<std::string> p, q;
  for (const char* name : predicates) {
    if (chance(60)) p.push_back(absl::StrCat("{\"name\":\"", name, "\"}"));
  }
  for (const char* name : priorities) {
    if (chance(60)) q.push_back(absl::StrCat("{\"name\":\"", name, "\",\"weight\":", 1 + (*random)() % 20, "}"));
  }
  for (int i = 0; labels && i < 3; ++i) {
    if (chance(40)) {
      p.push_back(absl::StrCat("{\"name\":\"own-", i, "\",\"argument\":{\"labelsPresence\":{\"labels\":[\"l", i,
                               "\"],\"presence\":", chance(50) ? "true" : "false", "}}}"));
    }
    if (chance(40)) {
      q.push_back(absl::StrCat("{\"name\":\"pref-", i, "\",\"weight\":", 1 + (*random)() % 4,
                               ",\"argument\":{\"labelPreference\":{\"label\":\"p", i,
                               "\",\"presence\":", chance(50) ? "true" : "false", "}}}"));
    }
  }
  return absl::StrCat("{\"kind\":\"Policy\",\"apiVersion\":\"v1\",\"predicates\":[", absl::StrJoin(p, ","),
                      "],\"priorities\":[", absl::StrJoin(q, ","),
                      "],\"hardPodAffinitySymmetricWeight\":", 1 + (*random)() % 100, "}");
}

const std::vector<const char*> kOldPredicates = {"PodFitsResources",     "HostName",
                                                 "PodFitsHostPorts",     "MatchNodeSelector",
                                                 "NoDiskConflict",       "MaxEBSVolumeCount",
                                                 "MaxGCEPDVolumeCount",  "MaxAzureDiskVolumeCount",
                                                 "CheckVolumeBinding",   "PodToleratesNodeTaints",
                                                 "NoVolumeZoneConflict", "MatchInterPodAffinity"};
const std::vector<const char*> kOldPriorities = {
    "SelectorSpreadPriority", "InterPodAffinityPriority", "LeastRequestedPriority", "BalancedResourceAllocation",
    "NodeAffinityPriority",   "TaintTolerationPriority",  "ImageLocalityPriority"};

constexpr char kPlain[] = R"({"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration"})";

}  // namespace

TEST_CASE("a Policy through a later release and back has the same rules") {
  std::mt19937 random(41);
  for (int i = 0; i < 60; ++i) {
    // PodToleratesNodeTaints is mandatory later, so a Policy without it comes back with it.
    std::string policy = RandomPolicy(&random, kOldPredicates, kOldPriorities, true);
    if (policy.find("PodToleratesNodeTaints") == std::string::npos) continue;
    const std::string meant = RulesOf(policy, "1.10");
    CHECK(RulesOf(Converted(Converted(policy, "1.13", "1.10").json, "1.10", "1.13").json, "1.10") == meant);
    CHECK(RulesOf(Converted(Converted(policy, "1.19", "1.10").json, "1.10", "1.19").json, "1.10") == meant);
    CHECK(RulesOf(Converted(policy, "1.10", "1.10").json, "1.10") == meant);
  }
}

TEST_CASE("a Policy through a release with profiles and back has the same rules") {
  std::mt19937 random(42);
  for (int i = 0; i < 60; ++i) {
    const std::string policy = RandomPolicy(&random, kOldPredicates, kOldPriorities, false);
    const std::string meant = RulesOf(policy, "1.10");
    CHECK(RulesOf(Converted(Converted(policy, "1.29", "1.10").json, "1.10", "1.29").json, "1.10") == meant);
  }
}

TEST_CASE("a configuration through a newer release and back has the same rules") {
  std::mt19937 random(43);
  const std::vector<const char*> filters = {"NodeName",   "NodePorts",          "NodeAffinity",    "NodeResourcesFit",
                                            "VolumeZone", "VolumeRestrictions", "TaintToleration", "PodTopologySpread"};
  const std::vector<const char*> scores = {"TaintToleration", "NodeAffinity",      "NodeResourcesFit",
                                           "ImageLocality",   "PodTopologySpread", "InterPodAffinity"};
  for (int i = 0; i < 60; ++i) {
    std::vector<std::string> off, on, none;
    for (const char* f : filters) {
      if (random() % 3 == 0) off.push_back(absl::StrCat("{\"name\":\"", f, "\"}"));
    }
    for (const char* s : scores) {
      none.push_back(absl::StrCat("{\"name\":\"", s, "\"}"));
      if (random() % 3 != 0) on.push_back(absl::StrCat("{\"name\":\"", s, "\",\"weight\":", 1 + random() % 9, "}"));
    }
    const std::string text = absl::StrCat(
        R"({"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[{"plugins":)",
        "{\"filter\":{\"disabled\":[", absl::StrJoin(off, ","), "]},\"score\":{\"disabled\":[",
        absl::StrJoin(none, ","), "],\"enabled\":[", absl::StrJoin(on, ","), "]}}}]}");
    const std::string same = Converted(text, "1.29", "1.29").json;
    CHECK(RulesOf(same, "1.29") == RulesOf(text, "1.29"));
    CHECK(Converted(same, "1.29", "1.29").json == same);
    // The limits of in-tree volumes are gone in between.
    std::string back = RulesOf(Converted(Converted(text, "1.36", "1.29").json, "1.29", "1.36").json, "1.29");
    std::string meant = RulesOf(text, "1.29");
    for (const char* gone : {"AzureDiskLimits ", "EBSLimits ", "GCEPDLimits "}) {
      meant.replace(meant.find(gone), std::string(gone).size(), "");
    }
    CHECK(back == meant);
  }
}

TEST_CASE("what is equal in both releases makes no notes") {
  CHECK(Subjects(Converted(kPlain, "1.29")) == "");
  CHECK(Converted(kPlain, "1.29").json ==
        R"({"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[)"
        R"({"schedulerName":"default-scheduler"}]})");
  const std::string older =
      R"({"apiVersion":"kubescheduler.config.k8s.io/v1beta3","kind":"KubeSchedulerConfiguration",)"
      R"("parallelism":8,"profiles":[{"schedulerName":"a","pluginConfig":[{"name":"NodeResourcesFit",)"
      R"("args":{"scoringStrategy":{"type":"MostAllocated","resources":[{"name":"cpu","weight":3}]}}}]}]})";
  const Conversion newer = Converted(older, "1.29");
  CHECK(Subjects(newer) == "");
  CHECK(newer.json.find("v1\"") != std::string::npos);
  CHECK(newer.json.find("\"parallelism\":8") != std::string::npos);
  CHECK(newer.json.find(R"("type":"MostAllocated","resources":[{"name":"cpu","weight":3}])") != std::string::npos);
}

TEST_CASE("what has no equal is noted") {
  auto policy = [](const std::string& priorities) {
    return absl::StrCat(
        R"({"kind":"Policy","apiVersion":"v1","predicates":[{"name":"GeneralPredicates"}],"priorities":[)", priorities,
        "]}");
  };
  const std::string always = "scores";
  auto subjects = [&](const std::string& priorities) {
    return Subjects(Converted(policy(priorities), "1.29", "1.10"));
  };
  CHECK(subjects(R"({"name":"NodePreferAvoidPodsPriority","weight":10000})").find("score: NodePreferAvoidPods") !=
        std::string::npos);
  CHECK(subjects(R"({"name":"SelectorSpreadPriority","weight":2})").find("score: SelectorSpread") != std::string::npos);
  CHECK(subjects(R"({"name":"LeastRequestedPriority","weight":1},{"name":"MostRequestedPriority","weight":3})")
            .find("score: NodeResourcesLeastAllocated and NodeResourcesMostAllocated") != std::string::npos);
  CHECK(subjects("").find(always) != std::string::npos);
  CHECK(subjects("").find("predicates: CheckNodeCondition") != std::string::npos);

  // The two by allocation become one with the difference of their weights.
  const std::string both =
      R"({"name":"LeastRequestedPriority","weight":1},{"name":"MostRequestedPriority","weight":3})";
  CHECK(RulesOf(Converted(policy(both), "1.29", "1.10").json, "1.29").find("| NodeResourcesMostAllocated=1 |") !=
        std::string::npos);

  const std::string extender =
      R"({"kind":"Policy","apiVersion":"v1","priorities":[],"extenders":[{"urlPrefix":"http://e","prioritizeVerb":"p",)"
      R"("weight":5,"httpTimeout":3000000000,"preemptVerb":"v","ignorable":true}]})";
  const Conversion extended = Converted(extender, "1.29", "1.13");
  CHECK(Subjects(extended).find("extender http://e weight") != std::string::npos);
  CHECK(extended.json.find(R"("extenders":[{"urlPrefix":"http://e","preemptVerb":"v","prioritizeVerb":"p","weight":5,)"
                           R"("httpTimeout":"3s","ignorable":true}])") != std::string::npos);
  CHECK(Subjects(Converted(extender, "1.10", "1.13"))
            .find("extender http://e preemptVerb; extender http://e ignorable") != std::string::npos);
}

TEST_CASE("a score by capacity without resources is left out where it scores nothing") {
  const std::string policy =
      R"({"kind":"Policy","predicates":[],"priorities":[{"name":"r1","weight":7,"argument":{)"
      R"("requestedToCapacityRatioArguments":{"shape":[{"utilization":0,"score":10},{"utilization":100,"score":0}])";
  const std::string without = policy + "}}}]}", with = policy + R"(,"resources":[{"name":"cpu","weight":2}]}}}]})";
  CHECK(RulesOf(Converted(without, "1.29", "1.13").json, "1.29").find("RequestedToCapacityRatio=1") !=
        std::string::npos);
  CHECK(Converted(without, "1.29", "1.19").json.find("RequestedToCapacityRatio") == std::string::npos);
  CHECK(Subjects(Converted(without, "1.29", "1.19")).find("score: RequestedToCapacityRatio") != std::string::npos);
  CHECK(RulesOf(Converted(with, "1.29", "1.19").json, "1.29").find("RequestedToCapacityRatio=1") != std::string::npos);
  // Weights of resources have no limit there.
  const Conversion scaled = Converted(
      policy + R"(,"resources":[{"name":"cpu","weight":1000},{"name":"memory","weight":250}]}}}]})", "1.29", "1.19");
  CHECK(scaled.json.find(R"("resources":[{"name":"cpu","weight":100},{"name":"memory","weight":25}])") !=
        std::string::npos);
  CHECK(Subjects(scaled).find("score: NodeResourcesFit resources") != std::string::npos);
}

TEST_CASE("labels of nodes become added affinity and back") {
  const std::string policy =
      R"({"kind":"Policy","apiVersion":"v1","predicates":[{"name":"GeneralPredicates"},{"name":"disks","argument":)"
      R"({"labelsPresence":{"labels":["ssd"],"presence":true}}}],"priorities":[]})";
  const Conversion made = Converted(policy, "1.29", "1.10");
  CHECK(made.json.find(R"("addedAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)"
                       R"({"matchExpressions":[{"key":"ssd","operator":"Exists"}]}]}})") != std::string::npos);
  CHECK(Converted(made.json, "1.19", "1.29").json.find(R"("presentLabels":["ssd"])") != std::string::npos);
}

TEST_CASE("a note says where a plugin is off") {
  // PodTopologySpread stays for SelectorSpread's sake, and only its filter is off.
  const Conversion made =
      Converted(R"({"kind":"Policy","apiVersion":"v1","predicates":[{"name":"HostName"}],"priorities":[)"
                R"({"name":"SelectorSpreadPriority","weight":1}]})",
                "1.29", "1.10");
  std::string spread, limits;
  for (const Note& n : made.notes) {
    if (n.subject == "PodTopologySpread") spread = n.text;
    if (n.subject == "NodeVolumeLimits") limits = n.text;
  }
  CHECK(spread.starts_with("off at filter, because the release of the source has no such rule"));
  CHECK(limits.starts_with("off, because the release of the source has no such rule"));
}

TEST_CASE("preferences for labels stay beside those of pods") {
  const std::string policy =
      R"({"kind":"Policy","apiVersion":"v1","predicates":[],"priorities":[{"name":"NodeAffinityPriority","weight":2},)"
      R"({"name":"ssd","weight":6,"argument":{"labelPreference":{"label":"ssd","presence":true}}}]})";
  const Conversion made = Converted(policy, "1.29", "1.10");
  CHECK(made.json.find(R"("preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{)"
                       R"("matchExpressions":[{"key":"ssd","operator":"Exists"}]}}])") != std::string::npos);
  CHECK(RulesOf(made.json, "1.29").find("NodeAffinity=") != std::string::npos);
  CHECK(made.json.find(R"({"name":"NodeAffinity","weight":6})") != std::string::npos);
  std::string text;
  for (const Note& n : made.notes) text += n.subject == "score: NodeLabel" ? n.text : "";
  CHECK(text.ends_with("with the weight 6 instead of 2"));
}

TEST_CASE("spreading over labels and over nodes becomes one list of constraints") {
  const std::string policy =
      R"({"kind":"Policy","apiVersion":"v1","predicates":[],"priorities":[{"name":"SelectorSpreadPriority","weight":2},)"
      R"({"name":"racks","weight":3,"argument":{"serviceAntiAffinity":{"label":"rack"}}}]})";
  const std::string json = Converted(policy, "1.29", "1.10").json;
  for (const char* key : {"kubernetes.io/hostname", "topology.kubernetes.io/zone", "rack"}) {
    CHECK(json.find(absl::StrCat("\"topologyKey\":\"", key, "\",\"whenUnsatisfiable\":\"ScheduleAnyway\"")) !=
          std::string::npos);
  }
  CHECK(json.find(R"("defaultingType":"List")") != std::string::npos);
  CHECK(json.find(R"({"name":"PodTopologySpread","weight":5})") != std::string::npos);
  // Alone, each is what it was.
  auto only = [&](const char* priority) {
    return Converted(absl::StrCat(R"({"kind":"Policy","predicates":[],"priorities":[)", priority, "]}"), "1.29", "1.10")
        .json;
  };
  CHECK(only(R"({"name":"SelectorSpreadPriority","weight":2})").find("defaultConstraints") == std::string::npos);
  CHECK(only(R"({"name":"r2","weight":3,"argument":{"serviceAntiAffinity":{"label":"rack"}}})").find("hostname") ==
        std::string::npos);
}

TEST_CASE("Policies of 1.8 and 1.9 are converted, there and back") {
  std::mt19937 random(44);
  std::vector<const char*> predicates = kOldPredicates;
  *std::find(predicates.begin(), predicates.end(), std::string_view("CheckVolumeBinding")) = "NoVolumeNodeConflict";
  for (int i = 0; i < 40; ++i) {
    const std::string of9 = RandomPolicy(&random, kOldPredicates, kOldPriorities, true);
    CHECK(RulesOf(Converted(Converted(of9, "1.10", "1.9").json, "1.9", "1.10").json, "1.9") == RulesOf(of9, "1.9"));
    const std::string of8 = RandomPolicy(&random, predicates, kOldPriorities, true);
    CHECK(RulesOf(Converted(Converted(of8, "1.10", "1.8").json, "1.8", "1.10").json, "1.8") == RulesOf(of8, "1.8"));
  }
  // A list that a Policy lacks is empty there, and DefaultProvider's from 1.10 on.
  CHECK(RulesOf(Converted(R"({"kind":"Policy"})", "1.10", "1.9").json, "1.10") == " |  | 0");
  const Conversion managed = Converted(
      R"({"kind":"Policy","extenders":[{"urlPrefix":"http://e","filterVerb":"f","managedResources":[{"name":"a.b/c"}]}]})",
      "1.9", "1.10");
  CHECK(Subjects(managed).find("extender http://e managedResources") != std::string::npos);
  CHECK(managed.json.find("managedResources") == std::string::npos);
}

TEST_CASE("versions that no emulated release reads, through a random profile, keep their plugins") {
  std::mt19937 random(45);
  const std::vector<const char*> scores = {"NodeAffinity", "TaintToleration", "ImageLocality", "InterPodAffinity"};
  for (int i = 0; i < 40; ++i) {
    std::vector<std::string> off, on;
    for (const char* s : scores) {
      off.push_back(absl::StrCat("{\"name\":\"", s, "\"}"));
      if (random() % 2 == 0) on.push_back(absl::StrCat("{\"name\":\"", s, "\",\"weight\":", 1 + random() % 9, "}"));
    }
    auto document = [&](const char* version) {
      return absl::StrCat(
          "{\"apiVersion\":\"kubescheduler.config.k8s.io/", version,
          "\",\"kind\":\"KubeSchedulerConfiguration\",\"profiles\":[{\"plugins\":{\"score\":{\"disabled\":[",
          absl::StrJoin(off, ","), "],\"enabled\":[", absl::StrJoin(on, ","), "]}}}]}");
    };
    CHECK(RulesOf(Converted(document("v1alpha2"), "1.19").json, "1.19") == RulesOf(document("v1beta1"), "1.19"));
    CHECK(RulesOf(Converted(document("v1beta2"), "1.29").json, "1.29").find(" | ") != std::string::npos);
    const std::string same = Converted(document("v1beta3"), "1.29").json;
    CHECK(Converted(same, "1.29").json == same);
  }
}

TEST_CASE("preemption is turned off beside a list of its own for what follows filters") {
  const std::string head =
      R"({"apiVersion":"kubescheduler.config.k8s.io/v1alpha2","kind":"KubeSchedulerConfiguration","disablePreemption":true,)"
      R"("profiles":[{"plugins":{"postFilter":)";
  for (const char* own : {R"({"disabled":[{"name":"*"}]})", R"({"disabled":[{"name":"DefaultPreemption"}]})",
                          R"({"enabled":[{"name":"DefaultPreemption"}]})", "{}", "null"}) {
    const std::string json = Converted(absl::StrCat(head, own, "}}]}"), "1.29").json;
    INFO(own << ": " << json);
    CHECK(json.find("\"DefaultPreemption\"") != std::string::npos);
    CHECK(json.find("\"enabled\":[{\"name\":\"DefaultPreemption\"") == std::string::npos);
    CHECK(json.find("postFilter") == json.rfind("postFilter"));
  }
}

TEST_CASE("versions that no emulated release reads are converted") {
  const Conversion alpha = Converted(
      R"({"apiVersion":"kubescheduler.config.k8s.io/v1alpha2","kind":"KubeSchedulerConfiguration","bindTimeoutSeconds":30,)"
      R"("disablePreemption":true,"profiles":[{"schedulerName":"a","plugins":{"score":{"disabled":[)"
      R"({"name":"DefaultPodTopologySpread"}]},"unreserve":{}}}]})",
      "1.19");
  CHECK(alpha.json.find(R"("postFilter":{"disabled":[{"name":"DefaultPreemption"}]})") != std::string::npos);
  CHECK(alpha.json.find(R"("disabled":[{"name":"SelectorSpread"}])") != std::string::npos);
  CHECK(alpha.json.find(R"("bindTimeoutSeconds":30)") != std::string::npos);
  CHECK(Subjects(alpha) == "plugins.unreserve; kubescheduler.config.k8s.io/v1alpha2");

  // v1beta2 had other weights by default.
  const Conversion beta = Converted(
      R"({"apiVersion":"kubescheduler.config.k8s.io/v1beta2","kind":"KubeSchedulerConfiguration","healthzBindAddress":"",)"
      R"("profiles":[{"pluginConfig":[{"name":"InterPodAffinity","args":{"apiVersion":)"
      R"("kubescheduler.config.k8s.io/v1beta2","kind":"InterPodAffinityArgs","hardPodAffinityWeight":7}}]}]})",
      "1.29");
  CHECK(RulesOf(beta.json, "1.29").find("InterPodAffinity=1 ") != std::string::npos);
  CHECK(RulesOf(beta.json, "1.29").find("TaintToleration=1") != std::string::npos);
  CHECK(RulesOf(beta.json, "1.29").ends_with("| 7"));
}

TEST_CASE("configurations that name an algorithm are converted with it") {
  const std::string alpha =
      R"({"apiVersion":"kubescheduler.config.k8s.io/v1alpha1","kind":"KubeSchedulerConfiguration","schedulerName":"mine",)"
      R"("algorithmSource":{"provider":"ClusterAutoscalerProvider"},"hardPodAffinitySymmetricWeight":9,)"
      R"("disablePreemption":true,"bindTimeoutSeconds":77,"leaderElection":{"lockObjectName":"lock"}})";
  const Conversion made = Converted(alpha, "1.29");
  CHECK(made.source.release->name == "1.13");
  CHECK(made.json.find(R"("schedulerName":"mine")") != std::string::npos);
  CHECK(made.json.find(R"("type":"MostAllocated")") != std::string::npos);
  CHECK(made.json.find(R"("hardPodAffinityWeight":9)") != std::string::npos);
  CHECK(made.json.find(R"("bindTimeoutSeconds":77)") != std::string::npos);
  CHECK(made.json.find(R"("resourceName":"lock")") != std::string::npos);
  CHECK(made.json.find(R"("percentageOfNodesToScore":50)") != std::string::npos);
  CHECK(Subjects(made).find("leaderElection.resourceLock endpoints") != std::string::npos);

  Options options;
  options.to = *release::Named("1.29");
  options.read_file = [](const std::string& path) -> absl::StatusOr<std::string> {
    if (path != "p.json") return util::InvalidArgument("no such file");
    return R"({"kind":"Policy","predicates":[{"name":"HostName"}],"priorities":[]})";
  };
  const std::string file = R"({"apiVersion":"componentconfig/v1alpha1","kind":"KubeSchedulerConfiguration",)"
                           R"("algorithmSource":{"policy":{"file":{"path":"p.json"}}}})";
  auto from_file = Convert(file, options);
  REQUIRE(from_file.ok());
  CHECK(from_file->source.release->name == "1.10");
  CHECK(RulesOf(from_file->json, "1.29") == "NodeName |  | 0");
}

TEST_CASE("a Policy is for the release that has its rules") {
  auto release_of = [](const char* predicate) {
    return std::string(
        Converted(absl::StrCat(R"({"kind":"Policy","predicates":[{"name":")", predicate, "\"}]}"), "1.29")
            .source.release->name);
  };
  CHECK(release_of("HostName") == "1.10");
  CHECK(release_of("CheckNodeUnschedulable") == "1.13");
  CHECK(release_of("EvenPodsSpread") == "1.19");
}

TEST_CASE("what cannot be converted is an error that says why") {
  CHECK(Refused("[]").find("must be a Policy or a configuration") != std::string::npos);
  CHECK(Refused(R"({"kind":"Pod","apiVersion":"v1"})").find("kind: \"Pod\": must be Policy or") != std::string::npos);
  CHECK(Refused(R"({"kind":"Policy","predicates":[{"name":"HostNam"}]})") ==
        "Invalid configuration: Predicate type not found for \"HostNam\" (did you mean \"HostName\"?)");
  CHECK(Refused(R"({"kind":"Policy","priorities":[{"name":"EqualPriority"}]})").find("positive weight") !=
        std::string::npos);
  CHECK(Refused(R"({"kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/v2"})")
            .find("v1alpha1, v1alpha2, v1beta1, v1beta2, v1beta3 or v1") != std::string::npos);
  CHECK(Refused(R"({"kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/v1","paralelism":1})")
            .find("unknown field \"paralelism\"") != std::string::npos);
  Options options;
  options.to = options.from = *release::Named("1.29");
  CHECK(util::Message(Convert(R"({"kind":"Policy"})", options).status()) ==
        "--from: release 1.29 has no Policies, and this is one");
}

}  // namespace berth::convert
