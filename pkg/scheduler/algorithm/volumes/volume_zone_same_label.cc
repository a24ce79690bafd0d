// The plugin VolumeZone of release 1.19. Source: pkg/scheduler/framework/plugins/volumezone/volume_zone.go.
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <array>

#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/volumes/missing_object.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"
#include "pkg/scheduler/volumebinder/csi_translation.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::scheduler::volumes {
namespace {

const std::array<Symbol, 4> kZoneLabels = {
    Symbol("failure-domain.beta.kubernetes.io/zone"), Symbol("failure-domain.beta.kubernetes.io/region"),
    Symbol("topology.kubernetes.io/zone"), Symbol("topology.kubernetes.io/region")};

// A node fits if it has none of the four labels, or if those of each bound volume of the pod have its own value, each
// under the same label. The first volume in the pod's list that does not fit the node, or whose claim cannot be
// followed to a volume, gives the reason.
class SameLabelCheck final : public FitCheck {
 public:
  explicit SameLabelCheck(const PodContext& ctx) : cache_(ctx.cache) {
    for (const api::Volume& v : ctx.pod.tmpl->volumes) {
      if (v.kind != api::Volume::Kind::kClaim) continue;
      Demand demand;
      const RuleError why = Collect(*ctx.pod.tmpl, v, &demand);
      if (!why.empty()) demand.missing = RejectionFor(why);
      if (demand.missing || !demand.labels.empty()) demands_.push_back(std::move(demand));
    }
  }

  bool FitsAlways() const override { return demands_.empty(); }
  Verdict Check(Row row) override { return Why(row) == nullptr ? Verdict::kFits : Verdict::kFails; }
  void Explain(Row row, std::vector<FailureReason>* out) override { out->push_back(*Why(row)); }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }

 private:
  // What one volume of the pod demands of a node.
  struct Demand {
    std::optional<FailureReason> missing;  // why there is no volume; no node with a zone or region fits then
    std::vector<std::pair<Symbol, std::vector<Symbol>>> labels;  // label; the values that fit
  };

  const FailureReason* Why(Row row) const {
    const api::Labels& node = cache_.row(row).node->labels;
    if (std::none_of(kZoneLabels.begin(), kZoneLabels.end(), [&](Symbol key) { return node.Has(key); })) return nullptr;
    for (const Demand& d : demands_) {
      if (d.missing) return &*d.missing;
      for (const auto& [label, values] : d.labels) {
        const auto value = node.Get(label);
        if (!value || std::find(values.begin(), values.end(), *value) == values.end()) {
          return &reasons::kVolumeZoneConflict;
        }
      }
    }
    return nullptr;
  }

  // Collects the zones and regions of the volume that the claim is bound to. A claim that waits for its first consumer
  // demands nothing. Returns why the volume cannot be found, or an empty text.
  RuleError Collect(const api::PodTemplate& pod, const api::Volume& v, Demand* demand) const {
    const Listers& listers = cache_.listers();
    if (v.id.empty()) return "PersistentVolumeClaim had no name";
    const auto claim = listers.claims.Get(pod.ns, v.id);
    if (claim == nullptr) return NoClaim(v.id);
    if (claim->volume_name.empty()) {
      const std::string class_name = claim->Class();
      if (class_name.empty()) return "PersistentVolumeClaim had no pv name and storageClass name";
      const auto storage_class = listers.storage_classes.Get(Symbol(), class_name);
      if (storage_class == nullptr) return NoStorageClass(class_name);
      if (!storage_class->binding_mode) {
        return absl::StrCat("VolumeBindingMode not set for StorageClass ", util::GoQuoted(class_name));
      }
      return *storage_class->binding_mode == "WaitForFirstConsumer" ? "" : "PersistentVolume had no name";
    }
    const auto volume = listers.volumes.Get(Symbol(), claim->volume_name);
    if (volume == nullptr) return NoVolume(claim->volume_name);
    for (Symbol label : kZoneLabels) {
      const auto value = volume->labels.Get(label);
      if (!value) continue;
      std::vector<Symbol> values;
      bool good = true;  // a label with an empty part between "__" is ignored
      for (absl::string_view part : absl::StrSplit(value->string(), "__")) {
        part = absl::StripAsciiWhitespace(part);
        good = good && !part.empty();
        values.push_back(Symbol(util::FromAbsl(part)));
      }
      if (good) demand->labels.emplace_back(label, std::move(values));
    }
    return {};
  }

  const Cache& cache_;
  std::vector<Demand> demands_;  // of the pod's volumes that demand something
};

}  // namespace

FitPredicate VolumeZoneBySameLabel(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<SameLabelCheck>(ctx); };
}

}  // namespace berth::scheduler::volumes
