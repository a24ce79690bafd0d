#include "pkg/client/framing.h"

#include <catch2/catch.hpp>

namespace berth::client {
namespace {

using Texts = std::vector<std::string>;

// Feeds `text` in pieces of `size` bytes.
template <typename Framer>
absl::Status Cut(Framer& f, const std::string& text, size_t size, Texts* out) {
  for (size_t i = 0; i < text.size(); i += size) {
    absl::Status s = f.Feed(std::string_view(text).substr(i, size), [&](std::string_view v) {
      out->emplace_back(v);
      return true;
    });
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace

TEST_CASE("a watch is cut into objects wherever the pieces break") {
  std::string a = R"({"type":"ADDED","object":{"a":"}{][\"\\","b":[{},[]]}})", b = R"({"x":"\\\""})", c = "{}";
  std::string text = a + "\n" + b + c + "  \r\n\t";
  for (size_t size = 1; size <= text.size(); ++size) {
    ValueFramer f;
    Texts out;
    CAPTURE(size);
    REQUIRE(Cut(f, text, size, &out).ok());
    CHECK(out == Texts{a, b, c});
    CHECK_FALSE(f.partial());
  }
}

TEST_CASE("a watch that ends inside an object is partial, and what is no object is an error") {
  ValueFramer f;
  Texts out;
  REQUIRE(Cut(f, "{\"a\":1}{\"b\"", 100, &out).ok());
  CHECK(out == Texts{"{\"a\":1}"});
  CHECK(f.partial());
  ValueFramer g;
  absl::Status s = Cut(g, "{\"a\":1} <html>", 100, &out);
  CHECK(s.message() == "expected a JSON object, found '<'");
  CHECK_FALSE(Cut(g, "{}", 100, &out).ok());
}

TEST_CASE("cutting stops when asked to") {
  ValueFramer f;
  int n = 0;
  REQUIRE(f.Feed("{}{}{}", [&](std::string_view) { return ++n < 2; }).ok());
  CHECK(n == 2);
}

TEST_CASE("a list is cut into its items and the rest") {
  std::string one = R"({"metadata":{"name":"a]}"}})", two = R"({"items":[1,{"x":"\""}]})";
  std::string text =
      R"({"kind":"PodList","x\"items":[{"no":1}],"n":12.5,"metadata":{"items":[{"no":2}],"resourceVersion":"7"}, )"
      R"("items" : [ )" +
      one + " ,\n" + two + R"( ],"after":{"a":null},"s":"items"})" + "\n";
  for (size_t size = 1; size <= text.size(); ++size) {
    ListFramer f;
    Texts out;
    CAPTURE(size);
    REQUIRE(Cut(f, text, size, &out).ok());
    CHECK(out == Texts{one, two});
    CHECK(f.done());
    CHECK(f.rest() ==
          R"({"kind":"PodList","x\"items":[{"no":1}],"n":12.5,"metadata":{"items":[{"no":2}],"resourceVersion":"7"}, )"
          R"("items" : [],"after":{"a":null},"s":"items"})");
  }
}

TEST_CASE("an empty list, with an empty array or null") {
  for (std::string items : {"[]", "[ ]", "null"}) {
    ListFramer f;
    Texts out;
    REQUIRE(Cut(f, "{\"metadata\":{},\"items\":" + items + "}", 3, &out).ok());
    CHECK(out.empty());
    CHECK(f.done());
  }
}

TEST_CASE("what is no list is an error") {
  Texts out;
  ListFramer f, g, h;
  CHECK(Cut(f, "404 page not found", 5, &out).message() == "expected a JSON object, found '4'");
  CHECK(Cut(g, "{\"items\":[{},7]}", 4, &out).message() == "expected an object in \"items\", found '7'");
  CHECK(Cut(h, "{\"items\":[]} x", 4, &out).message() == "expected the end, found 'x'");
  ListFramer cut;
  REQUIRE(Cut(cut, "{\"items\":[{}", 4, &out).ok());
  CHECK_FALSE(cut.done());
}

TEST_CASE("an endless value is refused") {
  ValueFramer f;
  std::string piece(1 << 20, 'x');
  absl::Status s = f.Feed("{\"a\":\"", [](std::string_view) { return true; });
  for (int i = 0; i < 100 && s.ok(); ++i) s = f.Feed(piece, [](std::string_view) { return true; });
  CHECK(s.message() == "a JSON value longer than 67108864 bytes");
}

}  // namespace berth::client
