// The command convert: a Policy or a KubeSchedulerConfiguration in the form that another release reads.
#include "pkg/convert/convert.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <iostream>

#include "cmd/schedsim/command.h"
#include "pkg/api/stream.h"
#include "pkg/explain/output.h"
#include "pkg/explain/page.h"
#include "pkg/lab/release_comparison.h"
#include "pkg/scheduler/configuration/load.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/scheduler/policy/decode.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

using convert::Conversion;
using lab::Algorithm;
using lab::Variant;

// Returns how the source decides.
Algorithm SourceAlgorithm(const convert::Source& source, Algorithm base) {
  base.release = source.release;
  base.policy = source.policy;
  base.provider = source.provider;
  base.profiles.reset();
  if (!source.profiles.empty()) base.profiles = source.profiles;
  base.extenders = source.extenders;
  base.hard_pod_affinity_symmetric_weight = source.hard_pod_affinity_weight;
  return base;
}

// Returns how the result decides, which is read as it would be from a file.
absl::StatusOr<Algorithm> TargetAlgorithm(const Conversion& conversion, const release::Id* to, Algorithm base) {
  base.release = to;
  base.provider.reset();
  base.policy.reset();
  base.profiles.reset();
  base.extenders.clear();
  base.hard_pod_affinity_symmetric_weight = 1;
  if (conversion.is_policy) {
    auto policy = scheduler::DecodePolicy(conversion.json);
    if (!policy.ok()) return policy.status();
    base.policy = *std::move(policy);
    return base;
  }
  auto document = api::ReadDocument(conversion.json);
  if (!document.ok()) return document.status();
  auto loaded = scheduler::configuration::LoadOrError(document->root(), scheduler::PluginsToConfigure(base.Decides()),
                                                      base.ConfigurationGates());
  if (!loaded.ok()) return loaded.status();
  base.profiles = std::move(loaded->profiles);
  base.extenders = std::move(loaded->configuration.extenders);
  return base;
}

// Appends what differs in one cluster. Returns how many pods do.
absl::StatusOr<size_t> Prove(const lab::Scenario& scenario, const Variant& before, const Variant& after,
                             explain::Page* page) {
  auto differences = lab::CompareByPod(scenario, before, after);
  if (!differences.ok()) return differences.status();
  const int64_t pods = static_cast<int64_t>(scenario.pending.size());
  if (!scenario.name.empty()) page->Line(absl::StrCat(scenario.name, ":"));
  if (differences->empty()) {
    page->Line(absl::StrCat("Both decide the same for ", explain::Counted(pods, "pod"), "."));
    return 0;
  }
  page->Line(absl::StrCat(differences->size(), " of ", explain::Counted(pods, "pod"), " differ:"));
  std::vector<std::vector<std::string>> rows = {{"POD", before.name, after.name, "RULE", "WHY"}};
  for (const lab::PodDifference& d : *differences) {
    auto node = [](scheduler::Symbol s) { return s.empty() ? std::string("-") : s.string(); };
    rows.push_back({d.pod->meta.Key(), node(d.before), node(d.after), d.rule.empty() ? "-" : d.rule, d.why});
  }
  page->Rows(rows, true);
  return differences->size();
}

// Returns the two ways to decide, with the gates and the rest of `base`.
absl::StatusOr<std::pair<Variant, Variant>> BothWays(const Conversion& conversion, const release::Id* to,
                                                     Algorithm base) {
  base.policy_from_flag = true;
  // As in compare, pods are taken as each release saw them.
  base.ignore_unknown_fields = true;
  Variant before{std::string(conversion.source.release->name), SourceAlgorithm(conversion.source, base)};
  auto target = TargetAlgorithm(conversion, to, base);
  if (!target.ok()) return target.status();
  Variant after{std::string(to->name), *std::move(target)};
  if (after.name == before.name) {
    before.name = "before";
    after.name = "after";
  }
  return std::pair(std::move(before), std::move(after));
}

// Appends what differs in all clusters of the input. Returns how many pods do.
absl::StatusOr<size_t> ProveAll(const lab::Input& input, const Conversion& conversion, const release::Id* to,
                                explain::Page* page) {
  size_t differ = 0;
  for (const lab::Scenario& scenario : input.scenarios) {
    if (!scenario.error.empty()) return util::InvalidArgument(scenario.error);
    auto ways = BothWays(conversion, to, scenario.algorithm);
    if (!ways.ok()) return ways.status();
    auto found = Prove(scenario, ways->first, ways->second, page);
    if (!found.ok()) return found.status();
    differ += *found;
  }
  return differ;
}

// Returns whether the release reads the result, and reports what is wrong with it: a weight that is too large, or a
// rule of plugin/ that only the source's release has.
bool IsRead(const Conversion& conversion, const release::Id* to, const Algorithm& base) {
  auto target = TargetAlgorithm(conversion, to, base);
  if (!target.ok()) {
    std::cerr << "schedsim: the converted configuration: " << util::Message(target.status()) << "\n";
  }
  return target.ok();
}

