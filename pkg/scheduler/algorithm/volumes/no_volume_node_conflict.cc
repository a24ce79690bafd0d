#include <absl/strings/str_cat.h>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/volumes/always_fits.h"
#include "pkg/scheduler/algorithm/volumes/missing_object.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"
#include "pkg/scheduler/volumebinder/volume_rules.h"

namespace berth::scheduler::volumes {
namespace {

// NoVolumeNodeConflict: a node fits if the node affinity of each volume that the pod's claims are bound to allows it.
// The claims are looked up in the pod's order; the first one that has no volume is an error on every node where no
// earlier volume conflicts. Source: VolumeNodeChecker in plugin/pkg/scheduler/algorithm/predicates/predicates.go (1.8).
class VolumeNodeCheck final : public ColumnCheck {
 public:
  explicit VolumeNodeCheck(const PodContext& ctx) : cache_(ctx.cache) {
    const api::PodTemplate& t = *ctx.pod.tmpl;
    for (const api::Volume& v : t.volumes) {
      if (v.kind != api::Volume::Kind::kClaim) continue;
      error_ = Add(t.ns, v.id);
      if (!error_.empty()) return;
    }
  }

  bool MayError() const override { return !error_.empty(); }
  bool FitsAlways() const override { return error_.empty() && volumes_.empty(); }
  Verdict Check(Row row) override {
    for (const auto& volume : volumes_) {
      if (!UsableOn(*volume, cache_.row(row).node->labels)) return Verdict::kFails;
    }
    return error_.empty() ? Verdict::kFits : Verdict::kError;
  }
  int ReasonBits() const override { return 1; }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kVolumeNodeConflict); }
  RuleError Error(Row) override { return error_; }
  bool ErrsAlike() const override { return true; }
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (!FitsAlways()) FitCheck::Filter(candidates, errors);
  }

 private:
  // Returns the error of one claim, or an empty text.
  RuleError Add(Symbol ns, const std::string& name) {
    if (name.empty()) return "PersistentVolumeClaim had no name";
    auto claim = cache_.listers().claims.Get(ns, name);
    if (claim == nullptr) return NoClaim(name);
    if (claim->volume_name.empty()) return absl::StrCat("PersistentVolumeClaim is not bound: \"", name, "\"");
    auto volume = cache_.listers().volumes.Get(Symbol(), claim->volume_name);
    if (volume == nullptr) return NoVolume(claim->volume_name);
    volumes_.push_back(std::move(volume));
    return {};
  }

  const Cache& cache_;
  std::vector<std::shared_ptr<const api::PersistentVolume>> volumes_;
  RuleError error_;
};

}  // namespace

FitPredicate NoVolumeNodeConflict(const PluginFactoryArgs& args) {
  return [on = args.gates.persistent_local_volumes](const PodContext& ctx) -> std::unique_ptr<FitCheck> {
    if (!on) return std::make_unique<AlwaysFits>();
    return std::make_unique<VolumeNodeCheck>(ctx);
  };
}

}  // namespace berth::scheduler::volumes
