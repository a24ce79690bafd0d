#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <random>

#include "pkg/api/decode.h"
#include "pkg/releases/v1_10/decides.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/policy/decode.h"
#include "pkg/scheduler/testing/traits_check.h"
#include "plugin/examples/gpu_share.h"
#include "plugin/examples/node_price.h"
#include "plugin/examples/replica_limit.h"

namespace plugin::examples {
namespace {

using namespace berth;             // NOLINT: tests the public interface
using namespace berth::scheduler;  // NOLINT

api::NodePtr MakeNode(const std::string& name, const std::string& labels = "{}") {
  api::Document d;
  REQUIRE(d.Parse(R"({"metadata":{"name":")" + name + R"(","labels":)" + labels +
                  R"(},"status":{"allocatable":{"cpu":"8","memory":"16Gi","pods":"50"}}})")
              .ok());
  return api::DecodeNode(d.root()).value();
}

api::PodPtr MakePod(const std::string& name, const std::string& labels, const std::string& node = "",
                    const std::string& ns = "default") {
  api::Document d;
  REQUIRE(d.Parse(R"({"metadata":{"name":")" + name + R"(","namespace":")" + ns + R"(","uid":"uid-)" + ns + name +
                  R"(","labels":)" + labels + R"(},"spec":{"nodeName":")" + node + R"(","containers":[]}})")
              .ok());
  return api::DecodePod(d.root()).value();
}

// A scheduler with one of the example predicates and one of the example priorities.
struct Fixture {
  Cache cache;
  std::unique_ptr<GenericScheduler> scheduler;
  explicit Fixture(const std::string& suffix) {
    Policy policy;
    policy.predicates.emplace();
    policy.predicates->push_back({absl::StrCat("MaxReplicasPerNode", suffix), {}});
    policy.priorities.emplace();
    policy.priorities->push_back({absl::StrCat("CheapestNodePriority", suffix), 1, {}});
    FactoryArgs args;
    args.release = &releases::v1_10::Decides();
    args.cache = &cache;
    EffectiveAlgorithm effective;
    auto made = CreateFromConfig(policy, args, &effective);
    REQUIRE(made.ok());
    scheduler = std::move(*made);
    // MandatoryByTest is registered by registration_test.cc, and is in every scheduler as CheckNodeCondition is.
    REQUIRE(effective.predicates == std::vector<std::string>{"CheckNodeCondition", "MandatoryByTest",
                                                             absl::StrCat("MaxReplicasPerNode", suffix)});
  }
};

const char* const kForms[] = {"", "Plain"};

}  // namespace

TEST_CASE("the examples are registered, as everything in plugin/ is") {
  for (const std::string form : kForms) {
    CHECK(IsFitPredicateRegistered(releases::v1_10::Decides(), "MaxReplicasPerNode" + form));
    CHECK(IsPriorityFunctionRegistered(releases::v1_10::Decides(), "CheapestNodePriority" + form));
  }
}

TEST_CASE("the examples read no more than their traits declare") {
  for (const char* form : kForms)
    CHECK(testing::TraitsProblem(FrozenRegistry(releases::v1_10::Decides()),
                                 absl::StrCat("MaxReplicasPerNode", form)) == "");
}

TEST_CASE("MaxReplicasPerNode lets only so many pods of an app on a node") {
  for (const char* form : kForms) {
    INFO("form " << form);
    Fixture f(form);
    f.cache.AddNode(MakeNode("n1"));
    f.cache.AddNode(MakeNode("n2"));
    const std::string labels = R"({"app":"db","max-per-node":"2"})";
    REQUIRE(f.cache.AddPod(MakePod("a", labels, "n1")).ok());
    REQUIRE(f.cache.AddPod(MakePod("b", labels, "n1")).ok());
    REQUIRE(f.cache.AddPod(MakePod("c", R"({"app":"db"})", "n2")).ok());     // counts, though it has no limit itself
    REQUIRE(f.cache.AddPod(MakePod("d", labels, "n2", "elsewhere")).ok());   // another namespace's does not
    REQUIRE(f.cache.AddPod(MakePod("e", R"({"app":"other"})", "n2")).ok());  // nor does another app's

    CHECK(f.scheduler->Schedule(MakePod("x", labels)).host.str() == "n2");
    REQUIRE(f.cache.AddPod(MakePod("f", labels, "n2")).ok());
    Decision full = f.scheduler->Schedule(MakePod("x", labels));
    CHECK(full.outcome == Decision::Outcome::kUnfit);
    CHECK(full.error == "0/2 nodes are available: 2 " + std::string(kTooManyReplicas) + ".");
    CHECK(f.scheduler->Schedule(MakePod("y", R"({"app":"db"})")).outcome == Decision::Outcome::kPlaced);
  }
}

