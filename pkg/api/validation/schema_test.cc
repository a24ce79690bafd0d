#include "pkg/api/validation/schema.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <set>

#include "pkg/api/scheduling_fields.h"
#include "pkg/util/status.h"

namespace berth::validation {
namespace {

std::string Canonical(std::string_view json, std::string_view type) {
  auto parsed = ParseJson(json);
  REQUIRE(parsed.ok());
  auto decoded = Decode(*parsed, TypeOf(type, Version{10}), "v1", json);
  if (!decoded.ok()) return util::Message(decoded.status());
  std::string out;
  Encode(*decoded, TypeOf(type, Version{10}), &out);
  // Normalize gives what is read again from the text that is written.
  Value normal = *decoded;
  Normalize(TypeOf(type, Version{10}), &normal);
  CHECK(ToJson(normal) == out);
  Normalize(TypeOf(type, Version{10}), &normal);
  CHECK(ToJson(normal) == out);
  return out;
}

TEST_CASE("a decoded object is written with the type's members, in the type's order") {
  CHECK(Canonical(R"({"spec":{"unschedulable":true,"bogus":[1]},"metadata":{"labels":{"b":"2","a":"1"},"name":"n"}})",
                  "Node") ==
        R"({"metadata":{"name":"n","creationTimestamp":null,"labels":{"a":"1","b":"2"}},"spec":{"unschedulable":true},)"
        R"("status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{"machineID":"","systemUUID":"",)"
        R"("bootID":"","kernelVersion":"","osImage":"","containerRuntimeVersion":"","kubeletVersion":"",)"
        R"("kubeProxyVersion":"","operatingSystem":"","architecture":""}}})");
}

TEST_CASE("null is absent, another letter case is accepted, the last duplicate wins") {
  CHECK(Canonical(R"({"name":null,"Value":"x","KEY":"k","value":"y","effect":"e","effect":"f"})", "Taint") ==
        R"({"key":"k","value":"y","effect":"f"})");
}

TEST_CASE("a value that was changed is normalized as it is written") {
  const TypeDef& type = TypeOf("Pod", Version{10});
  auto v =
      ParseJson(R"({"status":{"conditions":[{"status":"True","type":"Ready"}],"phase":""},"spec":{"containers":null,
      "nodeName":"n","priority":0,"tolerations":[]},"unknown":1,"metadata":{"labels":{"b":"2","a":null},"name":"p",
      "annotations":{},"uid":null,"ownerReferences":[{"uid":"u","controller":false}]}})");
  REQUIRE(v.ok());
  std::string text;
  Encode(*v, type, &text);
  Normalize(type, &*v);
  CHECK(ToJson(*v) == text);
}

TEST_CASE("what is changed of a normal value that is frozen is normalized again, and the rest stays shared") {
  const TypeDef& type = TypeOf("Pod", Version{10});
  Value v = *ParseJson(R"({"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"image":"i","name":"c"}]}})");
  Normalize(type, &v);
  v.Freeze();
  Value copy = v;
  copy.Child("status").Set("phase", Value::String("Running"));
  copy.Child("status").Set("message", Value::String(""));
  copy.Child("metadata").Set("generateName", Value::String("p-"));
  std::string text;
  Encode(copy, type, &text);
  Normalize(type, &copy);
  CHECK(ToJson(copy) == text);
  CHECK(std::as_const(copy).Find("spec")->items.Shares(std::as_const(v).Find("spec")->items));
  copy.Freeze();
  Value third = copy;
  third.At({"spec", "containers"})->items[0].Set("name", Value());
  third.At({"spec", "containers"})->items[0].Set("args", Value::Array());
  text.clear();
  Encode(third, type, &text);
  Normalize(type, &third);
  CHECK(ToJson(third) == text);
}

