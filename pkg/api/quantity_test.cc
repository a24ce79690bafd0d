#include "pkg/api/quantity.h"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace berth::api {
namespace {

Quantity Q(const std::string& text) {
  auto q = Quantity::Parse(text);
  INFO(text);
  REQUIRE(q.ok());
  return *q;
}

std::string QuantityError(const std::string& text) {
  auto q = Quantity::Parse(text);
  return q.ok() ? "parsed" : std::string(q.status().message());
}

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr char kForm[] = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

TEST_CASE("a quantity's whole and milli value round up") {
  using Row = std::tuple<std::string, int64_t, int64_t>;
  for (const auto& [text, value, milli] : std::vector<Row>{{"100m", 1, 100},
                                                           {"1500m", 2, 1500},
                                                           {"0.5m", 1, 1},
                                                           {"1n", 1, 1},
                                                           {"1.5", 2, 1500},
                                                           {"1Ki", 1024, 1024000},
                                                           {"1.5Gi", 1610612736, 1610612736000},
                                                           {"0", 0, 0},
                                                           {"1.", 1, 1000},
                                                           {".5", 1, 500},
                                                           {"+2", 2, 2000},
                                                           {"1e3", 1000, 1000000},
                                                           {"1E3", 1000, 1000000},
                                                           {"1e-3", 1, 1},
                                                           {"5E", 5000000000000000000, kMax},
                                                           {"100u", 1, 1},
                                                           {"0.0015", 1, 2},
                                                           {" 7 ", 7, 7000},
                                                           {"0.0000000001", 1, 1},
                                                           {"007", 7, 7000}}) {
    INFO(text);
    CHECK(Q(text).Value() == value);
    CHECK(Q(text).MilliValue() == milli);
  }
}

TEST_CASE("negative fractions round as 1.10 rounds them") {
  CHECK(Q("-1.5").Value() == -2);  // short notation: away from zero
  CHECK(Q("-1500m").Value() == -2);
  CHECK(Q("-1.5Ki").Value() == -1536);
  CHECK(Q("-1.50000000000000000000").Value() == 0);  // long notation: toward zero, and one further
  CHECK(Q("-2").Value() == -2);
}

TEST_CASE("what int64 cannot hold saturates and never wraps") {
  for (const std::string text :
       {"10E", "16Ei", "9999999999999999999999", "1e30", "1e99999", "340282366920938463463374607431768211456Ei"}) {
    INFO(text);
    CHECK(Q(text).Value() == kMax);
    CHECK(Q(text).MilliValue() == kMax);
    CHECK(Q(text).SaturatesValue());
    CHECK(Q("-" + text).Value() <= -kMax);
  }
  CHECK(Q("10P").MilliValue() == kMax);
  CHECK(Q("10P").Value() == 10000000000000000);
  CHECK(Q("10P").SaturatesMilliValue());
  CHECK_FALSE(Q("10P").SaturatesValue());
  CHECK(Q("7Ei").Value() == int64_t{7} << 60);
  CHECK_FALSE(Q("7Ei").SaturatesValue());
}

TEST_CASE("bad quantities are refused with 1.10's texts") {
  for (const std::string text : {"", " ", "abc", "-", ".", "+.", "1.2.3", "m", "--1", "1 Gi", "0x10"}) {
    INFO(text);
    CHECK(QuantityError(text) == kForm);
  }
  for (const std::string text : {"1K", "1ki", "1MM", "1mi", "1e", "1e+", "1Kim", "12E5E"}) {
    INFO(text);
    // "e" without an exponent is not a suffix; "E" is the suffix exa.
    CHECK(QuantityError(text) == "unable to parse quantity's suffix");
  }
}

TEST_CASE("the canonical text is the API server's") {
  using Row = std::pair<std::string, std::string>;
  for (const auto& [text, canonical] : std::vector<Row>{{"1", "1"},
                                                        {"1k", "1k"},
                                                        {"1Ki", "1Ki"},
                                                        {"1.5Gi", "1536Mi"},
                                                        {"1e6", "1e6"},
                                                        {"1E", "1E"},
                                                        {"0.5", "500m"},
                                                        {"100m", "100m"},
                                                        {"1000000", "1M"},
                                                        {"1048576", "1048576"},
                                                        {"1024Mi", "1Gi"},
                                                        {"1500M", "1500M"},
                                                        {"+1", "1"},
                                                        {"1.0", "1"},
                                                        {"01", "1"},
                                                        {"1.25M", "1250k"},
                                                        {"123456789012345678", "123456789012345678"},
                                                        {"1e1", "10"},
                                                        {"0.0015", "1500u"},
                                                        {"1.5k", "1500"},
                                                        {"4000m", "4"},
                                                        {"8388608Ki", "8Gi"},
                                                        {"1e9", "1e9"},
                                                        {"12e6", "12e6"},
                                                        {"1e4", "10e3"},
                                                        {"1e-3", "1e-3"},
                                                        {"0", "0"},
                                                        {"0Gi", "0"},
                                                        {"1000Ki", "1000Ki"},
                                                        {"512", "512"},
                                                        {"0.5Ki", "512"},
                                                        {"1.0001Ki", "1024102400u"},
                                                        {"-144721103.652Mi", "-151751075982999552m"},
                                                        {"-350795187.5Ki", "-359214272000"},
                                                        {"-1500m", "-1500m"}}) {
    INFO(text);
    CHECK(Q(text).String() == canonical);
  }
  CHECK(Q("0.0015").RoundedUpToMilli().String() == "2m");
  CHECK(Q("100u").RoundedUpToMilli().String() == "1m");
  CHECK(Q("1u").RoundedUpToMilli().String() == "1m");
  CHECK(Q("2").RoundedUpToMilli().String() == "2");
  // The largest quantities are not rounded.
  const std::string most = "170141183460469231731687303715884105727n";
  CHECK(Q(most).RoundedUpToMilli() == Q(most));
  CHECK(Q("-" + most).RoundedUpToMilli() == Q("-" + most));
}

TEST_CASE("quantities compare by amount, whatever their notation") {
  CHECK(Q("1Gi") == Q("1024Mi"));
  CHECK(Q("1") == Q("1000m"));
  CHECK(Q("999m") < Q("1"));
  CHECK(Q("1G") < Q("1Gi"));
  CHECK(Q("-1") < Q("0"));
  CHECK(Quantity::FromInt(3) == Q("3"));
  CHECK(Quantity() == Q("0"));
  CHECK(Q("-3").Sign() == -1);
}

TEST_CASE("the canonical text means the same amount") {
  CHECK(rc::check("Parse(String(q)) == q", [] {
    auto whole = *rc::gen::inRange<int64_t>(-1000000000, 1000000000);
    auto fraction =
        *rc::gen::container<std::string>(*rc::gen::inRange(0, 10), rc::gen::inRange('0', static_cast<char>('9' + 1)));
    auto suffix =
        *rc::gen::element<std::string>("", "n", "u", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "e3", "e-2", "E5");
    std::string text = std::to_string(whole) + (fraction.empty() ? "" : "." + fraction) + suffix;
    auto q = Quantity::Parse(text);
    RC_ASSERT(q.ok());
    auto again = Quantity::Parse(q->String());
    RC_ASSERT(again.ok());
    RC_ASSERT(*again == *q);
    // What is a multiple of 1000 but not of 1024 has no suffix in binary notation, and is read as decimal.
    RC_ASSERT(q->format() == Quantity::Format::kBinarySI || again->String() == q->String());
  }));
}

}  // namespace
}  // namespace berth::api
