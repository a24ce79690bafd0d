// The order of the nodes, and their ranks in it.
//
// A list that is sorted already stays so when a node comes or goes. A node that goes leaves its rank free, and one that
// comes takes a free rank between those of its neighbours, so that what readers keep by rank stays valid. If there is
// none, all ranks are given anew, with a free one around each from then on.
#include <algorithm>

#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler {
namespace {

constexpr uint32_t kNoRank = ~uint32_t{0};

// The longest sorted list of names that is kept sorted when a node comes or goes. Moving the end of a longer one costs
// more than sorting it once for many nodes.
constexpr size_t kMostNamesMoved = 65536;
// How many ranks that rows have given up are remembered. When there are more, all ranks are given anew.
constexpr size_t kMostRanksGivenUp = 1024;

}  // namespace

// Brings the list of nodes and their order up to date after the node object of a row was replaced.
void Cache::NoteListing(Row r, bool was_listed, Symbol zone_before) {
  const bool listed = rows_[r].node != nullptr;
  const bool tree = options_.keeps_tree;
  const bool moves = tree && was_listed && listed && zone_before != TreeZone(r).get();
  if (was_listed == listed && !moves) return;
  if (tree && was_listed) tree_.Remove(r, zone_before);
  if (tree && listed) tree_.Add(r, TreeZone(r));
  tree_changed_ = true;
  const bool by_name = options_.order == NodeOrder::kNameDescending;
  if (!by_name) ranks_changed_ = true;
  if (!moves || !by_name) ++order_version_;
  if (moves) return;
  NoteName(r, listed);
  if (listed) {
    listed_.Insert(r);
    ++node_count_;
  } else {
    listed_.Erase(r);
    --node_count_;
  }
}

// Enters the row into the list of names, or takes it out.
void Cache::NoteName(Row r, bool listed) {
  if (names_changed_ || by_name_.size() > kMostNamesMoved) {
    names_changed_ = true;
    ranks_changed_ = true;
    return;
  }
  const auto after = [&](Row other, std::string_view name) { return rows_[other].name.str() > name; };
  const auto place = std::lower_bound(by_name_.begin(), by_name_.end(), rows_[r].name.str(), after);
  if (listed) {
    const auto at = static_cast<size_t>(place - by_name_.begin());
    by_name_.insert(place, r);
    ranks_changed_ = ranks_changed_ || !TakeRank(r, at);
  } else {
    by_name_.erase(place);
    if (!ranks_changed_) ranked_[rank_[r]] = kNoRow;
  }
}

// Gives the row at this place of the list of names a rank between those of its neighbours, if possible the one that it
// had before. Returns false when no rank is free there. The row may have been that of another node, and readers that do
// not know this yet look for it at the rank of that node.
bool Cache::TakeRank(Row r, size_t place) {
  const uint32_t first = place == 0 ? 0 : rank_[by_name_[place - 1]] + 1;
  const uint32_t end =
      place + 1 == by_name_.size() ? static_cast<uint32_t>(ranked_.size()) : rank_[by_name_[place + 1]];
  if (first == end) return false;
  if (rank_.size() < rows_.size()) rank_.resize(rows_.size(), kNoRank);
  uint32_t& rank = rank_[r];
  if (rank < first || rank >= end) {
    if (ranks_given_up_.size() >= kMostRanksGivenUp) return false;
    if (rank != kNoRank) ranks_given_up_.push_back({log_.generation() + 1, r, rank});
    rank = first + (end - first) / 2;
  }
  ranked_[rank] = r;
  return true;
}

void Cache::SortNames() const {
  by_name_.clear();
  by_name_.reserve(node_count_);
  listed_.ForEach([&](Row r) { by_name_.push_back(r); });
  std::vector<std::string_view> names(rows_.size());
  for (Row r : by_name_) names[r] = rows_[r].name.str();
  auto before = [&](Row a, Row b) { return names[a] > names[b]; };
  // A list from an API server is in ascending order, so that the reversed rows are often sorted already.
  std::reverse(by_name_.begin(), by_name_.end());
  if (!std::is_sorted(by_name_.begin(), by_name_.end(), before)) std::sort(by_name_.begin(), by_name_.end(), before);
  names_changed_ = false;
}

void Cache::SortTree() const {
  tree_order_ = tree_.InOrder();
  tree_changed_ = false;
}

// Ranks have no gaps at first, because no node comes or goes in many clusters that are decided from files, and never
// have any in the order of the tree, where they are places in a walk.
void Cache::GiveRanks() const {
  const std::vector<Row>& order = in_order();
  const bool gaps = ranks_version_ > 0 && options_.order == NodeOrder::kNameDescending;
  const uint32_t step = gaps ? 2 : 1, first = gaps ? 1 : 0;
  rank_.assign(rows_.size(), kNoRank);
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
