// Plays recorded cases of a real API server and controller manager (release 1.36, test/testdata/world) through the
// controllers and kubelets of pkg/world/living, over this server's store and a clock that is moved by hand.
#include "pkg/store/simulation.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "pkg/apiserver/testing/recorded_case.h"

namespace berth::apiserver {
namespace {

using testing::Parse;
using testing::PlayAll;
using testing::PlayedCluster;
using world::living::TextAt;

// Three recordings cannot be compared: in 61 chance decides which pod has the first name and is deleted, in 83 which of
// two budgets for one pod is refreshed, and in 135 a node has a condition that another recording has left.
TEST_CASE("ReplicaSets and Deployments do what was recorded", "[no-threads]") {
  PlayAll({"00-deployment", "02-deployment-rolling-update", "04-deployment-recreate", "05-deployment-paused",
           "21-replicationcontroller", "40-deployment-min-ready", "41-deployment-rollback",
           "42-deployment-stuck-then-scaled", "44-deployment-progress-deadline", "46-deployment-percent-rounding",
           "48-replicaset-adopts", "50-replicaset-releases", "51-replicaset-scale-down-order",
           "123-replicaset-refused-by-quota", "47-deployment-selector-changed"});
}

TEST_CASE("StatefulSets and DaemonSets do what was recorded", "[no-threads]") {
  PlayAll({
      "07-statefulset-ordered",
      "08-statefulset-parallel-ordinals",
      "11-statefulset-partition",
      "53-statefulset-update-order",
      "55-statefulset-unready-first",
      "58-statefulset-max-unavailable",
      "119-statefulset-scale-down-unhealthy",
      "12-daemonset",
      "13-daemonset-host-network",
      "59-daemonset-rolling-update",
      "62-daemonset-no-node",
      "56-statefulset-claims-deleted",
  });
}

TEST_CASE("Jobs and CronJobs do what was recorded", "[no-threads]") {
  PlayAll({"15-job", "16-job-indexed", "17-job-suspended-then-resumed", "20-cronjob", "63-job-ttl", "64-job-no-retries",
           "65-job-deadline", "71-job-suspended-while-running", "73-job-replace-when-failed", "74-job-pod-deleted",
           "77-job-on-failure-restart", "79-cronjob-forbid", "66-job-fail-policy", "68-job-index-retries",
           "75-job-managed-by-another", "76-job-own-selector", "78-cronjob-suspended-and-zone"});
}

TEST_CASE("budgets and deletions are what was recorded", "[no-threads]") {
  PlayAll({"22-pdb-of-deployment", "24-pdb-unhealthy-always-allow", "25-pdb-unhealthy-default", "26-pdb-of-bare-pods",
           "81-pdb-percent-of-statefulset", "84-pdb-bare-pods-max-unavailable", "86-pdb-mixed-owners",
           "90-pdb-nothing-allowed", "91-pdb-healthy-enough", "39-orphan", "96-orphaned-replicaset-adopted-again",
           "97-default-propagation", "88-pdb-of-jobs", "92-evictions-without-budget", "94-foreground",
           "99-namespace-deleted"});
}

TEST_CASE("classes that change are read as was recorded", "[no-threads]") {
  PlayAll({"33-default-storage-class", "110-admission-priority-errors"});
  // The claims that wait get the newer of two classes, because the controller looks when both are there.
  testing::RecordedCase("138-default-class-later").After(absl::Seconds(8)).Play();
}

// Two recordings with a class that provisions, 09 and 36, were made without a provisioner, and are of claims alone that
// wait for ever; pkg/world's tests have the objects that are made in them.
TEST_CASE("volumes are bound, kept and deleted as was recorded", "[no-threads]") {
  PlayAll({"34-volumes-static", "35-volumes-wait", "100-claim-class-missing", "101-static-smallest-fits",
           "103-provisioned-immediate", "105-reclaim-retain", "106-claim-in-use-deleted",
           "108-ephemeral-claim-goes-with-pod"});
}

TEST_CASE("nodes that are lost, under pressure, tainted, new and gone do what was recorded", "[no-threads]") {
  PlayAll({"130-node-lost-and-back", "132-node-pressure-and-cordon", "136-node-joins-and-leaves",
           "125-topology-labels-at-binding", "133-taint-no-execute"});
}

TEST_CASE("a pod is told that another claim has the name of its ephemeral volume's", "[no-threads]") {
  PlayedCluster played;
  played.Create(Parse(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"p-v"},"spec":{
    "storageClassName":"","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})"));
  played.Create(Parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"volumes":[{"name":"v",
    "ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],
    "resources":{"requests":{"storage":"1Gi"}}}}}}],"containers":[{"name":"c","image":"x"}]}})"));
  played.Run(absl::Seconds(1));
  std::vector<std::string> told;
  for (const Value& event : played.All("Event")) {
    if (TextAt(event, {"involvedObject", "kind"}) == "Pod") told.push_back(std::string(event.Str("message")));
  }
  CHECK(told == std::vector<std::string>{
                    "ephemeral volume v: PVC world/p-v was not created for pod world/p (pod is not owner)"});
}

