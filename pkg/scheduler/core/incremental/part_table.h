// The parts of one decision. A "part" is an overlay (kept_specials.h), other special rows of one group with the same
// signature, or the plain rows of a group. The domain rules cannot tell the rows of a part apart, so they are
// evaluated, and scores are normalised, once for each part and not once for each node.
//
// A table is filled by Begin and then Add, in any order of parts, and scored by Score. It keeps its buffers, so that
// decisions allocate nothing.
//
// Thread-safety: that of the Cache.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "pkg/scheduler/core/incremental/label_rules.h"
#include "pkg/scheduler/core/incremental/row_states.h"
#include "pkg/scheduler/core/incremental/score_buckets.h"
#include "pkg/scheduler/core/incremental/signature_table.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {

class PartTable {
 public:
  // Instead of an index: a predicate does not admit the part.
  static constexpr int32_t kNoPart = -1;
  // Rows that differ in nothing but RowState::score.
  struct Part {
    int32_t group, signature;
    uint32_t nodes;  // number of rows
    // The rows of an overlay; null for other special rows and for the plain rows of a group.
    const ScoreBuckets* specials;
    int64_t total;  // weighted sum of the scores that all rows of the part share
  };
  // What the parts of one template are made of. All of it must outlive the decision.
  struct Source {
    const TermLayout& layout;
    const SignatureTable& signatures;
    const LabelRules& labels;
    const LabelRules::Answers& answers;  // may be filled after Begin, but before Add
    const StaticNodeIndex& nodes;
    int64_t max_score;
  };

  // Drops all parts, and adds up the dense terms.
  void Begin(const Source& source);
  // Adds a part and returns its index, or kNoPart if a predicate does not admit it.
  int32_t Add(int32_t group, int32_t signature, const ScoreBuckets* specials, uint32_t nodes);
  // The same, but the predicates about domains are asked later (Admit), about many parts at once.
  int32_t AddCandidate(int32_t group, int32_t signature, const ScoreBuckets* specials, uint32_t nodes) {
    if (!admits_any_ || answers_->admits[static_cast<size_t>(group)] == 0) return kNoPart;
    if (specials != nullptr) {
      specials_.resize(size(), nullptr);
      specials_.push_back(specials);
    }
    groups_.push_back(group);
    part_signatures_.push_back(signature);
    nodes_of_.push_back(nodes);
    return static_cast<int32_t>(size()) - 1;
  }
  // Adds for each row, of which states[i] is the state, a candidate of its own that has no rows yet, and writes its
  // index to part_of[i]. `signature_of` has the signatures by row; if it is null, that of a row is the row plus 1.
  void AddOfEach(std::span<const Row> rows, std::span<const RowState> states, const int32_t* signature_of,
                 int32_t* part_of);
  // Drops the parts that the predicates do not admit. `part_of` are indexes of parts, which change by that; those of
  // parts that are dropped become kNoPart.
  void Admit(std::span<int32_t> part_of);
  // Sets the totals by all priorities that the rows of a part share, and returns how many rows fit. If that is at most
  // one, nothing is scored.
  uint64_t Score();

  size_t size() const { return groups_.size(); }
  bool empty() const { return groups_.empty(); }
  // Returns a part; its total is 0 before Score. REQUIRES: the index is below size().
  Part operator[](size_t part) const {
    BERTH_REQUIRES(part < size());
    return {groups_[part], part_signatures_[part], nodes_of_[part], part < specials_.size() ? specials_[part] : nullptr,
            part < totals_.size() ? totals_[part] : 0};
  }
  // Return Part::nodes, which callers may set, and Part::total, by part. REQUIRES: for the totals, Score was called,
  // and more than one row fits.
  std::vector<uint32_t>& nodes() { return nodes_of_; }
  std::span<const int64_t> totals() const { return totals_; }

 private:
  void SumUpDense();
  void AddTable(std::span<const TermLayout::Term> terms);
  void DenseSums(int32_t group, size_t width, DomainSum* sums) const;
  bool Admits(int32_t group, int32_t signature);
  template <typename T>
  void KeepAdmitted(std::vector<T>* column) const;
  template <typename Raws>
  void AddNormalised(const Normalised& how, Raws raw);
  void AddScores(const TermLayout::PlacedScoring& rule);
  void SumUp(size_t first_channel, size_t width, std::span<const size_t> slots);
  void SumUpChannel(size_t channel, std::span<const size_t> slots);
  void AddSlots(size_t slot);
  const uint32_t* PlacesOf(size_t key);

  // The Source of the current decision.
  const TermLayout* layout_ = nullptr;
  const SignatureTable* signatures_ = nullptr;
  const LabelRules* labels_ = nullptr;
  const LabelRules::Answers* answers_ = nullptr;
  const StaticNodeIndex* nodes_ = nullptr;
  int64_t max_score_ = 0;

  // The parts, a column for each member. Many decisions have a part for each row, and each step reads one or two of
  // the members of all parts.
  std::vector<int32_t> groups_, part_signatures_;
  std::vector<uint32_t> nodes_of_;
  std::vector<const ScoreBuckets*> specials_;  // ends behind the last part that has some
  std::vector<int64_t> totals_;                // empty before Score
  bool admits_any_ = true;                     // whether all checks without terms admit the pod
  // The sum of the dense terms of a channel for each domain of one key. There are few of them, and the sums of a group
  // are found with a read for each.
  struct Table {
    size_t channel, key;
    DomainChannel kind;
    // Where its sums begin in by_domain_: 0 for nodes without the label, then those of the domains of the label. So the
    // sum of a domain is at its number plus 1, and that of kNoDomain, the largest number, at 0.
    size_t begin;
  };
  std::vector<Table> tables_;         // sorted by channel
  std::vector<size_t> first_table_;   // by channel, and one more: the index in tables_
  std::vector<size_t> first_need_;    // by channel, and one more: the index in TermLayout::needs()
  std::vector<int64_t> by_domain_;    // the sums of the tables, one table after another
  std::vector<DomainSum> part_sums_;  // of one part, by channel of the checks
  std::vector<DomainSum> rule_sums_;  // by part and channel of one rule
  std::vector<int64_t> sums_;         // by part, of one channel
  // By key: the domain plus 1 of each part, for the parts of a decision.
  struct Places {
    uint64_t decision = 0;
    std::vector<uint32_t> of_part;
  };
  std::vector<Places> places_;
  uint64_t decision_ = 0;           // changes at each Begin
  std::vector<int64_t> raws_;       // by part, of one priority
  std::vector<uint32_t> domains_;   // by part and key of one priority
  std::vector<int64_t> scores_;     // of one priority, by part or by raw score
  std::vector<uint8_t> admits_;     // by part: 1 if the predicates admit it
  std::vector<int32_t> new_index_;  // by part, while parts are dropped
};

}  // namespace berth::scheduler
