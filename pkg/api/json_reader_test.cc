// A value is read in place if it is a whole text or an element of a list, and copied in parts if it is one of several
// values of a text. Both ways must agree.
#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/api/json_writer.h"

namespace berth::api {
namespace {

using std::string_literals::operator""s;

// Keeps the values of a text, of which there should be one.
struct Keeper : JsonSink {
  bool Split(std::string_view, std::string_view) override { return false; }
  absl::Status Element(std::string_view, std::string_view, Document&) override { return absl::OkStatus(); }
  absl::Status Value(Document& value) override {
    ++values;
    kept = std::move(value);
    return absl::OkStatus();
  }
  int values = 0;
  Document kept;
};

// Returns everything that can be read from a value.
void Describe(Json j, std::string* out) {
  absl::StrAppend(out, static_cast<int>(j.type()), "@", j.begin_offset(), "-", j.end_offset(), " ", j.size(), " ",
                  j.Int(), " ", j.Double(), " ", std::string(j.Text()), " ", j.Serialize(), "\n");
  for (auto [key, value] : j.Children()) {
    absl::StrAppend(out, std::string(key), ": ");
    Describe(value, out);
  }
}

std::string Described(const Document& d) {
  std::string out;
  Describe(d.root(), &out);
  return out;
}

// Returns whether a text is one value. Both ways to read it must agree.
bool Accepts(const std::string& text) {
  Document in_place;
  const absl::Status status = in_place.Parse(text);
  Keeper copied;
  const absl::Status of_many = ReadJson(text, copied);
  INFO(text);
  // Several values are one text, and so is none.
  if (!status.ok() && (copied.values > 1 || text.find_first_not_of(" \n\r\t") == std::string::npos)) return false;
  if (!status.ok() && copied.values == 1) REQUIRE_FALSE(of_many.ok());
  if (copied.values == 0) REQUIRE(of_many == status);
  if (!status.ok()) return false;
  REQUIRE(copied.values == 1);
  REQUIRE(Described(in_place) == Described(copied.kept));
  return true;
}

std::string RandomText(std::minstd_rand& random) {
  static const std::vector<std::string> kParts = {
      "a",       "<>",  "&",       "name", "\\n", "\\\"", "\\u003c",
      "é",       "\\/", " ",       "{",    "[",   "\\\\", "0123456789abcdef",
      "\\u007F", "]}",  "metadata"};
  std::string out = "\"";
  for (size_t n = random() % 5; n > 0; --n) out += kParts[random() % kParts.size()];
  return out + "\"";
}

std::string RandomValue(std::minstd_rand& random, int depth) {
  const std::string space = random() % 4 == 0 ? std::string(" \n\t").substr(random() % 3) : "";
  switch (random() % (depth > 4 ? 6 : 9)) {
    case 0:
      return space + "null";
    case 1:
      return random() % 2 == 0 ? "true" : "false" + space;
    case 2:
      return absl::StrCat(random() % 2 == 0 ? "-" : "", random() % 1000);
    case 3:
      return absl::StrCat(random(), random(), space);
    case 4:
    case 5:
      return RandomText(random) + space;
    case 6: {
      std::string out = "[" + space;
      for (size_t i = 0, n = random() % 4; i < n; ++i)
        absl::StrAppend(&out, i > 0 ? "," : "", RandomValue(random, depth + 1));
      return out + "]";
    }
    default: {
      std::string out = "{" + space;
      for (size_t i = 0, n = random() % 5; i < n; ++i) {
        absl::StrAppend(&out, i > 0 ? "," : "", RandomText(random), space, ":", RandomValue(random, depth + 1));
      }
      return out + space + "}";
    }
  }
}

TEST_CASE("what is JSON is read") {
  CHECK(Accepts(R"({"a":[1,-2,"x",null,true,false,[],{}],"b":{"c":"d"}})"));
  CHECK(Accepts(" { \"a\" : [ ] , \"b\" : { } }\n"));
  CHECK(Accepts(R"(["a\n\"\\\/\b\f\r\t","<\u0041\u003c\u007f>","é","\u0000","x\u0000\u0000y"])"));
  CHECK(Accepts(R"({"\u0061\n":"\ud83d\ude00"})"));
  for (const char* text : {"7", "-0", "999999999999999999", "9223372036854775807", "-9223372036854775808", "1.5", "1e3",
                           "12345678901234567890", "0", "\"\"", "[]", "{}", "null"}) {
    CHECK(Accepts(text));
  }
}

TEST_CASE("what is no JSON is refused") {
  for (const char* text :
       {"",         " ",         "{",     "[1",        "[1,]",  "[,1]",        "{,}",         "{\"a\":1,}",  "{\"a\"}",
        "{\"a\":}", "{1:2}",     "[1}",   "{\"a\":1]", "1 2",   "01",          "-",           "+1",          "1.",
        "1e",       "nul",       "truee", "'a'",       "\"a",   "\"\\x\"",     "\"\\u003\"",  "\"\\u003g\"", "\"a\nb\"",
        "[1 2]",    "{\"a\" 1}", "]",     "\\",        "\"a\\", "\"\\ud800\"", "\"\\udabcx\""}) {
    INFO(text);
    CHECK_FALSE(Accepts(text));
  }
  CHECK_FALSE(Accepts("[1]\0"s));
}

TEST_CASE("strings are what their escapes mean, wherever these stand") {
  for (const auto& [written, meant] : std::vector<std::pair<std::string, std::string>>{
           {"", ""},
           {"plain", "plain"},
           {"\\n", "\n"},
           {"a\\nb", "a\nb"},
           {"\\u0000", "\0"s},
           {"a\\u0000", "a\0"s},
           {"\\u0000a\\u0000\\\\", "\0a\0\\"s},
           {"0123456789abcdef0123456789\\t0123456789abcdef", "0123456789abcdef0123456789\t0123456789abcdef"},
           {"\\u00e9\\u20ac\\ud83d\\ude00", "é€😀"}}) {
    Document d;
    REQUIRE(d.Parse("{\"" + written + "\":\"" + written + "\"}").ok());
    const auto first = *d.root().Children().begin();
    CHECK(first.key == meant);
    CHECK(first.value.Text() == meant);
    CHECK(first.value.begin_offset() == written.size() + 4);
    CHECK(first.value.end_offset() == 2 * written.size() + 6);
  }
}

TEST_CASE("both ways to read agree about random texts, whole and damaged") {
  std::minstd_rand random(7);
  int whole = 0, damaged = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text = RandomValue(random, 0);
    if (Accepts(text)) ++whole;
    if (text.empty()) continue;
    constexpr std::string_view kBytes = "{}[]\",:\\ u0a-1tn\x01\xff";
    const size_t at = random() % text.size();
    switch (random() % 3) {
      case 0:
        text.erase(at, 1 + random() % 3);
        break;
      case 1:
        text.insert(at, 1, kBytes[random() % kBytes.size()]);
        break;
      default:
        text[at] = kBytes[random() % kBytes.size()];
    }
    if (Accepts(text)) ++damaged;
  }
  CHECK(whole == 5000);
  CHECK(damaged > 100);
}

// Compares each element of a list with what it is by itself.
struct Alone : JsonSink {
  explicit Alone(const std::string& t) : text(t) {}
  bool Split(std::string_view, std::string_view key) override { return key == "items"; }
  absl::Status Element(std::string_view, std::string_view key, Document& element) override {
    CHECK(key == "items");
    const size_t from = element.root().begin_offset(), to = element.root().end_offset();
    // Spaces in front keep the offsets.
    Document alone;
    REQUIRE(alone.Parse(std::string(from, ' ') + text.substr(from, to - from)).ok());
    REQUIRE(Described(element) == Described(alone));
    ++elements;
    in_place += !element.root().CompactSource().empty();
    return absl::OkStatus();
  }
  absl::Status Value(Document& rest) override {
    ++values;
    CHECK(rest.root().Find("items").size() == 0);
    CHECK(rest.root().Find("cluster").Find("items").size() == 0);
    return absl::OkStatus();
  }
  const std::string& text;
  int elements = 0, values = 0, in_place = 0;
};

std::string RandomList(std::minstd_rand& random) {
  static const std::vector<std::string> kBetween = {",", ",\n", " , ", ",\t\r\n "};
  std::string out = R"({"kind":"List","items":[)";
  for (size_t i = 0, n = random() % 6; i < n; ++i) {
    if (i > 0) out += kBetween[random() % kBetween.size()];
    if (random() % 8 == 0) {
      out += random() % 2 == 0 ? R"({"a":0.5,"b":"\u00e9"})" : RandomValue(random, 0);
    } else {
      absl::StrAppend(&out, "{", RandomText(random), ":", RandomValue(random, 1), "}");
    }
  }
  out += random() % 4 == 0 ? "\n],\"cluster\":{\"items\":[{\"a\":1},{\"b\":2}]}}" : "]}";
  return out;
}

TEST_CASE("an element of a list is read as it is by itself, in lists that are whole and in damaged ones") {
  static const std::string kDamage = "{}[],:\"\\ \n0.x\x01";
  std::minstd_rand random(11);
  int read = 0, in_place = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = RandomList(random);
    Document whole;
    REQUIRE(whole.Parse(text).ok());
    if (i % 2 == 0) {
      const size_t at = random() % text.size();
      if (random() % 4 == 0) {
        text.resize(at);
      } else if (random() % 2 == 0) {
        text.erase(at, 1 + random() % 3);
      } else {
        text[at] = kDamage[random() % kDamage.size()];
      }
    }
    INFO(text);
    Alone alone(text);
    const absl::Status is = ReadJson(text, alone), should_be = whole.Parse(text);
    // What damage has cut off the list is another value.
    if (alone.values == 0 && !text.empty()) REQUIRE(is == should_be);
    if (alone.values == 1) REQUIRE(is.ok() == should_be.ok());
    if (i % 2 != 0) {
      REQUIRE(static_cast<size_t>(alone.elements) ==
              whole.root().Find("items").size() + whole.root().Find("cluster").Find("items").size());
    }
    read += is.ok();
    in_place += alone.in_place;
  }
  CHECK(read > 10000);
  CHECK(in_place > 5000);
}

