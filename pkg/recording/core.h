// A complete scheduler, built from the header of a recording.
#pragma once
#include <absl/status/statusor.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pkg/recording/format.h"
#include "pkg/scheduler/assembly/assembly.h"
#include "pkg/scheduler/configuration/load.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/util/clock.h"

namespace berth::recording {

// Parses a KubeSchedulerConfiguration with profiles, in JSON or YAML, as the release does. The profiles change the
// plugins of the provider; empty: the default one. An error lists everything that is wrong with it.
absl::StatusOr<scheduler::configuration::LoadedConfiguration> LoadConfiguration(
    const std::string& text, const scheduler::Release& release, const std::string& provider = "",
    const scheduler::configuration::Gates& gates = {});

class Core : public scheduler::Assembly {
 public:
  struct Surroundings {
    scheduler::Actions* actions = nullptr;
    const util::Clock* clock = nullptr;
    scheduler::DecisionObserver* observer = nullptr;  // may be null
    scheduler::ExtenderFactory make_extender;         // null: a Policy with extenders is an error
    // As in scheduler::SchedulerOptions. For tests.
    std::function<bool()> may_bind;
    int64_t check_decisions = 0;
  };
  // Builds the scheduler. Everything in `around` must outlive it. Errors say which profile cannot be built and why.
  static absl::StatusOr<std::unique_ptr<Core>> Make(const CoreConfiguration& config, const Surroundings& around);

  struct Profile {
    std::unique_ptr<scheduler::GenericScheduler> algorithm;
    scheduler::EffectiveAlgorithm effective;
  };
  std::map<std::string, Profile> profiles;  // by scheduler name
  std::unique_ptr<scheduler::Scheduler> scheduler;

  // Returns the profile that decides about the pod, or null if no profile has its scheduler name.
  Profile* ProfileOf(const api::Pod& pod);
  // Sets, for all profiles, whose turn it is among several best nodes (GenericScheduler::set_last_node_index).
  void SetTurn(uint64_t turn);

 private:
  explicit Core(const scheduler::AssemblyConfig& parts) : Assembly(parts) {}
  absl::Status AddProfile(const ProfileSource& source, const scheduler::configuration::Gates& gates);
};

}  // namespace berth::recording
