#include "pkg/util/log_line.h"

#include <glog/logging.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace berth::util {
namespace {

// Keeps the lines that are logged during its life.
class Kept : public google::LogSink {
 public:
  Kept() { google::AddLogSink(this); }
  ~Kept() override { google::RemoveLogSink(this); }
  void send(google::LogSeverity severity, const char*, const char* file, int, const google::LogMessageTime&,
            const char* message, size_t size) override {
    lines.push_back(std::string(google::GetLogSeverityName(severity)) + " " + file + " " + std::string(message, size));
    structured.push_back(LogLine::Current() != nullptr ? LogLine::Current()->message() : "");
  }
  std::vector<std::string> lines, structured;
};

TEST_CASE("a log line names its message and its values") {
  LogLine line("Successfully bound pod to node");
  line.AddObject("pod", "wire", "web-1").AddObject("node", "", "node-a").Add("evaluatedNodes", 3);
  CHECK(line.Text() == R"("Successfully bound pod to node" pod="wire/web-1" node="node-a" evaluatedNodes=3)");
  line.Error("");
  CHECK(line.Text().starts_with(R"("Successfully bound pod to node" pod=)"));
}

TEST_CASE("quotes are escaped, and several lines stand below each other") {
  LogLine line("say \"it\"");
  line.Add("a", "tab\tand \"quotes\"").Add("b", "one\ntwo\n").Add("c", "");
  CHECK(line.Text() == "\"say \\\"it\\\"\" a=\"tab\\tand \\\"quotes\\\"\" b=<\n\tone\n\ttwo\n > c=\"\"");
}

TEST_CASE("the same line as a sentence has its values in parentheses and its error at the end") {
  LogLine line("The outcome of binding a pod is unknown");
  CHECK(line.Sentence() == "The outcome of binding a pod is unknown");
  line.AddObject("pod", "wire", "web-1").AddObject("node", "", "node-a").Add("attempts", 3);
  CHECK(line.Sentence() == "The outcome of binding a pod is unknown (pod wire/web-1, node node-a, attempts 3)");
  Kept kept;
  line.Error("say \"it\"");
  CHECK(line.Sentence() ==
        R"(The outcome of binding a pod is unknown (pod wire/web-1, node node-a, attempts 3): say "it")");
  CHECK(kept.lines ==
        std::vector<std::string>{R"(ERROR log_line_test.cc "The outcome of binding a pod is unknown" err="say \"it\"" )"
                                 R"(pod="wire/web-1" node="node-a" attempts=3)"});
}

TEST_CASE("what release 1.10 says in other words replaces the sentence and nothing else") {
  LogLine line("Pod expired");
  line.InSentences("Pod wire/web-1 expired").AddObject("pod", "wire", "web-1");
  CHECK(line.Sentence() == "Pod wire/web-1 expired");
  CHECK(line.Text() == R"("Pod expired" pod="wire/web-1")");
}

TEST_CASE("an error comes first, and the sink sees the parts while the line is written") {
  Kept kept;
  LogLine("Error scheduling pod; retrying").AddObject("pod", "wire", "race").Error("already assigned");
  LOG(ERROR) << "plain";
  REQUIRE(kept.lines.size() == 2);
  CHECK(kept.lines[0] ==
        R"(ERROR log_line_test.cc "Error scheduling pod; retrying" err="already assigned" pod="wire/race")");
  CHECK(kept.structured == std::vector<std::string>{"Error scheduling pod; retrying", ""});
  CHECK(LogLine::Current() == nullptr);
}

}  // namespace
}  // namespace berth::util
