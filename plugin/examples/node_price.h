// The price of a node: its label price-per-hour, in whole cents.
#pragma once
#include <charconv>
#include <cstdint>
#include <string_view>

#include "pkg/util/symbol.h"

namespace plugin::examples {

// Returned for a node without a valid price.
inline constexpr int64_t kNoPrice = -1;

inline berth::util::Symbol PriceLabel() {
  return berth::util::Symbol("price-per-hour");
}

// Returns the price, or kNoPrice if the text is not a whole number from 0 to 1,000,000,000.
inline int64_t PriceOf(std::string_view text) {
  int64_t price = kNoPrice;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), price);
  if (error != std::errc() || end != text.data() + text.size() || price < 0 || price > 1'000'000'000) return kNoPrice;
  return price;
}

// Returns a score: 10 for a free node, 0 for the most expensive of the feasible nodes and for nodes without a price.
inline int64_t PriceScore(int64_t price, int64_t dearest) {
  if (price == kNoPrice) return 0;
  return dearest == 0 ? 10 : 10 - 10 * price / dearest;
}

}  // namespace plugin::examples
