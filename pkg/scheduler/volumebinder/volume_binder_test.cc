// Tests each rule of delayed volume binding.
#include <catch2/catch.hpp>

#include "pkg/scheduler/testing/world.h"
#include "pkg/scheduler/volumebinder/claim_matcher.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

using testing::Cat;
using testing::Evaluated;
using testing::NodeOf;
using testing::PodOf;
using testing::World;

api::PodPtr Using(std::initializer_list<const char*> claims) {
  std::string list;
  for (const char* c : claims) {
    list += Cat(list.empty() ? "" : ",", "{'name':'", c, "','persistentVolumeClaim':{'claimName':'", c, "'}}");
  }
  return PodOf("p", Cat("'volumes':[", list, "]"));
}

std::string Size(const char* size, const char* more = "") {
  return Cat("'capacity':{'storage':'", size, "'},'accessModes':['ReadWriteOnce'],'storageClassName':'late'", more);
}
std::string Wants(const char* size, const char* more = "") {
  return Cat("'resources':{'requests':{'storage':'", size,
             "'}},'accessModes':['ReadWriteOnce'],'storageClassName':'late'", more);
}
std::string OnlyOn(const char* key, const char* value) {
  return Cat(",'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'", key,
             "','operator':'In','values':['", value, "']}]}]}}");
}

struct Binding : World {
  Binding() {
    Nodes({NodeOf("a", "'at':'a'"), NodeOf("b", "'at':'b'")});
    Class("late", "'volumeBindingMode':'WaitForFirstConsumer'");
    Class("now", "'volumeBindingMode':'Immediate'");
  }
  std::string Evaluate(const api::PodPtr& pod, const char* node = "a") {
    return Evaluated(*this, "CheckVolumeBinding", pod, node);
  }
  // Returns the volumes that the pod gets on node a.
  std::string Chosen(const api::PodPtr& pod) {
    auto match = binder.Match(binder.ClaimsOf(*pod), cache.row(cache.FindRow(util::Symbol("a"))).node->labels);
    if (!match.ok()) return util::Message(match.status());
    if (!match->has_value()) return "none";
    std::string out;
    for (const auto& b : **match) out += Cat(out.empty() ? "" : " ", b.claim->meta.name, "=", b.volume->meta.name);
    return out;
  }
};

const char kNoVolume[] = "node(s) didn't find available persistent volumes to bind";
const char kWrongNode[] = "node(s) had volume node affinity conflict";

}  // namespace

TEST_CASE("volume binding: claims that are bound, delayed, immediate, missing") {
  Binding w;
  w.Volume("here", Size("1Gi", OnlyOn("at", "a").c_str()));
  w.Claim("bound", "'volumeName':'here'");
  w.Claim("lost", "'volumeName':'nowhere'");
  w.Claim("immediate", "'storageClassName':'now'");
  w.Claim("classless", "");
  w.Claim("unknown-class", "'storageClassName':'other'");
  w.Claim("modeless", "'storageClassName':'modeless'");
  w.Class("modeless", "");
  CHECK(w.Evaluate(PodOf("p")) == "fits");
  CHECK(w.Evaluate(Using({"bound"}), "a") == "fits");
  CHECK(w.Evaluate(Using({"bound"}), "b") == kWrongNode);
  CHECK(w.Evaluate(Using({"lost"})) == "error: could not find v1.PersistentVolume \"nowhere\"");
  for (const char* c : {"immediate", "classless", "unknown-class"}) {
    CHECK(w.Evaluate(Using({c})) == "error: pod has unbound PersistentVolumeClaims");
  }
  CHECK(w.Evaluate(Using({"missing"})) ==
        "error: error getting PVC \"missing\": persistentvolumeclaim \"missing\" not found");
  CHECK(w.Evaluate(Using({"modeless"})) == "error: VolumeBindingMode not set for StorageClass \"modeless\"");
}

TEST_CASE("volume binding: both kinds of conflict are reported") {
  Binding w;
  w.Volume("here", Size("1Gi", OnlyOn("at", "a").c_str()));
  w.Claim("bound", "'volumeName':'here'");
  w.Claim("late", Wants("5Gi"));
  CHECK(w.Evaluate(Using({"bound", "late"}), "b") == Cat(kWrongNode, "; ", kNoVolume));
}

