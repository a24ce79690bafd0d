#include "pkg/client/framing.h"

#include <catch2/catch.hpp>

#include "pkg/api/json.h"

namespace berth::client {
namespace {

using Texts = std::vector<std::string>;

absl::Status Feed(ListFramer& f, std::string_view piece, Texts* out) {
  return f.Feed(piece, [&](std::string_view v) {
    out->emplace_back(v);
    return true;
  });
}
// Takes lines that are JSON.
absl::Status Feed(ValueFramer& f, std::string_view piece, Texts* out) {
  return f.Feed(piece, [&](std::string_view v, bool counted) {
    if (!counted && !api::Document().Parse(v).ok()) return ValueFramer::Result::kNoValue;
    out->emplace_back(v.substr(0, v.find_last_not_of(" \r\t") + 1));
    return ValueFramer::Result::kUsed;
  });
}

// Feeds `text` in pieces of `size` bytes.
template <typename Framer>
absl::Status Cut(Framer& f, const std::string& text, size_t size, Texts* out) {
  for (size_t i = 0; i < text.size(); i += size) {
    absl::Status s = Feed(f, std::string_view(text).substr(i, size), out);
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
  for (const char* text : {"{}{}{}", "{}\n{}\n{}\n"}) {
    ValueFramer f;
    int n = 0;
    const auto second = [&](std::string_view v, bool counted) {
      if (!counted && v != "{}") return ValueFramer::Result::kNoValue;
      return ++n < 2 ? ValueFramer::Result::kUsed : ValueFramer::Result::kLast;
    };
    REQUIRE(f.Feed(text, second).ok());
    CHECK(n == 2);
    REQUIRE(f.Feed("{}\n", second).ok());
    CHECK(n == 3);
  }
}

TEST_CASE("a line is tried as a value, and cut by its brackets only if it is none") {
  struct Call {
    std::string text;
    bool counted;
    bool operator==(const Call&) const = default;
  };
  const std::string text = "{\"a\":1}\n{\"b\":\n2}{\"c\":3}\n{\"d\":}\n{\"e\"";
  std::vector<Call> calls;
  ValueFramer f;
  const auto note = [&](std::string_view v, bool counted) {
    calls.push_back({std::string(v), counted});
    return api::Document().Parse(v).ok() ? ValueFramer::Result::kUsed : ValueFramer::Result::kNoValue;
  };
  REQUIRE(f.Feed(text, note).ok());
  CHECK(calls == std::vector<Call>{{"{\"a\":1}", false},
                                   {"{\"b\":", false},
                                   {"{\"b\":\n2}", true},
                                   {"{\"c\":3}", false},
                                   {"{\"d\":}", false},
                                   {"{\"d\":}", true}});
  CHECK(f.partial());
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
  const auto use = [](std::string_view, bool) { return ValueFramer::Result::kUsed; };
  absl::Status s = f.Feed("{\"a\":\"", use);
  for (int i = 0; i < 100 && s.ok(); ++i) s = f.Feed(piece, use);
  CHECK(s.message() == "a JSON value longer than 67108864 bytes");
}

}  // namespace berth::client
