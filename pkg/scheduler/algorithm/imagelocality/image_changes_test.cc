// Checks that rules about images notice each change of other nodes by which the score of a node changes.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

#include "pkg/scheduler/algorithm/imagelocality/imagelocality.h"
#include "pkg/scheduler/algorithm/other_nodes.h"
#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/testing/objects.h"

namespace berth::scheduler::imagelocality {
namespace {

using testing::Cat;
using testing::NodeOf;
using testing::PodOf;

// Returns a node that has some of the images, of sizes below the lower bound or far above it.
api::NodePtr NodeWithImages(const std::string& name, bool large, std::mt19937& random) {
  std::string images;
  for (int i = 0; i < 6; ++i) {
    if (random() % 3 == 0) continue;
    const int size = (large ? 900'000'000 : 20'000'000) + i;
    images += Cat(images.empty() ? "" : ",", "{'names':['i", std::to_string(i),
                  ":1'],'sizeBytes':", std::to_string(size), "}");
  }
  return NodeOf(name, "", "", "'pods':'9'", Cat("'images':[", images, "]"));
}

std::string ContainersWith(int images) {
  std::string list;
  for (int i = 0; i < images; ++i) {
    list += Cat(i == 0 ? "" : ",", "{'name':'c", std::to_string(i), "','image':'i", std::to_string(i), ":1'}");
  }
  return Cat("'containers':[", list, "]");
}

}  // namespace

TEST_CASE("scores by images of nodes that stay as they are change only if the rule says so") {
  struct Case {
    const char* rule;
    PriorityFunction (*factory)(const PluginFactoryArgs&);
    bool notes;
  };
  const Case cases[] = {{"1.13", NotedImageLocality, true},
                        {"1.19", RememberedSpreadImageLocality, true},
                        {"1.29", SpreadImageLocality, false},
                        {"1.36", SpreadImageLocalityOfAll, false}};
  for (const Case& c : cases) {
    for (const int images : {1, 2, 6}) {
      for (const bool large : {false, true}) {
        INFO(c.rule << ", " << images << (large ? " large" : " small") << " images");
        std::mt19937 random(7);
        Cache cache(DescribeTemplate, {.notes_image_spread = c.notes});
        PluginFactoryArgs args;
        args.cache = &cache;
        args.max_score = 100;
        const api::PodPtr pod = PodOf("p", ContainersWith(images));
        const PodContext ctx{*pod, *cache.Info(*pod), cache};
        const std::unique_ptr<Scoring> rule = c.factory(args)(ctx);
        auto* others = dynamic_cast<ReadsOtherNodes*>(rule.get());
        REQUIRE(others != nullptr);
        others->OthersChanged();
        std::map<Row, int64_t> before;
        int silent = 0, changed = 0;
        for (int step = 0; step < 300; ++step) {
          const std::string name = Cat("n", std::to_string(random() % 40));
          const Row old = cache.FindRow(util::Symbol(name));
          if (random() % 3 == 0) {
            cache.RemoveNode(name);
          } else {
            cache.AddNode(NodeWithImages(name, large, random));
          }
          before.erase(old);
          const std::vector<Row>& rows = cache.in_order();
          std::vector<int64_t> scores(rows.size());
          REQUIRE(rule->Map(rows, scores).ok());
          bool differs = false;
          for (size_t i = 0; i < rows.size(); ++i) {
            const auto was = before.find(rows[i]);
            differs = differs || (was != before.end() && was->second != scores[i]);
          }
          const bool said = others->OthersChanged();
          CHECK((said || !differs));
          silent += said ? 0 : 1;
          changed += differs ? 1 : 0;
          before.clear();
          for (size_t i = 0; i < rows.size(); ++i) before.emplace(rows[i], scores[i]);
        }
        // A small image never makes a score, and large ones do.
        if (images == 1 && !large && !c.notes) CHECK(silent == 300);
        if (large) CHECK(changed > 0);
      }
    }
  }
}

}  // namespace berth::scheduler::imagelocality
