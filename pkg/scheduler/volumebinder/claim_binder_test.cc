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

namespace {

// Checks that bound claims come to the same on all nodes at once as on single ones.
void CompareBound(const Cache& cache, const ClaimBinder& binder, const ClaimBinder::PodClaims& claims) {
  std::vector<Row> rows;
  cache.listed().ForEach([&](Row row) { rows.push_back(row); });
  std::vector<ClaimBinder::Bound> answers(rows.size());
  binder.FindBound(claims.bound, rows, answers);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto found = binder.Find(claims, *cache.row(rows[i]).node);
    CHECK((answers[i] == ClaimBinder::Bound::kMissing) == !found.bound_exist);
    CHECK((answers[i] == ClaimBinder::Bound::kOutOfReach) == !found.bound_fit);
  }
}

}  // namespace

TEST_CASE("claim binder: all nodes at once get the answers of single nodes, by the rules of releases") {
  constexpr ClaimRules kLater, kEarlier = {.selected_node_is_immediate = true,
                                           .lists_by_specification = true,
                                           .names_are_empty = true,
                                           .knows_csi_drivers = false};
  std::mt19937 random(11);
  const auto one_of = [&](std::initializer_list<const char*> texts) { return texts.begin()[random() % texts.size()]; };
  const auto term = [&] {
    const std::string labels =
        Cat("'matchExpressions':[{'key':'at','operator':'In','values':['", one_of({"a", "b"}), "','c']}]");
    const std::string fields = Cat("'matchFields':[{'key':'metadata.name','operator':'", one_of({"In", "NotIn"}),
                                   "','values':['", one_of({"n0", "n3"}), "']}]");
    const unsigned kind = random() % 5;
    return Cat("{", kind == 4 ? "" : kind == 0 ? fields : kind == 1 ? Cat(labels, ",", fields) : labels, "}");
  };
  size_t fitting = 0, not_fitting = 0;
  for (int round = 0; round < 200; ++round) {
    World w;
    w.Nodes({NodeOf("n0", "'at':'a'"), NodeOf("n1", "'at':'b'"), NodeOf("n2", "'at':'c'"), NodeOf("n3", "")});
    w.Class("late", Cat("'volumeBindingMode':'WaitForFirstConsumer','provisioner':'",
                        one_of({"kubernetes.io/no-provisioner", "x"}), "'"));
    for (int i = 0; i < 6; ++i) {
      const std::string name = Cat("v", std::to_string(i));
      const std::string two = Cat(term(), random() % 2 == 0 ? "" : Cat(",", term()));
      const std::string where =
          random() % 6 == 0 ? "" : Cat(",'nodeAffinity':{'required':{'nodeSelectorTerms':[", two, "]}}");
      w.Volume(name, Cat("'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'storageClassName':'late'",
                         one_of({"", ",'claimRef':{'namespace':'default','name':'d0'}"}), where));
      auto available = std::make_shared<api::PersistentVolume>(*w.cache.listers().volumes.Get(Symbol(), name));
      available->phase = "Available";
      w.cache.listers().volumes.Set(available);
    }
    const std::string of_class =
        "'resources':{'requests':{'storage':'1Gi'}},'accessModes':['ReadWriteOnce'],'storageClassName':'late'";
    const char* const bound = "'annotations':{'pv.kubernetes.io/bind-completed':'yes'}";
    w.Claim("b", Cat(of_class, ",'volumeName':'v5'"), bound);
    w.Claim("a", Cat(of_class, ",'volumeName':'", one_of({"v4", "v4", "missing"}), "'"), bound);
    w.Claim("d0", of_class);
    w.Claim("d1", of_class);
    std::string volumes;
    for (const char* claim : {"b", "a", "d0", "d1"}) {
      if (random() % 2 == 0) continue;
      volumes +=
          Cat(volumes.empty() ? "" : ",", "{'name':'", claim, "','persistentVolumeClaim':{'claimName':'", claim, "'}}");
    }
    const api::PodPtr pod = PodOf("p", Cat("'volumes':[", volumes, "]"));
    for (const ClaimRules& rules : {kLater, kEarlier}) {
      const ClaimBinder binder(&w.cache, rules);
      const auto claims = binder.ClaimsOf(*pod);
      RowSet rows = w.cache.listed();
      REQUIRE(binder.KeepFitting(claims, &rows));
      REQUIRE_FALSE(binder.MayErr(claims.bound));
      CompareBound(w.cache, binder, claims);
      w.cache.listed().ForEach([&](Row row) {
        const bool fits = binder.Find(claims, *w.cache.row(row).node).fits();
        CHECK(rows.Has(row) == fits);
        ++(fits ? fitting : not_fitting);
      });
    }
  }
  CHECK(fitting > 200);
  CHECK(not_fitting > 200);
}