TEST_CASE("what is wrong with an element is told with the place of the element, or with the place that it names") {
  struct Refuses : JsonSink {
    bool Split(std::string_view, std::string_view) override { return true; }
    absl::Status Element(std::string_view, std::string_view, Document& element) override {
      const absl::Status error = absl::InvalidArgumentError("refused");
      return element.root().Find("marked").IsNull() ? error : AtValue(error, element.root().Find("marked"));
    }
    absl::Status Value(Document&) override { return absl::OkStatus(); }
  } sink;
  CHECK(ReadJson("{\"items\":[\n {\"a\":1}]}", sink).message() == "line 2, column 8: refused");
  CHECK(ReadJson("{\"items\":[\n [1, 2]]}", sink).message() == "line 2, column 7: refused");
  CHECK(ReadJson("{\"items\":[\n \"abc\"]}", sink).message() == "line 2, column 6: refused");
  CHECK(ReadJson("{\"items\":[\n {\"marked\":1}]}", sink).message() == "line 2, column 12: refused");
}

TEST_CASE("a text that is longer than a vector is escaped where it must be") {
  for (size_t at = 0; at < 40; ++at) {
    for (const char c : {'"', '\\', '<', '>', '&', '\x1f', '\x01'}) {
      std::string text(40, 'x'), out;
      text[at] = c;
      AppendJsonString(text, &out);
      CHECK(out.size() > text.size() + 2);
      Document d;
      REQUIRE(d.Parse(out).ok());
      CHECK(d.root().Text() == text);
    }
  }
}

