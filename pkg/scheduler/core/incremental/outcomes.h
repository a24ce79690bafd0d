// What became of the last pods of a kind, as a guess about the next one.
#pragma once
#include <bit>
#include <cstdint>

namespace berth::scheduler {

class Outcomes {
 public:
  // Notes whether a pod fitted nowhere.
  void Note(bool unfit) { bits_ = static_cast<uint8_t>(bits_ << 1 | (unfit ? 1 : 0)); }
  // Returns whether the last two pods fitted nowhere.
  bool LastTwoUnfit() const { return (bits_ & 3) == 3; }
  // Returns whether at least six of the last eight pods fitted nowhere.
  bool MostUnfit() const { return std::popcount(bits_) >= 6; }

 private:
  uint8_t bits_ = 0;  // the last pod in the lowest bit: 1 if it fitted nowhere
};

}  // namespace berth::scheduler
