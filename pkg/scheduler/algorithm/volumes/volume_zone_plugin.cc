// The plugin VolumeZone of release 1.29. Source: pkg/scheduler/framework/plugins/volumezone/volume_zone.go.
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <array>
#include <optional>

#include "pkg/api/decode.h"
#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/volumes/missing_object.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"
#include "pkg/scheduler/volumebinder/csi_translation.h"
#include "pkg/util/status.h"

namespace berth::scheduler::volumes {
namespace {

// Invariant: the label that replaces a beta label is two places behind it.
const std::array<Symbol, 4> kLabels = {Symbol("failure-domain.beta.kubernetes.io/zone"),
                                       Symbol("failure-domain.beta.kubernetes.io/region"),
                                       Symbol("topology.kubernetes.io/zone"), Symbol("topology.kubernetes.io/region")};

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
      if (volume != nullptr) Collect(*volume);
    }
    if (wanted_.empty()) return;
    for (size_t i = 0; i < kLabels.size(); ++i) columns_[i] = &cache_.Label(kLabels[i]);
  }

  PreFilterResult PreFilter() override {
    PreFilterResult result;
    if (rejection_) result.rejection = &*rejection_;
    result.skip = FitsAlways();
    return result;
  }
  bool FitsAlways() const override { return !rejection_ && wanted_.empty(); }
  Verdict Check(Row row) override {
    if (wanted_.empty()) return Verdict::kFits;
    auto has = [&](size_t label) { return columns_[label]->Domain(row) != LabelColumn::kNoDomain; };
    if (!has(0) && !has(1) && !has(2) && !has(3)) return Verdict::kFits;
    for (const auto& [index, values] : wanted_) {
      // A node may have only the newer label where the volume has the beta label, but not the reverse.
      const size_t label = !has(index) && index < 2 ? index + 2 : index;
      if (!has(label)) return Verdict::kFails;
      if (std::find(values.begin(), values.end(), (*columns_[label])[row]) == values.end()) return Verdict::kFails;
    }
    return Verdict::kFits;
  }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kVolumeZoneConflict); }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }
  int ReasonBits() const override { return 1; }
  // Finds the rows by the values of their labels.
  void Filter(RowSet* candidates, RowSet*) override {
    if (wanted_.empty()) return;
    const RowSet without = WithoutLabels(*candidates);
    for (const auto& [index, values] : wanted_) {
      RowSet with;
      with.Resize(cache_.row_count());
      for (const Symbol value : values) {
        for (const Row row : columns_[index]->RowsWith(value)) with.Insert(row);
        if (index >= 2) continue;
        for (const Row row : columns_[index + 2]->RowsWith(value)) {
          if (columns_[index]->Domain(row) == LabelColumn::kNoDomain) with.Insert(row);
        }
      }
      candidates->IntersectWith(with);
    }
    without.ForEach([&](Row row) { candidates->Insert(row); });
  }

 private:
  // Returns the rows without any of the labels.
  RowSet WithoutLabels(const RowSet& rows) const {
    RowSet without;
    if (std::any_of(columns_.begin(), columns_.end(),
                    [&](const LabelColumn* c) { return c->rows_with_label() >= cache_.row_count(); })) {
      return without;
    }
    rows.ForEach([&](Row row) {
      if (std::all_of(columns_.begin(), columns_.end(),
                      [&](const LabelColumn* c) { return c->Domain(row) == LabelColumn::kNoDomain; })) {
        without.Insert(row);
      }
    });
    return without;
  }
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

  // Collects the zones and regions of the volume. A label with an empty part between "__" is ignored.
  void Collect(const api::PersistentVolume& volume) {
    for (size_t i = 0; i < kLabels.size(); ++i) {
      const auto value = volume.labels.Get(kLabels[i]);
      if (!value) continue;
      std::vector<Symbol> values;
      bool good = true;
      for (absl::string_view part : absl::StrSplit(value->string(), "__")) {
        part = absl::StripAsciiWhitespace(part);
        good = good && !part.empty();
        values.push_back(Symbol(util::FromAbsl(part)));
      }
      if (good) wanted_.emplace_back(i, std::move(values));
    }
  }

  const Cache& cache_;
  std::vector<std::pair<size_t, std::vector<Symbol>>> wanted_;  // index into kLabels; the values that fit
  std::array<const LabelColumn*, kLabels.size()> columns_{};    // of kLabels, if something is wanted
  std::optional<PodRejection> rejection_;
};

}  // namespace

FitPredicate VolumeZone(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<ZoneCheck>(ctx); };
}

}  // namespace berth::scheduler::volumes
