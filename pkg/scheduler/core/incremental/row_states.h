// The state of every row for one class of pods. There is one for each class, and decisions read and write it at random
// rows, so it should be small.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "pkg/scheduler/cache/template_info.h"
#include "pkg/util/contract.h"
#include "pkg/util/release_memory.h"
#include "pkg/util/wide_vectors.h"

namespace berth::scheduler {

struct RowState {
  int32_t group = -1;  // group in the StaticNodeIndex; -1: the pods do not fit
  int32_t score = 0;   // weighted sum of the priorities that depend on no other row; 0 if the pods do not fit
  friend bool operator==(const RowState&, const RowState&) = default;
};

// A vector of RowState by row. It takes 2 bytes for each row as long as there are few groups and the scores lie near
// each other, 4 bytes as long as there are not thousands of groups nor very large scores, and 8 bytes otherwise. A
// state that does not fit makes all states wider until the vector is cleared.
class RowStates {
 public:
  // The states by row, in one of the three forms.
  template <typename T>
  class Packed;
  class Wide;

  bool empty() const { return tiny_.empty() && small_.empty() && large_.empty(); }
  size_t size() const { return !tiny_.empty() ? tiny_.size() : !small_.empty() ? small_.size() : large_.size(); }
  // REQUIRES: row < size().
  RowState operator[](Row row) const {
    BERTH_REQUIRES(row < size());
    return At(row);
  }
  // Returns the state of the row, or RowState{} if row >= size().
  RowState At(Row row) const {
    if (row < tiny_.size()) [[likely]]
      return Unpack(tiny_[row], least_);
    if (row < small_.size()) return Unpack(small_[row], kLeastOfFour);
    return row < large_.size() ? large_[row] : RowState{};
  }
  // REQUIRES: row < size(); `state` is RowState{} if its group is -1.
  void Set(Row row, const RowState& state) {
    BERTH_REQUIRES(row < size());
    if (!tiny_.empty()) [[likely]] {
      if (Fits<uint16_t>(state, least_)) [[likely]] {
        tiny_[row] = Pack<uint16_t>(state, least_);
        return;
      }
      Widen(&tiny_, least_, &small_);
    }
    if (!small_.empty()) {
      if (Fits<uint32_t>(state, kLeastOfFour)) [[likely]] {
        small_[row] = Pack<uint32_t>(state, kLeastOfFour);
        return;
      }
      Widen(&small_, kLeastOfFour, &large_);
    }
    large_[row] = state;
  }
  // Sets the states of these rows, faster than Set one by one. REQUIRES: states[i], for rows[i], is as for Set and
  // within the bounds that Resize was given, and nothing was set since.
  void SetAll(std::span<const Row> rows, std::span<const RowState> states) {
    BERTH_REQUIRES(rows.size() == states.size());
    if (!tiny_.empty()) return PackAll(rows, states, least_, tiny_.data());
    if (!small_.empty()) return PackAll(rows, states, kLeastOfFour, small_.data());
    for (size_t i = 0; i < rows.size(); ++i) large_[rows[i]] = states[i];
  }
  void Clear() {
    tiny_.clear();
    small_.clear();
    large_.clear();
  }
  // Makes room for `rows` rows, which the pods do not fit, in the form that suits states of which no group is above
  // that of `low` and `high`, and no score is below that of `low` or above that of `high`. REQUIRES: it is empty.
  void Resize(size_t rows, const RowState& low, const RowState& high) {
    BERTH_REQUIRES(empty());
    least_ = LeastFor(low.score, high.score);
    if (least_ >= kLeastOfFour && least_ < -kLeastOfFour - kScoresOfTwo && Fits<uint16_t>(low, least_) &&
        Fits<uint16_t>(high, least_)) {
      UseOnly(&tiny_, rows);
    } else if (Fits<uint32_t>(low, kLeastOfFour) && Fits<uint32_t>(high, kLeastOfFour)) {
      UseOnly(&small_, rows);
    } else {
      UseOnly(&large_, rows);
    }
  }
  // Makes room for more rows, which the pods do not fit. REQUIRES: it is not empty; rows >= size().
  void Grow(size_t rows) {
    BERTH_REQUIRES(!empty() && rows >= size());
    if (!tiny_.empty()) {
      tiny_.resize(rows);
    } else if (!small_.empty()) {
      small_.resize(rows);
    } else {
      large_.resize(rows);
    }
  }
  // Lets the processor fetch the state of the row, if there is one.
  void Prefetch(Row row) const {
    if (row < tiny_.size()) {
      __builtin_prefetch(&tiny_[row]);
    } else if (row < small_.size()) {
      __builtin_prefetch(&small_[row]);
    } else if (row < large_.size()) {
      __builtin_prefetch(&large_[row]);
    }
  }
  // Returns f(the states by row), which are Packed or Wide.
  template <typename F>
  auto Visit(F f) const;
  size_t bytes() const {
    return tiny_.capacity() * sizeof(uint16_t) + small_.capacity() * sizeof(uint32_t) +
           large_.capacity() * sizeof(RowState);
  }

