#include "pkg/scheduler/configuration/versions.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::scheduler::configuration {
namespace {

namespace history = release::history;

constexpr std::string_view kApiGroup = "kubescheduler.config.k8s.io/";

// In ascending order.
constexpr VersionRow kVersions[] = {
    {"v1alpha1", history::kConfigurationV1Alpha1, {}},
    {"v1alpha2", history::kConfigurationV1Alpha2, {}},
    {"v1beta1", history::kConfigurationV1Beta1, Version::kV1Beta1},
    {"v1beta2", history::kConfigurationV1Beta2, {}},
    {"v1beta3", history::kConfigurationV1Beta3, Version::kV1Beta3},
    {"v1", history::kConfigurationV1, Version::kV1},
};

const VersionRow* FindAnyVersion(std::string_view api_version) {
  return api_version == kComponentConfig ? &kComponentConfigRow : FindVersion(api_version);
}

}  // namespace

const VersionRow* FindVersion(std::string_view api_version) {
  if (!api_version.starts_with(kApiGroup)) return nullptr;
  for (const VersionRow& row : kVersions) {
    if (row.name == api_version.substr(kApiGroup.size())) return &row;
  }
  return nullptr;
}

const release::Id* ReaderOf(std::string_view api_version, const release::Id* asked) {
  const VersionRow* row = FindVersion(api_version);
  if (row == nullptr) return nullptr;
  if (asked != nullptr && row->read_by.Has(asked->version)) return asked;
  for (const release::Id& id : release::All()) {
    if (row->read_by.Has(id.version)) return &id;
  }
  return nullptr;
}

const VersionRow* NewestReadBy(release::Version release) {
  const auto it = std::find_if(std::rbegin(kVersions), std::rend(kVersions),
                               [&](const VersionRow& row) { return row.read_by.Has(release); });
  return it == std::rend(kVersions) ? nullptr : &*it;
}

std::string NameOf(const VersionRow& row) {
  return absl::StrCat(util::ToAbsl(kApiGroup), util::ToAbsl(row.name));
}

bool ReadsProfiles(std::string_view api_version) {
  const VersionRow* row = FindVersion(api_version);
  return row != &kVersions[0];
}

std::string ApiVersion(Version version) {
  for (const VersionRow& row : kVersions) {
    if (row.version == version) return NameOf(row);
  }
  return {};
}

std::string ReadersOf(const VersionRow& row) {
  const std::string first = release::NameOf(row.read_by.since);
  if (!row.read_by.HasEnd()) return absl::StrCat("releases from ", first, " on");
  const std::string last = release::NameOf(row.read_by.until.Previous());
  return first == last ? absl::StrCat("release ", first) : absl::StrCat("releases ", first, " to ", last);
}

std::string WhoReads(std::string_view api_version) {
  const VersionRow* row = FindAnyVersion(api_version);
  if (row == nullptr) return {};
  return absl::StrCat(util::ToAbsl(api_version), " is read by ", ReadersOf(*row),
                      " of Kubernetes: convert the file with schedsim convert FILE --to RELEASE");
}

std::string WhyNotRead(const release::Id& release, std::string_view api_version) {
  const VersionRow* row = FindAnyVersion(api_version);
  const std::string with_profiles = VersionsOf(release.version);
  // What is no version at all is an error of the decoder where documents have profiles.
  const bool leave = row != nullptr ? row->read_by.Has(release.version) : api_version.empty() || !with_profiles.empty();
  if (leave) return {};
  const std::string read =
      with_profiles.empty() ? NameOfPlain(release.version) : absl::StrCat("kubescheduler.config.k8s.io", with_profiles);
  return absl::StrCat("no kind \"KubeSchedulerConfiguration\" is registered for version ", util::GoQuoted(api_version),
                      util::ToAbsl(SchemeOf(release.version)), " (supported are KubeSchedulerConfiguration of ", read,
                      row == nullptr ? "" : "; ", WhoReads(api_version), ")");
}

std::string NameOfPlain(release::Version release) {
  const VersionRow* newest = NewestReadBy(release);
  return newest == nullptr ? std::string(kComponentConfig) : NameOf(*newest);
}

std::string_view SchemeOf(release::Version release) {
  return release::At(history::kConfigurationScheme, release);
}

std::string VersionsOf(release::Version release) {
  std::vector<std::string> names;
  for (auto it = std::rbegin(kVersions); it != std::rend(kVersions); ++it) {
    if (it->version && it->read_by.Has(release)) names.push_back(absl::StrCat("/", util::ToAbsl(it->name)));
  }
  return absl::StrJoin(names, " and ");
}

bool HasMember(release::Version release, std::string_view name) {
  struct Row {
    std::string_view name;
    release::Span span;
  };
  static constexpr Row kMembers[] = {{"placementGenerate", history::kPlacementPoints},
                                     {"placementScore", history::kPlacementPoints}};
  return std::all_of(std::begin(kMembers), std::end(kMembers),
                     [&](const Row& row) { return row.name != name || row.span.Has(release); });
}

bool HasDeviceArguments(release::Version release) {
  return history::kDeviceArguments.Has(release);
}

}  // namespace berth::scheduler::configuration
