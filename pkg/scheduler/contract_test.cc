// What callers within the scheduler must ensure. Checked only in builds that check contracts (pkg/util/contract.h).
#include "pkg/util/contract.h"

#include <catch2/catch.hpp>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"
#include "pkg/scheduler/algorithm/noderesources/resource_allocation.h"
#include "pkg/scheduler/algorithm/noderesources/row_block.h"
#include "pkg/scheduler/algorithm/podspread/natural_logarithm.h"
#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"
#include "pkg/scheduler/algorithm/volumes/zone_columns.h"
#include "pkg/scheduler/assembly/assembly.h"
#include "pkg/scheduler/cache/label_column.h"
#include "pkg/scheduler/cache/node_tree.h"
#include "pkg/scheduler/configuration/component.h"
#include "pkg/scheduler/configuration/plugins.h"
#include "pkg/scheduler/core/batch.h"
#include "pkg/scheduler/core/incremental/grouped_map.h"
#include "pkg/scheduler/core/incremental/row_partition.h"
#include "pkg/scheduler/core/incremental/row_states.h"
#include "pkg/scheduler/core/incremental/score_buckets.h"
#include "pkg/scheduler/core/incremental/score_column.h"
#include "pkg/scheduler/core/incremental/signature_table.h"
#include "pkg/scheduler/core/node_sampler.h"
#include "pkg/scheduler/failure_reasons.h"
#include "pkg/scheduler/pending_table.h"
#include "pkg/scheduler/pod_fields.h"
#include "pkg/scheduler/queue/events_in_flight.h"
#include "pkg/scheduler/reference/plugins/scheduler.h"
#include "pkg/scheduler/testing/world.h"

