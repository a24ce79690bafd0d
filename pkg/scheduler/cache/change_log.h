// The log of the rows that have changed, from which readers bring up to date what they keep between decisions.
//
// Each change has a generation, which grows by one. The log has the last changes of all kinds, and for longer the
// changes of node objects alone, which are rarer.
//
// Thread-safety: that of the Cache, which owns the log.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "pkg/scheduler/cache/template_info.h"

namespace berth::scheduler {

class ChangeLog {
 public:
  // Returns the generation of the latest change; 0 when there is none.
  uint64_t generation() const { return generation_; }
  // Enters a change of the row, and returns its generation. `previous` is the generation of the row's change before, or
  // 0 when there is none. The log is made large enough for one change of each of `rows` rows.
  uint64_t Enter(Row row, bool node_changed, uint64_t previous, size_t rows);

  // Calls f(row, node_changed) for the rows that changed after the given generation, in the order of their last
  // changes. `node_changed` says whether the node object changed and not only the pods on it. A row may come more than
  // once if its node object changed. Returns false, without any call, when the log does not reach that far back; the
  // caller must then look at all rows.
  template <typename F>
  bool Since(uint64_t generation, F f) const {
    if (!Reaches(generation)) return generation == generation_;
    for (uint64_t g = generation + 1; g <= generation_; ++g) {
      const uint32_t change = changes_[g & (changes_.size() - 1)];
      if ((change & kSuperseded) == 0) f(Row{change / kOneRow}, (change & kNodeChanged) != 0);
    }
    return true;
  }
  // The same with the rows in a list, which is made without a branch for each change. The list is empty if the result
  // is false.
  bool RowsSince(uint64_t generation, std::vector<Row>* rows) const {
    rows->clear();
    if (!Reaches(generation)) return generation == generation_;
    rows->resize(generation_ - generation);
    size_t kept = 0;
    for (uint64_t g = generation + 1; g <= generation_; ++g) {
      const uint32_t change = changes_[g & (changes_.size() - 1)];
      (*rows)[kept] = change / kOneRow;
      kept += (change & kSuperseded) == 0 ? 1 : 0;
    }
    rows->resize(kept);
    return true;
  }
  // Calls f(row) for each change of a node object after the given generation, oldest first; otherwise like Since.
  template <typename F>
  bool NodesSince(uint64_t generation, F f) const {
    if (generation < node_changes_forgotten_) return false;
    auto it = std::lower_bound(node_changes_.begin(), node_changes_.end(), generation + 1,
                               [](const auto& change, uint64_t g) { return change.first < g; });
    for (; it != node_changes_.end(); ++it) f(it->second);
    return true;
  }

 private:
  // Returns whether changes_ has all changes after the given generation, and at least one.
  bool Reaches(uint64_t generation) const {
    return generation_ - generation < changes_.size() && generation >= changes_forgotten_;
  }
  void Grow(size_t rows);

  uint64_t generation_ = 0;
  // Invariant: the change with generation g is at changes_[g % changes_.size()] as row * kOneRow plus bits, for the
  // last changes_.size() generations; the size is a power of two. A change is superseded if the row has changed again
  // and its node object did not change the first time: whoever reads the change reads the later one as well.
  static constexpr uint32_t kNodeChanged = 1, kSuperseded = 2, kOneRow = 4;
  std::vector<uint32_t> changes_;
  uint64_t changes_forgotten_ = 0;  // changes_ lacks changes up to this generation, because it was smaller then
  std::vector<std::pair<uint64_t, Row>> node_changes_;  // generation and row, ascending by generation
  uint64_t node_changes_forgotten_ = 0;                 // node_changes_ lacks changes up to this generation
};

}  // namespace berth::scheduler
