#include "cmd/schedsim/later_algorithm.h"

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
#include "pkg/util/status.h"

namespace berth::schedsim {

absl::Status UseRelease(const std::string& name, lab::Algorithm* algorithm) {
  auto named = release::Named(name);
  if (!named.ok()) return util::InvalidArgument(absl::StrCat("--emulated-version: ", named.status().message()));
  algorithm->release = *named;
  return absl::OkStatus();
}

absl::Status UseConfiguration(const std::string& file, lab::Algorithm* algorithm) {
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
  // The release that was asked for, if it reads the version. If no release does, the error names those of the newest.
  const release::Id* reader = configuration::ReaderOf(version.Text(), algorithm->release);
  algorithm->release = reader == nullptr ? &release::All().back() : reader;
  auto loaded = configuration::LoadOrError(document->root(), scheduler::PluginsToConfigure(algorithm->Decides()),
                                           algorithm->ConfigurationGates());
  if (!loaded.ok()) return util::FailedPrecondition(absl::StrCat(file, ": ", loaded.status().message()));
  for (const std::string& notice : loaded->notices) std::cerr << "schedsim: " << file << ": " << notice << "\n";
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
  const std::string else_it_is = WhatElseItIs(*text);
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
  // Some commands read their flags twice.
  static std::set<std::string>& said = *new std::set<std::string>;
  if (!said.insert(file).second) return policy;
  if (!else_it_is.empty()) warnings = {else_it_is};
  for (const std::string& w : warnings) std::cerr << "schedsim: " << file << ": " << w << "\n";
  return policy;
}

}  // namespace berth::schedsim