// The migrated plugins of a node say whether a volume of such a plugin is translated there, which replaces its zone
// labels by an affinity. Volumes of AWS whose ID has no "vol-" cannot be translated.
TEST_CASE("claim binder: in-tree volumes get the answers of single nodes, while nodes and CSINodes change") {
  std::mt19937 random(5);
  const auto one_of = [&](std::initializer_list<const char*> texts) { return texts.begin()[random() % texts.size()]; };
  size_t fitting = 0, not_fitting = 0, errors = 0;
  for (int round = 0; round < 60; ++round) {
    World w;
    const ClaimBinder binder(&w.cache);
    for (int step = 0; step < 20; ++step) {
      const std::string name = Cat("n", std::to_string(random() % 5));
      if (random() % 3 == 0) {
        w.cache.listers().csi_nodes.Set(testing::Decoded(
            api::DecodeCsiNode,
            Cat("{'metadata':{'name':'", name, "','annotations':{'storage.alpha.kubernetes.io/migrated-plugins':'",
                one_of({"", "kubernetes.io/gce-pd", "kubernetes.io/aws-ebs",
                        "kubernetes.io/gce-pd,kubernetes.io/aws-ebs"}),
                "'}}}")));
      } else if (random() % 6 == 0) {
        w.cache.RemoveNode(name);
      } else {
        w.Nodes({NodeOf(name, Cat("'at':'", one_of({"a", "b"}), "','topology.gke.io/zone':'", one_of({"a", "b"}),
                                  "','topology.ebs.csi.aws.com/zone':'", one_of({"a", "b"}), "'"))});
      }
      w.Volume("v",
               Cat(one_of({"'gcePersistentDisk':{'pdName':'x'}", "'awsElasticBlockStore':{'volumeID':'aws://a/vol-1'}",
                           "'awsElasticBlockStore':{'volumeID':'aws://a/other'}",
                           "'csi':{'driver':'d','volumeHandle':'h'}"}),
                   one_of({"",
                           ",'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'at',"
                           "'operator':'In','values':['a']}]}]}}"})),
               one_of({"", "'labels':{'topology.kubernetes.io/zone':'a'}",
                       "'labels':{'failure-domain.beta.kubernetes.io/zone':'a__b'}"}));
      w.Claim("c", "'volumeName':'v'", "'annotations':{'pv.kubernetes.io/bind-completed':'yes'}");
      const auto claims =
          binder.ClaimsOf(*PodOf("p", "'volumes':[{'name':'c','persistentVolumeClaim':{'claimName':'c'}}]"));
      REQUIRE(claims.bound.size() == 1);
      RowSet rows = w.cache.listed();
      const bool known = binder.KeepFitting(claims, &rows);
      bool any_error = false;
      w.cache.listed().ForEach([&](Row row) {
        const auto found = binder.Find(claims, *w.cache.row(row).node);
        any_error = any_error || !found.error.empty();
        if (!known) return;
        CHECK(rows.Has(row) == found.fits());
        ++(found.fits() ? fitting : not_fitting);
      });
      CHECK(known == !any_error);
      CHECK((binder.MayErr(claims.bound) || !any_error));
      if (!binder.MayErr(claims.bound)) CompareBound(w.cache, binder, claims);
      errors += any_error ? 1 : 0;
    }
  }
  CHECK(fitting > 500);
  CHECK(not_fitting > 500);
  CHECK(errors > 50);
}

namespace {

// A pod on node "a" that waits for two claims: volume "v" is reserved for claim "c", and claim "d" is provisioned
// there.
struct WaitingForClaims : World {
  std::unique_ptr<ClaimBinder> binder;
  ClaimBinder::Assumed written;

  explicit WaitingForClaims(const ClaimRules& rules) {
    Nodes({NodeOf("a", "")});
    Class("late", "'volumeBindingMode':'WaitForFirstConsumer','provisioner':'kubernetes.io/no-provisioner'");
    Class("made", "'volumeBindingMode':'WaitForFirstConsumer','provisioner':'x'");
    const auto of_class = [](std::string_view name) {
      return Cat("'resources':{'requests':{'storage':'1Gi'}},'accessModes':['ReadWriteOnce'],'storageClassName':'",
                 name, "'");
    };
    Volume("v", Cat("'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'storageClassName':'late'"));
    ChangeVolume([](auto* v) { v->phase = "Available"; });
    Claim("c", of_class("late"));
    Claim("d", of_class("made"));
    ChangeClaim("c", [](auto* c) { c->meta.uid = "uid-c"; });
    binder = std::make_unique<ClaimBinder>(&cache, rules);
    const api::PodPtr pod = PodOf("p",
                                  "'volumes':[{'name':'c','persistentVolumeClaim':{'claimName':'c'}},"
                                  "{'name':'d','persistentVolumeClaim':{'claimName':'d'}}]");
    written = binder->Assume(*pod, *cache.row(cache.FindRow(Symbol("a"))).node);
    REQUIRE(written.bindings.size() == 1);
    REQUIRE(written.provisions.size() == 1);
    cache.listers().volumes.Set(written.bindings[0].volume);
    ChangeVolume([](auto*) {});
    cache.listers().claims.Set(written.provisions[0]);
  }

