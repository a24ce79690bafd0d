// Tests registration and the schedulers that are built from it.
#include <absl/strings/str_join.h>

#include <catch2/catch.hpp>

#include "pkg/releases/v1_10/decides.h"
#include "pkg/scheduler/algorithm/nodename/nodename.h"
#include "pkg/scheduler/algorithm/noderesources/requested_to_capacity_ratio.h"
#include "pkg/scheduler/extender/http_extender.h"
#include "pkg/scheduler/factory/read_policy.h"
#include "pkg/scheduler/registry/registry.h"
#include "pkg/scheduler/testing/world.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

using testing::Cat;
using testing::NodeOf;
using testing::Outcome;
using testing::PodOf;
using testing::World;

std::string Mistake(const absl::StatusOr<std::unique_ptr<GenericScheduler>>& made) {
  return made.ok() ? "none" : util::Message(made.status());
}
std::string PolicyMistake(World& w, std::string_view text, SchedulerGates gates = {}) {
  FactoryArgs args = w.Args();
  args.gates = gates;
  return Mistake(CreateFromConfig(DecodePolicy(std::string_view(testing::Quoted(text))).value(), args));
}
EffectiveAlgorithm Effective(World& w, const char* provider, SchedulerGates gates = {}) {
  EffectiveAlgorithm out;
  FactoryArgs args = w.Args();
  args.gates = gates;
  REQUIRE(CreateFromProvider(provider, args, &out).ok());
  return out;
}
std::string Weights(const EffectiveAlgorithm& e) {
  std::string out;
  for (const auto& [name, weight] : e.priorities) out += Cat(out.empty() ? "" : " ", name, "=", std::to_string(weight));
  return out;
}

constexpr char kProviderPredicates[] =
    "CheckNodeCondition GeneralPredicates NoDiskConflict PodToleratesNodeTaints MaxEBSVolumeCount MaxGCEPDVolumeCount "
    "MaxAzureDiskVolumeCount CheckVolumeBinding NoVolumeZoneConflict CheckNodeMemoryPressure CheckNodeDiskPressure "
    "MatchInterPodAffinity";

PerNodePredicate Named(const char* node) {
  return [node](const api::Pod&, const NodeInfo& info) {
    PredicateResult r;
    r.fit = info.node()->meta.name == node;
    return r;
  };
}
Registry WithPredicate(std::string_view name, FitPredicate predicate) {
  Registry r = FrozenRegistry(releases::v1_10::Decides());
  REQUIRE(r.AddPredicate(name, [predicate](const PluginFactoryArgs&) { return predicate; }).ok());
  return r;
}

}  // namespace

TEST_CASE("names of algorithms") {
  for (const char* good : {"ab", "A1", "1a", "a-b", "a--b", "Z9z"}) {
    INFO(good);
    CHECK(Registry::CheckName(good).ok());
  }
  for (const char* bad : {"", "a", "-ab", "ab-", "a_b", "a.b", "a b",
                          "\xc3\xa4"
                          "b"}) {
    INFO(bad);
    CHECK(util::Message(Registry::CheckName(bad)) ==
          Cat("Algorithm name ", bad,
              " does not match the name validation regexp \"^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])$\"."));
  }
  Registry r;
  CHECK(!r.AddPredicate("x", nodename::HostName).ok());
  CHECK(!r.AddPriority("x_", nullptr, 1).ok());
  CHECK(!r.AddProvider("x", {}).ok());
  CHECK(r.predicates().empty());
}

TEST_CASE("DefaultProvider and ClusterAutoscalerProvider: what they run") {
  World w;
  EffectiveAlgorithm e = Effective(w, "DefaultProvider");
  CHECK(absl::StrJoin(e.predicates, " ") == kProviderPredicates);
  CHECK(Weights(e) ==
        "BalancedResourceAllocation=1 InterPodAffinityPriority=1 LeastRequestedPriority=1 NodeAffinityPriority=1 "
        "NodePreferAvoidPodsPriority=10000 SelectorSpreadPriority=1 TaintTolerationPriority=1");
  CHECK(e.mandatory.empty());  // CheckNodeCondition is in the Policy itself
  EffectiveAlgorithm a = Effective(w, "ClusterAutoscalerProvider");
  CHECK(absl::StrJoin(a.predicates, " ") == kProviderPredicates);
  CHECK(Weights(a) ==
        "BalancedResourceAllocation=1 InterPodAffinityPriority=1 MostRequestedPriority=1 NodeAffinityPriority=1 "
        "NodePreferAvoidPodsPriority=10000 SelectorSpreadPriority=1 TaintTolerationPriority=1");
  CHECK(ListAlgorithmProviders(releases::v1_10::Decides()) == "ClusterAutoscalerProvider | DefaultProvider");
  CHECK(Mistake(CreateFromProvider("TalkintDataProvider", w.Args())) ==
        "plugin \"TalkintDataProvider\" has not been registered");
}

