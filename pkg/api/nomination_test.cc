#include "pkg/api/nomination.h"

#include <catch2/catch.hpp>

#include <string>

#include "pkg/api/decode.h"

namespace berth::api {
namespace {

PodPtr ReadWithNomination(const std::string& annotations, const std::string& status, const std::string& spec = "{}") {
  Document document;
  REQUIRE(document
              .Parse("{\"metadata\":{\"name\":\"p\",\"annotations\":" + annotations + "},\"spec\":" + spec +
                     ",\"status\":" + status + "}")
              .ok());
  return WithNominationFrom("Node", DecodePod(document.root()).value(), document.root());
}

TEST_CASE("nomination: the annotation counts and not the status") {
  CHECK(ReadWithNomination(R"({"Node":"n1"})", "{}")->nominated_node_name.str() == "n1");
  CHECK(ReadWithNomination(R"({"Node":"n1"})", R"({"nominatedNodeName":"n2"})")->nominated_node_name.str() == "n1");
  CHECK(ReadWithNomination("null", R"({"nominatedNodeName":"n2"})")->nominated_node_name.str().empty());
  // An empty text is no nomination, and the name of an annotation has a case.
  CHECK(ReadWithNomination(R"({"Node":""})", R"({"nominatedNodeName":"n2"})")->nominated_node_name.str().empty());
  CHECK(ReadWithNomination(R"({"node":"n1"})", "{}")->nominated_node_name.str().empty());
}

TEST_CASE("nomination: a pod with a node has none to look for") {
  const PodPtr p = ReadWithNomination(R"({"Node":"n1"})", "{}", R"({"nodeName":"n3"})");
  CHECK(p->nominated_node_name.str().empty());
}

}  // namespace
}  // namespace berth::api
