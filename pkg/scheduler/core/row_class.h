// Rows as pods of one kind see them, kept up to date between decisions instead of asked again.
//
// Pods that ask for the same (requests, ports, node affinity, tolerations, images, ...; not labels or namespace) share
// one RowClass. It knows for every listed row whether the pod fits as far as the node and the pods on it go, and its
// score by priorities that need no other row. Rows that only differ in these scores form a group: same zone, same
// values of the topology labels in use, same raw values of the priorities that are normalised over all nodes. Within a
// group rows are kept by score, in name order: the best of a group and the number of its ties cost nothing to find.
//
// What goes by the node objects alone is a NodeClass's, which many RowClasses share. Between two decisions only rows
// that changed are judged again. Used on the cache's thread.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "pkg/scheduler/core/node_class.h"
#include "pkg/scheduler/core/score_buckets.h"

namespace berth::scheduler {

class RowClass {
 public:
  struct RowState {
    int32_t group = -1;  // -1: does not fit
    int32_t score = 0;   // weighted sum of the priorities that need no other row
  };
  // Memory that all classes use, one after another.
  struct Scratch {
    std::vector<Row> rows;  // that are being judged
    std::vector<int64_t> scores;
    std::vector<RowState> states;  // by rows
    std::vector<uint32_t> ranks, places, ends, sorted;
  };

  // Takes the rules about rows; those about nodes are `nodes`. `scratch` outlives it.
  RowClass(Cache* cache, PreparedRules* rules, std::shared_ptr<NodeClass> nodes, Scratch* scratch);

  struct Group : NodeClass::Group {
    ScoreBuckets buckets;  // rows that fit
    uint32_t size = 0;     // of them
  };

  // Judges what changed since the last call.
  void Refresh();
  // Changes when everything was judged anew; group numbers and ranks of before mean nothing then.
  uint64_t epoch() const { return epoch_; }
  const std::vector<Group>& groups() const { return groups_; }
  const RowState& state(Row row) const { return states_[row]; }
  const std::vector<Normalised>& normalised() const { return nodes_->normalised(); }
  const std::vector<Symbol>& topology_keys() const { return nodes_->topology_keys(); }

 private:
  void Rebuild();
  void FillBuckets();
  void Judge();
  void Insert(Row row, const RowState& state);
  void Remove(Row row);
  void TakeGroups();
  void Score();

  Cache* cache_;
  std::shared_ptr<NodeClass> nodes_;
  api::PodPtr pod_;  // stands for all of its kind
  std::vector<std::unique_ptr<FitCheck>> checks_;
  std::vector<PreparedRules::Weighted> scores_;
  Scratch& scratch_;

  std::vector<RowState> states_;
  std::vector<Group> groups_;
  uint64_t seen_ = 0, names_version_ = ~uint64_t{0}, nodes_epoch_ = 0, epoch_ = 0;
};

}  // namespace berth::scheduler
