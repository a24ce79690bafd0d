// Pods that every rule about nodes and the pods on them treats alike: an equivalence class.
//
// Pods that share a StaticNodeIndex (node affinity, tolerations, ...) and RowAnswers (requests, ports, ...) share one
// class. It knows for every listed row whether the pod fits as far as the node and the pods on it go, and its score by
// priorities that need no other row. Within each group of the index the rows that fit are kept by score, and rows of
// one score by their place in the order of names: the best of a group and the number of its ties are found without
// looking at rows.
//
//   group 0   score 23: {node-9, node-4}   score 22: {node-7}
//   group 1   score 25: {node-8}
//
// A class may be used without being built: the first pod of a kind may be the only one, and looking once at every row
// (List) is cheaper than sorting them. Invariant of a built class: after Refresh, state() tells the truth
// about every row, and a row is in the bucket of its group and score exactly when it fits. Used on the cache's thread.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "pkg/scheduler/core/incremental/row_answers.h"
#include "pkg/scheduler/core/incremental/score_buckets.h"
#include "pkg/scheduler/core/incremental/static_node_index.h"

namespace berth::scheduler {

class EquivalenceClass {
 public:
  struct RowState {
    int32_t group = -1;  // -1: does not fit
    int32_t score = 0;   // weighted sum of the priorities that need no other row
  };
  // Memory that all classes use, one after another.
  struct Scratch {
    std::vector<Row> rows;         // that fit
    std::vector<int32_t> scores;   // by place in rows, of rules about the pods on each node
    std::vector<RowState> states;  // by place in rows
    std::vector<Row> changed;
    std::vector<uint32_t> ranks, places, ends, sorted;
  };

  // `scratch` outlives the class.
  EquivalenceClass(Cache* cache, std::shared_ptr<StaticNodeIndex> nodes, std::shared_ptr<RowAnswers> answers,
                   Scratch* scratch);

  struct Group {
    ScoreBuckets buckets;  // rows that fit
    uint32_t size = 0;     // of them
  };

  // Writes the rows that fit, in descending order of names, and their states. Neither needs the class to be built nor
  // builds it.
  void List(std::vector<Row>* rows, std::vector<RowState>* states);
  bool built() const { return built_; }
  // Builds the class, or brings up to date what changed since the last call.
  void Refresh();
  // Changes when everything was evaluated anew; group numbers and ranks of before mean nothing then.
  uint64_t epoch() const { return epoch_; }
  const std::vector<Group>& groups() const { return groups_; }
  const RowState& state(Row row) const { return states_[row]; }
  StaticNodeIndex& nodes() const { return *nodes_; }
  const std::shared_ptr<RowAnswers>& answers() const { return answers_; }
  bool usable() const { return answers_->usable() && nodes_->usable(); }
  size_t bytes() const;
  uint64_t uses = 0;     // decisions that were made before it was built
  uint32_t sharers = 0;  // overlays that use it

 private:
  void Rebuild();
  void ListIntoScratch();
  void FillBuckets();
  void Evaluate();
  void Insert(Row row, const RowState& state);
  void Remove(Row row);
  void TakeGroups();
  void ScoreScratch();

  Cache* cache_;
  std::shared_ptr<StaticNodeIndex> nodes_;
  std::shared_ptr<RowAnswers> answers_;
  Scratch& scratch_;
  bool built_ = false;

  std::vector<RowState> states_;
  std::vector<Group> groups_;
  uint64_t seen_ = 0, names_version_ = ~uint64_t{0}, nodes_epoch_ = 0, epoch_ = 0;
};

}  // namespace berth::scheduler
