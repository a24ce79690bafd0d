#include "pkg/explain/ways.h"

#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <memory>

#include "pkg/api/decode.h"
#include "pkg/explain/lacking.h"
#include "pkg/scheduler/algorithm/reasons.h"

namespace berth::explain {
namespace {

using PredicateResult = scheduler::GenericScheduler::PredicateResult;
using scheduler::Symbol;

api::PodPtr Pod(const std::string& spec) {
  api::Document document;
  REQUIRE(document.Parse(R"({"metadata":{"name":"p","namespace":"ns"},"spec":)" + spec + "}").ok());
  auto pod = api::DecodePod(document.root(), {});
  REQUIRE(pod.ok());
  return *pod;
}

void AddNode(scheduler::Cache* cache, const std::string& name, const std::string& labels,
             const std::string& allocatable) {
  api::Document document;
  REQUIRE(document
              .Parse(R"({"metadata":{"name":")" + name + R"(","labels":)" + labels + R"(},"status":{"allocatable":)" +
                     allocatable + "}}")
              .ok());
  auto node = api::DecodeNode(document.root());
  REQUIRE(node.ok());
  cache->AddNode(*node);
}

std::vector<Remedy> For(const scheduler::Cache& cache, const api::PodPtr& pod, const scheduler::FailureReason& reason) {
  PredicateResult j{scheduler::Verdict::kFails, {reason}, ""};
  return RemediesFor(cache, pod, Symbol("n1"), {"DiskSpace"}, {j});
}

TEST_CASE("a plugin's reason that only looks like a shortage is repeated, not worked out") {
  scheduler::Cache cache;
  AddNode(&cache, "n1", "{}", R"({"cpu":"4","memory":"1Gi","pods":"10","netease/disk":"5"})");
  auto pod = Pod(R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]})");
  for (const char* resource : {"netease/disk", "cpu", "netease/nothing"}) {
    auto remedies = For(cache, pod, scheduler::reasons::Insufficient(Symbol(resource)));
    REQUIRE(remedies.size() == 1);
    CHECK(remedies[0].text == std::string("satisfy DiskSpace: Insufficient ") + resource);
    CHECK(remedies[0].resource.empty());
  }
  pod = Pod(R"({"containers":[{"name":"c","resources":{"requests":{"netease/disk":"7"}}}]})");
  auto remedies = For(cache, pod, scheduler::reasons::Insufficient(Symbol("netease/disk")));
  CHECK(remedies[0].text == "ask for less netease/disk (7, more than the 5 there is)");
  CHECK_FALSE(remedies[0].possible);
}

Remedy Free(int64_t amount) {
  Remedy r;
  r.kind = std::string("free x");
  r.text = absl::StrCat("free ", amount, " x");
  r.resource = std::string("x");
  r.shortage = amount;
  r.effort = static_cast<double>(amount);
  r.cost = Cost::kMove;
  return r;
}

Remedy Small(const std::string& text) {
  Remedy r;
  r.kind = r.text = text;
  r.cost = Cost::kSmall;
  return r;
}

TEST_CASE("a way a kind, with its nearest node first and the cheapest way first") {
  auto ways =
      WaysToFit({{"a", {Free(900)}}, {"b", {Free(20)}}, {"c", {Free(810)}}, {"d", {Small("uncordon")}}, {"e", {}}});
  REQUIRE(ways.size() == 2);
  CHECK(Describe(ways[0]) == "uncordon on d");
  CHECK(Describe(ways[1]) == "free 20 x on b; median 810; 3 nodes");
  CHECK(ways[1].nodes == std::vector<std::string>{"b", "c", "a"});
}

TEST_CASE("what cannot be done is last, whatever it costs") {
  Remedy less = Small("ask for less");
  less.possible = false;
  auto ways = WaysToFit({{"a", {less}}, {"b", {Free(5), Small("uncordon")}}, {"c", {less}}});
  CHECK(Describe(ways[0]) == "free 5 x and uncordon on b");
  CHECK(Describe(ways[1]) == "ask for less on a, the nearest of 2 nodes");
}

TEST_CASE("what no node has is reported with what there is") {
  scheduler::Cache cache;
  AddNode(&cache, "n1", R"({"disk":"hdd"})", R"({"nvidia.com/gpu":"8","example.com/fpga":"1"})");
  AddNode(&cache, "n2", R"({"disk":"nvme"})", R"({"nvidia.com/gpu":"8"})");
  AddNode(&cache, "n3", R"({"disk":"hdd"})", R"({"nvidia.com/gpu":"0"})");
  auto lacking = [&](const std::string& selector, const std::string& resource) {
    return WhatNoNodeHas(
        cache, *Pod(R"({"nodeSelector":)" + selector + R"(,"containers":[{"name":"c","resources":{"requests":{")" +
                    resource + R"(":"1"}}}]})")
                    ->tmpl);
  };
  CHECK(lacking("{}", "nvidia.com/gpu").empty());
  CHECK(lacking(R"({"disk":"hdd"})", "cpu").empty());
  using Texts = std::vector<std::string>;
  CHECK(lacking("{}", "example.com/gpu") == Texts{"No node has example.com/gpu; there is nvidia.com/gpu on 2 nodes."});
  CHECK(lacking("{}", "acme/tpu") ==
        Texts{"No node has acme/tpu; there is nvidia.com/gpu on 2 nodes, example.com/fpga on 1 node."});
  CHECK(lacking(R"({"disk":"ssd"})", "cpu") ==
        Texts{R"(No node has the label disk=ssd; disk is "hdd" on 2 nodes, "nvme" on 1 node.)"});
  CHECK(lacking(R"({"dsk":"hdd"})", "cpu") ==
        Texts{R"(No node has the label dsk=hdd, nor any other value of it; did you mean "disk"?)"});
}

}  // namespace
}  // namespace berth::explain
