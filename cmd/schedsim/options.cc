// Parses the command line with Boost.Program_options. Help and completion are generated from the same declarations.
#include "cmd/schedsim/options.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>

#include <algorithm>

#include "cmd/schedsim/algorithm_flags.h"
#include "pkg/releases/gates.h"
#include "pkg/releases/releases.h"
#include "pkg/util/help_text.h"
#include "pkg/util/status.h"
#include "pkg/util/suggest.h"
#include "pkg/util/version.h"

namespace berth::schedsim {
namespace {

namespace po = boost::program_options;
using WordList = std::vector<std::string>;

// REQUIRES: the release is set.
absl::Status ReadGates(const WordList& values, lab::Algorithm* a) {
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
        return util::InvalidArgument(
            absl::StrCat("--feature-gates: invalid value of ", name, ": ", on, ", should be true or false"));
      }
      a->gates[name] = on == "true";
    }
  }
  return a->CheckGatesNeeded();
}

absl::Status ReadPercentage(const po::variables_map& vm, lab::Algorithm* a) {
  if (!vm.contains("percentage-of-nodes-to-score")) return absl::OkStatus();
  const std::string value = vm["percentage-of-nodes-to-score"].as<std::string>();
  int64_t number = 0;
  if (value == "release") {
    a->samples_as_release = true;
  } else if (absl::SimpleAtoi(value, &number)) {
    a->percentage_of_nodes_to_score = number;
  } else {
    return util::InvalidArgument(absl::StrCat("--percentage-of-nodes-to-score: invalid value ", util::GoQuoted(value),
                                              ": must be a number or release"));
  }
  if (a->Decides().sampling != nullptr) return absl::OkStatus();
  return util::InvalidArgument(absl::StrCat("--percentage-of-nodes-to-score: release ", std::string(a->release->name),
                                            " looks at all nodes; leave it out"));
}

absl::Status ReadAlgorithm(const po::variables_map& vm, const Command& command, lab::Algorithm* a) {
  if ((command.groups & (kReleaseFlag | kAlgorithmFlags)) != 0 && vm.contains("emulated-version")) {
    BERTH_RETURN_IF_ERROR(UseRelease(vm["emulated-version"].as<std::string>(), a));
  }
  if ((command.groups & kGateFlags) != 0 && vm.contains("feature-gates")) {
    BERTH_RETURN_IF_ERROR(ReadGates(vm["feature-gates"].as<WordList>(), a));
  }
  if (vm.contains("ties")) {
    auto ties = lab::Ties::Parse(vm["ties"].as<std::string>());
    if (!ties.ok()) return util::InvalidArgument(absl::StrCat("--ties: ", ties.status().message()));
    a->ties = *ties;
  }
  if (vm.contains("preempt")) a->preempt = vm["preempt"].as<bool>();
  if ((command.groups & kAlgorithmFlags) == 0) return absl::OkStatus();
  a->hard_pod_affinity_symmetric_weight = vm["hard-pod-affinity-symmetric-weight"].as<int>();
  a->ignore_unknown_fields = vm["ignore-unknown-fields"].as<bool>();
  if (vm.contains("algorithm-provider")) a->provider = vm["algorithm-provider"].as<std::string>();
  if (vm.contains("config")) {
    const std::string file = vm["config"].as<std::string>();
    BERTH_RETURN_IF_ERROR(UseConfiguration(file, vm.contains("emulated-version") ? a->release : nullptr, a));
  }
  BERTH_RETURN_IF_ERROR(ReadPercentage(vm, a));
  if (!a->Decides().has_policies) {
    if (vm.contains("policy-config-file")) {
      return util::InvalidArgument(absl::StrCat("release ", std::string(a->release->name),
                                                " has no Policies: give it a configuration (--config)"));
    }
    return a->CheckSource();
  }
  if (!vm.contains("policy-config-file")) return absl::OkStatus();
  if (vm.contains("algorithm-provider")) {
    return util::InvalidArgument("give either --algorithm-provider or --policy-config-file");
  }
  if (a->profiles) {
    return util::InvalidArgument(
        "give either --config or --policy-config-file; schedsim convert makes one of the other");
  }
  // A key that stands twice is an error where manifests are checked strictly; the release passes over it.
  const bool strict = vm.contains("validate") && vm["validate"].as<std::string>() == "strict";
  auto policy = ReadPolicyFile(vm["policy-config-file"].as<std::string>(), *a, strict);
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
  std::string out = absl::StrCat(util::Wrapped(c.summary), "\n\nUsage:\n  ", UsageLine(c), "\n\nFlags:\n",
                                 util::HelpOf(util::EntriesOf(FlagsOf(c))));
  if (!c.examples.empty()) absl::StrAppend(&out, "\nExamples:\n", Examples(c.examples));
  out[0] = absl::ascii_toupper(static_cast<unsigned char>(out[0]));
  return out;
}

