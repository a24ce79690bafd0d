// Checks that functions for many rows return the same as those for single rows, for any rows and amounts.
#include "pkg/scheduler/algorithm/noderesources/row_block.h"

#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "pkg/releases/v1_29/decides.h"
#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/noderesources/noderesources.h"
#include "pkg/scheduler/testing/new_objects.h"
#include "pkg/scheduler/testing/objects.h"

namespace berth::scheduler::noderesources {
namespace {

using testing::Asks;
using testing::Cat;
using testing::NodeOf;
using testing::PodOf;

// Returns a usual amount or, sometimes, one that no node should report: zero, negative or near 2^63.
std::string Amount(std::mt19937_64& random, std::initializer_list<const char*> usual) {
  static const char* const kOdd[] = {"0", "-3", "9223372036854775807", "4611686018427387904", "70368744177664"};
  if (random() % 20 == 0) return kOdd[random() % std::size(kOdd)];
  return usual.begin()[random() % usual.size()];
}

// Adds about 700 nodes, of which some are removed again, with a pod on every second one.
void Fill(Cache& cache, std::mt19937_64& random) {
  for (int i = 0; i < 700; ++i) {
    const std::string name = Cat("n", std::to_string(i));
    cache.AddNode(NodeOf(name, "", "",
                         Cat("'cpu':'", Amount(random, {"2", "3500m", "64"}), "','memory':'",
                             Amount(random, {"1Gi", "7000000k", "512Gi"}), "','ephemeral-storage':'",
                             Amount(random, {"10Gi", "1Ti"}), "','pods':'", random() % 10 == 0 ? "1" : "110", "'")));
    if (i % 2 != 0) continue;
    auto pod = PodOf("on-" + name, Asks(Cat("'cpu':'", Amount(random, {"1", "250m"}), "','memory':'",
                                            Amount(random, {"300Mi", "1Gi"}), "'")));
    REQUIRE(cache.AddPod(testing::Bound(pod, name)).ok());
  }
  for (int i = 0; i < 700; i += 1 + static_cast<int>(random() % 40)) cache.RemoveNode(Cat("n", std::to_string(i)));
}

// Returns all or some of the listed rows, in ascending, descending or random order.
std::vector<Row> SomeRows(const Cache& cache, std::mt19937_64& random) {
  std::vector<Row> rows;
  const uint64_t one_of = random() % 3 == 0 ? 20 : random() % 2 + 1;
  cache.listed().ForEach([&](Row row) {
    if (random() % one_of == 0) rows.push_back(row);
  });
  if (random() % 2 == 0) std::reverse(rows.begin(), rows.end());
  if (random() % 4 == 0) std::shuffle(rows.begin(), rows.end(), random);
  return rows;
}

void CheckPredicate(FitCheck& check, const std::vector<Row>& rows) {
  std::vector<Row> kept = rows, expected;
  KeepFitting(check, &kept);
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(expected),
               [&](Row row) { return check.Check(row) == Verdict::kFits; });
  REQUIRE(kept == expected);
  if (ReasonBits(check) == 0) return;
  std::vector<uint32_t> numbers(rows.size());
  NumberReasons(check, rows, nullptr, numbers);
  std::map<uint32_t, std::vector<FailureReason>> reasons;
  for (size_t i = 0; i < rows.size(); ++i) {
    REQUIRE((numbers[i] == 0) == (check.Check(rows[i]) == Verdict::kFits));
    if (numbers[i] == 0) continue;
    std::vector<FailureReason> own;
    check.Explain(rows[i], &own);
    REQUIRE(reasons.try_emplace(numbers[i], own).first->second == own);
  }
}

// The amount requested including the pod, and the capacity, saturated at 64 bits.
struct Use {
  int64_t requested, capacity;
};
using Formula = std::function<int64_t(Use cpu, Use memory)>;

void CheckScores(Scoring& scoring, const std::vector<Row>& rows, const Formula& formula,
                 const std::function<std::pair<Use, Use>(Row)>& use) {
  std::vector<int64_t> scores(rows.size());
  REQUIRE(scoring.Map(rows, scores).ok());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto [cpu, memory] = use(rows[i]);
    INFO("row " << rows[i] << ": cpu " << cpu.requested << " of " << cpu.capacity << ", memory " << memory.requested
                << " of " << memory.capacity);
    REQUIRE(scores[i] == formula(cpu, memory));
  }
}

// Returns part * 100 / whole, with the product wrapping at 64 bits.
int64_t Percent(int64_t part, int64_t whole) {
  const auto product = static_cast<int64_t>(static_cast<uint64_t>(part) * 100);
  return whole == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(product)) : product / whole;
}
int64_t Unused(Use u) {
  const auto left = static_cast<int64_t>(static_cast<uint64_t>(u.capacity) - static_cast<uint64_t>(u.requested));
  return u.requested > u.capacity ? 0 : Percent(left, u.capacity);
}
int64_t Used(Use u) {
  return Percent(std::min(u.requested, u.capacity), u.capacity);
}
template <typename One>
int64_t Mean(Use cpu, Use memory, One one) {
  int64_t sum = 0, weights = 0;
  for (auto [use, weight] : {std::pair(cpu, int64_t{2}), std::pair(memory, int64_t{3})}) {
    if (use.capacity == 0) continue;
    sum += one(use) * weight;
    weights += weight;
  }
  return weights == 0 ? 0 : sum / weights;
}
int64_t Balanced(Use cpu, Use memory) {
  auto share = [](Use u) { return std::min(static_cast<double>(u.requested) / static_cast<double>(u.capacity), 1.0); };
  const bool both = cpu.capacity != 0 && memory.capacity != 0;
  const double deviation = both ? std::fabs((share(cpu) - share(memory)) / 2) : 0;
  return static_cast<int64_t>((1 - deviation) * 100);
}

}  // namespace

