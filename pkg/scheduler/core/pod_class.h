// One pod template on top of its RowClass: see fast_path.h.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "pkg/scheduler/core/fast_path.h"
#include "pkg/scheduler/core/prepared_rules.h"
#include "pkg/scheduler/core/recycling_map.h"
#include "pkg/scheduler/core/row_class.h"

namespace berth::scheduler {

class PodClass {
 public:
  // `rules`: those about other pods.
  PodClass(Cache* cache, const RuleList& rules, const api::PodPtr& pod);

  // Whether answers can be kept for this pod at all, as things are now.
  bool Usable();
  // Topology labels with few values, which RowClass puts into its groups.
  const std::vector<Symbol>& dense_keys() const { return dense_keys_; }
  void SetRows(RowClass* rows);
  RowClass* rows() const { return rows_; }

  FastPath::Answer Place(uint64_t* last_node_index);
  // Among the rows that `narrow` leaves.
  FastPath::Answer PlaceAmong(FastPath::Narrow narrow, uint64_t* last_node_index);
  uint64_t last_use = 0;

 private:
  // Rows of one group that differ from its rest alike.
  struct Overlay {
    ScoreBuckets buckets;
    uint32_t size = 0;
    int32_t part = -1;  // in scratch_.parts, when the group is open to the pod
  };
  // A row that differs from the rest of its RowClass group, because of pods on it or in a small topology domain.
  struct Special {
    int32_t group;         // in the RowClass
    int64_t score;         // in the RowClass
    int32_t count = 0;     // pods to spread from
    int64_t affinity = 0;  // raw preferred affinity by labels with many values
    bool forbidden = false;
    const Overlay* overlay = nullptr;  // its entry, unless forbidden
  };
  using OverlayKey = std::tuple<int32_t, int32_t, int64_t>;  // group, count, affinity

  void FindKeys();
  void Rebuild();
  void Refresh();
  void RefreshCounted();
  void Judge(Row row);
  void Judge(Row row, int32_t count);  // pods there to spread from
  void JudgeDomains(Row row);
  void Drop(Row row);
  std::vector<Row> PossibleSpecials() const;
  bool GroupForbidden(const RowClass::Group& g) const;
  int64_t GroupAffinity(const RowClass::Group& g) const;
  void ListParts();
  uint64_t ScoreParts();
  void ListCandidates();

  Cache* cache_;
  api::PodPtr pod_;
  PodContext ctx_;
  bool known_rules_ = true;
  std::unique_ptr<predicates::InterPodAffinityCheck> affinity_check_;  // null: not configured
  std::unique_ptr<priorities::SpreadScoring> spread_;
  std::unique_ptr<priorities::InterPodAffinityScoring> affinity_scoring_;
  int64_t spread_weight_ = 0, affinity_weight_ = 0;

  std::vector<Symbol> dense_keys_;
  // Terms by where they are judged. Dense: index of the key in dense_keys_, and the term. Sparse: the term's column.
  template <typename T>
  struct At {
    size_t key;
    T term;
  };
  template <typename T>
  struct In {
    const Cache::LabelColumn* column;
    T term;
  };
  using OwnTerm = const predicates::InterPodAffinityCheck::OwnTerm*;
  std::vector<At<OwnTerm>> dense_affinity_, dense_anti_;
  std::vector<At<uint32_t>> dense_existing_;
  std::vector<At<size_t>> dense_scoring_;
  std::vector<In<OwnTerm>> sparse_anti_;
  std::vector<In<uint32_t>> sparse_existing_;
  std::vector<In<size_t>> sparse_scoring_;
  std::vector<const Cache::LabelColumn*> sparse_columns_;  // distinct ones of those
  bool supported_ = true;

  uint64_t owners_version_ = 0, names_version_ = ~uint64_t{0};
  RowClass* rows_ = nullptr;
  uint64_t seen_ = 0, epoch_ = ~uint64_t{0};
  absl::flat_hash_map<Row, Special> specials_;
  RecyclingMap<std::pair<int32_t, int64_t>, RankSet> shadows_;  // special rows by RowClass group and score
  RecyclingMap<OverlayKey, Overlay> overlay_;                   // special rows that are not forbidden
  std::vector<uint32_t> specials_in_group_;

  // Rows that score alike but for their own score: of one group, with one count and raw affinity.
  struct Part {
    const RowClass::Group* group;
    int32_t number;
    int32_t count;
    int64_t affinity;
    const Overlay* overlay;  // null: the rows of the group that are not special
    uint32_t size;           // rows that fit
    int64_t total = 0;       // of their scores, but for their own
  };
  struct Scratch {  // memory that decisions use again
    std::vector<Part> parts;
    std::vector<Row> rows;
    std::vector<int64_t> max_raw;
    std::vector<std::pair<Symbol, int64_t>> zones;
    std::vector<const RankSet*> in, out;
    RowSet candidates;
    std::vector<int32_t> part_of, plain_part;  // by row; by group
    std::vector<uint32_t> ranks;
  } scratch_;
};

}  // namespace berth::scheduler
