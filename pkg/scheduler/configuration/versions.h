// The versions of KubeSchedulerConfiguration in the API group kubescheduler.config.k8s.io, and the releases that read
// them.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "pkg/release/release.h"
#include "pkg/scheduler/configuration/types.h"

namespace berth::scheduler::configuration {

struct VersionRow {
  std::string_view name;           // "v1beta1"
  release::Span read_by;           // the releases that read it
  std::optional<Version> version;  // nothing for a version that this package does not read
};
// Returns the row of an apiVersion such as "kubescheduler.config.k8s.io/v1beta1", or null if there is none.
const VersionRow* FindVersion(std::string_view api_version);
// Returns "kubescheduler.config.k8s.io/v1beta1".
std::string ApiVersion(Version version);
// Returns what reads the version, in words: "releases 1.22 to 1.27".
std::string ReadersOf(const VersionRow& row);
// Returns the apiVersions that a release reads, for messages, the newest first: "/v1 and /v1beta3" after the group.
std::string VersionsOf(release::Version release);

}  // namespace berth::scheduler::configuration
