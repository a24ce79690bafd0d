// Lines of CSV files, as RFC 4180 has them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace berth::util {

// Returns a cell: quoted if it contains a comma, a quote or a line end.
std::string CsvCell(std::string_view text);

// Splits a line at commas. A field in double quotes may contain commas, and a quote as two quotes. White space around
// fields is left out. Returns false if a quote is not closed. The fields are valid as long as `line` and `unquoted`,
// which holds those that had quotes.
bool SplitCsv(std::string_view line, std::vector<std::string_view>* fields, std::vector<std::string>* unquoted);

}  // namespace berth::util
