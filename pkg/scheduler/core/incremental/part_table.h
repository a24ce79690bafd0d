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
#include <vector>

#include "pkg/scheduler/core/incremental/label_rules.h"
#include "pkg/scheduler/core/incremental/score_buckets.h"
#include "pkg/scheduler/core/incremental/signature_table.h"

namespace berth::scheduler {

class PartTable {
 public:
  // Instead of an index: a predicate does not admit the part.
  static constexpr int32_t kNoPart = -1;
  // Rows that differ in nothing but RowState::score.
  struct Part {
    int32_t group, signature;
    uint32_t nodes;  // number of rows
    const ScoreBuckets*
        specials;       // the rows of an overlay; null for other special rows and for the plain rows of a group
    int64_t total = 0;  // weighted sum of the scores that all rows of the part share
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

  // Drops all parts, and adds up the dense terms for each group of source.nodes.
  void Begin(const Source& source);
  // Adds a part and returns its index, or kNoPart if a predicate does not admit it.
  int32_t Add(int32_t group, int32_t signature, const ScoreBuckets* specials, uint32_t nodes);
  // Sets Part::total by all priorities that the rows of a part share, and returns how many rows fit. If that is at most
  // one, nothing is scored.
  uint64_t Score();

  std::vector<Part>& parts() { return parts_; }
  const std::vector<Part>& parts() const { return parts_; }
  Part& operator[](int32_t part) { return parts_[static_cast<size_t>(part)]; }

 private:
  void SumUpGroups();
  void SumUpDense(std::span<const TermLayout::Term> terms);
  bool Admits(int32_t group, int32_t signature);
  template <typename Raws>
  void AddNormalised(const Normalised& how, Raws raw);
  void AddScores(const TermLayout::PlacedScoring& rule);
  void SumUp(const TermLayout::PlacedScoring& rule);

  // The Source of the current decision.
  const TermLayout* layout_ = nullptr;
  const SignatureTable* signatures_ = nullptr;
  const LabelRules* labels_ = nullptr;
  const LabelRules::Answers* answers_ = nullptr;
  const StaticNodeIndex* nodes_ = nullptr;
  int64_t max_score_ = 0;

  std::vector<Part> parts_;
  bool admits_any_ = true;             // whether all checks without terms admit the pod
  std::vector<DomainSum> group_sums_;  // by group and channel
  std::vector<DomainSum> part_sums_;   // of one part, by channel
  std::vector<DomainSum> rule_sums_;   // by part and channel of one priority
  std::vector<int64_t> by_domain_;     // the sums of terms with the same key and channel
  std::vector<uint32_t> domains_;      // by part and key of one priority
  std::vector<uint32_t> counts_;       // Part::nodes by part
  std::vector<int64_t> scores_;        // of one priority, by part
};

}  // namespace berth::scheduler
