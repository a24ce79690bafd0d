// The plugin VolumeZone of release 1.29. Source: pkg/scheduler/framework/plugins/volumezone/volume_zone.go.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>

#include "pkg/api/decode.h"
#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/volumes/missing_object.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"
#include "pkg/scheduler/algorithm/volumes/zone_columns.h"
#include "pkg/util/status.h"

namespace berth::scheduler::volumes {
namespace {

// A node fits if its zone and region are among those in the labels of each bound volume of the pod, or if it has none
// of the four labels. What the volumes demand is collected before any node is examined; a claim whose volume cannot be
// found rejects the pod.
class ZoneCheck final : public ColumnCheck {
 public:
  explicit ZoneCheck(const PodContext& ctx) : cache_(ctx.cache) {
    for (const api::Volume& v : ctx.pod.tmpl->volumes) {
      if (v.kind != api::Volume::Kind::kClaim) continue;
      std::shared_ptr<const api::PersistentVolume> volume;
      const RuleError why = FindVolume(*ctx.pod.tmpl, v, &volume);
      if (!why.empty()) {
        rejection_ = PodRejection{RejectionFor(why)};
        return;
      }
      if (volume == nullptr) continue;
      for (ZoneColumns::Demand& demand : ZoneColumns::DemandsOf(*volume)) wanted_.push_back(std::move(demand));
    }
    if (!wanted_.empty()) columns_.emplace(cache_);
  }

  PreFilterResult PreFilter() override {
    PreFilterResult result;
    if (rejection_) result.rejection = &*rejection_;
    result.skip = FitsAlways();
    return result;
  }
  bool FitsAlways() const override { return !rejection_ && wanted_.empty(); }
  // A profile may call Filter without PreFilter, which would have rejected the pod.
  Verdict Check(Row row) override {
    if (rejection_) return Verdict::kFails;
    if (wanted_.empty()) return Verdict::kFits;
    const ZoneColumns& columns = *columns_;
    if (columns.HasNone(row)) return Verdict::kFits;
    for (const auto& [index, values] : wanted_) {
      // A node may have only the newer label where the volume has the beta label, but not the reverse.
      const size_t label = !columns.Has(index, row) && index < 2 ? index + 2 : index;
      if (!columns.Has(label, row)) return Verdict::kFails;
      if (std::find(values.begin(), values.end(), columns[label][row]) == values.end()) return Verdict::kFails;
    }
    return Verdict::kFits;
  }
  void Explain(Row, std::vector<FailureReason>* out) override {
    out->push_back(rejection_ ? rejection_->reason : reasons::kVolumeZoneConflict);
  }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }
  int ReasonBits() const override { return 1; }
  bool Candidates(std::vector<Row>* rows) override {
    return !rejection_ && !wanted_.empty() && FilteredCandidates(this, cache_, rows);
  }
  // Finds the rows by the values of their labels.
  void Filter(RowSet* candidates, RowSet*) override {
    if (rejection_) return candidates->Clear();
    if (wanted_.empty()) return;
    const ZoneColumns& columns = *columns_;
    const RowSet without = columns.Without(*candidates, ZoneColumns::kCount);
    for (const auto& [index, values] : wanted_) {
      RowSet with;
      with.Resize(cache_.row_count());
      for (const Symbol value : values) {
        for (const Row row : columns[index].RowsWith(value)) with.Insert(row);
        if (index >= 2) continue;
        for (const Row row : columns[index + 2].RowsWith(value)) {
          if (!columns.Has(index, row)) with.Insert(row);
        }
      }
      candidates->IntersectWith(with);
    }
    without.ForEach([&](Row row) { candidates->Insert(row); });
  }

 private:
  // Finds the volume that a claim is bound to; `volume` stays null if the claim may wait for it. Returns why the pod
  // cannot be placed, or an empty text.
  RuleError FindVolume(const api::PodTemplate& pod, const api::Volume& v,
                       std::shared_ptr<const api::PersistentVolume>* volume) const {
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
        return absl::StrCat("VolumeBindingMode not set for StorageClass ", api::GoQuoted(class_name));
      }
      if (*storage_class->binding_mode == "WaitForFirstConsumer") return {};
      return "PersistentVolume had no name";
    }
    *volume = listers.volumes.Get(Symbol(), claim->volume_name);
    return *volume == nullptr ? NoVolume(claim->volume_name) : RuleError();
  }

  const Cache& cache_;
  std::vector<ZoneColumns::Demand> wanted_;
  std::optional<ZoneColumns> columns_;  // if something is wanted
  std::optional<PodRejection> rejection_;
};

}  // namespace

FitPredicate VolumeZone(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<ZoneCheck>(ctx); };
}

}  // namespace berth::scheduler::volumes
