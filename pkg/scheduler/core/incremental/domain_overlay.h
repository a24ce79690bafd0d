// The top layer of the incremental scheduler: applies the rules about topology domains to the pods of one template. The
// layer below is the template's equivalence class, whose nodes are in groups (static_node_index.h).
//
// A domain rule (algorithm/domain_rule.h) adds up numbers of pods, one for each of its terms. Terms are of two kinds:
//   - The label of a dense term has few values, for example zones. All nodes of a group are in the same domain, so its
//     number is looked up once for each group.
//   - The domains of a sparse term are single nodes, or very small. A row whose number is not 0 is "special". There are
//     few such rows, because a number is 0 unless pods in the domain count. The sums of the sparse terms for a row are
//     its "signature". The special rows of one group with the same signature form an "overlay".
//
//   group 0 (zone a, 2000 nodes)   dense sums {zone: 7}   plain rows: signature (0)
//     node-5, node-9               {zone: 7} + (1)        overlay with signature (1)
//     node-2                       {zone: 7} + (2)        overlay with signature (2)
//
// A "part" is an overlay, or the plain rows of a group. The domain rules cannot tell the rows of a part apart, so they
// are evaluated, and scores are normalised, once for each part and not once for each node. Then the best scores of the
// parts are compared, and the row that round robin chooses among the ties is found by counting.
//
// If the pods of the template come seldom, the special rows are not kept but listed for each decision
// (domain_overlay_once.cc). Their overlays then have no buckets.
//
// Invariant after Refresh: specials_ has exactly the rows that fit and whose signature is not all 0. Each of them is in
// overlays_ under its group, signature and score, and in shadows_ under its group and score. The groups of the class
// include special rows; shadows_ says which ones to leave out when the plain rows of a group are counted.
//
// Thread-safety: that of the Cache.
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
#include "pkg/scheduler/core/incremental/grouped_map.h"
#include "pkg/scheduler/core/incremental/signature_table.h"

namespace berth::scheduler {

class DomainOverlay {
 public:
  struct Answer {
    enum class Outcome : uint8_t {
      kPlaced,
      kUnfit,      // no row fits
      kUndecided,  // the reference scheduler must decide, for example because a rule has an error to report
    };
    Outcome outcome = Outcome::kUndecided;
    Symbol host;
    size_t feasible = 0;
    size_t ties = 0;  // number of rows that share the best total
  };
  // Rules that have to be called for every row of every pod. `filter` erases rows where the pod may not go; `score`
  // adds to the totals of the given rows. Either returns false when the reference scheduler must decide. A null pointer
  // stands for no rules.
  struct Extra {
    using Filter = absl::FunctionRef<bool(RowSet*)>;
    using Score = absl::FunctionRef<bool(std::span<const Row>, std::span<int64_t>)>;
    const Filter* filter = nullptr;
    const Score* score = nullptr;
  };

  // `cache`, `rules` and `common` must outlive the overlay.
  DomainOverlay(Cache* cache, const RuleSet& rules, CommonKeys* common, const api::PodPtr& pod);

  // Brings the terms and keys up to date. Returns false when the incremental scheduler cannot decide for this template.
  bool Prepare();
  // Returns the labels by which nodes must be grouped for this template.
  const std::vector<GroupKey>& keys() const { return keys_; }
  // Returns the rules about nodes that the overlay evaluates itself, once for each group.
  const LeftOut& left_out() const { return left_out_; }
  // Sets the class that the overlay builds on. REQUIRES: its index has the same keys() and left_out().
  void SetClass(std::shared_ptr<EquivalenceClass> rows);
  EquivalenceClass* rows() const { return rows_.get(); }

  // Chooses the best row and advances *last_node_index as selectHost of 1.10 does. REQUIRES: Prepare returned true.
  Answer Place(uint64_t* last_node_index);
  // The same by listing the rows that fit. Used for the first pod of a class, and with rules in `extra`.
  Answer PlaceAmong(const Extra& extra, uint64_t* last_node_index);

  size_t bytes() const;
  // Sets a function that Place and PlaceAmong call between filtering and scoring. May be null.
  void set_on_filtered(absl::FunctionRef<void()>* f) { on_filtered_ = f; }

