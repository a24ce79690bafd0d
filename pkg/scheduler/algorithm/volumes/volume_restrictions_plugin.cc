// The plugin VolumeRestrictions of release 1.29. Source:
// pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go.
#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <optional>
#include <set>

#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/volumes/missing_object.h"
#include "pkg/scheduler/algorithm/volumes/rbd_monitors.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"
#include "pkg/scheduler/volumebinder/csi_translation.h"

namespace berth::scheduler::volumes {

using Kind = api::Volume::Kind;

bool DisksConflict(const api::Volume& a, const api::Volume& b) {
  if (a.kind != b.kind || a.id != b.id) return false;
  if (a.kind == Kind::kAwsEbs) return true;
  if (a.read_only && b.read_only) return false;
  if (a.kind != Kind::kRbd) return true;
  return a.pool == b.pool && ShareMonitor(a, b);
}

namespace {

constexpr std::string_view kClaimInUse =
    "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode";

bool IsInlineDisk(const api::Volume& v) {
  return v.kind == Kind::kGcePd || v.kind == Kind::kAwsEbs || v.kind == Kind::kRbd || v.kind == Kind::kIscsi;
}

// A node fits if no pod on it uses an inline disk of the pod and no pod on any node uses a ReadWriteOncePod claim of
// the pod. A claim in use thus fails every node, not only that of its user. The reason is resolvable, so preemption may
// evict the user.
class RestrictionsCheck final : public FitCheck {
 public:
  RestrictionsCheck(const PodContext& ctx, const FailureReason& claim_in_use)
      : cache_(ctx.cache), claim_in_use_(claim_in_use) {
    static const Symbol kReadWriteOncePod("ReadWriteOncePod");
    const api::PodTemplate& pod = *ctx.pod.tmpl;
    for (const api::Volume& v : pod.volumes) {
      if (IsInlineDisk(v)) disks_.push_back(&v);
      if (v.kind != Kind::kClaim) continue;
      const auto claim = cache_.listers().claims.Get(pod.ns, v.id);
      if (claim == nullptr) {
        rejection_ = PodRejection{RejectionFor(NoClaim(v.id))};
        return;
      }
      const auto& modes = claim->access_modes;
      if (std::find(modes.begin(), modes.end(), kReadWriteOncePod) != modes.end()) single_use_.insert(v.id);
    }
    if (!single_use_.empty()) CountConflicts(pod.ns);
  }

  bool FitsAlways() const override { return !rejection_ && disks_.empty() && single_use_.empty(); }
  PreFilterResult PreFilter() override {
    PreFilterResult result;
    if (rejection_) result.rejection = &*rejection_;
    result.skip = !rejection_ && disks_.empty() && conflicts_ == 0;
    return result;
  }
  Verdict Check(Row row) override {
    return SharesDisk(row) || ConflictsNow(row) > 0 ? Verdict::kFails : Verdict::kFits;
  }
  void Explain(Row row, std::vector<FailureReason>* out) override {
    out->push_back(SharesDisk(row) ? reasons::kDiskConflict : claim_in_use_);
  }
  RejectionDetail Detail(Row row) override {
    if (SharesDisk(row)) return "a pod on the node uses the same disk";
    return "claim " + *single_use_.begin() + " can be used by one pod alone (ReadWriteOncePod), and " + user_ +
           " uses it";
  }

 private:
  // Counts the claims of the pod that other pods of the namespace use on any node.
  void CountConflicts(Symbol ns) {
    std::set<std::string> used;
    cache_.listed().ForEach([&](Row row) {
      if (cache_.columns().volumes[row] == 0) return;
      for (const PlacedPod& p : cache_.row(row).pods) {
        const int64_t uses = UsesOf(*p.info->tmpl);
        if (uses == 0) continue;
        uses_[row] += uses;
        if (p.info->tmpl->ns != ns) continue;
        for (const api::Volume& v : p.info->tmpl->volumes) {
          if (v.kind != Kind::kClaim || !single_use_.contains(v.id)) continue;
          used.insert(v.id);
          user_ = p.pod->meta.Key();
        }
      }
    });
    conflicts_ = static_cast<int64_t>(used.size());
  }
  // Returns the number of conflicts after what a simulation has added to the row or removed from it. As upstream,
  // simulated changes are compared by the name of the claim alone, without the namespace (bug M-10, kept).
  int64_t ConflictsNow(Row row) const {
    if (single_use_.empty()) return 0;
    int64_t now = 0;
    for (const PlacedPod& p : cache_.row(row).pods) now += UsesOf(*p.info->tmpl);
    auto before = uses_.find(row);
    return conflicts_ + now - (before == uses_.end() ? 0 : before->second);
  }
  // Returns how many volumes of the template have the claim name of a single-use claim.
  int64_t UsesOf(const api::PodTemplate& t) const {
    return std::count_if(t.volumes.begin(), t.volumes.end(),
                         [&](const auto& v) { return v.kind == Kind::kClaim && single_use_.contains(v.id); });
  }
  bool SharesDisk(Row row) const {
    if (disks_.empty() || cache_.columns().volumes[row] == 0) return false;
    const auto& pods = cache_.row(row).pods;
    return std::any_of(pods.begin(), pods.end(), [&](const PlacedPod& p) {
      const auto& theirs = p.info->tmpl->volumes;
      return std::any_of(theirs.begin(), theirs.end(), [&](const api::Volume& v) {
        return std::any_of(disks_.begin(), disks_.end(),
                           [&](const api::Volume* mine) { return DisksConflict(*mine, v); });
      });
    });
  }

  const Cache& cache_;
  const FailureReason claim_in_use_;
  std::vector<const api::Volume*> disks_;   // the pod's inline disks
  std::set<std::string> single_use_;        // the pod's claims with access mode ReadWriteOncePod
  std::string user_;                        // a pod that uses one of them, as namespace/name
  int64_t conflicts_ = 0;                   // how many of them were in use when the rule was prepared
  absl::flat_hash_map<Row, int64_t> uses_;  // UsesOf all pods on the row at that time
  std::optional<PodRejection> rejection_;
};

}  // namespace

FitPredicate VolumeRestrictions(const PluginFactoryArgs& args) {
  return VolumeRestrictionsSaying(args, kClaimInUse);
}

FitPredicate VolumeRestrictionsSaying(const PluginFactoryArgs&, std::string_view claim_in_use) {
  return [reason = FailureReason{Symbol(claim_in_use), false}](const PodContext& ctx) {
    return std::make_unique<RestrictionsCheck>(ctx, reason);
  };
}

}  // namespace berth::scheduler::volumes
