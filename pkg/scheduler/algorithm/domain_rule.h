// Rules about the pods in topology domains: spreading, and affinity between pods.
//
// Such a rule declares which numbers of pods it reads for a node (its terms). The engine then adds these numbers up
// once for each group of nodes that are in the same topology domains, instead of once for each node. The rule itself is
// written once: the reference scheduler evaluates it for one node at a time, the incremental scheduler for one group at
// a time.
//
//   term      a number of pods for each topology domain, which the cache maintains, times a weight
//   channel   a place where terms are added up; a rule has one or more
//   sum       the value of one channel for one node: the total, over the terms of the channel, of the number for the
//             node's domain
//
// A predicate admits a node by the sums of its channels. A priority scores all feasible nodes at once. They are passed
// to it as parts: a part is a set of nodes that have the same sums and, for each key of the priority, the same domain.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "pkg/scheduler/algorithm/column_check.h"

namespace berth::scheduler {

// One number of pods that a rule reads for a node.
struct DomainTerm {
  std::shared_ptr<const DomainTotals> totals;  // never null
  // If not null: a node without this label gets nothing from the term, and its sum for the channel is marked
  // incomplete. REQUIRES: if totals->column() is not null, this is the same column or null.
  const LabelColumn* label = nullptr;
  int64_t weight = 1;    // not 0
  uint32_t channel = 0;  // index into channels()
};

// How the terms of a channel are combined.
enum class DomainChannel : uint8_t {
  kSum,  // the sum of weight * number
  kAny,  // 1 if the number of any term is above 0, otherwise 0; weights are ignored
};

// The value of a channel for one node.
struct DomainSum {
  int64_t value = 0;
  bool complete = true;  // whether the node has the label of every term of the channel that requires one
};

// What domain predicates and domain priorities have in common. Invariant: every term's channel is an index into
// channels().
class DomainRule {
 public:
  virtual ~DomainRule() = default;
  // Recomputes the terms, the channels and a priority's keys if they depend on objects other than the pod. The engine
  // calls it before each decision. Returns true if any of them has changed. If it returns false, the elements of
  // terms() must be at the same addresses as before, because the incremental scheduler stores pointers to them.
  virtual bool Refresh() { return false; }
  // Returns false if the rule must report an error for this pod. The incremental scheduler then leaves the pod to the
  // reference scheduler, whose calls produce the text of the error.
  virtual bool usable() const { return true; }
  const std::vector<DomainTerm>& terms() const { return terms_; }
  const std::vector<DomainChannel>& channels() const { return channels_; }

  // Writes the sums of a row, one for each channel. REQUIRES: sums.size() == channels().size().
  void SumsOf(Row row, std::span<DomainSum> sums) const;
  // Writes the sums of many rows, those of one row after those of another, faster than one by one.
  void SumsOfAll(std::span<const Row> rows, std::vector<DomainSum>* sums) const;
  // Adds the number of one term to a sum of its channel.
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

// A predicate about the pods in topology domains.
class DomainCheck : public ColumnCheck, public DomainRule {
 public:
  // Returns whether a node with these sums, one for each channel, fits. The result must depend on nothing else that
  // differs between nodes. It may depend on values that are the same for all nodes, such as a total or a minimum over
  // the domains. Not called for a predicate without channels, which fits every node.
  virtual bool Admits(std::span<const DomainSum> sums) const = 0;
  // Asks Admits about many nodes: `sums` are those of one node after those of another. Sets admits[i] to 0 where the
  // answer is no. A rule may do this faster than by one call for each.
  virtual void AdmitEach(std::span<const DomainSum> sums, std::span<uint8_t> admits) const {
    AdmitEachBy(sums, admits, [this](std::span<const DomainSum> of_node) { return Admits(of_node); });
  }

  Verdict Check(Row row) override;
  // Returns false even if there are no terms, because Refresh may add some.
  bool FitsAlways() const override { return false; }

