// The commands of schedsim. A command is one file that defines a Command, and one line in the table in commands.cc.
// Help, usage errors, manual pages and shell completion are generated from the Command objects.
#pragma once
#include <absl/status/statusor.h>

#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/flags/flag_set.h"
#include "pkg/lab/scenario.h"
#include "pkg/util/contract.h"

namespace berth::schedsim {

namespace po = flags::po;
using flags::Takes;
using Texts = std::vector<std::string>;

// 3 is returned only with --fail-on-pending and by convert --prove. 1 also means that the incremental and the reference
// scheduler disagree.
inline constexpr int kExitOk = 0, kExitBadInput = 1, kExitDifference = 1, kExitUsage = 2, kExitPending = 3;

// Flags that several commands share.
enum FlagGroup : unsigned {
  kAlgorithmFlags = 1,  // --algorithm-provider, --policy-config-file, --hard-pod-affinity-symmetric-weight
  kGateFlags = 2,       // --feature-gates
  kInputFlags = 4,      // --expand, --validate
  kReleaseFlag = 8,     // --emulated-version, which is also one of kAlgorithmFlags
};

struct Command;

// One parsed command line.
struct Invocation {
  const Command* command = nullptr;
  std::vector<std::string> files;
  std::string output;        // -o; empty for a command without formats
  lab::Algorithm algorithm;  // from kAlgorithmFlags, kGateFlags and kReleaseFlag
  po::variables_map flags;
  // flags with their values, in the order of the command line
  std::vector<std::pair<std::string, std::string>> ordered;

  bool Has(const char* name) const { return flags.count(name) > 0; }
  // REQUIRES: the command declared the flag with this type, and it was given or has a default.
  template <typename T>
  const T& Get(const char* name) const {
    BERTH_REQUIRES(Has(name));
    return flags[name].as<T>();
  }
  // Returns the values of a flag that may be repeated; empty if it was not given.
  Texts List(const char* name) const { return Has(name) ? Get<Texts>(name) : Texts(); }
};

struct Command {
  enum class Files { kNone, kOrStandardInput, kRequired };

  std::string_view name;
  std::string_view alias = {};      // an older name that keeps working; may be empty
  std::string_view arguments = {};  // what follows the name in the usage line
  std::string_view summary = {};    // one line for the list of commands
  std::string_view outputs = {};    // values of -o, separated by blanks, the default first; empty: there is no -o
  std::string_view examples = {};   // lines of the help text; may be empty
  Files files = Files::kRequired;
  unsigned groups = 0;  // FlagGroup bits
  // Declares the command's own flags; may be null.
  void (*add_flags)(flags::FlagSet& add) = nullptr;
  // Checks what cannot be declared, before any file is read. kInvalidArgument is a usage error. May be null.
  absl::Status (*check)(const Invocation& invocation) = nullptr;
  // Writes the output to `out` and messages to standard error. Returns the exit status. A failed write to `out` is
  // reported by the caller.
  int (*run)(const Invocation& invocation, std::ostream& out) = nullptr;
};

// Returns all commands, in the order in which --help lists them.
std::span<const Command* const> Commands();
// Returns a command by name or alias, or null.
const Command* FindCommand(std::string_view name);

// Returns where the flags of a command are listed, or, without one, the commands: the end of a usage error.
std::string HintFor(const Command* command);

// Returns all flags of a command: its own, those of its groups, and those that every command has.
flags::FlagSet FlagsOf(const Command& command);

// Returns the options for reading that kInputFlags, kAlgorithmFlags and kGateFlags set.
lab::ReadOptions ReadOptionsOf(const Invocation& invocation);

// How an input is read.
struct ReadHow {
  bool whole = false;   // objects keep their JSON, as for extenders
  bool given = false;   // all objects are kept (lab::ReadOptions::keep_given)
  bool quiet = false;   // warnings are not printed; see ReportInput
  bool queued = false;  // the scheduler's queue orders the pods (lab::ReadOptions::queued)
  // The annotations whose values are checked.
  std::vector<lab::AnnotationCheck> annotations = {};
};
// Reads the files that the command line names, and prints warnings and errors to standard error. Returns null if the
// input cannot be used, with *exit_status set.
std::unique_ptr<lab::Input> ReadOrComplain(const Invocation& invocation, int* exit_status, ReadHow how = {});
// Prints what reading has found that is no mistake.
void ReportInput(const lab::Input& input);

}  // namespace berth::schedsim