TEST_CASE("MaxReplicasPerNode refuses a pod whose limit is no number") {
  for (const char* form : kForms) {
    INFO("form " << form);
    Fixture f(form);
    f.cache.AddNode(MakeNode("n1"));
    for (const std::string bad : {"0", "-1", "many", "2x", "", "99999999999999999999"}) {
      Decision d = f.scheduler->Schedule(MakePod("x", R"({"app":"db","max-per-node":")" + bad + "\"}"));
      CHECK(d.outcome == Decision::Outcome::kError);
      CHECK(d.error == "pod label max-per-node: \"" + bad + "\" should be a whole number, 1 or more");
    }
  }
}

TEST_CASE("CheapestNodePriority scores by price") {
  for (const char* form : kForms) {
    INFO("form " << form);
    Fixture f(form);
    f.cache.AddNode(MakeNode("dear", R"({"price-per-hour":"40"})"));
    f.cache.AddNode(MakeNode("fair", R"({"price-per-hour":"12"})"));
    f.cache.AddNode(MakeNode("gift", R"({"price-per-hour":"0"})"));
    f.cache.AddNode(MakeNode("none"));
    f.cache.AddNode(MakeNode("odd", R"({"price-per-hour":"cheap"})"));
    DecisionTrace trace;
    CHECK(f.scheduler->Schedule(MakePod("x", "{}"), DecisionMode::kReference, &trace).host.str() == "gift");
    REQUIRE(trace.feasible.size() == 5);
    std::map<std::string, int64_t> scores;
    for (size_t i = 0; i < 5; ++i) scores[trace.feasible[i].string()] = trace.priorities.at(0).scores[i];
    CHECK(scores == std::map<std::string, int64_t>{{"dear", 0}, {"fair", 7}, {"gift", 10}, {"none", 0}, {"odd", 0}});
  }
}

TEST_CASE("RackSpread keeps racks within one replica of each other, however it is decided") {
  Cache cache;
  for (int i = 0; i < 9; ++i) {
    cache.AddNode(MakeNode(absl::StrCat("n", i), i == 8 ? "{}" : absl::StrCat(R"({"rack":"r)", i % 3, "\"}")));
  }
  Policy policy;
  policy.predicates.emplace();
  policy.predicates->push_back({"RackSpread", {}});
  policy.priorities.emplace();
  FactoryArgs args;
  args.release = &releases::v1_10::Decides();
  args.cache = &cache;
  auto scheduler = CreateFromConfig(policy, args);
  REQUIRE(scheduler.ok());
  std::map<std::string, int> by_rack;
  for (int i = 0; i < 30; ++i) {
    const api::PodPtr pod = MakePod(absl::StrCat("p", i), R"({"app":"db"})");
    const uint64_t turn = (*scheduler)->last_node_index();
    const Decision reference = (*scheduler)->Schedule(pod, DecisionMode::kReference);
    (*scheduler)->set_last_node_index(turn);
    const Decision d = (*scheduler)->Schedule(pod);
    REQUIRE(d.host == reference.host);
    REQUIRE(d.outcome == Decision::Outcome::kPlaced);
    REQUIRE(d.host.str() != "n8");  // in no rack
    REQUIRE(cache.AddPod(MakePod(absl::StrCat("p", i), R"({"app":"db"})", d.host.string())).ok());
    ++by_rack[cache.row(cache.FindRow(d.host)).node->labels.Get(util::Symbol("rack"))->string()];
    int least = 1000, most = 0;
    for (const char* rack : {"r0", "r1", "r2"}) {
      least = std::min(least, by_rack[rack]);
      most = std::max(most, by_rack[rack]);
    }
    REQUIRE(most - least <= 1);
  }
  CHECK((*scheduler)->Schedule(MakePod("free", "{}")).outcome == Decision::Outcome::kPlaced);
}

