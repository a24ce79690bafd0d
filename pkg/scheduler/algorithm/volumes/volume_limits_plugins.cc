// The plugins of releases 1.19 and 1.29 that limit the number of volumes on a node: NodeVolumeLimits for CSI drivers,
// and EBSLimits, GCEPDLimits, AzureDiskLimits and CinderLimits for in-tree volumes. Source: csi.go and non_csi.go in
// pkg/scheduler/framework/plugins/nodevolumelimits.
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <set>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/volumes/attached_volumes.h"
#include "pkg/scheduler/algorithm/volumes/missing_object.h"
#include "pkg/scheduler/algorithm/volumes/unsure_volumes.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"
#include "pkg/scheduler/volumebinder/csi_node_rows.h"
#include "pkg/scheduler/volumebinder/csi_translation.h"
#include "pkg/util/status.h"
#include "pkg/util/wide_vectors.h"

namespace berth::scheduler::volumes {
namespace {

using Kind = api::Volume::Kind;
using Source = api::PersistentVolume::Source;

// NodeVolumeLimits: for each CSI driver, the volumes attached to the node together with those of the pod must not
// exceed the limit. What the pod needs depends on the node only in that CSI drivers replace in-tree plugins on nodes
// with a CSINode, so it is computed for both cases.
class CsiLimitsCheck final : public FitCheck {
 public:
  CsiLimitsCheck(const PodContext& ctx, std::shared_ptr<AttachedVolumes> attached, CsiLimitRules rules)
      : cache_(ctx.cache), attached_(std::move(attached)) {
    if (ctx.pod.tmpl->volumes.empty()) return;
    if (rules.missing_claim_rejects) missing_claim_ = FindMissingClaim(ctx.pod);
    for (const bool migrated : {false, true}) {
      if (migrated && !attached_->rules().drivers_replace_in_tree) break;
      Wanted& w = wanted_[migrated];
      AddCsiVolumes(cache_, ctx.pod, InTreeOf(migrated, attached_->rules()), VolumeOwner::kIncoming, &w.volumes,
                    &w.error);
      for (const auto& [unique, key] : w.volumes) ++w.counts[key];
      if (rules.drivers_may_have_to_be_there) FindNeededDrivers(&w);
      silent_ = silent_ && w.error.empty() && w.volumes.empty();
    }
    if (!silent_) attached_->Refresh();
  }

