// A complete scheduler, built from the header of a recording.
#pragma once
#include <absl/status/statusor.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pkg/recording/format.h"
#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/configuration/load.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/core/node_sampler.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/queue/scheduling_queue.h"
#include "pkg/scheduler/scheduler.h"
#include "pkg/scheduler/volumebinder/claim_binder.h"
#include "pkg/scheduler/volumebinder/volume_binder.h"
#include "pkg/util/clock.h"

namespace berth::recording {

// Parses a KubeSchedulerConfiguration with profiles, in JSON or YAML, as the release does. The profiles change the
// plugins of the provider; empty: the default one. An error lists everything that is wrong with it.
absl::StatusOr<scheduler::configuration::LoadedConfiguration> LoadConfiguration(
    const std::string& text, const scheduler::Release& release, const std::string& provider = "",
    const scheduler::configuration::Gates& gates = {});

class Core {
 public:
  struct Surroundings {
    scheduler::Actions* actions = nullptr;
    const util::Clock* clock = nullptr;
    scheduler::DecisionObserver* observer = nullptr;  // may be null
    scheduler::ExtenderFactory make_extender;         // null: a Policy with extenders is an error
  };
  // Builds the scheduler. Everything in `around` must outlive it. Errors say which profile cannot be built and why.
  static absl::StatusOr<std::unique_ptr<Core>> Make(const CoreConfiguration& config, const Surroundings& around);

  scheduler::Cache cache;
  std::unique_ptr<scheduler::SchedulingQueue> queue;
  std::unique_ptr<scheduler::VolumeBinder> volume_binder;  // null without VolumeScheduling, and in release 1.29
  std::unique_ptr<scheduler::ClaimBinder> claim_binder;    // in release 1.29 only
  std::unique_ptr<scheduler::NodeSampler> sampler;         // null if the release always looks at all nodes
  struct Profile {
    std::unique_ptr<scheduler::GenericScheduler> algorithm;
    scheduler::EffectiveAlgorithm effective;
  };
  std::map<std::string, Profile> profiles;  // by scheduler name
  std::unique_ptr<scheduler::Scheduler> scheduler;

  // Returns the profile that decides about the pod, or null if no profile has its scheduler name.
  Profile* ProfileOf(const api::Pod& pod);

 private:
  std::unique_ptr<scheduler::SchedulingQueue> NewQueue(const CoreConfiguration& config,
                                                       const scheduler::Release& release);
  absl::Status AddProfile(const ProfileSource& source, const scheduler::FactoryArgs& args,
                          const scheduler::configuration::Gates& gates);
  explicit Core(const scheduler::Release& release) : cache(release.describe_template, release.cache) {}
};

}  // namespace berth::recording
