// Pods that are alike are placed by the totals of one decision.
#include "pkg/scheduler/core/batch.h"

#include <catch2/catch.hpp>

#include "pkg/scheduler/testing/objects.h"

namespace berth::scheduler {
namespace {

using testing::Asks;
using testing::PodOf;

constexpr BatchParts kAllParts = {.tolerations = true,
                                  .node_name = true,
                                  .node_affinity = true,
                                  .host_ports = true,
                                  .requests = true,
                                  .volumes = true,
                                  .images = true,
                                  .labels = true,
                                  .features = true,
                                  .no_spread = true,
                                  .no_pod_affinity = true,
                                  .no_claims = true};

std::string SignatureOf(const api::PodPtr& pod, const BatchParts& parts = kAllParts) {
  Cache cache(DescribeWithPodLevel);
  return BatchSignature(parts, PodContext{*pod, *cache.Info(*pod), cache});
}
std::string SignatureOf(const std::string& spec, const BatchParts& parts = kAllParts) {
  return SignatureOf(PodOf("p", spec), parts);
}

TEST_CASE("batch: what plugins read is in the signature, in no order, and nothing else is") {
  const std::string one = Asks("'cpu':'1'");
  CHECK(SignatureOf(PodOf("a", one)) == SignatureOf(PodOf("b", one, "", "'annotations':{'x':'y'}")));
  CHECK(SignatureOf(one) != SignatureOf(Asks("'cpu':'2'")));
  CHECK(SignatureOf(PodOf("a", one, "'x':'y'")) != SignatureOf(one));
  const std::string a = "{'key':'a','operator':'Exists'}", b = "{'key':'b','operator':'Exists'}";
  CHECK(SignatureOf(one + ",'tolerations':[" + a + "," + b + "]") ==
        SignatureOf(one + ",'tolerations':[" + b + "," + a + "]"));
  CHECK(SignatureOf(one + ",'tolerations':[" + a + "]") != SignatureOf(one + ",'tolerations':[" + b + "]"));
  CHECK(SignatureOf(one + ",'volumes':[{'name':'v','configMap':{'name':'x'}}]") == SignatureOf(one));
  CHECK(SignatureOf(one + ",'volumes':[{'name':'v','emptyDir':{}}]") ==
        SignatureOf(one + ",'volumes':[{'name':'w','emptyDir':{}}]"));
  CHECK(SignatureOf(one + ",'volumes':[{'name':'v','emptyDir':{}}]") != SignatureOf(one));
  BatchParts no_labels = kAllParts;
  no_labels.labels = false;
  CHECK(SignatureOf(PodOf("a", one, "'x':'y'"), no_labels) == SignatureOf(one, no_labels));
}

TEST_CASE("batch: host ports count as bare numbers, also those of init containers") {
  const auto port = [](const std::string& p) { return Asks("'cpu':'1'", "'ports':[" + p + "]"); };
  CHECK(SignatureOf(port("{'hostPort':80,'protocol':'UDP'}")) ==
        SignatureOf(port("{'hostPort':80,'hostIP':'1.2.3.4'}")));
  CHECK(SignatureOf(port("{'hostPort':80}")) != SignatureOf(port("{'hostPort':81}")));
  const std::string init = ",'initContainers':[{'name':'i','image':'i','ports':[{'hostPort':80}]}]";
  CHECK(SignatureOf(Asks("'cpu':'1'") + init) != SignatureOf(Asks("'cpu':'1'")));
}

TEST_CASE("batch: pods that depend on other pods or on claims are never in one") {
  const std::string one = Asks("'cpu':'1'");
  const std::string spread = ",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'z'}]";
  CHECK(SignatureOf(one + spread).empty());
  CHECK(SignatureOf(one + ",'affinity':{'podAntiAffinity':{}}").empty());
  CHECK(SignatureOf(one + ",'resourceClaims':[{'name':'c','resourceClaimName':'d'}]").empty());
  CHECK_FALSE(SignatureOf(one + spread, BatchParts()).empty());
}

// Returns nodes with their totals, in rows in the order of the list.
ScoredRows Scored(const std::vector<std::pair<int64_t, Symbol>>& totals) {
  ScoredRows out;
  auto names = std::make_shared<std::vector<Symbol>>();
  for (const auto& [total, name] : totals) {
    out.rows.emplace_back(total, static_cast<Row>(names->size()));
    names->push_back(name);
  }
  out.names = std::move(names);
  return out;
}

TEST_CASE("batch: the nodes that are left are proposed in turn to equal pods of the cycles that follow") {
  const Symbol a("a"), b("b"), c("c"), d("d");
  const absl::Duration now = absl::Seconds(1);
  Batch batch;
  CHECK_FALSE(batch.HasNodesFor("s", 1, now));
  ScoredRows scored = Scored({{9, a}, {7, b}, {8, c}, {7, d}});
  batch.Placed(a, 1, "s", &scored, now);
  CHECK(batch.last_node() == a);
  CHECK_FALSE(batch.HasNodesFor("s", 3, now));
  CHECK_FALSE(batch.HasNodesFor("t", 2, now));
  CHECK_FALSE(batch.HasNodesFor("s", 2, now + absl::Milliseconds(501)));
  REQUIRE(batch.HasNodesFor("s", 2, now + absl::Milliseconds(500)));
  CHECK(batch.TakeBest() == c);
  batch.PlacedByHint(c, 2);
  CHECK_FALSE(batch.HasNodesFor("s", 2, now));
  REQUIRE(batch.HasNodesFor("s", 3, now));
  CHECK(batch.TakeBest() == d);  // equal totals stand by name in descending order
  CHECK(batch.TakeBest() == b);
  CHECK_FALSE(batch.HasNodesFor("s", 3, now));
  scored = Scored({{9, a}, {7, b}});
  batch.Placed(a, 4, "s", &scored, now);
  CHECK(batch.HasNodesFor("s", 5, now));
  scored = Scored({{9, a}});
  batch.Placed(a, 5, "s", &scored, now);
  CHECK_FALSE(batch.HasNodesFor("s", 6, now));
  scored = {};
  batch.Placed(b, 5, "", &scored, now);
  CHECK_FALSE(batch.HasNodesFor("s", 6, now));
}

TEST_CASE("batch: totals that differ by the same amount for all rows leave the same order") {
  const Symbol a("a"), b("b");
  const ScoredRows two = Scored({{9, a}, {7, b}});
  CHECK(SameOrder({}, {}));
  CHECK(SameOrder(two, Scored({{109, a}, {107, b}})));
  CHECK(SameOrder(two, {{two.rows[1], two.rows[0]}, two.names}));
  CHECK_FALSE(SameOrder(two, Scored({{9, a}, {8, b}})));
  CHECK_FALSE(SameOrder(two, Scored({{7, a}, {9, b}})));
  CHECK_FALSE(SameOrder(two, Scored({{9, a}})));
}

}  // namespace
}  // namespace berth::scheduler
