// Nodes as pods of one kind see them, whatever runs there: which fit as far as the node object goes, their scores by
// rules that read nothing else, and their group (row_class.h). Shared by all RowClasses whose pods have the same
// tolerations, node selector, node affinity and QoS class. Used on the cache's thread.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <span>
#include <vector>

#include "pkg/scheduler/core/prepared_rules.h"

namespace berth::scheduler {

class NodeClass {
 public:
  // Takes the rules about nodes. `topology_keys`: labels whose value is part of a group.
  NodeClass(Cache* cache, PreparedRules* rules, std::vector<Symbol> topology_keys);

  struct Group {
    Symbol zone;
    std::vector<Symbol> values;  // by topology key; kNoValue where the label is missing
    std::vector<int64_t> raw;    // by normalised priority
  };
  struct Part {
    int32_t group = -1;  // -1: the node does not fit, whatever is on it
    int32_t score = 0;   // weighted sum
  };

  // Judges the nodes that changed since the last call.
  void Refresh();
  // Changes when all was judged anew: group numbers of before mean nothing then.
  uint64_t epoch() const { return epoch_; }
  const std::vector<Group>& groups() const { return groups_; }  // grows only, within an epoch
  const Part& part(Row row) const { return parts_[row]; }
  // Nodes that fit, in the order of Cache::by_name_descending, and their places in it.
  const std::vector<Row>& rows();
  const std::vector<uint32_t>& ranks();

  const std::vector<Normalised>& normalised() const { return normalised_; }
  const std::vector<Symbol>& topology_keys() const { return topology_keys_; }

 private:
  void Rebuild();
  void Judge(std::span<const Row> rows);
  int32_t GroupOf(Row row);
  void List();

  Cache* cache_;
  api::PodPtr pod_;  // stands for all of its kind
  std::vector<std::unique_ptr<FitCheck>> checks_;
  std::vector<PreparedRules::Weighted> scores_, raw_scores_;
  std::vector<Normalised> normalised_;
  std::vector<Symbol> topology_keys_;
  std::vector<const Cache::LabelColumn*> columns_;

  std::vector<Part> parts_;
  std::vector<Group> groups_;
  absl::flat_hash_map<std::vector<int64_t>, int32_t> group_index_;  // by zone, label values and raw scores
  std::vector<int64_t> key_;                                        // of a row, while it is looked up
  uint64_t seen_ = 0, epoch_ = 0;
  bool built_ = false;
  size_t groups_at_first_ = 0;  // of this epoch

  std::vector<Row> rows_;
  std::vector<uint32_t> ranks_;
  bool listed_ = false;  // rows_ and ranks_ are of the nodes as they are
};

}  // namespace berth::scheduler
