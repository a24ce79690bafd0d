// The limits of volumes on nodes, and their zones: what is found for all rows at once is what is found for each.
#include <catch2/catch.hpp>
#include <random>

#include "pkg/releases/releases.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"
#include "pkg/scheduler/configuration/load.h"
#include "pkg/scheduler/factory/from_profile.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/scheduler/testing/world.h"

namespace berth::scheduler::volumes {
namespace {

using testing::Cat;
using testing::NodeOf;
using testing::PodOf;
using testing::World;

std::string Claimed(const std::string& claim) {
  return Cat("{'name':'", claim, "','persistentVolumeClaim':{'claimName':'", claim, "'}}");
}
std::string Disk(unsigned number) {
  const std::string id = std::to_string(number);
  return Cat("{'name':'d", id, "','awsElasticBlockStore':{'volumeID':'d", id, "'}}");
}

// Checks that Filter leaves the rows that Check admits and names those with errors, and counts the former and the
// others.
void FilterAndCheck(const Cache& cache, FitCheck& check, size_t* fitting, size_t* not_fitting) {
  RowSet rows = cache.listed(), errors;
  check.Filter(&rows, &errors);
  cache.listed().ForEach([&](Row row) {
    const Verdict verdict = check.Check(row);
    const bool fits = verdict == Verdict::kFits;
    CHECK(rows.Has(row) == fits);
    CHECK(errors.Has(row) == (verdict == Verdict::kError));
    CHECK((check.MayError() || verdict != Verdict::kError));
    ++*(fits ? fitting : not_fitting);
  });
}

}  // namespace

TEST_CASE("limits of volumes: all rows at once get the answers of single rows, while nodes and pods change") {
  std::mt19937 random(5);
  World w;
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    w.Volume(Cat("v", n), Cat("'csi':{'driver':'x.y','volumeHandle':'h", n, "'}"));
    w.Claim(Cat("c", n), i < 4 ? Cat("'volumeName':'v", n, "'") : "");
  }
  for (int i = 0; i < 300; i += 10) w.Claim(Cat("there", std::to_string(i), "-e"), "");
  w.Claim("p-e", "");
  PluginFactoryArgs args;
  args.cache = &w.cache;
  args.gates.attach_volume_limit = true;
  const VolumeRules by_drivers{.drivers_replace_in_tree = true};
  const std::vector<FitPredicate> rules = {MaxPdVolumeCountOfNode(CloudDisk::kEbs, args),
                                           MaxPdVolumeCountOfNode(CloudDisk::kGcePd, args),
                                           MaxPdVolumeCount(CloudDisk::kEbs, args),
                                           MaxCsiVolumeCount(args),
                                           InTreeVolumeLimits(args, *FindInTreeLimit("EBSLimits"), {}),
                                           InTreeVolumeLimits(args, *FindInTreeLimit("EBSLimits"), by_drivers),
                                           InTreeVolumeLimits(args, *FindInTreeLimit("GCEPDLimits"), {}),
                                           CsiVolumeLimits(args)};
  const auto node = [&](unsigned n) {
    std::string amounts = "'cpu':'1'";
    for (const char* limit : {"aws-ebs", "gce-pd", "csi-x.y"}) {
      if (random() % 2 == 0) amounts += Cat(",'attachable-volumes-", limit, "':'", std::to_string(random() % 4), "'");
    }
    return NodeOf(Cat("n", std::to_string(n)), "", "", amounts);
  };
  const auto volumes = [&] {
    std::string list;
    for (unsigned i = 0; i < 6; ++i) {
      if (random() % 4 == 0) list += Cat(list.empty() ? "" : ",", Claimed(Cat("c", std::to_string(i))));
      if (random() % 4 == 0) list += Cat(list.empty() ? "" : ",", Disk(i));
    }
    // A claim that belongs to another pod.
    if (random() % 40 == 0) list += Cat(list.empty() ? "" : ",", "{'name':'e','ephemeral':{'volumeClaimTemplate':{}}}");
    return Cat("'volumes':[", list, "]");
  };
  size_t fitting = 0, not_fitting = 0;
  for (unsigned round = 0; round < 300; ++round) {
    const unsigned n = static_cast<unsigned>(random() % 8);
    if (random() % 4 == 0) {
      w.cache.RemoveNode(Cat("n", std::to_string(n)));
    } else {
      w.Nodes({node(n)});
    }
    const std::string with_csi_node = Cat("n", std::to_string(random() % 8));
    if (random() % 4 == 0) {
      w.cache.listers().csi_nodes.Remove(Symbol(), with_csi_node);
    } else if (random() % 4 == 0) {
      w.cache.listers().csi_nodes.Set(
          testing::Decoded(api::DecodeCsiNode, Cat("{'metadata':{'name':'", with_csi_node, "'}}")));
    }
    if (round % 10 == 0) w.Place(PodOf(Cat("there", std::to_string(round)), volumes()), Cat("n", std::to_string(n)));
    const api::PodPtr pod = PodOf("p", volumes());
    const PodContext ctx{*pod, *w.cache.Info(*pod), w.cache};
    for (const FitPredicate& rule : rules) {
      FilterAndCheck(w.cache, *rule(ctx), &fitting, &not_fitting);
    }
  }
  CHECK(fitting > 500);
  CHECK(not_fitting > 500);
}

