#include "pkg/world/living/job_policy.h"

#include <catch2/catch.hpp>
#include <string>

namespace berth::world::living {
namespace {

Value Read(const std::string& text) {
  auto v = validation::ParseJson(text);
  REQUIRE(v.ok());
  return *std::move(v);
}

Value Job(const std::string& spec) {
  return Read(R"({"kind":"Job","metadata":{"name":"j"},"spec":)" + spec + "}");
}

Value Failed(const std::string& container, int code, const std::string& conditions = "[]") {
  return Read(R"({"metadata":{"name":"p","namespace":"d"},"status":{"phase":"Failed","conditions":)" + conditions +
              R"(,"containerStatuses":[{"name":")" + container + R"(","state":{"terminated":{"exitCode":)" +
              std::to_string(code) + "}}}]}}");
}

TEST_CASE("indexes are read and written as ranges") {
  CHECK(IndexesOf("0-2,5,x,7-6") == std::set<int64_t>{0, 1, 2, 5});
  CHECK(TextOfIndexes({0, 1, 3, 4, 5, 9}) == "0,1,3-5,9");
  CHECK(TextOfIndexes({}).empty());
}

TEST_CASE("the first rule that a failed pod matches says what its failure is") {
  using Action = FailureVerdict::Action;
  const Value job = Job(R"({"podFailurePolicy":{"rules":[
    {"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]},
    {"action":"FailIndex","onExitCodes":{"operator":"In","values":[7]}},
    {"action":"FailJob","onExitCodes":{"containerName":"main","operator":"NotIn","values":[1,2]}}]}})");
  CHECK(JudgeFailure(job, Failed("main", 7, R"([{"type":"DisruptionTarget","status":"True"}])")).action ==
        Action::kIgnore);
  CHECK(JudgeFailure(job, Failed("main", 7)).action == Action::kFailIndex);
  CHECK(JudgeFailure(job, Failed("main", 1)).action == Action::kCount);
  CHECK(JudgeFailure(job, Failed("side", 3)).action == Action::kCount);
  const FailureVerdict fails = JudgeFailure(job, Failed("main", 3));
  CHECK(fails.action == Action::kFailJob);
  CHECK(fails.message == "Container main for pod d/p failed with exit code 3 matching FailJob rule at index 2");
  CHECK(JudgeFailure(Job("{}"), Failed("main", 3)).action == Action::kCount);
}

TEST_CASE("a success rule is met by its indexes or by their number") {
  const Value job = Job(R"({"successPolicy":{"rules":[{"succeededIndexes":"0,2-3","succeededCount":2},
    {"succeededIndexes":"5"},{"succeededCount":4}]}})");
  CHECK(!MetSuccessRule(job, {0, 1}));
  CHECK(MetSuccessRule(job, {0, 3}) == "Matched rules at index 0");
  CHECK(MetSuccessRule(job, {5}) == "Matched rules at index 1");
  CHECK(MetSuccessRule(job, {0, 1, 6, 7}) == "Matched rules at index 2");
  CHECK(!MetSuccessRule(Job("{}"), {0, 1, 2}));
}

}  // namespace
}  // namespace berth::world::living
