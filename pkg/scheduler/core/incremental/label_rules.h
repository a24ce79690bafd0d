// The rules about nodes that, for the pods of one template, read nothing of a node but labels with few values. They are
// taken out of the StaticNodeIndex and evaluated once for each group of nodes. Then pods whose node selectors name the
// same labels with different values share one index.
//
// Thread-safety: that of the Cache.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "pkg/scheduler/core/incremental/term_layout.h"

namespace berth::scheduler {

class LabelRules {
 public:
  // What the rules say of each group in one decision.
  struct Answers {
    std::vector<Row> rows;        // one row of each group that has rows
    std::vector<uint8_t> admits;  // by group: 1 if the predicates admit the pod
    std::vector<int64_t> raw;     // by group and priority: the raw scores
    std::vector<int64_t> column;  // the raw scores of one priority, by position in `rows`
  };

  // Finds the rules, and adds their labels to the layout's keys. There are none if grouping nodes by their labels would
  // make many groups.
  void Find(const RuleSet& rules, const PodContext& ctx, TermLayout* layout);
  // Returns the rules that the StaticNodeIndex must leave out.
  const LeftOut& left_out() const { return left_out_; }
  bool empty() const { return checks_.empty() && scorings_.empty(); }
  size_t priorities() const { return scorings_.size(); }
  const Normalised& how(size_t priority) const { return scorings_[priority].how; }

  // Empties the answers. Without predicates every one of the `groups` groups admits the pod.
  void Begin(size_t groups, Answers* answers) const;
  // Evaluates the rules for answers->rows. Returns false when one of them has an error.
  bool Evaluate(const StaticNodeIndex& nodes, Answers* answers) const;

 private:
  struct LabelScoring {
    std::unique_ptr<Scoring> scoring;
    Normalised how;
  };
  LeftOut left_out_;
  std::vector<std::unique_ptr<FitCheck>> checks_;
  std::vector<LabelScoring> scorings_;
};

}  // namespace berth::scheduler
