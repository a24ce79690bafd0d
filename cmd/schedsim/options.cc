#include "cmd/schedsim/options.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>

#include <boost/program_options.hpp>
#include <sstream>

#include "pkg/api/stream.h"
#include "pkg/scheduler/policy/decode.h"
#include "pkg/util/feature_gates.h"
#include "pkg/util/status.h"
#include "pkg/util/version.h"

namespace berth::schedsim {
namespace {

namespace po = boost::program_options;

constexpr char kUsage[] = R"(schedsim decides where pods would go, offline, with the scheduler's own code.

Usage:
  schedsim run [FILE|-]... [flags]             place the pending pods, one after another
  schedsim explain FILE... --pod NS/NAME       why a pod goes where it goes, node by node
  schedsim capacity FILE... --pod-spec FILE    how many more of these pods fit, and what stops the next one
  schedsim check-policy FILE                   is this Policy good, and what will it run

FILE: Kubernetes objects as JSON or YAML, Lists, gzip or plain, or Scenario documents; "-" is standard input.
Exit status: 0 when the run was made (pods that do not fit are a result), 1 for bad input, 2 for usage.
)";

struct CommandFlags {
  std::string_view command;
  std::string_view outputs;  // of -o, space separated; the first is the default
};
constexpr CommandFlags kCommands[] = {{"run", "table json placements"},
                                      {"explain", "table json yaml"},
                                      {"capacity", "table json yaml"},
                                      {"check-policy", "table json yaml"}};

po::options_description FlagsOf(std::string_view command) {
  po::options_description d("Flags");
  auto add = d.add_options();
  if (command != "check-policy") {
    add("algorithm-provider", po::value<std::string>()->value_name("NAME"),
        absl::StrCat("algorithm provider: ", scheduler::ListAlgorithmProviders()).c_str());
    add("policy-config-file", po::value<std::string>()->value_name("FILE"),
        "Policy to schedule by, instead of a provider");
    add("hard-pod-affinity-symmetric-weight", po::value<int>()->value_name("N")->default_value(1),
        "weight of placed pods' required affinity, 1-100");
  }
  add("feature-gates", po::value<std::vector<std::string>>()->value_name("NAME=true,..."),
      "gates to switch; others have 1.10's defaults");
  if (command == "run") {
    add("preempt", po::bool_switch(), "report the preemption that would follow (needs PodPriority=true)");
    add("stats", po::bool_switch(), "print times and memory to standard error, one JSON line a scenario");
  }
  if (command == "explain") add("pod", po::value<std::string>()->value_name("NS/NAME"), "the pod to explain");
  if (command == "capacity") {
    add("pod-spec", po::value<std::vector<std::string>>()->value_name("FILE"), "a pod to multiply (may be repeated)");
    add("max", po::value<int64_t>()->value_name("N")->default_value(0), "stop after this many replicas (0: no limit)");
  }
  for (const CommandFlags& c : kCommands) {
    if (c.command == command) {
      add("output,o", po::value<std::string>()->value_name("FORMAT"),
          absl::StrCat("one of: ", util::ToAbsl(c.outputs)).c_str());
    }
  }
  add("verbosity,v", po::value<int>()->value_name("N")->default_value(0), "log level");
  add("help,h", po::bool_switch(), "this text");
  return d;
}

absl::Status ReadGates(const std::vector<std::string>& values, std::map<std::string, bool>* gates) {
  for (const std::string& value : values) {
    for (absl::string_view part : absl::StrSplit(value, ',')) {
      part = absl::StripAsciiWhitespace(part);
      if (part.empty()) continue;
      std::pair<std::string, std::string> kv = absl::StrSplit(part, absl::MaxSplits('=', 1));
      std::string name(absl::StripAsciiWhitespace(kv.first)), on(absl::StripAsciiWhitespace(kv.second));
      if (!util::IsFeatureGate(name)) {
        return util::InvalidArgument(absl::StrCat("--feature-gates: unrecognized key: ", name));
      }
      if (part.find('=') == absl::string_view::npos) {
        return util::InvalidArgument(absl::StrCat("--feature-gates: missing bool value for ", name));
      }
      if (on != "true" && on != "false") {
        return util::InvalidArgument(
            absl::StrCat("--feature-gates: invalid value of ", name, ": ", on, ", should be true or false"));
      }
      (*gates)[name] = on == "true";
    }
  }
  return absl::OkStatus();
}

absl::Status ReadAlgorithm(const po::variables_map& vm, Algorithm* a) {
  if (vm.contains("feature-gates")) {
    BERTH_RETURN_IF_ERROR(ReadGates(vm["feature-gates"].as<std::vector<std::string>>(), &a->gates));
  }
  if (vm.contains("preempt")) a->preempt = vm["preempt"].as<bool>();
  if (vm.contains("hard-pod-affinity-symmetric-weight")) {
    a->hard_pod_affinity_symmetric_weight = vm["hard-pod-affinity-symmetric-weight"].as<int>();
  }
  if (vm.contains("algorithm-provider")) a->provider = vm["algorithm-provider"].as<std::string>();
  if (!vm.contains("policy-config-file")) return absl::OkStatus();
  if (a->provider) return util::InvalidArgument("give either --algorithm-provider or --policy-config-file");
  std::string file = vm["policy-config-file"].as<std::string>();
  auto text = api::ReadInput(file);
  if (!text.ok()) return util::FailedPrecondition(util::Message(text.status()));
  auto policy = scheduler::DecodePolicy(*text);
  if (!policy.ok()) {
    return util::FailedPrecondition(absl::StrCat(file, ": invalid policy: ", policy.status().message()));
  }
  a->policy = std::move(*policy);
  a->policy_from_flag = true;
  return absl::OkStatus();
}

std::string HelpText(std::string_view command) {
  std::ostringstream out;
  out << kUsage;
  if (!command.empty()) out << "\n" << FlagsOf(command);
  if (command.empty()) out << "\nschedsim COMMAND --help lists a command's flags.\n";
  return out.str();
}

}  // namespace