TEST_CASE("what is registered") {
  auto predicates = ListRegisteredFitPredicates(releases::v1_10::Decides());
  for (const char* name :
       {"CheckNodeCondition", "CheckNodeDiskPressure", "CheckNodeMemoryPressure", "CheckVolumeBinding",
        "CheckNodePIDPressure", "CheckNodeUnschedulable", "GeneralPredicates", "HostName", "MatchInterPodAffinity",
        "MatchNodeSelector", "MaxAzureDiskVolumeCount", "MaxEBSVolumeCount", "MaxGCEPDVolumeCount", "NoDiskConflict",
        "NoVolumeZoneConflict", "PodFitsHostPorts", "PodFitsPorts", "PodFitsResources", "PodToleratesNodeTaints"}) {
    INFO(name);
    CHECK(IsFitPredicateRegistered(releases::v1_10::Decides(), name));
    CHECK(std::find(predicates.begin(), predicates.end(), name) != predicates.end());
  }
  for (const char* name :
       {"PodToleratesNodeNoExecuteTaints", "NoVolumeNodeConflict", "CheckServiceAffinity", "CheckNodeLabelPresence"}) {
    INFO(name);
    CHECK(!IsFitPredicateRegistered(releases::v1_10::Decides(), name));
  }
  for (const char* name : {"BalancedResourceAllocation", "EqualPriority", "ImageLocalityPriority",
                           "InterPodAffinityPriority", "LeastRequestedPriority", "MostRequestedPriority",
                           "NodeAffinityPriority", "NodePreferAvoidPodsPriority", "RequestedToCapacityRatioPriority",
                           "SelectorSpreadPriority", "ServiceSpreadingPriority", "TaintTolerationPriority"}) {
    INFO(name);
    CHECK(IsPriorityFunctionRegistered(releases::v1_10::Decides(), name));
  }
  CHECK(!IsPriorityFunctionRegistered(releases::v1_10::Decides(), "ResourceLimitsPriority"));
  CHECK(RegisteredAlgorithms(releases::v1_10::Decides()).mandatory().contains("CheckNodeCondition"));
}

TEST_CASE("the fixed order of predicates") {
  std::string order;
  for (std::string_view key : releases::v1_10::Decides().predicate_ordering)
    order += Cat(order.empty() ? "" : " ", key);
  CHECK(order ==
        "CheckNodeCondition CheckNodeUnschedulable GeneralPredicates HostName PodFitsHostPorts MatchNodeSelector "
        "PodFitsResources NoDiskConflict PodToleratesNodeTaints PodToleratesNodeNoExecuteTaints CheckNodeLabelPresence "
        "CheckServiceAffinity MaxEBSVolumeCount MaxGCEPDVolumeCount MaxCSIVolumeCountPred MaxAzureDiskVolumeCount "
        "MaxCinderVolumeCount CheckVolumeBinding "
        "NoVolumeZoneConflict CheckNodeMemoryPressure CheckNodePIDPressure CheckNodeDiskPressure EvenPodsSpread "
        "MatchInterPodAffinity");
}