TEST_CASE("zones of volumes: all rows at once get the answers of single rows") {
  std::mt19937 random(7);
  World w;
  const std::vector<const char*> keys = {"failure-domain.beta.kubernetes.io/zone",
                                         "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/zone",
                                         "topology.kubernetes.io/region"};
  const auto labels = [&](unsigned one_in, std::initializer_list<const char*> values) {
    std::string list;
    for (const char* key : keys) {
      if (random() % one_in != 0) continue;
      list += Cat(list.empty() ? "" : ",", "'", key, "':'", values.begin()[random() % values.size()], "'");
    }
    return list;
  };
  for (unsigned i = 0; i < 20; ++i) {
    const std::string n = std::to_string(i);
    w.Volume(Cat("v", n), "'capacity':{'storage':'1Gi'}", Cat("'labels':{", labels(2, {"a", "b", "a__b", "c"}), "}"));
    w.Claim(Cat("c", n), i < 18 ? Cat("'volumeName':'v", n, "'") : "");  // those without a volume are errors
  }
  PluginFactoryArgs args;
  args.cache = &w.cache;
  const std::vector<FitPredicate> rules = {VolumeZone(args), NoVolumeZoneConflict(args)};
  size_t fitting = 0, not_fitting = 0;
  for (unsigned round = 0; round < 300; ++round) {
    // At first every node has a zone; later some have no label at all.
    const std::string own = round < 100 ? Cat("'topology.kubernetes.io/zone':'", random() % 2 == 0 ? "a" : "b", "'")
                                        : labels(3, {"a", "b", "c"});
    w.Nodes({NodeOf(Cat("n", std::to_string(random() % 12)), own)});
    if (round > 50 && random() % 5 == 0) w.cache.RemoveNode(Cat("n", std::to_string(random() % 12)));
    const api::PodPtr pod = PodOf("p", Cat("'volumes':[", Claimed(Cat("c", std::to_string(random() % 20))), ",",
                                           Claimed(Cat("c", std::to_string(random() % 20))), "]"));
    const PodContext ctx{*pod, *w.cache.Info(*pod), w.cache};
    for (const FitPredicate& rule : rules) FilterAndCheck(w.cache, *rule(ctx), &fitting, &not_fitting);
  }
  CHECK(fitting > 300);
  CHECK(not_fitting > 300);
}

TEST_CASE("a volume of a placed pod that is not its own ends the attempt also where answers are kept") {
  for (const char* release : {"1.19", "1.29"}) {
    World w(releases::Of(**release::Named(release)).decides);
    w.Nodes({NodeOf("n1"), NodeOf("n2")});
    w.Claim("there-e", "");
    w.Place(PodOf("there", "'volumes':[{'name':'e','ephemeral':{'volumeClaimTemplate':{}}}]"), "n1");
    w.Volume("v", "'csi':{'driver':'x.y','volumeHandle':'h'}");
    w.Claim("c", "'volumeName':'v'", "'annotations':{'pv.kubernetes.io/bind-completed':'yes'}");
    const auto catalogue = PluginsToConfigure(*w.release);
    const auto scheduler = CreateFromProfile(configuration::DefaultProfile(catalogue), {}, w.Args()).value();
    for (const std::string& volume : {Disk(1), Claimed("c")}) {
      // Volumes of drivers are counted where one of them has a limit, and in-tree volumes where there is no CSINode.
      if (volume != Disk(1)) {
        w.cache.listers().csi_nodes.Set(testing::Decoded(
            api::DecodeCsiNode,
            "{'metadata':{'name':'n1'},'spec':{'drivers':[{'name':'x.y','nodeID':'n','allocatable':{'count':3}}]}}"));
      }
      for (int i = 0; i < 2; ++i) {
        INFO("release " << release << ", volume " << volume);
        const auto pod = PodOf(Cat("p", std::to_string(i)), Cat("'volumes':[", volume, "]"));
        const Decision d = scheduler->Schedule(pod, DecisionMode::kBoth);
        CHECK(d.difference.empty());
        CHECK(d.error.find("was not created for pod") != std::string::npos);
        CHECK(testing::Outcome(scheduler->Schedule(pod)) == testing::Outcome(d));
      }
    }
  }
}

}  // namespace berth::scheduler::volumes
