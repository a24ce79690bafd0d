#include "pkg/util/suggest.h"

#include <absl/strings/ascii.h>

#include <algorithm>

namespace berth::util {
namespace {

char Lower(char c) {
  return absl::ascii_tolower(static_cast<unsigned char>(c));
}

// The length of what both texts begin with, regardless of letter case.
size_t CommonPrefix(std::string_view a, std::string_view b) {
  size_t n = 0;
  while (n < a.size() && n < b.size() && Lower(a[n]) == Lower(b[n])) ++n;
  return n;
}

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b) {
  // Three rows of the usual table are enough: a swap looks two rows back.
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      bool same = Lower(a[i - 1]) == Lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      bool swapped = i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) && Lower(a[i - 2]) == Lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string_view Nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  // Longer words are not names, and the table above grows with them.
  constexpr size_t kLongest = 200;
  constexpr size_t kShortestPrefix = 4;
  if (word.empty() || word.size() > kLongest) return {};
  std::string_view best;
  size_t best_distance = std::max<size_t>(1, word.size() / 4) + 1;
  for (std::string_view c : candidates) {
    if (c.size() > kLongest) continue;
    size_t distance = EditDistance(word, c);
    if (distance < best_distance) {
      best = c;
      best_distance = distance;
    }
  }
  if (!best.empty()) return best;
  size_t longest = kShortestPrefix - 1;
  for (std::string_view c : candidates) {
    size_t common = CommonPrefix(word, c);
    if (common == std::min(word.size(), c.size()) && common > longest) {
      best = c;
      longest = common;
    }
  }
  return best;
}

}  // namespace berth::util