  bool FitsAlways() const override { return silent_; }
  bool MayError() const override {
    return !missing_claim_ &&
           (!wanted_[0].error.empty() || !wanted_[1].error.empty() || (!silent_ && !attached_->mistaken().empty()));
  }
  Verdict Check(Row row) override {
    if (missing_claim_ || MissingDriver(row) != nullptr) return Verdict::kFails;
    RuleError error;
    const bool fits = Fits(row, &error);
    return !error.empty() ? Verdict::kError : fits ? Verdict::kFits : Verdict::kFails;
  }
  void Explain(Row row, std::vector<FailureReason>* out) override {
    if (missing_claim_) return out->push_back(RejectionFor(wanted_[0].error));
    const std::string* driver = MissingDriver(row);
    if (driver == nullptr) return out->push_back(reasons::kMaxVolumeCountExceeded);
    out->push_back(
        {Symbol::InternBriefly(*driver + " CSI driver is not installed on the node"), false, reasons::kNoDriver});
  }
  RejectionDetail Detail(Row row) override {
    if (missing_claim_ || MissingDriver(row) != nullptr) return {};
    const Wanted& wanted = wanted_[attached_->HasCsiNode(row)];
    AttachedToNode attached = attached_->AttachedTo(row);
    const std::map<std::string, int64_t> limits = LimitsOf(cache_, row, attached_->rules());
    for (const auto& [key, count] : wanted.counts) {
      auto limit = limits.find(key);
      const int64_t have = attached.counts[key];
      if (limit == limits.end() || have + count <= limit->second) continue;
      auto volume = std::find_if(wanted.volumes.begin(), wanted.volumes.end(),
                                 [&key = key](const auto& v) { return v.second == key; });
      const std::string driver = volume->first.substr(0, volume->first.find('/'));
      if (have >= limit->second) {
        return absl::StrCat("attach limit of csi driver ", driver, " reached: ", have, " of ", limit->second);
      }
      return absl::StrCat("attach limit of csi driver ", driver, ": ", have, " of ", limit->second,
                          " in use, and the pod brings ", count, " more");
    }
    return {};
  }
  RuleError Error(Row row) override {
    RuleError error;
    Fits(row, &error);
    return error;
  }
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (silent_) return;
    if (missing_claim_) return candidates->Clear();
    if (MayError() || needs_drivers_) return FitCheck::Filter(candidates, errors);
    // The columns decide most rows: a row fits if it does even when none of the wanted volumes is attached to it
    // already.
    struct Limited {
      const AttachedVolumes::Column* column;
      int64_t count;
    };
    std::array<std::vector<Limited>, 2> limited;
    for (const bool migrated : {false, true}) {
      for (const auto& [key, count] : wanted_[migrated].counts) {
        if (const auto* column = attached_->Find(key)) limited[migrated].push_back({column, count});
      }
    }
    if (limited[0].empty() && limited[1].empty()) return;
    // Few rows are over a limit, and only these are looked at one by one.
    RowSet over;
    over.Resize(cache_.row_count());
    for (const std::vector<Limited>& list : limited) {
      for (const Limited& l : list) {
        util::RunLoops([attached = l.column->attached.data(), limit = l.column->limit.data(), count = l.count,
                        rows = l.column->attached.size(), words = over.words().data()]() BERTH_LOOPS {
          for (size_t begin = 0; begin < rows; begin += 64) {
            const size_t size = std::min<size_t>(64, rows - begin);
            int64_t any = 0;
            for (size_t i = 0; i < size; ++i) any |= attached[begin + i] + count > limit[begin + i] ? 1 : 0;
            if (any == 0) continue;
            for (size_t i = 0; i < size; ++i) {
              words[begin / 64] |= static_cast<uint64_t>(attached[begin + i] + count > limit[begin + i]) << i;
            }
          }
        });
      }
    }
    over.IntersectWith(*candidates);
    over.ForEach([&](Row row) {
      for (const Limited& l : limited[attached_->HasCsiNode(row)]) {
        if (l.column->attached[row] + l.count <= l.column->limit[row]) continue;
        if (Check(row) != Verdict::kFits) candidates->Erase(row);
        return;
      }
    });
  }

 private:
  struct Wanted {
    CsiVolumes volumes;
    std::map<std::string, int64_t> counts;  // by name of the limit
    std::vector<std::string> drivers;       // those that must be on the node, sorted
    RuleError error;
  };

  // Returns whether the first claim that cannot be used does not exist.
  bool FindMissingClaim(const api::Pod& pod) const {
    for (const api::Volume& v : pod.tmpl->volumes) {
      const auto name = ClaimNameOf(pod, v);
      if (!name) continue;
      if (name->empty()) return false;
      const auto claim = cache_.listers().claims.Get(pod.tmpl->ns, *name);
      if (claim == nullptr) return true;
      if (!OwnershipError(pod, v, *claim).empty()) return false;
    }
    return false;
  }
  void FindNeededDrivers(Wanted* w) {
    for (const auto& [unique, key] : w->volumes) {
      std::string name = unique.substr(0, unique.find('/'));
      const auto driver = cache_.listers().csi_drivers.Get(Symbol(), name);
      if (driver == nullptr || !driver->must_be_on_node) continue;
      if (w->drivers.empty() || w->drivers.back() != name) w->drivers.push_back(std::move(name));
      needs_drivers_ = true;
    }
  }
  // Returns the first driver that must be on the node and is not, or null.
  const std::string* MissingDriver(Row row) const {
    if (!needs_drivers_) return nullptr;
    const auto csi_node = cache_.listers().csi_nodes.Get(Symbol(), cache_.row(row).name.string());
    for (const std::string& name : wanted_[csi_node != nullptr].drivers) {
      const auto is_it = [&](const api::CsiNode::Driver& d) { return d.name.str() == name; };
      if (csi_node == nullptr || std::none_of(csi_node->drivers.begin(), csi_node->drivers.end(), is_it)) return &name;
    }
    return nullptr;
  }

