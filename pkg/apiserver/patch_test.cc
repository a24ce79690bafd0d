#include "pkg/apiserver/patch.h"

#include <catch2/catch.hpp>

#include "pkg/util/status.h"

namespace berth::apiserver {
namespace {

std::string Apply(PatchKind kind, std::string_view object, std::string_view patch, std::string_view type = "Pod") {
  auto v = ParseJson(object);
  REQUIRE(v.ok());
  auto out = ApplyPatch(kind, *v, patch, TypeOf(type));
  return out.ok() ? ToSortedJson(*out) : util::Message(out.status());
}

TEST_CASE("JSON patch: every operation") {
  constexpr PatchKind k = PatchKind::kJson;
  CHECK(Apply(k, R"({"a":[1,2]})", R"([{"op":"add","path":"/a/1","value":9},{"op":"add","path":"/a/-","value":3}])") ==
        R"({"a":[1,9,2,3]})");
  CHECK(Apply(k, R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"},{"op":"replace","path":"/b","value":"x"}])") ==
        R"({"b":"x"})");
  CHECK(Apply(k, R"({"a":{"b":1}})",
              R"([{"op":"move","from":"/a/b","path":"/c"},{"op":"copy","from":"/c","path":"/d"}])") ==
        R"({"a":{},"c":1,"d":1})");
  CHECK(Apply(k, R"({"a/b":{"~":1}})", R"([{"op":"test","path":"/a~1b/~0","value":1}])") == R"({"a/b":{"~":1}})");
}

TEST_CASE("JSON patch: what does not apply is an error") {
  constexpr PatchKind k = PatchKind::kJson;
  CHECK(Apply(k, R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])") == "Testing value /a failed");
  CHECK(Apply(k, "{}", R"([{"op":"remove","path":"/nope"}])") == "Unable to remove nonexistent key: nope");
  CHECK(Apply(k, "{}", R"([{"op":"replace","path":"/nope","value":1}])").find("missing key") != std::string::npos);
  CHECK(Apply(k, R"({"a":[1]})", R"([{"op":"add","path":"/a/5","value":1}])").find("invalid index") !=
        std::string::npos);
  CHECK(Apply(k, "{}", R"([{"op":"dance","path":"/a"}])") == "Unexpected kind: dance");
  CHECK(Apply(k, "{}", "{}").find("cannot unmarshal object") != std::string::npos);
}

TEST_CASE("merge patch: null deletes, objects merge, lists are replaced") {
  constexpr PatchKind k = PatchKind::kMerge;
  CHECK(Apply(k, R"({"a":{"b":1,"c":2},"l":[1,2]})", R"({"a":{"b":null,"d":{"x":null,"y":1}},"l":[3]})") ==
        R"({"a":{"c":2,"d":{"y":1}},"l":[3]})");
  CHECK(Apply(k, R"({"a":1})", "[1]") == "[1]");
  CHECK(Apply(k, "{}", "{bad") == "Invalid JSON Patch");
}

TEST_CASE("strategic merge: lists by their keys, node taints replaced") {
  constexpr PatchKind k = PatchKind::kStrategic;
  CHECK(Apply(k, R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"1"}]}})",
              R"({"spec":{"containers":[{"name":"b","image":"2"},{"name":"c"}]}})") ==
        R"({"spec":{"containers":[{"image":"1","name":"a"},{"image":"2","name":"b"},{"name":"c"}]}})");
  CHECK(Apply(k, R"({"status":{"conditions":[{"type":"A"},{"type":"B"}]}})",
              R"({"status":{"conditions":[{"$patch":"delete","type":"A"}]}})") ==
        R"({"status":{"conditions":[{"type":"B"}]}})");
  CHECK(Apply(k, R"({"status":{"conditions":[{"type":"A"}]}})",
              R"({"status":{"conditions":[{"$patch":"replace"},{"type":"Z"}]}})") ==
        R"({"status":{"conditions":[{"type":"Z"}]}})");
  CHECK(Apply(k, R"({"spec":{"taints":[{"key":"a"}]}})", R"({"spec":{"taints":[{"key":"b"}]}})", "Node") ==
        R"({"spec":{"taints":[{"key":"b"}]}})");
  CHECK(Apply(k, R"({"metadata":{"finalizers":["a","b"]}})",
              R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":["c"]}})") ==
        R"({"metadata":{"finalizers":["b","c"]}})");
  CHECK(
      Apply(
          k, R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
          R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"containers":[{"name":"a","image":"x"}]}})") ==
      R"({"spec":{"containers":[{"name":"b"},{"image":"x","name":"a"}]}})");
  CHECK(
      Apply(
          k, R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})",
          R"({"spec":{"volumes":[{"name":"v","emptyDir":null,"$retainKeys":["name","hostPath"],"hostPath":{"path":"/x"}}]}})") ==
      R"({"spec":{"volumes":[{"hostPath":{"path":"/x"},"name":"v"}]}})");
  CHECK(Apply(k, R"({"spec":{"containers":[{"name":"a"}]}})", R"({"spec":{"containers":[{"image":"x"}]}})")
            .find("does not contain declared merge key: name") != std::string::npos);
}

}  // namespace
}  // namespace berth::apiserver
