#include "pkg/scheduler/volumebinder/csi_translation.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <array>
#include <set>

#include "pkg/api/decode.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

using util::Symbol;
using Source = api::PersistentVolume::Source;
using VolumeKind = api::Volume::Kind;

constexpr std::string_view kZone = "topology.kubernetes.io/zone", kRegion = "topology.kubernetes.io/region",
                           kBetaZone = "failure-domain.beta.kubernetes.io/zone",
                           kBetaRegion = "failure-domain.beta.kubernetes.io/region";

// One in-tree plugin and the driver that replaces it.
struct Migration {
  std::string_view plugin, driver, topology_key;  // an empty topology_key: affinity needs no translation
  VolumeKind kind;
  Source source;
};
constexpr std::array<Migration, 4> kMigrations = {{
    {"kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone", VolumeKind::kAwsEbs, Source::kAwsEbs},
    {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone", VolumeKind::kGcePd, Source::kGcePd},
    {"kubernetes.io/azure-disk", "disk.csi.azure.com", "", VolumeKind::kAzureDisk, Source::kAzureDisk},
    {"kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone", VolumeKind::kCinder,
     Source::kCinder},
}};

// Returns the id of an EBS volume: the last part of "aws://zone/vol-1"; an id of another form is returned as it is.
std::optional<std::string> EbsVolumeId(std::string_view id, std::string* error) {
  if (!id.starts_with("aws://")) return std::string(id);
  std::string_view rest = id.substr(6);
  size_t slash = rest.find('/');
  std::string_view path = slash == std::string_view::npos ? std::string_view() : rest.substr(slash);
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (path.starts_with("vol-") && path.find('/') == std::string_view::npos) return std::string(path);
  *error = absl::StrCat("failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (",
                        util::ToAbsl(id), ")");
  return std::nullopt;
}

// Returns the region of all zones, such as "us-central1" for us-central1-a and us-central1-b, or an error if they
// differ.
std::optional<std::string> GceRegion(const std::vector<std::string>& zones, std::string* error) {
  std::set<std::string> regions;
  for (const std::string& zone : zones) {
    std::vector<std::string> parts = absl::StrSplit(zone, '-');
    if (parts.size() != 3) {
      *error = absl::StrCat("failed to get region from zones: zone in unexpected format, expected: ",
                            "{locale}-{region}-{zone}, got: ", zone);
      return std::nullopt;
    }
    regions.insert(parts[0] + "-" + parts[1]);
  }
  if (regions.size() == 1) return *regions.begin();
  *error = absl::StrCat("failed to get region from zones: multiple or no regions gotten from zones, got: map[",
                        absl::StrJoin(regions, ":{} "), ":{}]");
  return std::nullopt;
}

// In-tree volumes do not name the project, for which the CSI driver has this placeholder.
std::string GceHandle(std::string_view place, std::string_view disk) {
  return absl::StrCat("projects/UNSPECIFIED/", util::ToAbsl(place), "/disks/", util::ToAbsl(disk));
}

std::string_view LabelOf(const api::PersistentVolume& volume, std::string_view key, bool* present = nullptr) {
  auto value = volume.labels.Get(Symbol(key));
  if (present != nullptr) *present = value.has_value();
  return value ? value->str() : std::string_view();
}

// A label with several zones means a regional disk.
std::optional<std::string> GceHandleOf(const api::PersistentVolume& volume, std::string* error) {
  std::string label(LabelOf(volume, kBetaZone));
  if (label.empty()) label = LabelOf(volume, kZone);
  std::vector<std::string> zones = absl::StrSplit(label, "__");
  if (zones.size() == 1) return GceHandle("zones/" + (zones[0].empty() ? "UNSPECIFIED" : zones[0]), volume.source_id);
  auto region = GceRegion(zones, error);
  if (!region) return std::nullopt;
  return GceHandle("regions/" + *region, volume.source_id);
}

bool HasKey(const std::vector<api::NodeSelectorTerm>& terms, Symbol key) {
  return std::any_of(terms.begin(), terms.end(), [&](const api::NodeSelectorTerm& t) {
    const auto& requirements = t.match.selector.requirements();
    return std::any_of(requirements.begin(), requirements.end(), [&](const auto& r) { return r.key == key; });
  });
}
bool HasValuesFor(const std::vector<api::NodeSelectorTerm>& terms, Symbol key) {
  return std::any_of(terms.begin(), terms.end(), [&](const api::NodeSelectorTerm& t) {
    const auto& requirements = t.match.selector.requirements();
    return std::any_of(requirements.begin(), requirements.end(),
                       [&](const auto& r) { return r.key == key && !r.values.empty(); });
  });
}
// Replaces a label key in all terms that can be parsed.
void ReplaceKey(std::vector<api::NodeSelectorTerm>* terms, Symbol from, Symbol to) {
  for (api::NodeSelectorTerm& t : *terms) {
    if (!t.has_expressions || !t.match.ok()) continue;
    std::vector<api::Requirement> requirements = t.match.selector.requirements();
    for (api::Requirement& r : requirements) {
      if (r.key == from) r.key = to;
    }
    t.match.selector = api::Selector(std::move(requirements));
  }
}
// Requires the label to have one of the values, in every term; without terms, creates one.
void AddToTerms(std::vector<api::NodeSelectorTerm>* terms, Symbol key, const std::vector<Symbol>& values) {
  if (terms->empty()) terms->emplace_back();
  for (api::NodeSelectorTerm& t : *terms) {
    if (t.has_expressions && !t.match.ok()) continue;
    std::vector<api::Requirement> requirements;
    if (t.has_expressions) requirements = t.match.selector.requirements();
    api::Requirement& r = requirements.emplace_back();
    r.key = key;
    r.op = api::Operator::kIn;
    r.values = values;
    t.match.selector = api::Selector(std::move(requirements));
    t.has_expressions = true;
  }
}

}  // namespace