absl::StatusOr<Options> ParseOptions(int argc, char** argv) {
  Options o;
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) return util::InvalidArgument("a command is needed: run, explain, capacity or check-policy");
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    o.help = HelpText({});
    return o;
  }
  if (words[0] == "--version" || words[0] == "version") {
    o.help = absl::StrCat("schedsim ", util::ToAbsl(util::Version()), "\n");
    return o;
  }
  const CommandFlags* command = nullptr;
  for (const CommandFlags& c : kCommands) {
    if (c.command == words[0]) command = &c;
  }
  if (command == nullptr) {
    return util::InvalidArgument(
        absl::StrCat("unknown command \"", words[0], "\": should be run, explain, capacity or check-policy"));
  }
  o.command = words[0];
  words.erase(words.begin());
  for (std::string& w : words) {
    if (w.rfind("-v=", 0) == 0) w = "--verbosity=" + w.substr(3);
    if (w.rfind("-o=", 0) == 0) w = "--output=" + w.substr(3);
  }

  po::options_description flags = FlagsOf(o.command), all;
  all.add(flags);
  all.add_options()("file", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("file", -1);
  po::variables_map vm;
  try {
    auto style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(words).options(all).positional(positional).style(style).run(), vm);
    po::notify(vm);
  } catch (const po::error& e) {
    return util::InvalidArgument(e.what());
  }
  if (vm["help"].as<bool>()) {
    o.help = HelpText(o.command);
    return o;
  }
  if (vm.contains("file")) o.files = vm["file"].as<std::vector<std::string>>();
  o.verbosity = vm["verbosity"].as<int>();
  std::vector<std::string> outputs = absl::StrSplit(util::ToAbsl(command->outputs), ' ');
  o.output = vm.contains("output") ? vm["output"].as<std::string>() : outputs[0];
  if (std::find(outputs.begin(), outputs.end(), o.output) == outputs.end()) {
    return util::InvalidArgument(
        absl::StrCat("--output: \"", o.output, "\" should be one of: ", util::ToAbsl(command->outputs)));
  }
  if (vm.contains("stats")) o.stats = vm["stats"].as<bool>();
  if (vm.contains("pod")) o.pod = vm["pod"].as<std::string>();
  if (vm.contains("pod-spec")) o.pod_specs = vm["pod-spec"].as<std::vector<std::string>>();
  if (vm.contains("max")) o.max_replicas = vm["max"].as<int64_t>();
  if (o.files.empty()) {
    if (o.command != "run") return util::InvalidArgument(absl::StrCat(o.command, ": a FILE is needed"));
    o.files = {"-"};
  }
  if (o.command == "explain" && o.pod.empty()) {
    return util::InvalidArgument("explain: --pod NS/NAME is needed: which pod to explain");
  }
  if (o.command == "capacity" && o.pod_specs.empty()) {
    return util::InvalidArgument("capacity: --pod-spec FILE is needed: the pod to multiply");
  }
  if (o.max_replicas < 0) return util::InvalidArgument("--max: must be 0 or more");
  BERTH_RETURN_IF_ERROR(ReadAlgorithm(vm, &o.algorithm));
  return o;
}

}  // namespace berth::schedsim
