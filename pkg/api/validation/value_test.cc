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

TEST_CASE("copies of a frozen value share what is not changed, and see no changes of each other") {
  Value v = *ParseJson(R"({"spec":{"list":[{"a":1},{"a":2}],"deep":{"x":"y"}},"status":{"n":1}})");
  v.Freeze();
  const std::string before = ToJson(v);
  Value copy = v;
  CHECK(copy.items.Shares(v.items));
  copy.Child("status").Set("n", Value::Int(2));
  CHECK(ToJson(v) == before);
  CHECK(ToJson(copy) == R"({"spec":{"list":[{"a":1},{"a":2}],"deep":{"x":"y"}},"status":{"n":2}})");
  CHECK(std::as_const(copy).Find("spec")->items.Shares(std::as_const(v).Find("spec")->items));
  CHECK_FALSE(copy == v);
  copy.At({"spec", "list"})->items[1].Set("a", Value::Int(3));
  copy.At({"spec", "list"})->items.push_back(Value::Int(4));
  copy.At({"spec", "deep"})->Erase("x");
  CHECK(ToJson(v) == before);
  CHECK(ToJson(copy) == R"({"spec":{"list":[{"a":1},{"a":3},4],"deep":{}},"status":{"n":2}})");
  // One that nobody shares with is changed in its place, and what is asked for in vain is no change.
  copy.Freeze();
  Value third = copy;
  CHECK(third.At({"spec", "no"}) == nullptr);
  third.Erase("no");
  CHECK(std::as_const(third).At({"spec", "list"})->items.Shares(std::as_const(copy).At({"spec", "list"})->items));
  // A copy of what is not frozen is its own.
  Value plain = *ParseJson(R"({"a":{"b":1}})"), other = plain;
  plain.Child("a").Set("b", Value::Int(2));
  CHECK(ToJson(other) == R"({"a":{"b":1}})");
}

TEST_CASE("a frozen object with many members is found in, and its copies as well") {
  Value v = Value::Object();
  for (int i = 0; i < 100; ++i) v.Child("all").Set(absl::StrCat("k", i), Value::Int(i));
  v.Freeze();
  Value copy = v;
  CHECK(std::as_const(v).At({"all", "k77"})->AsInt() == 77);
  copy.Child("all").Erase("k77");
  copy.Child("all").Set("k100", Value::Int(100));
  copy.Freeze();
  CHECK(std::as_const(copy).At({"all", "k77"}) == nullptr);
  CHECK(std::as_const(copy).At({"all", "k100"})->AsInt() == 100);
  CHECK(std::as_const(v).At({"all", "k77"})->AsInt() == 77);
  CHECK(std::as_const(v).At({"all", "k100"}) == nullptr);
}

TEST_CASE("elements are erased by a function that is asked once for each") {
  Value v = *ParseJson("[0,1,2,3,4,5]");
  v.Freeze();
  Value copy = v;
  size_t asked = 0;
  CHECK(copy.items.EraseIf([&](const Value& e) { return ++asked, e.AsInt() % 2 == 1; }) == 3);
  CHECK(asked == 6);
  CHECK(ToJson(copy) == "[0,2,4]");
  CHECK(copy.items.EraseIf([](const Value& e) { return e.AsInt() == 1; }) == 0);
  CHECK(ToJson(v) == "[0,1,2,3,4,5]");
}

}  // namespace
}  // namespace berth::validation