 protected:
  // Implements AdmitEach by admits_node(the sums of a node).
  template <typename F>
  void AdmitEachBy(std::span<const DomainSum> sums, std::span<uint8_t> admits, F admits_node) const {
    const size_t width = channels_.size();
    const DomainSum* of_node = sums.data();
    for (size_t i = 0; i < admits.size(); ++i, of_node += width) {
      if (!admits_node(std::span<const DomainSum>(of_node, width))) admits[i] = 0;
    }
  }
  // Implements NumberReasons: number_of(the sums of a row) is 0 if the row fits, and stands for its reasons otherwise.
  template <typename F>
  void NumberBySums(std::span<const Row> rows, std::span<uint32_t> numbers, F number_of) {
    Refresh();
    // A predicate without channels restricts nothing.
    std::fill_n(numbers.begin(), rows.size(), 0);
    const size_t width = channels_.size();
    if (width == 0) return;
    thread_local std::vector<DomainSum> sums;
    if (terms_.empty()) {  // all sums are 0
      sums.assign(width, {});
      std::fill_n(numbers.begin(), rows.size(), number_of(std::span<const DomainSum>(sums)));
      return;
    }
    SumsOfAll(rows, &sums);
    for (size_t i = 0; i < rows.size(); ++i)
      numbers[i] = number_of(std::span<const DomainSum>(&sums[i * width], width));
  }
};

// Writes the rows in the domains where the term's number is not 0, each once and in any order, and returns true, or
// returns false if they may be more than `most`.
bool CountedRows(const DomainTerm& term, size_t most, std::vector<Row>* rows);
// The same for the one of the terms that has the fewest rows.
bool FewestCountedRows(std::span<const DomainTerm> terms, size_t most, std::vector<Row>* rows);

// The feasible nodes, grouped into parts. The values of part p are at index p, or from index p * (values per part) on.
// Several parts may have equal sums and equal domains.
struct DomainParts {
  size_t size = 0;                    // number of parts
  std::span<const DomainSum> sums;    // size * channels().size()
  std::span<const uint32_t> domains;  // size * keys().size(): the domain of the part for each key, or kNoDomain
  std::span<const uint32_t> nodes;    // the number of feasible nodes in the part; parts with 0 must be ignored
};

// A priority about the pods in topology domains.
class DomainScoring : public Scoring, public DomainRule {
 public:
  // Returns the labels by whose values the rule distinguishes nodes, in addition to the sums.
  const std::vector<const LabelColumn*>& keys() const { return keys_; }
  // Writes the final score of each part, in 0..max_score. Parts with 0 nodes must not influence other scores, and their
  // own scores are not used. REQUIRES: scores.size() == parts.size.
  //
  // Within one call, the score of a part must depend only on its own sums and domains and on the feasible nodes as a
  // whole, each with its sums and domains:
  //   - Parts with equal sums and equal domains must get equal scores. The incremental scheduler also separates nodes
  //     by the labels and the numbers of pods that other rules read, so it passes several parts that are equal for this
  //     priority, and their scores decide whether nodes of different parts tie.
  //   - Scores must not depend on the order of the parts or on the division of the nodes: a part of n nodes must count
  //     as n parts of one node with the same sums and domains. Map makes a part of each row, the incremental scheduler
  //     makes fewer and larger ones, and both must choose the same node.
  // It follows that a priority with neither terms nor keys must give every node the same score, because all sums are 0
  // and complete. The incremental scheduler relies on that: it does not call Score for such a priority and adds nothing
  // to the totals. With keys but no terms, it calls Score with sums of 0.
  virtual void Score(const DomainParts& parts, std::span<int64_t> scores) const = 0;

  // Scores each row as a part of its own. The scores are final, so Reduce has nothing to do.
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override;

 protected:
  std::vector<const LabelColumn*> keys_;
};

}  // namespace berth::scheduler