TEST_CASE("predicates of both releases: many rows at once") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 4; ++round) {
    Cache cache;
    Fill(cache, random);
    for (const char* asks : {"", "'cpu':'1'", "'cpu':'1500m','memory':'900Mi'", "'memory':'9223372036854775807'",
                             "'cpu':'2','ephemeral-storage':'20Gi','example.com/gpu':'1'"}) {
      INFO(asks);
      const api::PodPtr pod = PodOf("p", Asks(asks));
      const PodContext ctx{*pod, *cache.Info(*pod), cache};
      const PluginFactoryArgs args;
      for (const FitPredicate& predicate : {PodFitsResources(args), Fit(args, {})}) {
        const std::unique_ptr<FitCheck> check = predicate(ctx);
        for (int i = 0; i < 20; ++i) CheckPredicate(*check, SomeRows(cache, random));
      }
    }
  }
}

TEST_CASE("scores of release 1.29: many rows at once") {
  std::mt19937_64 random(8);
  PluginFactoryArgs args;
  args.max_score = 100;
  FitOptions least, most;
  least.resources = most.resources = {{"cpu", 2}, {"memory", 3}};
  most.strategy = FitOptions::Strategy::kMostAllocated;
  Cache cache(releases::v1_29::Decides().describe_template);
  Fill(cache, random);
  const api::PodPtr pod = PodOf("p", Asks("'cpu':'700m','memory':'600Mi'"));
  const TemplateInfo& info = *cache.Info(*pod);
  const PodContext ctx{*pod, info, cache};
  const Columns& c = cache.columns();
  auto non_zero = [&](Row r) {
    return std::pair(Use{SaturatingAdd(c.nonzero_cpu[r], info.incoming_milli_cpu), c.alloc_cpu[r]},
                     Use{SaturatingAdd(c.nonzero_memory[r], info.incoming_memory), c.alloc_memory[r]});
  };
  auto plain = [&](Row r) {
    return std::pair(Use{SaturatingAdd(c.used_cpu[r], info.request.milli_cpu), c.alloc_cpu[r]},
                     Use{SaturatingAdd(c.used_memory[r], info.request.memory), c.alloc_memory[r]});
  };
  const auto least_scoring = FitScore(args, least)(ctx), most_scoring = FitScore(args, most)(ctx);
  const auto balanced = BalancedAllocation(args, least.resources)(ctx);
  for (int i = 0; i < 30; ++i) {
    const std::vector<Row> rows = SomeRows(cache, random);
    CheckScores(
        *least_scoring, rows, [](Use a, Use b) { return Mean(a, b, Unused); }, non_zero);
    CheckScores(
        *most_scoring, rows, [](Use a, Use b) { return Mean(a, b, Used); }, non_zero);
    CheckScores(*balanced, rows, Balanced, plain);
  }
}

TEST_CASE("scores of release 1.10: many rows at once") {
  std::mt19937_64 random(9);
  Cache cache;
  Fill(cache, random);
  const api::PodPtr pod = PodOf("p", Asks("'cpu':'700m','memory':'600Mi'"));
  const TemplateInfo& info = *cache.Info(*pod);
  const PodContext ctx{*pod, info, cache};
  const Columns& c = cache.columns();
  auto use = [&](Row r) {
    return std::pair(Use{SaturatingAdd(c.nonzero_cpu[r], info.nonzero_milli_cpu), c.alloc_cpu[r]},
                     Use{SaturatingAdd(c.nonzero_memory[r], info.nonzero_memory), c.alloc_memory[r]});
  };
  auto unused = [](Use u) {
    if (u.capacity == 0 || u.requested > u.capacity) return int64_t{0};
    const uint64_t left = static_cast<uint64_t>(u.capacity) - static_cast<uint64_t>(u.requested);
    const auto product = static_cast<int64_t>(left * 10);
    return u.capacity == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(product)) : product / u.capacity;
  };
  auto share = [](Use u) {
    return u.capacity == 0 ? 1.0 : static_cast<double>(u.requested) / static_cast<double>(u.capacity);
  };
  const auto least = LeastRequested({})(ctx), balanced = BalancedResourceAllocation({})(ctx);
  for (int i = 0; i < 30; ++i) {
    const std::vector<Row> rows = SomeRows(cache, random);
    CheckScores(
        *least, rows, [&](Use a, Use b) { return (unused(a) + unused(b)) / 2; }, use);
    CheckScores(
        *balanced, rows,
        [&](Use a, Use b) {
          if (share(a) >= 1 || share(b) >= 1) return int64_t{0};
          return static_cast<int64_t>((1 - std::fabs(share(a) - share(b))) * 10);
        },
        use);
  }
}

}  // namespace berth::scheduler::noderesources
