// Nodes as pods of one kind see them, whatever runs there.
//
// For all pods that are alike in what rules about node objects read (RuleSet::node_parts), the index knows which nodes
// fit as far as the node object goes, what they score by rules that read nothing else, and their group. Nodes are in
// one group when nothing that is worked out once for many nodes can tell them apart: they share the topology domains
// that matter to the pod and the raw scores of the priorities that are normalised over all nodes.
//
//   row   fits  domains (zone)  raw scores   -> group  score
//   0     yes   a               0                0      10000
//   1     yes   b               0                1      10000
//   2     no    -               -               -1      -
//
// Invariant: after Refresh, parts() tells the truth about every row as it is in the cache. Groups are only added until
// epoch() changes; then all numbers of groups mean something else. Used on the cache's thread.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <span>
#include <vector>

#include "pkg/scheduler/core/incremental/rule_set.h"

namespace berth::scheduler {

// A label whose domains groups tell apart.
struct GroupKey {
  const LabelColumn* column;
  bool presence_only;  // only whether the node has the label: the domain is 0, or LabelColumn::kNoDomain
  friend bool operator==(const GroupKey&, const GroupKey&) = default;
};

class StaticNodeIndex {
 public:
  // Knows nothing of the rules that are left out.
  StaticNodeIndex(Cache* cache, const RuleSet& rules, api::PodPtr pod, std::vector<GroupKey> keys,
                  const LeftOut& left_out);

  struct Part {
    int32_t group = -1;  // -1: the node does not fit, whatever is on it
    int32_t score = 0;   // weighted sum
  };

  // Brings up to date what changed since the last call. Cheap when no node object did.
  void Refresh();
  bool built() const { return built_; }
  uint64_t epoch() const { return epoch_; }
  size_t group_count() const { return group_count_; }
  // Of a group: domains by key, raw scores by normalised priority. Valid until the next Refresh.
  const uint32_t* domains(size_t group) const { return domains_.data() + group * keys_.size(); }
  const int64_t* raw(size_t group) const { return raw_.data() + group * normalised_.size(); }
  const Part& part(Row row) const { return parts_[row]; }
  // Nodes that fit, in the order of Cache::by_name_descending, and their places in it.
  const std::vector<Row>& rows();
  const std::vector<uint32_t>& ranks();

  const std::vector<Normalised>& normalised() const { return normalised_; }
  const std::vector<GroupKey>& keys() const { return keys_; }
  const LeftOut& left_out() const { return left_out_; }
  // False when a rule fails for this pod, which only the reference scheduler words.
  bool usable() const { return usable_; }
  size_t bytes() const;

 private:
  void Rebuild();
  // Memory that all indexes use, one after another.
  struct Scratch {
    std::vector<Row> fit;
    std::vector<int64_t> raws, scores;
    RowSet ranks;
  };
  static Scratch& scratch();
  void Evaluate();
  int32_t GroupOf(Row row);
  bool IsGroup(size_t group) const;
  void List();

  Cache* cache_;
  api::PodPtr pod_;  // stands for all of its kind; the rules refer to it
  std::vector<std::unique_ptr<FitCheck>> checks_;
  std::vector<WeightedScoring> scores_, raw_scores_;
  std::vector<Normalised> normalised_;
  std::vector<GroupKey> keys_;
  LeftOut left_out_;
  bool usable_ = true, any_node_matters_;

  std::vector<Part> parts_;
  size_t group_count_ = 0;
  std::vector<uint32_t> domains_;                                   // of all groups, one after another
  std::vector<int64_t> raw_;                                        // likewise
  absl::flat_hash_map<std::vector<int64_t>, int32_t> group_index_;  // by domains and raw scores
  std::vector<int64_t> key_;                                        // of a row, while it is looked up
  std::vector<int32_t> recent_;  // groups found last, by a few bits of the key's hash; -1: none
  uint64_t seen_ = 0, epoch_ = 0, names_version_ = ~uint64_t{0};
  bool built_ = false;
  size_t groups_at_first_ = 0;  // of this epoch

  std::vector<Row> rows_;
  std::vector<uint32_t> ranks_;
  bool listed_ = false;  // rows_ and ranks_ are of the nodes as they are
};

}  // namespace berth::scheduler