TEST_CASE("gate TaintNodesByCondition") {
  World w;
  SchedulerGates gates;
  gates.taint_nodes_by_condition = true;
  EffectiveAlgorithm e = Effective(w, "DefaultProvider", gates);
  CHECK(absl::StrJoin(e.predicates, " ") == std::string(kProviderPredicates).substr(sizeof("CheckNodeCondition")));
  CHECK(PolicyMistake(w, "{'predicates':[{'name':'CheckNodeCondition'}]}", gates) ==
        "Invalid configuration: Predicate type not found for CheckNodeCondition");
  // The gate makes PodToleratesNodeTaints mandatory, and nothing else rejects cordoned nodes.
  w.Nodes({NodeOf("a", "", "'unschedulable':true"), NodeOf("b", "", "'taints':[{'key':'k','effect':'NoSchedule'}]")});
  FactoryArgs args = w.Args();
  args.gates = gates;
  auto s = CreateFromConfig(DecodePolicy(std::string_view("{\"predicates\":[]}")).value(), args, &e).value();
  CHECK(e.mandatory == std::vector<std::string>{"PodToleratesNodeTaints"});
  CHECK(Outcome(s->Schedule(PodOf("p"))) == "a");
}

TEST_CASE("gate ResourceLimitsPriorityFunction") {
  World w;
  SchedulerGates gates;
  const char* policy = "{'priorities':[{'name':'ResourceLimitsPriority','weight':1}]}";
  CHECK(PolicyMistake(w, policy) == "Invalid configuration: Priority type not found for ResourceLimitsPriority");
  gates.resource_limits_priority_function = true;
  CHECK(PolicyMistake(w, policy, gates) == "none");
  CHECK(Effective(w, "DefaultProvider", gates).priorities.size() == 7);
}

TEST_CASE("gate VolumeScheduling off: volume binding checks nothing") {
  World w;
  w.Nodes({NodeOf("a")});
  w.Claim("c", "");
  FactoryArgs args = w.Args();
  args.gates.algorithm.volume_scheduling = false;
  auto pod = PodOf("p", "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]");
  CHECK(Outcome(CreateFromProvider("DefaultProvider", args).value()->Schedule(pod)) == "a");
  CHECK(Outcome(w.Provider()->Schedule(pod)) == "pod has unbound PersistentVolumeClaims");
}

TEST_CASE("CreateFromKeys: every unknown name at once, weights, the range of the hard weight") {
  World w;
  CHECK(Mistake(CreateFromKeys({"Nothing", "HostName"}, {"Neither"}, w.Args())) ==
        "[Invalid predicate name \"Nothing\" specified - no corresponding function found, "
        "Invalid priority name Neither specified - no corresponding function found]");
  CHECK(Mistake(CreateFromKeys({}, {"Neither"}, w.Args())) ==
        "Invalid priority name Neither specified - no corresponding function found");
  for (int weight : {0, 101, -1}) {
    FactoryArgs args = w.Args();
    args.hard_pod_affinity_symmetric_weight = weight;
    CHECK(Mistake(CreateFromKeys({}, {}, args)) ==
          Cat("invalid hardPodAffinitySymmetricWeight: ", std::to_string(weight), ", must be in the range 1-100"));
  }
  for (int weight : {1, 100}) {
    FactoryArgs args = w.Args();
    args.hard_pod_affinity_symmetric_weight = weight;
    CHECK(Mistake(CreateFromKeys({}, {}, args)) == "none");
  }
  EffectiveAlgorithm e;
  REQUIRE(CreateFromKeys({}, {}, w.Args(), &e).ok());
  CHECK(e.predicates == std::vector<std::string>{"CheckNodeCondition"});
  CHECK(e.mandatory == std::vector<std::string>{"CheckNodeCondition"});
}

TEST_CASE("an argument reaches the factory of a registered rule as it stands in the file") {
  World w;
  Registry registry = FrozenRegistry(releases::v1_10::Decides());
  std::string seen;
  auto remember = [&seen](const PluginFactoryArgs& args) {
    seen += args.arguments;
    if (args.arguments == "{\"limit\":0}") args.problems->push_back("limit: 0: must be 1 or more");
    return nodename::HostName(args);
  };
  REQUIRE(registry.AddPredicate("Mine", remember).ok());
  FactoryArgs args = w.Args();
  args.registry = &registry;
  auto build = [&](const char* policy) {
    return Mistake(CreateFromConfig(DecodePolicy(std::string_view(testing::Quoted(policy))).value(), args));
  };
  CHECK(build("{'predicates':[{'name':'Mine','argument':{'limit':3}}]}") ==
        "Exactly 1 predicate argument is required, numArgs: 0, Predicate: Mine");
  registry.LetPredicateTakeArguments("Mine");
  CHECK(build("{'predicates':[{'name':'Mine','argument':{'limit':3}}]}") == "none");
  CHECK(seen == "{\"limit\":3}");
  CHECK(build("{'predicates':[{'name':'Mine','argument':{'limit':0}}]}") ==
        "Predicate Mine: argument: limit: 0: must be 1 or more");
  seen.clear();
  CHECK(build("{'predicates':[{'name':'Mine'}]}") == "none");
  CHECK(seen.empty());
}