std::optional<std::string> ClaimNameOf(const api::Pod& pod, const api::Volume& volume) {
  if (volume.kind == VolumeKind::kClaim) return volume.id;
  if (volume.kind == VolumeKind::kEphemeral) return pod.meta.name + "-" + volume.id;
  return std::nullopt;
}

std::string OwnershipError(const api::Pod& pod, const api::Volume& volume, const api::PersistentVolumeClaim& claim) {
  // An ephemeral volume's claim must be controlled by this pod, so that a claim of the same name is not taken by
  // mistake.
  if (volume.kind != VolumeKind::kEphemeral || (!pod.meta.uid.empty() && claim.controller_uid == pod.meta.uid))
    return {};
  return absl::StrCat("PVC ", claim.meta.Key(), " was not created for pod ", pod.meta.Key(), " (pod is not owner)");
}

std::string NotFound(std::string_view kind, std::string_view name) {
  return absl::StrCat(util::ToAbsl(kind), " ", api::GoQuoted(name), " not found");
}

std::string_view InTreePluginOf(const api::Volume& volume) {
  for (const Migration& m : kMigrations) {
    if (m.kind == volume.kind) return m.plugin;
  }
  return {};
}
std::string_view InTreePluginOf(const api::PersistentVolume& volume) {
  for (const Migration& m : kMigrations) {
    if (m.source == volume.source) return m.plugin;
  }
  return {};
}
std::string_view CsiDriverOf(std::string_view in_tree_plugin) {
  for (const Migration& m : kMigrations) {
    if (m.plugin == in_tree_plugin) return m.driver;
  }
  return {};
}
bool IsUnmigratedPlugin(std::string_view p) {
  return p == "kubernetes.io/portworx-volume" || p == "kubernetes.io/rbd" || p == "kubernetes.io/azure-file" ||
         p == "kubernetes.io/vsphere-volume";
}

std::optional<CsiVolume> Translate(const api::Volume& volume, std::string* error) {
  std::optional<std::string> handle = volume.id;
  if (volume.kind == VolumeKind::kAwsEbs) handle = EbsVolumeId(volume.id, error);
  if (volume.kind == VolumeKind::kGcePd) handle = GceHandle("zones/UNSPECIFIED", volume.id);
  if (volume.kind == VolumeKind::kAzureDisk) handle = volume.uri;
  if (!handle) return std::nullopt;
  return CsiVolume{std::string(CsiDriverOf(InTreePluginOf(volume))), *handle};
}

std::optional<CsiVolume> Translate(const api::PersistentVolume& volume, std::string* error) {
  std::optional<std::string> handle = volume.source_id;
  if (volume.source == Source::kAwsEbs) handle = EbsVolumeId(volume.source_id, error);
  if (volume.source == Source::kGcePd) handle = GceHandleOf(volume, error);
  if (volume.source == Source::kAzureDisk) handle = volume.source_uri;
  if (!handle) return std::nullopt;
  return CsiVolume{std::string(CsiDriverOf(InTreePluginOf(volume))), *handle};
}

// Azure disks have no topology key here and keep their affinity.
std::vector<api::NodeSelectorTerm> TranslatedAffinity(const api::PersistentVolume& volume) {
  std::vector<api::NodeSelectorTerm> terms = volume.node_affinity;
  auto migration = std::find_if(kMigrations.begin(), kMigrations.end(),
                                [&](const Migration& m) { return m.source == volume.source; });
  if (migration == kMigrations.end() || migration->topology_key.empty()) return terms;
  bool ga_label = false, beta_label = false;
  LabelOf(volume, kZone, &ga_label);
  LabelOf(volume, kBetaZone, &beta_label);
  // Beta labels are translated only where the volume does not use the newer ones.
  bool beta = !HasKey(terms, Symbol(kZone)) && (HasKey(terms, Symbol(kBetaZone)) || (!ga_label && beta_label));
  Symbol zone(beta ? kBetaZone : kZone), key(migration->topology_key);
  if (HasValuesFor(terms, zone)) {
    ReplaceKey(&terms, zone, key);
  } else if (auto label = volume.labels.Get(zone)) {
    std::set<Symbol> zones;
    for (absl::string_view part : absl::StrSplit(label->string(), "__")) {
      part = absl::StripAsciiWhitespace(part);
      if (!part.empty()) zones.insert(Symbol(util::FromAbsl(part)));
    }
    if (!zones.empty()) AddToTerms(&terms, key, {zones.begin(), zones.end()});
  }
  if (beta && HasValuesFor(terms, Symbol(kBetaRegion))) ReplaceKey(&terms, Symbol(kBetaRegion), Symbol(kRegion));
  return terms;
}

bool AdmitsNode(const std::vector<api::NodeSelectorTerm>& terms, const api::Node& node) {
  return terms.empty() || std::any_of(terms.begin(), terms.end(), [&](const api::NodeSelectorTerm& t) {
           if (!t.problems.empty() || (!t.has_expressions && t.fields.empty())) return false;
           return !t.has_expressions || t.match.selector.Matches(node.labels);
         });
}

}  // namespace berth::scheduler
