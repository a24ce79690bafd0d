#include "pkg/api/compact.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

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

TEST_CASE("optional time: absent, present, and absent again, in the size of a time") {
  static_assert(sizeof(OptionalTime) == sizeof(int64_t));
  OptionalTime t;
  CHECK_FALSE(t);
  CHECK(t.value_or(7) == 7);
  CHECK(t == OptionalTime());
  for (const int64_t seconds : {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::max()}) {
    t = seconds;
    CHECK(t.has_value());
    CHECK(*t == seconds);
    CHECK(t.value_or(7) == seconds);
    CHECK(t != OptionalTime());
  }
  t.reset();
  CHECK_FALSE(t);
}

TEST_CASE("text: holds any characters, and copies are independent") {
  static_assert(sizeof(Text) == sizeof(void*));
  Text a;
  CHECK(a.empty());
  CHECK(a.str().empty());
  a = std::string("with \0 in it", 12);
  CHECK(a.str().size() == 12);
  Text b = a;
  CHECK(b == a);
  a = "other";
  CHECK(a == "other");
  CHECK(b.string() == std::string("with \0 in it", 12));
  b = std::move(a);
  CHECK(b == "other");
  b = b.str().substr(1, 3);  // of itself
  CHECK(b == "the");
  b = "";
  CHECK(b.empty());
  CHECK(b == Text());
}

TEST_CASE("shared text: copies are one text, and an equal text is another") {
  static_assert(sizeof(SharedText) == sizeof(void*));
  SharedText none;
  CHECK(none == nullptr);
  SharedText a(std::string("t")), b = a;
  CHECK(a == b);
  CHECK(a != SharedText(std::string("t")));
  CHECK(&*a == &*b);
  a.reset();
  CHECK(a == nullptr);
  CHECK(*b == "t");
  CHECK(b->size() == 1);
}

TEST_CASE("shared list: elements are left out of a copy alone") {
  static_assert(sizeof(SharedList<int>) == sizeof(void*));
  const SharedList<int> all = {1, 2, 3, 4};
  const SharedList<int> odd = all.Without([](int i) { return i % 2 == 0; });
  CHECK(odd == SharedList<int>{1, 3});
  CHECK(all.size() == 4);
  CHECK(odd.Without([](int) { return true; }).empty());
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
