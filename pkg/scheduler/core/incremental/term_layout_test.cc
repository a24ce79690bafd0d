// The layout of terms, the sums of rows and the parts of a decision, each by itself, with rules whose terms are given.
#include <catch2/catch.hpp>

#include "pkg/scheduler/core/incremental/part_table.h"
#include "pkg/scheduler/core/incremental/sparse_sums.h"
#include "pkg/scheduler/reference/random_cluster.h"
#include "pkg/scheduler/testing/world.h"

namespace berth::scheduler {
namespace {

using testing::Cat;
using testing::NodeOf;
using testing::World;

// Numbers of pods by domain, as given.
class GivenTotals final : public DomainTotals {
 public:
  explicit GivenTotals(const LabelColumn* column, std::vector<std::pair<uint32_t, int64_t>> numbers = {})
      : DomainTotals(column) {
    for (const auto& [domain, number] : numbers) Add(domain, number);
  }
};

// Admits nodes whose first sum is at most `most` and complete.
class AtMost final : public DomainCheck {
 public:
  AtMost(std::vector<DomainTerm> terms, std::vector<DomainChannel> channels, int64_t most) : most_(most) {
    terms_ = std::move(terms);
    channels_ = std::move(channels);
  }
  bool Admits(std::span<const DomainSum> sums) const override { return sums[0].complete && sums[0].value <= most_; }
  void Explain(Row, std::vector<FailureReason>*) override {}