TEST_CASE("predicates that later Policies name") {
  World w;
  w.Nodes({NodeOf("a", "", "'unschedulable':true"),
           NodeOf("b", "", "", "'cpu':'4','memory':'8Gi','pods':'10'",
                  "'conditions':[{'type':'Ready','status':'True'},{'type':'PIDPressure','status':'True'}]")});
  SchedulerGates gates;
  gates.taint_nodes_by_condition = true;  // otherwise CheckNodeCondition is mandatory
  auto outcome = [&](const char* predicates, const api::PodPtr& pod) {
    FactoryArgs args = w.Args();
    args.gates = gates;
    std::string policy = Cat("{'predicates':[", predicates, "]}");
    return Outcome(
        CreateFromConfig(DecodePolicy(std::string_view(testing::Quoted(policy))).value(), args).value()->Schedule(pod));
  };
  CHECK(outcome("{'name':'CheckNodeUnschedulable'}", PodOf("p")) == "b");
  CHECK(outcome("{'name':'CheckNodePIDPressure'}", PodOf("p")) == "a");
  CHECK(outcome("{'name':'CheckNodeUnschedulable'},{'name':'CheckNodePIDPressure'}", PodOf("p")) ==
        "0/2 nodes are available: 1 node(s) had pid pressure, 1 node(s) were unschedulable.");
  CHECK(outcome("{'name':'CheckNodeUnschedulable'},{'name':'CheckNodePIDPressure'}",
                PodOf("p", "'tolerations':[{'key':'node.kubernetes.io/unschedulable','operator':'Exists'}]")) == "a");
}

TEST_CASE("RequestedToCapacityRatio draws a line through the points of its shape") {
  using noderesources::ScoreAt;
  std::vector<noderesources::ScoringFunction::Point> shape = {{0, 0}, {70, 10}, {100, 3}};
  CHECK(ScoreAt(shape, 0) == 0);
  CHECK(ScoreAt(shape, 35) == 5);
  CHECK(ScoreAt(shape, 70) == 10);
  CHECK(ScoreAt(shape, 85) == 7);  // 10 - 3.5, truncated
  CHECK(ScoreAt(shape, 100) == 3);
  CHECK(ScoreAt({{20, 4}, {80, 8}}, 10) == 4);
  CHECK(ScoreAt({{20, 4}, {80, 8}}, 90) == 8);
  World w;
  CHECK(PolicyMistake(w,
                      "{'priorities':[{'name':'Packed','weight':1,'argument':{'requestedToCapacityRatioArguments':"
                      "{'shape':[{'utilization':0,'score':0},{'utilization':100,'score':10}]}}},"
                      "{'name':'RequestedToCapacityRatioPriority','weight':1}]}") == "none");
}

TEST_CASE("names near a registered one get a suggestion") {
  World w;
  CHECK(PolicyMistake(w, "{'priorities':[{'name':'LeastRequested','weight':1}]}") ==
        "Invalid configuration: Priority type not found for LeastRequested (did you mean \"LeastRequestedPriority\"?)");
  CHECK(Mistake(CreateFromProvider("DefaultProvidr", w.Args())) ==
        "plugin \"DefaultProvidr\" has not been registered (did you mean \"DefaultProvider\"?)");
  CHECK(Mistake(CreateFromKeys({"PodFitResources"}, {}, w.Args())) ==
        "Invalid predicate name \"PodFitResources\" specified - no corresponding function found (did you mean "
        "\"PodFitsResources\"?)");
}

