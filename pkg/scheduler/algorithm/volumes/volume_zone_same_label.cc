// The plugin VolumeZone of release 1.19. Source: pkg/scheduler/framework/plugins/volumezone/volume_zone.go.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/volumes/missing_object.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"
#include "pkg/scheduler/algorithm/volumes/zone_columns.h"
#include "pkg/scheduler/volumebinder/csi_translation.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::scheduler::volumes {
namespace {

// A node fits if it has none of the four labels, or if those of each bound volume of the pod have its own value, each
// under the same label. The first volume in the pod's list that does not fit the node, or whose claim cannot be
// followed to a volume, gives the reason.
class SameLabelCheck final : public ColumnCheck {
 public:
  explicit SameLabelCheck(const PodContext& ctx) : cache_(ctx.cache) {
    for (const api::Volume& v : ctx.pod.tmpl->volumes) {
      if (v.kind != api::Volume::Kind::kClaim) continue;
      Demand demand;
      const RuleError why = Collect(*ctx.pod.tmpl, v, &demand);
      if (!why.empty()) demand.missing = RejectionFor(why);
      if (demand.missing || !demand.labels.empty()) demands_.push_back(std::move(demand));
    }
    if (!demands_.empty()) columns_.emplace(cache_);
  }

  bool FitsAlways() const override { return demands_.empty(); }
  Verdict Check(Row row) override { return NumberOf(row) == 0 ? Verdict::kFits : Verdict::kFails; }
  void Explain(Row row, std::vector<FailureReason>* out) override {
    const uint32_t number = NumberOf(row);
    out->push_back(number == 1 ? reasons::kVolumeZoneConflict : *demands_[number - 2].missing);
  }
  int ReasonBits() const override { return 31; }
  void NumberReasons(std::span<const Row> rows, const AddedAmounts*, std::span<uint32_t> numbers) override {
    for (size_t i = 0; i < rows.size(); ++i) numbers[i] = NumberOf(rows[i]);
  }
  void Filter(RowSet* candidates, RowSet*) override {
    for (const Demand& d : demands_) {
      if (d.missing) *candidates = columns_->Without(*candidates, ZoneColumns::kCount);
      columns_->KeepMeeting(d.labels, ZoneColumns::kCount, candidates);
    }
  }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }

 private:
  // What one volume of the pod demands of a node.
  struct Demand {
    std::optional<FailureReason> missing;  // why there is no volume; no node with a zone or region fits then
    std::vector<ZoneColumns::Demand> labels;
  };

  // Returns the number of the reason why a row does not fit: 1 if a volume is in another zone, 2 + i if demand i has no
  // volume, and 0 if it fits.
  uint32_t NumberOf(Row row) const {
    if (demands_.empty() || columns_->HasNone(row)) return 0;
    for (size_t i = 0; i < demands_.size(); ++i) {
      if (demands_[i].missing) return 2 + static_cast<uint32_t>(i);
      for (const auto& [index, values] : demands_[i].labels) {
        if (!columns_->Has(index, row)) return 1;
        if (std::find(values.begin(), values.end(), (*columns_)[index][row]) == values.end()) return 1;
      }
    }
    return 0;
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
    demand->labels = ZoneColumns::DemandsOf(*volume);
    return {};
  }

  const Cache& cache_;
  std::vector<Demand> demands_;         // of the pod's volumes that demand something
  std::optional<ZoneColumns> columns_;  // if there are demands
};

}  // namespace

FitPredicate VolumeZoneBySameLabel(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<SameLabelCheck>(ctx); };
}

}  // namespace berth::scheduler::volumes
