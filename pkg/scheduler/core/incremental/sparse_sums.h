// Adds up the sparse terms of a layout for rows, which gives the rows' signatures (term_layout.h). The object holds
// nothing but buffers, so one of them serves the layouts of all templates in turn.
//
// Thread-safety: that of the Cache.
#pragma once
#include <absl/functional/function_ref.h>

#include <cstdint>
#include <span>
#include <vector>

#include "pkg/scheduler/core/incremental/term_layout.h"

namespace berth::scheduler {

class SparseSums {
 public:
  // Returns the signature of a row. Valid until the next call.
  std::span<const int64_t> Of(const TermLayout& layout, Row row);
  // Calls f(row, signature) once for each row that may have a signature other than 0, and at least for those that have
  // one. If few rows are counted, it does not go through all of them. REQUIRES: all rows are below `rows`.
  void ForEach(const TermLayout& layout, size_t rows, absl::FunctionRef<void(Row, std::span<const int64_t>)> f);
  // Returns whether so many of the rows are counted that OfAll costs less than to look for each of them.
  static bool AreMany(const TermLayout& layout, size_t rows);
  // Returns the signatures of all rows below `rows`: as many values of 0 as a signature has, then those of row 0, of
  // row 1, ... Valid until the next call; may be swapped with another vector.
  std::vector<int64_t>* OfAll(const TermLayout& layout, size_t rows);
  // Calls f(row, signature) for each row whose signature in `all`, which OfAll has returned, is not 0.
  template <typename F>
  static void ForEachIn(const std::vector<int64_t>& all, size_t width, F f) {
    const int64_t* values = all.data() + width;
    const auto rows = static_cast<Row>(all.size() / width - 1);
    for (Row row = 0; row < rows; ++row, values += width) {
      int64_t any = 0;
      for (size_t i = 0; i < width; ++i) any |= values[i];
      if (any != 0) f(row, std::span<const int64_t>(values, width));
    }
  }

 private:
  int64_t& ValueOf(Row row, size_t slot, size_t width);
  void AddToAll(const TermLayout& layout, const TermLayout::Term& term, int64_t* values);

  std::vector<int64_t> signature_;  // the result of Of
  std::vector<Row> added_;          // the rows that ForEach has met
  std::vector<uint32_t> added_at_;  // by row: 1 + the place of its sums in values_, or 0
  std::vector<int64_t> values_;
};

}  // namespace berth::scheduler
