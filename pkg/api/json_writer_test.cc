#include "pkg/api/json_writer.h"

#include <catch2/catch.hpp>

#include "pkg/api/json.h"
#include "pkg/api/stream.h"
#include "pkg/api/yaml_text.h"

namespace berth::api {
namespace {

std::string Sample(std::string_view format) {
  JsonWriter out;
  out.Object().Member("name", "a: \"b\"\n#").Member("n", int64_t{-7}).Member("on", true);
  out.Key("list").Array().Text("yes").Number(5).Array().Text("x").Text("y").End().Object().Member("k", "v");
  out.Key("deep").Array().Object().Member("q", int64_t{1}).Member("r", false).End().End().End().End();
  out.Key("none").Array().End().Key("nothing").Object().End().Key("texts").Texts({"1", "null"}).End();
  return out.Finish(format);
}

TEST_CASE("JSON is written in order") {
  CHECK(Sample("json") ==
        "{\"name\":\"a: \\\"b\\\"\\n#\",\"n\":-7,\"on\":true,\"list\":[\"yes\",5,[\"x\",\"y\"],{\"k\":\"v\",\"deep\":"
        "[{\"q\":1,\"r\":false}]}],\"none\":[],\"nothing\":{},\"texts\":[\"1\",\"null\"]}\n");
}

TEST_CASE("indented JSON has a line for each value") {
  JsonWriter out(JsonWriter::Layout::kIndented);
  out.Object().Member("a", int64_t{1}).Key("b").Array().Object().End().Array().End().Text("x").End().End();
  CHECK(out.Finish() == "{\n  \"a\": 1,\n  \"b\": [\n    {},\n    [],\n    \"x\"\n  ]\n}\n");
}

TEST_CASE("JSON goes on in a text, line by line") {
  std::string out = "{\"a\":[1";
  JsonWriter w(&out);
  w.Text("x").Number(uint64_t{18446744073709551615u}).Object().MembersOf("{}").MembersOf("{\"b\":2}").End();
  out += "],";
  out.back() = '}';
  w.EndLine().Object().Key("list").Each(std::vector<int>{3, -14}, [&](int n) { w.Number(n); }).End().EndLine();
  w.Literal("5");
  JsonWriter(&out).EndLine().Array().Bool(true).Bool(false).End();
  CHECK(out == "{\"a\":[1,\"x\",18446744073709551615,{\"b\":2}]}\n{\"list\":[3,-14]}\n5\n[true,false]");
  JsonWriter parts;
  parts.Part("{\"a\":{").Member("b", 1).Part("}").Key("c").Array().ElementsOf("").ElementsOf("1,2").Text("x");
  *parts.Place() += "{}";
  CHECK(parts.Number(3).End().Part("}").Take() == "{\"a\":{\"b\":1},\"c\":[1,2,\"x\",{},3]}");
  CHECK(JsonWriter().Object().Member("k", "v").MemberUnlessEmpty("none", "").End().Take() == "{\"k\":\"v\"}");
}

TEST_CASE("JSON may be as deep as a document") {
  JsonWriter out, indented(JsonWriter::Layout::kIndented);
  std::string expected, end;
  for (int i = 0; i < kMaxJsonDepth; ++i) {
    const bool array = i % 3 == 0;
    array ? out.Array() : out.Object().Key("k");
    indented.Array();
    expected += array ? "[" : "{\"k\":";
    end.insert(0, array ? "]" : "}");
  }
  out.Number(1);
  for (int i = 0; i < kMaxJsonDepth; ++i) indented.End(), out.End();
  CHECK(out.Take() == expected + "1" + end);
  CHECK(indented.Take().find("\n" + std::string(size_t{2} * (kMaxJsonDepth - 1), ' ') + "[]\n") != std::string::npos);
}

TEST_CASE("JSON strings are escaped, whether the compiler knows them or not") {
  const std::string sixty(60, 'k');
  const auto is_as_text = [](JsonText literal, const std::string& text) {
    CHECK_FALSE(JsonText(text).plain());
    CHECK(JsonWriter().Array().Text(literal).Object().Member(literal, literal).End().End().Take() ==
          JsonWriter().Array().Text(text).Object().Member(text, text).End().End().Take());
    return literal.plain();
  };
  CHECK(is_as_text("", ""));
  CHECK(is_as_text("kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk", sixty));
  CHECK_FALSE(is_as_text("kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk", sixty + "k"));
  CHECK_FALSE(is_as_text("a\"b", "a\"b"));
  CHECK_FALSE(is_as_text("<", "<"));
  CHECK_FALSE(is_as_text("\x7f", "\x7f"));
  CHECK_FALSE(is_as_text("\xc3\xa4", "\xc3\xa4"));
  CHECK(JsonWriter().Text("a\"<\n").Take() == "\"a\\\"\\u003c\\n\"");
}

TEST_CASE("JSON has the names of objects with their namespaces") {
  const auto name = [](std::string_view ns, std::string_view n) { return JsonWriter().Name(ns, n).Take(); };
  CHECK(name("", "a\"") == "\"a\\\"\"");
  CHECK(name("n", "a") == "\"n/a\"");
  for (const size_t size : {125, 126, 127, 300}) {
    const std::string longer(size, 'x');
    CHECK(name("n", longer) == "\"n/" + longer + "\"");
  }
}

TEST_CASE("YAML of scalars, and of what is no JSON") {
  CHECK(YamlOf("\"1\"") == "\"1\"\n");
  CHECK(YamlOf("[]") == "[]\n");
  CHECK(YamlOf("1.50") == "1.50\n");
  CHECK(YamlOf("{") == "{");
}

TEST_CASE("YAML reads back as the same value") {
  std::string yaml = Sample("yaml");
  INFO(yaml);
  CHECK(yaml.find("\nlist:\n- \"yes\"\n- 5\n- - x\n  - \"y\"\n- k: v\n  deep:\n  - q: 1\n") != std::string::npos);
  CHECK(yaml.find("- \"yes\"\n") != std::string::npos);  // without quotes, YAML would read a boolean
  CHECK(yaml.find("- \"1\"\n") != std::string::npos);
  CHECK(yaml.find('{') == yaml.find("{}"));  // only empty values are in flow style
  auto read = ReadDocument(yaml);
  REQUIRE(read.ok());
  CHECK(read->root().Serialize() + "\n" == Sample("json"));
}

TEST_CASE("YAML quotes what would not be read back as the same text, and nothing else") {
  for (const char* text : {"",   "yes", "No", "null", "~",    "1",  "1.5", "0x1f",       "1e3",  "12:30", ".5", ".inf",
                           "-",  "- a", "+1", "a: b", "a #b", "a:", "a ",  " a",         "*a",   "&a",    "!a", "{a",
                           "[a", "#a",  "'a", "\"a",  "@a",   "%a", "|",   "2020-01-01", "a\nb", "<<",    "=",  "?"}) {
    INFO(text);
    CHECK_FALSE(IsPlainYaml(text));
  }
  for (const char* text : {"a", "node-1", "ns/name", "0/300 nodes are available: 3 Insufficient cpu.", ".dockercfg",
                           "a:b", "10.0.0.1/8 x", "nvidia.com/gpu", "it's", "free 20 a on b; median 3"}) {
    INFO(text);
    bool plain = IsPlainYaml(text);
    CHECK(plain == (std::string(text).find(": ") == std::string::npos));
    JsonWriter out;
    auto read = ReadDocument(out.Object().Member("k", text).End().Finish("yaml"));
    REQUIRE(read.ok());
    CHECK(read->root().Find("k").Text() == text);
  }
}

}  // namespace
}  // namespace berth::api
