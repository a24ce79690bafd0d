// Attempts that fail from what was kept are those of a scheduler that keeps nothing, whatever changed in between, and
// so are preemptions.
#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <random>

#include "pkg/releases/releases.h"
#include "pkg/scheduler/configuration/load.h"
#include "pkg/scheduler/factory/from_profile.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/scheduler/reference/random_cluster.h"
#include "pkg/scheduler/testing/world.h"
#include "pkg/scheduler/volumebinder/claim_binder.h"

namespace berth::scheduler {
namespace {

using testing::Asks;
using testing::Bound;
using testing::Cat;
using testing::NodeOf;
using testing::PodOf;
using testing::World;

// Returns everything about a decision, also the order of the nodes and of the lists of reasons.
std::string WholeDecision(const Decision& d) {
  std::string out = absl::StrCat(static_cast<int>(d.outcome), " ", d.host.string(), " ", d.error, " of ", d.nodes, ":");
  for (Symbol rule : d.rejected_by) absl::StrAppend(&out, " ", rule.string());
  if (d.failures == nullptr || d.outcome == Decision::Outcome::kPlaced) return out;
  auto add = [&](const std::vector<FailureReason>& reasons) {
    for (const FailureReason& r : reasons) {
      absl::StrAppend(&out, " ", r.text.string(), r.unresolvable ? " for good" : "", " (", r.rule.string(), ")");
    }
  };
  d.failures->ForEach([&](Symbol node, const auto& reasons) {
    absl::StrAppend(&out, "\n  ", node.string());
    add(reasons);
  });
  d.failures->ForEachList([&](const auto& reasons, int64_t nodes) {
    absl::StrAppend(&out, "\n  ", nodes, " with");
    add(reasons);
  });
  return out;
}

// Two schedulers of one release over one cluster: one keeps answers, and the other keeps nothing.
struct KeepingAndPlain {
  explicit KeepingAndPlain(const char* release)
      : world(releases::Of(**release::Named(release)).decides), binder(&world.cache) {
    for (auto* made : {&kept, &plain}) *made = Make();
  }
  std::unique_ptr<GenericScheduler> Make() {
    FactoryArgs args = world.Args(/*pod_priority=*/true);
    if (world.release->plugins == nullptr) return CreateFromProvider("DefaultProvider", args).value();
    args.claim_binder = &binder;
    const auto catalogue = PluginsToConfigure(*world.release);
    return CreateFromProfile(configuration::DefaultProfile(catalogue), {}, args).value();
  }
  World world;
  ClaimBinder binder;
  std::unique_ptr<GenericScheduler> kept, plain;
};

class RoomChanges {
 public:
  RoomChanges(KeepingAndPlain* pair, uint32_t seed) : world_(pair->world), random_(seed) {
    for (int i = 0; i < kNodes; ++i) SetNode(i);
  }
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  // Returns a pod that seldom fits, with a new name.
  api::PodPtr Pending() {
    static const char* const kKinds[] = {
        "",
        ",'nodeSelector':{'disk':'ssd'}",
        ",'tolerations':[{'key':'k','operator':'Exists'}]",
        ",'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'rack',"
        "'labelSelector':{'matchLabels':{'app':'lone'}}}]}}",
        ",'volumes':[{'name':'v','emptyDir':{}}]",
        ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]",
        ",'volumes':[{'name':'v','ephemeral':{'volumeClaimTemplate':{}}}]",
    };
    const std::string name = absl::StrCat("p", next_++);
    const std::string cpu = absl::StrCat("'cpu':'", 2 + Below(3), "'");
    return PodOf(name,
                 Cat(Asks(cpu), kKinds[Below(8) < 5 ? Below(3) : Below(7)], ",'priority':", absl::StrCat(Below(2))),
                 Below(6) == 0 ? "'app':'lone'" : "'app':'web'");
  }
  void Change() {
    const int what = Below(24);
    if (what >= 20) return ChangeObject(what);
    if (what < 9) {
      const std::string lesser = Below(8) == 0 ? ",'priority':-1" : "";
      const auto pod = PodOf(absl::StrCat("there-", next_++), Asks(absl::StrCat("'cpu':'", 1 + Below(4), "'")) + lesser,
                             Below(6) == 0 ? "'app':'lone'" : "'app':'db'");
      there_.push_back(Bound(pod, absl::StrCat("n", Below(kNodes))));
      REQUIRE(world_.cache.AddPod(there_.back()).ok());
    } else if (what < 17) {
      if (there_.empty()) return;
      std::swap(there_[static_cast<size_t>(Below(static_cast<int>(there_.size())))], there_.back());
      REQUIRE(world_.cache.RemovePod(*there_.back()).ok());
      there_.pop_back();
    } else if (what == 17) {
      SetNode(Below(kNodes));
    } else if (what == 18) {
      world_.cache.RemoveNode(absl::StrCat("n", Below(kNodes)));
    } else if (nominee_ == nullptr) {
      auto pod = std::make_shared<api::Pod>(*Pending());
      pod->nominated_node_name = util::Symbol(absl::StrCat("n", Below(kNodes)));
      nominee_ = pod;
      world_.nominated.Add(nominee_);
    } else {
      world_.nominated.Remove(*nominee_);
      nominee_ = nullptr;
    }
  }

