#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/volumes/disk_room.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"
#include "pkg/util/wide_vectors.h"

namespace berth::scheduler::volumes {
namespace {

// What the three rules differ in.
struct DiskKind {
  api::Volume::Kind inline_kind;
  api::PersistentVolume::Source source;
  size_t default_max;
  Symbol limit_key;  // the name of the limit among allocatable amounts
  std::string_view predicate;
};

DiskKind KindOf(CloudDisk disk) {
  switch (disk) {
    case CloudDisk::kEbs:
      return {api::Volume::Kind::kAwsEbs, api::PersistentVolume::Source::kAwsEbs, 39,
              Symbol("attachable-volumes-aws-ebs"), "MaxEBSVolumeCount"};
    case CloudDisk::kGcePd:
      return {api::Volume::Kind::kGcePd, api::PersistentVolume::Source::kGcePd, 16, Symbol("attachable-volumes-gce-pd"),
              "MaxGCEPDVolumeCount"};
    case CloudDisk::kAzure:
      break;
  }
  return {api::Volume::Kind::kAzureDisk, api::PersistentVolume::Source::kAzureDisk, 16,
          Symbol("attachable-volumes-azure-disk"), "MaxAzureDiskVolumeCount"};
}

// Returns KUBE_MAX_PD_VOLS, or the default if it is not set or wrong.
size_t MaxVolumes(size_t default_max) {
  const char* text = std::getenv("KUBE_MAX_PD_VOLS");
  if (text == nullptr || *text == 0) return default_max;
  std::string_view s(text);
  int64_t n = 0;
  auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), n);
  if (error != std::errc() || end != s.data() + s.size() || n <= 0) {
    LOG(ERROR) << "KUBE_MAX_PD_VOLS=\"" << s << "\" is not a number above 0; using the default of " << default_max;
    return default_max;
  }
  return static_cast<size_t>(n);
}

using Ids = absl::flat_hash_set<std::string>;

// Returns the limit of a row. `max` is that of the environment or the default of the kind.
using LimitOf = size_t (*)(const Cache& cache, Row row, const DiskKind& kind, size_t max);

size_t SameForAll(const Cache&, Row, const DiskKind&, size_t max) {
  return max;
}

// The limit from 1.11 on, without that of allocatable: the environment, else a default that is lower for EBS on some
// instance types, which upstream recognises by the regular expression ^[cmr]5.*|t3|z1d, of which only the first
// alternative is anchored.
size_t ByInstanceType(const Cache& cache, Row row, const DiskKind& kind, size_t) {
  const size_t max = MaxVolumes(0);
  if (max > 0 || kind.source != api::PersistentVolume::Source::kAwsEbs) return max > 0 ? max : kind.default_max;
  static const Symbol kInstanceType("beta.kubernetes.io/instance-type");
  const auto label = cache.row(row).node->labels.Get(kInstanceType);
  const std::string_view type = label ? label->str() : std::string_view();
  const bool fifth = type.size() >= 2 && type[1] == '5' && (type[0] == 'c' || type[0] == 'm' || type[0] == 'r');
  const bool nitro = fifth || type.find("t3") != std::string_view::npos || type.find("z1d") != std::string_view::npos;
  constexpr size_t kNitroMax = 25;
  return nitro ? kNitroMax : kind.default_max;
}

// The same with the gate AttachVolumeLimit: the allocatable amount comes first, even if it is 0.
size_t ByAllocatable(const Cache& cache, Row row, const DiskKind& kind, size_t max) {
  const ScalarResources& allocatable = cache.row(row).allocatable;
  if (!allocatable.HasScalar(kind.limit_key)) return ByInstanceType(cache, row, kind, max);
  return static_cast<size_t>(std::max<int64_t>(allocatable.Scalar(kind.limit_key), 0));
}

