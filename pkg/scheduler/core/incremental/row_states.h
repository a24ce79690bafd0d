// The state of every row for one class of pods. There is one for each class, and decisions read and write it at random
// rows, so it should be small.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "pkg/scheduler/cache/template_info.h"
#include "pkg/util/contract.h"
#include "pkg/util/wide_vectors.h"

namespace berth::scheduler {

struct RowState {
  int32_t group = -1;  // group in the StaticNodeIndex; -1: the pods do not fit
  int32_t score = 0;   // weighted sum of the priorities that depend on no other row; 0 if the pods do not fit
  friend bool operator==(const RowState&, const RowState&) = default;
};

// A vector of RowState by row. It takes 4 bytes for each row as long as all groups and scores fit into them, as they do
// unless there are thousands of groups or very large weights, and 8 bytes from then on until it is cleared.
class RowStates {
 public:
  bool empty() const { return small_.empty() && large_.empty(); }
  size_t size() const { return large_.empty() ? small_.size() : large_.size(); }
  // REQUIRES: row < size().
  RowState operator[](Row row) const {
    BERTH_REQUIRES(row < size());
    if (!large_.empty()) [[unlikely]]
      return large_[row];
    return Unpack(small_[row]);
  }
  // REQUIRES: row < size(); `state` is RowState{} if its group is -1.
  void Set(Row row, const RowState& state) {
    BERTH_REQUIRES(row < size());
    if (large_.empty()) [[likely]] {
      if (Fits(state)) [[likely]] {
        small_[row] = Pack(state);
        return;
      }
      Enlarge();
    }
    large_[row] = state;
  }
  // Sets the states of these rows, faster than Set one by one. REQUIRES: states[i], for rows[i], is as for Set; no
  // group is above that of `least` and `most`, and no score is below that of `least` or above that of `most`.
  void SetAll(std::span<const Row> rows, std::span<const RowState> states, const RowState& least,
              const RowState& most) {
    BERTH_REQUIRES(rows.size() == states.size());
    if (!large_.empty() || !Fits(least) || !Fits(most)) {
      for (size_t i = 0; i < rows.size(); ++i) Set(rows[i], states[i]);
      return;
    }
    uint32_t* const small = small_.data();
    constexpr size_t kBlock = 256;
    uint32_t packed[kBlock];
    for (size_t begin = 0; begin < rows.size(); begin += kBlock) {
      const size_t size = std::min(kBlock, rows.size() - begin);
      util::RunLoops([to = packed, of = states.data() + begin, size]() BERTH_LOOPS {
        for (size_t i = 0; i < size; ++i) to[i] = Pack(of[i]);
      });
      for (size_t i = 0; i < size; ++i) small[rows[begin + i]] = packed[i];
    }
  }
  void Clear() {
    small_.clear();
    large_ = {};
  }
  // Makes room for `rows` rows, which the pods do not fit. REQUIRES: it is empty.
  void Resize(size_t rows) {
    BERTH_REQUIRES(empty());
    small_.assign(rows, Pack({}));
  }
  // Makes room for more rows, which the pods do not fit. REQUIRES: it is not empty; rows >= size().
  void Grow(size_t rows) {
    BERTH_REQUIRES(!empty() && rows >= size());
    if (large_.empty()) {
      small_.resize(rows, Pack({}));
    } else {
      large_.resize(rows);
    }
  }
  // Lets the processor fetch the state of the row, if there is one.
  void Prefetch(Row row) const {
    if (row < small_.size()) {
      __builtin_prefetch(&small_[row]);
    } else if (row < large_.size()) {
      __builtin_prefetch(&large_[row]);
    }
  }
  // Returns f(the states by row), which Read unpacks. They are all in one of two forms.
  template <typename F>
  auto Visit(F f) const {
    return large_.empty() ? f(small_.data()) : f(large_.data());
  }
  static RowState Read(uint32_t packed) BERTH_LOOPS { return Unpack(packed); }
  static RowState Read(const RowState& state) BERTH_LOOPS { return state; }
  size_t bytes() const { return small_.capacity() * sizeof(uint32_t) + large_.capacity() * sizeof(RowState); }

 private:
  // The group plus 1 is in the upper bits of a packed state, and the score, which may be negative, in the lower ones.
  static constexpr int kScoreBits = 20, kGroupBits = 32 - kScoreBits;
  static bool Fits(const RowState& s) { return Misfit(s) == 0; }
  // Returns 0 if the state can be packed.
  static uint32_t Misfit(const RowState& s) {
    constexpr uint32_t kScores = 1u << (kScoreBits - 1);  // scores from -kScores to kScores - 1 fit
    return static_cast<uint32_t>(s.group + 1) >> kGroupBits | (static_cast<uint32_t>(s.score) + kScores) >> kScoreBits;
  }
  static uint32_t Pack(const RowState& s) BERTH_LOOPS {
    return static_cast<uint32_t>(s.group + 1) << kScoreBits |
           (static_cast<uint32_t>(s.score) & ((1u << kScoreBits) - 1));
  }
  static RowState Unpack(uint32_t packed) BERTH_LOOPS {
    return {static_cast<int32_t>(packed >> kScoreBits) - 1, static_cast<int32_t>(packed << kGroupBits) >> kGroupBits};
  }
  void Enlarge() {
    large_.reserve(small_.size());
    for (const uint32_t packed : small_) large_.push_back(Unpack(packed));
    small_ = {};
  }

  // One of them is empty.
  std::vector<uint32_t> small_;
  std::vector<RowState> large_;
};

}  // namespace berth::scheduler
