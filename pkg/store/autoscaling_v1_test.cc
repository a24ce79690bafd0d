// Autoscalers in both of their versions.
#include "pkg/store/autoscaling_v1.h"

#include <catch2/catch.hpp>
#include <string>

namespace berth::apiserver {
namespace {

Value Of(const std::string& spec) {
  auto v = ParseJson(R"({"metadata":{"name":"web"},"spec":)" + spec + "}");
  REQUIRE(v.ok());
  return *std::move(v);
}
const std::string kCpu =
    R"({"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":70}}})";
const std::string kMemory =
    R"({"type":"Resource","resource":{"name":"memory","target":{"type":"Utilization","averageUtilization":60}}})";

TEST_CASE("the use of cpu is a number in autoscaling/v1") {
  const Value v2 = Of(R"({"maxReplicas":5,"metrics":[)" + kCpu + "]}");
  const Value v1 = Of(R"({"maxReplicas":5,"targetCPUUtilizationPercentage":70})");
  CHECK(ToAutoscalingV1(v2) == v1);
  CHECK(FromAutoscalingV1(v1) == v2);
}

TEST_CASE("what autoscaling/v1 has no member for comes back") {
  for (const std::string& metrics : {kMemory, kCpu + "," + kMemory}) {
    const Value v2 =
        Of(R"({"maxReplicas":5,"behavior":{"scaleDown":{"selectPolicy":"Min"}},"metrics":[)" + metrics + "]}");
    const Value v1 = ToAutoscalingV1(v2);
    CHECK(v1.At({"spec", "metrics"}) == nullptr);
    CHECK(v1.At({"spec", "behavior"}) == nullptr);
    CHECK(v1.At({"metadata", "annotations"})->items.size() == 2);
    CHECK(FromAutoscalingV1(v1) == v2);
  }
}

TEST_CASE("an annotation that is no list of targets stays an annotation") {
  for (const char* text : {"{", "{}", "7", "null"}) {
    Value v1 = Of(R"({"maxReplicas":5})");
    v1.Child("metadata").Child("annotations").Set("autoscaling.berth/metrics", Value::String(text));
    CHECK(FromAutoscalingV1(v1) == v1);
  }
}

}  // namespace
}  // namespace berth::apiserver
