#include "pkg/api/compact.h"

#include <catch2/catch.hpp>

#include <string>

#include "pkg/api/decode.h"

namespace berth::api {
namespace {

NodePtr NodeWith(const std::string& status) {
  Document doc;
  REQUIRE(doc.Parse(R"({"metadata":{"name":"n"},"status":)" + status + "}").ok());
  auto node = DecodeNode(doc.root(), {});
  REQUIRE(node.ok());
  return *node;
}

TEST_CASE("rare value: copies are independent, and it converts from and to an optional") {
  Rare<std::string> a;
  CHECK_FALSE(a);
  CHECK_FALSE(std::optional<std::string>(a).has_value());
  a = std::string("one");
  Rare<std::string> b = a;
  b.Ensure() += " and more";
  CHECK(*a == "one");
  CHECK(*b == "one and more");
  a = std::optional<std::string>();
  CHECK_FALSE(a);
  CHECK(*std::optional<std::string>(b) == "one and more");
  b.reset();
  CHECK(b.Ensure().empty());
}

TEST_CASE("lists of nodes: those that are alike are one, and others are not") {
  const std::string one =
      R"({"allocatable":{"cpu":"4","memory":"1Gi"},"conditions":[{"type":"Ready","status":"True"}]})";
  const NodePtr a = NodeWith(one), b = NodeWith(one);
  CHECK(a->allocatable.list().data() == b->allocatable.list().data());
  CHECK(a->conditions.list().data() == b->conditions.list().data());
  const NodePtr c =
      NodeWith(R"({"allocatable":{"cpu":"4","memory":"2Gi"},"conditions":[{"type":"Ready","status":"False"}]})");
  CHECK_FALSE(a->allocatable == c->allocatable);
  CHECK_FALSE(a->conditions == c->conditions);
  CHECK(c->allocatable[1].second.Value() == int64_t{2} << 30);
  CHECK(NodeWith("{}")->allocatable.empty());
}

TEST_CASE("lists of nodes: amounts in different notations are equal but keep their notations") {
  const NodePtr a = NodeWith(R"({"allocatable":{"memory":"1Ki"}})"),
                b = NodeWith(R"({"allocatable":{"memory":"1024"}})");
  CHECK(a->allocatable == b->allocatable);
  CHECK(a->allocatable[0].second.String() == "1Ki");
  CHECK(b->allocatable[0].second.String() == "1024");
}

}  // namespace
}  // namespace berth::api
