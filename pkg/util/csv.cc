#include "pkg/util/csv.h"

#include <absl/strings/ascii.h>

#include "pkg/util/status.h"

namespace berth::util {
namespace {

std::string_view Stripped(std::string_view s) {
  return FromAbsl(absl::StripAsciiWhitespace(ToAbsl(s)));
}

}  // namespace

std::string CsvCell(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + "\"";
}

bool SplitCsv(std::string_view line, std::vector<std::string_view>* fields, std::vector<std::string>* unquoted) {
  fields->clear();
  unquoted->clear();
  if (line.find('"') == std::string_view::npos) {
    for (size_t begin = 0;;) {
      const size_t comma = line.find(',', begin);
      fields->push_back(Stripped(line.substr(begin, comma - begin)));
      if (comma == std::string_view::npos) return true;
      begin = comma + 1;
    }
  }
  unquoted->reserve(line.size());  // so that no text moves
  std::string field;
  bool open = false;
  for (size_t i = 0; i <= line.size(); ++i) {
    if (i == line.size() || (line[i] == ',' && !open)) {
      unquoted->emplace_back(Stripped(field));
      field.clear();
    } else if (line[i] != '"') {
      field.push_back(line[i]);
    } else if (open && i + 1 < line.size() && line[i + 1] == '"') {
      field.push_back(line[++i]);
    } else {
      open = !open;
    }
  }
  for (const std::string& f : *unquoted) fields->push_back(f);
  return !open;
}

}  // namespace berth::util
