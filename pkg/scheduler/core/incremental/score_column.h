// The score of every row, or that the pods do not fit there.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "pkg/scheduler/cache/template_info.h"
#include "pkg/util/contract.h"
#include "pkg/util/release_memory.h"

namespace berth::scheduler {

// Takes 2 bytes for each row as long as all scores fit into them, as sums of a few weighted priorities do, and 4 bytes
// from then on until Assign.
class ScoreColumn {
 public:
  // What a row has where the pods do not fit, in a column of T. No sum of scores is as low (RuleSet::scores_fit).
  template <typename T>
  static constexpr T kDoesNotFit = std::numeric_limits<T>::min();

  size_t size() const { return large_.empty() ? small_.size() : large_.size(); }
  // Makes it a column of `rows` rows where the pods do not fit.
  void Assign(size_t rows) {
    util::ReleaseMemory(&large_);
    small_.assign(rows, kDoesNotFit<int16_t>);
  }
  // REQUIRES: row < size().
  void SetDoesNotFit(Row row) {
    BERTH_REQUIRES(row < size());
    if (large_.empty()) {
      small_[row] = kDoesNotFit<int16_t>;
    } else {
      large_[row] = kDoesNotFit<int32_t>;
    }
  }
  void Set(Row row, int32_t score) {
    if (large_.empty()) [[likely]] {
      const auto cut = static_cast<int16_t>(score);
      if (cut == score && cut != kDoesNotFit<int16_t>) [[likely]] {
        small_[row] = cut;
        return;
      }
      Enlarge();
    }
    large_[row] = score;
  }
  // Sets the scores of these rows, faster than Set one by one. REQUIRES: scores[i] is that of rows[i].
  void SetAll(std::span<const Row> rows, std::span<const int32_t> scores) {
    BERTH_REQUIRES(rows.size() == scores.size());
    int32_t least = 0, most = 0;
    for (const int32_t s : scores) {
      least = std::min(least, s);
      most = std::max(most, s);
    }
    if (!large_.empty() || least <= kDoesNotFit<int16_t> || most > std::numeric_limits<int16_t>::max()) {
      for (size_t i = 0; i < rows.size(); ++i) Set(rows[i], scores[i]);
      return;
    }
    int16_t* const small = small_.data();
    for (size_t i = 0; i < rows.size(); ++i) small[rows[i]] = static_cast<int16_t>(scores[i]);
  }
  // Returns f(the scores by row), whose type is const int16_t* or const int32_t*.
  template <typename F>
  auto Visit(F f) const {
    return large_.empty() ? f(small_.data()) : f(large_.data());
  }
  void Swap(ScoreColumn& o) {
    small_.swap(o.small_);
    large_.swap(o.large_);
  }
  size_t bytes() const { return small_.capacity() * sizeof(int16_t) + large_.capacity() * sizeof(int32_t); }

 private:
  void Enlarge() {
    large_.reserve(small_.size());
    for (const int16_t score : small_) {
      large_.push_back(score == kDoesNotFit<int16_t> ? kDoesNotFit<int32_t> : score);
    }
    util::ReleaseMemory(&small_);
  }

  // One of them is empty.
  std::vector<int16_t> small_;
  std::vector<int32_t> large_;
};

}  // namespace berth::scheduler
