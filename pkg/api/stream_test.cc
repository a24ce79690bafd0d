#include "pkg/api/stream.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>
#include <zlib.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "pkg/api/json.h"

namespace berth::api {
namespace {

struct StreamRecorder : JsonSink {
  bool Split(std::string_view inside, std::string_view key) override {
    return (inside.empty() && key == "items") || (inside == "cluster" && key == "items");
  }
  absl::Status Element(std::string_view inside, std::string_view key, Document& element) override {
    found.push_back((inside.empty() ? "" : std::string(inside) + ".") + std::string(key) + ": " +
                    element.root().Serialize());
    return element.root().Find("bad").IsNull() ? absl::OkStatus() : absl::InvalidArgumentError("a bad element");
  }
  absl::Status Value(Document& rest) override {
    found.push_back(rest.root().Serialize());
    return absl::OkStatus();
  }
  std::vector<std::string> found;
};

std::vector<std::string> Read(const std::string& text) {
  StreamRecorder r;
  absl::Status s = ReadDocuments(text, r);
  INFO(s.ToString());
  CHECK(s.ok());
  return r.found;
}
std::string One(const std::string& text) {
  auto d = ReadDocument(text);
  INFO(text);
  INFO(d.status().ToString());
  REQUIRE(d.ok());
  return d->root().Serialize();
}
std::string StreamError(const std::string& text) {
  auto d = ReadDocument(text);
  return d.ok() ? "read " + d->root().Serialize() : std::string(d.status().message());
}

std::string Gzip(const std::string& text) {
  z_stream z{};
  REQUIRE(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&z, text.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
  size_t made = z.total_out;
  deflateEnd(&z);
  return out.substr(0, made);
}

TEST_CASE("gzip is unpacked, anything else is left alone") {
  std::string big;
  for (int i = 0; i < 100000; ++i) big += std::to_string(i * 7919);
  CHECK(Gunzip(Gzip(big)).value() == big);
  CHECK(Gunzip(Gzip("a") + Gzip("b") + Gzip("")).value() == "ab");
  CHECK(Gunzip(Gzip("")).value().empty());
  CHECK(Gunzip("plain").value() == "plain");
  CHECK(Gunzip("").value().empty());
  std::string whole = Gzip(big);
  CHECK(Gunzip(whole.substr(0, whole.size() / 2)).status().message() == "gzip: truncated");
  std::string broken = whole;
  broken[broken.size() / 2] = static_cast<char>(~broken[broken.size() / 2]);
  CHECK_FALSE(Gunzip(broken).ok());
  CHECK_FALSE(Gunzip(whole + "tail").ok());
}

TEST_CASE("files are read whole, errors name them") {
  char path[] = "/tmp/berth-stream-test-XXXXXX";
  int fd = mkstemp(path);
  REQUIRE(fd >= 0);
  std::string packed = Gzip("{\"a\":1}");
  REQUIRE(write(fd, packed.data(), packed.size()) == static_cast<ssize_t>(packed.size()));
  close(fd);
  CHECK(ReadInput(path).value() == "{\"a\":1}");
  std::remove(path);
  CHECK(ReadInput(path).status().message() == std::string(path) + ": No such file or directory");
  CHECK(ReadInput("/tmp").status().message() == "/tmp: Is a directory");
}

TEST_CASE("YAML scalars become what kubectl makes of them") {
  using Row = std::pair<std::string, std::string>;
  for (const auto& [yaml, json] : std::vector<Row>{{"true", "true"},
                                                   {"True", "true"},
                                                   {"yes", "true"},
                                                   {"off", "false"},
                                                   {"\"true\"", "\"true\""},
                                                   {"'5'", "\"5\""},
                                                   {"null", "null"},
                                                   {"~", "null"},
                                                   {"", "null"},
                                                   {"5", "5"},
                                                   {"-7", "-7"},
                                                   {"+7", "7"},
                                                   {"010", "8"},
                                                   {"0x1F", "31"},
                                                   {"0b101", "5"},
                                                   {"1_000", "1000"},
                                                   {"0", "0"},
                                                   {"0.5", "0.5"},
                                                   {".5", "0.5"},
                                                   {"1e3", "1e3"},
                                                   {"1.", "1"},
                                                   {"500m", "\"500m\""},
                                                   {"1Gi", "\"1Gi\""},
                                                   {"10.0.0.1", "\"10.0.0.1\""},
                                                   {"2018-03-26", "\"2018-03-26\""},
                                                   {".nan", "\".nan\""},
                                                   {"-", "[null]"},
                                                   {"web", "\"web\""},
                                                   {"!!str 5", "\"5\""},
                                                   {"a: b", "{\"a\":\"b\"}"},
                                                   {"99999999999999999999", "99999999999999999999"},
                                                   {"|-\n    two\n    lines", "\"two\\nlines\""}}) {
    INFO(yaml);
    CHECK(One("x:\n  " + yaml) == "{\"x\":" + json + "}");
  }
}

TEST_CASE("YAML documents stand one after another, empty ones are skipped") {
  CHECK(Read("a: 1\n---\n---\n# nothing\n---\nb: [2, {c: 3}]\n...\n---\n- 4\n") ==
        std::vector<std::string>{"{\"a\":1}", "{\"b\":[2,{\"c\":3}]}", "[4]"});
  CHECK(Read("").empty());
  CHECK(Read("# only a comment\n").empty());
  CHECK(Read("\xEF\xBB\xBF{\"a\":1} {\"b\":2}") == std::vector<std::string>{"{\"a\":1}", "{\"b\":2}"});
  CHECK(Read("---\n{\"a\": 1}\n") == std::vector<std::string>{"{\"a\":1}"});
}

TEST_CASE("YAML lists are cut into elements too") {
  CHECK(Read("kind: List\nitems:\n- x: 1\n- y:\n    items: [2]\nname: web\n") ==
        std::vector<std::string>{"items: {\"x\":1}", "items: {\"y\":{\"items\":[2]}}",
                                 "{\"kind\":\"List\",\"items\":[],\"name\":\"web\"}"});
  CHECK(Read("cluster:\n  items: [1, [2]]\n  k: 3\npods: [4]\n") ==
        std::vector<std::string>{"cluster.items: 1", "cluster.items: [2]",
                                 "{\"cluster\":{\"items\":[],\"k\":3},\"pods\":[4]}"});
  StreamRecorder r;
  CHECK(ReadDocuments("items:\n- a: 1\n- bad: 1\n- c: 1\n", r).message() == "line 3, column 3: a bad element");
  CHECK(r.found.size() == 2);
}

TEST_CASE("a quote that is not closed at the end is an error") {
  for (const std::string& text :
       std::vector<std::string>{"a: \"b", "a: \"b\n", "a: 'b\n", "a: \"b\n\n  \n", "a: \"b\n   ", "a: \"b\r\n",
                                "a: 'b\r", "a: 1\n---\nb: [1, \"c\n", "a: \"b\\\n", "a: 1\n\"\n"}) {
    INFO(text);
    CHECK(StreamError(text).find("line ") == 0);
  }
  CHECK(One("a: \"b\n  c\"\n") == R"({"a":"b c"})");
  CHECK(One("a: \"b\"\n...\n") == R"({"a":"b"})");
  CHECK(One("a: 1\n# end\n\n") == R"({"a":1})");
  CHECK(One("a: |\n  b\n") == R"({"a":"b\n"})");
  CHECK(One("a: |+\n  b\n\n") == R"({"a":"b\n\n"})");
  CHECK(One("a: |\n  b") == R"({"a":"b"})");
  CHECK(One("a: it's\n") == R"({"a":"it's"})");
}

TEST_CASE("aliases unfold to no more than a small multiple of the text") {
  // Each line has ten aliases of the line before.
  auto lines = [](int n) {
    std::string text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
    for (int i = 1; i < n; ++i) {
      absl::StrAppend(&text, "a", i, ": &a", i, " [*a", i - 1);
      for (int k = 0; k < 9; ++k) absl::StrAppend(&text, ", *a", i - 1);
      text += "]\n";
    }
    return text;
  };
  CHECK(One(lines(4)).size() > 10'000);
  CHECK(StreamError(lines(6)).find("aliases unfold to too much") != std::string::npos);
  // A long list of equal nodes is not refused.
  std::string nodes = "node: &node {metadata: {labels: {a: b}}, status: {capacity: {cpu: 4, memory: 8Gi}}}\nitems:\n";
  for (int i = 0; i < 20'000; ++i) nodes += "- {<<: *node, n: 1}\n";
  CHECK(One(nodes).size() > 1'000'000);
}

TEST_CASE("aliases and merge keys are unfolded") {
  CHECK(One("a: &x {k: 1, l: 2}\nb: *x\nc: {<<: *x, l: 3}\n") ==
        R"({"a":{"k":1,"l":2},"b":{"k":1,"l":2},"c":{"k":1,"l":3}})");
  CHECK(One("a: &x {k: 1}\nb: &y {k: 2, m: 3}\nc:\n  <<: [*x, *y]\n  z: 4\n") ==
        R"({"a":{"k":1},"b":{"k":2,"m":3},"c":{"k":1,"m":3,"z":4}})");
  CHECK(StreamError("a: {<<: 5}") == "line 1, column 9: map merge requires map or sequence of maps as the value");
}

TEST_CASE("YAML that unfolds without end is refused") {
  std::string bomb = "l0: &l0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    std::string below = absl::StrCat("*l", i - 1);
    absl::StrAppend(&bomb, "l", i, ": &l", i, " [");
    for (int k = 0; k < 10; ++k) absl::StrAppend(&bomb, k > 0 ? ", " : "", below);
    bomb += "]\n";
  }
  CHECK(StreamError(bomb).find("aliases unfold to too much") != std::string::npos);
  CHECK(StreamError("a: &a [*a]").find("an alias inside of what it stands for") != std::string::npos);
  std::string chain = "a0: &a0 [1]\n";
  for (int i = 1; i < 2000; ++i) {
    absl::StrAppend(&chain, "a", i, ": &a", i, " [*a", i - 1, "]\n");
  }
  CHECK(StreamError(chain).find("nested deeper than 512 levels") != std::string::npos);
}

TEST_CASE("bad YAML is refused with line and column") {
  CHECK(StreamError("a: 1\n b: 2\n").rfind("line 2, column ", 0) == 0);
  CHECK(StreamError("a: [1, 2").rfind("line 1, column ", 0) == 0);
  CHECK(StreamError("a: *nobody").rfind("line 1, column ", 0) == 0);
  CHECK(StreamError("? [a]\n: b\n") == "line 1, column 3: a key must be a scalar");
  CHECK(StreamError(absl::StrCat("x: ", std::string(10000, '['))).rfind("line 1, column ", 0) == 0);
  std::string deep;
  for (int i = 0; i < 10000; ++i) deep += "- ";
  CHECK(StreamError(deep + "x").rfind("line 1, column ", 0) == 0);
  for (const char* text : {"a: 1\n}", "}", "]", "a: [1]]", "- a\n}\n- b", ",", "x: y}\n}"}) {
    INFO(text);
    CHECK(StreamError(text).rfind("line ", 0) == 0);
  }
  CHECK(StreamError("") == "empty: no document in it");
  CHECK(StreamError("a: 1\n---\nb: 2\n") == "line 3, column 1: more than one document");
}

TEST_CASE("damaged text is read or refused, and what is read is written the same") {
  const std::vector<std::string> seeds = {
      R"({"kind":"List","items":[{"kind":"Pod","metadata":{"name":"a\u00e9\"b"},"spec":{"priority":-1.5e3}},[],{}],"x":null})",
      "kind: List\nitems:\n- &a {kind: Pod, spec: {x: [1, 'two', \"3\"]}}\n- *a\n- <<: *a\n  y: |\n    text\n---\n- "
      "z\n"};
  const std::vector<std::string> pieces = {"{",   "}",    "[",       "]",     "\"",   ":",
                                           ",",   "null", "\\u0000", "\\",    "&a ",  "*a ",
                                           "- ",  "\n",   "<<: ",    "---\n", "\xff", std::string(1, '\0'),
                                           "1e9", "  "};
  std::mt19937 random(20180326);
  auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  size_t read = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = seeds[below(seeds.size())];
    for (size_t changes = 1 + below(4); changes > 0; --changes) {
      size_t at = below(text.size() + 1);
      if (below(2) == 0) {
        text.insert(at, pieces[below(pieces.size())]);
      } else {
        text.erase(at, below(6));
      }
    }
    StreamRecorder r;
    ++(ReadDocuments(text, r).ok() ? read : refused);
    auto one = ReadDocument(text);
    if (!one.ok()) continue;
    // The first serialization may replace bytes that are not UTF-8, so the texts after it are compared.
    Document again, third;
    REQUIRE(again.Parse(one->root().Serialize()).ok());
    REQUIRE(third.Parse(again.root().Serialize()).ok());
    INFO(text);
    CHECK(third.root().Serialize() == again.root().Serialize());
  }
  CHECK(read > 100);
  CHECK(refused > 100);
}

}  // namespace
}  // namespace berth::api
