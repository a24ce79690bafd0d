// Rules about the pods in topology domains: spreading, and affinity between pods.
//
// Such a rule says which numbers of pods it reads for a node (its terms), and the engine adds them up for groups of
// nodes that share their domains instead of for each node. The rule itself is written once: the reference scheduler
// evaluates it for one node at a time, the incremental scheduler for one group at a time.
//
//   term      a number for each topology domain, kept by the cache, times a weight
//   channel   where terms are added up; a rule has one or more
//   sum       the value of one channel for one node: over the terms of the channel, the number of the node's domain
//
// A predicate admits a node by the sums of its channels. A priority scores all feasible nodes at once, given as parts:
// a part is a number of nodes that look the same to the rule.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler {

struct DomainTerm {
  std::shared_ptr<const DomainTotals> totals;  // never null
  // For nodes without this label the term adds nothing and makes the channel's sum incomplete; null: every node counts.
  const LabelColumn* label = nullptr;
  int64_t weight = 1;  // not 0
  uint16_t channel = 0;
};

enum class DomainChannel : uint8_t {
  kSum,  // adds weight times number
  kAny,  // is 1 when any term's number is above 0, else 0
};

struct DomainSum {
  int64_t value = 0;
  bool complete = true;  // the node has the label of every term of the channel
};

class DomainRule {
 public:
  virtual ~DomainRule() = default;
  // Looks again which terms there are, where that depends on objects other than the pod. Returns true when they are
  // others than before. The engine calls it before it reads the terms for a decision.
  virtual bool Refresh() { return false; }
  // Returns false when the rule has an error to report for this pod, which only the reference scheduler words.
  virtual bool usable() const { return true; }
  const std::vector<DomainTerm>& terms() const { return terms_; }
  const std::vector<DomainChannel>& channels() const { return channels_; }

  // Writes the sums of a row, one for each channel. REQUIRES: `sums` has channels().size() places.
  void SumsOf(Row row, std::span<DomainSum> sums) const;
  // Adds the number of one term to the sum of its channel.
  static void AddTo(DomainSum* sum, DomainChannel channel, const DomainTerm& term, int64_t number) {
    if (channel == DomainChannel::kSum) {
      sum->value += term.weight * number;
    } else if (number > 0) {
      sum->value = 1;
    }
  }

 protected:
  std::vector<DomainTerm> terms_;
  std::vector<DomainChannel> channels_;
};

class DomainCheck : public FitCheck, public DomainRule {
 public:
  // Returns whether a node with these sums fits, one sum for each channel. May read what the rule knows of all domains,
  // such as a total or a minimum.
  virtual bool Admits(std::span<const DomainSum> sums) const = 0;

  Verdict Check(Row row) override;
  // A pod that reads no number fits everywhere.
  bool FitsAlways() const override { return false; }
};

// Feasible nodes in parts. The arrays have one place, or one row of places, for each part.
struct DomainParts {
  size_t size = 0;
  std::span<const DomainSum> sums;    // size * channels
  std::span<const uint32_t> domains;  // size * keys: the part's domain for each of the rule's keys, or kNoDomain
  std::span<const uint32_t> nodes;    // how many feasible nodes the part has; a part with 0 is left out of everything
};

class DomainScoring : public Scoring, public DomainRule {
 public:
  // The labels by whose values the rule groups nodes, in addition to the sums.
  const std::vector<const LabelColumn*>& keys() const { return keys_; }
  // Writes the final score of each part, 0..max_score.
  virtual void Score(const DomainParts& parts, std::span<int64_t> scores) const = 0;

  // Scores every row as a part of its own, finally: there is nothing left to reduce.
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override;

 protected:
  std::vector<const LabelColumn*> keys_;
};

}  // namespace berth::scheduler
