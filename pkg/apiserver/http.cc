#include "pkg/apiserver/http.h"

#include <algorithm>

namespace berth::apiserver {

// A '%' without two hexadecimal digits stands for itself.
std::string PercentDecode(std::string_view s, bool plus_is_space) {
  auto hex = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string out;
  out.reserve(s.size());
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '%' && i + 2 < s.size() && hex(s[i + 1]) >= 0 && hex(s[i + 2]) >= 0) {
      out.push_back(static_cast<char>(hex(s[i + 1]) * 16 + hex(s[i + 2])));
      i += 2;
    } else {
      out.push_back(plus_is_space && s[i] == '+' ? ' ' : s[i]);
    }
  }
  return out;
}

Query::Query(std::string_view text) {
  while (!text.empty()) {
    size_t end = text.find('&');
    std::string_view part = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (part.empty()) continue;
    size_t eq = part.find('=');
    std::string_view value = eq == std::string_view::npos ? std::string_view() : part.substr(eq + 1);
    pairs_.emplace_back(PercentDecode(part.substr(0, eq), true), PercentDecode(value, true));
  }
}

std::string_view Query::Get(std::string_view name) const {
  for (const auto& [k, v] : pairs_) {
    if (k == name) return v;
  }
  return {};
}

bool Query::Has(std::string_view name) const {
  return std::any_of(pairs_.begin(), pairs_.end(), [&](const auto& p) { return p.first == name; });
}

}  // namespace berth::apiserver
