#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <glog/logging.h>

#include <algorithm>
#include <optional>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/volumes/missing_object.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"
#include "pkg/scheduler/algorithm/volumes/zone_columns.h"
#include "pkg/util/status.h"

namespace berth::scheduler::volumes {
namespace {

// The labels that count, as indexes of ZoneColumns, and their number.
constexpr size_t kZone = 0, kRegion = 1, kLabels = 2;

// Returns the zones in the value of a volume's label, which separates them by "__". Returns nothing if one is empty;
// the label is then ignored.
std::optional<std::vector<Symbol>> ZoneSet(std::string_view value) {
  std::vector<Symbol> zones;
  for (absl::string_view part : absl::StrSplit(util::ToAbsl(value), "__")) {
    part = absl::StripAsciiWhitespace(part);
    if (part.empty()) return std::nullopt;
    zones.emplace_back(util::FromAbsl(part));
  }
  return zones;
}

// NoVolumeZoneConflict: a node fits if its zone and region are among those in the labels of each volume of the pod. A
// node without these labels fits, whatever the volumes demand. An unbound claim is an error unless its storage class
// waits for the first consumer and the gate VolumeScheduling is on. Source: VolumeZoneChecker in
// pkg/scheduler/algorithm/predicates/predicates.go (1.10).
class VolumeZoneCheck final : public ColumnCheck {
 public:
  bool MayError() const override {
    return std::any_of(demands_.begin(), demands_.end(), [](const Demand& d) { return !d.error.empty(); });
  }
  bool FitsAlways() const override { return demands_.empty(); }
  // `class_of` returns the class that decides whether an unbound claim may wait, or an empty text.
  using ClassOf = std::string (*)(const api::PersistentVolumeClaim&);
  VolumeZoneCheck(const PodContext& ctx, bool volume_scheduling, ClassOf class_of)
      : cache_(ctx.cache), class_of_(class_of) {
    const api::PodTemplate& t = *ctx.pod.tmpl;
    for (const api::Volume& v : t.volumes) {
      if (v.kind == api::Volume::Kind::kClaim) Add(t.ns, v.id, volume_scheduling);
    }
    if (!demands_.empty()) columns_.emplace(cache_);
  }

  Verdict Check(Row row) override {
    if (demands_.empty()) return Verdict::kFits;
    const ZoneColumns& columns = *columns_;
    if (!columns.Has(kZone, row) && !columns.Has(kRegion, row)) return Verdict::kFits;
    for (const Demand& d : demands_) {
      // Errors only count on nodes that have a zone or region label, as upstream.
      if (!d.error.empty()) return Verdict::kError;
      const auto& [label, values] = d.wanted;
      if (!columns.Has(label, row)) return Verdict::kFails;
      if (std::find(values.begin(), values.end(), columns[label][row]) == values.end()) return Verdict::kFails;
    }
    return Verdict::kFits;
  }
  int ReasonBits() const override { return 1; }
  bool Candidates(std::vector<Row>* rows) override {
    return !demands_.empty() && !MayError() && FilteredCandidates(this, cache_, rows);
  }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kVolumeZoneConflict); }
  RuleError Error(Row) override {
    auto it = std::find_if(demands_.begin(), demands_.end(), [](const Demand& d) { return !d.error.empty(); });
    return it == demands_.end() ? RuleError() : it->error;
  }
  bool ErrsAlike() const override { return true; }
  void Filter(RowSet* candidates, RowSet* errors) override {
    for (const Demand& d : demands_) {
      if (!d.error.empty()) {
        RowSet fit = columns_->Without(*candidates, kLabels);
        ErrOnAll(candidates, errors);
        fit.ForEach([&](Row row) { errors->Erase(row); });
        *candidates = std::move(fit);
        return;
      }
      columns_->KeepMeeting({&d.wanted, 1}, kLabels, candidates);
    }
  }

 private:
  // One demand of a volume, or an error. Demands are in the order of the pod's volumes, because a conflict that
  // precedes an error hides it.
  struct Demand {
    ZoneColumns::Demand wanted;
    RuleError error;
  };

  void Fail(RuleError error) { demands_.push_back({{}, std::move(error)}); }

  // Adds the demands of the volume behind one claim, or the error that upstream reports for it.
  void Add(Symbol ns, const std::string& claim_name, bool volume_scheduling) {
    if (claim_name.empty()) return Fail("PersistentVolumeClaim had no name");
    auto claim = cache_.listers().claims.Get(ns, claim_name);
    if (claim == nullptr) return Fail(NoClaim(claim_name));
    if (claim->volume_name.empty()) {
      const std::string class_name = class_of_(*claim);
      if (volume_scheduling && !class_name.empty()) {
        auto storage_class = cache_.listers().storage_classes.Get(Symbol(), class_name);
        if (storage_class != nullptr) {
          if (!storage_class->binding_mode) {
            return Fail(absl::StrCat("VolumeBindingMode not set for StorageClass \"", class_name, "\""));
          }
          if (*storage_class->binding_mode == "WaitForFirstConsumer") return;
        }
      }
      return Fail(absl::StrCat("PersistentVolumeClaim is not bound: \"", claim_name, "\""));
    }
    auto volume = cache_.listers().volumes.Get(Symbol(), claim->volume_name);
    if (volume == nullptr) return Fail(NoVolume(claim->volume_name));
    for (const auto& [key, value] : volume->labels) {
      const size_t label = key == ZoneColumns::Labels()[kZone] ? kZone : kRegion;
      if (key != ZoneColumns::Labels()[label]) continue;
      if (auto zones = ZoneSet(value.str())) {
        demands_.push_back({{label, *zones}, {}});
      } else {
        LOG(WARNING) << "Persistent volume \"" << volume->meta.name << "\": label " << key.str() << "=\"" << value.str()
                     << "\" has an empty zone and is ignored";
      }
    }
  }

  const Cache& cache_;
  ClassOf class_of_;
  std::optional<ZoneColumns> columns_;  // if there are demands
  std::vector<Demand> demands_;
};

}  // namespace

FitPredicate NoVolumeZoneConflict(const PluginFactoryArgs& args) {
  // Only the class in the specification counts; the beta annotation is ignored.
  return [scheduling = args.gates.volume_scheduling](const PodContext& ctx) {
    return std::make_unique<VolumeZoneCheck>(
        ctx, scheduling, [](const api::PersistentVolumeClaim& c) { return c.storage_class_name.value_or(""); });
  };
}

FitPredicate NoVolumeZoneConflictByClass(const PluginFactoryArgs& args) {
  return [scheduling = args.gates.volume_scheduling](const PodContext& ctx) {
    return std::make_unique<VolumeZoneCheck>(ctx, scheduling,
                                             [](const api::PersistentVolumeClaim& c) { return c.Class(); });
  };
}

}  // namespace berth::scheduler::volumes
