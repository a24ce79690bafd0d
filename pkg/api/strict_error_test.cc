#include "pkg/api/strict_error.h"

#include <catch2/catch.hpp>

#include "pkg/api/stream.h"

namespace berth::api {
namespace {

const GoMember kTestMembers[] = {{"profiles", "Profiles", "v1beta1.KubeSchedulerProfile", true},
                                 {"plugins", "Plugins", "v1beta1.Plugins"}};

// The texts are those that 1.19 was reported to print.
TEST_CASE("an unknown member is named with the types that lead to it and with what stands around it") {
  auto document = ReadDocument(
      "apiVersion: kubescheduler.config.k8s.io/v1beta1\nkind: KubeSchedulerConfiguration\nprofiles:\n- plugins:\n    "
      "PostFilter:\n      disabled:\n      - name: DefaultPreemption\n");
  REQUIRE(document.ok());
  CHECK(
      StrictDocument(document->root(), "v1beta1.KubeSchedulerConfiguration", kTestMembers)
          .UnknownMember("profiles[0].plugins.PostFilter") ==
      "v1beta1.KubeSchedulerConfiguration.Profiles: []v1beta1.KubeSchedulerProfile: "
      "v1beta1.KubeSchedulerProfile.Plugins: v1beta1.Plugins.ReadObject: found unknown field: PostFilter, error found "
      "in #10 byte of ...|ostFilter\":{\"disable|..., bigger context "
      "...|onfiguration\",\"profiles\":[{\"plugins\":{\"PostFilter\":{\"disabled\":[{\"name\":\"DefaultPreemption\"}]}}"
      "}]}|"
      "...");
  auto args = ReadDocument("shape: [{Utilization: 1, Score: 2}]");
  const GoMember shape[] = {{"shape", "Shape", "v1beta1.UtilizationShapePoint", true}};
  CHECK(StrictDocument(args->root(), "v1beta1.RequestedToCapacityRatioArgs", shape).UnknownMember("shape[0].Score") ==
        "v1beta1.RequestedToCapacityRatioArgs.Shape: []v1beta1.UtilizationShapePoint: "
        "v1beta1.UtilizationShapePoint.ReadObject: found unknown field: Score, error found in #10 byte of "
        "...|:[{\"Score\":2,\"Utiliz|..., bigger context ...|{\"shape\":[{\"Score\":2,\"Utilization\":1}]}|...");
}

TEST_CASE("an unknown member near the beginning, and beside a key") {
  auto document = ReadDocument(R"({"z":1,"tls":{"keyData":"c2VjcmV0"}})");
  StrictDocument strict(document->root(), "v1.T", {});
  CHECK(
      strict.UnknownMember("z") ==
      "v1.T.ReadObject: found unknown field: z, error found in #10 byte of ...|\":\"-\"},\"z\":1}|..., bigger context "
      "...|{\"tls\":{\"keyData\":\"-\"},\"z\":1}|...");
  CHECK(strict.UnknownMember("tls") ==
        "v1.T.ReadObject: found unknown field: tls, error found in #6 byte of ...|{\"tls\":{\"keyData|..., bigger "
        "context "
        "...|{\"tls\":{\"keyData\":\"-\"},\"z\":1}|...");
}

}  // namespace
}  // namespace berth::api
