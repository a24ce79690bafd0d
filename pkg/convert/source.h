// Reads what is to be converted: a Policy, or a KubeSchedulerConfiguration of any version.
#pragma once
#include <absl/status/statusor.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/convert/meaning.h"
#include "pkg/release/release.h"
#include "pkg/scheduler/policy/policy.h"
#include "pkg/scheduler/registry/release.h"

namespace berth::convert {

// How to read and to write.
struct Options {
  const release::Id* from = nullptr;  // null: what the document says, or the names in a Policy
  const release::Id* to = nullptr;    // REQUIRES: not null where something is converted
  std::map<std::string, bool> gates;  // feature gates that are named; others have the release's defaults
  // Returns the text of a file that a configuration names as its Policy.
  std::function<absl::StatusOr<std::string>(const std::string&)> read_file;
};

// A document as its release reads it.
struct Source {
  std::string what;                      // "a Policy", or the apiVersion
  const release::Id* release = nullptr;  // the emulated release that decides by it
  bool approximate = false;              // no emulated release reads the version; `release` is the nearest one
  std::optional<scheduler::Policy> policy;
  std::optional<std::string> provider;
  int hard_pod_affinity_weight = 1;                      // with a Policy or a provider
  std::vector<configuration::ResolvedProfile> profiles;  // none with a Policy or a provider
  std::vector<std::string> gone;                         // plugins in profiles that `release` does not have
  std::vector<std::optional<int32_t>> percentages;       // of each profile
  std::vector<scheduler::ExtenderConfig> extenders;      // without a Policy
  // All but profiles and extenders.
  configuration::KubeSchedulerConfiguration process;
  bool has_process = false;
  std::string scheduler_name = "default-scheduler";  // with a Policy or a provider
  bool preempts = true;                              // the same
  std::optional<int64_t> bind_timeout_seconds;       // the same
  Notes notes;                                       // fields that no longer exist
};

// Returns the source, or an error with all mistakes in the document.
absl::StatusOr<Source> ReadSource(std::string_view text, const Options& options);

// Returns the gates of a release, those of `named` as given.
scheduler::SchedulerGates GatesOf(const scheduler::Release& release, const std::map<std::string, bool>& named);

}  // namespace berth::convert
