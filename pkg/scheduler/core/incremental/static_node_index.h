// The answers of the rules about node objects, for one kind of pod. They do not depend on the pods on the nodes.
//
// The answers are the same for all pods that are alike in what these rules read (RuleSet::NodeParts). For each row the
// index keeps whether the node fits, the weighted sum of the scores that need no normalisation, and its group. Nodes
// are in the same group if they are in the same topology domains of the index's keys and have the same raw scores by
// the priorities that are normalised over all feasible nodes. What depends on nothing else is computed once for each
// group.
//
//   row   fits  domains (zone)  raw scores   -> group  score
//   0     yes   a               0                0      10000
//   1     yes   b               0                1      10000
//   2     no    -               -               -1      -
//
// If nearly every node would be alone in its group, each one gets a group of its own, without a look at whether two are
// alike.
//
// Invariant after Refresh: part() is correct for every row of the cache. Groups are only added; when there are too many
// that no node belongs to, the index is built anew, epoch() changes, and all group numbers from before are invalid.
//
// Thread-safety: that of the Cache.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <span>
#include <vector>

#include "pkg/scheduler/algorithm/other_nodes.h"
#include "pkg/scheduler/core/incremental/key_partitions.h"
#include "pkg/scheduler/core/incremental/key_table.h"
#include "pkg/scheduler/core/incremental/row_partition.h"
#include "pkg/scheduler/core/incremental/rule_set.h"

namespace berth::scheduler {

class StaticNodeIndex {
 public:
  // The rules in `left_out` are not evaluated. `cache`, `rules` and `partitions` must outlive the object.
  StaticNodeIndex(Cache* cache, const RuleSet& rules, KeyPartitions* partitions, api::PodPtr pod,
                  std::vector<GroupKey> keys, const LeftOut& left_out);

  struct Part {
    int32_t group = -1;  // -1: the node does not fit
    int32_t score = 0;   // weighted sum of the scores that need no normalisation
  };

  // Brings the index up to date with the changes since the last call. Cheap if no node object has changed.
  void Refresh();
  // Builds an index for one decision, of these rows alone: all others count as rows that do not fit. It must not be
  // refreshed when the cluster has changed. REQUIRES: no row occurs twice.
  void BuildAmong(const std::vector<Row>& rows);
  bool built() const { return built_; }
  // Drops all answers, which the next Refresh finds anew, and the rules that were prepared. Their memory is used for
  // another index of the thread.
  void Drop();
  // Changes when the index is built anew.
  uint64_t epoch() const { return epoch_; }
  size_t group_count() const { return group_count_; }
  // Returns whether each row has a group of its own.
  bool alone() const { return alone_; }
  // Return the domains of a group, one for each of keys(), and its raw scores, one for each of normalised(). Valid
  // until the next Refresh.
  const uint32_t* domains(size_t group) const { return domains_.data() + group * keys_.size(); }
  const int64_t* raw(size_t group) const { return raw_.data() + group * normalised_.size(); }
  // Returns the largest raw score of any group, or 0 if none is greater.
  int64_t most_raw(size_t i) const { return most_raw_[i]; }
  const Part& part(Row row) const { return parts_[row]; }
  const Part* parts() const { return parts_.data(); }  // by row
  // Some scores depend on other nodes, and may change though the node stays as it is. Returns how many such changes
  // there were in this epoch.
  uint64_t rescored() const { return rescored_; }
  // Appends the rows of the changes after the given number of them. Returns false if they are not known any more.
  bool RescoredSince(uint64_t number, std::vector<Row>* rows) const;
  // Return the rows that fit in the order of Cache::in_order(), and their ranks (Cache::Rank).
  const std::vector<Row>& rows();
  const std::vector<uint32_t>& ranks();

  const std::vector<Normalised>& normalised() const { return normalised_; }
  const std::vector<GroupKey>& keys() const { return keys_; }
  const LeftOut& left_out() const { return left_out_; }
  // Returns false when a rule has an error to report for these pods. Then the reference scheduler must decide.
  bool usable() const { return usable_; }
  size_t bytes() const;
  ~StaticNodeIndex();

 private:
  void PrepareRules();
  void FindOtherNodes();
  bool OthersChanged();
  void Rescore();
  void Rebuild();
  void Reset();
  void ListFit();
  // Buffers that all indexes of a thread share.
  struct Scratch {
    std::vector<Row> fit;
    std::vector<int64_t> raws, domains, scores;
    RowPartition alike;           // the positions in `fit` whose rows are in the same group
    std::vector<int32_t> groups;  // by set of `alike`
    RowSet ranks, listed;
    // The memory of the index that was dropped last.
    std::vector<Part> spare_parts;
    std::vector<Row> spare_rows;
    std::vector<uint32_t> spare_ranks, spare_domains;
    std::vector<int64_t> spare_raw;
    std::vector<Part> unset_parts;  // the same for BuildAmong; each part is Part{}
  };
  static Scratch& scratch();
  void Evaluate();
  void FindGroups();
  void IndexGroups();
  bool HasKey(size_t group) const;
  int32_t GroupOfKey();
  template <typename First>
  void AddGroups(size_t count, First first);
  bool DivideRows();
  void ListOnce(const std::vector<Row>& rows, std::vector<Row>* once) const;
  void List();
  void ListRanks();

  Cache* cache_;
  const RuleSet& rules_;
  KeyPartitions& partitions_;
  api::PodPtr pod_;  // one of the pods that the answers are for; the prepared rules refer to it
  std::vector<std::unique_ptr<FitCheck>> checks_;
  std::vector<WeightedScoring> scores_, raw_scores_;
  std::vector<ReadsOtherNodes*> of_other_nodes_;  // those of scores_
  bool any_node_matters_ = false;                 // whether a change of any node may change every answer
  std::vector<Normalised> normalised_;
  std::vector<GroupKey> keys_;
  LeftOut left_out_;
  bool usable_ = true, prepared_ = false;

  std::vector<Part> parts_;   // by row
  bool built_among_ = false;  // whether BuildAmong has built the index, and of which rows
  std::vector<Row> among_;
  size_t group_count_ = 0;
  std::vector<uint32_t> domains_;  // the domains of group 0, then those of group 1, ...
  std::vector<int64_t> raw_;       // the raw scores of the groups, likewise
  std::vector<int64_t> most_raw_;  // by position in normalised_
  // The groups by their domains followed by their raw scores. Only rows that are evaluated after the index was built
  // are looked up, so it is filled when that has happened a few times.
  KeyTable group_table_;
  bool alone_ = false;        // whether each row has a group of its own
  bool indexed_ = false;      // whether group_table_ has all groups
  size_t searches_ = 0;       // how many groups were looked for without it since the index was built
  std::vector<int64_t> key_;  // the domains and raw scores of the group that is looked up
  uint64_t seen_ = 0, epoch_ = 0, order_version_ = ~uint64_t{0};
  bool built_ = false;
  size_t groups_at_first_ = 0;  // number of groups when the index was built

  std::vector<Row> rows_;
  std::vector<uint32_t> ranks_;
  bool listed_ = false;             // whether rows_ and ranks_ are up to date
  uint64_t ranks_version_ = 0;      // that ranks_ is up to date with
  std::vector<Row> rescored_last_;  // the rows of the last changes of scores
  uint64_t rescored_ = 0;           // see rescored()
};

}  // namespace berth::scheduler
