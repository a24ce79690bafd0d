// The orders of the nodes of a Cache, and the rank of each row in the one in which ties are broken.
//
// A list that is sorted already stays so when a node comes or goes. A node that goes leaves its rank free, and one that
// comes takes a free rank between those of its neighbours, so that what readers keep by rank stays valid. If there is
// none, all ranks are given anew, with a free one around each from then on.
//
// Lists and ranks are made when they are read first. Thread-safety: that of the Cache.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pkg/scheduler/cache/node_tree.h"
#include "pkg/scheduler/cache/row_set.h"
#include "pkg/scheduler/cache/template_info.h"
#include "pkg/util/contract.h"
#include "pkg/util/symbol.h"

namespace berth::scheduler {

// The order in which the best nodes are numbered when one of them is chosen.
enum class NodeOrder : uint8_t {
  kNameDescending,
  kZoneTree,  // one node of each zone in turn, in the order in which they came (NodeTree)
};

class NodeOrders {
 public:
  // `names` has the name of the node of each row. `keeps_tree`: whether there is a NodeTree, which kZoneTree needs.
  // `names` must outlive the object.
  NodeOrders(NodeOrder order, bool keeps_tree, const std::vector<Symbol>* names)
      : names_(names), order_(order), keeps_tree_(keeps_tree) {}
  NodeOrders(const NodeOrders&) = delete;

  // Makes room for rows 0 .. rows - 1.
  void Resize(Row rows) { listed_.Resize(rows); }
  // What the row is after its node came, was replaced, or went. The zones are empty for nodes without one. `generation`
  // is that of the change.
  struct Change {
    Row row;
    bool was_listed, listed;
    Symbol zone_before, zone;
    uint64_t generation;
  };
  void Note(const Change& change);

  const RowSet& listed() const { return listed_; }
  size_t node_count() const { return node_count_; }  // listed rows
  NodeOrder order() const { return order_; }
  // Return the listed rows in descending order of node name, in the order of a walk of the tree that begins anew, and
  // in the order of order(). REQUIRES for the tree's: there is one.
  const std::vector<Row>& by_name_descending() const {
    if (names_changed_) SortNames();
    return by_name_;
  }
  const std::vector<Row>& in_tree_order() const {
    BERTH_REQUIRES(keeps_tree_);
    if (tree_changed_) SortTree();
    return tree_order_;
  }
  const std::vector<Row>& in_order() const {
    return order_ == NodeOrder::kNameDescending ? by_name_descending() : in_tree_order();
  }
  NodeTree& tree() {
    BERTH_REQUIRES(keeps_tree_);
    return tree_;
  }

  // For the next functions see Cache, which has the same.
  uint32_t Rank(Row r) const {
    if (ranks_changed_) GiveRanks();
    BERTH_REQUIRES(r < rank_.size());
    return rank_[r];
  }
  Row RowAt(uint32_t rank) const {
    BERTH_REQUIRES(rank < ranked_.size());
    return ranked_[rank];
  }
  uint32_t rank_limit() const {
    if (ranks_changed_) GiveRanks();
    return static_cast<uint32_t>(ranked_.size());
  }
  uint64_t ranks_version() const {
    if (ranks_changed_) GiveRanks();
    return ranks_version_;
  }
  template <typename F>
  void RanksGivenUpSince(uint64_t generation, F f) const {
    for (const RankGivenUp& g : ranks_given_up_) {
      if (g.generation > generation) f(g.row, g.rank);
    }
  }
  uint64_t order_version() const { return order_version_; }

 private:
  struct RankGivenUp {
    uint64_t generation;  // of the change by which the row became that of another node
    Row row;
    uint32_t rank;  // until then
  };
  void NoteName(const Change& change);
  bool TakeRank(Row r, size_t place, uint64_t generation);
  void SortNames() const;
  void SortTree() const;
  void GiveRanks() const;

  const std::vector<Symbol>* names_;  // by row
  const NodeOrder order_;
  const bool keeps_tree_;
  RowSet listed_;
  size_t node_count_ = 0;
  mutable std::vector<Row> by_name_, tree_order_;
  mutable std::vector<uint32_t> rank_;  // by row, the last one that it had
  mutable std::vector<Row> ranked_;     // by rank, kNoRow where it is free
  mutable std::vector<RankGivenUp> ranks_given_up_;
  mutable bool names_changed_ = true, tree_changed_ = true, ranks_changed_ = true;
  mutable uint64_t ranks_version_ = 0;
  uint64_t order_version_ = 0;
  NodeTree tree_;  // empty unless it is kept
};

}  // namespace berth::scheduler
