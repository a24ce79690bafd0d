// The two normalisations that many priorities use. Source: NormalizeReduce in
// pkg/scheduler/algorithm/priorities/reduce.go (1.10) and DefaultNormalizeScore in
// pkg/scheduler/framework/plugins/helper/normalize_score.go (1.29).
#pragma once
#include <cstdint>
#include <span>

#include "pkg/scheduler/algorithm/traits.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {

// Scales the scores so that the largest becomes `max_score`, with integer division that truncates. With `reverse`, each
// result is subtracted from max_score, so that the largest becomes 0. If no score is above 0, the scores stay as they
// are; with `reverse`, all become max_score.
void NormalizeReduce(std::span<int64_t> scores, bool reverse, int64_t max_score);

// Returns part / whole, truncated toward zero. Dividing doubles is faster than dividing integers, and exact below 2^53:
// a quotient that is not an integer is further away from the next one than the rounding error reaches. REQUIRES: whole
// is above 0.
inline int64_t Quotient(int64_t part, int64_t whole) {
  BERTH_REQUIRES(whole > 0);
  if (static_cast<uint64_t>(part) >= uint64_t{1} << 53) [[unlikely]]
    return part / whole;
  return static_cast<int64_t>(static_cast<double>(part) / static_cast<double>(whole));
}

// Returns one normalised score, given the largest of all raw scores (at least 0).
inline int64_t NormalizedScore(int64_t raw, int64_t largest, bool reverse, int64_t max_score) {
  if (largest == 0) return reverse ? max_score : raw;
  const int64_t scaled = Quotient(max_score * raw, largest);
  return reverse ? max_score - scaled : scaled;
}

// Returns max_score less the share of the largest raw score, as releases before 1.9 compute it: by a fraction in
// floating point, whose product is truncated, so that it may be 1 less than by NormalizedScore.
inline int64_t ReversedFraction(int64_t raw, int64_t largest, int64_t max_score) {
  const double fraction = largest == 0 ? 0 : static_cast<double>(raw) / static_cast<double>(largest);
  return static_cast<int64_t>((1.0 - fraction) * static_cast<double>(max_score));
}
void NormalizeByReversedFraction(std::span<int64_t> scores, int64_t max_score);

// Returns one score by a normalisation that reads the largest raw score.
inline int64_t NormalizedScore(int64_t raw, int64_t largest, Normalisation how, int64_t max_score) {
  if (how == Normalisation::kFractionReversed) return ReversedFraction(raw, largest, max_score);
  return NormalizedScore(raw, largest, how == Normalisation::kMaximumReversed, max_score);
}

}  // namespace berth::scheduler
