// "Did you mean ...?": the known name that is nearest to one that was mistyped.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace berth::util {

// Returns how many single-character edits (insert, remove, replace, swap of two neighbours) lead from `a` to `b`,
// regardless of letter case.
size_t EditDistance(std::string_view a, std::string_view b);

// Returns the candidate that was probably meant by `word`, or an empty text when none is near: the same letters in
// another case, few edits away (one in four letters, at least one), or one a prefix of the other, as "LeastRequested"
// is of "LeastRequestedPriority". Of equally near candidates the first.
std::string_view Nearest(std::string_view word, const std::vector<std::string_view>& candidates);

// Returns `did you mean "X"?`, or an empty text when no name is near. `names` is any range of texts.
template <typename Range>
std::string DidYouMean(std::string_view word, const Range& names) {
  std::vector<std::string_view> candidates;
  for (const auto& name : names) candidates.emplace_back(name);
  std::string_view best = Nearest(word, candidates);
  return best.empty() ? std::string() : "did you mean \"" + std::string(best) + "\"?";
}

// The same in parentheses with a space before it, to be appended to a message.
template <typename Range>
std::string SuggestionFor(std::string_view word, const Range& names) {
  std::string text = DidYouMean(word, names);
  return text.empty() ? text : " (" + text + ")";
}

}  // namespace berth::util
