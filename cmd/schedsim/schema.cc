// The command schema: prints a JSON Schema of scheduling files, for editors that complete and check.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "cmd/schedsim/command.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/configuration/component.h"
#include "pkg/scheduler/configuration/policy_profile.h"
#include "pkg/scheduler/configuration/schema.h"
#include "pkg/scheduler/configuration/versions.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/scheduler/policy/schema.h"
#include "pkg/util/status.h"
#include "pkg/util/suggest.h"

namespace berth::schedsim {
namespace {

const std::vector<std::string>& Kinds() {
  static const std::vector<std::string> kinds = {"policy", "configuration"};
  return kinds;
}

absl::Status CheckKind(const Invocation& options) {
  if (options.files.size() != 1) return util::InvalidArgument("schema: name a schema: policy or configuration");
  const std::string& kind = options.files[0];
  if (std::find(Kinds().begin(), Kinds().end(), kind) != Kinds().end()) return absl::OkStatus();
  return util::InvalidArgument(absl::StrCat("schema: unknown schema \"", kind, "\"", util::SuggestionFor(kind, Kinds()),
                                            ": must be policy or configuration"));
}

// Returns the names of what a Policy of the release may run: what the release knows, and what plugin/ adds.
struct PolicyWords {
  std::vector<std::string> predicates, priorities;
};
PolicyWords WordsOf(const scheduler::Release& release) {
  if (release.policy_names == nullptr) {
    return {scheduler::ListRegisteredFitPredicates(release), scheduler::ListRegisteredPriorityFunctions(release)};
  }
  namespace configuration = scheduler::configuration;
  const configuration::PolicyNames& names = release.policy_names();
  const configuration::PluginCatalogue all = scheduler::PluginsToConfigure(release), in_tree = release.plugins();
  std::set<std::string> predicates, priorities;
  for (const auto& p : names.predicates) predicates.emplace(p.name);
  for (const auto& p : names.priorities) priorities.emplace(p.name);
  for (const auto& [alias, name] : names.aliases) {
    (predicates.contains(std::string(name)) ? predicates : priorities).emplace(alias);
  }
  for (const std::string& own : all.Names()) {
    if (in_tree.Has(own)) continue;
    if (all.Implements(own, configuration::ExtensionPoint::kFilter)) predicates.insert(own);
    if (all.Implements(own, configuration::ExtensionPoint::kScore)) priorities.insert(own);
  }
  return {{predicates.begin(), predicates.end()}, {priorities.begin(), priorities.end()}};
}

int PrintSchema(const Invocation& options, std::ostream& out) {
  const bool policy = options.files[0] == "policy";
  // Without a release, a Policy is of the default one, and a configuration of the first that has profiles of v1.
  const auto given = options.Has("emulated-version") ? options.algorithm.release : nullptr;
  const release::Id& id = given != nullptr ? *given
                          : policy         ? release::Default()
                                   : *scheduler::configuration::ReaderOf("kubescheduler.config.k8s.io/v1", nullptr);
  const scheduler::Release& release = releases::Of(id).decides;
  const bool reads_files = release.plugins != nullptr ||
                           scheduler::configuration::kComponentConfigRow.read_by.Has(id.version) ||
                           scheduler::configuration::NewestReadBy(id.version) != nullptr;
  if (policy ? !release.has_policies : !reads_files) {
    std::cerr << "schedsim: schema: release " << id.name << " has no " << (policy ? "Policies" : "configuration files")
              << "\n";
    return kExitBadInput;
  }
  if (policy) {
    const PolicyWords words = WordsOf(release);
    out << scheduler::PolicySchema(words.predicates, words.priorities, id.version);
  } else if (release.plugins == nullptr) {
    out << scheduler::configuration::ComponentSchema(id.version);
  } else {
    out << scheduler::configuration::Schema(scheduler::PluginsToConfigure(release), id.version);
  }
  return kExitOk;
}

}  // namespace

extern const Command kSchemaCommand = {
    .name = "schema",
    .arguments = "policy|configuration",
    .summary = "a JSON Schema, for editors that complete and check",
    .examples =
        "  schedsim schema policy > policy.schema.json\n"
        "  schedsim schema configuration > configuration.schema.json\n"
        "  schedsim schema configuration --emulated-version=RELEASE\n",
    .groups = kReleaseFlag,
    .check = CheckKind,
    .run = PrintSchema,
};

}  // namespace berth::schedsim