 private:
  static constexpr int kNodes = 40;
  // Changes what rules look up besides nodes and pods.
  void ChangeObject(int what) {
    if (what == 20) {
      world_.Budget("db", "'app':'db'", Below(3));
    } else if (what == 21) {
      world_.Service("s", Below(2) == 0 ? "'app':'web'" : "'app':'lone'");
    } else if (what == 22 && Below(2) == 0) {
      world_.cache.listers().claims.Remove(util::Symbol("default"), "c");
    } else if (what == 22) {
      world_.Claim("c", "'volumeName':'v','resources':{'requests':{'storage':'1Gi'}}",
                   "'annotations':{'pv.kubernetes.io/bind-completed':'yes'}");
    } else {
      world_.Volume("v", Below(2) == 0 ? "'capacity':{'storage':'1Gi'}"
                                       : "'capacity':{'storage':'1Gi'},'nodeAffinity':{'required':{'nodeSelectorTerms':"
                                         "[{'matchExpressions':[{'key':'rack','operator':'In','values':['1']}]}]}}");
    }
  }
  void SetNode(int i) {
    world_.Nodes(
        {NodeOf(absl::StrCat("n", i), Cat("'rack':'", absl::StrCat(i % 4), "'", Below(4) == 0 ? ",'disk':'ssd'" : ""),
                Below(4) == 0 ? "'taints':[{'key':'k','value':'v','effect':'NoSchedule'}]" : "",
                Cat("'cpu':'", absl::StrCat(1 + Below(3)), "','memory':'8Gi','pods':'4'"))});
  }
  World& world_;
  std::mt19937 random_;
  int next_ = 0;
  std::vector<api::PodPtr> there_;
  api::PodPtr nominee_;
};

// A cluster that is full of pods of several priorities, some of which keep others out of their racks.
class EvictionChanges {
 public:
  EvictionChanges(World* world, uint32_t seed) : world_(*world), random_(seed) {
    for (int i = 0; i < kNodes; ++i) {
      world_.Nodes({NodeOf(absl::StrCat("n", i), Cat("'rack':'", absl::StrCat(i % 4), "'"), "",
                           "'cpu':'6','memory':'8Gi','pods':'5'")});
    }
    for (int i = 0; i < 4 * kNodes; ++i) Add();
    world_.Budget("db", "'app':'db'", 1);
  }
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  api::PodPtr Preemptor() {
    return PodOf(absl::StrCat("p", next_++),
                 Cat(Asks("'cpu':'3'"), Below(4) == 0 ? KeepsOut("rack", "web") : std::string(), ",'priority':2"),
                 Below(3) == 0 ? "'app':'lone'" : "'app':'web'");
  }
  void Change() {
    const int what = Below(12);
    if (what < 3) {
      Add();
    } else if (what < 5) {
      const size_t one = Any();
      REQUIRE(world_.cache.RemovePod(*there_[one]).ok());
      there_.erase(there_.begin() + static_cast<std::ptrdiff_t>(one));
    } else if (what < 9) {
      auto started = std::make_shared<api::Pod>(*there_[Any()]);
      started->start_seconds = Below(50);
      for (api::PodPtr& p : there_) {
        if (p->meta.uid == started->meta.uid) p = started;
      }
      REQUIRE(world_.cache.UpdatePod(started).ok());
    } else if (what == 9) {
      world_.Budget("db", "'app':'db'", Below(3));
    } else {
      if (nominee_ != nullptr) world_.nominated.Remove(*nominee_);
      auto pod = std::make_shared<api::Pod>(*Preemptor());
      pod->nominated_node_name = util::Symbol(absl::StrCat("n", Below(kNodes)));
      world_.nominated.Add(nominee_ = pod);
    }
  }

 private:
  static constexpr int kNodes = 12;
  static std::string KeepsOut(std::string_view key, std::string_view app) {
    return Cat(",'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'",
               key, "','labelSelector':{'matchLabels':{'app':'", app, "'}}}]}}");
  }
  size_t Any() { return static_cast<size_t>(Below(static_cast<int>(there_.size()))); }
  void Add() {
    auto pod = std::make_shared<api::Pod>(*Bound(
        PodOf(absl::StrCat("there-", next_++),
              Cat(Asks(absl::StrCat("'cpu':'", 1 + Below(3), "'")),
                  Below(24) == 0 ? KeepsOut("rack", "lone") : std::string(), ",'priority':", absl::StrCat(Below(4))),
              Below(3) == 0 ? "'app':'db'" : "'app':'other'"),
        absl::StrCat("n", Below(kNodes))));
    if (Below(2) == 0) pod->start_seconds = Below(50);
    REQUIRE(world_.cache.AddPod(pod).ok());
    there_.push_back(pod);
  }
  World& world_;
  std::mt19937 random_;
  int next_ = 0;
  std::vector<api::PodPtr> there_;
  api::PodPtr nominee_;
};

std::string WholePreemption(const Preemption& p) {
  std::string out = absl::StrCat(static_cast<int>(p.outcome), " ", p.node.string(), " ", p.error, ":");
  for (const api::PodPtr& v : p.victims) absl::StrAppend(&out, " ", v->meta.name);
  for (const api::PodPtr& n : p.nominated_to_clear) absl::StrAppend(&out, " clears ", n->meta.name);
  return out;
}

}  // namespace

