// Properties of the cache: after any sequence of changes it has the same contents as a cache that is built from the
// same objects, and objects that are added and then removed leave nothing behind.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "pkg/scheduler/reference/lockstep.h"
#include "pkg/scheduler/testing/objects.h"

namespace berth::scheduler {
namespace {

using reference::Describe;
using reference::Differences;
using reference::Lockstep;
using reference::NodeName;
using reference::Seeds;

void CheckSame(const std::map<std::string, std::string>& want, const std::map<std::string, std::string>& got) {
  auto differences = Differences(want, got);
  CHECK(absl::StrJoin(differences, "\n") == "");
}

bool SamePort(const reference::Cluster& model) {
  for (const auto& [name, state] : model.nodes) {
    size_t held = 0;
    for (const api::PodPtr& p : state.pods) held += reference::HostPortsOf(*p).size();
    if (held != state.ports.size()) return true;
  }
  return false;
}

std::shared_ptr<api::Pod> OnNode(Lockstep& world, int node) {
  auto pod = world.Pending();
  pod->node_name = util::Symbol(NodeName(node));
  return pod;
}

}  // namespace

TEST_CASE("a cache with a history equals one made anew") {
  for (uint64_t seed : Seeds(60)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    Lockstep world(seed);
    Describe(world.cache, true);  // creates every count and column at the start, so that all are kept up to date
    for (int step = 0; step < 12; ++step) {
      INFO("step " << step);
      for (int n = world.random.Between(1, 15); n > 0; --n) world.Change();
      Cache fresh;
      reference::Rebuild(world.model, &fresh);
      bool with_ports = !SamePort(world.model);
      CheckSame(Describe(fresh, with_ports), Describe(world.cache, with_ports));
    }
  }
}

TEST_CASE("host ports in use are those of the lists, whatever came and went") {
  for (uint64_t seed : Seeds(60)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    Lockstep world(seed);
    for (int n = 60; n > 0; --n) world.Change();
    for (const auto& [name, state] : world.model.nodes) {
      const HostPorts& ports = world.cache.row(world.cache.FindRow(util::Symbol(name))).ports;
      CHECK(ports.empty() == state.ports.empty());
      for (const auto& [ip, protocol, port] : state.ports) {
        CHECK(ports.Conflicts({util::Symbol(ip), util::Symbol(protocol), port}));
      }
    }
  }
}

TEST_CASE("the least priority is that of the pods on all rows, whatever came and went") {
  for (uint64_t seed : Seeds(60)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    Lockstep world(seed);
    for (int n = 60; n > 0; --n) {
      world.Change();
      int32_t least = std::numeric_limits<int32_t>::max();
      for (const auto& [name, state] : world.model.nodes) {
        for (const api::PodPtr& p : state.pods) least = std::min(least, p->Priority());
      }
      CHECK(world.cache.least_priority() == least);
    }
  }
}

TEST_CASE("adding and then removing leaves everything as before") {
  for (uint64_t seed : Seeds(60)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    Lockstep world(seed);
    for (int n = 30; n > 0; --n) world.Change();
    for (int step = 0; step < 12; ++step) {
      INFO("step " << step);
      world.Change();
      auto pod = OnNode(world, world.random.Below(world.character.nodes));
      bool with_ports = false;
      if (auto it = world.model.nodes.find(pod->node_name.string()); it != world.model.nodes.end()) {
        with_ports = true;
        for (const reference::Port& p : reference::HostPortsOf(*pod)) with_ports &= !it->second.ports.contains(p);
      }
      auto before = Describe(world.cache, with_ports);
      switch (step % 4) {
        case 0:
          REQUIRE(world.cache.AddPod(pod).ok());
          REQUIRE(world.cache.RemovePod(*pod).ok());
          break;
        case 1:
          REQUIRE(world.cache.AssumePod(pod).ok());
          REQUIRE(world.cache.ForgetPod(*pod).ok());
          CHECK(!world.cache.IsAssumed(pod->meta.uid));
          break;
        case 2: {  // a new node with pods, which is removed before or after its pods
          auto node = std::make_shared<api::Node>(*reference::RandomNode(&world.random, world.character, 0));
          node->meta.name = "visitor";
          pod->node_name = util::Symbol("visitor");
          world.cache.AddNode(node);
          REQUIRE(world.cache.AddPod(pod).ok());
          bool node_first = world.random.Chance(50);
          if (node_first) world.cache.RemoveNode("visitor");
          REQUIRE(world.cache.RemovePod(*pod).ok());
          if (!node_first) world.cache.RemoveNode("visitor");
          CHECK(world.cache.FindRow(util::Symbol("visitor")) == kNoRow);
          break;
        }
        default: {  // a node with pods changes and changes back
          auto it = world.model.nodes.find(NodeName(world.random.Below(world.character.nodes)));
          if (it == world.model.nodes.end() || it->second.node == nullptr) break;
          int number = world.random.Below(world.character.nodes);
          auto other = std::make_shared<api::Node>(*reference::RandomNode(&world.random, world.character, number));
          other->meta.name = it->first;
          if (world.random.Chance(30)) world.cache.RemoveNode(it->first);
          world.cache.AddNode(other);
          world.cache.AddNode(it->second.node);
          break;
        }
      }
      CheckSame(before, Describe(world.cache, with_ports));
    }
  }
}

TEST_CASE("a simulation takes back everything, also one inside another") {
  for (uint64_t seed : Seeds(60)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    Lockstep world(seed);
    for (int n = 50; n > 0; --n) world.Change();
    for (const auto& [name, state] : world.model.nodes) {
      if (state.node == nullptr) continue;
      INFO(name);
      Row row = world.cache.FindRow(util::Symbol(name));
      auto nominee = world.Pending(), second = world.Pending();
      world.cache.Info(*nominee);
      world.cache.Info(*second);
      auto before = Describe(world.cache, true);
      {
        Cache::Simulation outer(&world.cache, row);
        std::vector<PlacedPod> pods = world.cache.row(row).pods;
        for (const PlacedPod& p : pods) {
          if (world.random.Chance(60)) outer.Remove(p);
        }
        {
          Cache::Simulation inner(&world.cache, row);
          inner.AddNominated(nominee);
          inner.AddNominated(second);
          CHECK(world.cache.columns().pod_count[row] == static_cast<int64_t>(world.cache.row(row).pods.size()));
        }
        for (const PlacedPod& p : pods) {
          const auto& now = world.cache.row(row).pods;
          bool there = std::any_of(now.begin(), now.end(), [&](const PlacedPod& q) { return q.pod == p.pod; });
          if (!there && world.random.Chance(60)) outer.Restore(p);
        }
        // Within the simulation, too, the count is that of the row's list: pods that were removed do not count.
        CHECK(world.cache.columns().pod_count[row] == static_cast<int64_t>(world.cache.row(row).pods.size()));
      }
      CheckSame(before, Describe(world.cache, true));
    }
  }
}

namespace {

// Keeps the uids of the pods on each row.
class Uids final : public PodHooks {
 public:
  void Placed(Row row, const PlacedPod& pod, bool trial) override {
    REQUIRE(on_[row].insert(pod.pod->meta.uid).second);
    trials += trial;
  }
  void Left(Row row, const PlacedPod& pod, bool trial) override {
    REQUIRE(on_[row].erase(pod.pod->meta.uid) == 1);
    trials += trial;
  }
  void CheckRow(const Cache& cache, Row row) {
    std::set<std::string> expected;
    for (const PlacedPod& p : cache.row(row).pods) expected.insert(p.pod->meta.uid);
    CHECK(on_[row] == expected);
  }
  void Check(const Cache& cache) {
    for (Row row = 0; row < cache.row_count(); ++row) CheckRow(cache, row);
  }
  int trials = 0;