  // Computes the answer from the pods that are on the row now, so that simulated changes count.
  bool Fits(Row row, RuleError* error) const {
    const Wanted& wanted = wanted_[attached_->IsMigrated(row)];
    *error = wanted.error;
    if (!error->empty()) return false;
    if (wanted.volumes.empty()) return true;
    const std::map<std::string, int64_t> limits = LimitsOf(cache_, row, attached_->rules());
    if (limits.empty()) return true;
    AttachedToNode attached = attached_->AttachedTo(row);
    *error = attached.error;
    if (!error->empty()) return false;
    std::map<std::string, int64_t> more;
    for (const auto& [unique, key] : wanted.volumes) more[key] += attached.by_pods.contains(unique) ? 0 : 1;
    return std::all_of(more.begin(), more.end(), [&](const auto& m) {
      auto limit = limits.find(m.first);
      return m.second == 0 || limit == limits.end() || attached.counts[m.first] + m.second <= limit->second;
    });
  }

  const Cache& cache_;
  std::shared_ptr<AttachedVolumes> attached_;
  std::array<Wanted, 2> wanted_;  // index 1: for nodes where CSI drivers replace in-tree plugins
  bool silent_ = true;            // the pod has no volumes that count and no errors
  bool missing_claim_ = false;    // every node is rejected, because a claim does not exist
  bool needs_drivers_ = false;    // a driver must be on the node
};

// Returns KUBE_MAX_PD_VOLS, or 0 if it is not a positive number.
int64_t LimitFromEnvironment() {
  const char* text = std::getenv("KUBE_MAX_PD_VOLS");
  int64_t limit = 0;
  return text != nullptr && absl::SimpleAtoi(text, &limit) && limit > 0 ? limit : 0;
}

// EBSLimits and its relatives: the distinct in-tree volumes of the kind, those of the node together with those of the
// pod, must not exceed the limit. They only count on nodes without a CSINode.
class InTreeLimitsCheck final : public ColumnCheck {
 public:
  InTreeLimitsCheck(const PodContext& ctx, const InTreeLimit& limit, int64_t from_environment, const VolumeRules& rules,
                    std::shared_ptr<CsiNodeRows> csi_node_rows, std::shared_ptr<const UnsureVolumes> unsure)
      : cache_(ctx.cache),
        limit_(limit),
        from_environment_(from_environment),
        rules_(rules),
        csi_node_rows_(std::move(csi_node_rows)),
        unsure_(std::move(unsure)) {
    Collect(ctx.pod, VolumeOwner::kIncoming, &wanted_, &error_);
    if (!FitsAlways()) FindMistakes();
  }