TEST_CASE("a Policy that cannot be read is reported with all of its mistakes") {
  auto policy = ReadPolicy(
      std::string_view(testing::Quoted("{'predicates':[{'name':'One'}],'priorities':[{'name':'Two','weight':0}],"
                                       "'extenders':[{'urlPrefix':'http://x','httpTimeout':'5s'}]}")),
      releases::v1_10::Decides(), SchedulerGates());
  CHECK(util::Message(policy.status()) ==
        "[line 1, column 124: extenders[0].httpTimeout: \"5s\": must be a whole number, without quotes, "
        "Priority Two should have a positive weight applied to it or it has overflown, "
        "Invalid configuration: Predicate type not found for One, "
        "Invalid configuration: Priority type not found for Two]");
  policy = ReadPolicy(std::string_view("{\"predicates\":[{\"name\":\"One\"}]}"), releases::v1_10::Decides(),
                      SchedulerGates());
  CHECK(policy.ok());
}

TEST_CASE("a mistake hides none of those beside it in one entry, and causes no other") {
  auto message = [](const char* text) {
    return util::Message(
        ReadPolicy(std::string_view(testing::Quoted(text)), releases::v1_10::Decides(), SchedulerGates()).status());
  };
  CHECK(message("{'extenders':[{'urlPrefix':'ftp://x','prioritizeVerb':'p','weight':-2,'httpTimeout':'5s',"
                "'managedResources':[{'name':'cpu'},{'name':7},{'name':8}],"
                "'tlsConfig':{'CertData':'?','KeyData':'eA=='}}]}") ==
        "[line 1, column 85: extenders[0].httpTimeout: \"5s\": must be a whole number, without quotes, "
        "line 1, column 133: extenders[0].managedResources[1].name: 7: must be a string, "
        "line 1, column 144: extenders[0].managedResources[2].name: 8: must be a string, "
        "line 1, column 172: extenders[0].tlsConfig.CertData: \"?\": must be base64, "
        "Priority for extender ftp://x should have a positive weight applied to it, "
        "cpu is an invalid extended resource name, "
        "extender: urlPrefix \"ftp://x\" is not a URL: it should begin with http:// or https://]");
  CHECK(message("{'extenders':[{'urlPrefix':5,'httpTimeout':'5s'}]}") ==
        "[line 1, column 28: extenders[0].urlPrefix: 5: must be a string, "
        "line 1, column 44: extenders[0].httpTimeout: \"5s\": must be a whole number, without quotes]");
  CHECK(message("{'priorities':[{'name':'One','weight':'3'},{'name':'Two','weight':0,'argument':7}],"
                "'predicates':[{'name':'Three','argument':[]},{'name':'PodFitsHost'}]}") ==
        "[line 1, column 39: priorities[0].weight: \"3\": must be a whole number, without quotes, "
        "line 1, column 80: priorities[1].argument: 7: must be an object, "
        "line 1, column 125: predicates[0].argument: []: must be an object, "
        "Priority Two should have a positive weight applied to it or it has overflown, "
        "Invalid configuration: Predicate type not found for PodFitsHost (did you mean \"PodFitsHostPorts\"?), "
        "Invalid configuration: Priority type not found for One]");
  // A Policy that can be read is checked only when a scheduler is built from it.
  World w;
  FactoryArgs args = w.Args();
  args.make_extender = [](const ExtenderConfig& c) { return NewHttpExtender(c); };
  auto policy = ReadPolicy(
      std::string_view(testing::Quoted("{'extenders':[{'urlPrefix':'ftp://x','prioritizeVerb':'p','httpTimeout':-5}],"
                                       "'hardPodAffinitySymmetricWeight':500}")),
      releases::v1_10::Decides(), SchedulerGates());
  REQUIRE(policy.ok());
  CHECK(Mistake(CreateFromConfig(*policy, std::move(args))) ==
        "[Priority for extender ftp://x should have a positive weight applied to it, "
        "extender: urlPrefix \"ftp://x\" is not a URL: it should begin with http:// or https://, "
        "extender ftp://x: httpTimeout: -5 is negative; it should be a number of nanoseconds, "
        "invalid hardPodAffinitySymmetricWeight: 500, must be in the range 1-100]");
}

