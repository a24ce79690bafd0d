// Rows as pods of one kind see them, kept up to date between decisions instead of asked again.
//
// Pods that ask for the same (requests, ports, node affinity, tolerations, images, ...; not labels or namespace) share
// one RowClass. It knows for every listed row whether the pod fits as far as the node and the pods on it go, and its
// score by priorities that need no other row. Rows that only differ in these scores form a group: same zone, same
// values of the topology labels in use, same raw values of the priorities that are normalised over all nodes. Within a
// group rows are kept by score, in name order: the best of a group and the number of its ties cost nothing to find.
//
// Between two decisions only rows that changed are judged again. Used on the cache's thread.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/core/rank_set.h"

namespace berth::scheduler {

// Rows of equal score, best first.
using ScoreBuckets = std::map<int64_t, RankSet, std::greater<int64_t>>;

class RowClass {
 public:
  // Null when a configured rule's answers cannot be kept; `pod` stands for all of its kind and has no volumes, node or
  // rules of other scopes. `topology_keys`: labels whose value is part of a group.
  static std::unique_ptr<RowClass> Make(Cache* cache, const AlgorithmConfig& config, const api::PodPtr& pod,
                                        std::vector<Symbol> topology_keys);

  struct Group {
    Symbol zone;
    std::vector<Symbol> values;  // by topology key; kNoValue where the label is missing
    std::vector<int64_t> raw;    // by normalised priority
    ScoreBuckets buckets;
    uint32_t size = 0;  // rows that fit
  };
  struct RowState {
    int32_t group = -1;  // -1: does not fit
    int64_t score = 0;   // weighted sum of the priorities that need no other row
  };

  // Judges what changed since the last call.
  void Refresh();
  // Changes when everything was judged anew; group numbers and ranks of before mean nothing then.
  uint64_t epoch() const { return epoch_; }
  const std::vector<Group>& groups() const { return groups_; }
  const RowState& state(Row row) const { return states_[row]; }
  uint32_t feasible() const { return feasible_; }

  struct Normalised {
    int64_t weight;
    bool reversed;
  };
  const std::vector<Normalised>& normalised() const { return normalised_; }
  const std::vector<Symbol>& topology_keys() const { return topology_keys_; }

 private:
  RowClass(Cache* cache, const api::PodPtr& pod, std::vector<Symbol> topology_keys);
  void Rebuild();
  void Judge(Row row, bool node_changed);
  int32_t GroupOf(Row row, std::span<const int64_t> raw);
  void Insert(Row row);
  void Remove(Row row);

  Cache* cache_;
  api::PodPtr pod_;
  PodContext ctx_;
  std::vector<Symbol> topology_keys_;
  std::vector<const Cache::LabelColumn*> columns_;
  std::vector<std::unique_ptr<FitCheck>> node_checks_, row_checks_;
  struct Weighted {
    std::unique_ptr<Scoring> scoring;
    int64_t weight;
  };
  std::vector<Weighted> node_scores_, row_scores_, raw_scores_;
  std::vector<Normalised> normalised_;  // by raw_scores_

  struct NodePart {
    int32_t group = -1;  // -1: the node does not fit, whatever is on it
    int64_t score = 0;
  };
  std::vector<NodePart> node_parts_;
  std::vector<RowState> states_;
  std::vector<Group> groups_;
  absl::flat_hash_map<std::vector<int64_t>, int32_t> group_index_;
  std::vector<int64_t> scratch_key_;
  uint32_t feasible_ = 0;
  uint64_t seen_ = 0, names_version_ = ~uint64_t{0}, epoch_ = 0;
};

}  // namespace berth::scheduler