TEST_CASE("RackSpread takes its arguments from the Policy, and says what is wrong with them") {
  Cache cache;
  auto build = [&cache](const std::string& argument) {
    auto policy =
        DecodePolicy(R"({"predicates":[{"name":"RackSpread","argument":)" + argument + R"(}],"priorities":[]})");
    REQUIRE(policy.ok());
    FactoryArgs args;
    args.release = &releases::v1_10::Decides();
    args.cache = &cache;
    return CreateFromConfig(*policy, args);
  };
  for (int i = 0; i < 4; ++i) {
    cache.AddNode(MakeNode(absl::StrCat("n", i), absl::StrCat(R"({"row":"r)", i % 2, "\"}")));
  }
  auto scheduler = build(R"({"maxSkew":2,"label":"row"})");
  REQUIRE(scheduler.ok());
  for (const char* placed : {"a", "b"}) REQUIRE(cache.AddPod(MakePod(placed, R"({"app":"db"})", "n0")).ok());
  CHECK((*scheduler)->Schedule(MakePod("c", R"({"app":"db"})"), DecisionMode::kBoth).feasible == 2);  // those of r1
  CHECK((*scheduler)->Schedule(MakePod("c", R"({"app":"db"})"), DecisionMode::kBoth).difference == "");
  CHECK(build("{\"maxSkew\":0,\"Label\":\"row\"}").status().message() ==
        "[Predicate RackSpread: argument: maxSkew: 0: must be a whole number from 1 to 1000, Predicate RackSpread: "
        "argument: Label: there is no such argument (did you mean \"label\"?)]");
}

namespace {

api::NodePtr NodeWithGpus(const std::string& name, int gpus) {
  api::Document d;
  REQUIRE(d.Parse(absl::StrCat(R"({"metadata":{"name":")", name, R"("},"status":{"allocatable":{"cpu":"8","memory":)",
                               R"("16Gi","pods":"50","example.com/gpu-milli":")", gpus * 1000, "\"}}}"))
              .ok());
  return api::DecodeNode(d.root()).value();
}
api::PodPtr PodWithShare(const std::string& name, int share, const std::string& node = "") {
  api::Document d;
  REQUIRE(d.Parse(absl::StrCat(R"({"metadata":{"name":")", name, R"(","namespace":"default","uid":")", name,
                               R"("},"spec":{"nodeName":")", node, R"(","containers":[{"name":"c","resources":{)",
                               R"("requests":{"example.com/gpu-milli":")", share, "\"}}}]}}"))
              .ok());
  return api::DecodePod(d.root()).value();
}

}  // namespace

TEST_CASE("GpuShareFits wants the whole share on one device") {
  Cache cache;
  cache.AddNode(NodeWithGpus("n1", 2));
  REQUIRE(cache.AddPod(PodWithShare("before", 600, "n1")).ok());
  auto policy = DecodePolicy(R"({"predicates":[{"name":"GpuShareFits"}],"priorities":[]})");
  REQUIRE(policy.ok());
  FactoryArgs args;
  args.release = &releases::v1_10::Decides();
  args.cache = &cache;
  auto made = CreateFromConfig(*policy, args);
  REQUIRE(made.ok());
  auto places = [&](int share) {
    const Decision d = (*made)->Schedule(PodWithShare("p", share), DecisionMode::kBoth);
    CHECK(d.difference == "");
    return d.outcome == Decision::Outcome::kPlaced;
  };
  REQUIRE(cache.AssumePod(PodWithShare("second", 600, "n1")).ok());
  CHECK(places(400));
  CHECK_FALSE(places(500));  // there are 800 left, but no 500 on one device
  REQUIRE(cache.ForgetPod(*PodWithShare("second", 600, "n1")).ok());
  CHECK(places(1000));
  cache.AddNode(NodeWithGpus("n1", 1));
  CHECK_FALSE(places(500));
  CHECK(testing::TraitsProblem(FrozenRegistry(releases::v1_10::Decides()), "GpuShareFits") == "");
}

