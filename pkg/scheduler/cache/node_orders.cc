#include "pkg/scheduler/cache/node_orders.h"

#include <algorithm>
#include <string_view>

namespace berth::scheduler {
namespace {

constexpr uint32_t kNoRank = ~uint32_t{0};

// The longest sorted list of names that is kept sorted when a node comes or goes. Moving the end of a longer one costs
// more than sorting it once for many nodes.
constexpr size_t kMostNamesMoved = 65536;
// How many ranks that rows have given up are remembered. When there are more, all ranks are given anew.
constexpr size_t kMostRanksGivenUp = 1024;

}  // namespace

void NodeOrders::Note(const Change& c) {
  const bool moves = keeps_tree_ && c.was_listed && c.listed && c.zone_before != c.zone;
  if (c.was_listed == c.listed && !moves) return;
  if (keeps_tree_ && c.was_listed) tree_.Remove(c.row, c.zone_before);
  if (keeps_tree_ && c.listed) tree_.Add(c.row, c.zone);
  tree_changed_ = true;
  const bool by_name = order_ == NodeOrder::kNameDescending;
  if (!by_name) ranks_changed_ = true;
  if (!moves || !by_name) ++order_version_;
  if (moves) return;
  NoteName(c);
  if (c.listed) {
    listed_.Insert(c.row);
    ++node_count_;
  } else {
    listed_.Erase(c.row);
    --node_count_;
  }
}

// Enters the row into the list of names, or takes it out.
void NodeOrders::NoteName(const Change& c) {
  if (names_changed_ || by_name_.size() > kMostNamesMoved) {
    names_changed_ = true;
    ranks_changed_ = true;
    return;
  }
  const auto after = [&](Row other, std::string_view name) { return (*names_)[other].str() > name; };
  const auto place = std::lower_bound(by_name_.begin(), by_name_.end(), (*names_)[c.row].str(), after);
  if (c.listed) {
    const auto at = static_cast<size_t>(place - by_name_.begin());
    by_name_.insert(place, c.row);
    ranks_changed_ = ranks_changed_ || !TakeRank(c.row, at, c.generation);
  } else {
    by_name_.erase(place);
    if (!ranks_changed_) ranked_[rank_[c.row]] = kNoRow;
  }
}

// Gives the row at this place of the list of names a rank between those of its neighbours, if possible the one that it
// had before. Returns false when no rank is free there. The row may have been that of another node, and readers that do
// not know this yet look for it at the rank of that node.
bool NodeOrders::TakeRank(Row r, size_t place, uint64_t generation) {
  const uint32_t first = place == 0 ? 0 : rank_[by_name_[place - 1]] + 1;
  const uint32_t end =
      place + 1 == by_name_.size() ? static_cast<uint32_t>(ranked_.size()) : rank_[by_name_[place + 1]];
  if (first == end) return false;
  if (rank_.size() < names_->size()) rank_.resize(names_->size(), kNoRank);
  uint32_t& rank = rank_[r];
  if (rank < first || rank >= end) {
    if (ranks_given_up_.size() >= kMostRanksGivenUp) return false;
    if (rank != kNoRank) ranks_given_up_.push_back({generation, r, rank});
    rank = first + (end - first) / 2;
  }
  ranked_[rank] = r;
  return true;
}

void NodeOrders::SortNames() const {
  by_name_.clear();
  by_name_.reserve(node_count_);
  listed_.ForEach([&](Row r) { by_name_.push_back(r); });
  std::vector<std::string_view> names(names_->size());
  for (Row r : by_name_) names[r] = (*names_)[r].str();
  auto before = [&](Row a, Row b) { return names[a] > names[b]; };
  // A list from an API server is in ascending order, so that the reversed rows are often sorted already.
  std::reverse(by_name_.begin(), by_name_.end());
  if (!std::is_sorted(by_name_.begin(), by_name_.end(), before)) std::sort(by_name_.begin(), by_name_.end(), before);
  names_changed_ = false;
}

void NodeOrders::SortTree() const {
  tree_order_ = tree_.InOrder();
  tree_changed_ = false;
}

// Ranks have no gaps at first, because no node comes or goes in many clusters that are decided from files, and never
// have any in the order of the tree, where they are places in a walk.
void NodeOrders::GiveRanks() const {
  const std::vector<Row>& order = in_order();
  const bool gaps = ranks_version_ > 0 && order_ == NodeOrder::kNameDescending;
  const uint32_t step = gaps ? 2 : 1, first = gaps ? 1 : 0;
  rank_.assign(names_->size(), kNoRank);
  ranked_.assign(order.size() * step + first, kNoRow);
  for (uint32_t i = 0; i < order.size(); ++i) {
    rank_[order[i]] = first + i * step;
    ranked_[first + i * step] = order[i];
  }
  ranks_given_up_.clear();
  ++ranks_version_;
  ranks_changed_ = false;
}

}  // namespace berth::scheduler
