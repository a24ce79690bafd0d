// What depends on pods in topology domains, for the pods of one template, on top of their equivalence class.
//
// The domain rules of the pod (algorithm/domain_rule.h) add up numbers of pods. A term whose label has few values is
// dense: its number is looked up once for each group of nodes. A term whose domains are single nodes, or very small, is
// sparse: it makes those rows special whose number is not 0, and they are few, because pods are. What the sparse terms
// add up to for a row is its signature; special rows of one group with one signature are kept like a group of their
// own.
//
//   group 0 (zone a, 2000 nodes)   dense sums {zone: 7}   all rows but the special ones: signature (0)
//     special: node-5, node-9      {zone: 7} + (1)        one overlay
//     special: node-2              {zone: 7} + (2)        another
//
// So rules are evaluated, and scores are normalised, once for each part (the plain rows of a group, or an overlay) and
// not once for each node. Then the best part wins, and the k-th of its ties is found by counting.
//
// Invariant after Refresh: specials_ has exactly the rows that fit and whose signature is not all zero; overlays_ has
// each of them in the buckets of its group, signature and score; shadows_ has it under its group and score, to be left
// out when the plain rows of the group are counted. Used on the cache's thread.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/functional/function_ref.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "pkg/scheduler/core/incremental/common_keys.h"
#include "pkg/scheduler/core/incremental/equivalence_class.h"
#include "pkg/scheduler/core/incremental/recycling_map.h"
#include "pkg/scheduler/core/incremental/signature_table.h"

namespace berth::scheduler {

class DomainOverlay {
 public:
  struct Answer {
    enum class Outcome : uint8_t {
      kPlaced,
      kUnfit,      // no row fits
      kUndecided,  // only the reference scheduler can decide, or say what is wrong
    };
    Outcome outcome = Outcome::kUndecided;
    Symbol host;
    size_t feasible = 0;
    size_t ties = 0;  // rows that share the best total
  };
  // Rules that are called anew for this pod: `filter` erases rows where the pod may not go, `score` adds to the totals
  // of the rows given. Either returns false when the reference scheduler must decide. Null: there are none.
  struct Extra {
    using Filter = absl::FunctionRef<bool(RowSet*)>;
    using Score = absl::FunctionRef<bool(std::span<const Row>, std::span<int64_t>)>;
    const Filter* filter = nullptr;
    const Score* score = nullptr;
  };

  // `rules` and `common` outlive the overlay.
  DomainOverlay(Cache* cache, const RuleSet& rules, CommonKeys* common, const api::PodPtr& pod);

  // Brings the terms up to date. Returns false when answers cannot be kept for this pod.
  bool Prepare();
  // Labels that groups must tell apart for this pod.
  const std::vector<GroupKey>& keys() const { return keys_; }
  // Returns the rules about nodes that are evaluated here, once for each group.
  const LeftOut& left_out() const { return left_out_; }
  void SetClass(std::shared_ptr<EquivalenceClass> rows);
  EquivalenceClass* rows() const { return rows_.get(); }

  // Chooses the best row and advances *last_node_index as selectHost of 1.10 does. REQUIRES: Prepare returned true.
  Answer Place(uint64_t* last_node_index);
  // The same by looking at every row once: for the first pod of a class, and where rules are called anew.
  Answer PlaceAmong(const Extra& extra, uint64_t* last_node_index);

  size_t bytes() const;
  // When scoring began in the last Place or PlaceAmong, by the clock given.
  void set_on_filtered(absl::FunctionRef<void()>* f) { on_filtered_ = f; }

 private:
  // Special rows of one group with one signature.
  struct Overlay {
    ScoreBuckets buckets;
    uint32_t size = 0;
  };
  struct Special {
    int32_t group;  // in the class
    int32_t score;  // in the class
    int32_t signature;
  };
  // A rule with the place of its channels among all channels.
  struct Placed {
    DomainRule* rule;
    size_t first_channel;
  };
  struct Term {
    const DomainTerm* term;
    size_t channel;  // among all channels
    size_t key;      // in keys_: of a dense term its domain's, of a sparse one its label's; kNoKey when it has none
    size_t slot;     // of a sparse term: in the signature
  };
  static constexpr size_t kNoKey = ~size_t{0};
  // Rows that the rules cannot tell apart but for their own score.
  struct Part {
    int32_t group;
    const Overlay* overlay;  // null: the rows of the group that are not special
    uint32_t nodes;          // that fit
    int64_t total = 0;       // of their scores, but for their own
  };