  bool FitsAlways() const override { return error_.empty() && wanted_.empty(); }
  bool MayError() const override { return !error_.empty() || some_row_errs_; }
  Verdict Check(Row row) override {
    RuleError error;
    const bool fits = Fits(row, &error);
    return !error.empty() ? Verdict::kError : fits ? Verdict::kFits : Verdict::kFails;
  }
  int ReasonBits() const override { return 1; }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kMaxVolumeCountExceeded); }
  RejectionDetail Detail(Row row) override {
    std::set<std::string> attached;
    RuleError error;
    for (const PlacedPod& p : cache_.row(row).pods) Collect(*p.pod, VolumeOwner::kExisting, &attached, &error);
    return absl::StrCat("limit of ", util::ToAbsl(limit_.provisioner), " volumes: ", attached.size(), " of ",
                        LimitOf(row), " in use, and the pod brings ", wanted_.size());
  }
  RuleError Error(Row row) override {
    RuleError error;
    Fits(row, &error);
    return error;
  }
  // Looks only at the rows where the volumes count, and there only at those that would have too many if all volumes on
  // them were of this kind.
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (FitsAlways()) return;
    if (MayError()) return FitCheck::Filter(candidates, errors);
    RowSet counting = *candidates;
    if (rules_.drivers_replace_in_tree) counting.Subtract(csi_node_rows_->All());
    const std::vector<int32_t>& volumes = cache_.columns().volumes;
    counting.ForEach([&](Row row) {
      const int64_t most = static_cast<int64_t>(wanted_.size()) + volumes[row];
      const bool has_room = most <= least_limit_ && !cache_.row(row).allocatable.HasScalar(limit_key_);
      if (!has_room && Check(row) != Verdict::kFits) candidates->Erase(row);
    });
  }

 private:
  // Finds out whether there are rows where Check reports an error because of the pods that are there.
  void FindMistakes() {
    some_row_errs_ = std::any_of(unsure_->rows().begin(), unsure_->rows().end(), [&](const auto& row_and_pods) {
      RuleError error;
      return cache_.listed().Has(row_and_pods.first) && !Fits(row_and_pods.first, &error) && !error.empty();
    });
  }
  // Volumes that the pod shares with pods on the node count once.
  bool Fits(Row row, RuleError* error) const {
    *error = error_;
    if (!error_.empty()) return false;
    if (wanted_.empty()) return true;
    // On a node with a CSINode, NodeVolumeLimits counts these volumes.
    if (rules_.drivers_replace_in_tree &&
        cache_.listers().csi_nodes.Get(Symbol(), cache_.row(row).name.string()) != nullptr) {
      return true;
    }
    std::optional<std::set<std::string>> attached;  // most nodes have no such volumes
    for (const PlacedPod& p : cache_.row(row).pods) {
      if (p.info->tmpl->volumes.empty()) continue;
      if (!attached) attached = wanted_;
      if (!Collect(*p.pod, VolumeOwner::kExisting, &*attached, error)) return false;
    }
    return static_cast<int64_t>((attached ? *attached : wanted_).size()) <= LimitOf(row);
  }

  // Returns the limit of the node: its allocatable amount of that name, else KUBE_MAX_PD_VOLS, else the default. The
  // default for EBS is lower on some AWS instance types, which upstream recognises by these parts of their names.
  int64_t LimitOf(Row row) const {
    const ScalarResources& allocatable = cache_.row(row).allocatable;
    if (allocatable.HasScalar(limit_key_)) return allocatable.Scalar(limit_key_);
    if (from_environment_ > 0) return from_environment_;
    if (limit_.kind != Kind::kAwsEbs) return limit_.limit;
    static const Symbol kType("node.kubernetes.io/instance-type"), kBetaType("beta.kubernetes.io/instance-type");
    const api::Labels& labels = cache_.row(row).node->labels;
    auto type = labels.Get(kType);
    if (!type) type = labels.Get(kBetaType);
    const std::string_view t = type ? type->str() : std::string_view();
    const bool nitro = t.starts_with("c5") || t.starts_with("m5") || t.starts_with("r5") ||
                       t.find("t3") != std::string_view::npos || t.find("z1d") != std::string_view::npos;
    return nitro ? kNitroLimit : limit_.limit;
  }

  // Adds the ids of the pod's volumes of this kind. Returns false and sets `error` if the scheduling cycle must end.
  bool Collect(const api::Pod& pod, VolumeOwner owner, std::set<std::string>* out, RuleError* error) const {
    for (const api::Volume& v : pod.tmpl->volumes) {
      if (v.kind == limit_.kind) {
        out->insert(v.id);
        continue;
      }
      if (!ClaimNameOf(pod, v)) continue;
      const auto claim = ClaimOfVolume(cache_, pod, v, owner, error);
      if (!error->empty()) return false;
      if (claim == nullptr) continue;
      const auto volume =
          claim->volume_name.empty() ? nullptr : cache_.listers().volumes.Get(Symbol(), claim->volume_name);
      if (volume != nullptr) {
        if (volume->source == limit_.source) out->insert(volume->source_id);
      } else if (IsProvisionedHere(*claim)) {
        out->insert("unbound-" + claim->meta.Key());
      }
    }
    return true;
  }
  // Returns whether the in-tree plugin would provision the claim. As upstream, it ignores the beta annotation for the
  // class.
  bool IsProvisionedHere(const api::PersistentVolumeClaim& claim) const {
    if (!claim.storage_class_name) return false;
    const auto storage_class = cache_.listers().storage_classes.Get(Symbol(), *claim.storage_class_name);
    return storage_class != nullptr && storage_class->provisioner == limit_.provisioner;
  }

  const Cache& cache_;
  const InTreeLimit& limit_;
  const Symbol limit_key_{limit_.limit_key};
  static constexpr int64_t kNitroLimit = 25;
  int64_t from_environment_;
  // The lowest limit of nodes that state none.
  const int64_t least_limit_ = from_environment_ > 0          ? from_environment_
                               : limit_.kind == Kind::kAwsEbs ? kNitroLimit
                                                              : limit_.limit;
  VolumeRules rules_;
  std::shared_ptr<CsiNodeRows> csi_node_rows_;
  std::shared_ptr<const UnsureVolumes> unsure_;  // null only if the pod has no volumes of this kind
  std::set<std::string> wanted_;
  RuleError error_;
  bool some_row_errs_ = false;
};

