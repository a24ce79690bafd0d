// The answers of the rules about the pods on each node, for one kind of pod: for each row, whether it fits, and the
// weighted sum of its scores.
//
// The answers are the same for all pods that are alike in what these rules read (RuleSet::node_pods_parts: requests,
// ports, ...). Such pods may still have different tolerations, node affinity and topology domains. Equivalence classes
// that differ only in those share one RowAnswers, so that amounts are compared and scored once for all of them.
//
// The answers are kept in a column, one value for each row, from the second time on that a large part of the rows is
// requested. The first time may be the only one, and then memory for a column would cost more than it saves. The few
// objects that were the last to be asked for most rows a first time have a column as well, each of which goes to
// another object when the next ones come (FirstColumns), unless this hardly ever saves anything.
//
// Invariant of a kept column after Refresh: it is correct for every listed row.
//
// Thread-safety: that of the Cache.
#pragma once
#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "pkg/scheduler/core/incremental/rule_set.h"
#include "pkg/scheduler/core/incremental/score_column.h"

namespace berth::scheduler {

class RowAnswers {
 public:
  // The objects whose column goes to another object unless they are asked for many rows again, in a ring. All objects
  // of a scheduler share it.
  struct FirstColumns {
    std::array<RowAnswers*, 32> holders{};
    size_t place = 0;     // where the next one enters, not yet divided by the number of places
    uint32_t listed = 0;  // how many objects did without a column
    // How many columns were taken, and how many of them were used again. The numbers are halved from time to time.
    uint32_t taken = 0, used = 0;

    // Returns whether at least one column in eight was used again.
    bool often_used() const { return used * 8 >= taken; }
  };

  // `cache` and `first_columns` must outlive the object.
  RowAnswers(Cache* cache, const RuleSet& rules, FirstColumns* first_columns, api::PodPtr pod);
  ~RowAnswers() { LeaveRing(); }
  RowAnswers(const RowAnswers&) = delete;
  RowAnswers& operator=(const RowAnswers&) = delete;

  // Erases the rows that do not fit and writes the weighted sum of the scores of each row that is left. A row may occur
  // more than once. REQUIRES: all rows are listed.
  void KeepFitting(std::vector<Row>* rows, std::vector<int32_t>* scores);
  // Calls f(place, row, score) for each of these rows that fits, in their order, and may begin to keep the answers.
  // Places are counted from 0. Returns their number. `rows` has all rows that fit by the rules about node objects, in
  // descending order of names. So that there is no branch on the answers, `f` is called for the other rows as well,
  // with the place of the next row that fits.
  template <typename F>
  size_t ListFitting(const std::vector<Row>& rows, F f) {
    const ScoreColumn* const answers = BeginListing(rows);
    if (answers == nullptr) {
      const Scratch& s = scratch();
      const Row* const fit = s.listed.data();
      const int32_t* const scores = s.listed_scores.data();
      const size_t size = s.listed.size();
      for (size_t k = 0; k < size; ++k) f(k, fit[k], scores[k]);
      return size;
    }
    return answers->Visit([&rows, f](const auto* column) {
      size_t place = 0;
      for (const Row row : rows) {
        const auto value = column[row];
        f(place, row, value);
        place += value != ScoreColumn::kDoesNotFit<std::remove_cv_t<decltype(value)>> ? 1 : 0;
      }
      return place;
    });
  }

  // Returns whether ListFitting was called with a large part of the rows before.
  bool listed() const { return listings_ > 0; }
  // Returns whether so many of the objects that were listed once were listed again, that it is likely for others, too.
  bool likely_listed_again() const { return first_columns_.used > 0 && first_columns_.often_used(); }
  // Returns false when a rule has an error to report for these pods. Then the reference scheduler must decide.
  bool usable() const { return usable_; }
  size_t bytes() const { return sizeof(*this) + column_.bytes(); }

 private:
  // Buffers that all objects of a thread share.
  struct Scratch {
    std::vector<Row> rows;
    std::vector<int32_t> scores;
    std::vector<int64_t> raw;
    std::vector<Row> listed;
    std::vector<int32_t> listed_scores;  // by position in `listed`
    ScoreColumn once;                    // the answers of all rows for one listing
  };
  static Scratch& scratch();
  bool CallRules(std::vector<Row>* rows, std::vector<int32_t>* scores);
  void Evaluate(std::vector<Row>* rows);
  void EvaluateAll(ScoreColumn* column);
  void Refresh();
  bool FirstColumnsPay();
  void EnterRing();
  void LeaveRing();
  const ScoreColumn* BeginListing(const std::vector<Row>& rows);
  const ScoreColumn* ListFirst(const std::vector<Row>& rows);
  void TakeFromColumn(std::vector<Row>* rows, std::vector<int32_t>* scores);

  static constexpr size_t kNoPlace = ~size_t{0};

  Cache* cache_;
  FirstColumns& first_columns_;
  size_t place_ = kNoPlace;  // in first_columns_
  api::PodPtr pod_;          // one of the pods that the answers are for; the prepared rules refer to it
  std::vector<std::unique_ptr<FitCheck>> checks_;
  std::vector<WeightedScoring> scores_;
  bool usable_ = true, kept_ = false;
  uint32_t listings_ = 0;

  ScoreColumn column_;
  uint64_t seen_ = 0;  // the cache's generation that the column is up to date with
};

}  // namespace berth::scheduler
