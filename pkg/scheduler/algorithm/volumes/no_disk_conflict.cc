#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <string_view>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/volumes/rbd_monitors.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"

namespace berth::scheduler::volumes {
namespace {

using Kind = api::Volume::Kind;

bool Repeats(const std::vector<std::string>& names) {
  absl::flat_hash_set<std::string_view> seen;
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return !seen.insert(name).second; });
}

// Returns whether two inline volumes use the same disk in a way that excludes sharing.
bool Conflict(const api::Volume& a, const api::Volume& b, bool repetition_conflicts) {
  if (a.kind != b.kind) return false;
  bool both_read_only = a.read_only && b.read_only;
  switch (a.kind) {
    case Kind::kGcePd:
      return a.id == b.id && !both_read_only;
    case Kind::kAwsEbs:
      return a.id == b.id;  // not even if both are read-only
    case Kind::kIscsi:
      return a.id == b.id && !both_read_only;  // only the iqn is compared (bug B-08, kept)
    case Kind::kRbd:
      return a.pool == b.pool && a.id == b.id && !both_read_only &&
             ((repetition_conflicts && Repeats(b.monitors)) || ShareMonitor(a, b));
    case Kind::kAzureDisk:
    case Kind::kClaim:
    case Kind::kCinder:
    case Kind::kEphemeral:
    case Kind::kPortworx:
      return false;
  }
  return false;
}

// NoDiskConflict: a node fits if no pod there uses an inline disk of the pod in a way that excludes sharing. Source:
// NoDiskConflict and isVolumeConflict in pkg/scheduler/algorithm/predicates/predicates.go (1.10).
class DiskConflictCheck final : public ColumnCheck {
 public:
  bool FitsAlways() const override { return disks_.empty(); }
  DiskConflictCheck(const Cache& cache, const api::PodTemplate& t, bool repetition_conflicts)
      : cache_(cache), repetition_conflicts_(repetition_conflicts) {
    for (const api::Volume& v : t.volumes) {
      if (v.kind != Kind::kClaim && v.kind != Kind::kAzureDisk) disks_.push_back(&v);
    }
  }

  Verdict Check(Row row) override {
    if (disks_.empty() || cache_.columns().volumes[row] == 0) return Verdict::kFits;
    for (const PlacedPod& p : cache_.row(row).pods) {
      for (const api::Volume& theirs : p.pod->tmpl->volumes) {
        for (const api::Volume* ours : disks_) {
          if (Conflict(*ours, theirs, repetition_conflicts_)) return Verdict::kFails;
        }
      }
    }
    return Verdict::kFits;
  }
  int ReasonBits() const override { return 1; }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kDiskConflict); }
  void Filter(RowSet* candidates, RowSet*) override {
    if (FitsAlways()) return;
    candidates->ForEach([&](Row row) {
      if (cache_.columns().volumes[row] != 0 && Check(row) != Verdict::kFits) candidates->Erase(row);
    });
  }

 private:
  const Cache& cache_;
  const bool repetition_conflicts_;  // 1.8: with an RBD image there whose list names a monitor twice
  std::vector<const api::Volume*> disks_;
};

}  // namespace

FitPredicate NoDiskConflict(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<DiskConflictCheck>(ctx.cache, *ctx.pod.tmpl, false); };
}

FitPredicate NoDiskConflictOrRepetition(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<DiskConflictCheck>(ctx.cache, *ctx.pod.tmpl, true); };
}

}  // namespace berth::scheduler::volumes
