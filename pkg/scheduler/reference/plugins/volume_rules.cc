// The plugins VolumeRestrictions and VolumeZone.
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <array>

#include "pkg/scheduler/reference/plugins/cloned.h"
#include "pkg/scheduler/volumebinder/csi_translation.h"
#include "pkg/util/status.h"

namespace berth::scheduler::reference::plugins {
namespace {

using Kind = api::Volume::Kind;

bool IsInlineDisk(const api::Volume& v) {
  return v.kind == Kind::kGcePd || v.kind == Kind::kAwsEbs || v.kind == Kind::kRbd || v.kind == Kind::kIscsi;
}

// Returns whether two pods on one node cannot have these volumes at the same time.
bool Conflict(const api::Volume& a, const api::Volume& b) {
  if (a.kind != b.kind || !IsInlineDisk(a) || a.id != b.id) return false;
  if (a.kind == Kind::kAwsEbs) return true;
  if (a.read_only && b.read_only) return false;
  if (a.kind != Kind::kRbd) return true;
  return a.pool == b.pool && std::any_of(a.monitors.begin(), a.monitors.end(), [&](const std::string& m) {
           return std::find(b.monitors.begin(), b.monitors.end(), m) != b.monitors.end();
         });
}

class VolumeRestrictions final : public Cloned<VolumeRestrictions> {
 public:
  Status PreFilter(const Cycle& c, std::optional<std::set<Symbol>>*) override {
    static const Symbol kReadWriteOncePod("ReadWriteOncePod");
    const auto& volumes = c.tmpl().volumes;
    for (const api::Volume& v : volumes) {
      if (v.kind != Kind::kClaim) continue;
      auto claim = c.world.claims.Get(c.tmpl().ns, v.id);
      if (claim == nullptr) return Status::Unresolvable(NotFound("persistentvolumeclaim", v.id));
      const auto& modes = claim->access_modes;
      if (std::find(modes.begin(), modes.end(), kReadWriteOncePod) != modes.end()) single_use_.insert(v.id);
    }
    for (const std::string& name : single_use_) {
      if (IsUsed(c, name)) ++conflicts_;
    }
    bool disks = std::any_of(volumes.begin(), volumes.end(), IsInlineDisk);
    return !disks && conflicts_ == 0 ? Status::Skip() : Status();
  }
  // Only the claim's name is compared, not its namespace (upstream bug M-10, kept).
  void PodAdded(const Cycle&, const api::Pod& q, const NodeInfo&) override { conflicts_ += UsesOf(q); }
  void PodRemoved(const Cycle&, const api::Pod& q, const NodeInfo&) override { conflicts_ -= UsesOf(q); }

  Status Filter(const Cycle& c, const NodeInfo& info) override {
    for (const api::Volume& mine : c.tmpl().volumes) {
      for (const api::PodPtr& q : info.pods()) {
        for (const api::Volume& theirs : q->tmpl->volumes) {
          if (Conflict(mine, theirs)) return Status::Unschedulable("node(s) had no available disk");
        }
      }
    }
    if (conflicts_ <= 0) return {};
    return Status::Unschedulable(
        "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode");
  }
  std::string_view NeedsPreFilter() const override {
    return "cannot read \"PreFilterVolumeRestrictions\" from cycleState";
  }

 private:
  static bool IsUsed(const Cycle& c, const std::string& name) {
    const auto& nodes = c.world.nodes();
    return std::any_of(nodes.begin(), nodes.end(), [&](const NodeInfo* info) {
      return std::any_of(info->pods().begin(), info->pods().end(), [&](const api::PodPtr& q) {
        const auto& volumes = q->tmpl->volumes;
        return q->tmpl->ns == c.tmpl().ns && std::any_of(volumes.begin(), volumes.end(), [&](const api::Volume& v) {
                 return v.kind == Kind::kClaim && v.id == name;
               });
      });
    });
  }
  int64_t UsesOf(const api::Pod& q) const {
    const auto& volumes = q.tmpl->volumes;
    return std::count_if(volumes.begin(), volumes.end(),
                         [&](const auto& v) { return v.kind == Kind::kClaim && single_use_.contains(v.id); });
  }

