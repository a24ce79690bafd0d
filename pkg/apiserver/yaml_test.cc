#include "pkg/apiserver/yaml.h"

#include <catch2/catch.hpp>

namespace berth::apiserver {
namespace {

TEST_CASE("YAML answers have sorted keys, and quotes where a reader would take a text for something else") {
  auto v = ParseJson(R"({"b":[{"y":1,"x":"a: b"},[]],"a":{},"c":"123","d":"true","e":"plain"})");
  REQUIRE(v.ok());
  CHECK(ToYaml(*v) == "a: {}\nb:\n- x: \"a: b\"\n  \"y\": 1\n- []\nc: \"123\"\nd: \"true\"\ne: plain\n");
}

}  // namespace
}  // namespace berth::apiserver