TEST_CASE("CreateFromConfig: absent lists are DefaultProvider's, all mistakes at once") {
  World w;
  EffectiveAlgorithm e;
  REQUIRE(CreateFromConfig(Policy(), w.Args(), &e).ok());
  CHECK(absl::StrJoin(e.predicates, " ") == kProviderPredicates);
  CHECK(e.priorities.size() == 7);
  CHECK(PolicyMistake(w,
                      "{'predicates':[{'name':'One'},{'name':'Two','argument':{}},{'name':'x','argument':"
                      "{'labelsPresence':{'labels':['l']}}}],'priorities':[{'name':'Three','weight':0},"
                      "{'name':'Four','weight':1,'argument':{'labelPreference':{'label':'l'},'serviceAntiAffinity':{'"
                      "label':'l'}}}]}") ==
        "[Priority Three should have a positive weight applied to it or it has overflown, "
        "Invalid configuration: Predicate type not found for One, "
        "Exactly 1 predicate argument is required, numArgs: 0, Predicate: Two, "
        "Algorithm name x does not match the name validation regexp \"^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])$\"., "
        "Invalid configuration: Priority type not found for Three, "
        "Exactly 1 priority argument is required, numArgs: 2, Priority: Four]");
  CHECK(PolicyMistake(w, "{'hardPodAffinitySymmetricWeight':101}") ==
        "invalid hardPodAffinitySymmetricWeight: 101, must be in the range 1-100");
  CHECK(PolicyMistake(w, "{'hardPodAffinitySymmetricWeight':5000000000}") != "none");
  CHECK(PolicyMistake(w, "{'hardPodAffinitySymmetricWeight':0}") == "none");
  CHECK(PolicyMistake(w,
                      "{'priorities':[{'name':'EqualPriority','weight':922337203685477579},"
                      "{'name':'LeastRequestedPriority','weight':922337203685477579}]}") ==
        "Total priority of priority functions has overflown");
  CHECK(PolicyMistake(w, "{'extenders':[{'urlPrefix':'http://x'}]}") ==
        "extender http://x: extenders cannot be called from here");
}

TEST_CASE("a Policy's weights replace the registered ones, and of duplicates the last counts") {
  World w;
  EffectiveAlgorithm e;
  auto policy = [](const char* text) { return DecodePolicy(std::string_view(testing::Quoted(text))).value(); };
  REQUIRE(CreateFromConfig(policy("{'priorities':[{'name':'NodePreferAvoidPodsPriority','weight':2},"
                                  "{'name':'EqualPriority','weight':3},{'name':'EqualPriority','weight':4}]}"),
                           w.Args(), &e)
              .ok());
  CHECK(Weights(e) == "EqualPriority=4 NodePreferAvoidPodsPriority=2");
}

TEST_CASE("an argument under a known name replaces that predicate, in this scheduler only") {
  World w;
  w.Nodes({NodeOf("a"), NodeOf("b", "'x':'1'")});
  auto s = w.FromPolicy(
      "{'predicates':[{'name':'HostName','argument':{'labelsPresence':{'labels':['x'],'presence':true}}}],'priorities':"
      "[]}");
  CHECK(Outcome(s->Schedule(PodOf("p", "'nodeName':'a'"))) == "b");
  auto plain = w.FromPolicy("{'predicates':[{'name':'HostName'}],'priorities':[]}");
  CHECK(Outcome(plain->Schedule(PodOf("p", "'nodeName':'a'"))) == "a");
}

