// The recording's header is all that is needed to build the same scheduler again. The parts hold pointers to each
// other, and some callbacks to the Core, so a Core is built in place and never moved.
#include "pkg/recording/core.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/api/stream.h"
#include "pkg/release/release.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/configuration/decode.h"
#include "pkg/scheduler/configuration/gates.h"
#include "pkg/scheduler/factory/from_profile.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/scheduler/policy/decode.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::recording {

using scheduler::GenericScheduler;

absl::StatusOr<std::unique_ptr<Core>> Core::Make(const CoreConfiguration& config, const Surroundings& around) {
  auto named = release::Named(config.release);
  if (!named.ok()) return util::InvalidArgument(absl::StrCat("release: ", named.status().message()));
  const releases::Release& release = releases::Of(**named);
  const scheduler::SchedulerGates gates =
      scheduler::MakeGates([&](std::string_view name) { return config.Gate(std::string(name)); });
  std::unique_ptr<Core> core(new Core({.decides = &release.decides,
                                       .process = &release.process,
                                       .gates = gates,
                                       .percentage = config.percentage,
                                       .initial_backoff = config.initial_backoff,
                                       .max_backoff = config.max_backoff,
                                       .unschedulable_limit = config.unschedulable_limit}));
  core->args.hard_pod_affinity_symmetric_weight = config.hard_pod_affinity_symmetric_weight;
  core->args.make_extender = around.make_extender;

  scheduler::SchedulerOptions o = core->Options();
  o.ignore_unknown_fields = config.ignore_unknown_fields;
  o.max_requests_in_flight = static_cast<size_t>(config.max_requests_in_flight);
  o.observer = around.observer;
  o.may_bind = around.may_bind;
  o.check_decisions = around.check_decisions;
  core->scheduler = std::make_unique<scheduler::Scheduler>(&core->cache, core->queue.get(), core->volume_binder.get(),
                                                           around.actions, around.clock, std::move(o));
  const auto configured = scheduler::configuration::GatesBy([&](std::string_view name, bool otherwise) {
    const auto it = config.gates.find(std::string(name));
    return it == config.gates.end() ? otherwise : it->second;
  });
  for (const ProfileSource& p : config.profiles) {
    if (auto s = core->AddProfile(p, configured); !s.ok()) {
      return util::InvalidArgument(absl::StrCat("scheduler ", p.scheduler_name, ": ", util::Message(s)));
    }
  }
  return core;
}

namespace {

using scheduler::configuration::LoadedConfiguration;

// Builds the profile that the source names, with its extenders.
absl::StatusOr<std::unique_ptr<GenericScheduler>> FromConfiguration(const ProfileSource& source,
                                                                    const scheduler::FactoryArgs& args,
                                                                    const scheduler::configuration::Gates& gates,
                                                                    scheduler::EffectiveAlgorithm* effective) {
  if (source.configuration.empty()) {
    auto profile = scheduler::configuration::DefaultProfile(scheduler::PluginsToConfigure(*args.release), gates);
    profile.scheduler_name = source.scheduler_name;
    return scheduler::CreateFromProfile(profile, {}, args, effective);
  }
  auto loaded = LoadConfiguration(source.configuration, *args.release, source.provider, gates);
  if (!loaded.ok()) return loaded.status();
  for (const auto& profile : loaded->profiles) {
    if (profile.scheduler_name != source.scheduler_name) continue;
    return scheduler::CreateFromProfile(profile, loaded->configuration.extenders, args, effective);
  }
  return util::InvalidArgument("the configuration has no profile of this name");
}

}  // namespace

absl::StatusOr<LoadedConfiguration> LoadConfiguration(const std::string& text, const scheduler::Release& release,
                                                      const std::string& provider,
                                                      const scheduler::configuration::Gates& gates) {
  auto document = api::ReadDocument(text);
  if (!document.ok()) return document.status();
  const api::Json version = document->root().FindExact("apiVersion");
  if (!scheduler::configuration::IsConfigurationVersion(version.Text())) {
    return util::InvalidArgument(
        absl::StrCat("apiVersion: ", version.Brief(), ": must be a version of kubescheduler.config.k8s.io"));
  }
  auto catalogue = scheduler::PluginsToConfigure(release);
  if (!provider.empty() && !catalogue.UseProvider(provider)) {
    return util::InvalidArgument(absl::StrCat("algorithm provider ", util::GoQuoted(provider), " is not registered"));
  }
  return scheduler::configuration::LoadOrError(document->root(), catalogue, gates);
}

absl::Status Core::AddProfile(const ProfileSource& source, const scheduler::configuration::Gates& gates) {
  Profile profile;
  absl::StatusOr<std::unique_ptr<GenericScheduler>> built;
  const bool chosen = source.configuration.empty() && (!source.policy.empty() || !source.provider.empty());
  if (args.release->plugins != nullptr && !(args.release->has_policies && chosen)) {
    if (!args.release->has_policies && (!source.policy.empty() || !source.provider.empty())) {
      return util::InvalidArgument("a release that is configured by profiles has no Policies and no providers");
    }
    built = FromConfiguration(source, args, gates, &profile.effective);
  } else if (!source.configuration.empty()) {
    return util::InvalidArgument("the release is not configured by a KubeSchedulerConfiguration");
  } else if (!source.policy.empty()) {
    auto policy = scheduler::DecodePolicy(source.policy, args.release->version);
    if (!policy.ok()) return policy.status();
    built = scheduler::CreateFromConfig(*policy, args, &profile.effective);
  } else {
    built = scheduler::CreateFromProvider(source.provider, args, &profile.effective);
  }
  if (!built.ok()) return built.status();
  profile.algorithm = *std::move(built);
  scheduler->AddProfile(source.scheduler_name, profile.algorithm.get());
  Register(util::Symbol(source.scheduler_name), profile.algorithm.get());
  profiles[source.scheduler_name] = std::move(profile);
  return absl::OkStatus();
}

void Core::SetTurn(uint64_t turn) {
  for (auto& [name, profile] : profiles) profile.algorithm->set_last_node_index(turn);
}

Core::Profile* Core::ProfileOf(const api::Pod& pod) {
  auto it = profiles.find(pod.tmpl->scheduler_name.string());
  return it == profiles.end() ? nullptr : &it->second;
}

}  // namespace berth::recording
