#include "pkg/flags/completion.h"

#include <catch2/catch.hpp>

namespace berth::flags {
namespace {

FlagSet SomeFlags() {
  FlagSet add;
  add("config", po::value<std::string>(), "the file's path: [a.b]. It is read once");
  add("help,h", po::bool_switch(), "print this");
  add("output,o", po::value<std::string>(), "form");
  add("old", (new Value("string", "", {}, {}))->Deprecated("use the new one"), "no longer");
  return add;
}

TEST_CASE("completion for each shell has every flag, with the first sentence of its help quoted") {
  const auto text = [&](const char* shell) { return *CompletionFor(shell, "kube-scheduler", SomeFlags()); };
  CHECK(text("bash").find("\"--config --help --output\"") != std::string::npos);
  CHECK(text("bash").find("complete -o default -F _kube_scheduler kube-scheduler\n") != std::string::npos);
  CHECK(text("zsh").find("'--config=[the file'\\''s path\\: \\[a.b\\]]:value:_files'") != std::string::npos);
  CHECK(text("fish").find("complete -c kube-scheduler -l config -r -d 'the file\\'s path: [a.b]'\n") !=
        std::string::npos);
  CHECK(text("fish").find("-l help -d 'print this'\n") != std::string::npos);
  CHECK_FALSE(CompletionFor("csh", "kube-scheduler", SomeFlags()).ok());
}

TEST_CASE("completion of commands has the flags of each, and the values of -o") {
  std::vector<CompletedCommand> commands;
  commands.push_back({"run", "go", "place pods", "table json", SomeFlags()});
  const auto text = [&](const char* shell) { return *CompletionFor(shell, "schedsim", commands); };
  CHECK(
      text("bash").find("    run | go)\n      flags=\"--config --help --output\"\n      outputs=\"table json\" ;;\n") !=
      std::string::npos);
  CHECK(text("bash").find("compgen -W \"run help\"") != std::string::npos);
  CHECK(text("zsh").find("    'run:place pods'\n") != std::string::npos);
  CHECK(text("zsh").find("'--output=[form]:format:(table json)'") != std::string::npos);
  CHECK(text("fish").find("'__fish_seen_subcommand_from run go' -l output -r -s o -f -a 'table json' -d 'form'\n") !=
        std::string::npos);
  CHECK_FALSE(CompletionFor("csh", "schedsim", commands).ok());
}

}  // namespace
}  // namespace berth::flags