// The limits of all rows where they depend on the node, kept between pods.
class DiskLimits {
 public:
  // REQUIRES: the cache outlives this object.
  DiskLimits(const Cache* cache, const DiskKind& kind, LimitOf limit_of)
      : cache_(cache), kind_(kind), limit_of_(limit_of) {}
  // Brings the limits up to date with the nodes and the environment.
  void Refresh() {
    std::vector<Row> changed;
    const size_t environment = MaxVolumes(0);
    const bool known = known_ && environment == environment_ &&
                       cache_->NodeChangesSince(seen_, [&](Row row) { changed.push_back(row); });
    seen_ = cache_->generation();
    if (known && changed.empty()) return;
    known_ = true;
    environment_ = environment;
    limits_.resize(cache_->row_count(), kNone);
    const auto note = [&](Row row) {
      limits_[row] = cache_->listed().Has(row) ? limit_of_(*cache_, row, kind_, 0) : kNone;
    };
    if (known) {
      std::for_each(changed.begin(), changed.end(), note);
    } else {
      for (Row row = 0; row < cache_->row_count(); ++row) note(row);
    }
    least_ = limits_.empty() ? kNone : *std::min_element(limits_.begin(), limits_.end());
  }
  size_t operator[](Row row) const { return limits_[row]; }
  size_t least() const { return least_; }

 private:
  static constexpr size_t kNone = SIZE_MAX;  // of a row without a node
  const Cache* const cache_;
  const DiskKind kind_;
  const LimitOf limit_of_;
  bool known_ = false;
  uint64_t seen_ = 0;  // the cache's generation at the last Refresh
  size_t environment_ = 0, least_ = kNone;
  std::vector<size_t> limits_;  // by row
};

// MaxEBSVolumeCount and its relatives: a node fits if the distinct volumes of the kind, those of its pods together with
// those of the pod, are not more than the limit. Source: MaxPDVolumeCountChecker in
// pkg/scheduler/algorithm/predicates/predicates.go (1.10).
class VolumeCountCheck final : public ColumnCheck {
 public:
  bool MayError() const override { return !error_.empty(); }
  bool FitsAlways() const override { return error_.empty() && wanted_.empty(); }
  // `limits` may be null if all rows have the limit `max`.
  VolumeCountCheck(const PodContext& ctx, const DiskKind& kind, size_t max, LimitOf limit_of,
                   std::shared_ptr<DiskLimits> limits, bool ends_at_missing = false)
      : cache_(ctx.cache),
        kind_(kind),
        max_(max),
        limit_of_(limit_of),
        limits_(std::move(limits)),
        ends_at_missing_(ends_at_missing) {
    error_ = Collect(*ctx.pod.tmpl, &wanted_);
  }

  Verdict Check(Row row) override {
    if (!error_.empty()) return Verdict::kError;
    if (wanted_.empty() || HasRoomForAny(row)) return Verdict::kFits;
    Ids all;
    // A claim without a name in another pod does not fail this pod (bug B-17, fixed).
    for (const PlacedPod& p : cache_.row(row).pods) Collect(*p.pod->tmpl, &all);
    for (const std::string& id : wanted_) all.insert(id);
    return all.size() <= LimitOn(row) ? Verdict::kFits : Verdict::kFails;
  }
  // Returns the room on a row where the pod fits: how many volumes of the kind can still be attached, and how many the
  // pod would add.
  DiskRoom RoomOn(Row row) const {
    Ids there;
    for (const PlacedPod& p : cache_.row(row).pods) Collect(*p.pod->tmpl, &there);
    int64_t added = 0;
    for (const std::string& id : wanted_) added += there.contains(id) ? 0 : 1;
    return {static_cast<int64_t>(LimitOn(row)) - static_cast<int64_t>(there.size()), added};
  }
  int ReasonBits() const override { return 1; }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kMaxVolumeCountExceeded); }
  RuleError Error(Row) override { return error_; }
  bool ErrsAlike() const override { return true; }
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (FitsAlways()) return;
    if (!error_.empty()) return ErrOnAll(candidates, errors);
    if (limits_ != nullptr) limits_->Refresh();
    // Mostly there is room on every row, which is seen without a look at each candidate.
    const std::vector<int32_t>& volumes = cache_.columns().volumes;
    int32_t most = 0;
    util::RunLoops([&most, of = volumes.data(), size = volumes.size()]() BERTH_LOOPS {
      int32_t found = 0;
      for (size_t i = 0; i < size; ++i) found = of[i] > found ? of[i] : found;
      most = found;
    });
    if (wanted_.size() + static_cast<size_t>(most) <= (limits_ != nullptr ? limits_->least() : max_)) return;
    candidates->ForEach([&](Row row) {
      const size_t limit = limits_ != nullptr ? (*limits_)[row] : max_;
      if (wanted_.size() + static_cast<size_t>(volumes[row]) > limit && Check(row) != Verdict::kFits) {
        candidates->Erase(row);
      }
    });
  }

 private:
  // Returns whether the row fits even if all volumes, those on it and those of the pod, were distinct and of this kind.
  bool HasRoomForAny(Row row) const {
    return wanted_.size() + static_cast<size_t>(cache_.columns().volumes[row]) <= LimitOn(row);
  }
  size_t LimitOn(Row row) const { return limit_of_(cache_, row, kind_, max_); }

  // Adds the ids of the template's volumes of this kind and returns an error text, which is empty if there is none. A
  // claim that is unbound or unknown counts under an id of its own for each of the three kinds, because its kind is not
  // known (bug B-12, kept).
  std::string Collect(const api::PodTemplate& t, Ids* ids) const {
    std::string error;
    for (const api::Volume& v : t.volumes) {
      if (v.kind == kind_.inline_kind) {
        ids->insert(v.id);
      } else if (v.kind == api::Volume::Kind::kClaim) {
        if (v.id.empty()) {
          error = "PersistentVolumeClaim had no name";
          continue;
        }
        auto claim = cache_.listers().claims.Get(t.ns, v.id);
        auto volume = claim == nullptr || claim->volume_name.empty()
                          ? nullptr
                          : cache_.listers().volumes.Get(Symbol(), claim->volume_name);
        if (ends_at_missing_ && claim != nullptr && claim->volume_name.empty()) {
          return absl::StrCat("PersistentVolumeClaim is not bound: \"", v.id, "\"");
        }
        if (volume == nullptr) {
          // No volume id begins with this character.
          ids->insert(absl::StrCat("\x01", t.ns.string(), "/", v.id));
          if (ends_at_missing_) break;
        } else if (volume->source == kind_.source) {
          ids->insert(volume->source_id);
        }
      }
    }
    return error;
  }

  const Cache& cache_;
  DiskKind kind_;
  size_t max_;
  LimitOf limit_of_;
  std::shared_ptr<DiskLimits> limits_;  // for Filter
  bool ends_at_missing_;                // 1.8
  Ids wanted_;
  std::string error_;
};

}  // namespace

