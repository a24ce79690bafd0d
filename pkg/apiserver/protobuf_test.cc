#include "pkg/apiserver/protobuf.h"

#include <catch2/catch.hpp>

#include "pkg/util/status.h"

namespace berth::apiserver {
namespace {

std::string Number(int n) {
  return n < 128 ? std::string(1, static_cast<char>(n))
                 : std::string{static_cast<char>(n | 128), static_cast<char>(n >> 7)};
}
std::string Bytes(int number, const std::string& s) {
  return Number(number << 3 | 2) + Number(static_cast<int>(s.size())) + s;
}
std::string Varint(int number, int n) {
  return Number(number << 3) + Number(n);
}
std::string Body(const std::string& kind, const std::string& raw) {
  return std::string("k8s\0", 4) + Bytes(1, Bytes(1, "v1") + Bytes(2, kind)) + Bytes(2, raw);
}

const std::string kConfigMap =
    Body("ConfigMap", Bytes(1, Bytes(1, "cm") + Bytes(8, "") + Bytes(11, Bytes(1, "l") + Bytes(2, "1")) + Varint(7, 5) +
                                   Bytes(17, "of a later release")) +
                          Bytes(2, Bytes(1, "k") + Bytes(2, "v")) + Bytes(3, Bytes(1, "b") + Bytes(2, "\x01\x02")));

TEST_CASE("an object in protobuf is the object in JSON") {
  auto v = DecodeProtobuf(kConfigMap, Catalog::Of(Version{10}).Type("ConfigMap"));
  REQUIRE(v.ok());
  CHECK(ToSortedJson(*v) == R"({"apiVersion":"v1","binaryData":{"b":"AQI="},"data":{"k":"v"},"kind":"ConfigMap",)"
                            R"("metadata":{"creationTimestamp":null,"generation":5,"labels":{"l":"1"},"name":"cm"}})");
}

TEST_CASE("quantities, times, numbers or texts") {
  std::string spec = Bytes(1, Varint(1, 1) + Bytes(3, "50%")) + Bytes(3, Varint(1, 0) + Varint(2, 7));
  auto v = DecodeProtobuf(Body("PodDisruptionBudget", Bytes(1, Bytes(8, Varint(1, 60))) + Bytes(2, spec)),
                          Catalog::Of(Version{10}).Type("PodDisruptionBudget"));
  REQUIRE(v.ok());
  CHECK(v->At({"metadata", "creationTimestamp"})->text() == "1970-01-01T00:01:00Z");
  CHECK(ToJson(*v->Find("spec")) == R"({"minAvailable":"50%","maxUnavailable":7})");
}

TEST_CASE("members that protobuf has in a message of their own are members of the object in JSON") {
  const std::string source = Bytes(1, Bytes(1, "/d")), volume = Bytes(1, "v") + Bytes(2, source);
  const std::string get = Bytes(2, Bytes(1, "/ok") + Bytes(2, Varint(1, 0) + Varint(2, 80)));
  const std::string container = Bytes(1, "c") + Bytes(2, "i") + Bytes(9, Bytes(1, "v") + Bytes(3, "/m")) +
                                Bytes(11, Bytes(1, get) + Varint(4, 5)) +
                                Bytes(7, Bytes(1, "e") + Bytes(3, Bytes(3, Bytes(1, Bytes(1, "cm")) + Bytes(2, "k"))));
  auto v = DecodeProtobuf(
      Body("Pod", Bytes(1, Bytes(1, "p")) + Bytes(2, Bytes(1, volume) + Bytes(2, container)) + Bytes(3, Bytes(1, ""))),
      Catalog::Of(Version{36}).Type("Pod"));
  REQUIRE(v.ok());
  CHECK(ToJson(*v->Find("spec")) ==
        R"({"volumes":[{"name":"v","hostPath":{"path":"/d"}}],"containers":[{"name":"c","image":"i",)"
        R"("volumeMounts":[{"name":"v","mountPath":"/m"}],"readinessProbe":{"httpGet":{"path":"/ok","port":80},)"
        R"("periodSeconds":5},"env":[{"name":"e","valueFrom":{"configMapKeyRef":{"name":"cm","key":"k"}}}]}]})");
  CHECK(v->Find("status") == nullptr);
  // A status that says something cannot be read, and is not passed over.
  v = DecodeProtobuf(Body("Pod", Bytes(3, Bytes(1, "Running"))), Catalog::Of(Version{36}).Type("Pod"));
  CHECK(util::Message(v.status()) == "protobuf: PodStatus is not understood here; send JSON");
}

TEST_CASE("an Ingress in protobuf") {
  const std::string service = Bytes(4, Bytes(1, "web") + Bytes(2, Varint(2, 80)));
  const std::string path = Bytes(1, "/") + Bytes(2, service) + Bytes(3, "Prefix");
  const std::string rule = Bytes(1, "h") + Bytes(2, Bytes(1, Bytes(1, path)));
  auto v = DecodeProtobuf(Body("Ingress", Bytes(2, Bytes(3, rule) + Bytes(4, "nginx")) + Bytes(3, Bytes(1, ""))),
                          Catalog::Of(Version{36}).Type("Ingress"));
  REQUIRE(v.ok());
  CHECK(ToJson(*v->Find("spec")) ==
        R"({"rules":[{"host":"h","http":{"paths":[{"path":"/","backend":{"service":{"name":"web",)"
        R"("port":{"number":80}}},"pathType":"Prefix"}]}}],"ingressClassName":"nginx"})");
}

TEST_CASE("whatever is cut off is an error or a smaller object, never a crash") {
  for (size_t n = 0; n < kConfigMap.size(); ++n) {
    auto v = DecodeProtobuf(std::string_view(kConfigMap).substr(0, n), Catalog::Of(Version{10}).Type("ConfigMap"));
    if (n < 4) CHECK_FALSE(v.ok());
  }
  CHECK_FALSE(DecodeProtobuf(std::string_view(kConfigMap).substr(0, kConfigMap.size() - 1),
                             Catalog::Of(Version{10}).Type("ConfigMap"))
                  .ok());
  CHECK_FALSE(DecodeProtobuf(Body("ConfigMap", Varint(1, 5)), Catalog::Of(Version{10}).Type("ConfigMap")).ok());
}

TEST_CASE("what cannot be understood is refused, not guessed") {
  auto v = DecodeProtobuf(Body("Node", Bytes(1, "")), Catalog::Of(Version{10}).Type("Node"));
  CHECK(util::Message(v.status()) == "protobuf: Node is not understood here; send JSON");
}

}  // namespace
}  // namespace berth::apiserver
