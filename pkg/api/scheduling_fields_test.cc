#include "pkg/api/scheduling_fields.h"

#include <absl/cleanup/cleanup.h>

#include <catch2/catch.hpp>
#include <string>

#include "pkg/api/decode.h"

namespace berth::api {
namespace {

std::string CutText(std::string_view kind, const std::string& text, Renamer* renamer = nullptr) {
  Document d;
  REQUIRE(d.Parse(text).ok());
  return CutToSchedulingFields(kind, d.root(), renamer);
}

// Writes the number of its class and "!" before each name.
class Marking final : public Renamer {
 public:
  std::string Rename(NameClass what, std::string_view name) override {
    return std::to_string(static_cast<int>(what)) + "!" + std::string(name);
  }
};

constexpr char kPod[] = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n","uid":"u",
  "annotations":{"secret":"s"},"labels":{"app":"web"},"managedFields":[{"manager":"m"}]},
  "spec":{"containers":[{"name":"c","image":"i:1","env":[{"name":"PASSWORD","value":"hunter2"}],"command":["sh"],
  "resources":{"requests":{"cpu":"100m"}}}],"nodeName":"n1","serviceAccountName":"sa"},
  "status":{"podIP":"10.0.0.1","phase":"Running"}})";

TEST_CASE("cutting keeps what scheduling reads and drops the rest") {
  CHECK(
      CutText("Pod", kPod) ==
      R"({"metadata":{"name":"p","namespace":"n","uid":"u","labels":{"app":"web"}},"spec":{"containers":[)"
      R"({"name":"c","image":"i:1","resources":{"requests":{"cpu":"100m"}}}],"nodeName":"n1"},"status":{"phase":"Running"}})");
  CHECK(CutText("Service", R"({"metadata":{"name":"s","labels":{"a":"b"}},"spec":{"clusterIP":"x","selector":{}}})") ==
        R"({"metadata":{"name":"s"},"spec":{"selector":{}}})");
}

TEST_CASE("member names are written as the API writes them, whatever case they came in") {
  CHECK(CutText("Pod", R"({"METADATA":{"Name":"p"},"Spec":{"NODENAME":"n"}})") ==
        R"({"metadata":{"name":"p"},"spec":{"nodeName":"n"}})");
}

TEST_CASE("a template's fields leave out what differs between its pods") {
  Document d;
  REQUIRE(d.Parse(kPod).ok());
  CHECK(CutToTemplateFields(d.root()) ==
        R"({"metadata":{"namespace":"n","labels":{"app":"web"}},"spec":{"containers":[)"
        R"({"image":"i:1","resources":{"requests":{"cpu":"100m"}}}]}})");
}

TEST_CASE("names are given to the renamer with what they name") {
  Marking m;
  CHECK(
      CutText("Pod", kPod, &m) ==
      R"({"metadata":{"name":"0!p","namespace":"2!n","uid":"3!u","labels":{"4!app":"5!web"}},"spec":{"containers":[)"
      R"({"name":"0!c","image":"7!i:1","resources":{"requests":{"6!cpu":"10!100m"}}}],"nodeName":"1!n1"},"status":{"phase":"10!Running"}})");
  CHECK(CutText("PersistentVolumeClaim",
                R"({"metadata":{"name":"c","annotations":{"x":"y","volume.kubernetes.io/selected-node":"n"}}})",
                &m) == R"({"metadata":{"name":"0!c","annotations":{"volume.kubernetes.io/selected-node":"1!n"}}})");
}

TEST_CASE("JSON inside an annotation is cut too, and what is no JSON stays none") {
  CHECK(
      CutText("Node", R"({"metadata":{"annotations":{"scheduler.alpha.kubernetes.io/preferAvoidPods":
        "{\"preferAvoidPods\":[{\"reason\":\"secret\",\"podSignature\":{\"podController\":{\"kind\":\"ReplicaSet\",\"uid\":\"u\"}}}]}"}}})") ==
      R"({"metadata":{"annotations":{"scheduler.alpha.kubernetes.io/preferAvoidPods":)"
      R"("{\"preferAvoidPods\":[{\"podSignature\":{\"podController\":{\"kind\":\"ReplicaSet\",\"uid\":\"u\"}}}]}"}}})");
  CHECK(CutText("Node", R"({"metadata":{"annotations":{"scheduler.alpha.kubernetes.io/preferAvoidPods":"secret"}}})") ==
        R"({"metadata":{"annotations":{"scheduler.alpha.kubernetes.io/preferAvoidPods":"{"}}})");
}

TEST_CASE("decoders keep the fields once they are told to") {
  Document pod, node;
  REQUIRE(pod.Parse(kPod).ok());
  REQUIRE(node.Parse(R"({"metadata":{"name":"n1","annotations":{"a":"b"}},"status":{"phase":"x"}})").ok());
  CHECK((*DecodeNode(node.root()))->meta.fields == nullptr);
  KeepSchedulingFields();
  const absl::Cleanup end = [] { KeepSchedulingFields(false); };
  const NodePtr n = *DecodeNode(node.root());
  REQUIRE(n->meta.fields != nullptr);
  CHECK(*n->meta.fields == R"({"metadata":{"name":"n1"}})");
  const PodPtr p = *DecodePod(pod.root());
  REQUIRE(TemplateFields(p->tmpl) != nullptr);
  CHECK(*TemplateFields(p->tmpl) == CutToTemplateFields(pod.root()));
  Document again;
  REQUIRE(again.Parse(*TemplateFields(p->tmpl)).ok());
  CHECK((*DecodePod(again.root()))->tmpl == p->tmpl);
}

}  // namespace
}  // namespace berth::api