TEST_CASE("quantities get their canonical form") {
  struct {
    std::string_view in, out;
  } table[] = {{"1.5Gi", "1536Mi"},
               {"1e6", "1e6"},
               {"0.5", "500m"},
               {"1000000", "1M"},
               {"+1", "+1"},
               {"1.0", "1"},
               {"01", "01"},
               {"0.0015", "2m"},
               {"100u", "1m"},
               {"1e1", "10"},
               {"1.25M", "1250k"},
               {"1.5k", "1500"},
               {"0", "0"},
               {"1024Mi", "1Gi"},
               {"1e9", "1e9"},
               {"1e99999", "1e99999"},
               {"9999999999999999999999999999999999", "9999999999999999999999999999999999"}};
  for (auto& row : table) {
    INFO(row.in);
    auto q = CanonicalQuantity(row.in);
    REQUIRE(q.ok());
    CHECK(*q == row.out);
  }
  CHECK_FALSE(CanonicalQuantity("abc").ok());
  CHECK_FALSE(CanonicalQuantity("").ok());
}

TEST_CASE("wrong types are refused in the words of 1.10's decoder") {
  CHECK(
      Canonical(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b", "namespace": "wire"}, "spec": "x"})",
                "Pod") ==
      R"(v1.Pod: Spec: readObjectStart: expect { or n, but found ", error found in #10 byte of ...| "spec": "x"}|...,)"
      R"( bigger context ...|ta": {"name": "b", "namespace": "wire"}, "spec": "x"}|...)");
  CHECK(Canonical(R"({"metadata": {"labels": {"a": 1}}, "spec": {"containers": []}})", "Pod").substr(0, 100) ==
        R"(v1.Pod: Spec: v1.PodSpec: ObjectMeta: v1.ObjectMeta: Labels: ReadString: expects " or n, but found 1)");
}

TEST_CASE("integers out of range are errors") {
  CHECK(Canonical(R"({"weight":99999999999})", "PreferredSchedulingTerm").find("int32") != std::string::npos);
  CHECK(Canonical(R"({"weight":1.5})", "PreferredSchedulingTerm").find("1.5") != std::string::npos);
}

// What scheduling reads, a line "KIND PATH" for each field. Whoever changes what is read changes the file too.
constexpr char kPinned[] = "test/testdata/scheduling-fields.txt";

// Returns the part of a path of members that the type does not have, or an empty text. What is inside of a map, such as
// the name of an annotation, is no member.
std::string UnknownPart(const TypeDef& type, const std::string& path) {
  const TypeDef* at = &type;
  for (std::string_view rest = path; !rest.empty();) {
    const size_t end = std::min(rest.find('.'), rest.size());
    const FieldDef* field = at == nullptr ? nullptr : at->Find(rest.substr(0, end));
    if (field == nullptr) return std::string(rest);
    if (field->shape == FieldDef::Shape::kMap) return {};
    at = field->type;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

TEST_CASE("what scheduling reads of an object are members of its type") {
  CHECK(UnknownPart(TypeOfAllReleases("Pod"), "spec.containers.nodeName") == "nodeName");
  for (const std::string& kind : api::SchedulingKinds()) {
    for (const std::string& path : api::SchedulingFieldPaths(kind)) {
      if (path == "spec.workloadRef") continue;  // of 1.35 alone, which no server is emulated of
      INFO(kind << " " << path);
      CHECK(UnknownPart(TypeOfAllReleases(kind), path.substr(0, path.find_first_of("=/+"))).empty());
    }
  }
}

TEST_CASE("what scheduling reads of an object changes only with the list of it") {
  std::set<std::string> read, listed;
  for (const std::string& kind : api::SchedulingKinds()) {
    for (const std::string& path : api::SchedulingFieldPaths(kind)) read.insert(kind + " " + path);
  }
  std::ifstream in(kPinned);
  for (std::string line; std::getline(in, line);) listed.insert(line);
  std::vector<std::string> added, gone;
  std::set_difference(read.begin(), read.end(), listed.begin(), listed.end(), std::back_inserter(added));
  std::set_difference(listed.begin(), listed.end(), read.begin(), read.end(), std::back_inserter(gone));
  INFO("not in " << kPinned << ":\n" << absl::StrJoin(added, "\n"));
  CHECK(added.empty());
  INFO("only in " << kPinned << ":\n" << absl::StrJoin(gone, "\n"));
  CHECK(gone.empty());
}

}  // namespace
}  // namespace berth::validation
