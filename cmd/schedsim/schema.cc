// The command schema: prints a JSON Schema of scheduling files, for editors that complete and check.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "cmd/schedsim/command.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/configuration/schema.h"
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
  if (options.files.size() != 1) return util::InvalidArgument("schema: which one is needed: policy or configuration");
  const std::string& kind = options.files[0];
  if (std::find(Kinds().begin(), Kinds().end(), kind) != Kinds().end()) return absl::OkStatus();
  return util::InvalidArgument(absl::StrCat("schema: there is none of \"", kind, "\"",
                                            util::SuggestionFor(kind, Kinds()), ": should be policy or configuration"));
}

int PrintSchema(const Invocation& options, std::ostream& out) {
  out << (options.files[0] == "policy"
              ? scheduler::PolicySchema(
                    scheduler::ListRegisteredFitPredicates(releases::Of(release::Default()).decides),
                    scheduler::ListRegisteredPriorityFunctions(releases::Of(release::Default()).decides))
              : scheduler::configuration::Schema(
                    scheduler::PluginsToConfigure(releases::Of(**release::Named("1.29")).decides)));
  return kExitOk;
}

}  // namespace

extern const Command kSchemaCommand = {
    .name = "schema",
    .arguments = "policy|configuration",
    .summary = "a JSON Schema, for editors that complete and check",
    .examples =
        "  schedsim schema policy > policy.schema.json\n"
        "  schedsim schema configuration > configuration.schema.json\n",
    .check = CheckKind,
    .run = PrintSchema,
};

}  // namespace berth::schedsim