std::string CommandNames() {
  WordList names;
  for (const Command* c : Commands()) names.emplace_back(c->name);
  std::string last = names.back();
  names.pop_back();
  return absl::StrCat(absl::StrJoin(names, ", "), " or ", last);
}

absl::StatusOr<const Command*> CommandNamed(const std::string& name) {
  if (const Command* c = FindCommand(name)) return c;
  WordList names;
  for (const Command* c : Commands()) names.emplace_back(c->name);
  return util::InvalidArgument(
      absl::StrCat("unknown command \"", name, "\"", util::SuggestionFor(name, names), ": should be ", CommandNames()));
}

// Rewrites forms that kubectl accepts, -o=json and -v=2, and --expand without a value.
WordList Normalised(WordList words) {
  for (std::string& w : words) {
    if (w.rfind("-v=", 0) == 0) w = "--verbosity=" + w.substr(3);
    if (w.rfind("-o=", 0) == 0) w = "--output=" + w.substr(3);
    if (w == "--expand") w = "--expand=on";
  }
  return words;
}

// Returns ` (did you mean "--policy-config-file"?)`, or an empty text.
std::string FlagSuggestion(std::string_view given, const WordList& names) {
  return util::SuggestionFor(given.substr(0, given.find('=')), names, "--");
}

absl::Status Parse(const WordList& words, const Command& command, Invocation* o) {
  po::options_description all;
  all.add(FlagsOf(command));
  all.add_options()("file", po::value<WordList>());
  po::positional_options_description positional;
  positional.add("file", -1);
  try {
    auto style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    auto parsed = po::command_line_parser(words).options(all).positional(positional).style(style).run();
    po::store(parsed, o->flags);
    po::notify(o->flags);
    for (const auto& option : parsed.options) {
      for (const std::string& value : option.value) o->ordered.emplace_back(option.string_key, value);
    }
  } catch (const po::unknown_option& e) {
    WordList names;
    const po::options_description known = FlagsOf(command);
    for (const auto& flag : known.options()) names.push_back(flag->long_name());
    const std::string given(absl::StripPrefix(e.get_option_name(), "--"));
    return util::InvalidArgument(absl::StrCat(e.what(), FlagSuggestion(given, names)));
  } catch (const po::error& e) {
    return util::InvalidArgument(e.what());
  }
  return absl::OkStatus();
}

absl::Status OneOf(const char* flag, const std::string& value, const WordList& allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return absl::OkStatus();
  return util::InvalidArgument(
      absl::StrCat("--", flag, ": \"", value, "\" should be one of: ", absl::StrJoin(allowed, " ")));
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

absl::Status Fill(const Command& command, Invocation* o) {
  if (o->Has("file")) o->files = o->Get<WordList>("file");
  if (!command.outputs.empty()) {
    WordList outputs = absl::StrSplit(util::ToAbsl(command.outputs), ' ');
    o->output = o->Has("output") ? o->Get<std::string>("output") : outputs[0];
    if (std::find(outputs.begin(), outputs.end(), o->output) == outputs.end()) {
      return util::InvalidArgument(
          absl::StrCat("--output: \"", o->output, "\" should be one of: ", util::ToAbsl(command.outputs)));
    }
  }
  if (o->files.empty()) {
    if (command.files == Command::Files::kRequired) {
      return util::InvalidArgument(absl::StrCat(util::ToAbsl(command.name), ": give a FILE"));
    }
    if (command.files == Command::Files::kOrStandardInput) o->files = {"-"};
  } else if (command.files == Command::Files::kNone) {
    return util::InvalidArgument(
        absl::StrCat(util::ToAbsl(command.name), ": takes no FILE, and \"", o->files[0], "\" was given"));
  }
  if ((command.groups & kInputFlags) != 0) BERTH_RETURN_IF_ERROR(CheckInputFlags(o));
  if (command.check != nullptr) BERTH_RETURN_IF_ERROR(command.check(*o));
  return ReadAlgorithm(o->flags, command, &o->algorithm);
}

}  // namespace

