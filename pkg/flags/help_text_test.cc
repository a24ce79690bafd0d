#include "pkg/flags/help_text.h"

#include <catch2/catch.hpp>
#include <string>

#include "pkg/flags/flag_set.h"

namespace berth::flags {
namespace {

TEST_CASE("help texts are broken between words") {
  CHECK(Wrapped("") == "");
  CHECK(Wrapped("a b", 2) == "  a b");
  CHECK(Wrapped("first line\nsecond", 1) == " first line\n second");
  const std::string forty(40, 'x'), long_word(90, 'y');
  CHECK(Wrapped(forty + " " + forty) == forty + "\n" + forty);
  CHECK(Wrapped(forty + " " + std::string(39, 'z')) == forty + " " + std::string(39, 'z'));
  CHECK(Wrapped("a " + long_word + " b", 4) == "    a\n    " + long_word + "\n    b");
}

TEST_CASE("help shows a flag, what it takes, what it is for, and what holds without it") {
  CHECK(HelpOf({"output", 'o', "FORMAT", "how it is written", "table"}) ==
        "  -o, --output FORMAT       how it is written (default table)\n");
  CHECK(HelpOf({"all", 0, "", "everything"}) == "      --all                 everything\n");
  CHECK(HelpOf({"a-name-that-leaves-no-room", 0, "FILE", "said below"}) ==
        "      --a-name-that-leaves-no-room FILE\n"
        "                            said below\n");
}

}  // namespace
}  // namespace berth::flags
