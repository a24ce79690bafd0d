// The index is built by evaluating the rules for all nodes. Later, only nodes whose object has changed are evaluated
// again; pods that come or go change nothing here. If a rule reads other node objects as well (ClusterPart::kNodes),
// every change of a node object makes it necessary to build the index anew.
#include "pkg/scheduler/core/incremental/static_node_index.h"

#include <algorithm>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/util/contract.h"
#include "pkg/util/release_memory.h"

namespace berth::scheduler {

namespace {

// Up to so many groups are searched for before all of them are entered into a table.
constexpr size_t kMostSearches = 24;
// An index without that table is built anew if more than one in this many nodes has changed.
constexpr size_t kNodesOfChange = 4;
// The least number of rows of which each may get a group of its own.
constexpr size_t kLeastAlone = 64;
// How many rows a step through a set of all rows passes.
constexpr size_t kRowsOfWord = 64;

}  // namespace

StaticNodeIndex::Scratch& StaticNodeIndex::scratch() {
  thread_local Scratch scratch;
  return scratch;
}

StaticNodeIndex::StaticNodeIndex(Cache* cache, const RuleSet& rules, KeyPartitions* partitions, api::PodPtr pod,
                                 std::vector<GroupKey> keys, const LeftOut& left_out)
    : cache_(cache),
      rules_(rules),
      partitions_(*partitions),
      pod_(std::move(pod)),
      keys_(std::move(keys)),
      left_out_(left_out) {
  PrepareRules();
}

// If Map has an error, it is about the pod and the same for every row, so calling it for one row is enough.
void StaticNodeIndex::PrepareRules() {
  prepared_ = true;
  const PodContext ctx{*pod_, *cache_->Info(*pod_), *cache_};
  for (size_t i = 0; i < rules_.node_predicates.size(); ++i) {
    if (left_out_.predicates.Has(i)) continue;
    std::unique_ptr<FitCheck> check = rules_.node_predicates[i]->predicate(ctx);
    if (!check->FitsAlways()) checks_.push_back(std::move(check));
  }
  scores_ = Prepare(rules_.node_priorities, ctx);
  normalised_.clear();
  for (size_t i = 0; i < rules_.normalised_priorities.size(); ++i) {
    if (left_out_.normalised.Has(i)) continue;
    const ConfiguredPriority& p = *rules_.normalised_priorities[i];
    raw_scores_.push_back({p.function(ctx), p.weight});
    normalised_.push_back({p.weight, p.traits.normalisation});
  }
  most_raw_.assign(normalised_.size(), 0);
  FindOtherNodes();
  const std::vector<Row>& all = cache_->in_order();
  if (all.empty()) return;
  int64_t score;
  for (auto* list : {&scores_, &raw_scores_}) {
    for (WeightedScoring& w : *list) usable_ = usable_ && w.scoring->Map({all.data(), 1}, {&score, 1}).ok();
  }
}

// Finds the rules that read other nodes. Of most of them it is known when scores change by that.
void StaticNodeIndex::FindOtherNodes() {
  const auto reads_others = [](const auto* rule) { return rule->traits.cluster == ClusterPart::kNodes; };
  any_node_matters_ = std::ranges::any_of(rules_.node_predicates, reads_others) ||
                      std::ranges::any_of(rules_.normalised_priorities, reads_others);
  of_other_nodes_.clear();
  for (size_t i = 0; i < scores_.size(); ++i) {
    if (!reads_others(rules_.node_priorities[i])) continue;
    auto* rule = dynamic_cast<ReadsOtherNodes*>(scores_[i].scoring.get());
    any_node_matters_ = any_node_matters_ || rule == nullptr;
    if (rule != nullptr) of_other_nodes_.push_back(rule);
  }
}

// Returns whether scores of nodes that have not changed themselves may have changed since the last call.
bool StaticNodeIndex::OthersChanged() {
  bool changed = false;
  for (ReadsOtherNodes* rule : of_other_nodes_) changed = rule->OthersChanged() || changed;
  return changed;
}

// Computes the scores of all rows that fit anew.
void StaticNodeIndex::Rescore() {
  std::vector<Row>& fit = scratch().fit;
  std::vector<int64_t>& scores = scratch().scores;
  std::vector<int64_t>& sums = scratch().raws;
  fit.clear();
  for (Row row = 0; row < parts_.size(); ++row) {
    if (parts_[row].group >= 0) fit.push_back(row);
  }
  scores.resize(fit.size());
  sums.assign(fit.size(), 0);
  for (WeightedScoring& w : scores_) {
    usable_ = w.scoring->Map(fit, scores).ok() && usable_;
    for (size_t k = 0; k < fit.size(); ++k) sums[k] += scores[k] * w.weight;
  }
  if (rescored_last_.size() > parts_.size()) rescored_last_.clear();
  for (size_t k = 0; k < fit.size(); ++k) {
    Part& part = parts_[fit[k]];
    if (part.score == static_cast<int32_t>(sums[k])) continue;
    part.score = static_cast<int32_t>(sums[k]);
    rescored_last_.push_back(fit[k]);
    ++rescored_;
  }
}

bool StaticNodeIndex::RescoredSince(uint64_t number, std::vector<Row>* rows) const {
  const uint64_t missed = rescored_ - number;
  if (missed > rescored_last_.size()) return false;
  rows->insert(rows->end(), rescored_last_.end() - static_cast<ptrdiff_t>(missed), rescored_last_.end());
  return true;
}

// Puts all groups into group_table_, unless they are in it.
void StaticNodeIndex::IndexGroups() {
  if (indexed_) return;
  indexed_ = true;
  const size_t keys = keys_.size(), raws = raw_scores_.size();
  group_table_.Reserve(group_count_);
  for (size_t g = 0; g < group_count_; ++g) {
    uint64_t hash = 0;
    for (size_t k = 0; k < keys; ++k) hash = KeyTable::Hash(hash, domains_[g * keys + k]);
    for (size_t i = 0; i < raws; ++i) hash = KeyTable::Hash(hash, static_cast<uint64_t>(raw_[g * raws + i]));
    group_table_.Add(hash);
  }
}

// Returns whether the domains and raw scores of the group are those in key_.
bool StaticNodeIndex::HasKey(size_t group) const {
  const size_t keys = keys_.size(), raws = raw_scores_.size();
  for (size_t k = 0; k < keys; ++k) {
    if (domains_[group * keys + k] != static_cast<uint32_t>(key_[k])) return false;
  }
  return std::equal(raw_.data() + group * raws, raw_.data() + (group + 1) * raws, key_.data() + keys);
}

// Returns the group whose domains and raw scores are in key_. It is added when it is new.
int32_t StaticNodeIndex::GroupOfKey() {
  if (indexed_) {
    uint64_t hash = 0;
    for (const int64_t value : key_) hash = KeyTable::Hash(hash, static_cast<uint64_t>(value));
    const uint32_t known = group_table_.Find(hash, [&](uint32_t group) { return HasKey(group); });
    if (known != KeyTable::kNone) return static_cast<int32_t>(known);
    group_table_.Add(hash);
  } else {
    for (size_t g = 0; g < group_count_; ++g) {
      if (HasKey(g)) return static_cast<int32_t>(g);
    }
  }
  const auto raw = key_.begin() + static_cast<ptrdiff_t>(keys_.size());
  for (auto it = key_.begin(); it != raw; ++it) domains_.push_back(static_cast<uint32_t>(*it));
  raw_.insert(raw_.end(), raw, key_.end());
  for (size_t i = 0; i < most_raw_.size(); ++i) most_raw_[i] = std::max(most_raw_[i], raw[static_cast<ptrdiff_t>(i)]);
  return static_cast<int32_t>(group_count_++);
}

// Adds groups for the rows at the positions first(0), first(1), ... of scratch().fit.
template <typename First>
void StaticNodeIndex::AddGroups(size_t count, First first) {
  const Scratch& s = scratch();
  const size_t size = s.fit.size(), keys = keys_.size(), raws = raw_scores_.size(), before = group_count_;
  const Row* const fit = s.fit.data();
  group_count_ += count;
  domains_.resize(group_count_ * keys);
  raw_.resize(group_count_ * raws);
  for (size_t k = 0; k < keys; ++k) {
    const GroupKey key = keys_[k];
    uint32_t* to = domains_.data() + before * keys + k;
    for (size_t i = 0; i < count; ++i, to += keys) *to = key.DomainOf(fit[first(i)]);
  }
  for (size_t r = 0; r < raws; ++r) {
    const int64_t* const of = s.raws.data() + r * size;
    int64_t* to = raw_.data() + before * raws + r;
    int64_t most = most_raw_[r];
    for (size_t i = 0; i < count; ++i, to += raws) {
      *to = of[first(i)];
      most = std::max(most, *to);
    }
    most_raw_[r] = most;
  }
}

// Divides the rows in scratch().fit into sets of rows that are alike. If there are no groups yet, the sets that the
// keys make are those of all indexes with these keys, and when it turns out that nearly every row is alone, the
// division is given up and false returned.
bool StaticNodeIndex::DivideRows() {
  Scratch& s = scratch();
  const size_t size = s.fit.size();
  const auto most_are_alone = [&](size_t sets, size_t rows) {
    return group_count_ == 0 && rows >= kLeastAlone && sets * 4 > rows * 3;
  };
  s.alike.Reset(size);
  s.domains.resize(size);
  const bool by_sets = group_count_ == 0 && !built_among_;
  if (by_sets && !keys_.empty()) {
    const std::span<const uint32_t> set_of = partitions_.Of(keys_);
    if (most_are_alone(partitions_.last_sets(), set_of.size())) return false;
    for (size_t k = 0; k < size; ++k) s.domains[k] = set_of[s.fit[k]];
    s.alike.Divide(s.domains);
  }
  for (const GroupKey& key : keys_) {
    if (by_sets) break;
    // kNoDomain, the largest number, becomes 0, so that the numbers of a column lie close together.
    for (size_t k = 0; k < size; ++k) s.domains[k] = key.DomainOf(s.fit[k]) + 1u;
    s.alike.Divide(s.domains);
  }
  for (size_t i = 0; i < raw_scores_.size(); ++i) {
    if (most_are_alone(s.alike.set_count(), size)) return false;
    s.alike.Divide({s.raws.data() + i * size, size});
  }
  return true;
}

// Writes the groups of the rows in scratch().fit to their parts. REQUIRES: scratch().raws has the rows' raw scores by
// the first priority, then those by the second, ... The rows are divided into sets first, so that a group is looked up
// once for each set and not for each row. If there are no groups yet, each set is a new one, and is not looked up.
void StaticNodeIndex::FindGroups() {
  Scratch& s = scratch();
  const size_t size = s.fit.size();
  alone_ = alone_ || !DivideRows();
  if (alone_) {
    const auto before = static_cast<int32_t>(group_count_);
    AddGroups(size, [](size_t i) { return i; });
    for (size_t k = 0; k < size; ++k) parts_[s.fit[k]].group = before + static_cast<int32_t>(k);
    return;
  }
  if (group_count_ == 0) {
    AddGroups(s.alike.set_count(), [&](size_t set) { return s.alike.first(set); });
    for (size_t k = 0; k < size; ++k) parts_[s.fit[k]].group = static_cast<int32_t>(s.alike.set(k));
    return;
  }
  // Searching all groups a few times costs less than entering them into a table that is not used again.
  if (!indexed_) {
    if (searches_ += size; searches_ > kMostSearches) IndexGroups();
  }
  key_.resize(keys_.size() + raw_scores_.size());
  s.groups.clear();
  for (size_t set = 0; set < s.alike.set_count(); ++set) {
    const size_t first = s.alike.first(set);
    for (size_t k = 0; k < keys_.size(); ++k) key_[k] = keys_[k].DomainOf(s.fit[first]);
    for (size_t i = 0; i < raw_scores_.size(); ++i) key_[keys_.size() + i] = s.raws[i * size + first];
    s.groups.push_back(GroupOfKey());
  }
  for (size_t k = 0; k < size; ++k) parts_[s.fit[k]].group = s.groups[s.alike.set(k)];
}

// Evaluates the rows in scratch().fit and erases those that do not fit. REQUIRES: no row occurs twice, and the rows'
// parts are reset.
void StaticNodeIndex::Evaluate() {
  std::vector<Row>& fit = scratch().fit;
  std::erase_if(fit, [&](Row row) { return (cache_->columns().flags[row] & kRowListed) == 0; });
  for (auto& check : checks_) usable_ = TryKeepFitting(check.get(), &fit) && usable_;
  std::vector<int64_t>& raws = scratch().raws;
  std::vector<int64_t>& scores = scratch().scores;
  raws.resize(fit.size() * raw_scores_.size());
  scores.resize(fit.size());
  for (size_t i = 0; i < raw_scores_.size(); ++i) {
    usable_ = raw_scores_[i].scoring->Map(fit, {raws.data() + i * fit.size(), fit.size()}).ok() && usable_;
  }
  FindGroups();
  for (WeightedScoring& w : scores_) {
    usable_ = w.scoring->Map(fit, scores).ok() && usable_;
    for (size_t k = 0; k < fit.size(); ++k) parts_[fit[k]].score += static_cast<int32_t>(scores[k] * w.weight);
  }
}

void StaticNodeIndex::Drop() {
  Scratch& s = scratch();
  s.spare_parts.swap(parts_);
  s.spare_rows.swap(rows_);
  s.spare_ranks.swap(ranks_);
  s.spare_domains.swap(domains_);
  s.spare_raw.swap(raw_);
  util::ReleaseMemory(&parts_);
  util::ReleaseMemory(&rows_);
  util::ReleaseMemory(&ranks_);
  util::ReleaseMemory(&rescored_last_);
  group_count_ = 0;
  util::ReleaseMemory(&domains_);
  util::ReleaseMemory(&raw_);
  group_table_ = {};
  checks_.clear();
  scores_.clear();
  raw_scores_.clear();
  built_ = listed_ = prepared_ = alone_ = false;
}

// Drops all groups, for an index that is built now.
void StaticNodeIndex::Reset() {
  if (!prepared_) PrepareRules();
  ++epoch_;
  built_ = true;
  group_count_ = 0;
  domains_.clear();
  raw_.clear();
  most_raw_.assign(normalised_.size(), 0);
  group_table_ = {};
  alone_ = indexed_ = false;
  searches_ = 0;
}

// Lists the rows in scratch().fit as those that fit.
void StaticNodeIndex::ListFit() {
  rows_.clear();
  ranks_.clear();
  RowSet& ranks = scratch().ranks;
  ranks.Resize(cache_->rank_limit());
  ranks.Clear();
  for (Row row : scratch().fit) ranks.Insert(cache_->Rank(row));
  ranks.ForEach([&](uint32_t rank) { ranks_.push_back(rank); });
  for (uint32_t rank : ranks_) rows_.push_back(cache_->RowAt(rank));
}

// The parts of other rows are never written, so that only those of `rows` have to be reset for the next index.
void StaticNodeIndex::BuildAmong(const std::vector<Row>& rows) {
  BERTH_REQUIRES(!built_);
  Reset();
  built_among_ = true;
  among_ = rows;
  parts_.swap(scratch().unset_parts);
  if (parts_.size() < cache_->row_count()) parts_.resize(cache_->row_count());
  scratch().fit = rows;
  Evaluate();
  ListFit();
  listed_ = true;
  seen_ = cache_->generation();
  order_version_ = cache_->order_version();
  ranks_version_ = cache_->ranks_version();
}

StaticNodeIndex::~StaticNodeIndex() {
  if (!built_among_) return;
  for (const Row row : among_) parts_[row] = Part{};
  scratch().unset_parts.swap(parts_);
}

// Builds the index. If a rule can name candidates cheaply (ColumnCheck::Candidates), only those are evaluated.
void StaticNodeIndex::Rebuild() {
  if (parts_.capacity() == 0) {
    parts_.swap(scratch().spare_parts);
    rows_.swap(scratch().spare_rows);
    ranks_.swap(scratch().spare_ranks);
    domains_.swap(scratch().spare_domains);
    raw_.swap(scratch().spare_raw);
  }
  Reset();
  parts_.assign(cache_->row_count(), Part{});
  std::vector<Row>& fit = scratch().fit;
  const bool filtered = std::any_of(checks_.begin(), checks_.end(), [&](auto& c) { return Candidates(*c, &fit); });
  if (!filtered) fit = cache_->in_order();
  Evaluate();
  groups_at_first_ = group_count_;
  if (filtered) {
    ListFit();
  } else {
    rows_ = fit;
    ListRanks();
  }
  listed_ = true;
  order_version_ = cache_->order_version();
  ranks_version_ = cache_->ranks_version();
  OthersChanged();
}

// The log of node changes decides what has to be evaluated. The list of rows that fit (rows(), ranks()) is made again
// only when it is requested.
void StaticNodeIndex::Refresh() {
  if (order_version_ != cache_->order_version() || ranks_version_ != cache_->ranks_version()) {
    order_version_ = cache_->order_version();
    ranks_version_ = cache_->ranks_version();
    listed_ = false;
  }
  if (seen_ == cache_->generation() && built_) return;
  if (built_) parts_.resize(cache_->row_count());
  std::vector<Row> changed;
  bool known = built_ && cache_->NodeChangesSince(seen_, [&](Row row) { changed.push_back(row); });
  seen_ = cache_->generation();
  if (known && changed.empty()) return;
  listed_ = false;
  if (built_ && !any_node_matters_ && OthersChanged()) Rescore();
  // The index is built anew when many groups may be without nodes. A domain number may meanwhile stand for another
  // value of the label. Groups with this domain are still correct: all nodes whose labels have changed are evaluated
  // again here, so no row remains in a group that was found by the old value.
  if (any_node_matters_ || !known || changed.size() > parts_.size() || group_count_ > 2 * groups_at_first_ + 64 ||
      (!indexed_ && changed.size() * kNodesOfChange > parts_.size()))
    return Rebuild();
  ListOnce(changed, &scratch().fit);
  for (Row row : scratch().fit) parts_[row] = Part{};
  Evaluate();
}

// Writes the rows that are in the list, each once and in ascending order.
void StaticNodeIndex::ListOnce(const std::vector<Row>& rows, std::vector<Row>* once) const {
  once->clear();
  if (rows.size() * kRowsOfWord < parts_.size()) {
    *once = rows;
    std::sort(once->begin(), once->end());
    once->erase(std::unique(once->begin(), once->end()), once->end());
    return;
  }
  RowSet& set = scratch().listed;
  set.Clear();
  set.Resize(static_cast<Row>(parts_.size()));
  for (Row row : rows) set.Insert(row);
  set.ForEach([&](Row row) { once->push_back(row); });
}

// Lists the rows that fit, if that has not been done since the last change.
void StaticNodeIndex::List() {
  if (listed_) return;
  listed_ = true;
  rows_.clear();
  for (Row row : cache_->in_order()) {
    if (parts_[row].group >= 0) rows_.push_back(row);
  }
  ListRanks();
}

void StaticNodeIndex::ListRanks() {
  ranks_.resize(rows_.size());
  for (size_t i = 0; i < rows_.size(); ++i) ranks_[i] = cache_->Rank(rows_[i]);
}

const std::vector<Row>& StaticNodeIndex::rows() {
  List();
  return rows_;
}
const std::vector<uint32_t>& StaticNodeIndex::ranks() {
  List();
  return ranks_;
}

size_t StaticNodeIndex::bytes() const {
  return sizeof(*this) + parts_.capacity() * sizeof(Part) + rows_.capacity() * sizeof(Row) +
         ranks_.capacity() * sizeof(uint32_t) + domains_.capacity() * sizeof(uint32_t) +
         raw_.capacity() * sizeof(int64_t) + group_table_.bytes();
}

}  // namespace berth::scheduler