po::options_description FlagsOf(const Command& command) {
  po::options_description d("Flags");
  auto add = d.add_options();
  if ((command.groups & kAlgorithmFlags) != 0) {
    add("algorithm-provider", po::value<std::string>()->value_name("NAME"),
        absl::StrCat("algorithm provider: ",
                     scheduler::ListAlgorithmProviders(releases::Of(release::Default()).decides))
            .c_str());
    add("policy-config-file", po::value<std::string>()->value_name("FILE"),
        "Policy to schedule by, instead of a provider");
    add("emulated-version", po::value<std::string>()->value_name(release::NamesWith("|")),
        absl::StrCat("Kubernetes release to emulate (default ", std::string(release::Default().name), ")").c_str());
    add("config", po::value<std::string>()->value_name("FILE"),
        "KubeSchedulerConfiguration to schedule by, as the first release that can read it would");
    add("percentage-of-nodes-to-score", po::value<std::string>()->value_name("N|release"),
        "stop looking once N % of the nodes fit, or where the release would, in its order (default: look at all "
        "nodes)");
    add("ignore-unknown-fields", po::bool_switch(), "ignore pod fields newer than the emulated release");
    add("hard-pod-affinity-symmetric-weight", po::value<int>()->value_name("N")->default_value(1),
        "weight of the required pod affinity of placed pods, 1 to 100");
  }
  if ((command.groups & kReleaseFlag) != 0) {
    add("emulated-version", po::value<std::string>()->value_name(release::NamesWith("|")),
        "Kubernetes release that reads the file (default: the first one that can)");
  }
  if ((command.groups & kGateFlags) != 0) {
    add("feature-gates", po::value<WordList>()->value_name("NAME=true,..."),
        "feature gates to turn on or off (default: those of the release)");
  }
  if ((command.groups & (kGateFlags | kInputFlags)) == (kGateFlags | kInputFlags)) {
    add("ties", po::value<std::string>()->value_name("HOW")->default_value("turn"),
        "how to choose among several nodes with the highest score: turn (one after another, as the daemon does), "
        "first, or random:SEED");
  }
  if ((command.groups & kInputFlags) != 0) {
    add("expand", po::value<std::string>()->value_name("MODE")->default_value("auto"),
        "create the pods of workloads that have none in the input: on, off, or auto (only if no workload has any)");
    add("autoscaled", po::bool_switch(),
        "create at least minReplicas pods for the target of each HorizontalPodAutoscaler, even if its replicas are "
        "fewer");
    add("order", po::value<std::string>()->value_name("ORDER")->default_value("file"),
        "order in which pending pods are tried: file, or queue (by priority if that is enabled, then by age)");
    add("recursive,R", po::bool_switch(), "read the subfolders of folders given as FILE, too");
  }
  if ((command.groups & kInputFlags) != 0) {
    add("validate", po::value<std::string>()->value_name("MODE")->default_value("warn"),
        "check for what an API server would refuse and for likely mistakes: warn, strict (exit status 1) or off");
  }
  if (command.add_flags != nullptr) command.add_flags(add);
  if (!command.outputs.empty()) {
    add("output,o", po::value<std::string>()->value_name("FORMAT"),
        absl::StrCat("one of: ", util::ToAbsl(command.outputs)).c_str());
  }
  add("verbosity,v", po::value<int>()->value_name("N")->default_value(0), "log level");
  add("help,h", po::bool_switch(), "print this text");
  add("version", po::bool_switch(), "print the version");
  return d;
}

absl::StatusOr<ParsedLine> ParseOptions(int argc, char** argv) {
  ParsedLine line;
  WordList words(argv + 1, argv + argc);
  if (words.empty()) return util::InvalidArgument(absl::StrCat("give a command: ", CommandNames()));
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
  BERTH_RETURN_IF_ERROR(Parse(Normalised(std::move(words)), **command, &o));
  line.verbosity = o.Get<int>("verbosity");
  if (o.Get<bool>("help")) line.text = CommandHelp(**command);
  if (o.Get<bool>("version")) line.text = version;
  if (line.text.empty()) BERTH_RETURN_IF_ERROR(Fill(**command, &o));
  return line;
}

}  // namespace berth::schedsim