TEST_CASE("what has lost its owner goes, whatever the kinds of the two", "[no-threads]") {
  PlayedCluster played;
  const auto owned = [](const char* kind, const char* more, const char* owner, std::string_view uid) {
    return Parse(absl::StrCat(R"({"apiVersion":"v1","kind":")", kind, R"(","metadata":{"name":"owned",)",
                              R"("ownerReferences":[{"apiVersion":"v1","kind":")", owner, R"(","name":"o","uid":")",
                              util::ToAbsl(uid), R"("}]})", more, "}"));
  };
  played.Create(Parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o"}})"));
  const std::string uid(TextAt(*played.Get("ConfigMap", "o"), {"metadata", "uid"}));
  played.Create(owned("Secret", "", "ConfigMap", uid));
  played.Create(owned("Service", R"(,"spec":{"ports":[{"port":80}]})", "ConfigMap", uid));
  played.Create(owned("Endpoints", "", "Service", "of-nobody"));
  played.Create(owned("ConfigMap", "", "Widget", "of-nobody"));
  played.Create(Parse(R"({"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"d"},"spec":{
    "selector":{"matchLabels":{"app":"d"}},"template":{"metadata":{"labels":{"app":"d"}},
    "spec":{"containers":[{"name":"c","image":"x"}]}}}})"));
  played.Run(absl::Seconds(2));
  CHECK(played.Get("Secret", "owned").has_value());
  CHECK(played.Get("Service", "owned").has_value());
  CHECK(!played.Get("Endpoints", "owned").has_value());
  CHECK(played.All("ControllerRevision").size() == 1);
  played.Delete("ConfigMap", "o", "Background");
  played.Delete("DaemonSet", "d", "Background");
  played.Run(absl::Seconds(2));
  CHECK(!played.Get("Secret", "owned").has_value());
  CHECK(!played.Get("Service", "owned").has_value());
  // Of a kind that the server does not have nobody can tell whether its objects are gone.
  CHECK(played.Get("ConfigMap", "owned").has_value());
  CHECK(played.All("ControllerRevision").empty());
}

TEST_CASE("a condition that somebody has written without a time gets one", "[no-threads]") {
  PlayedCluster played;
  played.Change("Node", "n1",
                [](Value* v) { v->Child("status").Set("conditions", Parse(R"([{"type":"Ready","status":"True"}])")); });
  played.Run(absl::Seconds(1));
  played.Annotate("Node", "n1", world::living::kDownAnnotation, "true");
  played.Run(absl::Seconds(1));
  played.Annotate("Node", "n1", world::living::kDownAnnotation, "false");
  played.Run(absl::Seconds(1));
  const std::optional<Value> node = played.Get("Node", "n1");
  const Value* ready = world::living::ConditionOf(*node, "Ready");
  REQUIRE(ready != nullptr);
  CHECK(!TextAt(*ready, {"lastTransitionTime"}).empty());
  CHECK(TextAt(*ready, {"reason"}) == "KubeletReady");
}

// Returns the addresses that are ready and those that are not, each with its port.
std::pair<size_t, size_t> AddressesOf(const Value& endpoints, int64_t port) {
  const Value* subsets = endpoints.Find("subsets");
  if (subsets == nullptr || subsets->items.empty()) return {0, 0};
  REQUIRE(subsets->items.size() == 1);
  const Value& subset = subsets->items[0];
  CHECK(world::living::NumberAt(subset.Find("ports")->items[0], {"port"}) == port);
  auto count = [&](const char* member) {
    const Value* list = subset.Find(member);
    return list == nullptr ? size_t{0} : list->items.size();
  };
  return {count("addresses"), count("notReadyAddresses")};
}

