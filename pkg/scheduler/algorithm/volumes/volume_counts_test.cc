// The limits of volumes on nodes, and their zones: what is found for all rows at once is what is found for each.
#include <catch2/catch.hpp>
#include <random>

#include "pkg/scheduler/algorithm/volumes/volumes.h"
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

// Checks that Filter leaves the rows that Check admits, and counts these and the others.
void FilterAndCheck(const Cache& cache, FitCheck& check, size_t* fitting, size_t* not_fitting) {
  RowSet rows = cache.listed(), errors;
  check.Filter(&rows, &errors);
  cache.listed().ForEach([&](Row row) {
    const bool fits = check.Check(row) == Verdict::kFits;
    CHECK(rows.Has(row) == fits);
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
  PluginFactoryArgs args;
  args.cache = &w.cache;
  args.gates.attach_volume_limit = true;
  const std::vector<FitPredicate> rules = {MaxPdVolumeCountOfNode(CloudDisk::kEbs, args),
                                           MaxPdVolumeCountOfNode(CloudDisk::kGcePd, args),
                                           MaxPdVolumeCount(CloudDisk::kEbs, args),
                                           MaxCsiVolumeCount(args),
                                           InTreeVolumeLimits(args, *FindInTreeLimit("EBSLimits"), {}),
                                           InTreeVolumeLimits(args, *FindInTreeLimit("GCEPDLimits"), {})};
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
    w.Claim(Cat("c", n), Cat("'volumeName':'v", n, "'"));
  }
  PluginFactoryArgs args;
  args.cache = &w.cache;
  const FitPredicate rule = VolumeZone(args);
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
    FilterAndCheck(w.cache, *rule(ctx), &fitting, &not_fitting);
  }
  CHECK(fitting > 300);
  CHECK(not_fitting > 300);
}

}  // namespace berth::scheduler::volumes
