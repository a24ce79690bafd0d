// What a configuration decides, in words that all releases can be translated to and from.
//
// Rules have the names of plugins before NodeResourcesFit took over the scores by allocation, each with its arguments.
// Rules that never were plugins keep the names of their predicates and priorities.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/scheduler/configuration/profile.h"
#include "pkg/scheduler/configuration/types.h"
#include "pkg/scheduler/policy/policy.h"

namespace berth::convert {

namespace configuration = scheduler::configuration;

// Something without an equal in the other release: what it is ("priorities: ImageLocalityPriority"), and a sentence.
struct Note {
  std::string subject, text;
  friend bool operator==(const Note&, const Note&) = default;
};
using Notes = std::vector<Note>;

// The names of rules that conversions treat one by one.
inline constexpr std::string_view kFit = "NodeResourcesFit";
inline constexpr std::string_view kLeast = "NodeResourcesLeastAllocated";
inline constexpr std::string_view kMost = "NodeResourcesMostAllocated";
inline constexpr std::string_view kRatio = "RequestedToCapacityRatio";
inline constexpr std::string_view kNodeLabel = "NodeLabel";
inline constexpr std::string_view kServiceAffinity = "ServiceAffinity";
inline constexpr std::string_view kSelectorSpread = "SelectorSpread";
inline constexpr std::string_view kTopologySpread = "PodTopologySpread";
inline constexpr std::string_view kInterPodAffinity = "InterPodAffinity";
inline constexpr std::string_view kNodeAffinity = "NodeAffinity";
inline constexpr std::string_view kPreemption = "DefaultPreemption";
inline constexpr std::string_view kVolumeBinding = "VolumeBinding";
inline constexpr std::string_view kBalanced = "NodeResourcesBalancedAllocation";

// Plugins that act only for pods with fields of their own, which older releases did not have. They stay on in what is
// converted: without them, such pods would get what they must not get.
inline constexpr std::string_view kForNewFields[] = {"DynamicResources", "NodeDeclaredFeatures", "SchedulingGates"};

// How a profile differs from the default one of its release at an extension point that neither filters nor scores.
struct PointChange {
  std::vector<std::string> removed, added;
};

struct ProfileMeaning {
  // Its lists at kFilter and kScore, the arguments and whether all filters are called are meaningful.
  configuration::ResolvedProfile rules;
  std::map<configuration::ExtensionPoint, PointChange> changes;
  std::optional<int32_t> percentage;  // of the profile alone
};

struct Meaning {
  std::vector<ProfileMeaning> profiles;  // at least one
  std::vector<scheduler::ExtenderConfig> extenders;
  // Everything about the process: all but profiles, extenders and the version. Its percentage is the one that counts;
  // 100: all nodes.
  configuration::KubeSchedulerConfiguration process;
  bool has_process = false;  // whether the source says anything about the process
  // The rules of the release that it comes from, used or not; those of kForNewFields only if they are by default.
  std::set<std::string, std::less<>> known;
  int64_t max_score = 0;  // of that release
};

// Lists the extension points that are called for a rule that filters, and for one that scores.
inline constexpr configuration::ExtensionPoint kFilterPoints[] = {
    configuration::ExtensionPoint::kPreFilter, configuration::ExtensionPoint::kFilter,
    configuration::ExtensionPoint::kReserve, configuration::ExtensionPoint::kPreBind};
inline constexpr configuration::ExtensionPoint kScorePoints[] = {configuration::ExtensionPoint::kPreScore,
                                                                 configuration::ExtensionPoint::kScore};

}  // namespace berth::convert
