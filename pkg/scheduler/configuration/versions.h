// The versions of KubeSchedulerConfiguration in the API group kubescheduler.config.k8s.io, and the releases that read
// them.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "pkg/release/history.h"
#include "pkg/release/release.h"
#include "pkg/scheduler/configuration/types.h"

namespace berth::scheduler::configuration {

struct VersionRow {
  std::string_view name;           // "v1beta1"
  release::Span read_by;           // the releases that read it
  std::optional<Version> version;  // nothing for a version that this package does not read
};
// The version of configurations before they had an API group of their own, with a provider or a Policy.
inline constexpr std::string_view kComponentConfig = "componentconfig/v1alpha1";
inline constexpr VersionRow kComponentConfigRow = {"v1alpha1", release::history::kComponentConfigV1Alpha1, {}};
// Returns the row of an apiVersion such as "kubescheduler.config.k8s.io/v1beta1", or null if there is none.
const VersionRow* FindVersion(std::string_view api_version);
// Returns the release that a file of this apiVersion is for: `asked`, which may be null, if it reads the version, and
// otherwise the first emulated release that does. Returns null if there is none.
const release::Id* ReaderOf(std::string_view api_version, const release::Id* asked);
// Returns the newest version that the release reads, or null if it reads none of the group.
const VersionRow* NewestReadBy(release::Version release);
// Returns the apiVersion of a row.
std::string NameOf(const VersionRow& row);
// Returns whether files of this apiVersion have profiles of plugins, or there is no such version in the group. Those of
// v1alpha1 have a provider or a Policy.
bool ReadsProfiles(std::string_view api_version);
// Returns "kubescheduler.config.k8s.io/v1beta1".
std::string ApiVersion(Version version);
// Returns what reads the version, in words: "releases 1.22 to 1.27".
std::string ReadersOf(const VersionRow& row);
// Returns what reads the apiVersion and how a file becomes one that others read, for messages: "VERSION is read by
// releases 1.22 to 1.27 of Kubernetes: convert the file with schedsim convert FILE --to RELEASE". Returns an empty text
// if there is no such version in the group.
std::string WhoReads(std::string_view api_version);
// Returns what a release says to a KubeSchedulerConfiguration of this apiVersion if it does not read it: that the kind
// is not registered, which version the release reads, and WhoReads(). Returns an empty text if the release reads it, or
// if there is no such version and the release reads profiles, whose decoder says so.
std::string WhyNotRead(const release::Id& release, std::string_view api_version);
// Returns the newest version that a release reads, by its full name, where documents have no profiles.
std::string NameOfPlain(release::Version release);
// Returns the place in the source that a release names where a kind is not registered: " in scheme \"k8s.io/...\"".
std::string_view SchemeOf(release::Version release);
// Returns the apiVersions that a release reads, for messages, the newest first: "/v1 and /v1beta3" after the group.
std::string VersionsOf(release::Version release);

// Returns whether a release knows a member of an object. Those that follow from the version are in fields.h.
bool HasMember(release::Version release, std::string_view name);
// Returns whether the plugin DynamicResources takes arguments in a release.
bool HasDeviceArguments(release::Version release);

}  // namespace berth::scheduler::configuration
