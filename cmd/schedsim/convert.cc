// The command convert: a Policy or a KubeSchedulerConfiguration in the form that another release reads.
#include "pkg/convert/convert.h"
#include "pkg/api/json_writer.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
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

// Returns how the source decides, without plugins that its emulated release does not have.
Algorithm SourceAlgorithm(const convert::Source& source, Algorithm base) {
  base.release = source.release;
  base.policy = source.policy;
  base.provider = source.provider;
  base.profiles.reset();
  std::vector<scheduler::configuration::ResolvedProfile> profiles = source.profiles;
  for (auto& profile : profiles) {
    for (auto& list : profile.points) {
      std::erase_if(list, [&](const auto& p) {
        return std::find(source.gone.begin(), source.gone.end(), p.name) != source.gone.end();
      });
    }
  }
  if (!profiles.empty()) base.profiles = std::move(profiles);
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

// Leaves the pods that the schedulers of the source decide about. If there are none, the pods of the input are decided
// as if they named the first of them. A Policy by itself says nothing about names, and is for all pods.
void TakePodsOf(const convert::Source& source, lab::Scenario* scenario, explain::Page* page) {
  std::vector<std::string> names = {source.scheduler_name};
  if (!source.profiles.empty()) names.clear();
  for (const auto& profile : source.profiles) names.push_back(profile.scheduler_name);
  auto named = [&](const api::PodPtr& pod) {
    return std::find(names.begin(), names.end(), pod->tmpl->scheduler_name.str()) != names.end();
  };
  auto& pods = scenario->pending;
  const int64_t own = std::count_if(pods.begin(), pods.end(), named);
  const int64_t others = static_cast<int64_t>(pods.size()) - own;
  if (others == 0) return;
  if (own > 0 && source.has_process) {
    std::erase_if(pods, [&](const api::PodPtr& pod) { return !named(pod); });
    scenario->pending_after.clear();
    page->Line(absl::StrCat("Without ", explain::Counted(others, "pod"), " of other schedulers."));
    return;
  }
  absl::flat_hash_map<const api::PodTemplate*, std::shared_ptr<const api::PodTemplate>> renamed;
  for (api::PodPtr& pod : pods) {
    if (named(pod)) continue;
    auto& tmpl = renamed[pod->tmpl.get()];
    if (tmpl == nullptr) {
      auto copy = std::make_shared<api::PodTemplate>(*pod->tmpl);
      copy->scheduler_name = util::Symbol(names[0]);
      tmpl = std::move(copy);
    }
    auto copy = std::make_shared<api::Pod>(*pod);
    copy->tmpl = tmpl;
    pod = std::move(copy);
  }
  page->Line(absl::StrCat(explain::Counted(others, "pod"), " of other schedulers, as if of ", names[0], "."));
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
absl::StatusOr<size_t> ProveAll(lab::Input* input, const Conversion& conversion, const release::Id* to,
                                explain::Page* page) {
  size_t differ = 0;
  for (lab::Scenario& scenario : input->scenarios) {
    if (!scenario.error.empty()) return util::InvalidArgument(scenario.error);
    TakePodsOf(conversion.source, &scenario, page);
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
  std::unique_ptr<lab::Input> input = ReadOrComplain(reading, &exit_status, {.whole = whole});
  if (input == nullptr) return exit_status;
  explain::Screen screen = explain::ScreenOfStdout();
  constexpr size_t kCommentWidth = 2;
  if (as_comment && screen.width > kCommentWidth) screen.width -= kCommentWidth;
  if (as_comment) screen.colour = false;
  explain::Page page(screen);
  auto differ = ProveAll(input.get(), conversion, to, &page);
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
  api::JsonWriter document;
  document.Literal(conversion->json);
  out << document.Finish(yaml ? "yaml" : "json");
  if (!IsRead(*conversion, how.to, options.algorithm)) return kExitBadInput;
  if (options.List("prove").empty()) return kExitOk;
  return ReportProof(options, *conversion, how.to, yaml, out);
}

void AddConvertFlags(flags::FlagSet& add) {
  add("to", Takes(release::NamesWith("|")), "the release that is to decide as FILE does (required)");
  add("from", Takes(release::NamesWith("|")),
      "the release that FILE is for, if FILE does not say (default for a Policy: the default release, or the first "
      "that has all its rules)");
  add("prove", Takes<Texts>("CLUSTER")->multitoken(),
      "decide the pods of this input under both, and list those that go elsewhere (may be repeated)");
}

absl::Status CheckConvert(const Invocation& options) {
  if (!options.Has("to")) {
    return util::InvalidArgument(absl::StrCat("convert: give --to RELEASE: ", release::Names()));
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
