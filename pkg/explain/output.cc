#include "pkg/explain/output.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/api/json.h"
#include "pkg/api/yaml_text.h"
#include "pkg/util/status.h"

namespace berth::explain {
namespace {

using api::Json;

// Quotes texts that YAML would read as another type or as syntax.
void AppendText(std::string_view text, std::string* out) {
  if (api::IsPlainYaml(text)) {
    out->append(text);
  } else {
    api::AppendJsonString(text, out);
  }
}

bool IsNested(Json v) {
  return (v.IsObject() || v.IsArray()) && v.size() > 0;
}

// Appends a value in block style. `inline_first` says that the first line follows a dash on the same line.
void AppendYaml(Json v, size_t indent, bool inline_first, std::string* out) {
  for (auto [key, value] : v.Children()) {
    if (!inline_first) out->append(indent, ' ');
    inline_first = false;
    if (v.IsArray()) {
      out->append("-");
    } else {
      AppendText(key, out);
      out->append(":");
    }
    if (!IsNested(value)) {
      out->append(" ");
      if (value.IsString()) {
        AppendText(value.Text(), out);
      } else {
        out->append(value.Serialize());
      }
      out->append("\n");
    } else if (v.IsArray()) {
      out->append(" ");
      AppendYaml(value, indent + 2, true, out);
    } else {
      out->append("\n");
      AppendYaml(value, indent + 2, false, out);
    }
  }
}

}  // namespace

void JsonOut::Separate() {
  if (!first_ && !after_key_) text_ += ',';
  first_ = after_key_ = false;
}
JsonOut& JsonOut::Open(char bracket) {
  Separate();
  text_ += bracket;
  closing_ += bracket == '{' ? '}' : ']';
  first_ = true;
  return *this;
}
JsonOut& JsonOut::End() {
  text_ += closing_.back();
  closing_.pop_back();
  first_ = false;
  return *this;
}
JsonOut& JsonOut::Key(std::string_view key) {
  Separate();
  api::AppendJsonString(key, &text_);
  text_ += ':';
  after_key_ = true;
  return *this;
}
JsonOut& JsonOut::Text(std::string_view value) {
  Separate();
  api::AppendJsonString(value, &text_);
  return *this;
}
JsonOut& JsonOut::Number(int64_t value) {
  Separate();
  absl::StrAppend(&text_, value);
  return *this;
}
JsonOut& JsonOut::Bool(bool value) {
  Separate();
  text_ += value ? "true" : "false";
  return *this;
}
JsonOut& JsonOut::Literal(std::string_view json) {
  Separate();
  text_ += json;
  return *this;
}
JsonOut& JsonOut::Texts(const std::vector<std::string>& values) {
  Array();
  for (const std::string& v : values) Text(v);
  return End();
}

std::string JsonOut::Finish(std::string_view format) const {
  if (format != "yaml") return text_ + "\n";
  api::Document d;
  if (!d.Parse(text_).ok()) return text_ + "\n";
  std::string out;
  AppendYaml(d.root(), 0, false, &out);
  return out;
}

std::string Table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) out.append(widths[i] - row[i].size() + 3, ' ');
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    out += '\n';
  }
  return out;
}

std::string Counted(int64_t n, std::string_view what) {
  return absl::StrCat(n, " ", util::ToAbsl(what), n == 1 ? "" : "s");
}

std::string Some(const std::vector<std::string>& names, size_t most) {
  std::string out;
  size_t shown = names.size() <= most + 1 ? names.size() : most;
  for (size_t i = 0; i < shown; ++i) absl::StrAppend(&out, i > 0 ? ", " : "", names[i]);
  if (shown < names.size()) absl::StrAppend(&out, " and ", names.size() - shown, " more");
  return out;
}

}  // namespace berth::explain
