#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <charconv>
#include <cstdlib>
#include <string>

#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"

namespace berth::scheduler::volumes {
namespace {

// What the three rules differ in.
struct DiskKind {
  api::Volume::Kind inline_kind;
  api::PersistentVolume::Source source;
  size_t default_max;
};

DiskKind KindOf(CloudDisk disk) {
  switch (disk) {
    case CloudDisk::kEbs:
      return {api::Volume::Kind::kAwsEbs, api::PersistentVolume::Source::kAwsEbs, 39};
    case CloudDisk::kGcePd:
      return {api::Volume::Kind::kGcePd, api::PersistentVolume::Source::kGcePd, 16};
    case CloudDisk::kAzure:
      break;
  }
  return {api::Volume::Kind::kAzureDisk, api::PersistentVolume::Source::kAzureDisk, 16};
}

// Returns the limit. As upstream, it reads the environment when the predicate is built, not for each pod.
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

// MaxEBSVolumeCount and its relatives: a node fits if the distinct volumes of the kind, those of its pods together with
// those of the pod, are not more than the limit. Source: MaxPDVolumeCountChecker in
// pkg/scheduler/algorithm/predicates/predicates.go (1.10).
class VolumeCountCheck final : public FitCheck {
 public:
  bool MayError() const override { return !error_.empty(); }
  bool FitsAlways() const override { return error_.empty() && wanted_.empty(); }
  VolumeCountCheck(const PodContext& ctx, const DiskKind& kind, size_t max)
      : cache_(ctx.cache), kind_(kind), max_(max) {
    error_ = Collect(*ctx.pod.tmpl, &wanted_);
  }

  Verdict Check(Row row) override {
    if (!error_.empty()) return Verdict::kError;
    if (wanted_.empty() || HasRoomForAny(row)) return Verdict::kFits;
    Ids all;
    // A claim without a name in another pod does not fail this pod (bug B-17, fixed).
    for (const PlacedPod& p : cache_.row(row).pods) Collect(*p.pod->tmpl, &all);
    for (const std::string& id : wanted_) all.insert(id);
    return all.size() <= max_ ? Verdict::kFits : Verdict::kFails;
  }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kMaxVolumeCountExceeded); }
  std::string Error(Row) override { return error_; }
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (FitsAlways()) return;
    if (!error_.empty()) return FitCheck::Filter(candidates, errors);
    candidates->ForEach([&](Row row) {
      if (!HasRoomForAny(row) && Check(row) != Verdict::kFits) candidates->Erase(row);
    });
  }

 private:
  // Returns whether the row fits even if all volumes, those on it and those of the pod, were distinct and of this kind.
  bool HasRoomForAny(Row row) const {
    return wanted_.size() + static_cast<size_t>(cache_.columns().volumes[row]) <= max_;
  }

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
        if (volume == nullptr) {
          // No volume id begins with this character.
          ids->insert(absl::StrCat("\x01", t.ns.string(), "/", v.id));
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
  Ids wanted_;
  std::string error_;
};

}  // namespace

FitPredicate MaxPdVolumeCount(CloudDisk disk, const PluginFactoryArgs&) {
  DiskKind kind = KindOf(disk);
  size_t max = MaxVolumes(kind.default_max);
  return [kind, max](const PodContext& ctx) { return std::make_unique<VolumeCountCheck>(ctx, kind, max); };
}

}  // namespace berth::scheduler::volumes
