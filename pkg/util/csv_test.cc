#include "pkg/util/csv.h"

#include <catch2/catch.hpp>

namespace berth::util {
namespace {

// Returns the fields in brackets; "open" if a quote is not closed.
std::string FieldsOf(std::string_view line) {
  std::vector<std::string_view> fields;
  std::vector<std::string> unquoted;
  if (!SplitCsv(line, &fields, &unquoted)) return "open";
  std::string out;
  for (std::string_view f : fields) out.append("[").append(f).append("]");
  return out;
}

TEST_CASE("csv: a cell is quoted only where it must be") {
  CHECK(CsvCell("a b") == "a b");
  CHECK(CsvCell("") == "");
  CHECK(CsvCell("a,b") == "\"a,b\"");
  CHECK(CsvCell("say \"x\"") == "\"say \"\"x\"\"\"");
  CHECK(CsvCell("one\ntwo") == "\"one\ntwo\"");
  CHECK(CsvCell("one\rtwo") == "\"one\rtwo\"");
}

TEST_CASE("csv: fields of a line") {
  CHECK(FieldsOf("") == "[]");
  CHECK(FieldsOf("a, b ,") == "[a][b][]");
  CHECK(FieldsOf("a, \"b,c\" ,\"d\"\"e\"") == "[a][b,c][d\"e]");
  CHECK(FieldsOf("a,\"b") == "open");
}

TEST_CASE("csv: what is written is read again") {
  for (const std::string text : {"a", "a,b", "\"", "a\"b\",c", ",", "\"\""}) {
    CHECK(FieldsOf(CsvCell(text) + ",end") == "[" + text + "][end]");
  }
}

}  // namespace
}  // namespace berth::util
