// Words and tables for people.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::explain {

// Returns the rows as a table with three blanks between columns, however wide it is. The last column is not padded.
std::string Table(const std::vector<std::vector<std::string>>& rows);

// Returns a number with a noun, such as "3 nodes" or "1 node".
std::string Counted(int64_t n, std::string_view what);

// Returns the first `most` names and how many more there are: "a, b, c and 7 more". A single remaining name is shown.
std::string Some(const std::vector<std::string>& names, size_t most);

}  // namespace berth::explain