 private:
  // The special rows of one group with one signature.
  struct Overlay {
    ScoreBuckets buckets;
    uint32_t size = 0;  // number of rows in `buckets`
  };
  struct Special {
    int32_t group;      // EquivalenceClass::RowState::group
    int32_t score;      // EquivalenceClass::RowState::score
    int32_t signature;  // number in signatures_
  };
  // A rule that has terms, and the positions of its channels in channels_.
  struct PlacedCheck {
    const DomainCheck* check;
    size_t first_channel, width;
  };
  // The same for a priority with terms or keys.
  struct PlacedScoring {
    const DomainScoring* scoring;
    int64_t weight;
    size_t first_channel, width;
    std::vector<size_t> keys;   // indexes in keys_
    std::vector<size_t> slots;  // values of a signature that add to its channels
  };
  struct Term {
    const DomainTerm* term;
    size_t channel;  // index in channels_
    // Index in keys_: for a dense term, the label that makes its domains; for a sparse term, the label that nodes must
    // have, or kNoKey if they need none.
    size_t key;
    size_t slot;  // for a sparse term, index in the signature
  };
  static constexpr size_t kNoKey = ~size_t{0};
  // Instead of an index in Scratch::parts: there is no such part, or a predicate does not admit it; and the part was
  // not looked at yet.
  static constexpr int32_t kNoPart = -1, kNotLooked = -2;
  // Rows that differ in nothing but RowState::score.
  struct Part {
    int32_t group, signature;
    uint32_t nodes;          // number of rows
    const Overlay* overlay;  // null for the plain rows of the group
    int64_t total = 0;       // weighted sum of the scores that all rows of the part share
  };

  // How the special rows of a decision are found.
  enum class Way : uint8_t {
    kKept,    // they are kept, and brought up to date
    kListed,  // they are few, and listed for one decision (domain_overlay_once.cc)
    kByRow,   // most rows are special: all rows are listed (domain_overlay_rows.cc)
  };

  // A special row of one decision that keeps no special rows (domain_overlay_once.cc).
  struct FoundSpecial {
    int32_t group, score, signature;
    int32_t part;  // index in Scratch::parts, or kNoPart
    Row row;
  };

  void FindKeys();
  void FindLabelRules();
  size_t KeyOf(const LabelColumn* column, bool presence_only);
  void Sort(const DomainTerm& term, size_t channel);
  void RefreshSpecials();
  void Rebuild();
  void RefreshOwnRows();
  bool Matters(Row row) const;
  void Evaluate(Row row);
  void EvaluateDomains(Row row);
  void Update(Row row, std::span<const int64_t> sums);
  void Withdraw(Row row, const Special& special);
  std::span<const int64_t> SparseSumsOf(Row row);
  void AddUpSparse(absl::FunctionRef<void(Row, std::span<const int64_t>)> f);

  void BeginGroups();
  void AskLabelRules();
  bool AddPart(int32_t group, int32_t signature, const Overlay* overlay, uint32_t nodes);
  void AddSignature(int32_t signature, size_t slot, DomainSum* sum) const {
    const int64_t value = signatures_.values(signature)[slot];
    if (channels_[slots_[slot]] == DomainChannel::kSum) {
      sum->value += value;
    } else if (value > 0) {
      sum->value = 1;
    }
  }
  bool Admits(int32_t group, int32_t signature) const;
  void SumUpParts(const PlacedScoring& rule);
  void BeginParts();
  void ListParts(bool once);
  uint64_t ScoreParts();
  void SumUpGroups();
  Answer Choose(uint64_t feasible, uint64_t* last_node_index);
  Way ChooseWay();
  void DropSpecials();
  bool FindSpecials();
  void AddFoundParts();
  Answer PlaceInRows(const Extra& extra, bool keep, uint64_t* last_node_index);
  size_t BucketOf(const Part& part) const;
  int64_t FindWinners();
  Answer ChooseOnce(uint64_t feasible, uint64_t* last_node_index);
  void ListRows(bool keep);
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

  // The rules about nodes that read nothing but labels with few values. Set by FindLabelRules.
  struct LabelScoring {
    std::unique_ptr<Scoring> scoring;
    Normalised how;
  };
  LeftOut left_out_;
  std::vector<std::unique_ptr<FitCheck>> label_checks_;
  std::vector<LabelScoring> label_scorings_;