  // As the server stores it: with another version.
  template <typename Change>
  void ChangeVolume(const Change& change) {
    auto v = std::make_shared<api::PersistentVolume>(*cache.listers().volumes.Get(Symbol(), "v"));
    v->meta.resource_version = v->meta.resource_version.string() + "1";
    change(v.get());
    cache.listers().volumes.Set(v);
  }
  template <typename Change>
  void ChangeClaim(const std::string& name, const Change& change) {
    auto c = std::make_shared<api::PersistentVolumeClaim>(*cache.listers().claims.Get(Symbol("default"), name));
    c->meta.resource_version = c->meta.resource_version.string() + "1";
    change(c.get());
    cache.listers().claims.Set(c);
  }
  void Bind(const std::string& name, const char* volume) {
    ChangeClaim(name, [&](auto* c) {
      c->volume_name = volume;
      c->bind_completed = true;
    });
  }
  // "waits", "done", or the error.
  std::string Outcome() const {
    std::string error;
    const bool done = binder->Completed(written, Symbol("a"), &error);
    return !error.empty() ? error : done ? "done" : "waits";
  }
};

void TakeReservation(WaitingForClaims* w) {
  w->ChangeVolume([](auto* v) { v->claim_ref.reset(); });
}

void MoveVolume(WaitingForClaims* w) {
  w->Volume("v",
            "'capacity':{'storage':'1Gi'},'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':"
            "[{'key':'at','operator':'Exists'}]}]}}");
  w->ChangeVolume([](auto* v) { v->claim_ref = api::PersistentVolume::ClaimRef{"default", "c", "uid-c"}; });
}

void ResetNode(WaitingForClaims* w) {
  w->Bind("c", "v");
  w->ChangeClaim("d", [](auto* c) {
    c->selected_node.reset();
    c->raw = api::SharedText("{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}");
  });
}

void ResetAnnotations(WaitingForClaims* w) {
  ResetNode(w);
  w->ChangeClaim("d", [](auto* c) { c->raw = api::SharedText("{\"metadata\":{}}"); });
}

void LoseClaim(WaitingForClaims* w) {
  w->cache.listers().claims.Remove(Symbol("default"), "c");
}

void LoseProvisionedClaim(WaitingForClaims* w) {
  w->Bind("c", "v");
  w->cache.listers().claims.Remove(Symbol("default"), "d");
}

void LoseVolume(WaitingForClaims* w) {
  w->cache.listers().volumes.Remove(Symbol(), "v");
}

void LoseNode(WaitingForClaims* w) {
  w->cache.RemoveNode("a");
}

void BindAll(WaitingForClaims* w) {
  w->Volume("made", "'capacity':{'storage':'1Gi'}");
  w->Bind("c", "v");
  w->Bind("d", "made");
}

}  // namespace

TEST_CASE("claim binder: what is said of claims that cannot be bound any more, by the rules of releases") {
  struct Case {
    const char* name;
    void (*change)(WaitingForClaims*);
    const char *later, *earlier;
  };
  const Case cases[] = {
      {"nothing", [](WaitingForClaims*) {}, "waits", "waits"},
      {"all bound", BindAll, "done", "done"},
      {"node is gone", LoseNode, "failed to get node \"a\": node \"a\" not found", "waits"},
      {"volume cannot be used", MoveVolume,
       "pv \"v\" node affinity doesn't match node \"a\": no matching NodeSelectorTerms", "waits"},
      {"reservation was taken", TakeReservation, "ClaimRef got reset for pv \"v\"", "ClaimRef got reset for pv \"v\""},
      {"volume is gone", LoseVolume, "failed to check binding: could not find v1.PersistentVolume \"v\"",
       "failed to check pv binding: could not find v1.PersistentVolume \"v\""},
      {"claim is gone", LoseClaim, "failed to check binding: could not find v1.PersistentVolumeClaim \"default/c\"",
       "error getting PVC \"default/c\": could not find v1.PersistentVolumeClaim \"default/c\""},
      {"provisioned claim is gone", LoseProvisionedClaim,
       "failed to check provisioning pvc: could not find v1.PersistentVolumeClaim \"default/d\"",
       "failed to check pvc binding: error getting PVC \"default/d\": could not find v1.PersistentVolumeClaim "
       "\"default/d\""},
      {"node was taken back", ResetNode, "provisioning failed for PVC \"d\"",
       "selectedNode annotation value \"\" not set to scheduled node \"a\""},
      {"annotations are gone", ResetAnnotations, "selectedNode annotation reset for PVC \"d\"",
       "selectedNode annotation reset for PVC \"d\""},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    WaitingForClaims later({}), earlier({.waits_for_claims_alone = true});
    c.change(&later);
    c.change(&earlier);
    CHECK(later.Outcome() == c.later);
    CHECK(earlier.Outcome() == c.earlier);
  }
}

}  // namespace berth::scheduler
