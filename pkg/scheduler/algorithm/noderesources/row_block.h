// Loops over the amounts of many rows, written so that compilers generate vector instructions for them.
//
// Rules about resources perform the same few operations for every row. If the rows of a block lie close together in the
// columns, as those of nodes with consecutive names do, the loops run over the whole range, including the few rows in
// between that do not belong to the block, and the results are picked afterwards. Otherwise, the values of the rows are
// gathered first.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "pkg/scheduler/cache/cache.h"
#include "pkg/util/contract.h"
#include "pkg/util/wide_vectors.h"

namespace berth::scheduler::noderesources {

// Up to kMostRows rows, with access to the values of columns for them. Invariant: if dense_, the block has the values_
// consecutive rows from first_ on; otherwise it has the values_ == rows() rows themselves, in their order.
class RowBlock {
 public:
  static constexpr size_t kMostRows = 128, kMostValues = 2 * kMostRows;
  using Amounts = int64_t[kMostValues];

  // REQUIRES: `rows` is not empty, has at most kMostRows elements, and outlives the block.
  explicit RowBlock(std::span<const Row> rows) : rows_(rows) {
    BERTH_REQUIRES(!rows.empty() && rows.size() <= kMostRows);
    Row least = rows[0], most = rows[0];
    util::RunLoops([&least, &most, of = rows.data(), size = rows.size()]() BERTH_LOOPS {
      Row low = least, high = most;
      for (size_t i = 0; i < size; ++i) {
        low = of[i] < low ? of[i] : low;
        high = of[i] > high ? of[i] : high;
      }
      least = low;
      most = high;
    });
    const size_t range = size_t{most - least} + 1;
    dense_ = range <= 2 * rows.size();
    first_ = least;
    values_ = dense_ ? range : rows.size();
  }
  size_t rows() const { return rows_.size(); }
  // Returns the number of values that Values() returns, at most kMostValues.
  size_t size() const { return values_; }
  // Returns the block's values of a column. `buffer` receives them if they must be gathered, and must outlive their
  // use.
  const int64_t* Values(const int64_t* column, Amounts& buffer) const {
    if (dense_) return column + first_;
    for (size_t i = 0; i < rows_.size(); ++i) buffer[i] = column[rows_[i]];
    return buffer;
  }
  // Writes to out[i], for each row i of the block, the element of `values` that belongs to this row.
  template <typename From, typename To>
  void Pick(const From* values, To* out) const {
    if (dense_) {
      for (size_t i = 0; i < rows_.size(); ++i) out[i] = static_cast<To>(values[rows_[i] - first_]);
    } else {
      for (size_t i = 0; i < rows_.size(); ++i) out[i] = static_cast<To>(values[i]);
    }
  }

