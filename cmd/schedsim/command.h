// The commands of schedsim. A command is one file that defines a Command, and one line in the table of commands.cc.
// Help, usage errors, manual pages and shell completion are made from the same Command objects.
#pragma once
#include <absl/status/statusor.h>

#include <boost/program_options.hpp>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/lab/scenario.h"

namespace berth::schedsim {

// 3 is returned only when --fail-on-pending was given. 1 also says that the two ways to decide differ.
inline constexpr int kExitOk = 0, kExitBadInput = 1, kExitDifference = 1, kExitUsage = 2, kExitPending = 3;

// Flags that several commands share.
enum FlagGroup : unsigned {
  kAlgorithmFlags = 1,  // --algorithm-provider, --policy-config-file, --hard-pod-affinity-symmetric-weight
  kGateFlags = 2,       // --feature-gates
  kInputFlags = 4,      // --expand, --validate
};

struct Command;

// One parsed command line.
struct Invocation {
  const Command* command = nullptr;
  std::vector<std::string> files;
  std::string output;        // -o; empty for a command without formats
  lab::Algorithm algorithm;  // of kAlgorithmFlags and kGateFlags
  boost::program_options::variables_map flags;
  std::vector<std::pair<std::string, std::string>> ordered;  // flags with their values, in the order given

  bool Has(const char* name) const { return flags.count(name) > 0; }
  // REQUIRES: the command declared the flag with this type, and it was given or has a default.
  template <typename T>
  const T& Get(const char* name) const {
    return flags[name].as<T>();
  }
  // The values of a flag that may be repeated; empty when it was not given.
  std::vector<std::string> List(const char* name) const {
    return Has(name) ? Get<std::vector<std::string>>(name) : std::vector<std::string>();
  }
};

struct Command {
  enum class Files { kNone, kOrStandardInput, kRequired };

  std::string_view name;
  std::string_view alias = {};      // an older name that keeps working; may be empty
  std::string_view arguments = {};  // what follows the name in the usage line
  std::string_view summary = {};    // one line for the list of commands
  std::string_view outputs = {};    // values of -o, separated by blanks, the default first; empty: no -o
  std::string_view examples = {};   // lines of the help text; may be empty
  Files files = Files::kRequired;
  unsigned groups = 0;  // FlagGroup bits
  // Declares the command's own flags; may be null.
  void (*add_flags)(boost::program_options::options_description_easy_init& add) = nullptr;
  // Checks what cannot be declared, before any file is read. kInvalidArgument is a usage error. May be null.
  absl::Status (*check)(const Invocation& invocation) = nullptr;
  // Writes the answer to `out` and messages to standard error. Returns the exit status; a failed write of `out` is
  // reported by the caller.
  int (*run)(const Invocation& invocation, std::ostream& out) = nullptr;
};

// All commands, in the order in which they are listed.
std::span<const Command* const> Commands();
// By name or alias; null when there is none.
const Command* FindCommand(std::string_view name);

// All flags of a command: its own, those of its groups, and those that every command has.
boost::program_options::options_description FlagsOf(const Command& command);

// What kInputFlags, kAlgorithmFlags and kGateFlags say about reading.
lab::ReadOptions ReadOptionsOf(const Invocation& invocation);

// Reads the files that the command line names and prints what was skipped or is wrong to standard error. Null when the
// input cannot be used; *exit_status then says why. `whole`: objects keep their JSON, for extenders.
std::unique_ptr<lab::Input> ReadOrComplain(const Invocation& invocation, int* exit_status, bool whole = false);

}  // namespace berth::schedsim