TEST_CASE("volume binding: the smallest volume that will do, none twice, small claims first") {
  Binding w;
  w.Claim("big", Wants("2Gi"));
  w.Claim("small", Wants("1Gi"));
  CHECK(w.Chosen(Using({"small"})) == "none");
  w.Volume("v5", Size("5Gi"));
  w.Volume("v3", Size("3Gi"));
  CHECK(w.Chosen(Using({"small"})) == "small=v3");
  CHECK(w.Chosen(Using({"big", "small"})) == "small=v3 big=v5");
  w.Volume("v1", Size("1Gi"));
  CHECK(w.Chosen(Using({"big", "small"})) == "small=v1 big=v3");
  w.Volume("a1", Size("1024Mi"));  // among equal sizes, the first by name
  CHECK(w.Chosen(Using({"small"})) == "small=a1");
}

TEST_CASE("volume binding: exactly the size asked for will do, one byte less will not") {
  Binding w;
  w.Claim("c", Wants("1000"));
  w.Volume("less", Size("999"));
  CHECK(w.Chosen(Using({"c"})) == "none");
  w.Volume("more", Size("1000"));
  CHECK(w.Chosen(Using({"c"})) == "c=more");
}

TEST_CASE("volume binding: what keeps a volume from being taken") {
  struct Case {
    const char* name;
    std::string volume, meta, claim;
  };
  const Case cases[] = {
      {"another class", "'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'storageClassName':'now'", "",
       ""},
      {"access modes", Size("1Gi"), "", ",'accessModes':['ReadWriteMany']"},
      {"selector", Size("1Gi"), "'labels':{'x':'z'}", ",'selector':{'matchLabels':{'x':'y'}}"},
      {"another node", Size("1Gi", OnlyOn("at", "b").c_str()), "", ""},
      {"being deleted", Size("1Gi"), "'deletionTimestamp':'2018-01-01T00:00:00Z'", ""},
      {"another's", Size("1Gi", ",'claimRef':{'namespace':'default','name':'other'}"), "", ""},
      {"of an earlier claim of the name", Size("1Gi", ",'claimRef':{'namespace':'default','name':'c','uid':'old'}"), "",
       ""},
      {"too small", Size("1Mi"), "", ""},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    Binding w;
    w.Volume("v", c.volume, c.meta);
    w.Claim("c", Wants("1Gi", c.claim.c_str()));
    CHECK(w.Evaluate(Using({"c"})) == kNoVolume);
  }
  Binding w;
  w.Volume("v", Size("1Gi"), "'labels':{'x':'y'}");
  w.Claim("c", Wants("1Gi", ",'selector':{'matchLabels':{'x':'y'}}"));
  CHECK(w.Evaluate(Using({"c"})) == "fits");
}

TEST_CASE("volume binding: a volume that was promised to the claim is the only choice") {
  Binding w;
  w.Claim("c", Wants("1Gi"));
  w.Volume("z-promised", Size("5Gi", ",'claimRef':{'namespace':'default','name':'c'}"));
  CHECK(w.Chosen(Using({"c"})) == "c=z-promised");
  w.Volume("a-fine", Size("1Gi"));
  CHECK(w.Chosen(Using({"c"})) == "c=z-promised");
  w.Volume("z-promised", Size("5Gi", Cat(",'claimRef':{'namespace':'default','name':'c'}", OnlyOn("at", "b")).c_str()));
  CHECK(w.Chosen(Using({"c"})) == "none");
}

TEST_CASE("volume binding: affinity by annotation, and one that is not JSON") {
  Binding w;
  w.Claim("c", Wants("1Gi"));
  const char* note =
      "'annotations':{'volume.alpha.kubernetes.io/node-affinity':'{\\'requiredDuringSchedulingIgnored"
      "DuringExecution\\':{\\'nodeSelectorTerms\\':[{\\'matchExpressions\\':[{\\'key\\':\\'at\\',"
      "\\'operator\\':\\'In\\',\\'values\\':[\\'b\\']}]}]}}'}";
  w.Volume("v", Size("1Gi"), note);
  CHECK(w.Evaluate(Using({"c"}), "a") == kNoVolume);
  CHECK(w.Evaluate(Using({"c"}), "b") == "fits");
  w.Volume("v", Size("1Gi"), "'annotations':{'volume.alpha.kubernetes.io/node-affinity':'{'}");
  CHECK(w.Evaluate(Using({"c"}), "b") == kNoVolume);
}

