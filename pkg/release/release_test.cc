#include "pkg/release/release.h"

#include <catch2/catch.hpp>

#include "pkg/util/status.h"

namespace berth::release {

TEST_CASE("releases are listed in ascending order, and each is found by its name") {
  const auto all = All();
  REQUIRE(all.size() >= 2);
  for (size_t i = 0; i < all.size(); ++i) {
    if (i > 0) CHECK(all[i - 1].version <= all[i].version);
    CHECK(Named(all[i].name).value() == &all[i]);
  }
  CHECK(Default().name == "1.10");
}

TEST_CASE("a name that is not in the list gives the one error with all names") {
  const std::string text = util::Message(Named("1.20").status());
  CHECK(text == "invalid value \"1.20\": must be " + Names());
  CHECK(text.find(" or 1.") != std::string::npos);
  CHECK(!Named("").ok());
  CHECK(!Named("1.10 ").ok());
}

TEST_CASE("a span has its first version and not the one at its end") {
  constexpr Span kSpan{.since = {16}, .until = {22}};
  CHECK(!kSpan.Has({15}));
  CHECK(kSpan.Has({16}));
  CHECK(kSpan.Has({21}));
  CHECK(!kSpan.Has({22}));
  CHECK(Since(16).Has({200}));
  CHECK(!Until(16).Has({16}));
}

TEST_CASE("a span tells where it begins and ends, and a version its neighbours") {
  CHECK(Since(16).HasBeginning());
  CHECK(!Since(16).HasEnd());
  CHECK(!Until(16).HasBeginning());
  CHECK(Until(16).HasEnd());
  CHECK(!Span{}.HasBeginning());
  CHECK(!Span{}.HasEnd());
  CHECK(!Only({16}).Has({15}));
  CHECK(Only({16}).Has({16}));
  CHECK(!Only({16}).Has({17}));
  CHECK(NameOf(Version(16).Previous()) == "1.15");
  CHECK(NameOf(Version(16).Next()) == "1.17");
  CHECK(!Version().IsSet());
}

TEST_CASE("the last row that is not newer holds") {
  constexpr From<int> kRows[] = {{{0}, 1}, {{16}, 2}, {{22}, 3}};
  CHECK(At(kRows, {15}) == 1);
  CHECK(At(kRows, {16}) == 2);
  CHECK(At(kRows, {36}) == 3);
}

}  // namespace berth::release
