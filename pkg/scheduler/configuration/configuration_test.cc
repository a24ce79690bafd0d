#include "pkg/api/stream.h"
#include "pkg/releases/v1_29/decides.h"
#include "pkg/scheduler/configuration/decode.h"
#include "pkg/scheduler/configuration/load.h"

namespace berth::scheduler::configuration {
namespace {

using Texts = std::vector<std::string>;

constexpr char kHead[] = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
constexpr char kBeta[] = "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n";

LoadedConfiguration LoadText(const std::string& text, const Gates& gates = {}) {
  auto document = api::ReadDocument(text);
  REQUIRE(document.ok());
  return Load(document->root(), releases::v1_29::Plugins(), gates);
}

// Returns the texts of all problems, without hints, of a document with these members.
Texts Wrong(const std::string& body, const Gates& gates = {}) {
  Texts texts;
  for (const Problem& p : LoadText(kHead + body, gates).problems) texts.push_back(p.text);
  return texts;
}

// Returns the same for the plugins of a profile, without the prefix that all of them have.
Texts WrongPlugins(const std::string& plugins) {
  constexpr std::string_view kPrefix = "initializing profiles: creating profile for scheduler name default-scheduler: ";
  Texts texts;
  for (std::string text : Wrong("profiles: [{plugins: {" + plugins + "}}]")) {
    REQUIRE(text.substr(0, kPrefix.size()) == kPrefix);
    texts.push_back(text.substr(kPrefix.size()));
  }
  return texts;
}

Texts WrongArgs(const std::string& plugin, const std::string& args, const Gates& gates = {}) {
  return Wrong("profiles: [{pluginConfig: [{name: " + plugin + ", args: {" + args + "}}]}]", gates);
}

ResolvedProfile Profile1(const std::string& plugins) {
  LoadedConfiguration c = LoadText(kHead + ("profiles: [{plugins: {" + plugins + "}}]"));
  INFO(ErrorText(c.problems));
  REQUIRE(c.problems.empty());
  REQUIRE(c.profiles.size() == 1);
  return c.profiles[0];
}

// Returns the plugins of an extension point, with their weights if they have any: "TaintToleration 3".
Texts At(const ResolvedProfile& profile, ExtensionPoint point) {
  Texts texts;
  for (const auto& p : profile.at(point)) {
    texts.push_back(p.weight == 0 ? p.name : absl::StrCat(p.name, " ", p.weight));
  }
  return texts;
}

const Texts kDefaultFilters = {"NodeUnschedulable", "NodeName",          "TaintToleration",    "NodeAffinity",
                               "NodePorts",         "NodeResourcesFit",  "VolumeRestrictions", "EBSLimits",
                               "GCEPDLimits",       "NodeVolumeLimits",  "AzureDiskLimits",    "VolumeBinding",
                               "VolumeZone",        "PodTopologySpread", "InterPodAffinity"};
const Texts kDefaultScores = {"TaintToleration 3",
                              "NodeAffinity 2",
                              "NodeResourcesFit 1",
                              "VolumeBinding 1",
                              "PodTopologySpread 2",
                              "InterPodAffinity 2",
                              "NodeResourcesBalancedAllocation 1",
                              "ImageLocality 1"};

TEST_CASE("The defaults of v1 and v1beta3") {
  for (const char* head : {kHead, kBeta}) {
    LoadedConfiguration loaded = LoadText(head);
    REQUIRE(loaded.problems.empty());
    CHECK(loaded.notices.empty());
    const KubeSchedulerConfiguration& c = loaded.configuration;
    CHECK(c.parallelism == 16);
    CHECK(c.percentage_of_nodes_to_score == 0);
    CHECK(c.pod_initial_backoff_seconds == 1);
    CHECK(c.pod_max_backoff_seconds == 10);
    CHECK(c.enable_profiling);
    CHECK(c.client_connection.content_type == "application/vnd.kubernetes.protobuf");
    CHECK(c.client_connection.qps == 50);
    CHECK(c.client_connection.burst == 100);
    CHECK(c.leader_election.leader_elect);
    CHECK(c.leader_election.lease_duration == absl::Seconds(15));
    CHECK(c.leader_election.resource_lock == "leases");
    CHECK(c.leader_election.resource_namespace == "kube-system");
    REQUIRE(loaded.profiles.size() == 1);
    CHECK(loaded.profiles[0].scheduler_name == "default-scheduler");
    CHECK(At(loaded.profiles[0], ExtensionPoint::kFilter) == kDefaultFilters);
  }
}

TEST_CASE("The default profile calls 1.29's plugins at each extension point") {
  ResolvedProfile p = DefaultProfile(releases::v1_29::Plugins());
  using enum ExtensionPoint;
  CHECK(p.scheduler_name == "default-scheduler");
  CHECK(At(p, kPreEnqueue) == Texts{"SchedulingGates"});
  CHECK(At(p, kQueueSort) == Texts{"PrioritySort"});
  CHECK(At(p, kPreFilter) == Texts{"NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions", "EBSLimits",
                                   "GCEPDLimits", "NodeVolumeLimits", "AzureDiskLimits", "VolumeBinding", "VolumeZone",
                                   "PodTopologySpread", "InterPodAffinity"});
  CHECK(At(p, kFilter) == kDefaultFilters);
  CHECK(At(p, kPostFilter) == Texts{"DefaultPreemption"});
  CHECK(At(p, kPreScore) == Texts{"TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread",
                                  "InterPodAffinity", "NodeResourcesBalancedAllocation"});
  CHECK(At(p, kScore) == kDefaultScores);
  CHECK(At(p, kReserve) == Texts{"VolumeBinding"});
  CHECK(At(p, kPreBind) == Texts{"VolumeBinding"});
  CHECK(At(p, kPermit).empty());
  CHECK(At(p, kPostBind).empty());
  CHECK(At(p, kBind) == Texts{"DefaultBinder"});
  CHECK(p.Has(kFilter, "NodePorts"));
  CHECK_FALSE(p.Has(kScore, "NodePorts"));
  CHECK(p.Args<InterPodAffinityArgs>("InterPodAffinity").hard_pod_affinity_weight == 1);
  CHECK(p.args.contains("NodeResourcesFit"));
  CHECK_FALSE(p.args.contains("NodeName"));
}

TEST_CASE("Feature gates change the default plugins") {
  Gates gates;
  gates.pod_scheduling_readiness = false;
  CHECK(DefaultProfile(releases::v1_29::Plugins(), gates).at(ExtensionPoint::kPreEnqueue).empty());
  gates = {};
  gates.dynamic_resource_allocation = true;
  CHECK(At(DefaultProfile(releases::v1_29::Plugins(), gates), ExtensionPoint::kPostFilter) ==
        Texts{"DynamicResources", "DefaultPreemption"});
  gates = {};
  gates.volume_capacity_priority = true;
  std::vector<UtilizationShapePoint> shape = {{0, 0}, {100, 10}};
  CHECK(DefaultProfile(releases::v1_29::Plugins(), gates).Args<VolumeBindingArgs>("VolumeBinding").shape == shape);
}

TEST_CASE("A default plugin named by multiPoint keeps its place and takes the given weight") {
  Texts scores = kDefaultScores;
  scores[0] = "TaintToleration 1";
  CHECK(At(Profile1("multiPoint: {enabled: [{name: TaintToleration}]}"), ExtensionPoint::kScore) == scores);
  scores[0] = "TaintToleration 7";
  CHECK(At(Profile1("multiPoint: {enabled: [{name: TaintToleration, weight: 7}]}"), ExtensionPoint::kScore) == scores);
}

TEST_CASE("Plugins of an extension point come before the others when multiPoint has them, else after") {
  Texts filters = {"NodePorts"};
  for (const std::string& f : kDefaultFilters) {
    if (f != "NodePorts") filters.push_back(f);
  }
  filters.push_back("CinderLimits");
  CHECK(At(Profile1("filter: {enabled: [{name: NodePorts}, {name: CinderLimits}]}"), ExtensionPoint::kFilter) ==
        filters);
  Texts scores = kDefaultScores;
  scores[0] = "TaintToleration 1";
  CHECK(At(Profile1("score: {enabled: [{name: TaintToleration}]}"), ExtensionPoint::kScore) == scores);
  scores = {"ImageLocality 5"};
  scores.insert(scores.end(), kDefaultScores.begin(), kDefaultScores.end() - 1);
  CHECK(At(Profile1("score: {enabled: [{name: ImageLocality, weight: 5}]}"), ExtensionPoint::kScore) == scores);
}

TEST_CASE("Disabled plugins do not run") {
  ResolvedProfile p = Profile1("multiPoint: {disabled: [{name: NodeResourcesFit}]}");
  CHECK_FALSE(p.Has(ExtensionPoint::kFilter, "NodeResourcesFit"));
  CHECK_FALSE(p.Has(ExtensionPoint::kScore, "NodeResourcesFit"));
  CHECK_FALSE(p.args.contains("NodeResourcesFit"));
  p = Profile1("filter: {disabled: [{name: NodeResourcesFit}]}");
  CHECK_FALSE(p.Has(ExtensionPoint::kFilter, "NodeResourcesFit"));
  CHECK(p.Has(ExtensionPoint::kScore, "NodeResourcesFit"));
  // A plugin that one extension point both enables and disables runs.
  p = Profile1("filter: {disabled: [{name: NodePorts}], enabled: [{name: NodePorts}]}");
  CHECK(At(p, ExtensionPoint::kFilter).back() == "NodePorts");
}

TEST_CASE("A star disables all plugins of a point") {
  ResolvedProfile p = Profile1("score: {disabled: [{name: '*'}], enabled: [{name: ImageLocality, weight: 3}]}");
  CHECK(At(p, ExtensionPoint::kScore) == Texts{"ImageLocality 3"});
  CHECK(At(p, ExtensionPoint::kFilter) == kDefaultFilters);
  CHECK(At(Profile1("score: {disabled: [{name: '*'}], enabled: [{name: NodeAffinity}]}"), ExtensionPoint::kScore) ==
        Texts{"NodeAffinity 1"});
  p = Profile1(
      "multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: DefaultBinder}, "
      "{name: NodeResourcesFit, weight: 4}]}");
  CHECK(At(p, ExtensionPoint::kFilter) == Texts{"NodeResourcesFit"});
  CHECK(At(p, ExtensionPoint::kScore) == Texts{"NodeResourcesFit 4"});
  CHECK(p.at(ExtensionPoint::kPostFilter).empty());
}

TEST_CASE("Plugins that cannot run are errors") {
  CHECK(WrongPlugins("filter: {enabled: [{name: Nope}]}") == Texts{"FilterPlugin \"Nope\" does not exist"});
  CHECK(WrongPlugins("multiPoint: {enabled: [{name: Nope}]}") == Texts{"PreFilterPlugin \"Nope\" does not exist"});
  CHECK(WrongPlugins("filter: {enabled: [{name: ImageLocality}]}") ==
        Texts{"plugin \"ImageLocality\" does not extend FilterPlugin plugin"});
  CHECK(WrongPlugins("score: {enabled: [{name: NodeAffinity}, {name: NodeAffinity}]}") ==
        Texts{"plugin \"NodeAffinity\" already registered as \"ScorePlugin\""});
  CHECK(WrongPlugins("multiPoint: {enabled: [{name: CinderLimits}, {name: CinderLimits}]}") ==
        Texts{"plugin \"CinderLimits\" already registered as \"PreFilterPlugin\""});
  CHECK(WrongPlugins("queueSort: {disabled: [{name: '*'}]}") ==
        Texts{"only one queue sort plugin required for profile with scheduler name \"default-scheduler\", but got 0"});
  CHECK(WrongPlugins("bind: {disabled: [{name: DefaultBinder}]}") ==
        Texts{"at least one bind plugin is needed for profile with scheduler name \"default-scheduler\""});
  CHECK(WrongPlugins("multiPoint: {disabled: [{name: '*'}]}").size() == 2);
}

TEST_CASE("All unknown plugins are named, with what was meant and what there is") {
  LoadedConfiguration c = LoadText(
      kHead + std::string("profiles: [{plugins: {postFilter: {enabled: [{name: DefaultPremption}]}, score: {enabled: "
                          "[{name: Imagelocality}]}}}]"));
  REQUIRE(c.problems.size() == 2);
  CHECK(c.problems[0].path == "profiles[0].plugins.postFilter.enabled[0].name");
  CHECK(c.problems[0].hint == "did you mean \"DefaultPreemption\"? there are: DefaultPreemption, DynamicResources");
  CHECK(c.problems[1].hint.find("did you mean \"ImageLocality\"? there are: DynamicResources") == std::string::npos);
  CHECK(c.problems[1].hint.find("did you mean \"ImageLocality\"? there are: ImageLocality, ") == 0);
}

TEST_CASE("What is named to no effect is noted") {
  LoadedConfiguration c = LoadText(
      kHead + std::string("percentageOfNodesToScore: 30\nparallelism: 4\nprofiles: [{plugins: {score: {disabled: "
                          "[{name: ImageLocalty}]}}, pluginConfig: [{name: Mine, args: {a: 1}}]}]"));
  REQUIRE(c.problems.empty());
  CHECK(
      c.notices ==
      Texts{"profiles[0].plugins.score.disabled[0].name: there is no plugin \"ImageLocalty\" to disable (did you mean "
            "\"ImageLocality\"?)",
            "profiles[0].pluginConfig[0].name: there is no plugin \"Mine\", so its arguments have no effect",
            "percentageOfNodesToScore counts with --percentage-of-nodes-to-score=release; without it all nodes are "
            "looked at",
            "parallelism has no effect: a decision takes one core"});
}

TEST_CASE("Plugins from outside may be named, and get their arguments as they stand in the file") {
  PluginCatalogue catalogue = releases::v1_29::Plugins();
  catalogue.Add("RackSpread", {ExtensionPoint::kPreFilter, ExtensionPoint::kFilter});
  catalogue.Add("RackSpread", {ExtensionPoint::kPreScore, ExtensionPoint::kScore});
  auto document = api::ReadDocument(
      kHead + std::string("profiles: [{plugins: {multiPoint: {enabled: [{name: RackSpread, weight: 4}]}}, "
                          "pluginConfig: [{name: RackSpread, args: {label: rack, maxSkew: 2}}]}]"));
  LoadedConfiguration c = Load(document->root(), catalogue, {});
  REQUIRE(c.problems.empty());
  CHECK(c.notices.empty());
  CHECK(At(c.profiles[0], ExtensionPoint::kFilter).back() == "RackSpread");
  CHECK(At(c.profiles[0], ExtensionPoint::kScore).back() == "RackSpread 4");
  CHECK(c.profiles[0].args.at("RackSpread").json == R"({"label":"rack","maxSkew":2})");
}

TEST_CASE("v1beta3 lacks the fields and the extension point that came later") {
  CHECK(LoadText(kBeta + std::string("delayCacheUntilActive: true")).problems[0].text ==
        "unknown field \"delayCacheUntilActive\"");
  CHECK(LoadText(kBeta + std::string("profiles: [{percentageOfNodesToScore: 3}]")).problems[0].text ==
        "unknown field \"profiles[0].percentageOfNodesToScore\"");
  LoadedConfiguration c =
      LoadText(kBeta + std::string("profiles: [{plugins: {preEnqueue: {disabled: [{name: '*'}]}}}]"));
  REQUIRE(c.problems.empty());
  CHECK(c.profiles[0].Has(ExtensionPoint::kPreEnqueue, "SchedulingGates"));
}

TEST_CASE("Kinds and versions that are not ours") {
  auto first = [](const std::string& text) { return LoadText(text).problems.at(0).text; };
  CHECK(first("apiVersion: kubescheduler.config.k8s.io/v1beta2\nkind: KubeSchedulerConfiguration") ==
        "no kind \"KubeSchedulerConfiguration\" is registered for version \"kubescheduler.config.k8s.io/v1beta2\" in "
        "scheme \"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme/scheme.go:29\"");
  CHECK(first("apiVersion: kubescheduler.config.k8s.io/v1\nkind: Policy").find("no kind \"Policy\" is registered") ==
        0);
  CHECK(first("apiVersion: kubescheduler.config.k8s.io/v1\nkind: NodeAffinityArgs") ==
        "couldn't decode as KubeSchedulerConfiguration, got kubescheduler.config.k8s.io/v1, Kind=NodeAffinityArgs: ");
  CHECK(first("kind: KubeSchedulerConfiguration").find("Object 'apiVersion' is missing") == 0);
  CHECK(first("[1]").find("Invalid value: [1]: must be an object") == 0);
  CHECK(IsConfigurationVersion("kubescheduler.config.k8s.io/v7"));
  CHECK_FALSE(IsConfigurationVersion("componentconfig/v1alpha1"));
}

TEST_CASE("Unknown and duplicate fields are errors, all of them, with what was meant") {
  LoadedConfiguration c =
      LoadText(R"({"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",
      "foo":1,"Parallelism":3,"profiles":[{"schedulername":"x","plugins":{"filters":{},"filter":{"enable":[]}},
      "pluginConfig":[{"name":"NodeResourcesFit","args":{"bogus":1}}]}],"parallelism":2,"parallelism":4})");
  CHECK(ErrorText(c.problems) ==
        "strict decoding error: unknown field \"foo\", unknown field \"Parallelism\" (did you mean \"parallelism\"?), "
        "unknown field \"profiles[0].schedulername\" (did you mean \"schedulerName\"?), "
        "unknown field \"profiles[0].plugins.filters\" (did you mean \"filter\"?), "
        "unknown field \"profiles[0].plugins.filter.enable\" (did you mean \"enabled\"?), "
        "decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for plugin NodeResourcesFit: "
        "strict decoding error: unknown field \"bogus\", "
        "duplicate field \"parallelism\"");
  CHECK(ErrorText(LoadText(kHead + std::string("foo: 1")).problems) == "strict decoding error: unknown field \"foo\"");
}

TEST_CASE("Values of the wrong type") {
  CHECK(Wrong("parallelism: many") == Texts{"parallelism: Invalid value: \"many\": must be a whole number"});
  CHECK(Wrong("parallelism: 99999999999") ==
        Texts{"parallelism: Invalid value: 99999999999: must be a whole number of 32 bits"});
  CHECK(Wrong("enableProfiling: 1") == Texts{"enableProfiling: Invalid value: 1: must be true or false"});
  CHECK(Wrong("profiles: {}") == Texts{"profiles: Invalid value: {}: must be a list"});
  CHECK(Wrong("profiles: [7]") == Texts{"profiles[0]: Invalid value: 7: must be an object"});
  CHECK(Wrong("clientConnection: {qps: fast}") ==
        Texts{"clientConnection.qps: Invalid value: \"fast\": must be a number"});
  CHECK(Wrong("leaderElection: {retryPeriod: 3}") ==
        Texts{"leaderElection.retryPeriod: Invalid value: 3: must be a duration such as \"15s\""});
  CHECK(Wrong("leaderElection: {retryPeriod: soon}") ==
        Texts{"leaderElection.retryPeriod: Invalid value: \"soon\": time: invalid duration \"soon\""});
  CHECK(Wrong("extenders: [{tlsConfig: {caData: '%'}}]") ==
        Texts{"extenders[0].tlsConfig.caData: Invalid value: \"%\": must be base64"});
  CHECK(
      WrongArgs("NodeAffinity", "kind: NodeNameArgs") ==
      Texts{"decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: no kind \"NodeNameArgs\" is "
            "registered for version \"kubescheduler.config.k8s.io/v1\" in scheme "
            "\"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme/scheme.go:29\""});
  CHECK(Wrong("profiles: null\nparallelism: null").empty());
}

TEST_CASE("Empty members get defaults as absent ones do") {
  KubeSchedulerConfiguration c =
      LoadText(kHead + std::string("leaderElection: {leaseDuration: 0s, resourceName: ''}\nclientConnection: {qps: 0, "
                                   "burst: 0, contentType: ''}\nprofiles: []"))
          .configuration;
  CHECK(c.leader_election.lease_duration == absl::Seconds(15));
  CHECK(c.leader_election.resource_name == "kube-scheduler");
  CHECK(c.client_connection.qps == 50);
  CHECK(c.client_connection.burst == 100);
  CHECK(c.profiles.size() == 1);
}

TEST_CASE("Wrong values at the top") {
  CHECK(Wrong("parallelism: 0") ==
        Texts{"parallelism: Invalid value: 0: should be an integer value greater than zero"});
  CHECK(Wrong("percentageOfNodesToScore: 101") ==
        Texts{"percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"});
  CHECK(Wrong("podInitialBackoffSeconds: 0") ==
        Texts{"podInitialBackoffSeconds: Invalid value: 0: must be greater than 0"});
  CHECK(Wrong("podInitialBackoffSeconds: 20") ==
        Texts{"podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds"});
  CHECK(Wrong("clientConnection: {burst: -1}") ==
        Texts{"clientConnection.burst: Invalid value: -1: must be non-negative"});
  CHECK(Wrong("leaderElection: {leaseDuration: 10s}") ==
        Texts{"leaderElection.leaseDuration: Invalid value: v1.Duration{Duration:10000000000}: LeaseDuration must be "
              "greater than RenewDeadline"});
  CHECK(
      Wrong("leaderElection: {retryPeriod: -1s}") ==
      Texts{"leaderElection.retryPeriod: Invalid value: v1.Duration{Duration:-1000000000}: must be greater than zero"});
  CHECK(Wrong("leaderElection: {resourceLock: endpoints}") ==
        Texts{"leaderElection.resourceLock: Invalid value: \"endpoints\": resourceLock value must be \"leases\""});
  CHECK(Wrong("leaderElection: {resourceLock: endpoints, leaderElect: false}").empty());
}

TEST_CASE("All mistakes come at once") {
  CHECK(ErrorText(LoadText(kHead + std::string("parallelism: 0\npercentageOfNodesToScore: 101\nleaderElection: "
                                               "{retryPeriod: soon}\nfoo: 1\nprofiles: [{plugins: {filter: {enabled: "
                                               "[{name: Nope}]}}}]"))
                      .problems)
            .find("[strict decoding error: unknown field \"foo\", leaderElection.retryPeriod: Invalid value: \"soon\": "
                  "time: invalid duration \"soon\", parallelism: Invalid value: 0: should be an integer value greater "
                  "than zero, percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100], initializing "
                  "profiles: creating profile for scheduler name default-scheduler: FilterPlugin \"Nope\" does not "
                  "exist (there are: ") == 0);
}

TEST_CASE("Wrong profiles") {
  CHECK(Wrong("profiles: [{schedulerName: ''}]") == Texts{"profiles[0].schedulerName: Required value"});
  CHECK(Wrong("profiles: [{schedulerName: a}, {}]") == Texts{"profiles[1].schedulerName: Required value"});
  CHECK(Wrong("profiles: [{schedulerName: a}, {schedulerName: a}]") ==
        Texts{"profiles[1].schedulerName: Duplicate value: \"a\""});
  CHECK(Wrong("profiles: [{percentageOfNodesToScore: -1}]") ==
        Texts{"profiles[0].percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]"});
  CHECK(Wrong("profiles: [{schedulerName: a}, {schedulerName: b, plugins: {queueSort: {enabled: [{name: "
              "PrioritySort}]}}}]") ==
        Texts{"profiles[1].plugins.queueSort: Invalid value: config.PluginSet{Enabled:[]config.Plugin{config.Plugin{"
              "Name:\"PrioritySort\", Weight:0}}, Disabled:[]config.Plugin(nil)}: has to match for all profiles"});
  CHECK(Wrong("profiles: [{plugins: {queueSort: {enabled: [{name: PrioritySort}, {name: Other}]}}}]").at(0) ==
        "profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin can be enabled");
  CHECK(Wrong("profiles: [{pluginConfig: [{name: NodeAffinity}, {name: NodeAffinity}]}]") ==
        Texts{"profiles[0].pluginConfig[1]: Duplicate value: \"NodeAffinity\""});
}

TEST_CASE("Several profiles have their own names and plugins") {
  LoadedConfiguration c = LoadText(kHead + std::string("profiles: [{schedulerName: a}, {schedulerName: b, plugins: "
                                                       "{score: {disabled: [{name: '*'}]}}}]"));
  REQUIRE(c.problems.empty());
  REQUIRE(c.profiles.size() == 2);
  CHECK(c.profiles[0].scheduler_name == "a");
  CHECK(At(c.profiles[0], ExtensionPoint::kScore) == kDefaultScores);
  CHECK(c.profiles[1].scheduler_name == "b");
  CHECK(c.profiles[1].at(ExtensionPoint::kScore).empty());
}

TEST_CASE("Wrong arguments of plugins") {
  const std::string at = "profiles[0].pluginConfig[0].args.";
  CHECK(WrongArgs("DefaultPreemption", "minCandidateNodesPercentage: 101") ==
        Texts{at + "minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]"});
  CHECK(WrongArgs("DefaultPreemption", "minCandidateNodesAbsolute: -1") ==
        Texts{at + "minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)"});
  CHECK(WrongArgs("DefaultPreemption", "minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0") ==
        Texts{at + "minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as "
                   "minCandidateNodesAbsolute",
              at + "minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as "
                   "minCandidateNodesPercentage"});
  CHECK(WrongArgs("InterPodAffinity", "hardPodAffinityWeight: 101") ==
        Texts{at + "hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]"});
  CHECK(WrongArgs("InterPodAffinity", "hardPodAffinityWeight: 0").empty());
  CHECK(WrongArgs("NodeResourcesBalancedAllocation", "resources: [{name: cpu, weight: 2}, {name: cpu}]") ==
        Texts{at + "resources[0].weight: Invalid value: 2: must be 1",
              at + "resources[1].name: Duplicate value: \"cpu\""});
  CHECK(
      WrongArgs("VolumeBinding", "bindTimeoutSeconds: -1") ==
      Texts{at + "bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value"});
  CHECK(WrongArgs("VolumeBinding", "shape: [{utilization: 1, score: 2}]") ==
        Texts{at +
              "shape: Invalid value: []config.UtilizationShapePoint{config.UtilizationShapePoint{Utilization:1, "
              "Score:2}}: unexpected field `shape`, remove it or turn on the feature gate VolumeCapacityPriority"});
  Gates gates;
  gates.volume_capacity_priority = true;
  CHECK(WrongArgs("VolumeBinding", "shape: [{utilization: 1, score: 2}]", gates).empty());
}

TEST_CASE("Wrong added affinity") {
  const std::string at = "profiles[0].pluginConfig[0].args.addedAffinity.";
  const std::string required = at + "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].";
  auto term = [](const std::string& t) {
    return WrongArgs(
        "NodeAffinity",
        "addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{" + t + "}]}}");
  };
  CHECK(term("matchExpressions: [{key: a, operator: Foo}]") ==
        Texts{required +
              "matchExpressions[0].operator: Unsupported value: \"Foo\": supported values: \"In\", \"NotIn\", "
              "\"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\""});
  CHECK(term("matchExpressions: [{key: a, operator: In}]") ==
        Texts{required + "matchExpressions[0].values: Invalid value: []string{}: for 'in', 'notin' operators, values "
                         "set can't be empty"});
  CHECK(term("matchExpressions: [{key: a, operator: Gt, values: [x]}]") ==
        Texts{required +
              "matchExpressions[0].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must "
              "be an integer"});
  CHECK(term("matchFields: [{key: metadata.name, operator: In, values: [a, b]}]") ==
        Texts{required + "matchFields[0].values: Invalid value: []string{\"a\", \"b\"}: must have one element"});
  CHECK(
      term("matchFields: [{key: metadata.name, operator: Exists}]") ==
      Texts{required + "matchFields[0].operator: Unsupported value: \"Exists\": supported values: \"In\", \"NotIn\""});
  CHECK(term("matchExpressions: [{key: a, operator: In, values: [b]}]").empty());
  CHECK(WrongArgs("NodeAffinity",
                  "addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: "
                  "{matchExpressions: [{key: a, operator: Exists, values: [b]}]}}]}") ==
        Texts{at + "preferredDuringSchedulingIgnoredDuringExecution[0].matchExpressions[0].values: Invalid value: "
                   "[]string{\"b\"}: values set must be empty for exists and does not exist"});
}

TEST_CASE("Wrong default constraints") {
  const std::string at = "profiles[0].pluginConfig[0].args.";
  CHECK(WrongArgs("PodTopologySpread",
                  "defaultConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: "
                  "ScheduleAnyway}]") ==
        Texts{at + "defaultingType: Invalid value: \"System\": when .defaultConstraints are not empty"});
  CHECK(WrongArgs("PodTopologySpread", "defaultingType: Lists") ==
        Texts{at + "defaultingType: Unsupported value: \"Lists\": supported values: \"System\", \"List\""});
  CHECK(WrongArgs("PodTopologySpread",
                  "defaultingType: List, defaultConstraints: [{maxSkew: 0, topologyKey: '', whenUnsatisfiable: X, "
                  "labelSelector: {}}, {maxSkew: 1, topologyKey: '', whenUnsatisfiable: X}]") ==
        Texts{at + "defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)",
              at + "defaultConstraints[0].topologyKey: Required value: can not be empty",
              at + "defaultConstraints[0].whenUnsatisfiable: Unsupported value: \"X\": supported values: "
                   "\"DoNotSchedule\", \"ScheduleAnyway\"",
              at + "defaultConstraints[0].labelSelector: Forbidden: constraint must not define a selector, as they "
                   "deduced for each pod",
              at + "defaultConstraints[1].topologyKey: Required value: can not be empty",
              at + "defaultConstraints[1].whenUnsatisfiable: Unsupported value: \"X\": supported values: "
                   "\"DoNotSchedule\", \"ScheduleAnyway\"",
              at + "defaultConstraints[1]: Duplicate value: \"{, X}\""});
}

TEST_CASE("Wrong arguments of NodeResourcesFit are found when the plugin is built") {
  const std::string at =
      "initializing profiles: creating profile for scheduler name default-scheduler: initializing plugin "
      "\"NodeResourcesFit\": ";
  auto strategy = [&](const std::string& s) {
    return WrongArgs("NodeResourcesFit", "scoringStrategy: {type: RequestedToCapacityRatio, " + s + "}");
  };
  CHECK(WrongArgs("NodeResourcesFit", "scoringStrategy: {type: Foo}") ==
        Texts{at + "scoringStrategy.type: Unsupported value: \"Foo\": supported values: \"LeastAllocated\", "
                   "\"MostAllocated\", \"RequestedToCapacityRatio\""});
  CHECK(WrongArgs("NodeResourcesFit", "scoringStrategy: {}").size() == 1);
  CHECK(
      WrongArgs("NodeResourcesFit", "scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 101}]}") ==
      Texts{at + "scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in valid range "
                 "(0, 100]"});
  CHECK(strategy("requestedToCapacityRatio: {shape: [{utilization: 50, score: 11}, {utilization: 40, score: 1}]}") ==
        Texts{at + "scoringStrategy.shape[1].utilization: Invalid value: 40: utilization values must be sorted in "
                   "increasing order",
              at + "scoringStrategy.shape[0].score: Invalid value: 11: not in valid range [0, 10]"});
  CHECK(strategy("requestedToCapacityRatio: {shape: []}") ==
        Texts{at + "scoringStrategy.shape: Required value: at least one point must be specified"});
  CHECK(strategy("resources: []") ==
        Texts{at + "scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type is "
                   "RequestedToCapacityRatio"});
  CHECK(WrongArgs("NodeResourcesFit", "ignoredResourceGroups: [a/b]").at(0) ==
        at + "ignoredResourceGroups[0]: Invalid value: \"a/b\": resource group name can't contain '/'");
  CHECK(WrongArgs("NodeResourcesFit", "ignoredResources: [foo]").empty());
  LoadedConfiguration c = LoadText(kHead + std::string("profiles: [{pluginConfig: [{name: NodeResourcesFit, args: "
                                                       "{scoringStrategy: {type: MostAllocated, resources: [{name: "
                                                       "memory}]}}}]}]"));
  CHECK(c.profiles[0].Args<NodeResourcesFitArgs>("NodeResourcesFit").scoring_strategy->resources ==
        std::vector<ResourceSpec>{{"memory", 1}});
}

TEST_CASE("Extenders") {
  LoadedConfiguration c = LoadText(kHead + std::string(R"(
extenders:
- urlPrefix: http://x/
  filterVerb: filter
  preemptVerb: preempt
  prioritizeVerb: prioritize
  weight: 5
  bindVerb: bind
  enableHTTPS: true
  tlsConfig: {insecure: true, caData: aGk=}
  httpTimeout: 1500ms
  nodeCacheCapable: true
  managedResources: [{name: example.com/gpu, ignoredByScheduler: true}]
  ignorable: true
)"));
  REQUIRE(c.problems.empty());
  REQUIRE(c.configuration.extenders.size() == 1);
  const ExtenderConfig& e = c.configuration.extenders[0];
  CHECK(e.preempt_verb == "preempt");
  CHECK(e.http_timeout_nanos == 1'500'000'000);
  CHECK(e.tls->ca_data == "hi");
  CHECK(e.ignorable);
  CHECK(e.managed_resources.at(0).ignored_by_scheduler);
  CHECK(
      Wrong("extenders: [{prioritizeVerb: p}, {bindVerb: b}, {bindVerb: b, managedResources: [{name: foo}, {name: "
            "foo}]}]") ==
      Texts{"extenders[0].weight: Invalid value: 0: must have a positive weight applied to it",
            "extenders[2].managedResources[0].name: Invalid value: \"foo\": is an invalid extended resource name",
            "extenders[2].managedResources[1].name: Invalid value: \"foo\": is an invalid extended resource name",
            "extenders[2].managedResources[1].name: Invalid value: \"foo\": duplicate extender managed resource name",
            "extenders: Invalid value: \"found 2 extenders implementing bind\": only one extender can implement bind"});
}

TEST_CASE("A problem's path leads to where it stands in the document") {
  auto document = api::ReadDocument(R"({"profiles":[{"a":1},{"plugins":{"score":{"enabled":[{"name":"x"}]}}}]})");
  api::Json root = document->root();
  CHECK(Locate(root, "profiles[1].plugins.score.enabled[0].name").Text() == "x");
  CHECK(Locate(root, "profiles[0].a").Int() == 1);
  CHECK(Locate(root, "profiles[0].b.c").Serialize() == "{\"a\":1}");
  CHECK(Locate(root, "profiles[7].b").IsArray());
  CHECK(Locate(root, "").IsObject());
  CHECK(Locate(root, "profiles[").IsArray());
}

}  // namespace
}  // namespace berth::scheduler::configuration
