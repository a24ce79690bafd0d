// The rows that fit, listed for one decision with their states and parts. Used for the first pod of a class, for which
// building the class would cost more, and where rules must be called for every row. The parts are those of a decision
// by parts; the difference is that the rows of each part are listed instead of kept in buckets.
//
// One decision calls List, Mark for each special row, FindParts, perhaps Filter, CountRows, and then, when the parts
// are scored, FindTies and Chosen. The list keeps its buffers, so that decisions allocate nothing.
//
// A decision that looks at a part of the nodes (sampled_walk.h) is made of the same steps. Which rows fit does not
// depend on the walk; what does is how many rows of each part there are, which normalisation and the sizes of domains
// follow. If the class is built and no rule has to be called, WalkedRows makes the walk in place of List and FindParts,
// and Take lists its rows for a filter that comes after the search of the release (extenders), or for scores. Otherwise
// KeepWalked makes the walk among the rows that List, FindParts and Filter have left.
//
// Thread-safety: that of the Cache.
#pragma once
#include <absl/functional/function_ref.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "pkg/scheduler/core/incremental/equivalence_class.h"
#include "pkg/scheduler/core/incremental/part_table.h"
#include "pkg/scheduler/core/incremental/sampled_walk.h"
#include "pkg/scheduler/core/incremental/walked_rows.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {

class RowList {
 public:
  // Rules that have to be called for every row of every pod. `filter` erases rows where the pod may not go; `score`
  // adds to the totals of the given rows. Either returns false when the reference scheduler must decide. A null pointer
  // stands for no rules.
  struct Extra {
    using Filter = absl::FunctionRef<bool(RowSet*)>;
    using Score = absl::FunctionRef<bool(std::span<const Row>, std::span<int64_t>)>;
    const Filter* filter = nullptr;
    const Score* score = nullptr;
    // If not null, only the rows that this walk finds are there. `narrow` is a filter of those.
    SampledWalk* walk = nullptr;
    const Filter* narrow = nullptr;
    // If not null, only these rows are there. They fit by the rules about nodes and the pods on them.
    const RowSet* among = nullptr;
  };

  // Lists the rows that fit by the rules about nodes and the pods on them, in descending order of names. A class that
  // is built says which rows these are; for one that is not, all rows are looked at. No row is special yet. If `among`
  // is not null, only its rows are listed. A class that is built must be up to date. REQUIRES: if `among` is not null,
  // the class is built; its rows are some of those that fit by it.
  void List(const Cache& cache, EquivalenceClass* rows, const RowSet* among);
  // Drops all rows. No row is special yet.
  void Begin(const Cache& cache);
  // Lists the rows that a walk has found, for rules that have to be called for each. They are yet to be counted.
  // To be called after Begin.
  void Take(const WalkedRows& walked, PartTable* parts);
  // Returns by row the signatures that were marked, and a number above all of them.
  std::span<const int32_t> marked() const { return signature_of_; }
  size_t marked_signatures() const { return static_cast<size_t>(signatures_); }
  // Puts the listed rows into the order of the walk, erases those that it does not find, and sets what it has found.
  void KeepWalked(const Cache& cache, SampledWalk* walk);
  // Says that the row, which need not be listed, has a signature other than 0.
  void Mark(Row row, int32_t signature) {
    with_signature_.push_back(row);
    signature_of_[row] = signature;
    signatures_ = std::max(signatures_, signature + 1);
  }
  // Says that each row has a signature of its own, whose number is the row plus 1, and with it a part of its own.
  void MarkAll() { marked_all_ = true; }
  // Returns whether rows of so many groups with so many signatures would be looked for in a table of parts. If not,
  // each row that fits gets a part of its own.
  bool HasTable(size_t groups, size_t signatures) const;
  bool marked_all() const { return marked_all_; }
  // Appends one row of each group that has a listed row.
  void AppendOneOfEach(size_t groups, std::vector<Row>* out) const;
  // Adds the parts of the listed rows to the table and erases rows whose part is not admitted.
  void FindParts(const StaticNodeIndex& nodes, PartTable* parts);
  // Erases the listed rows that `filter` erases. Returns false when the reference scheduler must decide.
  bool Filter(const Cache& cache, const Extra::Filter& filter);
  // Sets the numbers of rows of the parts.
  void CountRows(PartTable* parts) const;
  // Finds the rows with the best total, to which `score` adds unless it is null. Returns false when `score` fails.
  bool FindTies(const PartTable& parts, const Extra::Score* score);

  const std::vector<Row>& rows() const { return rows_; }
  size_t ties() const { return ties_.size(); }
  // Returns the row that round robin gives turn `turn`. REQUIRES: ties() is not 0.
  Row Chosen(uint64_t turn) const {
    BERTH_REQUIRES(!ties_.empty());
    return rows_[ties_[turn % ties_.size()]];
  }
  // The same for rows in another order than that of ranks.
  Row ChosenByRank(const Cache& cache, uint64_t turn);

 private:
  static constexpr int32_t kNotLooked = -2;  // instead of an index of a part
  void ForgetParts(size_t groups);
  bool LookUpParts(PartTable* parts);
  int32_t PartFor(int32_t group, int32_t signature, PartTable* parts);
  // The same, without a branch on whether the row is special.
  int32_t PartInTable(int32_t group, int32_t signature, PartTable* parts) {
    const auto place = static_cast<size_t>(group) * static_cast<size_t>(signatures_) + static_cast<size_t>(signature);
    if (place >= places_) return PartFor(group, signature, parts);
    const int32_t part = part_table_[place];
    return part == kNotLooked ? PartFor(group, signature, parts) : part;
  }
  void Resize(size_t size);
  void FindTiesOfOnePart();
  template <typename T, typename Of>
  void TakeTies(size_t size, T best, Of of);

  std::vector<Row> rows_;
  std::vector<EquivalenceClass::RowState> states_;  // by position in rows_
  std::vector<int32_t> part_of_;                    // by position in rows_; empty if all rows are in one part
  std::vector<int32_t> signature_of_;               // by row; 0 for all rows that are not in with_signature_
  std::vector<Row> with_signature_;
  int32_t signatures_ = 1;  // a number above those of all signatures
  bool alone_ = false;      // whether each row has a part of its own
  bool marked_all_ = false;
  // The index of the part by group and signature: of the plain rows; of others in the table.
  std::vector<int32_t> plain_part_, part_table_;
  size_t places_ = 0;            // how many places of part_table_ are used
  std::vector<size_t> looked_;   // those of them that have a part
  std::vector<int64_t> totals_;  // by position in rows_
  std::vector<uint32_t> ties_;   // positions in rows_
  RowSet candidates_;
};

}  // namespace berth::scheduler
