#include <iostream>

#include "cmd/schedsim/command.h"
#include "pkg/explain/output.h"
#include "pkg/util/status.h"

namespace berth::schedsim {

// Each is defined in a file of its own.
extern const Command kRunCommand, kExplainCommand, kCapacityCommand, kCheckCommand, kSchemaCommand, kReplayCommand,
    kAnonymiseCommand;

std::span<const Command* const> Commands() {
  static constexpr const Command* kCommands[] = {
      &kRunCommand,    &kExplainCommand, &kCapacityCommand,  &kCheckCommand,
      &kSchemaCommand, &kReplayCommand,  &kAnonymiseCommand,
  };
  return kCommands;
}

const Command* FindCommand(std::string_view name) {
  for (const Command* c : Commands()) {
    if (c->name == name || (!c->alias.empty() && c->alias == name)) return c;
  }
  return nullptr;
}

lab::ReadOptions ReadOptionsOf(const Invocation& invocation) {
  lab::ReadOptions options;
  options.defaults = invocation.algorithm;
  if ((invocation.command->groups & kInputFlags) == 0) return options;
  const auto& expand = invocation.Get<std::string>("expand");
  options.expand = expand == "on" ? lab::Expand::kMissing : expand == "off" ? lab::Expand::kOff : lab::Expand::kAuto;
  return options;
}

std::unique_ptr<lab::Input> ReadOrComplain(const Invocation& invocation, int* exit_status) {
  auto input = lab::ReadInputs(invocation.files, ReadOptionsOf(invocation));
  if (!input.ok()) {
    *exit_status = input.status().code() == absl::StatusCode::kFailedPrecondition ? kExitUsage : kExitBadInput;
    std::cerr << "schedsim: " << util::Message(input.status()) << "\n";
    return nullptr;
  }
  for (const auto& [kind, n] : input->skipped) {
    std::cerr << "schedsim: skipped " << explain::Counted(n, "object") << " of kind " << kind
              << ", which scheduling does not read\n";
  }
  for (const std::string& w : input->warnings) std::cerr << "schedsim: " << w << "\n";
  return std::make_unique<lab::Input>(std::move(*input));
}

}  // namespace berth::schedsim