  // Set by FindKeys.
  std::vector<PlacedCheck> placed_checks_;
  std::vector<PlacedScoring> placed_scorings_;
  // Predicates without terms. The sums of every node are 0, so each of them admits all nodes or none.
  std::vector<const DomainCheck*> checks_without_terms_;
  std::vector<DomainChannel> channels_;  // the channels of all placed rules, one rule after another
  std::vector<GroupKey> keys_;
  // By label column: the index of its first key, and of the first that is one for the label's values.
  absl::flat_hash_map<const LabelColumn*, size_t> first_key_, first_value_key_;
  std::vector<Term> dense_, sparse_;
  std::vector<size_t> slots_;                       // for each value of a signature, the channel that it adds to
  absl::flat_hash_map<size_t, size_t> slot_of_;     // by channel: the index in slots_
  std::vector<const LabelColumn*> sparse_columns_;  // labels of the sparse terms whose domains are not single rows
  uint64_t order_version_ = ~uint64_t{0};
  bool found_ = false;

  std::shared_ptr<EquivalenceClass> rows_;
  // The generation of the cache and the epoch of rows_ that the special rows are up to date with. An epoch of ~0 says
  // that they must be found from scratch.
  uint64_t seen_ = 0, epoch_ = ~uint64_t{0};
  uint64_t decided_ = 0;  // the cache's generation at the last decision by parts
  // Whether keeping the special rows since the decision before that one would have been worth while (ChooseWay).
  bool would_have_paid_ = false;
  SignatureTable signatures_;
  absl::flat_hash_map<Row, Special> specials_;
  KeyFilter special_filter_;                 // of specials_
  GroupedMap<RankSet> shadows_;              // ranks of special rows by group and score
  GroupedMap<Overlay> overlays_;             // by group and signature
  std::vector<uint32_t> specials_in_group_;  // number of special rows by group
  absl::FunctionRef<void()>* on_filtered_ = nullptr;

  // Buffers of one decision. All overlays of a thread share them, so that decisions allocate nothing.
  struct Scratch {
    std::vector<Part> parts;
    bool admits_any = true;             // whether all checks_without_terms_ admit the pod
    std::vector<DomainSum> part_sums;   // of one part, by channel
    std::vector<DomainSum> rule_sums;   // by part and channel of one priority
    std::vector<DomainSum> group_sums;  // by group and channel
    std::vector<int64_t> by_domain;     // the numbers of one term
    std::vector<int64_t> label_raw;     // the raw scores of one label scoring, by position in group_rows
    std::vector<Row> group_rows;        // one row of each group that has rows
    std::vector<uint8_t> group_admits;  // by group: 1 if label_checks_ admit the pod
    std::vector<int64_t> group_raw;     // raw scores by group and label scoring
    std::vector<uint32_t> domains, nodes;
    std::vector<int64_t> scores, totals, signature;
    std::vector<Row> rows;                           // PlaceAmong: the rows that fit, in descending order of names
    std::vector<EquivalenceClass::RowState> states;  // by position in `rows`
    std::vector<const RankSet*> in, out;             // arguments of SelectKth
    // Indexes in `parts`: by position in `rows`, and of the plain rows by group.
    std::vector<int32_t> part_of, plain_part;
    std::vector<uint32_t> ties;         // positions in `rows`
    std::vector<int32_t> signature_of;  // by row; 0 for all rows that are not in with_signature
    std::vector<Row> with_signature;
    absl::flat_hash_map<std::pair<int32_t, int32_t>, int32_t> special_part;  // index in `parts` by group and signature
    // Of a decision that keeps no special rows.
    std::vector<FoundSpecial> found;
    std::vector<uint32_t> top_specials;     // by group: number of special rows in its best bucket
    std::vector<int32_t> found_parts;       // by group and signature: index in `parts`
    std::vector<int64_t> part_best;         // by part: the best RowState::score of its rows
    std::vector<uint32_t> won_in, won_out;  // ranks of special rows to choose from, and to leave out
    std::vector<Row> added;                 // the rows that AddUpSparse has met
    std::vector<uint32_t> added_at;         // by row: 1 + the place of its sums in added_values, or 0
    std::vector<int64_t> added_values;
    RowSet candidates;
  };
  static Scratch& scratch();
};

}  // namespace berth::scheduler
