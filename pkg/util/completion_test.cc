#include "pkg/util/completion.h"

#include <catch2/catch.hpp>

namespace berth::util {
namespace {

TEST_CASE("completion for each shell has every flag, with its help quoted") {
  const std::vector<CompletedFlag> flags = {{"config", "the file's path: [a]", true}, {"help", "print this", false}};
  const auto text = [&](const char* shell) { return *CompletionFor(shell, "kube-scheduler", flags); };
  CHECK(text("bash").find("--config --help") != std::string::npos);
  CHECK(text("bash").find("complete -o default -F _kube_scheduler kube-scheduler\n") != std::string::npos);
  CHECK(text("zsh").find("'--config=[the file'\\''s path\\: \\[a\\]]:value:_files'") != std::string::npos);
  CHECK(text("fish").find("complete -c kube-scheduler -l config -r -d 'the file\\'s path: [a]'\n") !=
        std::string::npos);
  CHECK(text("fish").find("-l help -d 'print this'\n") != std::string::npos);
  CHECK_FALSE(CompletionFor("csh", "kube-scheduler", flags).ok());
}

}  // namespace
}  // namespace berth::util