TEST_CASE("a value is copied from its source only if that is how it is written") {
  for (const char* text : {R"({"a":[1,{"b":"c<d"}]})", R"({"a":"&"})", R"({"a":">"})", R"({"a":"\u0041"})",
                           "{\"a\": 1}", "[1 ]", "[\"\xff\"]", "[\"0123456789abcdef<\"]", R"(["\/"])"}) {
    INFO(text);
    CHECK(Accepts(text));
    Document d;
    REQUIRE(d.Parse(text).ok());
    CHECK(d.root().Serialize() != text);
  }
  for (const char* text : {R"({"k:{\"a\":1}":"\\\n\r\t"})", R"(["\u003c","\u003e\u0026","0123456789\"abcdefgh"])"}) {
    INFO(text);
    CHECK(Accepts(text));
    Document d;
    REQUIRE(d.Parse(text).ok());
    CHECK(d.root().Serialize() == text);
  }
  Document d;
  const std::string plain = R"({"a":[1,-2,"x",null,true,{}],"b":{"c":"0123456789abcdef0123456789"},"c":{}})";
  REQUIRE(d.Parse(plain).ok());
  CHECK(d.root().Serialize() == plain);
  CHECK(d.root().Find("a").Serialize() == R"([1,-2,"x",null,true,{}])");
}