TEST_CASE("policies of 1.0 to 1.9 are accepted") {
  World w;
  const char* predicates =
      "{'name':'MatchNodeSelector'},{'name':'PodFitsResources'},{'name':'PodFitsPorts'},{'name':'PodFitsHostPorts'},"
      "{'name':'HostName'},{'name':'NoDiskConflict'},{'name':'NoVolumeZoneConflict'},{'name':'MaxEBSVolumeCount'},"
      "{'name':'MaxGCEPDVolumeCount'},{'name':'MaxAzureDiskVolumeCount'},{'name':'PodToleratesNodeTaints'},"
      "{'name':'CheckNodeMemoryPressure'},{'name':'CheckNodeDiskPressure'},{'name':'CheckNodeCondition'},"
      "{'name':'MatchInterPodAffinity'},{'name':'GeneralPredicates'},{'name':'CheckVolumeBinding'},"
      "{'name':'TestServiceAffinity','argument':{'serviceAffinity':{'labels':['region']}}},"
      "{'name':'TestLabelsPresence','argument':{'labelsPresence':{'labels':['foo'],'presence':true}}}";
  const char* priorities =
      "{'name':'EqualPriority','weight':2},{'name':'ImageLocalityPriority','weight':2},"
      "{'name':'LeastRequestedPriority','weight':2},{'name':'BalancedResourceAllocation','weight':2},"
      "{'name':'SelectorSpreadPriority','weight':2},{'name':'ServiceSpreadingPriority','weight':2},"
      "{'name':'NodePreferAvoidPodsPriority','weight':2},{'name':'NodeAffinityPriority','weight':2},"
      "{'name':'TaintTolerationPriority','weight':2},{'name':'InterPodAffinityPriority','weight':2},"
      "{'name':'MostRequestedPriority','weight':2},"
      "{'name':'TestServiceAntiAffinity','weight':3,'argument':{'serviceAntiAffinity':{'label':'zone'}}},"
      "{'name':'TestLabelPreference','weight':4,'argument':{'labelPreference':{'label':'bar','presence':true}}}";
  CHECK(PolicyMistake(w, Cat("{'kind':'Policy','apiVersion':'v1','predicates':[", predicates, "],'priorities':[",
                             priorities, "]}")) == "none");
  CHECK(PolicyMistake(w, "{'predicates':[{'name':'NoVolumeNodeConflict'}]}") ==
        "Invalid configuration: Predicate type not found for NoVolumeNodeConflict (did you mean "
        "\"NoVolumeZoneConflict\"?)");
  // The letter case of names matters.
  CHECK(PolicyMistake(w, "{'predicates':[{'name':'hostname'}]}") ==
        "Invalid configuration: Predicate type not found for hostname (did you mean \"HostName\"?)");
}

TEST_CASE("the registry is frozen once a scheduler was built, and copies of it are copies") {
  World w;
  REQUIRE(w.Provider() != nullptr);
  CHECK(util::Message(InsertPredicateKeyToAlgoProvider("DefaultProvider", "HostName")) ==
        "the registry is frozen: a scheduler has been built already");
  CHECK(!RemovePredicateKeyFromAlgoProvider("DefaultProvider", "GeneralPredicates").ok());
  CHECK(!InsertPriorityKeyToAlgoProvider("DefaultProvider", "EqualPriority").ok());
  Registry copy = FrozenRegistry(releases::v1_10::Decides());
  copy.RemovePredicate("GeneralPredicates");
  copy.InsertPredicateKeyEverywhere("HostName");
  copy.mutable_priorities().clear();
  CHECK(IsFitPredicateRegistered(releases::v1_10::Decides(), "GeneralPredicates"));
  CHECK(absl::StrJoin(Effective(w, "DefaultProvider").predicates, " ") == kProviderPredicates);
  FactoryArgs args = w.Args();
  args.registry = &copy;
  CHECK(Mistake(CreateFromProvider("DefaultProvider", args)).find("Invalid predicate name \"GeneralPredicates\"") !=
        std::string::npos);
}

TEST_CASE("Registry: mandatory predicates, removal, providers") {
  Registry r;
  releases::v1_10::Decides().register_algorithms(&r);
  CHECK(r.mandatory() == std::set<std::string, std::less<>>{"CheckNodeCondition"});
  r.RemovePredicate("CheckNodeCondition");
  r.RemovePredicate("nobody knows this");
  CHECK(r.mandatory().empty());
  CHECK(r.MutableProvider("nobody") == nullptr);
  r.InsertPredicateKeyEverywhere("HostName");
  CHECK(r.providers().at("DefaultProvider").predicates.contains("HostName"));
  CHECK(r.providers().at("ClusterAutoscalerProvider").predicates.contains("HostName"));
  r.RemovePredicateKeyEverywhere("HostName");
  CHECK(!r.providers().at("DefaultProvider").predicates.contains("HostName"));
  CHECK(!r.providers().at("ClusterAutoscalerProvider").predicates.contains("HostName"));
  REQUIRE(r.AddPredicate("Mine", nodename::HostName, {}, true).ok());
  CHECK(r.mandatory().contains("Mine"));
}

TEST_CASE("a per-node predicate under a new name runs") {
  World w;
  w.Nodes({NodeOf("a"), NodeOf("b"), NodeOf("c")});
  Registry r = WithPredicate("OnlyB", FromPerNode("OnlyB", Named("b")));
  FactoryArgs args = w.Args();
  args.registry = &r;
  auto s = CreateFromKeys({"OnlyB", "GeneralPredicates"}, {}, args).value();
  CHECK(Outcome(s->Schedule(PodOf("p"))) == "b");
  w.cache.RemoveNode("b");
  CHECK(Outcome(s->Schedule(PodOf("p"))) == "0/2 nodes are available: 2 node(s) didn't satisfy predicate OnlyB.");
  CHECK(Outcome(w.Provider()->Schedule(PodOf("p"))) == "c");  // other schedulers are not affected
}

