// A pod equivalence class: the pods that every rule about nodes and about the pods on them treats alike.
//
// Pods that share a StaticNodeIndex (node affinity, tolerations, ...) and RowAnswers (requests, ports, ...) share one
// class. It keeps for every listed row whether the pods fit by these rules, and the sum of the scores that depend on no
// other row. In each group of the index, the rows that fit are sorted into buckets by score; within a bucket they are
// identified by rank, which says where they are in the order of names. So the best score of a group and the number of
// its ties are found without going through rows.
//
//   group 0   score 23: {node-9, node-4}   score 22: {node-7}
//   group 1   score 25: {node-8}
//
// A class need not be built to be used: the first pod of a class may stay the only one, and listing the rows once
// (List) is cheaper than sorting them into buckets.
//
// Invariant of a built class after Refresh: state() is correct for every row, and a row is in the bucket of its group
// and score exactly when it fits.
//
// Thread-safety: that of the Cache.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "pkg/scheduler/core/incremental/row_answers.h"
#include "pkg/scheduler/core/incremental/row_states.h"
#include "pkg/scheduler/core/incremental/score_buckets.h"
#include "pkg/scheduler/core/incremental/static_node_index.h"
#include "pkg/util/contract.h"
#include "pkg/util/release_memory.h"

namespace berth::scheduler {

class EquivalenceClass {
 public:
  using RowState = scheduler::RowState;
  // A row whose state has changed.
  struct Move {
    Row row;
    RowState to;
  };
  // Buffers that all classes of a scheduler share.
  struct Scratch {
    std::vector<Row> rows;         // rows that fit
    std::vector<int32_t> scores;   // by position in `rows`: the scores from RowAnswers
    std::vector<RowState> states;  // by position in `rows`
    std::vector<Row> changed;
    std::vector<Move> moves;
    std::vector<uint32_t> ranks;                 // by position in `rows`
    std::vector<uint32_t> places, ends, sorted;  // for SortIntoBuckets
    std::vector<uint64_t> bits;                  // for FillBucketsByBits
  };

  // `cache` and `scratch` must outlive the class.
  EquivalenceClass(Cache* cache, std::shared_ptr<StaticNodeIndex> nodes, std::shared_ptr<RowAnswers> answers,
                   Scratch* scratch);

  struct Group {
    ScoreBuckets buckets;  // the rows that fit
    uint32_t size = 0;     // number of rows in `buckets`
  };

  // Writes the rows that fit, in descending order of names, and their states. The class need not be built, and is not
  // built by this.
  void List(std::vector<Row>* rows, std::vector<RowState>* states);
  bool built() const { return built_; }
  // Drops what was built, if anything was. The next Refresh builds it anew.
  void Drop() {
    built_ = false;
    util::ReleaseMemory(&groups_);
    states_ = {};
  }
  // Builds the class, or brings it up to date with the changes since the last call.
  void Refresh();
  // Changes when the class is built anew. Group numbers and ranks from before are invalid then.
  uint64_t epoch() const { return epoch_; }
  const std::vector<Group>& groups() const { return groups_; }
  // Lets the processor fetch the state of the row, which will be needed soon. The states of one class of many are
  // seldom in its caches.
  void Prefetch(Row row) const { states_.Prefetch(row); }
  RowState state(Row row) const { return states_.At(row); }
  // Returns the states by row; empty if the pods fit nowhere.
  const RowStates& states() const { return states_; }
  StaticNodeIndex& nodes() const { return *nodes_; }
  const std::shared_ptr<RowAnswers>& answers() const { return answers_; }
  // Brings the index up to date, and builds it if it is not built.
  void RefreshIndex() { nodes_->Refresh(); }
  // Returns false when the reference scheduler must decide, because a rule has an error to report.
  bool usable() const { return answers_->usable() && nodes_->usable(); }
  // Writes the rows that fit. REQUIRES: the class is built. It must be up to date.
  void FittingRows(RowSet* rows) const;
  size_t bytes() const;  // approximately, without the index and the answers
  // Drops the index if no other class uses it. It is built again when it is needed. REQUIRES: the class is not built.
  void DropIndex() {
    BERTH_REQUIRES(!built_);
    if (nodes_.use_count() == 1 && nodes_->built()) nodes_->Drop();
  }
  uint64_t uses = 0;  // number of decisions
  // The cache's generation and order_version() at the last of them.
  uint64_t used_at = 0, order_used = 0;
  uint32_t sharers = 0;  // number of overlays that use the class

 private:
  void Rebuild();
  void ListIntoScratch();
  struct Scores {
    int32_t low, high;
  };
  Scores ScoresInScratch() const;
  void FillBuckets(const Scores& scores);
  void FillBucketsByBits(std::span<const uint32_t> ranks, int32_t high, uint32_t width);
  void SortIntoBuckets(std::span<const uint32_t> ranks, int32_t high, uint32_t width);
  void Evaluate();
  void AddToBucket(uint32_t rank, const RowState& state);
  void MoveRow(const Move& move);
  void Withdraw(Row row, uint32_t rank);
  bool WithdrawGone();
  void TakeGroups();
  void ScoreScratch();

  Cache* cache_;
  std::shared_ptr<StaticNodeIndex> nodes_;
  std::shared_ptr<RowAnswers> answers_;
  Scratch& scratch_;
  bool built_ = false;

  // Empty as long as the pods fit nowhere, so that kinds of pods that fit nowhere take little memory.
  RowStates states_;
  size_t rows_known_ = 0;  // number of the cache's rows when the class was brought up to date
  std::vector<Group> groups_;
  // The generation, ranks_version() and order_version() of the cache, and the epoch and rescored() of the index, that
  // the class is up to date with; and the epoch of the class.
  uint64_t seen_ = 0, ranks_version_ = ~uint64_t{0}, order_version_ = ~uint64_t{0};
  uint64_t nodes_epoch_ = 0, rescored_ = 0, epoch_ = 0;
};

}  // namespace berth::scheduler