TEST_CASE("assuming volumes: reserved until the API shows them, or taken back") {
  Binding w;
  const api::Node& node = *w.cache.row(w.cache.FindRow(util::Symbol("a"))).node;
  w.Claim("c", Wants("1Gi"));
  w.Claim("d", Wants("1Gi"));
  w.Volume("v", Size("1Gi"));
  auto assumed = w.binder.AssumePodVolumes(*Using({"c"}), node);
  CHECK(assumed.error == "");
  CHECK(!assumed.all_bound);
  REQUIRE(assumed.to_write.size() == 1);
  CHECK(assumed.to_write[0].volume->meta.name == "v");
  CHECK(assumed.to_write[0].claim->meta.name == "c");
  CHECK(assumed.to_write[0].set_bound_by_controller);
  CHECK(w.Evaluate(Using({"d"})) == kNoVolume);  // v is reserved for c now
  CHECK(w.Evaluate(Using({"c"})) == "fits");
  // A second call has nothing left to write, because the volume controller must complete the binding.
  CHECK(w.binder.AssumePodVolumes(*Using({"c"}), node).to_write.empty());
  w.binder.Forget(assumed.to_write);
  CHECK(w.Evaluate(Using({"d"})) == "fits");

  auto again = w.binder.AssumePodVolumes(*Using({"d"}), node);
  REQUIRE(again.to_write.size() == 1);
  w.Volume("v", Size("1Gi", ",'claimRef':{'namespace':'default','name':'c','uid':'uid-c'}"));
  w.binder.VolumeChanged("v");
  CHECK(w.Evaluate(Using({"d"})) == kNoVolume);
  CHECK(w.Evaluate(Using({"c"})) == "fits");
}

TEST_CASE("assuming volumes: nothing to do when every claim is fully bound") {
  Binding w;
  const api::Node& node = *w.cache.row(w.cache.FindRow(util::Symbol("a"))).node;
  w.Volume("v", Size("1Gi"));
  w.Claim("half", "'volumeName':'v'");
  w.Claim("whole", "'volumeName':'v'", "'annotations':{'pv.kubernetes.io/bind-completed':'yes'}");
  CHECK(w.binder.AssumePodVolumes(*PodOf("p"), node).all_bound);
  CHECK(w.binder.AssumePodVolumes(*Using({"whole"}), node).all_bound);
  auto half = w.binder.AssumePodVolumes(*Using({"half"}), node);
  CHECK(!half.all_bound);
  CHECK(half.to_write.empty());
  CHECK(half.error == "");
}

TEST_CASE("volume modes are compared with gate BlockVolume only") {
  Binding w;
  w.Volume("v", Size("1Gi", ",'volumeMode':'Block'"));
  w.Claim("c", Wants("1Gi", ",'volumeMode':'Filesystem'"));
  w.Claim("same", Wants("1Gi", ",'volumeMode':'Block'"));
  w.Claim("unset", Wants("1Gi"));
  CHECK(w.Chosen(Using({"c"})) == "c=v");
  AlgorithmGates gates;
  gates.block_volume = true;
  VolumeBinder strict(&w.cache, gates);
  auto chosen = [&](const char* claim) {
    auto match = strict.Match(strict.ClaimsOf(*Using({claim})), api::Labels());
    if (!match.ok()) return util::Message(match.status());
    return std::string(match->has_value() ? "some" : "none");
  };
  CHECK(chosen("c") == "none");
  CHECK(chosen("same") == "some");
  CHECK(chosen("unset") == "error checking if volumeMode was a mismatch: api defaulting for volumeMode failed");
}

TEST_CASE("the class in an annotation finds the volumes of all specifications, if these are not listed by class") {
  Binding w;
  w.Volume("v", Size("1Gi"));
  w.Claim("c", "'resources':{'requests':{'storage':'1Gi'}},'accessModes':['ReadWriteOnce']",
          "'annotations':{'volume.beta.kubernetes.io/storage-class':'late'}");
  VolumeBinder all(&w.cache, AlgorithmGates{}, /*lists_by_specification=*/false);
  auto found = [](const VolumeBinder& binder) {
    const VolumeBinder::PodClaims claims = binder.ClaimsOf(*Using({"c"}));
    REQUIRE(claims.error.empty());
    REQUIRE(*ClaimMatcher(&binder, claims).CanMatch({}) == binder.Match(claims, {})->has_value());
    return binder.Match(claims, {})->has_value();
  };
  CHECK(found(all));
  CHECK_FALSE(found(w.binder));
}

TEST_CASE("gate StorageObjectInUseProtection off: volumes that are being deleted are taken") {
  Binding w;
  w.Volume("v", Size("1Gi"), "'deletionTimestamp':'2018-01-01T00:00:00Z'");
  w.Claim("c", Wants("1Gi"));
  AlgorithmGates gates;
  gates.storage_object_in_use_protection = false;
  VolumeBinder binder(&w.cache, gates);
  CHECK(binder.Match(binder.ClaimsOf(*Using({"c"})), api::Labels())->has_value());
  CHECK(w.Chosen(Using({"c"})) == "none");
}

}  // namespace berth::scheduler