TEST_CASE("victims are chosen as if nothing had been kept") {
  for (const char* release : {"1.8", "1.10", "1.13", "1.19", "1.29", "1.36"}) {
    int chosen = 0;
    const std::vector<uint64_t> seeds = reference::Seeds(8);
    for (const uint64_t seed : seeds) {
      INFO("release " << release << ", seed " << seed);
      KeepingAndPlain pair(release);
      EvictionChanges changes(&pair.world, static_cast<uint32_t>(seed));
      for (int i = 0; i < 200; ++i) {
        const api::PodPtr pod = changes.Preemptor();
        const Decision d = pair.plain->Schedule(pod, DecisionMode::kReference);
        if (d.outcome == Decision::Outcome::kUnfit) {
          const Preemption kept = pair.kept->Preempt(pod, *d.failures);
          REQUIRE(WholePreemption(kept) == WholePreemption(pair.Make()->Preempt(pod, *d.failures)));
          chosen += kept.outcome == Preemption::Outcome::kChosen;
        }
        while (changes.Below(3) != 0) changes.Change();
      }
    }
    CHECK(chosen > 35 * static_cast<int>(seeds.size()));
  }
}

TEST_CASE("what fails again fails as if nothing had been kept") {
  // The least share, in percent, that must come from what was kept. Nothing does in 1.13, whose rule about other pods
  // looks at all of them.
  for (const auto& [release, least] : std::initializer_list<std::pair<const char*, uint64_t>>{
           {"1.8", 10}, {"1.9", 10}, {"1.10", 10}, {"1.13", 0}, {"1.19", 10}, {"1.29", 10}, {"1.36", 10}}) {
    int failed = 0;
    uint64_t again = 0;
    const std::vector<uint64_t> seeds = reference::Seeds(12);
    for (const uint64_t seed : seeds) {
      INFO("release " << release << ", seed " << seed);
      KeepingAndPlain pair(release);
      RoomChanges changes(&pair, static_cast<uint32_t>(seed));
      for (int i = 0; i < 400; ++i) {
        const api::PodPtr pod = changes.Pending();
        const uint64_t turn = pair.plain->last_node_index();
        DecisionTrace trace;
        const Decision plain = pair.plain->Schedule(pod, DecisionMode::kReference, &trace);
        pair.kept->set_last_node_index(turn);
        const Decision kept = pair.kept->Schedule(pod);
        REQUIRE(WholeDecision(kept) == WholeDecision(plain));
        REQUIRE(pair.kept->last_node_index() == pair.plain->last_node_index());
        if (plain.outcome == Decision::Outcome::kUnfit) {
          const Preemption found = pair.kept->Preempt(pod, *kept.failures);
          REQUIRE(WholePreemption(found) == WholePreemption(pair.plain->Preempt(pod, *plain.failures)));
        }
        failed += plain.outcome == Decision::Outcome::kUnfit;
        while (changes.Below(3) == 0) changes.Change();
      }
      again += pair.kept->failures_said_again();
      CHECK(pair.plain->failures_said_again() == 0);
    }
    INFO("release " << release << ": " << again << " of " << failed);
    // Most attempts fail, and many of them from what was kept.
    CHECK(failed > 80 * static_cast<int>(seeds.size()));
    CHECK(again * 100 >= least * static_cast<uint64_t>(failed));
  }
}

TEST_CASE("what is known of 500 kinds of pods that fit on none of 5,000 nodes is kept") {
  constexpr int kKinds = 500;
  KeepingAndPlain pair("1.10");
  for (int i = 0; i < 5000; ++i) {
    pair.world.cache.AddNode(NodeOf(absl::StrCat("n", i), "", "", "'cpu':'1','memory':'8Gi','pods':'9'"));
  }
  for (int round = 0; round < 2; ++round) {
    for (int kind = 0; kind < kKinds; ++kind) {
      const auto pod = PodOf(absl::StrCat("p", round, "-", kind), Asks(absl::StrCat("'cpu':'", 2 + kind, "'")));
      CHECK(pair.kept->Schedule(pod).outcome == Decision::Outcome::kUnfit);
    }
  }
  CHECK(pair.kept->failures_said_again() == kKinds);
}

}  // namespace berth::scheduler
