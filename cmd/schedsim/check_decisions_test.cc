// Tests that schedsim detects a plugin whose traits declare too little.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iostream>
#include <sstream>

#include "cmd/schedsim/options.h"
#include "pkg/scheduler/algorithm/per_node.h"
#include "pkg/scheduler/factory/factory.h"

namespace berth::schedsim {
namespace {

using namespace scheduler;  // NOLINT: a plugin

// Keeps pods with the label app=a away from node n1, but declares that it reads nothing of the pod.
const std::string kRegistered = RegisterFitPredicate(
    "WrongTraits",
    [](const api::Pod& pod, const NodeInfo& node) {
      PredicateResult result;
      result.fit = pod.tmpl->labels.Get(util::Symbol("app")) != util::Symbol("a") || node.node()->meta.name != "n1";
      if (!result.fit) result.reasons.emplace_back("node(s) were for others");
      return result;
    },
    PredicateTraits(kPodNothing, ClusterPart::kNode));

class Files {
 public:
  Files() {
    std::string pattern = "/tmp/check-decisions-XXXXXX";
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
    std::ofstream(policy()) << R"({"predicates":[{"name":"WrongTraits"}],"priorities":[]})";
    std::ofstream in(input());
    in << R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"},)"
       << R"("status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"10"}}})"
       << "\n";
    for (const char* name : {"b1", "b2", "a1"}) {
      in << R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" << name << R"(","namespace":"default","labels":)"
         << R"({"app":")" << name[0] << R"("}},"spec":{"containers":[{"name":"c","image":"i"}]}})"
         << "\n";
    }
  }
  ~Files() {
    for (const std::string& file : {policy(), input()}) unlink(file.c_str());
    rmdir(folder_.c_str());
  }
  std::string policy() const { return folder_ + "/policy.json"; }
  std::string input() const { return folder_ + "/input.json"; }

 private:
  std::string folder_;
};

struct Ran {
  int status;
  std::string out, err;
};

Ran Schedsim(std::vector<std::string> words) {
  words.insert(words.begin(), "schedsim");
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  auto line = ParseOptions(static_cast<int>(argv.size()), argv.data());
  INFO(line.status().message());
  REQUIRE(line.ok());
  std::ostringstream out, err;
  std::streambuf* const was = std::cerr.rdbuf(err.rdbuf());
  const int status = line->invocation.command->run(line->invocation, out);
  std::cerr.rdbuf(was);
  return {status, out.str(), err.str()};
}

}  // namespace

TEST_CASE("run --check-decisions reports what a plugin with wrong traits decides differently") {
  Files f;
  const std::string policy = "--policy-config-file=" + f.policy();
  const Ran unchecked = Schedsim({"run", f.input(), policy, "-o", "placements"});
  CHECK(unchecked.status == kExitOk);
  CHECK(unchecked.err == "");
  const Ran checked = Schedsim({"run", f.input(), policy, "-o", "placements", "--check-decisions"});
  CHECK(checked.status == kExitDifference);
  CHECK(checked.err ==
        "schedsim: default/a1: the incremental scheduler places it on node n1 (1 nodes fit, 1 share the best score); "
        "the reference scheduler finds no node where it fits\n"
        "schedsim: 3 decisions made both ways, 1 of them differ\n");
  CHECK(checked.out != unchecked.out);
  const Ran good = Schedsim({"run", f.input(), "--check-decisions"});
  CHECK(good.status == kExitOk);
  CHECK(good.err == "schedsim: 3 decisions made both ways, all alike\n");
}

TEST_CASE("explain says loudly that the incremental and the reference scheduler disagree") {
  Files f;
  const std::string policy = "--policy-config-file=" + f.policy();
  const Ran table = Schedsim({"explain", f.input(), "--pod", "a1", policy});
  CHECK(table.status == kExitDifference);
  CHECK(table.out.rfind("WARNING: the incremental and the reference scheduler disagree: the incremental scheduler "
                        "places it on node n1",
                        0) == 0);
  CHECK(table.err.find("default/a1: the incremental and the reference scheduler disagree") != std::string::npos);
  const Ran json = Schedsim({"explain", f.input(), "--pod", "a1", policy, "-o", "json"});
  CHECK(json.out.find("\"incrementalDecisionDiffers\":") != std::string::npos);
  const Ran good = Schedsim({"explain", f.input(), "--pod", "b1", policy});
  CHECK(good.status == kExitOk);
  CHECK(good.out.find("WARNING") == std::string::npos);
}

}  // namespace berth::schedsim