FitPredicate MaxPdVolumeCount(CloudDisk disk, const PluginFactoryArgs&) {
  DiskKind kind = KindOf(disk);
  // As upstream, the environment is read when the predicate is built, not for each pod.
  size_t max = MaxVolumes(kind.default_max);
  return [kind, max](const PodContext& ctx) {
    return std::make_unique<VolumeCountCheck>(ctx, kind, max, SameForAll, nullptr);
  };
}

FitPredicate MaxPdVolumeCountUntilMissing(CloudDisk disk, const PluginFactoryArgs&) {
  DiskKind kind = KindOf(disk);
  size_t max = MaxVolumes(kind.default_max);
  return [kind, max](const PodContext& ctx) {
    return std::make_unique<VolumeCountCheck>(ctx, kind, max, SameForAll, nullptr, true);
  };
}

namespace {

LimitOf LimitByNode(const AlgorithmGates& gates) {
  return gates.attach_volume_limit ? ByAllocatable : ByInstanceType;
}

}  // namespace

FitPredicate MaxPdVolumeCountOfNode(CloudDisk disk, const PluginFactoryArgs& args) {
  const DiskKind kind = KindOf(disk);
  const LimitOf limit_of = LimitByNode(args.gates);
  return [kind, limit_of, limits = std::make_shared<DiskLimits>(args.cache, kind, limit_of)](const PodContext& ctx) {
    return std::make_unique<VolumeCountCheck>(ctx, kind, 0, limit_of, limits);
  };
}

DiskRoomRule::DiskRoomRule(const PluginFactoryArgs& args) : gates_(args.gates) {
  for (const std::string& predicate : args.predicates) {
    for (CloudDisk disk : {CloudDisk::kEbs, CloudDisk::kGcePd, CloudDisk::kAzure}) {
      if (KindOf(disk).predicate == predicate) disks_.push_back(disk);
    }
  }
}

std::vector<DiskRoom> DiskRoomRule::On(const PodContext& ctx, std::span<const Row> rows) const {
  std::vector<DiskRoom> out(rows.size());
  for (auto disk = disks_.rbegin(); disk != disks_.rend(); ++disk) {
    const VolumeCountCheck check(ctx, KindOf(*disk), 0, LimitByNode(gates_), nullptr);
    if (check.FitsAlways() || check.MayError()) continue;
    for (size_t i = 0; i < rows.size(); ++i) out[i] = check.RoomOn(rows[i]);
    return out;
  }
  return out;
}

}  // namespace berth::scheduler::volumes
