#include "pkg/apiserver/yaml.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "pkg/api/json.h"

namespace berth::apiserver {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

std::vector<size_t> SortedOrder(const Value& v) {
  std::vector<size_t> order(v.keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return v.keys[a] < v.keys[b]; });
  return order;
}

// Whether a plain YAML scalar would be read back as this very string.
bool PlainYaml(std::string_view s) {
  if (s.empty() || s == "~" || s == "null" || s == "Null" || s == "NULL") return false;
  static const std::vector<std::string_view> kWords = {"true", "false", "yes", "no", "on", "off", "y", "n"};
  std::string lower;
  for (char c : s) lower.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  if (std::find(kWords.begin(), kWords.end(), lower) != kWords.end()) return false;
  if (IsDigit(s[0]) || s[0] == '+' || s[0] == '-' || s[0] == '.') {
    // Numbers and things like them are quoted; dates stay plain, as the server writes them.
    bool numeric = s.find_first_not_of("0123456789+-.eExX_abcdefABCDEF:oO") == std::string_view::npos;
    if (numeric || s[0] == '-' || s[0] == '+') return false;
  }
  static constexpr std::string_view kBadFirst = "!&*-?[]{}|>@`\"'%#,:= \t";
  if (kBadFirst.find(s[0]) != std::string_view::npos) return false;
  if (s.find(": ") != std::string_view::npos || s.find(" #") != std::string_view::npos || s.back() == ':' ||
      s.back() == ' ')
    return false;
  return std::all_of(s.begin(), s.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
}

void AppendYaml(const Value& v, size_t indent, bool in_list, std::string* out) {
  switch (v.type()) {
    case Value::Type::kString:
      if (PlainYaml(v.text())) {
        out->append(v.text());
      } else {
        api::AppendJsonString(v.text(), out);
      }
      out->push_back('\n');
      return;
    case Value::Type::kArray:
      for (size_t i = 0; i < v.items.size(); ++i) {
        if (i > 0 || !in_list) out->append(indent, ' ');
        out->append("- ");
        const Value& e = v.items[i];
        bool nested = (e.IsObject() || e.IsArray()) && !e.empty();
        AppendYaml(e, indent + 2, nested, out);
      }
      if (v.items.empty()) out->append("[]\n");
      return;
    case Value::Type::kObject: {
      if (v.items.empty()) {
        out->append("{}\n");
        return;
      }
      bool first = true;
      for (size_t i : SortedOrder(v)) {
        if (!first || !in_list) out->append(indent, ' ');
        first = false;
        if (PlainYaml(v.keys[i])) {
          out->append(v.keys[i]);
        } else {
          api::AppendJsonString(v.keys[i], out);
        }
        out->push_back(':');
        const Value& e = v.items[i];
        if ((e.IsObject() || e.IsArray()) && !e.empty()) {
          out->push_back('\n');
          AppendYaml(e, e.IsArray() ? indent : indent + 2, false, out);
        } else {
          out->push_back(' ');
          AppendYaml(e, indent + 2, false, out);
        }
      }
      return;
    }
    default:
      AppendJson(v, out);
      out->push_back('\n');
  }
}

}  // namespace

std::string ToYaml(const Value& v) {
  std::string out;
  AppendYaml(v, 0, false, &out);
  return out;
}

}  // namespace berth::apiserver