// Returns how many values are in metadata.managedFields of the value or of its "object".
size_t ManagedFields(const Document& d) {
  const Json object = d.root().Find("object");
  return (object.IsNull() ? d.root() : object).Find("metadata").Find("managedFields").size();
}

TEST_CASE("who manages the fields of an object is left unread, and written as it stands") {
  const std::string fields = R"([{"manager":"a]}","fieldsV1":{"f:spec":{"f:x":{},"k:{\"a\":1}":[]}}},{}])";
  const std::string object =
      R"({"kind":"Pod","metadata":{"name":"p","managedFields":)" + fields + R"(,"uid":"u"},"a":1})";
  for (const std::string& text :
       {object, R"({"type":"ADDED","object":)" + object + "}", R"({"object":)" + object + R"(,"b":"<\n"})"}) {
    INFO(text);
    Document whole, part;
    REQUIRE(whole.Parse(text).ok());
    REQUIRE(part.Parse(text, nullptr, Unread::kManagedFields).ok());
    CHECK(ManagedFields(whole) == 2);
    CHECK(ManagedFields(part) == 0);
    CHECK(part.root().Serialize() == whole.root().Serialize());
    const Json was = whole.root().Find("object"), is = part.root().Find("object");
    CHECK((is.IsNull() ? part.root() : is).Find("metadata").Find("uid").Text() == "u");
    CHECK((is.IsNull() ? part.root() : is).Find("a").begin_offset() ==
          (was.IsNull() ? whole.root() : was).Find("a").begin_offset());
  }
}

TEST_CASE("other members that are called managedFields are read, and so is what is no list") {
  for (const char* text :
       {R"({"managedFields":[1]})", R"({"spec":{"managedFields":[1]},"metadata":{}})",
        R"({"metadata":{"labels":{"managedFields":[1]}}})", R"({"metadata":{"managedFields":{"a":[1]}}})",
        R"({"metadata":{},"managedFields":[1]})", R"({"x":{"metadata":{"managedFields":[1]}}})",
        R"({"object":{"metadata":[{"managedFields":[1]}]}})", R"({"metadata":[[{"managedFields":[1]}]]})",
        R"({"object":{"spec":{"managedFields":[1]},"metadata":1}})"}) {
    INFO(text);
    Document whole, part;
    REQUIRE(whole.Parse(text).ok());
    REQUIRE(part.Parse(text, nullptr, Unread::kManagedFields).ok());
    CHECK(Described(part) == Described(whole));
  }
  for (const char* text : {R"({"metadata":{"managedFields":[}})", R"({"metadata":{"managedFields":[1}})",
                           R"({"metadata":{"managedFields":["]}})", R"({"metadata":{"managedFields":[1])"}) {
    INFO(text);
    Document part;
    CHECK_FALSE(part.Parse(text, nullptr, Unread::kManagedFields).ok());
  }
}

}  // namespace
}  // namespace berth::api
