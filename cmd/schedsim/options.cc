// The flags of each command, and what their values become.
#include "cmd/schedsim/options.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>

#include <algorithm>

#include "cmd/schedsim/algorithm_flags.h"
#include "cmd/schedsim/variants.h"
#include "pkg/flags/help_text.h"
#include "pkg/releases/gates.h"
#include "pkg/releases/releases.h"
#include "pkg/util/status.h"
#include "pkg/util/suggest.h"
#include "pkg/util/version.h"

namespace berth::schedsim {
namespace {

// REQUIRES: the release is set.
absl::Status ReadGates(const Texts& values, lab::Algorithm* a) {
  for (const std::string& value : values) {
    for (absl::string_view part : absl::StrSplit(value, ',')) {
      part = absl::StripAsciiWhitespace(part);
      if (part.empty()) continue;
      std::pair<std::string, std::string> kv = absl::StrSplit(part, absl::MaxSplits('=', 1));
      std::string name(absl::StripAsciiWhitespace(kv.first)), on(absl::StripAsciiWhitespace(kv.second));
      name = std::string(releases::WithoutComponent(*a->release, name));
      if (absl::Status s = releases::CheckGate(*a->release, name, on == "true"); !s.ok()) {
        return util::InvalidArgument(absl::StrCat("--feature-gates: ", s.message()));
      }
      if (part.find('=') == absl::string_view::npos) {
        return util::InvalidArgument(absl::StrCat("--feature-gates: missing bool value for ", name));
      }
      if (on != "true" && on != "false") {
        return flags::InvalidValue("feature-gates", util::FromAbsl(part), "must be NAME=true or NAME=false");
      }
      a->gates[name] = on == "true";
    }
  }
  return a->CheckGatesNeeded();
}

absl::Status UseHardWeight(const Invocation& o, lab::Algorithm* a) {
  constexpr const char* kFlag = "hard-pod-affinity-symmetric-weight";
  const int weight = o.Get<int>(kFlag);
  if (!a->Decides().has_policies) {
    return util::InvalidArgument(absl::StrCat("--", kFlag, ": release ", std::string(a->release->name),
                                              " has no such flag: give it a configuration (--config) with "
                                              "hardPodAffinityWeight in the args of InterPodAffinity"));
  }
  if (weight < 1 || weight > 100) return flags::InvalidValue(kFlag, weight, "must be from 1 to 100");
  a->hard_pod_affinity_symmetric_weight = weight;
  return absl::OkStatus();
}

absl::Status ReadAlgorithm(const Invocation& o, lab::Algorithm* a) {
  // Also where the flag may be repeated and is read later.
  for (const auto& [flag, value] : o.ordered) {
    lab::Algorithm unused;
    if (flag == "emulated-version") BERTH_RETURN_IF_ERROR(UseRelease(value, &unused));
  }
  if ((o.command->groups & (kReleaseFlag | kAlgorithmFlags)) != 0 && o.Has("emulated-version")) {
    BERTH_RETURN_IF_ERROR(UseRelease(o.Get<std::string>("emulated-version"), a));
  }
  if ((o.command->groups & kGateFlags) != 0 && o.Has("feature-gates")) {
    BERTH_RETURN_IF_ERROR(ReadGates(o.Get<Texts>("feature-gates"), a));
  }
  if (o.Has("ties")) {
    auto ties = lab::Ties::Parse(o.Get<std::string>("ties"));
    if (!ties.ok()) return util::InvalidArgument(absl::StrCat("--ties: ", ties.status().message()));
    a->ties = *ties;
  }
  if (o.Has("preempt")) a->preempt = o.Get<bool>("preempt");
  if ((o.command->groups & kAlgorithmFlags) == 0) return absl::OkStatus();
  a->ignore_unknown_fields = o.Get<bool>("ignore-unknown-fields");
  if (o.Has("algorithm-provider")) a->provider = o.Get<std::string>("algorithm-provider");
  if (o.Has("config")) {
    const std::string& file = o.Get<std::string>("config");
    BERTH_RETURN_IF_ERROR(UseConfiguration(file, o.Has("emulated-version") ? a->release : nullptr, a));
  }
  BERTH_RETURN_IF_ERROR(UsePercentage(o, false, a));
  if (o.Has("hard-pod-affinity-symmetric-weight")) BERTH_RETURN_IF_ERROR(UseHardWeight(o, a));
  if (!a->Decides().has_policies) {
    if (o.Has("policy-config-file")) {
      return util::InvalidArgument(absl::StrCat("release ", std::string(a->release->name),
                                                " has no Policies: give it a configuration (--config)"));
    }
    return a->CheckSource();
  }
  if (!o.Has("policy-config-file")) return absl::OkStatus();
  if (o.Has("algorithm-provider")) {
    return util::InvalidArgument("give either --algorithm-provider or --policy-config-file");
  }
  if (a->profiles) {
    return util::InvalidArgument(
        "give either --config or --policy-config-file; schedsim convert makes one of the other");
  }
  // A key that stands twice is an error where manifests are checked strictly; the release passes over it.
  const bool strict = o.Has("validate") && o.Get<std::string>("validate") == "strict";
  auto policy = ReadPolicyFile(o.Get<std::string>("policy-config-file"), *a, strict);
  if (!policy.ok()) return policy.status();
  a->policy = std::move(*policy);
  a->policy_from_flag = true;
  return absl::OkStatus();
}

std::string UsageLine(const Command& c) {
  return absl::StrCat("schedsim ", util::ToAbsl(c.name), c.arguments.empty() ? "" : " ", util::ToAbsl(c.arguments));
}

std::string GeneralHelp() {
  std::string out = "schedsim decides where pods would go, offline, with the scheduler's own code.\n\nCommands:\n";
  for (const Command* c : Commands()) {
    absl::StrAppend(&out, "  ", UsageLine(*c), "\n      ", util::ToAbsl(c->summary), "\n");
  }
  absl::StrAppend(&out,
                  "\nFILE: Kubernetes objects as JSON or YAML, Lists, gzip or plain, or Scenario\n"
                  "documents; \"-\" is standard input.\n"
                  "\nExit status:\n"
                  "  0  success; pods that do not fit are a result, not an error\n"
                  "  1  bad input, a failed write, or differences that --check-decisions found\n"
                  "  2  a mistake in the command line\n"
                  "  3  --fail-on-pending was given and a pod stays pending, or convert --prove\n"
                  "     found a pod that goes elsewhere\n"
                  "\n\"schedsim help COMMAND\" or \"schedsim COMMAND --help\" lists a command's flags.\n");
  return out;
}

// Returns a command's examples. Each " COMMAND purpose" becomes two lines with the purpose first, so that lines fit
// into 80 columns.
std::string Examples(std::string_view lines) {
  std::string out;
  for (absl::string_view line : absl::StrSplit(util::ToAbsl(lines), '\n', absl::SkipEmpty())) {
    const size_t gap = line.find("   ", 2);
    if (gap != absl::string_view::npos) {
      absl::StrAppend(&out, "  # ", absl::StripLeadingAsciiWhitespace(line.substr(gap)), "\n");
    }
    line = line.substr(0, gap);
    if (const size_t last = line.rfind(' ', 78); line.size() > 80 && last != absl::string_view::npos) {
      absl::StrAppend(&out, line.substr(0, last), " \\\n     ");
      line = line.substr(last);
    }
    absl::StrAppend(&out, line, "\n");
  }
  return out;
}

std::string CommandHelp(const Command& c) {
  std::string out = absl::StrCat(flags::Wrapped(c.summary), "\n\nUsage:\n  ", UsageLine(c), "\n\n", FlagsOf(c).Help());
  if (!c.examples.empty()) absl::StrAppend(&out, "\nExamples:\n", Examples(c.examples));
  out[0] = absl::ascii_toupper(static_cast<unsigned char>(out[0]));
  return out;
}

Texts CommandNames() {
  Texts names;
  for (const Command* c : Commands()) names.emplace_back(c->name);
  return names;
}

absl::StatusOr<const Command*> CommandNamed(const std::string& name) {
  if (const Command* c = FindCommand(name)) return c;
  const Texts names = CommandNames();
  return util::InvalidArgument(
      absl::StrCat("unknown command \"", name, "\"", util::SuggestionFor(name, names), ": ", flags::MustBe(names)));
}

absl::Status OneOf(const char* flag, const std::string& value, const Texts& allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return absl::OkStatus();
  return flags::InvalidValue(flag, value, flags::MustBe(allowed));
}

absl::Status CheckInputFlags(Invocation* o) {
  // Values of kubectl's boolean flags are accepted, too.
  auto& expand = o->flags.at("expand").as<std::string>();
  if (expand == "true") expand = "on";
  if (expand == "false") expand = "off";
  BERTH_RETURN_IF_ERROR(OneOf("validate", o->Get<std::string>("validate"), {"warn", "strict", "off"}));
  BERTH_RETURN_IF_ERROR(OneOf("order", o->Get<std::string>("order"), {"file", "queue"}));
  return OneOf("expand", expand, {"on", "auto", "off"});
}

// Returns what the first word after the command is: "a FILE", or "bash, zsh or fish".
std::string FirstArgument(const Command& command) {
  const absl::string_view arguments = util::ToAbsl(command.arguments);
  const absl::string_view first = absl::StripSuffix(arguments.substr(0, arguments.find(' ')), "...");
  const Texts choices = absl::StrSplit(first, '|');
  const bool placeholder = !first.empty() && absl::ascii_isupper(static_cast<unsigned char>(first[0]));
  return absl::StrCat(placeholder ? "a " : "", flags::Choices(choices));
}

absl::Status Fill(const Command& command, Invocation* o) {
  if (!command.outputs.empty()) {
    Texts outputs = absl::StrSplit(util::ToAbsl(command.outputs), ' ');
    o->output = o->Has("output") ? o->Get<std::string>("output") : outputs[0];
    BERTH_RETURN_IF_ERROR(OneOf("output", o->output, outputs));
  }
  if (o->files.empty()) {
    if (command.files == Command::Files::kRequired) {
      return util::InvalidArgument(absl::StrCat(util::ToAbsl(command.name), ": give ", FirstArgument(command)));
    }
    if (command.files == Command::Files::kOrStandardInput) o->files = {"-"};
  } else if (command.files == Command::Files::kNone) {
    return util::InvalidArgument(
        absl::StrCat(util::ToAbsl(command.name), ": takes no FILE, and \"", o->files[0], "\" was given"));
  }
  if ((command.groups & kInputFlags) != 0) BERTH_RETURN_IF_ERROR(CheckInputFlags(o));
  if (command.check != nullptr) BERTH_RETURN_IF_ERROR(command.check(*o));
  return ReadAlgorithm(*o, &o->algorithm);
}

}  // namespace

flags::FlagSet FlagsOf(const Command& command) {
  flags::FlagSet add;
  if ((command.groups & kAlgorithmFlags) != 0) {
    add("algorithm-provider", Takes("NAME"),
        absl::StrCat("algorithm provider: ",
                     scheduler::ListAlgorithmProviders(releases::Of(release::Default()).decides)));
    add("policy-config-file", Takes("FILE"), "Policy to schedule by, instead of a provider");
    add("emulated-version", Takes(release::NamesWith("|")),
        absl::StrCat("Kubernetes release to emulate (default ", std::string(release::Default().name), ")"));
    add("config", Takes("FILE"),
        "KubeSchedulerConfiguration to schedule by, as the first release that can read it would");
    add("percentage-of-nodes-to-score", Takes("N|release"),
        "stop looking once N % of the nodes fit, or where the release would, in its order (default: look at all "
        "nodes)");
    add("ignore-unknown-fields", po::bool_switch(), "ignore pod fields newer than the emulated release");
    add("hard-pod-affinity-symmetric-weight", Takes<int>("N"),
        "weight of the required pod affinity of placed pods, 1 to 100 (default 1; later releases: in a configuration)");
  }
  if ((command.groups & kReleaseFlag) != 0) {
    add("emulated-version", Takes(release::NamesWith("|")),
        "Kubernetes release that reads the file (default: the first one that can)");
  }
  if ((command.groups & kGateFlags) != 0) {
    add("feature-gates", Takes<Texts>("NAME=true,..."),
        "feature gates to turn on or off (default: those of the release)");
  }
  if ((command.groups & (kGateFlags | kInputFlags)) == (kGateFlags | kInputFlags)) {
    add("ties", Takes("HOW")->default_value("turn"),
        "how to choose among several nodes with the highest score: turn (one after another, as the daemon does), "
        "first, or random:SEED");
  }
  if ((command.groups & kInputFlags) != 0) {
    add("expand", Takes("MODE")->default_value("auto")->implicit_value("on", ""),
        "create the pods of workloads that have none in the input: on, off, or auto (only if no workload has any)");
    add("autoscaled", po::bool_switch(),
        "create at least minReplicas pods for the target of each HorizontalPodAutoscaler, even if its replicas are "
        "fewer");
    add("order", Takes("ORDER")->default_value("file"),
        "order in which pending pods are tried: file, or queue (by priority if that is enabled, then by age)");
    add("recursive,R", po::bool_switch(), "read the subfolders of folders given as FILE, too");
  }
  if ((command.groups & kInputFlags) != 0) {
    add("validate", Takes("MODE")->default_value("warn"),
        "check for what an API server would refuse and for likely mistakes: warn, strict (exit status 1) or off");
  }
  if (command.add_flags != nullptr) command.add_flags(add);
  if (!command.outputs.empty()) {
    add("output,o", Takes("FORMAT"), absl::StrCat("one of: ", util::ToAbsl(command.outputs)));
  }
  add("verbosity,v", Takes<int>("N")->default_value(0), "log level");
  add("help,h", po::bool_switch(), "print this text");
  add("version", po::bool_switch(), "print the version");
  return add;
}

absl::StatusOr<ParsedLine> ParseOptions(int argc, char** argv) {
  ParsedLine line;
  Texts words(argv + 1, argv + argc);
  if (words.empty()) return util::InvalidArgument(absl::StrCat("give a command: ", flags::Choices(CommandNames())));
  const std::string version = absl::StrCat("schedsim ", util::ToAbsl(util::Version()), "\n");
  if (words[0] == "--help" || words[0] == "-h" || (words[0] == "help" && words.size() == 1)) {
    line.text = GeneralHelp();
    return line;
  }
  if (words[0] == "--version" || words[0] == "version") {
    line.text = version;
    return line;
  }
  const bool help = words[0] == "help";
  auto command = CommandNamed(help ? words[1] : words[0]);
  if (!command.ok()) return command.status();
  if (help) {
    line.text = CommandHelp(**command);
    return line;
  }
  words.erase(words.begin());
  Invocation& o = line.invocation;
  o.command = *command;
  flags::FlagSet set = FlagsOf(**command);
  BERTH_RETURN_IF_ERROR(set.Read(words));
  o.flags = set.values();
  o.ordered = set.given();
  o.files = set.words();
  line.verbosity = o.Get<int>("verbosity");
  if (o.Get<bool>("help")) line.text = CommandHelp(**command);
  if (o.Get<bool>("version")) line.text = version;
  if (line.text.empty()) BERTH_RETURN_IF_ERROR(Fill(**command, &o));
  return line;
}

}  // namespace berth::schedsim
