#include <absl/strings/str_cat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"
#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"
#include "pkg/scheduler/testing/objects.h"

namespace berth::scheduler::nodeaffinity {
namespace {

// Makes the specs of nodes and pods at random, with few values, so that they often match.
class SpecMaker {
 public:
  explicit SpecMaker(uint32_t seed) : random_(seed) {}
  std::string OneOf(std::initializer_list<const char*> texts) { return *(texts.begin() + random_() % texts.size()); }
  std::string Requirement() {
    const std::string key = OneOf({"disk", "size", "zone"}),
                      op = OneOf({"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Odd"});
    const std::string values = op == "Exists" || op == "DoesNotExist" ? ""
                               : op == "Gt"                           ? "'1'"
                                                                      : OneOf({"'1'", "'1','2'", "'ssd'"});
    return absl::StrCat("{'key':'", key, "','operator':'", op, "','values':[", values, "]}");
  }
  std::string Term() {
    const std::string fields = absl::StrCat("'matchFields':[{'key':'metadata.name','operator':'",
                                            OneOf({"In", "In", "NotIn"}), "','values':['n", random_() % 4, "']}]");
    switch (random_() % 4) {
      case 0:
        return absl::StrCat("{", fields, "}");
      case 1:
        return absl::StrCat("{'matchExpressions':[", Requirement(), "],", fields, "}");
      case 2:
        return absl::StrCat("{'matchExpressions':[", Requirement(), ",", Requirement(), "]}");
      default:
        return absl::StrCat("{'matchExpressions':[", Requirement(), "]}");
    }
  }
  std::string PodSpec() {
    const std::string selector =
        random_() % 3 == 0 ? absl::StrCat("'nodeSelector':{'disk':'", OneOf({"1", "ssd"}), "'},") : "";
    const std::string more = random_() % 2 == 0 ? absl::StrCat(",", Term()) : "";
    const std::string affinity =
        random_() % 4 == 0
            ? ""
            : absl::StrCat(
                  "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[",
                  Term(), more, "]}}},");
    return absl::StrCat(selector, affinity, "'tolerations':[{'key':'", OneOf({"a", "b"}), "','operator':'",
                        OneOf({"Exists", "Equal"}), "'}]");
  }
  std::string NodeLabels() {
    std::string labels = "'any':'1'";
    for (const char* key : {"disk", "size", "zone"}) {
      if (random_() % 3 != 0) absl::StrAppend(&labels, ",'", key, "':'", OneOf({"1", "2", "ssd"}), "'");
    }
    return labels;
  }
  std::string Taints() {
    return random_() % 2 == 0 ? ""
                              : absl::StrCat("'taints':[{'key':'", OneOf({"a", "b"}), "','value':'", OneOf({"", "x"}),
                                             "','effect':'", OneOf({"NoSchedule", "PreferNoSchedule"}), "'}]");
  }

 private:
  std::mt19937 random_;
};

TEST_CASE(
    "what is left of many rows are those that required affinity selects one by one, and whose taints are tolerated") {
  int left = 0, gone = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    INFO("seed " << seed);
    SpecMaker maker(seed);
    Cache cache;
    for (int n = 0; n < 12; ++n)
      cache.AddNode(testing::NodeOf(absl::StrCat("n", n), maker.NodeLabels(), maker.Taints()));
    cache.RemoveNode("n5");
    cache.AddNode(testing::NodeOf("n7", maker.NodeLabels(), maker.Taints()));
    const api::PodPtr pod = testing::PodOf("p", maker.PodSpec());
    RowSet selected = cache.listed(), tolerated = cache.listed();
    KeepRequired(*pod->tmpl, cache, &selected);
    tainttoleration::KeepTolerated(*pod->tmpl, cache, {}, &tolerated);
    cache.listed().ForEach([&](Row row) {
      const api::Node& node = *cache.row(row).node;
      CHECK(selected.Has(row) == MeetsRequired(*pod->tmpl, node));
      CHECK(tolerated.Has(row) == tainttoleration::ToleratesAll(*pod->tmpl, node));
      (selected.Has(row) ? left : gone) += 1;
    });
    CHECK(!selected.Has(cache.FindRow(util::Symbol("n5"))));
  }
  CHECK(left > 500);
  CHECK(gone > 500);
}

TEST_CASE("what predicates about nodes keep of a list are the rows that they pass one by one, in their order") {
  const PluginFactoryArgs args;
  const std::vector<FitPredicate> predicates = {MatchNodeSelector(args), MatchNodeSelectorWithFields(args),
                                                NodeAffinityFilter(args, {}), RequiredNodeAffinity(args),
                                                tainttoleration::PodToleratesNodeTaints(args)};
  std::vector<size_t> left(predicates.size(), 0), gone(predicates.size(), 0);
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SpecMaker maker(seed);
    Cache cache;
    for (int n = 0; n < 40; ++n) {
      cache.AddNode(testing::NodeOf(absl::StrCat("n", n), maker.NodeLabels(), maker.Taints()));
    }
    std::vector<Row> all = cache.in_order();
    if (seed % 4 == 0) all.resize(3);
    const bool nothing = seed % 20 == 7;
    const api::PodPtr pod =
        testing::PodOf("p", nothing ? "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
                                      "'nodeSelectorTerms':[]}}}"
                                    : maker.PodSpec());
    const PodContext ctx{*pod, *cache.Info(*pod), cache};
    for (size_t i = 0; i < predicates.size(); ++i) {
      INFO("seed " << seed << ", predicate " << i);
      const auto check = predicates[i](ctx);
      std::vector<Row> kept = all, passed;
      std::copy_if(all.begin(), all.end(), std::back_inserter(passed),
                   [&](Row row) { return check->Check(row) == Verdict::kFits; });
      KeepFitting(*check, &kept);
      CHECK(kept == passed);
      RowSet filtered, expected, errors;
      for (const Row row : all) filtered.Insert(row);
      expected.Resize(static_cast<Row>(filtered.words().size() * 64));
      for (const Row row : passed) expected.Insert(row);
      check->Filter(&filtered, &errors);
      CHECK(filtered.words() == expected.words());
      left[i] += kept.size();
      gone[i] += all.size() - kept.size();
    }
  }
  for (size_t i = 0; i < predicates.size(); ++i) {
    INFO("predicate " << i);
    CHECK(left[i] > 500);
    CHECK(gone[i] > 500);
  }
}

}  // namespace
}  // namespace berth::scheduler::nodeaffinity
