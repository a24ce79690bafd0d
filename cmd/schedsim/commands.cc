// The table of commands, and what several of them share: the flags about inputs, and reading the inputs.
#include <iostream>

#include "cmd/schedsim/command.h"
#include "pkg/explain/output.h"
#include "pkg/util/status.h"

namespace berth::schedsim {

// Each command is defined in its own file. To add a command, add a file and a line here.
// clang-format off
#define SCHEDSIM_COMMANDS(X) \
  X(kRunCommand)             \
  X(kExplainCommand)         \
  X(kCapacityCommand)        \
  X(kWhatIfCommand)          \
  X(kCompareCommand)         \
  X(kTuneCommand)            \
  X(kSimulateCommand)        \
  X(kCheckCommand)           \
  X(kConvertCommand)         \
  X(kSchemaCommand)          \
  X(kSnapshotCommand)        \
  X(kReplayCommand)          \
  X(kAnonymiseCommand)       \
  X(kServeCommand)           \
  X(kCompletionCommand)
// clang-format on

#define DECLARE(command) extern const Command command;
SCHEDSIM_COMMANDS(DECLARE)
#undef DECLARE

std::span<const Command* const> Commands() {
#define ADDRESS(command) &command,
  static constexpr const Command* kCommands[] = {SCHEDSIM_COMMANDS(ADDRESS)};
#undef ADDRESS
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
  options.autoscaled = invocation.Get<bool>("autoscaled");
  options.as_queue = invocation.Get<std::string>("order") == "queue";
  options.recursive = invocation.Get<bool>("recursive");
  // Of pods that arrive later, are given by --pod-spec, or leave nodes that are drained.
  options.more_pods =
      invocation.Has("arrivals") || invocation.Has("generate") || invocation.Has("pod-spec") || invocation.Has("drain");
  const auto& validate = invocation.Get<std::string>("validate");
  options.validate = validate == "strict" ? lab::Validate::kStrict
                     : validate == "warn"
                         ? (invocation.command->name == "simulate" ? lab::Validate::kNames : lab::Validate::kWarn)
                         : lab::Validate::kOff;
  return options;
}

std::string HintFor(const Command* command) {
  return flags::HelpHint(command == nullptr ? "schedsim" : "schedsim " + std::string(command->name));
}

void ReportInput(const lab::Input& input) {
  for (const auto& [kind, n] : input.skipped) {
    std::cerr << "schedsim: skipped " << explain::Counted(n, "object") << " of kind " << kind
              << ", which scheduling does not read\n";
  }
  for (const std::string& w : input.warnings) std::cerr << "schedsim: " << w << "\n";
}

std::unique_ptr<lab::Input> ReadOrComplain(const Invocation& invocation, int* exit_status, ReadHow how) {
  lab::ReadOptions options = ReadOptionsOf(invocation);
  options.keep_raw = how.whole;
  options.keep_given = how.given;
  options.queued = how.queued;
  options.annotations = std::move(how.annotations);
  options.more_pods = options.more_pods || how.given;
  auto input = lab::ReadInputs(invocation.files, options);
  if (!input.ok()) {
    *exit_status = input.status().code() == absl::StatusCode::kFailedPrecondition ? kExitUsage : kExitBadInput;
    std::cerr << "schedsim: " << util::Message(input.status()) << "\n";
    return nullptr;
  }
  if (!how.quiet) ReportInput(*input);
  for (const std::string& m : input->mistakes) std::cerr << "schedsim: " << m << "\n";
  if (!input->mistakes.empty()) {
    *exit_status = kExitBadInput;
    return nullptr;
  }
  return std::make_unique<lab::Input>(std::move(*input));
}

}  // namespace berth::schedsim
