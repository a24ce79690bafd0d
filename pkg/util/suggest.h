// Suggests the known name that a mistyped name resembles most.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace berth::util {

// Returns the smallest number of edits of single characters (insertion, removal, replacement, exchange of two
// neighbours) that turn `a` into `b`, ignoring case.
size_t EditDistance(std::string_view a, std::string_view b);

// Returns the candidate that `word` was probably meant to be, or an empty text if none is similar. A candidate is
// similar if only the case differs, if it is at most one edit for every four letters away (but at least one), or if one
// is a prefix of the other, as "LeastRequested" is of "LeastRequestedPriority". Of equally similar candidates the first
// one is returned.
std::string_view Nearest(std::string_view word, const std::vector<std::string_view>& candidates);

// Returns `did you mean "X"?`, or an empty text if no name is similar. `names` is any range of texts; `prefix` is what
// people write before each of them, such as "--".
template <typename Range>
std::string DidYouMean(std::string_view word, const Range& names, std::string_view prefix = "") {
  const std::vector<std::string_view> candidates(std::begin(names), std::end(names));
  std::string_view best = Nearest(word, candidates);
  if (best.empty()) return {};
  return "did you mean \"" + std::string(prefix) + std::string(best) + "\"?";
}

// Like DidYouMean, but in parentheses and with a leading space, for appending to a message.
template <typename Range>
std::string SuggestionFor(std::string_view word, const Range& names, std::string_view prefix = "") {
  std::string text = DidYouMean(word, names, prefix);
  return text.empty() ? text : " (" + text + ")";
}

}  // namespace berth::util
