#include "pkg/api/json.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "pkg/api/json_writer.h"

namespace berth::api {
namespace {

std::string JsonError(const std::string& text) {
  Document d;
  absl::Status s = d.Parse(text);
  return s.ok() ? "parsed" : std::string(s.message());
}

// Records the elements and values that ReadJson passes to it, as texts.
struct Recorder : JsonSink {
  bool Split(std::string_view inside, std::string_view key) override {
    return (inside.empty() && key == "items") || (inside == "cluster" && key == "items");
  }
  absl::Status Element(std::string_view inside, std::string_view key, Document& element) override {
    std::string at = inside.empty() ? std::string(key) : std::string(inside) + "." + std::string(key);
    found.push_back(at + ": " + element.root().Serialize());
    if (element.root().Find("bad").Bool()) return absl::InvalidArgumentError("a bad element");
    return absl::OkStatus();
  }
  absl::Status Value(Document& rest) override {
    found.push_back(rest.root().Serialize());
    return absl::OkStatus();
  }
  std::vector<std::string> found;
};

TEST_CASE("a document is what was written") {
  const std::string text =
      R"({"a":[1,-2,3.5,"x",null,true,false,[],{}],"b":{"c":"d"},"e":1e3,"f":12345678901234567890})";
  Document d;
  REQUIRE(d.Parse(text).ok());
  Json root = d.root();
  CHECK(root.Serialize() == text);
  CHECK(root.size() == 4);
  Json a = root.Find("a");
  CHECK(a.size() == 9);
  std::vector<Json> v;
  for (auto member : a.Children()) v.push_back(member.value);
  REQUIRE(v.size() == 9);
  CHECK(v[0].Int() == 1);
  CHECK(v[1].Int() == -2);
  CHECK(v[2].Double() == 3.5);
  CHECK_FALSE(v[2].IsInt());
  CHECK(v[3].Text() == "x");
  CHECK(v[4].IsNull());
  CHECK(v[5].Bool());
  CHECK(v[6].IsBool());
  CHECK_FALSE(v[6].Bool());
  CHECK(v[7].IsArray());
  CHECK(v[8].IsObject());
  CHECK(root.Find("b").Find("c").Text() == "d");
  CHECK(root.Find("e").Text() == "1e3");
  CHECK_FALSE(root.Find("f").IsInt());
  CHECK(root.Find("f").IsNumber());
  CHECK(root.Find("none").IsNull());
  CHECK(root.Find("b").Find("c").Find("deeper").IsNull());
}

TEST_CASE("members are found in any case, the last one wins") {
  Document d;
  REQUIRE(d.Parse(R"({"Name":"a","name":"b","NAME":"c","x":1})").ok());
  CHECK(d.root().Find("name").Text() == "c");
  CHECK(d.root().FindExact("name").Text() == "b");
  CHECK(d.root().FindExact("X").IsNull());
  CHECK(d.root().Find("X").Int() == 1);
}

TEST_CASE("escapes are read and written as Go writes them") {
  Document d;
  REQUIRE(d.Parse(R"(["\u0041\n\"\\\/","\ud83d\ude00","<a&b>","é"])").ok());
  std::vector<std::string> texts;
  for (auto member : d.root().Children()) texts.emplace_back(member.value.Text());
  CHECK(texts[0] == "A\n\"\\/");
  CHECK(texts[1] == "\xF0\x9F\x98\x80");
  CHECK(d.root().Serialize() == "[\"A\\n\\\"\\\\/\",\"\xF0\x9F\x98\x80\",\"\\u003ca\\u0026b\\u003e\",\"\xC3\xA9\"]");
  std::string out;
  AppendJsonString("a\xff\xc3(\xE2\x80\xA8\x01", &out);
  CHECK(out == "\"a\\ufffd\\ufffd(\\u2028\\u0001\"");
}

TEST_CASE("offsets point into the text") {
  const std::string text = " {\"a\": \"x\\n\\\"y\\u0041\", \"b\":[ 12 , true,null,-1.5e3],\"c\":{}, \"d\":\"\\\\\"} ";
  Document d;
  REQUIRE(d.Parse(text).ok());
  auto slice = [&](Json j) { return text.substr(j.begin_offset(), j.end_offset() - j.begin_offset()); };
  Json root = d.root();
  CHECK(slice(root) == text.substr(1, text.size() - 2));
  CHECK(slice(root.Find("a")) == "\"x\\n\\\"y\\u0041\"");
  CHECK(slice(root.Find("b")) == "[ 12 , true,null,-1.5e3]");
  std::vector<std::string> parts;
  for (auto member : root.Find("b").Children()) parts.push_back(slice(member.value));
  CHECK(parts == std::vector<std::string>{"12", "true", "null", "-1.5e3"});
  CHECK(slice(root.Find("c")) == "{}");
  CHECK(slice(root.Find("d")) == "\"\\\\\"");
}

TEST_CASE("bad JSON is refused with line and column") {
  CHECK(JsonError("") == "line 1, column 1: The document is empty.");
  CHECK(JsonError("  \n ") == "line 2, column 2: The document is empty.");
  CHECK(JsonError("{\"a\":\n [1 2]}") == "line 2, column 5: Missing a comma or ']' after an array element.");
  CHECK(JsonError("{\"a\":1") == "line 1, column 7: Missing a comma or '}' after an object member.");
  CHECK(JsonError("{\"a\":\"x") == "line 1, column 8: Missing a closing quotation mark in string.");
  CHECK(JsonError("{} x") == "line 1, column 4: unexpected text after the value");
  CHECK(JsonError("{}{}") == "line 1, column 3: unexpected text after the value");
  CHECK(JsonError("{} \0") == "parsed");
  CHECK(JsonError(std::string("{}\0", 3)) == "line 1, column 3: unexpected text after the value");
  CHECK(JsonError(std::string("{\"a\":\0}", 7)) != "parsed");
  for (const char* text :
       {"nul", "{a:1}", "[1,]", "{\"a\" 1}", "\"\\x\"", "\"\\ud800\"", "01", "+1",  "1.",   ".5",
        "'a'", "[",     "]",    "{",         "\"\t\"",  "-",           "1e", "tru", "\xff", "{\"a\":1,}"}) {
    INFO(text);
    CHECK(JsonError(text) != "parsed");
  }
}

TEST_CASE("every truncation of a document is refused") {
  const std::string text = R"({"a":[1,{"b":"c\u0041"},null,true],"d":-1.5})";
  Document d;
  REQUIRE(d.Parse(text).ok());
  for (size_t n = 0; n < text.size(); ++n) {
    INFO(n);
    CHECK_FALSE(d.Parse(text.substr(0, n)).ok());
  }
}

TEST_CASE("nesting is capped, not recursed into") {
  const std::string in(kMaxJsonDepth, '['), out(kMaxJsonDepth, ']');
  CHECK(JsonError(in + out) == "parsed");
  CHECK(JsonError("[" + in + out + "]") == "line 1, column 513: nested deeper than 512 levels");
  CHECK(JsonError(std::string(10000, '[') + std::string(10000, ']')) ==
        "line 1, column 513: nested deeper than 512 levels");
  std::string objects;
  for (int i = 0; i < 10000; ++i) objects += "{\"a\":";
  CHECK(JsonError(objects).find("nested deeper than 512 levels") != std::string::npos);
  // A million brackets that never close neither crash nor hang.
  CHECK(JsonError(std::string(1000000, '[')).find("nested deeper") != std::string::npos);
}

TEST_CASE("a document can be parsed into again") {
  Document d;
  REQUIRE(d.Parse(R"({"a":"long text to hold","b":[1,2,3]})").ok());
  REQUIRE_FALSE(d.Parse("{\"a\":").ok());
  REQUIRE(d.Parse("[7]").ok());
  CHECK(d.root().Serialize() == "[7]");
}

TEST_CASE("many values stand one after another, lists are cut into elements") {
  Recorder r;
  REQUIRE(ReadJson("{\"kind\":\"List\",\"items\":[{\"x\":1},2,[3,[4]]],\"y\":[5]}\n{\"z\":6} [7]\n\"s\"", r).ok());
  CHECK(r.found == std::vector<std::string>{"items: {\"x\":1}", "items: 2", "items: [3,[4]]",
                                            "{\"kind\":\"List\",\"items\":[],\"y\":[5]}", "{\"z\":6}", "[7]", "\"s\""});
}

TEST_CASE("members of a member are cut too, and nothing deeper") {
  Recorder r;
  REQUIRE(ReadJson(R"({"cluster":{"items":[1,{"items":[2]}],"k":3},"pods":[{"items":[4]}],"items":{"items":[5]}})", r)
              .ok());
  CHECK(r.found ==
        std::vector<std::string>{"cluster.items: 1", "cluster.items: {\"items\":[2]}",
                                 R"({"cluster":{"items":[],"k":3},"pods":[{"items":[4]}],"items":{"items":[5]}})"});
}

TEST_CASE("an element's error stops the reading and says where") {
  Recorder r;
  absl::Status s = ReadJson("{\"items\":[\n{\"ok\":1},\n{\"bad\":true},\n{\"ok\":2}]}", r);
  CHECK(s.message() == "line 3, column 12: a bad element");
  CHECK(r.found.size() == 2);
}

TEST_CASE("text that ends inside a list is an error behind its elements") {
  Recorder r;
  absl::Status s = ReadJson("{\"items\":[{\"a\":1},{\"a\":", r);
  CHECK_FALSE(s.ok());
  CHECK(r.found == std::vector<std::string>{"items: {\"a\":1}"});
}

TEST_CASE("what is shown of a value is short") {
  Document d;
  REQUIRE(d.Parse("\"" + std::string(100, 'x') + "\"").ok());
  CHECK(d.root().Brief() == "\"" + std::string(59, 'x') + "...");
  REQUIRE(d.Parse("{\"a\":[1,2]}").ok());
  CHECK(d.root().Brief() == "{\"a\":[1,2]}");
}

}  // namespace
}  // namespace berth::api