 private:
  std::span<const Row> rows_;
  bool dense_;     // the values of the whole range are used
  Row first_;      // the smallest row
  size_t values_;  // size()
};

// For at most this many rows, as they change from one pod to the next, a block costs more than it saves.
constexpr size_t kFewRows = 24;

// Calls f(block, index of the block's first row in `rows`) for consecutive blocks that cover all rows.
template <typename F>
void ForBlocks(std::span<const Row> rows, F f) {
  for (size_t i = 0; i < rows.size(); i += RowBlock::kMostRows) {
    f(RowBlock(rows.subspan(i, std::min(RowBlock::kMostRows, rows.size() - i))), i);
  }
}

// Returns the value as a double. Unlike a cast, this also has a vector form on processors without 64-bit integer
// conversions. REQUIRES: 0 <= value < 2^52.
inline double ExactDouble(int64_t value) {
  BERTH_REQUIRES(value >= 0 && value < int64_t{1} << 52);
  constexpr uint64_t kExponent = 0x4330000000000000;  // the bits of the double 2^52
  return std::bit_cast<double>(static_cast<uint64_t>(value) | kExponent) - 0x1p52;
}

// Non-negative amounts below this limit are exact as doubles, even when multiplied by a score.
constexpr uint64_t kExactAmount = uint64_t{1} << 46;

// For each value of a block: what is requested of a resource if the pod is added, and what is allocatable, as doubles.
class ExactAmounts {
 public:
  // `buffers` points to two buffers, which must outlive the object.
  ExactAmounts(const RowBlock& block, const int64_t* used, int64_t wanted, const int64_t* capacity,
               RowBlock::Amounts* buffers)
      : used_(block.Values(used, buffers[0])),
        capacity_(block.Values(capacity, buffers[1])),
        wanted_(wanted),
        size_(block.size()) {}
  // Returns whether all amounts of both objects are non-negative and below kExactAmount. Amounts from half of it on may
  // be refused. REQUIRES: both are of the same block.
  static bool Exact(const ExactAmounts& a, const ExactAmounts& b) {
    BERTH_REQUIRES(a.size_ == b.size_);
    uint64_t bits = 0;
    util::RunLoops([&bits, a, b]() BERTH_LOOPS {
      auto all = static_cast<uint64_t>(a.wanted_) | static_cast<uint64_t>(b.wanted_);
      for (size_t i = 0; i < a.size_; ++i) {
        all |= static_cast<uint64_t>(a.used_[i]) | static_cast<uint64_t>(a.capacity_[i]) |
               static_cast<uint64_t>(b.used_[i]) | static_cast<uint64_t>(b.capacity_[i]);
      }
      bits = all;
    });
    // What is used and what is wanted are each below half of the limit, so their sum is below it.
    return bits < kExactAmount / 2;
  }
  bool exact() const { return Exact(*this, *this); }
  // REQUIRES: Exact returned true for the object.
  double requested(size_t i) const {
    BERTH_REQUIRES(static_cast<uint64_t>(Sum(i)) < kExactAmount);
    return ExactDouble(Sum(i));
  }
  double capacity(size_t i) const {
    BERTH_REQUIRES(static_cast<uint64_t>(capacity_[i]) < kExactAmount);
    return ExactDouble(capacity_[i]);
  }