TEST_CASE("the devices of GpuShareFits follow the pods, and trials leave no trace") {
  std::mt19937 random(39);
  auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 50; ++round) {
    Cache cache;
    for (int i = 0; i < 3; ++i) cache.AddNode(NodeWithGpus(absl::StrCat("n", i), 3));
    auto devices = std::make_shared<Devices>(&cache, util::Symbol("example.com/gpu-milli"));
    cache.Tell(devices);
    std::vector<api::PodPtr> there;
    auto used = [&] {
      std::vector<std::vector<int64_t>> out;
      for (Row row = 0; row < 3; ++row) out.push_back(devices->Used(row));
      return out;
    };
    for (int i = 0; i < 60; ++i) {
      if (!there.empty() && pick(3) == 0) {
        std::swap(there[static_cast<size_t>(pick(static_cast<int>(there.size())))], there.back());
        REQUIRE(cache.RemovePod(*there.back()).ok());
        there.pop_back();
      } else {
        const auto pod = PodWithShare(absl::StrCat("p", i), 100 * (1 + pick(9)), absl::StrCat("n", pick(3)));
        if (devices->Choose(cache.FindRow(pod->node_name), cache.Info(*pod)->request.Scalar(devices->resource())) < 0)
          continue;
        REQUIRE(cache.AddPod(pod).ok());
        there.push_back(pod);
      }
      // What is used is the sum of the shares that pods have, device by device.
      std::vector<std::vector<int64_t>> sums(3, std::vector<int64_t>(3));
      for (const auto& p : there) {
        sums[cache.FindRow(p->node_name)][static_cast<size_t>(devices->DeviceOf(p->meta.uid))] +=
            cache.Info(*p)->used.Scalar(devices->resource());
      }
      const auto before = used();
      REQUIRE(before == sums);
      const Row row = static_cast<Row>(pick(3));
      {
        Cache::Simulation trial(&cache, row);
        const std::vector<PlacedPod> pods = cache.row(row).pods;
        for (const PlacedPod& p : pods) trial.Remove(p);
        CHECK(devices->Used(row) == std::vector<int64_t>(3));
        trial.AddNominated(PodWithShare("nominated", 700));
        CHECK(devices->DeviceOf("nominated") == 0);
        for (const PlacedPod& p : pods) {
          if (pick(2) == 0) trial.Restore(p);
        }
      }
      REQUIRE(used() == before);
      REQUIRE(devices->DeviceOf("nominated") == -1);
    }
    // Nobody is told any more once the holder is gone.
    std::weak_ptr<Devices> gone = devices;
    devices.reset();
    CHECK(gone.expired());
    REQUIRE(cache.AddPod(PodWithShare("after", 100, "n0")).ok());
  }
}

TEST_CASE("both forms of the examples decide alike on random clusters") {
  std::mt19937 random(20180326);
  auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 30; ++round) {
    Fixture prepared(""), plain("Plain");
    for (int i = 0; i < 12; ++i) {
      std::string labels = pick(4) == 0 ? "{}" : absl::StrCat(R"({"price-per-hour":")", pick(50), "\"}");
      for (Fixture* f : {&prepared, &plain}) f->cache.AddNode(MakeNode(absl::StrCat("n", i), labels));
    }
    for (int i = 0; i < 60; ++i) {
      std::string labels = absl::StrCat(R"({"app":"a)", pick(3), "\"");
      if (pick(3) != 0) absl::StrAppend(&labels, R"(,"max-per-node":")", 1 + pick(3), "\"");
      labels += "}";
      std::string name = absl::StrCat("p", i);
      Decision a = prepared.scheduler->Schedule(MakePod(name, labels));
      Decision b = plain.scheduler->Schedule(MakePod(name, labels));
      REQUIRE(a.host == b.host);
      REQUIRE(a.error == b.error);
      if (a.host.empty()) continue;
      for (Fixture* f : {&prepared, &plain}) REQUIRE(f->cache.AddPod(MakePod(name, labels, a.host.string())).ok());
    }
  }
}

}  // namespace plugin::examples