TEST_CASE("per-node predicates: reasons, errors, and whether preemption can help") {
  World w;
  w.Nodes({NodeOf("a", "", "", "'cpu':'1','pods':'9'")});
  w.Place(PodOf("there", testing::Cat(testing::Asks("'cpu':'300m','memory':'5','example.com/x':'2'"), ",'priority':1")),
          "a");
  PredicateResult answer;
  Resource requested, nonzero;
  Registry r = WithPredicate("Mine", FromPerNode("Mine", [&](const api::Pod&, const NodeInfo& info) {
                               requested = info.requested();
                               nonzero = info.nonzero_request();
                               return answer;
                             }));
  FactoryArgs args = w.Args(true);
  args.registry = &r;
  auto s = CreateFromKeys({"Mine"}, {}, args).value();
  auto pod = PodOf("p", "'priority':9");
  CHECK(Outcome(s->Schedule(pod)) == "a");
  CHECK(requested.milli_cpu == 300);
  CHECK(requested.memory == 5);
  CHECK(requested.Scalar(util::Symbol("example.com/x")) == 2);
  CHECK(nonzero.milli_cpu == 300);
  CHECK(nonzero.memory == 5);
  answer.fit = false;
  answer.reasons = {"too blue", "too round"};
  auto unfit = CreateFromKeys({"Mine"}, {}, args).value();
  Decision d = unfit->Schedule(pod);
  CHECK(d.error == "0/1 nodes are available: 1 too blue, 1 too round.");
  CHECK(unfit->Preempt(pod, *d.failures).nominated_to_clear.empty());  // tried, but without success
  answer.unresolvable = true;
  auto hopeless = CreateFromKeys({"Mine"}, {}, args).value();
  d = hopeless->Schedule(pod);
  CHECK(hopeless->Preempt(pod, *d.failures).nominated_to_clear.size() == 1);
  answer.error = "broken";
  auto broken = CreateFromKeys({"Mine"}, {}, args).value();
  CHECK(Outcome(broken->Schedule(pod)) == "broken");
}

TEST_CASE("map and reduce written per node") {
  World w;
  w.Nodes({NodeOf("a"), NodeOf("bb"), NodeOf("ccc")});
  auto length = [](const api::Pod&, const NodeInfo& info) -> absl::StatusOr<int64_t> {
    return static_cast<int64_t>(info.node()->meta.name.size());
  };
  auto reverse = [](const api::Pod&, std::vector<HostPriority>* list) {
    for (HostPriority& h : *list) h.score = 10 - h.score;
    return absl::OkStatus();
  };
  auto broken = [](const api::Pod&, const NodeInfo&) -> absl::StatusOr<int64_t> { return util::Internal("no scale"); };
  Registry r = FrozenRegistry(releases::v1_10::Decides());
  auto add = [&](const char* name, PriorityFunction f, int64_t weight) {
    REQUIRE(r.AddPriority(
                 name, [f](const PluginFactoryArgs&) { return f; }, weight)
                .ok());
  };
  add("Long", FromMapReduce(length), 2);
  add("Short", FromMapReduce(length, reverse), 3);
  add("Broken", FromMapReduce(broken), 1);
  FactoryArgs args = w.Args();
  args.registry = &r;
  DecisionTrace trace;
  CHECK(Outcome(CreateFromKeys({}, {"Long", "Short"}, args)
                    .value()
                    ->Schedule(PodOf("p"), DecisionMode::kReference, &trace)) == "a");
  CHECK(trace.totals == std::vector<int64_t>{2 + 27, 4 + 24, 6 + 21});
  CHECK(Outcome(CreateFromKeys({}, {"Long"}, args).value()->Schedule(PodOf("p"))) == "ccc");
  CHECK(Outcome(CreateFromKeys({}, {"Broken", "Long"}, args).value()->Schedule(PodOf("p"))) ==
        "[no scale, no scale, no scale]");
}

}  // namespace berth::scheduler