 private:
  int64_t most_;
};

// Scores a node by the sum of its channels.
class BySum final : public DomainScoring {
 public:
  BySum(std::vector<DomainTerm> terms, std::vector<DomainChannel> channels) {
    terms_ = std::move(terms);
    channels_ = std::move(channels);
  }
  void Score(const DomainParts& parts, std::span<int64_t> scores) const override {
    const size_t width = channels_.size();
    for (size_t p = 0; p < parts.size; ++p) {
      scores[p] = 0;
      for (size_t c = 0; c < width; ++c) scores[p] += parts.sums[p * width + c].value;
    }
  }
};

// Six nodes: n0, n2 and n4 are in zone z0, the others in z1. Each has a label "host" of its own, but n5 has none.
struct SixNodes {
  SixNodes() {
    for (int i = 0; i < 6; ++i) {
      const std::string n = std::to_string(i);
      world.Nodes(
          {NodeOf(Cat("n", n), Cat("'zone':'z", std::to_string(i % 2), "'", i == 5 ? "" : Cat(",'host':'h", n, "'")))});
    }
    zone = &world.cache.Label(Symbol("zone"));
    host = &world.cache.Label(Symbol("host"));
  }
  Row RowOf(int i) { return world.cache.FindRow(Symbol(Cat("n", std::to_string(i)))); }
  World world;
  const LabelColumn* zone = nullptr;
  const LabelColumn* host = nullptr;
};

// What a decision about the six nodes works with where there are no rules but those about domains.
struct PartsCase {
  PartsCase(SixNodes* six, const TermLayout& layout)
      : rules(ConfigOf(*six)),
        partitions(&six->world.cache),
        nodes(&six->world.cache, rules, &partitions, testing::PodOf("p", ""), layout.keys(), {}) {
    nodes.Refresh();
    signatures.Reset(layout.slots().size());
    labels.Begin(nodes.group_count(), &answers);
    parts.Begin({layout, signatures, labels, answers, nodes, 10});
  }
  static AlgorithmConfig ConfigOf(const SixNodes& six) {
    AlgorithmConfig config;
    config.release = six.world.release;
    return config;
  }
  const RuleSet rules;
  KeyPartitions partitions;
  StaticNodeIndex nodes;
  SignatureTable signatures;
  LabelRules labels;
  LabelRules::Answers answers;
  PartTable parts;
};

// Checks that exactly these of the six nodes are admitted when the predicates are asked about all of them at once.
void CheckAdmittedTogether(SixNodes* six, const TermLayout& layout, const std::vector<int32_t>& admitted) {
  PartsCase one_by_one(six, layout), of_each(six, layout);
  std::vector<Row> rows;
  std::vector<RowState> states;
  std::vector<int32_t> part_of, part_of_each(6, -7), expected(6, PartTable::kNoPart);
  for (int i = 0; i < 6; ++i) {
    rows.push_back(six->RowOf(i));
    states.push_back({of_each.nodes.part(rows.back()).group, 0});
    part_of.push_back(one_by_one.parts.AddCandidate(states.back().group, 0, nullptr, 1));
  }
  for (size_t k = 0; k < admitted.size(); ++k) {
    expected[static_cast<size_t>(admitted[k])] = static_cast<int32_t>(k);
  }
  one_by_one.parts.Admit(part_of);
  CHECK(part_of == expected);
  CHECK(one_by_one.parts.size() == admitted.size());
  const std::vector<int32_t> no_signatures(six->world.cache.row_count(), 0);
  of_each.parts.AddOfEach(rows, states, no_signatures.data(), part_of_each.data());
  of_each.parts.Admit(part_of_each);
  CHECK(part_of_each == expected);
  for (size_t k = 0; k < admitted.size(); ++k) {
    CHECK(of_each.parts[k].group == states[static_cast<size_t>(admitted[k])].group);
    CHECK(of_each.parts[k].nodes == 0);
  }
}

}  // namespace

TEST_CASE("a label with few values makes dense terms, one with a value for each node sparse ones") {
  SixNodes six;
  std::vector<std::unique_ptr<DomainCheck>> checks;
  std::vector<DomainTerm> terms;
  terms.push_back({std::make_shared<GivenTotals>(six.zone), nullptr, 1, 0});
  terms.push_back({std::make_shared<GivenTotals>(six.host), six.host, 1, 1});
  terms.push_back({std::make_shared<GivenTotals>(nullptr), nullptr, 1, 1});
  checks.push_back(std::make_unique<AtMost>(terms, std::vector<DomainChannel>(2, DomainChannel::kSum), 0));
  TermLayout layout;
  layout.Find(checks, {}, {}, 6);
  REQUIRE(layout.dense().size() == 1);
  CHECK(layout.keys()[layout.dense()[0].key] == GroupKey{six.zone, false});
  // The two sparse terms share a channel, so they share a value of the signature, and a label that nodes must have is a
  // key for its presence alone.
  REQUIRE(layout.sparse().size() == 2);
  CHECK(layout.slots() == std::vector<size_t>{1});
  CHECK(layout.keys()[layout.sparse()[0].key] == GroupKey{six.host, true});
  CHECK(layout.sparse()[1].key == TermLayout::kNoKey);
  CHECK(layout.sparse_columns() == std::vector<const LabelColumn*>{six.host});
}

TEST_CASE("keys that other pods need come first, unless their labels have too many values") {
  SixNodes six;
  TermLayout layout;
  layout.Find({}, {}, std::vector<GroupKey>{{six.host, false}, {six.zone, false}}, 6);
  CHECK(layout.keys() == std::vector<GroupKey>{{six.zone, false}});
  CHECK(layout.KeyOf(six.zone, true) == 0);
  CHECK(layout.KeyOf(six.host, true) == 1);
  // Presence is not enough where the values count.
  CHECK(layout.KeyOf(six.host, false) == 2);
}

TEST_CASE("keys and values of signatures are found again in long lists, too") {
  SixNodes six;
  constexpr size_t kMany = 50;
  std::vector<const LabelColumn*> columns;
  for (size_t i = 0; i < kMany; ++i) columns.push_back(&six.world.cache.Label(Symbol(Cat("l", std::to_string(i)))));
  TermLayout keyed;
  for (size_t i = 0; i < kMany; ++i) CHECK(keyed.KeyOf(columns[i], i % 2 == 0) == i);
  for (size_t i = 0; i < kMany; ++i) CHECK(keyed.KeyOf(columns[i], true) == i);
  for (size_t i = 0; i < kMany; ++i) CHECK(keyed.KeyOf(columns[i], false) == (i % 2 == 0 ? kMany + i / 2 : i));
  for (size_t i = 0; i < kMany; ++i) CHECK(keyed.KeyOf(columns[i], true) == i);

  std::vector<DomainTerm> terms;
  for (uint32_t t = 0; t < 3 * kMany; ++t) {
    terms.push_back({std::make_shared<GivenTotals>(six.host), nullptr, 1, t % uint32_t{kMany}});
  }
  std::vector<std::unique_ptr<DomainCheck>> checks;
  checks.push_back(std::make_unique<AtMost>(terms, std::vector<DomainChannel>(kMany, DomainChannel::kSum), 0));
  TermLayout layout;
  layout.Find(checks, {}, {}, 6);
  CHECK(layout.slots().size() == kMany);
  REQUIRE(layout.sparse().size() == 3 * kMany);
  for (size_t t = 0; t < 3 * kMany; ++t) CHECK(layout.sparse()[t].slot == t % kMany);
  CHECK(layout.sparse_columns() == std::vector<const LabelColumn*>{six.host});
}

TEST_CASE("a priority with neither terms nor keys is left out of the layout") {
  std::vector<WeightedDomainScoring> scorings;
  scorings.push_back({std::make_unique<BySum>(std::vector<DomainTerm>{}, std::vector<DomainChannel>{}), 1});
  TermLayout layout;
  layout.Find({}, scorings, {}, 6);
  CHECK(layout.scorings().empty());
}

TEST_CASE("rows are met with the signatures that they have one by one") {
  SixNodes six;
  auto by_host = std::make_shared<GivenTotals>(
      six.host, std::vector<std::pair<uint32_t, int64_t>>{{six.host->Domain(six.RowOf(1)), 3}});
  auto by_row = std::make_shared<GivenTotals>(
      nullptr, std::vector<std::pair<uint32_t, int64_t>>{{six.RowOf(1), 2}, {six.RowOf(5), 4}});
  for (const bool single : {false, true}) {
    std::vector<DomainTerm> terms;
    if (!single) terms.push_back({by_host, nullptr, 10, 0});
    // n5 lacks the label, so its pods count for nothing.
    terms.push_back({by_row, six.host, 1, single ? 0u : 1u});
    std::vector<std::unique_ptr<DomainCheck>> checks;
    checks.push_back(
        std::make_unique<AtMost>(terms, std::vector<DomainChannel>(single ? 1 : 2, DomainChannel::kSum), 100));
    TermLayout layout;
    layout.Find(checks, {}, {}, 6);
    SparseSums sums, again;
    std::vector<Row> met;
    sums.ForEach(layout, six.world.cache.row_count(), [&](Row row, std::span<const int64_t> signature) {
      met.push_back(row);
      CHECK(std::ranges::equal(signature, again.Of(layout, row)));
    });
    CHECK(met == std::vector<Row>{six.RowOf(1)});
    const std::vector<int64_t> all = *sums.OfAll(layout, six.world.cache.row_count());
    met.clear();
    SparseSums::ForEachIn(all, layout.slots().size(), [&](Row row, std::span<const int64_t> signature) {
      met.push_back(row);
      CHECK(std::ranges::equal(signature, again.Of(layout, row)));
    });
    CHECK(met == std::vector<Row>{six.RowOf(1)});
    const std::vector<int64_t> expected = single ? std::vector<int64_t>{2} : std::vector<int64_t>{30, 2};
    CHECK(std::ranges::equal(again.Of(layout, six.RowOf(1)), expected));
    CHECK(layout.Counted() == (single ? 2 : 3));
  }
}

TEST_CASE("a part gets the sums of its group and of its signature, and is dropped when a predicate does not admit it") {
  SixNodes six;
  auto by_zone = std::make_shared<GivenTotals>(
      six.zone, std::vector<std::pair<uint32_t, int64_t>>{{six.zone->DomainOf(Symbol("z0")), 5}});
  auto by_row = std::make_shared<GivenTotals>(nullptr, std::vector<std::pair<uint32_t, int64_t>>{{six.RowOf(0), 2}});
  const std::vector<DomainTerm> terms{{by_zone, nullptr, 1, 0}, {by_row, nullptr, 1, 0}};
  const std::vector<DomainChannel> one{DomainChannel::kSum};
  std::vector<std::unique_ptr<DomainCheck>> checks;
  checks.push_back(std::make_unique<AtMost>(terms, one, 6));
  std::vector<WeightedDomainScoring> scorings;
  scorings.push_back({std::make_unique<BySum>(terms, one), 10});
  TermLayout layout;
  layout.Find(checks, scorings, {}, 6);

  PartsCase d(&six, layout);
  PartTable& parts = d.parts;
  // The predicate and the priority each have a channel, and so a value of the signature.
  REQUIRE(layout.slots() == std::vector<size_t>{0, 1});
  const int32_t two = d.signatures.Use(std::vector<int64_t>{2, 2});
  const int32_t z0 = d.nodes.part(six.RowOf(0)).group, z1 = d.nodes.part(six.RowOf(1)).group;
  CHECK(parts.Add(z0, 0, nullptr, 2) == 0);
  CHECK(parts.Add(z0, two, nullptr, 1) == PartTable::kNoPart);  // 5 + 2 pods are more than 6
  CHECK(parts.Add(z1, 0, nullptr, 3) == 1);
  CHECK(parts.Add(z1, two, nullptr, 1) == 2);
  CHECK(parts.Score() == 6);
  CHECK(parts[0].total == 50);
  CHECK(parts[1].total == 0);
  CHECK(parts[2].total == 20);
  // A group that the rules about labels do not admit makes no part.
  d.answers.admits[static_cast<size_t>(z1)] = 0;
  CHECK(parts.Add(z1, 0, nullptr, 3) == PartTable::kNoPart);
}

TEST_CASE("groups have the sums that their rows have one by one, with many terms of a channel") {
  SixNodes six;
  const LabelColumn* half = &six.world.cache.Label(Symbol("half"));  // which only n0, n1 and n2 have
  for (int i = 0; i < 3; ++i) {
    six.world.Nodes({NodeOf(Cat("n", std::to_string(i)),
                            Cat("'half':'", std::to_string(i / 2), "','zone':'z", std::to_string(i % 2), "'"))});
  }
  for (uint64_t seed : reference::Seeds(50)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    reference::Random random(seed);
    std::vector<DomainTerm> terms;
    for (int n = random.Between(1, 12); n > 0; --n) {
      const LabelColumn* column = random.Chance(50) ? six.zone : half;
      std::vector<std::pair<uint32_t, int64_t>> numbers;
      for (uint32_t d = 0; d < column->domain_limit(); ++d) {
        if (random.Chance(60)) numbers.emplace_back(d, random.Between(1, 5));
      }
      terms.push_back({std::make_shared<GivenTotals>(column, numbers), random.Chance(40) ? column : nullptr,
                       random.Between(1, 3) * (random.Chance(50) ? 1 : -1), static_cast<uint32_t>(random.Below(2))});
    }
    std::vector<WeightedDomainScoring> scorings;
    scorings.push_back(
        {std::make_unique<BySum>(terms, std::vector<DomainChannel>{DomainChannel::kSum, DomainChannel::kAny}), 1});
    std::vector<std::unique_ptr<DomainCheck>> checks;
    checks.push_back(std::make_unique<AtMost>(
        terms, std::vector<DomainChannel>{DomainChannel::kSum, DomainChannel::kAny}, random.Between(-3, 10)));
    TermLayout layout;
    layout.Find(checks, scorings, {}, 6);
    REQUIRE(layout.sparse().empty());
    PartsCase d(&six, layout);
    std::vector<int32_t> rows;
    for (int i = 0; i < 6; ++i) {
      const Row row = six.RowOf(i);
      const int32_t part = d.parts.Add(d.nodes.part(row).group, 0, nullptr, 1);
      CHECK((part != PartTable::kNoPart) == (checks[0]->Check(row) == Verdict::kFits));
      if (part != PartTable::kNoPart) rows.push_back(i);
    }
    CheckAdmittedTogether(&six, layout, rows);
    if (d.parts.Score() < 2) continue;
    for (size_t p = 0; p < rows.size(); ++p) {
      DomainSum sums[2];
      scorings[0].scoring->SumsOf(six.RowOf(rows[p]), sums);
      CHECK(d.parts[p].total == sums[0].value + sums[1].value);
    }
  }
}

TEST_CASE("a predicate without terms admits all parts or none") {
  SixNodes six;
  for (const int64_t most : {0, -1}) {
    std::vector<std::unique_ptr<DomainCheck>> checks;
    checks.push_back(std::make_unique<AtMost>(std::vector<DomainTerm>{}, std::vector{DomainChannel::kSum}, most));
    TermLayout layout;
    layout.Find(checks, {}, {}, 6);
    PartsCase d(&six, layout);
    CHECK(d.parts.Add(0, 0, nullptr, 6) == (most == 0 ? 0 : PartTable::kNoPart));
  }
}

}  // namespace berth::scheduler
