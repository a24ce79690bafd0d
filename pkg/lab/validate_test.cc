// What a validator remembers of objects without a mistake changes nothing about what it reports.
#include "pkg/lab/validate.h"

#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "pkg/api/json.h"

namespace berth::lab {
namespace {

using Random = std::minstd_rand;

const std::string& Pick(Random& random, const std::vector<std::string>& from) {
  return from[random() % from.size()];
}

// Returns a member with a name, which mostly is right.
std::string NameMember(Random& random, const std::string& key) {
  static const std::vector<std::string> kWrong = {"\"\"",    "\"Bad_Name\"", "\"-a\"", "\"a-\"",
                                                  "\"a b\"", "\"a.b\"",      "null",   "\"a\\nb\"",
                                                  "7",       "\"\\u0061\"",  "{}",     "[\"a\"]"};
  if (random() % 16 == 0) return "\"other\":\"a\"";
  std::string value = absl::StrCat("\"n-", random() % 1000, "\"");
  if (random() % 8 == 0) value = Pick(random, kWrong);
  if (random() % 32 == 0) value = absl::StrCat("\"", std::string(60 + random() % 6, 'a'), "\"");
  return absl::StrCat("\"", key, "\":", value);
}

std::string RandomObject(Random& random) {
  static const std::vector<std::string> kKinds = {"Pod", "Pod", "Pod", "Node", "Node", "Service", "pod", ""};
  static const std::vector<std::string> kMeta = {"metadata", "metadata", "metadata", "metadata", "Metadata"};
  static const std::vector<std::string> kCpu = {"1", "1", "1", "2", "1x"};
  const std::string kind = Pick(random, kKinds);
  std::string out = kind.empty() ? "{" : absl::StrCat(R"({"apiVersion":"v1","kind":")", kind, "\",");
  absl::StrAppend(&out, "\"", Pick(random, kMeta), "\":{", NameMember(random, "name"), ",", NameMember(random, "uid"),
                  R"(,"labels":{"a":"b",)", NameMember(random, "kubernetes.io/hostname"), "}");
  if (random() % 8 == 0) absl::StrAppend(&out, ",", NameMember(random, "name"));
  absl::StrAppend(&out, R"(},"spec":{)", NameMember(random, "nodeName"),
                  R"(,"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":")", Pick(random, kCpu),
                  "\"}}}]}");
  if (random() % 4 == 0) absl::StrAppend(&out, R"(,"status":{"capacity":{"cpu":")", Pick(random, kCpu), "\"}}");
  return out + (random() % 16 == 0 ? " }" : "}");
}

TEST_CASE("a validator that has seen objects reports what a new one reports") {
  Random random(7);
  const auto place = [](size_t offset) { return absl::StrCat(offset); };
  static const std::vector<std::string> kKinds = {"Pod", "Node", ""};
  Validator remembers(Validate::kStrict, release::Version{10});
  std::vector<std::string> expected;
  FaultlessObjects asked;
  int known = 0;
  for (int i = 0; i < 4000; ++i) {
    api::Document d;
    const std::string text = RandomObject(random), kind = Pick(random, kKinds);
    REQUIRE(d.Parse(text).ok());
    Validator fresh(Validate::kStrict, release::Version{10});
    fresh.Check(d.root(), kind, "v1", place);
    for (std::string& e : fresh.Errors()) expected.push_back(std::move(e));
    remembers.Check(d.root(), kind, "v1", place);
    INFO(text);
    REQUIRE(remembers.Errors() == expected);
    if (asked.Has(d.root(), kind)) ++known;
    if (fresh.Errors().empty() && fresh.Warnings().empty()) asked.Remember();
  }
  CHECK(known > 100);
}

}  // namespace
}  // namespace berth::lab
