// The expected texts were sent by kube-scheduler 1.29 to an API server 1.29.
#include "pkg/client/status_patch.h"

#include <catch2/catch.hpp>

namespace berth::client {
namespace {

const api::PodCondition kUnfit{"False", "Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.", "",
                               "2026-11-22T01:55:22Z"};

TEST_CASE("status patch: a first condition is written in full") {
  PodStatusPatch p;
  p.condition = {"PodScheduled", {}, kUnfit};
  const std::string condition =
      R"({"lastProbeTime":null,"lastTransitionTime":"2026-11-22T01:55:22Z",)"
      R"("message":"0/1 nodes are available: 1 Insufficient cpu.","reason":"Unschedulable","status":"False",)"
      R"("type":"PodScheduled"})";
  CHECK(ToJson(p) == R"({"status":{"conditions":[)" + condition + "]}}");
  p.nominated_node_name = "node-a";
  CHECK(ToJson(p) == R"({"status":{"conditions":[)" + condition + R"(],"nominatedNodeName":"node-a"}})");
}

TEST_CASE("status patch: of a condition that is there only what changed is written, with the order of all") {
  PodStatusPatch p;
  p.condition = {"PodScheduled", kUnfit, kUnfit};
  p.types = {"PodScheduled", "Foo"};
  CHECK(ToJson(p).empty());
  p.condition->now.message = "0/1 nodes are available: 1 100% full.";
  p.nominated_node_name = "";
  CHECK(ToJson(p) == R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"},{"type":"Foo"}],)"
                     R"("conditions":[{"message":"0/1 nodes are available: 1 100% full.","type":"PodScheduled"}],)"
                     R"("nominatedNodeName":null}})");
}

TEST_CASE("M-12, status patch: a condition that is added beside others of the victim comes last") {
  PodStatusPatch p;
  p.types = ConditionTypes(R"({"status":{"conditions":[{"type":"PodScheduled","status":"True"}]}})");
  p.condition = {"DisruptionTarget",
                 {},
                 {"True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod",
                  "", "2026-11-22T01:55:22Z"}};
  CHECK(ToJson(p) ==
        R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"},{"type":"DisruptionTarget"}],)"
        R"("conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-11-22T01:55:22Z",)"
        R"("message":"default-scheduler: preempting to accommodate a higher priority pod",)"
        R"("reason":"PreemptionByScheduler","status":"True","type":"DisruptionTarget"}]}})");
}

TEST_CASE("status patch: clearing a nomination alone") {
  PodStatusPatch p;
  CHECK(ToJson(p).empty());
  p.nominated_node_name = "";
  CHECK(ToJson(p) == R"({"status":{"nominatedNodeName":null}})");
  CHECK(ConditionTypes("no pod").empty());
}

TEST_CASE("annotation patch: all annotations are repeated, sorted, and the text is replaced") {
  const auto patch = [](std::string_view annotations, std::string_view node) {
    return AnnotationPatch("{\"metadata\":{\"annotations\":" + std::string(annotations) + "}}", "Node", node);
  };
  CHECK(patch("null", "n1") == R"({"metadata":{"annotations":{"Node":"n1"}}})");
  CHECK(patch(R"({"b":"<2>","Node":"n0","A":"1"})", "n1") ==
        "{\"metadata\":{\"annotations\":{\"A\":\"1\",\"Node\":\"n1\",\"b\":\"\\u003c2\\u003e\"}}}");
  CHECK(patch(R"({"Node":"n0"})", "") == R"({"metadata":{"annotations":{"Node":""}}})");
}

}  // namespace
}  // namespace berth::client
