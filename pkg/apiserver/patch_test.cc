#include "pkg/apiserver/patch.h"

#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <map>

#include "pkg/util/status.h"

namespace berth::apiserver {
namespace {

std::string Apply(PatchKind kind, std::string_view object, std::string_view patch, std::string_view type = "Pod") {
  auto v = ParseJson(object);
  REQUIRE(v.ok());
  auto out = ApplyPatch(kind, *v, patch, validation::TypeOf(type, Version{10}));
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

TEST_CASE("JSON patch: copies that double, too many operations and too much work are refused", "[no-threads]") {
  constexpr PatchKind k = PatchKind::kJson;
  std::string doubling = R"([{"op":"add","path":"/a","value":["xxxxxxxxxxxxxxxx"]})";
  for (int i = 0; i < 30; ++i) doubling += R"(,{"op":"copy","from":"/a","path":"/a/-"})";
  doubling += ']';
  CHECK(Apply(k, "{}", doubling).find("exceeding the limit 3145728") != std::string::npos);
  CHECK(Apply(k, R"({"a":"x"})", R"([{"op":"copy","from":"/a","path":"/b"},{"op":"copy","from":"/a","path":"/c"}])") ==
        R"({"a":"x","b":"x","c":"x"})");

  std::string many = R"([{"op":"add","path":"/a","value":1})";
  for (int i = 0; i < 10'000; ++i) many += R"(,{"op":"add","path":"/a","value":1})";
  many += ']';
  CHECK(Apply(k, "{}", many) == "The allowed maximum operations in a JSON patch is 10000, got 10001");

  std::string list = "[0", front = "[";
  for (int i = 0; i < 50'000; ++i) list += ",0";
  for (int i = 0; i < 5'000; ++i) front += R"({"op":"add","path":"/a/0","value":1},)";
  front.back() = ']';
  CHECK(Apply(k, absl::StrCat(R"({"a":)", list, "]}"), front).find("too much work") != std::string::npos);
  CHECK(Apply(k, R"({"a":1})", R"([{"op":"replace","path":"","value":1}])").find("does not apply") !=
        std::string::npos);
}

TEST_CASE("patches of large objects do what those of small ones do") {
  // 40,000 labels: every second one is removed, every third one changes, and some are new.
  constexpr int kLabels = 40'000;
  std::string object = R"({"metadata":{"labels":{"z":"0")", patch = R"({"metadata":{"labels":{"new":"1")";
  std::string want = R"({"metadata":{"labels":{)";
  std::map<std::string, std::string> left = {{"z", "0"}, {"new", "1"}};
  for (int i = 0; i < kLabels; ++i) {
    std::string key = absl::StrCat("k", i);
    absl::StrAppend(&object, ",\"", key, "\":\"old\"");
    if (i % 2 == 0) {
      absl::StrAppend(&patch, ",\"", key, "\":null");
    } else {
      if (i % 3 == 0) absl::StrAppend(&patch, ",\"", key, "\":\"changed\"");
      left[key] = i % 3 == 0 ? "changed" : "old";
    }
  }
  for (auto& [key, value] : left) absl::StrAppend(&want, "\"", key, "\":\"", value, "\",");
  want.back() = '}';
  for (PatchKind k : {PatchKind::kMerge, PatchKind::kStrategic}) {
    CHECK(Apply(k, absl::StrCat(object, "}}}"), absl::StrCat(patch, "}}}")) == absl::StrCat(want, "}}"));
  }
  CHECK(Apply(PatchKind::kMerge, R"({"a":1})", R"({"a":null,"a":2})") == R"({"a":2})");
  CHECK(Apply(PatchKind::kMerge, R"({"a":1})", R"({"a":2,"a":null})") == "{}");
}

TEST_CASE("strategic merge: a list is merged, deleted from and ordered in one patch") {
  CHECK(
      Apply(
          PatchKind::kStrategic, R"({"containers":[{"name":"a","image":"1"},{"name":"b"},{"name":"c"}]})",
          R"({"$setElementOrder/containers":[{"name":"d"},{"name":"a"},{"name":"c"}],"containers":[)"
          R"({"name":"d","image":"4"},{"name":"b","$patch":"delete"},{"name":"a","tty":true},{"name":"d","tty":true}]})",
          "PodSpec") ==
      R"({"containers":[{"image":"4","name":"d","tty":true},{"image":"1","name":"a","tty":true},{"name":"c"}]})");
  CHECK(Apply(PatchKind::kStrategic, R"({"finalizers":["a","b"]})",
              R"({"finalizers":["b","c"],"$deleteFromPrimitiveList/finalizers":["a"]})",
              "ObjectMeta") == R"({"finalizers":["b","c"]})");
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
