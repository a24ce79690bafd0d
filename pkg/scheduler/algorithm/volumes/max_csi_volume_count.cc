// MaxCSIVolumeCountPred. Source: pkg/scheduler/algorithm/predicates/csi_volume_predicate.go (1.13).
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/volumes/always_fits.h"
#include "pkg/scheduler/algorithm/volumes/attached_volumes.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"

namespace berth::scheduler::volumes {
namespace {

// Volumes by handle, with the names of their limits. As upstream, the driver is not part of the key, so two volumes of
// different drivers with equal handles count as one.
using Handles = std::map<std::string, std::string>;

class CsiCountCheck final : public ColumnCheck {
 public:
  explicit CsiCountCheck(const PodContext& ctx) : cache_(ctx.cache) {
    Collect(*ctx.pod.tmpl, &wanted_, &error_);
    for (const auto& [handle, key] : wanted_) {
      const Symbol limit = Symbol::Find(key);
      if (!limit.empty() && std::find(limits_.begin(), limits_.end(), limit) == limits_.end()) limits_.push_back(limit);
    }
  }

  bool FitsAlways() const override { return error_.empty() && wanted_.empty(); }
  bool MayError() const override { return !error_.empty(); }
  Verdict Check(Row row) override {
    const std::map<std::string, int64_t> limits = Limits(row);
    if (limits.empty()) return Verdict::kFits;
    if (!error_.empty()) return Verdict::kError;
    if (wanted_.empty()) return Verdict::kFits;
    Handles attached;
    std::string ignored;  // a claim without a name in another pod does not fail this pod (bug B-17, fixed)
    for (const PlacedPod& p : cache_.row(row).pods) Collect(*p.pod->tmpl, &attached, &ignored);
    std::map<std::string, int64_t> there, added;
    for (const auto& [handle, key] : attached) ++there[key];
    for (const auto& [handle, key] : wanted_) added[key] += attached.contains(handle) ? 0 : 1;
    for (const auto& [key, count] : added) {
      const auto limit = limits.find(key);
      if (count > 0 && limit != limits.end() && there[key] + count > limit->second) return Verdict::kFails;
    }
    return Verdict::kFits;
  }
  int ReasonBits() const override { return 1; }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kMaxVolumeCountExceeded); }
  RuleError Error(Row) override { return error_; }
  bool ErrsAlike() const override { return true; }
  // Volumes are counted only where one of their limits is set.
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (!error_.empty()) return FitCheck::Filter(candidates, errors);
    if (limits_.empty()) return;
    candidates->ForEach([&](Row row) {
      const ScalarResources& allocatable = cache_.row(row).allocatable;
      const bool limited =
          std::any_of(limits_.begin(), limits_.end(), [&](Symbol limit) { return allocatable.HasScalar(limit); });
      if (limited && Check(row) != Verdict::kFits) candidates->Erase(row);
    });
  }

 private:
  // Returns the node's limits on attached volumes, of any kind.
  std::map<std::string, int64_t> Limits(Row row) const {
    std::map<std::string, int64_t> limits;
    for (const auto& [name, amount] : cache_.row(row).allocatable.scalars) {
      if (name.str().starts_with("attachable-volumes-")) limits.emplace(name.string(), amount);
    }
    return limits;
  }
  // Adds the CSI volumes of the bound claims. Claims and volumes that do not exist are passed over.
  void Collect(const api::PodTemplate& t, Handles* out, std::string* error) const {
    for (const api::Volume& v : t.volumes) {
      if (v.kind != api::Volume::Kind::kClaim) continue;
      if (v.id.empty()) {
        *error = "PersistentVolumeClaim had no name";
        return;
      }
      const auto claim = cache_.listers().claims.Get(t.ns, v.id);
      if (claim == nullptr || claim->volume_name.empty()) continue;
      const auto volume = cache_.listers().volumes.Get(Symbol(), claim->volume_name);
      if (volume == nullptr || volume->source != api::PersistentVolume::Source::kCsi) continue;
      (*out)[volume->source_id] = LimitKey(volume->csi_driver.str());
    }
  }

  const Cache& cache_;
  Handles wanted_;
  std::vector<Symbol> limits_;  // those in wanted_ that a node may have
  std::string error_;
};

}  // namespace

FitPredicate MaxCsiVolumeCount(const PluginFactoryArgs& args) {
  return [on = args.gates.attach_volume_limit](const PodContext& ctx) -> std::unique_ptr<FitCheck> {
    if (!on) return std::make_unique<AlwaysFits>();
    return std::make_unique<CsiCountCheck>(ctx);
  };
}

}  // namespace berth::scheduler::volumes
