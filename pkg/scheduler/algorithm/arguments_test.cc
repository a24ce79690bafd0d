#include "pkg/scheduler/algorithm/arguments.h"

#include <catch2/catch.hpp>

namespace berth::scheduler {
namespace {

struct Read {
  int64_t skew;
  bool strict;
  std::string label;
  std::vector<std::string> problems;
};

// Reads three arguments of a rule.
Read ReadArguments(const std::string& json) {
  Read read;
  PluginFactoryArgs args;
  args.arguments = json;
  args.problems = &read.problems;
  Arguments arguments(args);
  read.skew = arguments.Integer("maxSkew", 1, 1, 10);
  read.strict = arguments.Boolean("strict", true);
  read.label = arguments.Text("label", "rack");
  arguments.Finish();
  return read;
}

TEST_CASE("arguments: values, and what holds without them") {
  Read read = ReadArguments(R"({"maxSkew": 2, "strict": false, "label": "zone"})");
  CHECK((read.skew == 2 && !read.strict && read.label == "zone"));
  CHECK(read.problems.empty());
  for (const char* without : {"", "{}", "null", R"({"maxSkew": null, "strict": null, "label": null})"}) {
    INFO(without);
    read = ReadArguments(without);
    CHECK((read.skew == 1 && read.strict && read.label == "rack"));
    CHECK(read.problems.empty());
  }
}

TEST_CASE("arguments: every mistake is reported, and what holds without the argument holds") {
  const Read read = ReadArguments(R"({"maxSkew": 11, "strict": "no", "label": "", "stricter": true})");
  CHECK((read.skew == 1 && read.strict && read.label == "rack"));
  CHECK(read.problems == std::vector<std::string>{"maxSkew: 11: must be a whole number from 1 to 10",
                                                  "strict: \"no\": must be true or false",
                                                  "label: \"\": must be a text that is not empty",
                                                  "stricter: there is no such argument (did you mean \"strict\"?)"});
  CHECK(ReadArguments("[]").problems == std::vector<std::string>{"[]: must be an object"});
}

}  // namespace
}  // namespace berth::scheduler
