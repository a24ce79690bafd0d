#include "pkg/api/yaml_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace berth::api {

bool IsPlainYaml(std::string_view text) {
  static constexpr std::array<std::string_view, 13> kWords = {"true", "false", "yes", "no", "on",   "off", "y",
                                                              "n",    "null",  "~",   "<<", ".inf", ".nan"};
  static constexpr std::string_view kIndicators = "!&*-?[]{}|>@`\"'%#,:=+ \t";
  if (text.empty() || kIndicators.find(text[0]) != std::string_view::npos) return false;
  std::string lower;
  for (char c : text) lower.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  if (std::find(kWords.begin(), kWords.end(), lower) != kWords.end()) return false;
  // Numbers of any base, dates, and times of day, which YAML 1.1 reads as sexagesimal numbers.
  const bool digit = (text[0] >= '0' && text[0] <= '9') || text[0] == '.';
  if (digit && lower.find_first_not_of("0123456789+-._:abcdefxo") == std::string::npos) return false;
  if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos) return false;
  if (text.back() == ':' || text.back() == ' ') return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
}

}  // namespace berth::api
