#include "pkg/api/json_text.h"

namespace berth::api::internal {

bool HasUsualEscapes(std::string_view s) {
  for (size_t at = 0; (at = s.find('\\', at)) != std::string_view::npos; at += 2) {
    const char c = at + 1 < s.size() ? s[at + 1] : '\0';
    if (c == '"' || c == '\\' || c == 'n' || c == 'r' || c == 't') continue;
    const std::string_view digits = c == 'u' ? s.substr(at + 2, 4) : std::string_view();
    if (digits != "003c" && digits != "003e" && digits != "0026") return false;
  }
  return true;
}

}  // namespace berth::api::internal