// Does what --prove asks for. The table is a comment where the format of the output has comments, so that the output
// remains the configuration.
int ReportProof(const Invocation& options, const Conversion& conversion, const release::Id* to, bool as_comment,
                std::ostream& out) {
  auto ways = BothWays(conversion, to, options.algorithm);
  if (!ways.ok()) return kExitBadInput;
  Invocation reading = options;
  reading.files = options.List("prove");
  reading.algorithm.release = conversion.source.release;
  int exit_status = kExitOk;
  const bool whole = ways->first.algorithm.call_extenders() || ways->second.algorithm.call_extenders();
  std::unique_ptr<lab::Input> input = ReadOrComplain(reading, &exit_status, whole);
  if (input == nullptr) return exit_status;
  explain::Screen screen = explain::ScreenOfStdout();
  constexpr size_t kCommentWidth = 2;
  if (as_comment && screen.width > kCommentWidth) screen.width -= kCommentWidth;
  if (as_comment) screen.colour = false;
  explain::Page page(screen);
  auto differ = ProveAll(*input, conversion, to, &page);
  if (!differ.ok()) {
    std::cerr << "schedsim: --prove: " << util::Message(differ.status()) << "\n";
    return kExitBadInput;
  }
  if (!as_comment) {
    std::cerr << page.text();
  } else {
    for (absl::string_view line : absl::StrSplit(page.text(), '\n', absl::SkipEmpty())) out << "# " << line << "\n";
  }
  return *differ == 0 ? kExitOk : kExitPending;
}

int ConvertFile(const Invocation& options, std::ostream& out) {
  const std::string& file = options.files[0];
  auto text = api::ReadInput(file);
  if (!text.ok()) {
    std::cerr << "schedsim: " << util::Message(text.status()) << "\n";
    return kExitBadInput;
  }
  convert::Options how;
  how.to = *release::Named(options.Get<std::string>("to"));
  if (options.Has("from")) how.from = *release::Named(options.Get<std::string>("from"));
  how.gates = options.algorithm.gates;
  how.read_file = [](const std::string& path) { return api::ReadInput(path); };
  const std::string shown = file == "-" ? "standard input" : file;
  auto conversion = convert::Convert(*text, how);
  if (!conversion.ok()) {
    std::cerr << "schedsim: " << shown << ": " << util::Message(conversion.status()) << "\n";
    return kExitBadInput;
  }
  for (const convert::Note& n : conversion->notes) {
    std::cerr << "schedsim: " << shown << ": " << n.subject << ": " << n.text << "\n";
  }
  // Releases with Policies read them as JSON only, which is YAML as well.
  const bool yaml = options.output == "yaml" && !conversion->is_policy;
  explain::JsonOut document;
  document.Literal(conversion->json);
  out << document.Finish(yaml ? "yaml" : "json");
  if (!IsRead(*conversion, how.to, options.algorithm)) return kExitBadInput;
  if (options.List("prove").empty()) return kExitOk;
  return ReportProof(options, *conversion, how.to, yaml, out);
}

void AddConvertFlags(boost::program_options::options_description_easy_init& add) {
  namespace po = boost::program_options;
  add("to", po::value<std::string>()->value_name(release::NamesWith("|")),
      "the release that is to decide as FILE does (needed)");
  add("from", po::value<std::string>()->value_name(release::NamesWith("|")),
      "the release that FILE is for, where it does not say so: a Policy is for the default one, unless it names rules "
      "that "
      "only others have");
  add("prove", po::value<std::vector<std::string>>()->value_name("CLUSTER")->multitoken(),
      "decide the pods of this input both ways, and list each pod that differs (may be repeated)");
}

absl::Status CheckConvert(const Invocation& options) {
  if (!options.Has("to")) {
    return util::InvalidArgument(absl::StrCat("convert: --to RELEASE is needed: ", release::Names()));
  }
  for (const char* flag : {"to", "from"}) {
    if (!options.Has(flag)) continue;
    auto named = release::Named(options.Get<std::string>(flag));
    if (!named.ok()) return util::InvalidArgument(absl::StrCat("--", flag, ": ", named.status().message()));
  }
  if (options.files.size() == 1) return absl::OkStatus();
  return util::InvalidArgument(absl::StrCat("convert: takes one FILE, and ", options.files.size(), " were given"));
}

}  // namespace

extern const Command kConvertCommand = {
    .name = "convert",
    .arguments = "FILE --to RELEASE",
    .summary = "a Policy or configuration in the form that another release reads",
    .outputs = "yaml json",
    .examples =
        "  schedsim convert policy.json --to RELEASE > configuration.yaml\n"
        "  schedsim convert policy.json --to RELEASE --prove cluster.json     which pods would differ, and why\n",
    .groups = kGateFlags | kInputFlags,
    .add_flags = AddConvertFlags,
    .check = CheckConvert,
    .run = ConvertFile,
};

}  // namespace berth::schedsim
