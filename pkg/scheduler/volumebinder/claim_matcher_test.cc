// Compares ClaimMatcher, which computes answers once for all nodes, to VolumeBinder, which examines every volume for
// every node.
#include "pkg/scheduler/volumebinder/claim_matcher.h"

#include <catch2/catch.hpp>

#include "pkg/scheduler/reference/random_cluster.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

using reference::Character, reference::kClaims, reference::NewPod, reference::NodeName, reference::Random,
    reference::RandomClaim, reference::RandomNode, reference::RandomVolume, reference::Seeds;
using Volume = api::PersistentVolume;
using Claim = api::PersistentVolumeClaim;

const util::Symbol kHostname("kubernetes.io/hostname");

std::shared_ptr<const Volume> LocalOrOther(Random* r, int number) {
  auto v = std::make_shared<Volume>(*RandomVolume(r, number));
  if (r->Chance(60)) {
    std::vector<util::Symbol> hosts;
    for (int n = r->Between(1, 3); n > 0; --n) hosts.emplace_back(NodeName(r->Below(8)));
    api::NodeSelectorTerm term;
    term.match.selector = api::Selector({*api::Requirement::Make(kHostname, api::Operator::kIn, hosts)});
    v->node_affinity.push_back(term);
  }
  if (r->Chance(97)) v->volume_mode = r->Of({"Filesystem", "Filesystem", "Block"});
  return v;
}

std::shared_ptr<const Claim> Wanted(Random* r, const Character& c, int number) {
  auto claim = std::make_shared<Claim>(*RandomClaim(r, c, number));
  claim->meta.name = "claim-" + std::to_string(number);
  claim->meta.ns = util::Symbol("default");
  if (claim->Class().empty()) claim->class_annotation = "class-1";
  if (r->Chance(70)) claim->volume_name.clear();
  if (r->Chance(97)) claim->volume_mode = r->Of({"Filesystem", "Filesystem", "Block"});
  if (r->Chance(3)) {
    claim->selector.emplace();
    claim->selector->error = "no selector";
  }
  return claim;
}

std::shared_ptr<const api::Node> Labelled(Random* r, const Character& c, int number) {
  auto node = std::make_shared<api::Node>(*RandomNode(r, c, number));
  std::vector<std::pair<util::Symbol, util::Symbol>> labels(node->labels.begin(), node->labels.end());
  if (r->Chance(90)) labels.emplace_back(kHostname, util::Symbol(NodeName(r->Chance(80) ? number : r->Below(8))));
  node->labels = api::Labels(labels);
  return node;
}

std::string Told(const absl::StatusOr<bool>& answer) {
  return answer.ok() ? *answer ? "yes" : "no" : util::Message(answer.status());
}

}  // namespace

TEST_CASE("A pod's claims fit the nodes where VolumeBinder, which looks at every volume, says that they do") {
  std::map<std::string, int> told;
  int tied = 0;
  for (uint64_t seed : Seeds(400)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    Random random(seed);
    Character character(&random);
    Cache cache;
    Listers& listers = cache.listers();
    for (int i = random.Between(1, 40); i > 0; --i) listers.volumes.Set(LocalOrOther(&random, i));
    for (int i = 0; i < kClaims; ++i) listers.claims.Set(Wanted(&random, character, i));
    for (const char* name : {"class-0", "class-1"}) {
      auto c = std::make_shared<api::StorageClass>();
      c->meta.name = name;
      c->binding_mode = "WaitForFirstConsumer";
      listers.storage_classes.Set(c);
    }
    AlgorithmGates gates;
    gates.block_volume = random.Chance(50);
    gates.storage_object_in_use_protection = random.Chance(80);
    VolumeBinder binder(&cache, gates, /*lists_by_specification=*/random.Chance(70));
    for (int i = 0; i < 8; ++i) cache.AddNode(Labelled(&random, character, i));
    for (int round = 0; round < 6; ++round) {
      // Bound and delayed claims in random order; sometimes the same one twice.
      api::PodTemplate tmpl;
      tmpl.ns = util::Symbol("default");
      for (int n = random.Between(1, 3); n > 0; --n) {
        tmpl.volumes.emplace_back().id = "claim-" + std::to_string(random.Below(kClaims));
        if (random.Chance(3)) tmpl.volumes.push_back(tmpl.volumes[0]);
      }
      const api::PodPtr pod = NewPod(round, api::PodTemplate::Intern(tmpl));
      const VolumeBinder::PodClaims claims = binder.ClaimsOf(*pod);
      REQUIRE(claims.error.empty());
      ClaimMatcher matcher(&binder, claims);
      RowSet fitting = cache.listed();
      fitting.Resize(cache.row_count());
      if (matcher.NeverFails()) {
        matcher.KeepBoundFit(cache, &fitting);
        matcher.KeepMatched(cache, &fitting);
      }
      for (Row row : cache.by_name_descending()) {
        const api::Labels& node = cache.row(row).node->labels;
        const std::string bound = Told(binder.BoundFit(claims, node)), got_bound = Told(matcher.BoundFit(node));
        auto match = binder.Match(claims, node);
        const std::string found = Told(match.ok() ? absl::StatusOr<bool>(match->has_value()) : match.status());
        const std::string got_found = Told(matcher.CanMatch(node));
        CHECK(got_bound == bound);
        CHECK(got_found == found);
        ++told["bound: " + bound.substr(0, 3)];
        ++told["found: " + found.substr(0, 3)];
        const bool error = !match.ok() || (bound != "yes" && bound != "no");
        if (matcher.NeverFails()) {
          CHECK_FALSE(error);
          CHECK(fitting.Has(row) == (bound == "yes" && found == "yes"));
        }
        tied += !matcher.NeverFails() && !error;
        if (matcher.FitsAnywhere()) CHECK((bound == "yes" && found == "yes"));
        ++told[matcher.FitsAnywhere() ? "anywhere" : "somewhere"];
      }
      // Later pods see the reservations.
      const auto reserved = binder.AssumePodVolumes(*pod, *cache.row(cache.by_name_descending()[0]).node);
      if (random.Chance(30)) binder.Forget(reserved.to_write);
      // They also see changes of volumes and nodes.
      for (int n = random.Below(4); n > 0; --n) {
        const auto volume = LocalOrOther(&random, random.Between(1, 40));
        random.Chance(70) ? listers.volumes.Set(volume) : listers.volumes.Remove(util::Symbol(), volume->meta.name);
        if (random.Chance(80)) binder.VolumeChanged(volume->meta.name);
      }
      if (random.Chance(30)) cache.AddNode(Labelled(&random, character, random.Below(8)));
      if (random.Chance(10)) cache.RemoveNode(NodeName(random.Below(7) + 1));
    }
  }
  if (Seeds(400).size() < 400) return;
  // The random clusters produce every kind of answer often.
  for (const char* answer : {"bound: yes", "bound: no", "bound: cou", "found: yes", "found: no", "found: err",
                             "found: no ", "anywhere", "somewhere"}) {
    INFO(answer);
    CHECK(told[answer] > 40);
  }
  CHECK(tied > 40);
}

}  // namespace berth::scheduler
