// What the quick parser accepts, the complete one accepts and reads in the same way.
#include "pkg/api/json_quick.h"

#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/json_writer.h"

namespace berth::api {
namespace {

using std::string_literals::operator""s;

// Keeps the only value of a text, which the complete parser has read.
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

// Returns whether the quick parser accepts a text. If it does, the complete parser must agree.
bool Accepts(const std::string& text) {
  Document quick;
  DocumentBuilder builder(&quick);
  if (!internal::ParseQuickly(text, nullptr, Unread::kNothing, &builder)) return false;
  Keeper complete;
  INFO(text);
  REQUIRE(ReadJson(text, complete).ok());
  REQUIRE(complete.values == 1);
  REQUIRE(Described(quick) == Described(complete.kept));
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

TEST_CASE("documents as servers write them are parsed quickly") {
  CHECK(Accepts(R"({"a":[1,-2,"x",null,true,false,[],{}],"b":{"c":"d"}})"));
  CHECK(Accepts(" { \"a\" : [ ] , \"b\" : { } }\n"));
  CHECK(Accepts(R"(["a\n\"\\\/\b\f\r\t","<\u0041\u003c\u007f>","é"])"));
  CHECK(Accepts("7"));
  CHECK(Accepts("-0"));
  CHECK(Accepts("999999999999999999"));
}

TEST_CASE("what is unusual or wrong is left to the complete parser") {
  for (const char* text : {"",
                           " ",
                           "{",
                           "[1",
                           "[1,]",
                           "[,1]",
                           "{,}",
                           "{\"a\":1,}",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{1:2}",
                           "[1}",
                           "{\"a\":1]",
                           "1 2",
                           "01",
                           "-",
                           "+1",
                           "1.5",
                           "1e3",
                           "1234567890123456789",
                           "nul",
                           "truee",
                           "'a'",
                           "\"a",
                           "\"\\x\"",
                           "\"\\u00e9\"",
                           "\"\\u0000\"",
                           "\"\\u003\"",
                           "\"\\u003g\"",
                           "\"a\nb\"",
                           "[1 2]",
                           "{\"a\" 1}",
                           "]",
                           "\\",
                           "\"a\\"}) {
    INFO(text);
    CHECK_FALSE(Accepts(text));
  }
  CHECK_FALSE(Accepts("[1]\0"s));
  CHECK(Accepts(std::string(64, '[') + std::string(64, ']')));
  CHECK_FALSE(Accepts(std::string(65, '[') + std::string(65, ']')));
}

TEST_CASE("both parsers agree about random texts, whole and damaged") {
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
  // Integers of twenty digits are left to the complete parser.
  CHECK(whole > 2000);
  CHECK(damaged > 100);
}

// Writes down what a reader delivers from lists, and fails at one of the elements if it is told to.
struct ListNotes : JsonSink {
  explicit ListNotes(int bad) : bad_element(bad) {}
  bool Split(std::string_view, std::string_view key) override { return key == "items"; }
  absl::Status Element(std::string_view inside, std::string_view key, Document& element) override {
    absl::StrAppend(&notes, std::string(inside), ".", std::string(key), " ", Described(element));
    quick += !element.root().CompactSource().empty();
    if (elements++ != bad_element) return absl::OkStatus();
    absl::Status error = absl::InvalidArgumentError("bad element");
    return elements % 2 == 0 ? error : AtValue(error, element.root());
  }
  absl::Status Value(Document& rest) override {
    absl::StrAppend(&notes, "value ", Described(rest));
    return absl::OkStatus();
  }
  std::string notes;
  int bad_element, elements = 0, quick = 0;
};

// Known arrays that are nowhere keep the reader from reading elements quickly.
struct NothingKnown final : KnownArrays {
  NothingKnown() : KnownArrays({"there", "is", "none", "of", "this"}) {}
  void Begin(std::string_view) override {}
  size_t SizeIfKnown(size_t) override { return 0; }
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

TEST_CASE("lists are read quickly as the complete parser reads them, whole and damaged") {
  static const std::string kDamage = "{}[],:\"\\ \n0.x\x01";
  std::minstd_rand random(11);
  int read = 0, quick = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = RandomList(random) + (random() % 4 == 0 ? "\n" + RandomList(random) : "");
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
    const int bad = random() % 4 == 0 ? static_cast<int>(random() % 6) : -1;
    ListNotes fast(bad), slow(bad);
    NothingKnown nothing;
    const absl::Status is = ReadJson(text, fast), should_be = ReadJson(text, slow, &nothing);
    INFO(text);
    REQUIRE(is == should_be);
    REQUIRE(fast.notes == slow.notes);
    REQUIRE(slow.quick == 0);
    read += is.ok();
    quick += fast.quick;
  }
  CHECK(read > 5000);
  CHECK(quick > 5000);
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
