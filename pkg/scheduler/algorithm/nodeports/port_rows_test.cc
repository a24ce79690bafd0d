// What is found for all rows at once is what is found for each, whatever pods with equal ports come and go.
#include <catch2/catch.hpp>
#include <random>

#include "pkg/scheduler/algorithm/nodeports/nodeports.h"
#include "pkg/scheduler/testing/world.h"

namespace berth::scheduler::nodeports {
namespace {

using testing::Bound;
using testing::Cat;
using testing::NodeOf;
using testing::PodOf;
using testing::World;

// Returns a pod with up to three ports of two numbers.
api::PodPtr PodWithPorts(std::mt19937* random, const std::string& name) {
  std::string ports;
  for (auto left = (*random)() % 4; left > 0; --left) {
    const auto kind = (*random)() % 8;
    ports += Cat(ports.empty() ? "" : ",", "{'containerPort':1,'hostPort':", kind % 2 == 0 ? "80" : "81",
                 ",'protocol':'", kind == 5 ? "UDP" : "TCP", "','hostIP':'", kind == 6 ? "10.0.0.1" : "", "'}");
  }
  return PodOf(name, Cat("'containers':[{'name':'c','image':'i','ports':[", ports, "]}]"));
}

}  // namespace

TEST_CASE("host ports: all rows at once get the answers of single rows, while pods come, go and are tried") {
  constexpr unsigned kNodes = 100;
  size_t fitting = 0, not_fitting = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    World w;
    for (unsigned n = 0; n < kNodes; ++n) w.Nodes({NodeOf(Cat("n", std::to_string(n)))});
    PluginFactoryArgs args;
    args.cache = &w.cache;
    const std::vector<FitPredicate> rules = {PodFitsHostPorts(args), PodFitsHostPortNumbers(args)};
    std::vector<api::PodPtr> there;
    const auto compare = [&](const std::string& name) {
      const api::PodPtr pod = PodWithPorts(&random, name);
      const PodContext ctx{*pod, *w.cache.Info(*pod), w.cache};
      for (const FitPredicate& rule : rules) {
        const auto check = rule(ctx);
        RowSet rows = w.cache.listed(), errors;
        check->Filter(&rows, &errors);
        w.cache.listed().ForEach([&](Row row) {
          const bool fits = check->Check(row) == Verdict::kFits;
          CHECK(rows.Has(row) == fits);
          ++(fits ? fitting : not_fitting);
        });
      }
    };
    // Some pods are there, and some have gone, before the first pod asks.
    for (unsigned i = 0; i < 300; ++i) {
      const std::string id = std::to_string(i);
      if (there.size() > 40 && random() % 2 == 0) {
        std::swap(there[random() % there.size()], there.back());
        REQUIRE(w.cache.RemovePod(*there.back()).ok());
        there.pop_back();
      } else {
        there.push_back(
            Bound(PodWithPorts(&random, Cat("there", id)), Cat("n", std::to_string(random() % kNodes / 8))));
        REQUIRE(w.cache.AddPod(there.back()).ok());
      }
      if (i < 100) continue;
      const Row row = w.cache.FindRow(there[random() % there.size()]->node_name);
      {
        Cache::Simulation simulation(&w.cache, row);
        while (!w.cache.row(row).pods.empty() && random() % 3 != 0) {
          const PlacedPod gone = w.cache.row(row).pods[random() % w.cache.row(row).pods.size()];
          simulation.Remove(gone);
          if (random() % 3 == 0) simulation.Restore(gone);
        }
        compare(Cat("tried", id));
      }
      compare(Cat("p", id));
    }
  }
  CHECK(fitting > 10000);
  CHECK(not_fitting > 10000);
}

}  // namespace berth::scheduler::nodeports
