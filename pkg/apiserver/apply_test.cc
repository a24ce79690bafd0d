#include "pkg/apiserver/apply.h"

#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <optional>

namespace berth::apiserver {
namespace {

Value ObjectOf(const std::string& json) {
  auto v = ParseJson(json);
  REQUIRE(v.ok());
  return *std::move(v);
}

// An object to which managers apply, one after another.
class AppliedObject {
 public:
  explicit AppliedObject(std::string_view kind) : type_(validation::TypeOf(kind, Version{36})) {}

  // Returns the text of the conflicts, or nothing.
  std::string Apply(const std::string& manager, const std::string& json, bool force = false) {
    const ApplyRequest how{.manager = manager, .api_version = "v1", .subresource = "", .time = "T", .force = force};
    auto result = apiserver::Apply(live_ ? &*live_ : nullptr, ObjectOf(json), type_, how);
    if (auto* conflicts = std::get_if<std::vector<ApplyConflict>>(&result)) return ConflictText(*conflicts);
    live_ = std::get<Value>(std::move(result));
    return "";
  }
  Value& live() { return *live_; }
  std::string Text(std::string_view member) const { return ToSortedJson(*live_->Find(member)); }
  // The managers that have applied something, with their fields.
  std::string Managers() const {
    std::string out;
    for (const Value& e : live_->At({"metadata", "managedFields"})->items) {
      absl::StrAppend(&out, std::string(e.Str("manager")), " ", ToSortedJson(*e.Find("fieldsV1")), "\n");
    }
    return out;
  }

 private:
  const TypeDef& type_;
  std::optional<Value> live_;
};

TEST_CASE("what a manager no longer applies goes, and what others wrote stays") {
  AppliedObject map("ConfigMap");
  CHECK(map.Apply("a", R"({"metadata":{"name":"m","labels":{"l":"1"}},"data":{"x":"1","y":"2"}})").empty());
  CHECK(map.Managers() == R"(a {"f:data":{"f:x":{},"f:y":{}},"f:metadata":{"f:labels":{"f:l":{}}}})"
                          "\n");
  map.live().Child("data").Set("z", Value::String("of somebody else"));
  CHECK(map.Apply("a", R"({"metadata":{"name":"m"},"data":{"y":"3"}})").empty());
  CHECK(map.Text("data") == R"({"y":"3","z":"of somebody else"})");
  CHECK(map.live().At({"metadata", "labels"}) == nullptr);
  CHECK(map.live().At({"metadata", "name"})->text() == "m");
}

TEST_CASE("elements of lists are known by their keys") {
  AppliedObject pod("Pod");
  CHECK(pod.Apply("a", R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","ports":[
        {"containerPort":53},{"containerPort":53,"protocol":"UDP"}],"env":[{"name":"e","value":"1"}]}]}})")
            .empty());
  CHECK(pod.Apply("b", R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"d","image":"j"},
        {"name":"c","env":[{"name":"f","value":"2"}]}],"nodeSelector":{"x":"y"}}})")
            .empty());
  CHECK(pod.Text("spec") ==
        R"({"containers":[{"env":[{"name":"e","value":"1"},{"name":"f","value":"2"}],"image":"i","name":"c",)"
        R"("ports":[{"containerPort":53},{"containerPort":53,"protocol":"UDP"}]},{"image":"j","name":"d"}],)"
        R"("nodeSelector":{"x":"y"}})");
  CHECK(pod.Apply("a", R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"k"}]}})").empty());
  CHECK(pod.Text("spec") == R"({"containers":[{"env":[{"name":"f","value":"2"}],"image":"k","name":"c"},)"
                            R"({"image":"j","name":"d"}],"nodeSelector":{"x":"y"}})");
  CHECK(pod.Apply("b", R"({"metadata":{"name":"p"}})").empty());
  CHECK(pod.Text("spec") == R"({"containers":[{"image":"k","name":"c"}]})");
}

TEST_CASE("another value for a field of another manager is a conflict, unless forced") {
  AppliedObject set("Deployment");
  CHECK(set.Apply("a", R"({"metadata":{"name":"d"},"spec":{"replicas":1,"paused":true}})").empty());
  CHECK(set.Apply("b", R"({"metadata":{"name":"d"},"spec":{"replicas":1}})").empty());
  CHECK(set.Apply("b", R"({"metadata":{"name":"d"},"spec":{"replicas":2}})") ==
        "Apply failed with 1 conflict: conflict with \"a\": .spec.replicas");
  CHECK(set.Apply("b", R"({"metadata":{"name":"d"},"spec":{"replicas":2,"paused":false}})") ==
        "Apply failed with 2 conflicts: conflicts with \"a\":\n- .spec.replicas\n- .spec.paused");
  CHECK(set.Text("spec") == R"({"paused":true,"replicas":1})");
  CHECK(set.Apply("b", R"({"metadata":{"name":"d"},"spec":{"replicas":2}})", true).empty());
  CHECK(set.Text("spec") == R"({"paused":true,"replicas":2})");
  CHECK(set.Managers() == R"(a {"f:spec":{"f:paused":{}}})"
                          "\n"
                          R"(b {"f:spec":{"f:replicas":{}}})"
                          "\n");
  // What a has lost to b is not removed with what it no longer applies.
  CHECK(set.Apply("a", R"({"metadata":{"name":"d"}})").empty());
  CHECK(set.Text("spec") == R"({"replicas":2})");
}

TEST_CASE("conflicts in lists name the element") {
  AppliedObject pod("Pod");
  const auto image = [](const char* name) {
    return absl::StrCat(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":")", name, R"("}]}})");
  };
  CHECK(pod.Apply("a", image("i")).empty());
  CHECK(pod.Apply("b", image("j")) ==
        "Apply failed with 1 conflict: conflict with \"a\": .spec.containers[name=\"c\"].image");
}

TEST_CASE("finalizers are a set, and selectors are replaced as a whole") {
  AppliedObject set("ReplicaSet");
  CHECK(
      set.Apply("a",
                R"({"metadata":{"name":"r","finalizers":["x/a","x/b"]},"spec":{"selector":{"matchLabels":{"a":"b"}}}})")
          .empty());
  set.live().Child("metadata").Find("finalizers")->Append(Value::String("x/c"));
  CHECK(
      set.Apply("a", R"({"metadata":{"name":"r","finalizers":["x/b"]},"spec":{"selector":{"matchLabels":{"c":"d"}}}})")
          .empty());
  CHECK(ToJson(*set.live().At({"metadata", "finalizers"})) == R"(["x/b","x/c"])");
  CHECK(set.Text("spec") == R"({"selector":{"matchLabels":{"c":"d"}}})");
}

TEST_CASE("what changes nothing leaves the time of the last change") {
  AppliedObject map("ConfigMap");
  const std::string json = R"({"metadata":{"name":"m"},"data":{"x":"1"}})";
  CHECK(map.Apply("a", json).empty());
  map.live().Child("metadata").Find("managedFields")->items[0].Set("time", Value::String("before"));
  const Value before = map.live();
  CHECK(map.Apply("a", json).empty());
  CHECK(map.live() == before);
}

}  // namespace
}  // namespace berth::apiserver
