#include "pkg/util/help_text.h"

#include <catch2/catch.hpp>
#include <string>

namespace berth::util {
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

TEST_CASE("help shows flags, what they take, what they are for, and what holds without them") {
  CHECK(HelpOf({{'o', "output", "FORMAT", "how it is written", "table"}, {0, "all", "", "everything", ""}}) ==
        "  -o, --output FORMAT       how it is written (default table)\n"
        "      --all                 everything\n");
  CHECK(HelpOf({{0, "a-name-that-leaves-no-room", "FILE", "said below", ""}}) ==
        "      --a-name-that-leaves-no-room FILE\n"
        "                            said below\n");
}

}  // namespace
}  // namespace berth::util
