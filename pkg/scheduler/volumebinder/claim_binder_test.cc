// Pods with many claims: each claim gets the volume that it would get if all volumes were looked at for it.
#include "pkg/scheduler/volumebinder/claim_binder.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "pkg/scheduler/testing/world.h"

namespace berth::scheduler {
namespace {

using testing::Cat;
using testing::NodeOf;
using testing::PodOf;
using testing::World;

// A node "a", volumes of which some are for other nodes, and claims of one pod.
struct ManyClaims : World {
  std::vector<std::pair<int, std::string>> sizes;  // of the volumes that node a can use: GiB and name
  api::PodPtr pod;

  ManyClaims(int volumes, const std::vector<int>& claims, std::mt19937* random) {
    Nodes({NodeOf("a", "'at':'a'"), NodeOf("b", "'at':'b'")});
    Class("late", "'volumeBindingMode':'WaitForFirstConsumer','provisioner':'kubernetes.io/no-provisioner'");
    for (int i = 0; i < volumes; ++i) {
      const int size = static_cast<int>((*random)() % 20) + 1;
      const bool here = (*random)() % 4 != 0;
      const std::string name = "v" + std::to_string((*random)());
      const std::string where = Cat(",'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':",
                                    "'at','operator':'In','values':['", here ? "a" : "b", "']}]}]}}");
      Volume(name, Cat("'capacity':{'storage':'", std::to_string(size),
                       "Gi'},'accessModes':['ReadWriteOnce'],'storageClassName':'late'", where));
      auto available = std::make_shared<api::PersistentVolume>(*cache.listers().volumes.Get(Symbol(), name));
      available->phase = "Available";
      cache.listers().volumes.Set(available);
      if (here) sizes.emplace_back(size, name);
    }
    std::string list;
    for (size_t i = 0; i < claims.size(); ++i) {
      const std::string name = "c" + std::to_string(i);
      Claim(name, Cat("'resources':{'requests':{'storage':'", std::to_string(claims[i]),
                      "Gi'}},'accessModes':['ReadWriteOnce'],'storageClassName':'late'"));
      list += Cat(list.empty() ? "" : ",", "{'name':'", name, "','persistentVolumeClaim':{'claimName':'", name, "'}}");
    }
    pod = PodOf("p", Cat("'volumes':[", list, "]"));
  }
};

}  // namespace

TEST_CASE("claim binder: each of many claims gets the smallest volume that is left") {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<int> claims(random() % 50 + 1);
    for (int& c : claims) c = static_cast<int>(random() % 12) + 1;
    ManyClaims w(static_cast<int>(random() % 90), claims, &random);
    const ClaimBinder binder(&w.cache);
    const auto classified = binder.ClaimsOf(*w.pod);
    const api::NodePtr node = w.cache.row(w.cache.FindRow(Symbol("a"))).node;
    const auto found = binder.Find(classified, *node);
    std::set<std::pair<int, std::string>> left(w.sizes.begin(), w.sizes.end());
    std::vector<std::string> expected, got;
    for (const auto& claim : classified.delayed) {
      const auto best = left.lower_bound({static_cast<int>(claim->request.Value() >> 30), ""});
      if (best == left.end()) continue;
      expected.push_back(Cat(claim->meta.name, "=", best->second));
      left.erase(best);
    }
    for (const auto& [claim, volume] : found.bindings) got.push_back(Cat(claim->meta.name, "=", volume->meta.name));
    CHECK(got == expected);
    CHECK(found.fits() == (expected.size() == claims.size()));
    // What is kept between nodes and pods follows the volumes.
    if (w.sizes.empty()) continue;
    w.cache.listers().volumes.Remove(Symbol(), w.sizes[0].second);
    const auto again = binder.Find(classified, *node);
    for (const auto& [claim, volume] : again.bindings) CHECK(volume->meta.name != w.sizes[0].second);
  }
}

}  // namespace berth::scheduler
