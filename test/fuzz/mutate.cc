#include "test/fuzz/mutate.h"

#include <algorithm>
#include <charconv>

namespace berth::fuzz {

std::string Mutator::Next() {
  std::string input = corpus_[Below(corpus_.size())];
  // Mostly few changes, now and then many.
  for (size_t n = 1 + Below(size_t{1} << Below(6)); n > 0; --n) Change(&input);
  if (input.size() > max_bytes_) input.resize(max_bytes_);
  return input;
}

void Mutator::Change(std::string* input) {
  const size_t at = Below(input->size() + 1);
  const size_t rest = input->size() - at;
  const size_t some = std::min(rest, Below(64) + 1);
  switch (Below(8)) {
    case 0:  // flips a bit
      if (rest > 0) (*input)[at] = static_cast<char>((*input)[at] ^ (1 << Below(8)));
      return;
    case 1:  // sets a byte
      if (rest > 0) (*input)[at] = static_cast<char>(Below(256));
      return;
    case 2:
      input->erase(at, some);
      return;
    case 3:  // repeats a part
      input->insert(at, input->substr(at, some));
      return;
    case 4:
      if (!dictionary_.empty()) input->insert(at, dictionary_[Below(dictionary_.size())]);
      return;
    case 5: {  // puts a part of another input here
      const std::string& other = corpus_[Below(corpus_.size())];
      const size_t from = Below(other.size());
      input->insert(at, other.substr(from, Below(256) + 1));
      return;
    }
    case 6: {  // changes a number
      const size_t digit = input->find_first_of("0123456789", at);
      static constexpr std::string_view kNumbers[] = {"0",    "-1", "1e400", "9223372036854775808", "0.0000000001",
                                                      "65536"};
      if (digit != std::string::npos) input->replace(digit, 1, kNumbers[Below(std::size(kNumbers))]);
      return;
    }
    default:  // swaps two parts of one length
      if (some > 0) {
        const size_t other = Below(input->size() - some + 1);
        std::string part = input->substr(other, some);
        input->replace(other, some, input->substr(at, some));
        input->replace(at, some, part);
      }
  }
}

std::vector<std::string> ParseDictionary(std::string_view text) {
  std::vector<std::string> entries;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const size_t first = line.find('"'), last = line.rfind('"');
    if (line.starts_with('#') || last == std::string_view::npos || first == last) continue;
    std::string entry;
    for (size_t i = first + 1; i < last; ++i) {
      int code = 0;
      if (line[i] != '\\' || i + 1 == last) {
        entry += line[i];
      } else if (line[i + 1] == 'x' && i + 3 < last &&
                 std::from_chars(&line[i + 2], &line[i + 2] + 2, code, 16).ec == std::errc()) {
        entry += static_cast<char>(code);
        i += 3;
      } else {
        entry += line[++i];
      }
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace berth::fuzz