  std::set<std::string> single_use_;  // names of the pod's claims with access mode ReadWriteOncePod
  int64_t conflicts_ = 0;
};

constexpr std::array<std::string_view, 4> kTopologyLabels = {
    "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region"};

class VolumeZone final : public Cloned<VolumeZone> {
 public:
  Status PreFilter(const Cycle& c, std::optional<std::set<Symbol>>*) override {
    for (const api::Volume& v : c.tmpl().volumes) {
      if (v.kind != Kind::kClaim) continue;
      std::shared_ptr<const api::PersistentVolume> volume;
      Status status = VolumeOf(c, v, &volume);
      if (!status.ok()) return status;
      if (volume != nullptr) Collect(*volume);
    }
    return wanted_.empty() ? Status::Skip() : Status();
  }

  Status Filter(const Cycle&, const NodeInfo& info) override {
    const api::Labels& labels = info.node().labels;
    if (std::none_of(kTopologyLabels.begin(), kTopologyLabels.end(),
                     [&](std::string_view key) { return labels.Has(Symbol(key)); })) {
      return {};
    }
    for (const auto& [index, values] : wanted_) {
      auto value = labels.Get(Symbol(kTopologyLabels[index]));
      if (!value && index < 2) value = labels.Get(Symbol(kTopologyLabels[index + 2]));
      if (!value || !values.contains(*value)) return Status::Unresolvable("node(s) had no available volume zone");
    }
    return {};
  }

 private:
  // Sets `*volume` to the volume that the claim is bound to, or to null when it is to be bound after the pod is placed.
  static Status VolumeOf(const Cycle& c, const api::Volume& v, std::shared_ptr<const api::PersistentVolume>* volume) {
    if (v.id.empty()) return Status::Unresolvable("PersistentVolumeClaim had no name");
    auto claim = c.world.claims.Get(c.tmpl().ns, v.id);
    if (claim == nullptr) return Status::Unresolvable(NotFound("persistentvolumeclaim", v.id));
    if (claim->volume_name.empty()) {
      std::string class_name = claim->Class();
      if (class_name.empty()) {
        return Status::Unresolvable("PersistentVolumeClaim had no pv name and storageClass name");
      }
      auto storage_class = c.world.storage_classes.Get(Symbol(), class_name);
      if (storage_class == nullptr) {
        return Status::Unresolvable(NotFound("storageclass.storage.k8s.io", class_name));
      }
      if (!storage_class->binding_mode) {
        return Status::Unresolvable(
            absl::StrCat("VolumeBindingMode not set for StorageClass ", api::GoQuoted(class_name)));
      }
      if (*storage_class->binding_mode == "WaitForFirstConsumer") return {};
      return Status::Unresolvable("PersistentVolume had no name");
    }
    *volume = c.world.volumes.Get(Symbol(), claim->volume_name);
    if (*volume == nullptr) return Status::Unresolvable(NotFound("persistentvolume", claim->volume_name));
    return {};
  }

  void Collect(const api::PersistentVolume& volume) {
    for (size_t i = 0; i < kTopologyLabels.size(); ++i) {
      auto value = volume.labels.Get(Symbol(kTopologyLabels[i]));
      if (!value) continue;
      std::set<Symbol> values;
      bool good = true;
      for (absl::string_view part : absl::StrSplit(value->string(), "__")) {
        part = absl::StripAsciiWhitespace(part);
        good = good && !part.empty();
        values.insert(Symbol(util::FromAbsl(part)));
      }
      if (good) wanted_.emplace_back(i, std::move(values));
    }
  }

  std::vector<std::pair<size_t, std::set<Symbol>>> wanted_;  // index in kTopologyLabels and the values that fit
};

}  // namespace

std::unique_ptr<Plugin> MakeVolumeRestrictions() {
  return std::make_unique<VolumeRestrictions>();
}
std::unique_ptr<Plugin> MakeVolumeZone() {
  return std::make_unique<VolumeZone>();
}

}  // namespace berth::scheduler::reference::plugins
