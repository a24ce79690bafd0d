// What a program that embeds the engine adds to its decisions: rules of its own for whole columns of nodes, and its own
// choice among the nodes that fit (pkg/capi). A scheduler without a guest decides as its release does.
//
// Thread-safety: that of the scheduler.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler {

class Guest {
 public:
  virtual ~Guest() = default;
  // Whether the guest has rules that reject nodes, and whether it chooses among the nodes that fit.
  virtual bool Filters() const = 0;
  virtual bool Chooses() const = 0;
  // Erases the rows where the pod may not go. If `rejected` is not null, each row that was erased is appended to it
  // with the rule that rejected it first. Returns false if a rule failed; Error() then says how.
  struct Rejected {
    Row row;
    Symbol rule;
  };
  virtual bool Filter(const api::PodPtr& pod, RowSet* rows, std::vector<Rejected>* rejected) = 0;
  // Chooses one of at least two rows that fit, whose totals by the rules of the release are given. Returns its index,
  // and in `ties` how many rows were as good, or nothing if a rule failed; Error() then says how. `turn` is the
  // round-robin counter, which the scheduler advances.
  virtual std::optional<size_t> Choose(const api::PodPtr& pod, std::span<const Row> rows,
                                       std::span<const int64_t> totals, uint64_t turn, size_t* ties) = 0;
  // Returns why the last rule that failed did; empty if none failed since the last call of Begin.
  virtual const std::string& Error() const = 0;
  // Called when a decision begins.
  virtual void Begin() = 0;
};

// Which nodes a pod fits now, and their totals by the rules of the release.
struct Evaluation {
  RowSet fits;
  std::vector<Row> rows;        // those of `fits`; empty if fewer than two rows fit, because they are not scored then
  std::vector<int64_t> totals;  // totals[i] is that of rows[i]
  std::string error;            // if not empty, the pod cannot be evaluated
  std::vector<int64_t> scores;  // memory for the scores of one rule
};

// The scores of one priority.
struct RuleScores {
  const std::string* name;
  int64_t weight;
  const std::vector<int64_t>* scores;  // by the rows asked about, from 0 to the release's maximum
};

}  // namespace berth::scheduler