struct NamedLimit {
  std::string_view plugin;
  InTreeLimit limit;
};
constexpr std::array<NamedLimit, 4> kInTreeLimits = {{
    {"EBSLimits", {"kubernetes.io/aws-ebs", "attachable-volumes-aws-ebs", Kind::kAwsEbs, Source::kAwsEbs, 39}},
    {"GCEPDLimits", {"kubernetes.io/gce-pd", "attachable-volumes-gce-pd", Kind::kGcePd, Source::kGcePd, 16}},
    {"AzureDiskLimits",
     {"kubernetes.io/azure-disk", "attachable-volumes-azure-disk", Kind::kAzureDisk, Source::kAzureDisk, 16}},
    {"CinderLimits", {"kubernetes.io/cinder", "attachable-volumes-cinder", Kind::kCinder, Source::kCinder, 256}},
}};

}  // namespace

const InTreeLimit* FindInTreeLimit(std::string_view plugin) {
  for (const NamedLimit& l : kInTreeLimits) {
    if (l.plugin == plugin) return &l.limit;
  }
  return nullptr;
}

FitPredicate InTreeVolumeLimits(const PluginFactoryArgs& args, const InTreeLimit& limit, const VolumeRules& rules) {
  auto csi_node_rows = std::make_shared<CsiNodeRows>(args.cache);
  auto unsure = std::make_shared<std::shared_ptr<UnsureVolumes>>();  // kept from the first pod with volumes on
  return [&limit, environment = LimitFromEnvironment(), rules, csi_node_rows, unsure,
          cache = args.cache](const PodContext& ctx) {
    if (*unsure == nullptr && !ctx.pod.tmpl->volumes.empty()) {
      *unsure = std::make_shared<UnsureVolumes>();
      cache->Tell(*unsure);
    }
    return std::make_unique<InTreeLimitsCheck>(ctx, limit, environment, rules, csi_node_rows, *unsure);
  };
}

FitPredicate CsiVolumeLimits(const PluginFactoryArgs& args) {
  return CsiVolumeLimitsBy(args, {});
}

FitPredicate CsiVolumeLimitsBy(const PluginFactoryArgs& args, const VolumeRules& rules, CsiLimitRules limits) {
  auto attached = std::make_shared<AttachedVolumes>(args.cache, rules);
  return [attached, limits](const PodContext& ctx) { return std::make_unique<CsiLimitsCheck>(ctx, attached, limits); };
}

}  // namespace berth::scheduler::volumes
