#include "pkg/api/labels.h"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/decode.h"
#include "pkg/api/json.h"

namespace berth::api {
namespace {

Labels L(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::vector<std::pair<Symbol, Symbol>> symbols;
  for (const auto& [k, v] : pairs) symbols.emplace_back(Symbol(k), Symbol(v));
  return Labels(std::move(symbols));
}

Selector S(const std::string& text) {
  auto s = Selector::Parse(text);
  INFO(text);
  REQUIRE(s.ok());
  return *s;
}

std::string LabelsError(const std::string& text) {
  auto s = Selector::Parse(text);
  return s.ok() ? "parsed " + s->String() : std::string(s.status().message());
}

DecidedSelector LabelSelector(const std::string& json) {
  Document d;
  REQUIRE(d.Parse(json).ok());
  return DecideLabelSelector(d.root());
}
DecidedSelector NodeTerm(const std::string& json) {
  Document d;
  REQUIRE(d.Parse(R"({"spec":{"nodeAffinity":{"required":{"nodeSelectorTerms":[)" + json + "]}}}}").ok());
  auto volume = DecodePersistentVolume(d.root());
  REQUIRE(volume.ok());
  REQUIRE((*volume)->node_affinity.size() == 1);
  return (*volume)->node_affinity[0].match;
}

const std::string kNameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

TEST_CASE("labels keep one value for each key, the last") {
  Labels labels = L({{"b", "1"}, {"a", "2"}, {"b", "3"}});
  CHECK(labels.size() == 2);
  CHECK(labels.Get(Symbol("b")) == Symbol("3"));
  CHECK(labels.Get(Symbol("a")) == Symbol("2"));
  CHECK_FALSE(labels.Has(Symbol("c")));
  CHECK(L({{"x", "1"}, {"y", "2"}}) == L({{"y", "2"}, {"x", "1"}}));
  Labels many;
  std::vector<std::pair<std::string, std::string>> pairs;
  for (int i = 0; i < 40; ++i) pairs.emplace_back("key-" + std::to_string(i), std::to_string(i));
  many = L(pairs);
  CHECK(many.Get(Symbol("key-0")) == Symbol("0"));
  CHECK(many.Get(Symbol("key-39")) == Symbol("39"));
  CHECK_FALSE(many.Has(Symbol("key-40")));
}

TEST_CASE("operators match as 1.10's do") {
  Labels labels = L({{"app", "web"}, {"tier", "2"}, {"empty", ""}, {"word", "two"}});
  struct Row {
    const char* selector;
    bool matches;
  };
  for (const Row& row : std::vector<Row>{{"", true},
                                         {"app", true},
                                         {"nope", false},
                                         {"!nope", true},
                                         {"!app", false},
                                         {"app=web", true},
                                         {"app==web", true},
                                         {"app=db", false},
                                         {"app!=db", true},
                                         {"app!=web", false},
                                         {"nope!=web", true},
                                         {"app in (db, web)", true},
                                         {"app in (db)", false},
                                         {"nope in (db)", false},
                                         {"app notin (db)", true},
                                         {"app notin (db,web)", false},
                                         {"nope notin (web)", true},
                                         {"tier>1", true},
                                         {"tier>2", false},
                                         {"tier<3", true},
                                         {"tier<2", false},
                                         {"word>1", false},
                                         {"word<1", false},
                                         {"nope>1", false},
                                         {"empty=", true},
                                         {"empty", true},
                                         {"app=web,tier=2", true},
                                         {"app=web,tier=3", false},
                                         {" app = web , tier in ( 2 ) ", true},
                                         {"in=notin", false},
                                         {"empty in (,a)", true},
                                         {"empty in ()", true},
                                         {"app in ()", false},
                                         {"empty in (a,)", true},
                                         {"empty in (a,b)", false}}) {
    INFO(row.selector);
    CHECK(S(row.selector).Matches(labels) == row.matches);
  }
  CHECK_FALSE(Selector::Nothing().Matches(labels));
  CHECK(Selector::Everything().Matches(Labels()));
}

TEST_CASE("everything is empty, nothing is not") {
  CHECK(Selector::Everything().Empty());
  CHECK_FALSE(Selector::Nothing().Empty());
  CHECK(Selector::Nothing().MatchesNothing());
  CHECK_FALSE(S("a=b").Empty());
}

TEST_CASE("a selector's text is sorted by key") {
  CHECK(S("b=2,a in (y,x),!c").String() == "a in (x,y),b=2,!c");
  CHECK(S("b=2,a=1") == S("a=1,b=2"));
  CHECK_FALSE(S("a=1") == S("a=2"));
}

TEST_CASE("bad selector texts are refused with the API server's words") {
  using Row = std::pair<std::string, std::string>;
  for (const auto& [text, error] : std::vector<Row>{
           {"tier>a", "unable to parse requirement: for 'Gt', 'Lt' operators, the value must be an integer"},
           {"app=x y", "found 'y', expected: ',' or 'end of string'"},
           {"-bad=1", "unable to parse requirement: invalid label key \"-bad\": name part " + kNameRule},
           {"a/b/c=1", "unable to parse requirement: invalid label key \"a/b/c\": a qualified name " + kNameRule +
                           " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"},
           {"app=x,", "found '', expected: identifier after ','"},
           {"app in x", "unable to parse requirement: found 'x' expected: '('"},
           {"app===x", "unable to parse requirement: found '=', expected: identifier"},
           {"app=" + std::string(64, 'v'), "unable to parse requirement: invalid label value: \"" +
                                               std::string(64, 'v') + "\": must be no more than 63 characters"},
           {"!app=x", "found '=', expected: ',' or 'end of string'"},
           {"app in (a b)", "unable to parse requirement: found 'b', expected: ',' or ')'"},
           {"app in (a", "unable to parse requirement: found '', expected: ',' or ')'"},
           {"(a)", "found '(', expected: !, identifier, or 'end of string'"},
           {"app x", "unable to parse requirement: found 'x', expected: '=', '!=', '==', 'in', notin'"},
           {"!", "unable to parse requirement: found '', expected: identifier"}}) {
    INFO(text);
    CHECK(LabelsError(text) == error);
  }
}

TEST_CASE("a parsed selector's text parses to the same selector") {
  CHECK(rc::check("Parse(s.String()) == s", [] {
    auto name = rc::gen::element<std::string>("app", "tier", "zone", "a.b/c", "x_y");
    std::string text;
    int terms = *rc::gen::inRange(0, 5);
    for (int i = 0; i < terms; ++i) {
      std::string key = *name, value = *name;
      value = value == "a.b/c" ? "" : value;
      int form = *rc::gen::inRange(0, 8);
      if (i > 0) text += ",";
      if (form == 0) text += "!";
      text += key;
      if (form == 2) text += "=" + value;
      if (form == 3) text += "!=" + value;
      if (form == 4) text += " in (" + value + ",z)";
      if (form == 5) text += " notin (z," + value + ")";
      if (form == 6) text += ">5";
      if (form == 7) text += "<7";
    }
    auto s = Selector::Parse(text);
    RC_ASSERT(s.ok());
    auto again = Selector::Parse(s->String());
    RC_ASSERT(again.ok());
    RC_ASSERT(*again == *s);
  }));
}

TEST_CASE("requirements are checked as 1.10 checks them") {
  auto error = [](const std::string& key, Operator op, std::vector<std::string> texts) {
    std::vector<Symbol> values(texts.begin(), texts.end());
    auto r = Requirement::Make(Symbol(key), op, values);
    return r.ok() ? std::string() : std::string(r.status().message());
  };
  CHECK(error("a", Operator::kIn, {"x", "y"}).empty());
  CHECK(error("a", Operator::kIn, {}) == "for 'in', 'notin' operators, values set can't be empty");
  CHECK(error("a", Operator::kEquals, {"x", "y"}) == "exact-match compatibility requires one single value");
  CHECK(error("a", Operator::kExists, {"x"}) == "values set must be empty for exists and does not exist");
  CHECK(error("a", Operator::kGreaterThan, {"1", "2"}) == "for 'Gt', 'Lt' operators, exactly one value is required");
  CHECK(error("a", Operator::kLessThan, {"1.5"}) == "for 'Gt', 'Lt' operators, the value must be an integer");
  // A number with a sign is an integer, but not a valid label value.
  CHECK(error("a", Operator::kLessThan, {"-1"}).rfind("invalid label value: \"-1\": a valid label must be", 0) == 0);
  CHECK(error("", Operator::kExists, {}) ==
        "invalid label key \"\": name part must be non-empty; name part " + kNameRule);
  CHECK(error("/a", Operator::kExists, {}) == "invalid label key \"/a\": prefix part must be non-empty");
  CHECK(
      error("Upper.com/a", Operator::kExists, {}).find("prefix part a DNS-1123 subdomain must consist of lower case") !=
      std::string::npos);
  CHECK(error(std::string(64, 'a'), Operator::kExists, {}).find("name part must be no more than 63 characters") !=
        std::string::npos);
  CHECK(error("example.com/ok", Operator::kExists, {}).empty());
}

TEST_CASE("label selector objects: absent is nothing, empty is everything") {
  Labels web = L({{"app", "web"}});
  CHECK(LabelSelector("null").selector.MatchesNothing());
  CHECK(LabelSelector("{}").selector.Empty());
  CHECK(LabelSelector(R"({"matchLabels":{"app":"web"}})").selector.Matches(web));
  CHECK(LabelSelector(R"({"matchExpressions":[{"key":"app","operator":"NotIn","values":["db"]}]})")
            .selector.Matches(web));
  CHECK_FALSE(
      LabelSelector(R"({"matchLabels":{"app":"web"},"matchExpressions":[{"key":"app","operator":"DoesNotExist"}]})")
          .selector.Matches(web));
  CHECK(LabelSelector(R"({"matchExpressions":[{"key":"app","operator":"Gt","values":["1"]}]})").error ==
        "\"Gt\" is not a valid pod selector operator");
  CHECK(LabelSelector(R"({"matchLabels":7})").error == "matchLabels: 7: must be an object of strings");
}

TEST_CASE("node selector terms: no expressions match nothing") {
  Labels node = L({{"cpus", "8"}});
  CHECK(NodeTerm("null").selector.MatchesNothing());
  CHECK(NodeTerm("{}").selector.MatchesNothing());
  CHECK(NodeTerm(R"({"matchExpressions":[]})").selector.MatchesNothing());
  CHECK(NodeTerm(R"({"matchExpressions":[{"key":"cpus","operator":"Gt","values":["7"]}]})").selector.Matches(node));
  CHECK_FALSE(
      NodeTerm(R"({"matchExpressions":[{"key":"cpus","operator":"Lt","values":["8"]}]})").selector.Matches(node));
  CHECK(NodeTerm(R"({"matchExpressions":[{"key":"cpus","operator":"Like"}]})").error ==
        "\"Like\" is not a valid node selector operator");
}

TEST_CASE("B-35: one bad entry makes a validated map match everything") {
  CHECK(Selector::FromMapValidated(L({{"app", "web"}, {"bad key", "x"}})).Empty());
  CHECK(Selector::FromMapValidated(L({{"app", "not valid!"}})).Empty());
  CHECK_FALSE(Selector::FromMapValidated(L({{"app", "web"}})).Empty());
  CHECK_FALSE(Selector::FromMap(L({{"bad key", "x"}})).Matches(Labels()));
  CHECK(Selector::FromMap(L({{"bad key", "x"}})).Matches(L({{"bad key", "x"}})));
}

TEST_CASE("Go's quoting") {
  CHECK(GoQuoted("a\"b\\c\n\x01") == "\"a\\\"b\\\\c\\n\\x01\"");
}

}  // namespace
}  // namespace berth::api
