// The command completion: prints shell completion, generated from the table of commands.
#include <iostream>

#include "cmd/schedsim/command.h"
#include "pkg/flags/completion.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

int Completion(const Invocation& options, std::ostream& out) {
  std::vector<flags::CompletedCommand> commands;
  for (const Command* c : Commands()) {
    commands.push_back(
        {std::string(c->name), std::string(c->alias), std::string(c->summary), std::string(c->outputs), FlagsOf(*c)});
  }
  const auto text = flags::CompletionFor(options.files.size() == 1 ? options.files[0] : "", "schedsim", commands);
  if (!text.ok()) {
    std::cerr << "schedsim: " << util::Message(text.status()) << "\n" << HintFor(options.command) << "\n";
    return kExitUsage;
  }
  out << *text;
  return kExitOk;
}

}  // namespace

extern const Command kCompletionCommand = {
    .name = "completion",
    .arguments = "bash|zsh|fish",
    .summary = "print completion for a shell",
    .examples = "  source <(schedsim completion bash)\n",
    .run = Completion,
};

}  // namespace berth::schedsim