 private:
  // The sum can only wrap if one of the operands is out of range, which Exact notices.
  int64_t Sum(size_t i) const {
    return static_cast<int64_t>(static_cast<uint64_t>(used_[i]) + static_cast<uint64_t>(wanted_));
  }
  const int64_t* used_;
  const int64_t* capacity_;
  int64_t wanted_;
  size_t size_;
};

// One resource of which there must be enough: a row has too little if capacity - used - wanted is negative.
struct Sufficient {
  const int64_t* used;
  const int64_t* capacity;
  int64_t wanted;
};

// Sums and differences of non-negative amounts below this limit fit into 64 bits.
constexpr uint64_t kLargeAmount = uint64_t{1} << 61;

// Compares N resources for each value of a block. If `together`, writes the bitwise OR of the differences, which is
// negative if there is too little of any resource. Otherwise writes a number whose bit i is set if there is too little
// of resource i. Returns the bitwise OR of all amounts; if it is at least kLargeAmount, what was written is
// meaningless.
template <size_t N, bool together>
uint64_t Compare(const RowBlock& block, const Sufficient* resources, RowBlock::Amounts& out) {
  struct Columns {
    const int64_t* used[N];
    const int64_t* capacity[N];
    uint64_t wanted[N];
  } columns;
  RowBlock::Amounts buffers[2 * N];
  uint64_t bits = 0;
  for (size_t r = 0; r < N; ++r) {
    columns.used[r] = block.Values(resources[r].used, buffers[2 * r]);
    columns.capacity[r] = block.Values(resources[r].capacity, buffers[2 * r + 1]);
    columns.wanted[r] = static_cast<uint64_t>(resources[r].wanted);
    bits |= columns.wanted[r];
  }
  // The lambda captures copies that no write can alias, so that the compiler sees a plain loop.
  util::RunLoops([&bits, columns, size = block.size(), to = +out]() BERTH_LOOPS {
    uint64_t all = bits;
    for (size_t i = 0; i < size; ++i) {
      uint64_t found = 0;
      for (size_t r = 0; r < N; ++r) {
        const auto u = static_cast<uint64_t>(columns.used[r][i]), c = static_cast<uint64_t>(columns.capacity[r][i]);
        all |= u | c;
        const uint64_t difference = c - u - columns.wanted[r];
        found |= together ? difference : difference >> 63 << r;
      }
      to[i] = static_cast<int64_t>(found);
    }
    bits = all;
  });
  return bits;
}
// Selects the instance for the number of resources. REQUIRES: there are 1 to 5 resources.
template <bool together>
uint64_t Compare(const RowBlock& block, std::span<const Sufficient> resources, RowBlock::Amounts& out) {
  BERTH_REQUIRES(!resources.empty() && resources.size() <= 5);
  switch (resources.size()) {
    case 1:
      return Compare<1, together>(block, resources.data(), out);
    case 2:
      return Compare<2, together>(block, resources.data(), out);
    case 3:
      return Compare<3, together>(block, resources.data(), out);
    case 4:
      return Compare<4, together>(block, resources.data(), out);
    default:
      return Compare<5, together>(block, resources.data(), out);
  }
}

// Erases the rows that have too little of at least one resource and keeps the order of the others. `fits` decides
// single rows: a few, and those of blocks in which an amount is negative or too large. REQUIRES: there are 1 to 5
// resources.
template <typename Fits>
void KeepSufficient(std::span<const Sufficient> resources, std::vector<Row>* rows, Fits fits) {
  BERTH_REQUIRES(!resources.empty() && resources.size() <= 5);
  if (rows->size() <= kFewRows) {
    std::erase_if(*rows, [&](Row row) { return !fits(row); });
    return;
  }
  size_t kept = 0;
  ForBlocks(*rows, [&](const RowBlock& block, size_t at) {
    const size_t size = block.size(), rows_of_block = block.rows();
    RowBlock::Amounts lacking;  // negative: too little of one of the resources
    const uint64_t bits = Compare<true>(block, resources, lacking);
    const Row* in = rows->data() + at;
    Row* out = rows->data() + kept;
    if (bits >= kLargeAmount) {
      for (size_t i = 0; i < rows_of_block; ++i) {
        if (fits(in[i])) *out++ = in[i];
      }
    } else {
      int64_t any = 0, all = -1;
      for (size_t i = 0; i < size; ++i) {
        any |= lacking[i];
        all &= lacking[i];
      }
      // Most blocks fit entirely or not at all, and then need no decision for each row.
      if (all < 0) return;
      if (any >= 0) {
        out = in == out ? out + rows_of_block : std::copy_n(in, rows_of_block, out);
      } else {
        RowBlock::Amounts in_order;
        block.Pick(lacking, in_order);
        for (size_t i = 0; i < rows_of_block; ++i) {
          *out = in[i];
          out += in_order[i] >= 0 ? 1 : 0;
        }
      }
    }
    kept = static_cast<size_t>(out - rows->data());
  });
  rows->resize(kept);
}

// Writes, for each row, a number whose bit i is set if there is too little of resource i. `number_of` decides single
// rows of blocks in which an amount is negative or too large. REQUIRES: there are 1 to 5 resources.
template <typename NumberOf>
void NumberLacking(std::span<const Sufficient> resources, std::span<const Row> rows, std::span<uint32_t> numbers,
                   NumberOf number_of) {
  BERTH_REQUIRES(!resources.empty() && resources.size() <= 5);
  BERTH_REQUIRES(numbers.size() >= rows.size());
  ForBlocks(rows, [&](const RowBlock& block, size_t at) {
    RowBlock::Amounts found;
    const uint64_t bits = Compare<false>(block, resources, found);
    if (bits < kLargeAmount) return block.Pick(found, &numbers[at]);
    for (size_t i = 0; i < block.rows(); ++i) numbers[at + i] = number_of(rows[at + i]);
  });
}

}  // namespace berth::scheduler::noderesources
