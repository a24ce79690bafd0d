// The labels of nodes that say in which zone and region they are, as columns. Thread-safety: that of the Cache.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler::volumes {

class ZoneColumns {
 public:
  static constexpr size_t kCount = 4;
  // The labels by index. The label that replaces a beta label is two places behind it.
  static const std::array<Symbol, kCount>& Labels();
  // A label by index, and the values of which a node must have one.
  using Demand = std::pair<size_t, std::vector<Symbol>>;
  // Returns what the labels of a volume demand of a node, in the order of Labels(). The values of a label stand between
  // "__"; a label with an empty one is ignored.
  static std::vector<Demand> DemandsOf(const api::PersistentVolume& volume);

  explicit ZoneColumns(const Cache& cache);
  const LabelColumn& operator[](size_t index) const { return *columns_[index]; }
  bool Has(size_t index, Row row) const { return columns_[index]->Domain(row) != LabelColumn::kNoDomain; }
  // Returns whether the node has none of the labels.
  bool HasNone(Row row) const { return HasNone(row, kCount); }
  // Erases the rows of nodes that have one of the first `labels` labels but not what all demands want. REQUIRES: the
  // demands are about these labels.
  void KeepMeeting(std::span<const Demand> demands, size_t labels, RowSet* rows) const;
  // Returns those of the rows whose nodes have none of the first `labels` labels.
  RowSet Without(const RowSet& rows, size_t labels) const;

 private:
  bool HasNone(Row row, size_t labels) const {
    for (size_t i = 0; i < labels; ++i) {
      if (Has(i, row)) return false;
    }
    return true;
  }

  const Cache& cache_;
  std::array<const LabelColumn*, kCount> columns_;
};

}  // namespace berth::scheduler::volumes