#ifdef BERTH_CHECKS_CONTRACTS
namespace berth::scheduler {
namespace {

using noderesources::ExactDouble;
using noderesources::RowBlock;
using noderesources::WrappingDiv;
using util::BrokenContractError;

// Fits nowhere, and numbers no reasons.
class Never final : public FitCheck {
 public:
  Verdict Check(Row) override { return Verdict::kFails; }
  void Explain(Row, std::vector<FailureReason>*) override {}
};

}  // namespace

TEST_CASE("contracts of the cache: rows, domains and assumed pods") {
  const util::ThrowBrokenContracts throws;
  testing::World world;
  world.Nodes({testing::NodeOf("a", "'zone':'z'")});
  CHECK_THROWS_AS(world.cache.AssumePod(testing::PodOf("p", "")), BrokenContractError);
  const LabelColumn& zones = world.cache.Label(Symbol("zone"));
  CHECK(zones.Value(0) == Symbol("z"));
  CHECK_THROWS_AS(zones.Value(1), BrokenContractError);
  NodeTree tree;
  tree.Add(0, Symbol("z"));
  CHECK_THROWS_AS(tree.Add(0, Symbol("y")), BrokenContractError);
  CHECK_THROWS_AS(tree.Skip(2), BrokenContractError);
  CHECK_THROWS_AS(world.cache.Rank(1), BrokenContractError);
  CHECK_THROWS_AS(world.cache.RowAt(world.cache.rank_limit()), BrokenContractError);
  PodQuery query;
  query.nodes = std::make_shared<NodeFilter>();
  CHECK_THROWS_AS(world.cache.Count(query), BrokenContractError);
  CHECK_THROWS_AS(world.cache.SumOf({}), BrokenContractError);
}

TEST_CASE("contracts of kept answers: ranks, buckets, signatures and groups") {
  const util::ThrowBrokenContracts throws;
  RankSet set(100);
  set.Insert(7);
  CHECK_THROWS_AS(set.Insert(7), BrokenContractError);
  CHECK_THROWS_AS(set.Insert(100), BrokenContractError);
  CHECK_THROWS_AS(set.Erase(8), BrokenContractError);
  CHECK_THROWS_AS(set.Fill(std::vector<uint32_t>{1}), BrokenContractError);
  CHECK_THROWS_AS(set.Has(100), BrokenContractError);
  CHECK(set.CountBelow(100) == 1);
  CHECK_THROWS_AS(set.CountBelow(101), BrokenContractError);
  CHECK_THROWS_AS(set.FlipAll({}), BrokenContractError);
  CHECK_THROWS_AS(RankSet(100).Any(), BrokenContractError);
  const RankSet* sets[] = {&set};
  CHECK(SelectKth({sets, {}}, {}, 100, 0) == 7);
  CHECK_THROWS_AS(SelectKth({sets, {}}, {}, 100, 1), BrokenContractError);
  CHECK_THROWS_AS(SelectKth({sets, {}}, {}, 99, 0), BrokenContractError);

  ScoreBuckets buckets(100);
  CHECK_THROWS_AS(buckets.top(), BrokenContractError);
  buckets.Append(5, std::vector<uint32_t>{1});
  CHECK_THROWS_AS(buckets.Append(5, std::vector<uint32_t>{2}), BrokenContractError);
  CHECK_THROWS_AS(buckets.Erase(4, 1), BrokenContractError);

  SignatureTable signatures;
  signatures.Reset(2);
  CHECK_THROWS_AS(signatures.Use(std::vector<int64_t>{1}), BrokenContractError);
  GroupedMap<int> map;
  CHECK_THROWS_AS(map.Get(-1, 0, [] { return 0; }), BrokenContractError);
  CHECK_THROWS_AS(map.Drop(0, 0), BrokenContractError);

  RowStates states;
  CHECK_THROWS_AS(states[0], BrokenContractError);
  CHECK_THROWS_AS(states.Grow(2), BrokenContractError);
  states.Resize(2, {0, 0}, {0, 0});
  CHECK_THROWS_AS(states.Set(2, {}), BrokenContractError);
  CHECK_THROWS_AS(states.Grow(1), BrokenContractError);
  ScoreColumn scores;
  CHECK_THROWS_AS(scores.SetDoesNotFit(0), BrokenContractError);
  RowPartition partition;
  partition.Reset(2);
  CHECK_THROWS_AS(partition.Divide(std::vector<int64_t>{1}), BrokenContractError);
  Batch batch;
  CHECK_THROWS_AS(batch.TakeBest(), BrokenContractError);
}

TEST_CASE("contracts of pending pods: each is in the table once") {
  const util::ThrowBrokenContracts throws;
  SchedulerMetrics metrics;
  PendingTable pending(&metrics);
  const api::PodPtr pod = testing::PodOf("p", "");
  pending.Add(pod, PendingPlace::kQueued, absl::ZeroDuration());
  CHECK_THROWS_AS(pending.Add(pod, PendingPlace::kQueued, absl::ZeroDuration()), BrokenContractError);
}

TEST_CASE("contracts of rules: rows in blocks, exact amounts, and reasons with numbers") {
  const util::ThrowBrokenContracts throws;
  CHECK_THROWS_AS(RowBlock(std::span<const Row>()), BrokenContractError);
  CHECK_THROWS_AS(ExactDouble(-1), BrokenContractError);
  CHECK_THROWS_AS(WrappingDiv(1, 0), BrokenContractError);
  CHECK_THROWS_AS(podspread::NaturalLogarithm(0), BrokenContractError);
  Never never;
  const std::vector<Row> rows{0};
  std::vector<uint32_t> numbers(1);
  CHECK_THROWS_AS(NumberReasons(never, rows, nullptr, numbers), BrokenContractError);
}

TEST_CASE("contracts of decisions: traces, failed nodes, profiles and the release") {
  const util::ThrowBrokenContracts throws;
  testing::World world;
  DecisionTrace trace;
  CHECK_THROWS_AS(world.Provider()->Schedule(testing::PodOf("p", ""), DecisionMode::kIncremental, &trace),
                  BrokenContractError);
  NodeFailures failures;
  for (int i = 0; i < 2; ++i) failures.AddNew(Symbol("a"), {});
  CHECK_THROWS_AS(failures.Find(Symbol("a")), BrokenContractError);
  CHECK_THROWS_AS(Assembly({}), BrokenContractError);
  CHECK_THROWS_AS(reference::plugins::Scheduler(nullptr, {}), BrokenContractError);
}

TEST_CASE(
    "contracts of sets of rows and of walks: rows are listed, labels are among those asked for, a walk was made") {
  const util::ThrowBrokenContracts throws;
  testing::World world;
  world.Nodes({testing::NodeOf("a", "")});
  RowSet rows;
  rows.Insert(1);
  const api::PodPtr pod = testing::PodOf("p", "");
  CHECK_THROWS_AS(nodeaffinity::KeepRequired(*pod->tmpl, world.cache, &rows), BrokenContractError);
  CHECK_THROWS_AS(tainttoleration::KeepTolerated(*pod->tmpl, world.cache, {}, &rows), BrokenContractError);
  const std::vector<volumes::ZoneColumns::Demand> demands{{2, {}}};
  CHECK_THROWS_AS(volumes::ZoneColumns(world.cache).KeepMeeting(demands, 2, &rows), BrokenContractError);
  const SamplingRules rules;
  NodeSampler sampler(&world.cache, rules, 50);
  CHECK_THROWS_AS(sampler.Made({}), BrokenContractError);
  const EventsInFlight events(false);
  CHECK_THROWS_AS(events.AnySince(0, [](const ClusterEvent&) { return true; }), BrokenContractError);
}

TEST_CASE("contracts of configuration and reasons: only a failure has a decisive reason") {
  const util::ThrowBrokenContracts throws;
  CHECK_THROWS_AS(DecisiveReason(NodeFailures()), BrokenContractError);
  CHECK_THROWS_AS(FailureReasonText(FailureReasonCount()), BrokenContractError);
  CHECK_THROWS_AS(BlockedText({}), BrokenContractError);
  CHECK_THROWS_AS(configuration::ReadComponent(api::Json()), BrokenContractError);
  CHECK_THROWS_AS(configuration::PluginCatalogue({}, {}, std::span<const configuration::PluginCatalogue::Provider>()),
                  BrokenContractError);
}

}  // namespace berth::scheduler
#endif
