// How a node is chosen among those with the highest total. The daemon takes them in turn, as release 1.10 does; other
// schedulers, and papers about them, take the first one or choose at random.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace berth::lab {

struct Ties {
  enum class Kind : uint8_t {
    kTurn,    // one after another: the number of the decision modulo the number of nodes
    kFirst,   // the first one, in the order in which turns are counted
    kRandom,  // at random; equal seeds give equal results
  };
  Kind kind = Kind::kTurn;
  uint64_t seed = 0;

  // Parses "turn", "first" or "random:SEED". An error says what would be right.
  static absl::StatusOr<Ties> Parse(std::string_view text);
  // Returns how the node is chosen, as a part of a sentence. Empty for kTurn.
  std::string InWords() const;
};

// Numbers the decisions of a scheduler so that its round robin chooses as Ties says.
class TieBreaker {
 public:
  TieBreaker() = default;
  explicit TieBreaker(const Ties& ties) : ties_(ties) {}
  // Returns the number that the next decision gets. Nothing for kTurn: the scheduler counts by itself.
  std::optional<uint64_t> Next();
  const Ties& ties() const { return ties_; }

 private:
  Ties ties_;
  uint64_t drawn_ = 0;
};

}  // namespace berth::lab