 private:
  // A packed state is 0 if the pods do not fit. Otherwise the group plus 1 is in the upper bits, and what the score is
  // above the least one that can be packed, in the lower ones.
  template <typename T>
  static constexpr int kScoreBits = sizeof(T) == sizeof(uint16_t) ? 10 : 20;
  template <typename T>
  static constexpr int kGroupBits = int{sizeof(T)} * 8 - kScoreBits<T>;
  static constexpr int32_t kLeastOfFour = -(1 << (kScoreBits<uint32_t> - 1));  // so -2^19 to 2^19 - 1 can be packed
  static constexpr int32_t kScoresOfTwo = 1 << kScoreBits<uint16_t>;

  // Makes room for `rows` rows in the one form, and frees what is left of another one.
  template <typename States>
  void UseOnly(States* used, size_t rows) {
    const auto release = [used](auto* states) {
      if (static_cast<void*>(states) != used) util::ReleaseMemory(states);
    };
    release(&tiny_);
    release(&small_);
    release(&large_);
    used->resize(rows);
  }
  // Returns the least score that can be packed in 2 bytes if scores from `low` to `high` are in the middle of all that
  // can.
  static int32_t LeastFor(int32_t low, int32_t high) {
    const int64_t least = (int64_t{low} + high - kScoresOfTwo) / 2;
    return static_cast<int32_t>(std::max<int64_t>(least, std::numeric_limits<int32_t>::min()));
  }
  template <typename T>
  static bool Fits(const RowState& s, int32_t least) {
    const uint32_t above = static_cast<uint32_t>(s.score) - static_cast<uint32_t>(least);
    return s.group < 0 || (static_cast<uint32_t>(s.group + 1) >> kGroupBits<T> | above >> kScoreBits<T>) == 0;
  }
  template <typename T>
  BERTH_LOOPS static T Pack(const RowState& s, int32_t least) {
    const uint32_t above = static_cast<uint32_t>(s.score) - static_cast<uint32_t>(least);
    return s.group < 0 ? T{0} : static_cast<T>(static_cast<uint32_t>(s.group + 1) << kScoreBits<T> | above);
  }
  template <typename T>
  BERTH_LOOPS static RowState Unpack(T packed, int32_t least) {
    const auto score = static_cast<int32_t>(packed & ((1u << kScoreBits<T>)-1)) + least;
    return {static_cast<int32_t>(packed >> kScoreBits<T>) - 1, packed == 0 ? 0 : score};
  }
  static RowState Unpack(const RowState& state, int32_t) { return state; }
  template <typename T>
  static void Set(const RowState& state, int32_t least, T* to) {
    *to = Pack<T>(state, least);
  }
  static void Set(const RowState& state, int32_t, RowState* to) { *to = state; }

  template <typename T>
  static void PackAll(std::span<const Row> rows, std::span<const RowState> states, int32_t least, T* by_row) {
    constexpr size_t kBlock = 256;
    T packed[kBlock];
    for (size_t begin = 0; begin < rows.size(); begin += kBlock) {
      const size_t size = std::min(kBlock, rows.size() - begin);
      util::RunLoops([to = packed, of = states.data() + begin, size, least]() BERTH_LOOPS {
        for (size_t i = 0; i < size; ++i) to[i] = Pack<T>(of[i], least);
      });
      for (size_t i = 0; i < size; ++i) by_row[rows[begin + i]] = packed[i];
    }
  }
  template <typename From, typename To>
  static void Widen(std::vector<From>* from, int32_t least, std::vector<To>* to) {
    to->resize(from->size());
    for (size_t i = 0; i < from->size(); ++i) Set(Unpack((*from)[i], least), kLeastOfFour, &(*to)[i]);
    util::ReleaseMemory(from);
  }

  // At most one of them is not empty.
  std::vector<uint16_t> tiny_;
  std::vector<uint32_t> small_;
  std::vector<RowState> large_;
  int32_t least_ = 0;  // the least score that can be packed in 2 bytes; at least kLeastOfFour if tiny_ is not empty
};

template <typename T>
class RowStates::Packed {
 public:
  Packed(const T* states, int32_t least) : states_(states), least_(least) {}
  RowState operator[](size_t row) const BERTH_LOOPS { return Unpack(states_[row], least_); }

 private:
  const T* states_;
  int32_t least_;
};

class RowStates::Wide {
 public:
  explicit Wide(const RowState* states) : states_(states) {}
  RowState operator[](size_t row) const BERTH_LOOPS { return states_[row]; }

 private:
  const RowState* states_;
};

template <typename F>
auto RowStates::Visit(F f) const {
  if (!tiny_.empty()) return f(Packed<uint16_t>(tiny_.data(), least_));
  if (!small_.empty()) return f(Packed<uint32_t>(small_.data(), kLeastOfFour));
  return f(Wide(large_.data()));
}

}  // namespace berth::scheduler
