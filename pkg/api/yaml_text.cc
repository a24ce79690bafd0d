#include "pkg/api/yaml_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "pkg/api/json_writer.h"

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

void AppendYamlText(std::string_view text, std::string* out) {
  if (IsPlainYaml(text)) {
    out->append(text);
  } else {
    AppendJsonString(text, out);  // a JSON string is a YAML string
  }
}

namespace {

void AppendScalar(Json v, std::string* out) {
  if (v.IsString()) {
    AppendYamlText(v.Text(), out);
  } else {
    out->append(v.Serialize());
  }
  out->push_back('\n');
}

// `in_list`: the value begins on the line of a "- ", so its first line is not indented.
void AppendChildren(Json v, size_t indent, bool in_list, std::string* out) {
  for (auto [key, value] : v.Children()) {
    if (!in_list) out->append(indent, ' ');
    in_list = false;
    if (v.IsArray()) {
      out->push_back('-');
    } else {
      AppendYamlText(key, out);
      out->push_back(':');
    }
    const bool nested = value.size() > 0;
    out->push_back(nested && v.IsObject() ? '\n' : ' ');
    if (nested) {
      AppendChildren(value, v.IsObject() && value.IsArray() ? indent : indent + 2, v.IsArray(), out);
    } else {
      AppendScalar(value, out);
    }
  }
}

}  // namespace

std::string YamlOf(std::string_view json) {
  Document d;
  if (!d.Parse(json).ok()) return std::string(json);
  std::string out;
  if (d.root().size() == 0) {
    AppendScalar(d.root(), &out);
  } else {
    AppendChildren(d.root(), 0, false, &out);
  }
  return out;
}

}  // namespace berth::api