  void FindKeys();
  void FindLabelRules();
  size_t KeyOf(const LabelColumn* column, bool presence_only);
  void Sort(const DomainTerm& term, size_t channel);
  void Refresh();
  void Rebuild();
  void RefreshOwnRows();
  void Evaluate(Row row);
  void EvaluateDomains(Row row);
  void Update(Row row, std::span<const int64_t> sums);
  void Withdraw(Row row, const Special& special);
  std::span<const int64_t> SparseSumsOf(Row row);
  void AddUpSparse(absl::FunctionRef<void(Row, std::span<const int64_t>)> f);

  void BeginGroups();
  void AskLabelRules();
  bool AddPart(int32_t group, int32_t signature, const Overlay* overlay, uint32_t nodes);
  void BeginParts();
  void ListParts();
  uint64_t ScoreParts();
  void SumUpGroups();
  Answer Choose(uint64_t feasible, uint64_t* last_node_index);
  void ListRows();
  void PrepareGroupsOfRows();
  int32_t PartFor(int32_t group, int32_t signature);
  void FindPartsOfRows();
  bool FilterRows(const Extra::Filter& filter);
  void CountRowsOfParts();
  void FindTies();
  bool FindTiesWith(const Extra::Score& score);

  Cache* cache_;
  const RuleSet& rules_;
  CommonKeys& common_;
  api::PodPtr pod_;
  PodContext ctx_;
  int64_t max_score_;
  bool usable_ = true;
  std::vector<std::unique_ptr<DomainCheck>> checks_;
  std::vector<WeightedDomainScoring> scorings_;

  // Rules about nodes that read nothing but labels of few values, by FindLabelRules.
  struct LabelScoring {
    std::unique_ptr<Scoring> scoring;
    Normalised how;
  };
  LeftOut left_out_;
  std::vector<std::unique_ptr<FitCheck>> label_checks_;
  std::vector<LabelScoring> label_scorings_;

  // By FindKeys.
  std::vector<Placed> placed_checks_, placed_scorings_;
  std::vector<DomainChannel> channels_;
  std::vector<GroupKey> keys_;
  std::vector<std::vector<size_t>> scoring_keys_;  // in keys_, by scoring
  std::vector<Term> dense_, sparse_;
  std::vector<size_t> slots_;                       // channels that sparse terms add to, by place in the signature
  std::vector<const LabelColumn*> sparse_columns_;  // of sparse terms whose domains are not single rows
  uint64_t names_version_ = ~uint64_t{0};
  bool found_ = false;

  std::shared_ptr<EquivalenceClass> rows_;
  uint64_t seen_ = 0, epoch_ = ~uint64_t{0};
  SignatureTable signatures_;
  absl::flat_hash_map<Row, Special> specials_;
  RecyclingMap<std::pair<int32_t, int32_t>, RankSet> shadows_;   // special rows by group and score
  RecyclingMap<std::pair<int32_t, int32_t>, Overlay> overlays_;  // by group and signature
  std::vector<uint32_t> specials_in_group_;
  absl::FunctionRef<void()>* on_filtered_ = nullptr;

  // Memory that decisions use again.
  struct Scratch {
    std::vector<Part> parts;
    std::vector<DomainSum> sums;  // by part and channel; the first sums_used mean something
    size_t sums_used = 0;
    std::vector<DomainSum> group_sums;  // by group and channel
    std::vector<int64_t> by_domain;     // numbers of one term
    std::vector<int64_t> label_raw;
    std::vector<Row> group_rows;        // a row of each group that has one
    std::vector<uint8_t> group_admits;  // by group: whether label_checks_ let the pod in
    std::vector<int64_t> group_raw;     // by group and label scoring
    std::vector<DomainSum> rule_sums;
    std::vector<uint32_t> domains, nodes;
    std::vector<int64_t> scores, totals, signature;
    std::vector<Row> rows;
    std::vector<EquivalenceClass::RowState> states;
    std::vector<const RankSet*> in, out;
    std::vector<int32_t> part_of, plain_part;
    std::vector<uint32_t> ties;
    std::vector<int32_t> signature_of;  // by row; 0 for all but with_signature
    std::vector<Row> with_signature;
    absl::flat_hash_map<std::pair<int32_t, int32_t>, int32_t> special_part;
    absl::flat_hash_map<Row, uint32_t> added;  // where the row's sums begin in added_values
    std::vector<int64_t> added_values;
    RowSet candidates;
  };
  static Scratch& scratch();
};

}  // namespace berth::scheduler