TEST_CASE("a service has the addresses of its pods", "[no-threads]") {
  using Counts = std::pair<size_t, size_t>;
  PlayedCluster played;
  played.Create(Parse(R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"selector":{"app":"web"},
    "ports":[{"port":80,"targetPort":"http"}]}})"));
  played.Create(Parse(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":3,
    "selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{
    "containers":[{"name":"c","image":"x","ports":[{"name":"http","containerPort":8080}]}]}}}})"));
  played.Create(
      Parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"sick","labels":{"app":"web","unready":"yes"}},
    "spec":{"containers":[{"name":"c","image":"x","ports":[{"name":"http","containerPort":8080}]}]}})"));
  played.Run(absl::Seconds(3));
  CHECK(AddressesOf(*played.Get("Endpoints", "web"), 8080) == Counts{3, 1});
  const std::vector<Value> slices = played.All("EndpointSlice");
  REQUIRE(slices.size() == 1);
  CHECK(TextAt(slices[0], {"metadata", "labels", "kubernetes.io/service-name"}) == "web");
  CHECK(slices[0].Find("endpoints")->items.size() == 4);
  played.Patch(Parse(R"({"kind":"Deployment","name":"web","strategicMerge":{"spec":{"replicas":120}}})"));
  played.Run(absl::Seconds(5));
  CHECK(AddressesOf(*played.Get("Endpoints", "web"), 8080) == Counts{120, 1});
  CHECK(played.All("EndpointSlice").size() == 2);
  played.Patch(Parse(R"({"kind":"Deployment","name":"web","strategicMerge":{"spec":{"replicas":0}}})"));
  played.Run(absl::Seconds(5));
  CHECK(AddressesOf(*played.Get("Endpoints", "web"), 8080) == Counts{0, 1});
  CHECK(played.All("EndpointSlice").size() == 1);
  played.Delete("Service", "web", "Background");
  played.Run(absl::Seconds(2));
  CHECK(!played.Get("Endpoints", "web").has_value());
  CHECK(played.All("EndpointSlice").empty());
}

TEST_CASE("restarts of containers count towards the limit of a Job", "[no-threads]") {
  PlayedCluster played;
  played.Create(Parse(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"backoffLimit":2,
    "template":{"metadata":{"labels":{"exit":"1"}},"spec":{"restartPolicy":"OnFailure",
    "containers":[{"name":"c","image":"x"}]}}}})"));
  played.Run(absl::Seconds(20));
  CHECK(world::living::ConditionOf(*played.Get("Job", "j"), "FailureTarget") == nullptr);
  played.Run(absl::Seconds(30));
  const std::optional<Value> job = played.Get("Job", "j");
  const Value* failed = world::living::ConditionOf(*job, "Failed");
  REQUIRE(failed != nullptr);
  CHECK(failed->Str("reason") == "BackoffLimitExceeded");
  CHECK(played.All("Pod").empty());
}

