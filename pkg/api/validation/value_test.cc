#include "pkg/api/validation/value.h"

#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <map>

#include "pkg/util/status.h"

namespace berth::validation {
namespace {

std::string Error(std::string_view json) {
  auto v = ParseJson(json);
  return v.ok() ? "" : util::Message(v.status());
}

TEST_CASE("JSON is read and written back") {
  for (std::string_view json : {R"({"a":[1,-2.5e3,true,false,null,"x"],"b":{}})", "[]", "\"\"", "0", "[[[]]]"}) {
    auto v = ParseJson(json);
    REQUIRE(v.ok());
    CHECK(ToJson(*v) == json);
  }
}

TEST_CASE("errors are worded as Go words them") {
  CHECK(Error("{bad") == "invalid character 'b' looking for beginning of object key string");
  CHECK(Error("") == "unexpected end of JSON input");
  CHECK(Error("{\"a\":1} trailing") == "invalid character 't' after top-level value");
  CHECK(Error("{\"a\" 1}") == "invalid character '1' after object key");
  CHECK(Error("[1 2]") == "invalid character '2' after array element");
  CHECK(Error("{\"a\":1 \"b\"}") == "invalid character '\"' after object key:value pair");
  CHECK(Error("nul") == "unexpected end of JSON input");
  CHECK(Error("\x81") == "invalid character '\\u0081' looking for beginning of value");
  CHECK(Error("[1,]") == "invalid character ']' looking for beginning of value");
  CHECK(Error("{\"a\":1,}") == "invalid character '}' looking for beginning of object key string");
}

TEST_CASE("deep nesting is refused, not followed") {
  std::string deep(10000, '[');
  CHECK(Error(deep) == "exceeded max depth of 512");
  std::string fine = std::string(500, '[') + std::string(500, ']');
  CHECK(ParseJson(fine).ok());
}

TEST_CASE("strings: escapes, surrogates, bad bytes") {
  auto v = ParseJson(R"("\u00e9 \u2028 <&> \ud83d\ude00 \ud800x \"q\"")");
  REQUIRE(v.ok());
  CHECK(v->text() == "\xc3\xa9 \xe2\x80\xa8 <&> \xf0\x9f\x98\x80 \xef\xbf\xbdx \"q\"");
  CHECK(ToJson(*v) == "\"\xc3\xa9 \\u2028 \\u003c\\u0026\\u003e \xf0\x9f\x98\x80 \xef\xbf\xbdx \\\"q\\\"\"");
  auto bad = ParseJson("\"a\xff\"");
  REQUIRE(bad.ok());
  CHECK(bad->text() == "a\xef\xbf\xbd");
}

TEST_CASE("pretty printing") {
  CHECK(Indent(R"({"a":[],"b":[1,"x{"],"c":{}})") ==
        "{\n  \"a\": [],\n  \"b\": [\n    1,\n    \"x{\"\n  ],\n  \"c\": {\n    \n  }\n}");
}

TEST_CASE("members: the last of equal names counts; setting and erasing") {
  auto v = ParseJson(R"({"a":1,"a":2})");
  REQUIRE(v.ok());
  CHECK(v->Find("a")->AsInt() == 2);
  v->Set("b", Value::Bool(true));
  v->Erase("a");
  CHECK(ToJson(*v) == R"({"b":true})");
}

TEST_CASE("large objects find, replace and remove members as small ones do") {
  Value v = Value::Object();
  std::map<std::string, int64_t> want;
  uint64_t random = 1;
  for (int i = 0; i < 20'000; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    std::string key = absl::StrCat("k", random >> 33 & 255);
    switch (random >> 60) {
      case 0:
        v.Erase(key);
        want.erase(key);
        break;
      case 1:
        v.EraseAll({key, "k1", "k2"});
        want.erase(key), want.erase("k1"), want.erase("k2");
        break;
      case 2:
        v = Value(v);  // a copy has to build an index of its own
        break;
      default:
        v.Set(key, Value::Int(i));
        want[key] = i;
    }
    const Value* found = v.Find(key);
    REQUIRE((found == nullptr) == !want.contains(key));
    if (found != nullptr) REQUIRE(found->AsInt() == want[key]);
  }
  REQUIRE(v.keys.size() == want.size());
  REQUIRE(v.items.size() == want.size());
}

TEST_CASE("of many members with equal names the last one counts") {
  std::string json = "{\"a\":0";
  for (int i = 0; i < 100; ++i) absl::StrAppend(&json, ",\"k", i, "\":1");
  auto v = ParseJson(json + ",\"a\":2}");
  REQUIRE(v.ok());
  CHECK(v->Find("a")->AsInt() == 2);
  v->Erase("a");
  CHECK(v->Find("a") == nullptr);
}

}  // namespace
}  // namespace berth::validation
