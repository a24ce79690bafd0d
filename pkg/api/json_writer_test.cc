#include "pkg/api/json_writer.h"

#include <catch2/catch.hpp>

#include "pkg/api/stream.h"
#include "pkg/api/yaml_text.h"

namespace berth::api {
namespace {

JsonWriter Sample() {
  JsonWriter out;
  out.Object().Member("name", "a: \"b\"\n#").Member("n", int64_t{-7}).Member("on", true);
  out.Key("list").Array().Text("yes").Number(5).Array().Text("x").Text("y").End().Object().Member("k", "v");
  out.Key("deep").Array().Object().Member("q", int64_t{1}).Member("r", false).End().End().End().End();
  out.Key("none").Array().End().Key("nothing").Object().End().Key("texts").Texts({"1", "null"}).End();
  return out;
}

TEST_CASE("JSON is written in order") {
  CHECK(Sample().Finish("json") ==
        "{\"name\":\"a: \\\"b\\\"\\n#\",\"n\":-7,\"on\":true,\"list\":[\"yes\",5,[\"x\",\"y\"],{\"k\":\"v\",\"deep\":"
        "[{\"q\":1,\"r\":false}]}],\"none\":[],\"nothing\":{},\"texts\":[\"1\",\"null\"]}\n");
}

TEST_CASE("indented JSON has a line for each value") {
  JsonWriter out(JsonWriter::Layout::kIndented);
  out.Object().Member("a", int64_t{1}).Key("b").Array().Object().End().Array().End().Text("x").End().End();
  CHECK(out.Finish() == "{\n  \"a\": 1,\n  \"b\": [\n    {},\n    [],\n    \"x\"\n  ]\n}\n");
}

TEST_CASE("YAML of scalars, and of what is no JSON") {
  CHECK(YamlOf("\"1\"") == "\"1\"\n");
  CHECK(YamlOf("[]") == "[]\n");
  CHECK(YamlOf("1.50") == "1.50\n");
  CHECK(YamlOf("{") == "{");
}

TEST_CASE("YAML reads back as the same value") {
  std::string yaml = Sample().Finish("yaml");
  INFO(yaml);
  CHECK(yaml.find("\nlist:\n- \"yes\"\n- 5\n- - x\n  - \"y\"\n- k: v\n  deep:\n  - q: 1\n") != std::string::npos);
  CHECK(yaml.find("- \"yes\"\n") != std::string::npos);  // without quotes, YAML would read a boolean
  CHECK(yaml.find("- \"1\"\n") != std::string::npos);
  CHECK(yaml.find('{') == yaml.find("{}"));  // only empty values are in flow style
  auto read = ReadDocument(yaml);
  REQUIRE(read.ok());
  CHECK(read->root().Serialize() + "\n" == Sample().Finish("json"));
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