TEST_CASE("a CronJob with an interval makes Jobs in that rhythm, and none that is too late", "[no-threads]") {
  PlayedCluster played;
  const auto cron = [](const char* name, const char* more) {
    return Parse(absl::StrCat(R"({"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":")", name,
                              R"("},"spec":{"schedule":"@every 90s",)", more, R"("jobTemplate":{"spec":{"template":{
                              "spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"x"}]}}}}}})"));
  };
  played.Create(cron("often", R"("successfulJobsHistoryLimit":9,)"));
  played.Create(cron("waits", R"("suspend":true,"startingDeadlineSeconds":5,)"));
  played.Run(absl::Seconds(280));
  CHECK(played.All("Job").size() == 3);
  played.Patch(Parse(R"({"kind":"CronJob","name":"waits","strategicMerge":{"spec":{"suspend":false}}})"));
  played.Run(absl::Seconds(60));
  CHECK(played.All("Job").size() == 3);
}

TEST_CASE("the lease of a node goes with it", "[no-threads]") {
  PlayedCluster played;
  const auto leases = [&] {
    played.Run(absl::Seconds(3));
    return played.All("Lease", "kube-node-lease").size();
  };
  CHECK(leases() == 4);
  played.Delete("Node", "n1", "Background");
  CHECK(leases() == 3);
}

std::vector<std::string> EvictingTaints(const PlayedCluster& played) {
  std::vector<std::string> nodes;
  for (const Value& node : played.All("Node")) {
    const Value* taints = node.At({"spec", "taints"});
    if (taints == nullptr) continue;
    for (const Value& t : taints->items) {
      if (t.Str("effect") == "NoExecute") nodes.emplace_back(world::NameOf(node));
    }
  }
  return nodes;
}
void SetDown(PlayedCluster* played, std::initializer_list<const char*> nodes, bool down) {
  for (const char* node : nodes) {
    played->Annotate("Node", node, world::living::kDownAnnotation, down ? "true" : "false");
  }
}
Value PodOn(const char* node) {
  return Parse(std::string(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":")") + node +
               R"(","tolerations":[{"operator":"Exists","effect":"NoExecute","tolerationSeconds":5}],
               "containers":[{"name":"c","image":"x"}]}})");
}

// One node in ten seconds and zone gets the taint that evicts; n1 and n3 are in one zone.
TEST_CASE("nodes of a zone are emptied one after another", "[no-threads]") {
  PlayedCluster played;
  SetDown(&played, {"n1", "n3"}, true);
  played.Run(absl::Seconds(16));
  CHECK(EvictingTaints(played).size() == 1);
  played.Run(absl::Seconds(10));
  CHECK(EvictingTaints(played).size() == 2);
}

TEST_CASE("while no node is ready nothing is evicted", "[no-threads]") {
  PlayedCluster played;
  played.Create(PodOn("n4"));
  played.Run(absl::Seconds(1));
  SetDown(&played, {"n1", "n2", "n3", "n4"}, true);
  played.Run(absl::Seconds(60));
  CHECK(EvictingTaints(played).empty());
  CHECK(!world::living::IsTerminating(played.All("Pod").at(0)));
  SetDown(&played, {"n1", "n2", "n3"}, false);
  played.Run(absl::Seconds(16));
  CHECK(EvictingTaints(played) == std::vector<std::string>{"n4"});
  played.Run(absl::Seconds(6));
  CHECK(world::living::IsTerminating(played.All("Pod").at(0)));
}

TEST_CASE("before there were taints, pods went five minutes after their node", "[no-threads]") {
  PlayedCluster played(Version{10});
  played.Create(PodOn("n4"));
  played.Run(absl::Seconds(1));
  SetDown(&played, {"n4"}, true);
  played.Run(absl::Seconds(20));
  CHECK(TextAt(*world::living::ConditionOf(*played.Get("Node", "n4"), "Ready"), {"status"}) == "Unknown");
  CHECK(played.Get("Node", "n4")->At({"spec", "taints"}) == nullptr);
  played.Run(absl::Minutes(4));
  CHECK(!world::living::IsTerminating(played.All("Pod").at(0)));
  played.Run(absl::Seconds(70));
  CHECK(world::living::IsTerminating(played.All("Pod").at(0)));
}

// A rolling update keeps its bounds all the time: 10 replicas, 25 % more and 25 % fewer.
TEST_CASE("a rolling update keeps maxSurge and maxUnavailable", "[no-threads]") {
  PlayedCluster played;
  played.Create(Parse(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":10,
    "selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
    "spec":{"containers":[{"name":"c","image":"x"}]}}}})"));
  played.Run(absl::Seconds(4));
  played.seen.clear();
  played.Patch(Parse(R"({"kind":"Deployment","name":"web","strategicMerge":{"spec":{"template":{"spec":{
    "containers":[{"name":"c","image":"y"}]}}}}})"));
  played.Run(absl::Seconds(20));
  int64_t most = 0, fewest = 100;
  for (const auto& counts : played.seen) {
    most = std::max(most, counts.at("all"));
    fewest = std::min(fewest, counts.at("ready"));
  }
  CHECK(most == 13);
  CHECK(fewest == 8);
  CHECK(played.seen.back().at("ready") == 10);
}

}  // namespace
}  // namespace berth::apiserver