 private:
  std::map<Row, std::set<std::string>> on_;
};

}  // namespace

TEST_CASE("hooks are told of every pod that comes and goes, also in simulations") {
  for (uint64_t seed : Seeds(60)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    Lockstep world(seed);
    for (int n = 20; n > 0; --n) world.Change();
    auto early = std::make_shared<Uids>(), late = std::make_shared<Uids>();
    world.cache.Tell(early);
    for (int n = 20; n > 0; --n) world.Change();
    world.cache.Tell(late);
    for (int n = 20; n > 0; --n) {
      world.Change();
      early->Check(world.cache);
      late->Check(world.cache);
    }
    CHECK(early->trials == 0);
    world.cache.listed().ForEach([&](Row row) {
      Cache::Simulation outer(&world.cache, row);
      for (const PlacedPod& p : std::vector<PlacedPod>(world.cache.row(row).pods)) {
        if (world.random.Chance(60)) outer.Remove(p);
      }
      Cache::Simulation inner(&world.cache, row);
      inner.AddNominated(world.Pending());
      early->CheckRow(world.cache, row);
    });
    early->Check(world.cache);
    CHECK(early->trials > 0);
    early.reset();
    world.Change();
    late->Check(world.cache);
  }
}

TEST_CASE("pods nominated in a simulation are seen by questions about the node only") {
  Cache cache;
  reference::Random random(1);
  reference::Character character(&random);
  cache.AddNode(reference::RandomNode(&random, character, 1));
  api::PodTemplate t;
  t.ns = util::Symbol("default");
  t.labels = api::Labels({{util::Symbol("app"), util::Symbol("web")}});
  auto pod = reference::NewPod(1, api::PodTemplate::Intern(t));
  PodQuery anywhere;
  anywhere.namespaces = {t.ns};
  anywhere.any_of = {api::Selector::Everything()};
  PodQuery here = anywhere;
  anywhere.topology_key = util::Symbol("kubernetes.io/hostname");
  here.sees_nominated = true;
  auto cluster_count = cache.Count(anywhere), node_count = cache.Count(here);
  Row row = cache.FindRow(util::Symbol("node-1"));
  {
    Cache::Simulation simulation(&cache, row);
    simulation.AddNominated(pod);
    CHECK(node_count->OnRow(row) == 1);
    CHECK(cluster_count->numbers().empty());
    CHECK(cluster_count->total() == 0);
    CHECK(cache.columns().pod_count[row] == 1);
  }
  CHECK(node_count->OnRow(row) == 0);
  CHECK(cache.columns().pod_count[row] == 0);
}

TEST_CASE("counts stay right when there are more questions than are kept") {
  Lockstep world(7);
  for (int n = 40; n > 0; --n) world.Change();
  auto query = [](int i) {
    PodQuery q;
    q.namespaces = {util::Symbol("default")};
    api::Labels labels({{util::Symbol("app"), util::Symbol(i % 2 == 0 ? "web" : "db")}});
    q.any_of = {api::Selector::FromMap(labels),
                api::Selector::FromMap(api::Labels({{util::Symbol("n"), util::Symbol(absl::StrCat(i))}}))};
    return q;
  };
  auto held = world.cache.Count(query(0));
  for (int round = 0; round < 300; ++round) {
    auto count = world.cache.Count(query(round));
    if (round % 10 == 0) world.Change();
    Cache fresh;
    reference::Rebuild(world.model, &fresh);
    CHECK(count->total() == fresh.Count(query(round))->total());
    CHECK(held->total() == fresh.Count(query(0))->total());
  }
}

TEST_CASE("templates that nobody uses any more are given up, with their terms") {
  Cache cache;
  reference::Random random(3);
  reference::Character character(&random);
  character.pod_affinity = 100;
  cache.AddNode(reference::RandomNode(&random, character, 1));
  auto stays = reference::NewPod(100000, reference::RandomTemplate(&random, character));
  stays->node_name = util::Symbol("node-1");
  REQUIRE(cache.AddPod(stays).ok());
  auto before = Describe(cache, true);
  for (int i = 0; i < 3000; ++i) {
    api::PodTemplate t = *reference::RandomTemplate(&random, character);
    t.labels = api::Labels({{util::Symbol("number"), util::Symbol(absl::StrCat(i % 1500))}});
    auto pod = reference::NewPod(i, api::PodTemplate::Intern(t));
    pod->node_name = util::Symbol("node-1");
    REQUIRE(cache.AddPod(pod).ok());
    REQUIRE(cache.RemovePod(*pod).ok());
  }
  CHECK(cache.templates().size() < 2200);
  CheckSame(before, Describe(cache, true));
}

TEST_CASE("the log names the rows that changed after a generation, also when it has grown") {
  for (uint64_t seed : Seeds(6)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    reference::Random random(seed);
    Cache cache;
    std::vector<api::PodPtr> pods;
    int nodes = 0;
    auto add_node = [&] { cache.AddNode(testing::NodeOf(absl::StrCat("n", nodes++))); };
    for (int n = random.Of(std::vector<int>{5, 1010}); n > 0; --n) add_node();
    for (int step = 0; step < 3000; ++step) {
      const int what = random.Below(40);
      if (what == 0) add_node();
      if (what == 1) cache.AddNode(testing::NodeOf(absl::StrCat("n", random.Below(nodes)), "'step':'1'"));
      if (what == 2) cache.RemoveNode(absl::StrCat("n", random.Below(nodes)));
      if (what % 2 == 0 && !pods.empty()) {
        REQUIRE(cache.RemovePod(*pods.back()).ok());
        pods.pop_back();
      }
      auto pod = std::make_shared<api::Pod>(*testing::PodOf(absl::StrCat("p", step)));
      pod->node_name = util::Symbol(absl::StrCat("n", random.Below(std::min(nodes, 20))));
      REQUIRE(cache.AddPod(pod).ok());
      pods.push_back(pod);
      if (step % 20 != 0) continue;
      const uint64_t since = cache.generation() - static_cast<uint64_t>(random.Below(4000)) % (cache.generation() + 1);
      std::set<Row> want, got;
      for (Row row = 0; row < cache.row_count(); ++row) {
        if (cache.row(row).generation > since) want.insert(row);
      }
      std::vector<Row> called, listed;
      const bool known = cache.ChangesSince(since, [&](Row row, bool) { called.push_back(row); });
      CHECK(cache.RowsChangedSince(since, &listed) == known);
      CHECK(listed == called);
      if (!known) {
        CHECK(called.empty());
        CHECK(cache.generation() - since > 1000);
        continue;
      }
      got.insert(called.begin(), called.end());
      std::erase_if(got, [&](Row row) { return !cache.row(row).in_use; });
      std::erase_if(want, [&](Row row) { return !cache.row(row).in_use; });
      CHECK(got == want);
      std::vector<Row> node_changes;
      cache.ChangesSince(since, [&](Row row, bool node_changed) {
        if (node_changed) node_changes.push_back(row);
      });
      CHECK(called.size() <= std::set<Row>(called.begin(), called.end()).size() + node_changes.size());
    }
  }
}

TEST_CASE("a count with a node filter follows the labels of nodes, also of nodes without the topology label") {
  using testing::NodeOf;
  using testing::PodOf;
  PodQuery query;
  query.namespaces = {util::Symbol("default")};
  query.any_of = {api::Selector::Everything()};
  query.topology_key = util::Symbol("zone");
  auto filter = std::make_shared<NodeFilter>();
  filter->key = "disk";
  filter->admits = [](const api::Node& node) { return node.labels.Has(util::Symbol("disk")); };
  query.nodes = filter;
  for (uint64_t seed : Seeds(40)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    reference::Random random(seed);
    query.nodes_choose_domains = seed % 2 == 0;
    Cache cache;
    const auto count = cache.Count(query);
    std::map<std::string, api::NodePtr> nodes;
    std::vector<api::PodPtr> pods;
    for (int step = 0; step < 60; ++step) {
      const std::string name = absl::StrCat("n", random.Between(0, 3));
      if (random.Between(0, 2) == 0) {
        const int together = seed % 8 == 0 ? 90 : 1;  // also more than a few in a zone
        for (int i = 0; i < together; ++i) {
          auto pod = std::make_shared<api::Pod>(*PodOf(absl::StrCat("p", step, "-", i)));
          pod->node_name = util::Symbol(name);
          REQUIRE(cache.AddPod(pod).ok());
          pods.push_back(pod);
        }
      } else {
        std::string labels = random.Between(0, 1) == 0 ? "'disk':'ssd'" : "'disk-less':'1'";
        if (random.Between(0, 1) == 0) labels += random.Between(0, 1) == 0 ? ",'zone':'a'" : ",'zone':'b'";
        nodes[name] = NodeOf(name, labels);
        cache.AddNode(nodes[name]);
      }
      Cache fresh;
      for (const auto& [unused, node] : nodes) fresh.AddNode(node);
      for (const api::PodPtr& pod : pods) REQUIRE(fresh.AddPod(pod).ok());
      const auto expected = fresh.Count(query);
      INFO("step " << step);
      CHECK(count->total() == expected->total());
      CHECK(count->domains() == expected->domains());
      CHECK(count->minimum() == expected->minimum());
      for (const char* zone : {"a", "b"}) {
        const auto in_value = [](const auto& of, util::Symbol value) { return of->In(of->column()->DomainOf(value)); };
        CHECK(in_value(count, util::Symbol(zone)) == in_value(expected, util::Symbol(zone)));
        int64_t admitted = 0, in_zone = 0, on_admitted = 0;
        for (const auto& [name_of, node] : nodes) {
          if (node->labels.Get(util::Symbol("zone")) != util::Symbol(zone)) continue;
          const int64_t here = std::count_if(pods.begin(), pods.end(), [&name_of = name_of](const api::PodPtr& p) {
            return p->node_name.str() == name_of;
          });
          const bool admits = filter->admits(*node);
          admitted += admits ? 1 : 0;
          in_zone += here;
          on_admitted += admits ? here : 0;
        }
        const int64_t want = !query.nodes_choose_domains ? on_admitted : admitted > 0 ? in_zone : 0;
        CHECK(in_value(count, util::Symbol(zone)) == want);
      }
    }
  }
}

}  // namespace berth::scheduler
