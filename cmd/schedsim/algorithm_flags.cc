#include "cmd/schedsim/algorithm_flags.h"

#include <absl/strings/str_cat.h>

#include <iostream>
#include <set>

#include "cmd/schedsim/check_configuration.h"
#include "pkg/api/stream.h"
#include "pkg/release/release.h"
#include "pkg/scheduler/configuration/decode.h"
#include "pkg/scheduler/configuration/load.h"
#include "pkg/scheduler/configuration/versions.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/scheduler/factory/read_policy.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

// Prints what is wrong with a file without making it unusable. Some commands read their flags twice, so that what was
// said of a file is not said again.
void Say(const std::string& file, const std::vector<std::string>& sentences) {
  static std::set<std::string>& said = *new std::set<std::string>;
  for (const std::string& s : sentences) {
    const std::string line = absl::StrCat("schedsim: ", file, ": ", s, "\n");
    if (said.insert(line).second) std::cerr << line;
  }
}

}  // namespace

absl::Status UseRelease(const std::string& name, lab::Algorithm* algorithm) {
  auto named = release::Named(name);
  if (!named.ok()) return util::InvalidArgument(absl::StrCat("--emulated-version: ", named.status().message()));
  algorithm->release = *named;
  return absl::OkStatus();
}

absl::Status UseConfiguration(const std::string& file, const release::Id* asked, lab::Algorithm* algorithm) {
  namespace configuration = scheduler::configuration;
  auto text = api::ReadInput(file);
  if (!text.ok()) return util::FailedPrecondition(util::Message(text.status()));
  auto document = api::ReadDocument(*text);
  if (!document.ok()) return util::FailedPrecondition(absl::StrCat(file, ": ", document.status().message()));
  const api::Json version = document->root().FindExact("apiVersion");
  if (!configuration::IsConfigurationVersion(version.Text()) || !configuration::ReadsProfiles(version.Text())) {
    return util::FailedPrecondition(absl::StrCat(
        file, ": apiVersion: ", version.Brief(),
        ": must be a version of kubescheduler.config.k8s.io with profiles, v1beta1 or later; a Policy is given by "
        "--policy-config-file, a provider by --algorithm-provider, and schedsim convert converts older versions"));
  }
  if (asked != nullptr) {
    const std::string unread = configuration::WhyNotRead(*asked, version.Text());
    if (!unread.empty()) {
      return util::InvalidArgument(
          absl::StrCat("--emulated-version=", std::string(asked->name), " contradicts --config=", file, ": ", unread));
    }
  }
  // The release that was asked for, if it reads the version. If no release does, the error names those of the newest.
  const release::Id* reader = configuration::ReaderOf(version.Text(), algorithm->release);
  algorithm->release = reader == nullptr ? &release::All().back() : reader;
  auto catalogue = scheduler::PluginsToConfigure(algorithm->Decides());
  if (algorithm->provider && algorithm->Decides().has_policies && !catalogue.UseProvider(*algorithm->provider)) {
    return util::FailedPrecondition(
        absl::StrCat(file, ": algorithm provider ", util::GoQuoted(*algorithm->provider), " is not registered"));
  }
  auto loaded = configuration::LoadOrError(document->root(), catalogue, algorithm->ConfigurationGates(), *text);
  if (!loaded.ok()) return util::FailedPrecondition(absl::StrCat(file, ": ", loaded.status().message()));
  Say(file, loaded->notices);
  if (algorithm->Decides().has_policies) algorithm->provider.reset();
  algorithm->profiles = std::move(loaded->profiles);
  algorithm->extenders = loaded->configuration.extenders;
  algorithm->configured_percentage = loaded->configuration.percentage_of_nodes_to_score;
  algorithm->policy_from_flag = true;
  return absl::OkStatus();
}

absl::StatusOr<scheduler::Policy> ReadPolicyFile(const std::string& file, const lab::Algorithm& algorithm,
                                                 bool strict) {
  auto text = api::ReadInput(file);
  if (!text.ok()) return util::FailedPrecondition(util::Message(text.status()));
  std::vector<std::string> warnings;
  auto policy = scheduler::ReadPolicy(*text, algorithm.Decides(), algorithm.Gates(), &warnings);
  const std::string else_it_is = DescribeOtherKind(*text);
  if (!policy.ok()) {
    return util::FailedPrecondition(else_it_is.empty()
                                        ? absl::StrCat(file, ": invalid policy: ", policy.status().message())
                                        : absl::StrCat(file, ": ", else_it_is));
  }
  for (const std::string& w : warnings) {
    if (strict && w.find("given more than once") != std::string::npos) {
      return util::FailedPrecondition(absl::StrCat(file, ": ", w));
    }
  }
  if (!else_it_is.empty()) warnings = {else_it_is};
  Say(file, warnings);
  return policy;
}

}  // namespace berth::schedsim
