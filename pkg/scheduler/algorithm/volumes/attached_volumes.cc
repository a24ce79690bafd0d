#include "pkg/scheduler/algorithm/volumes/attached_volumes.h"

#include <absl/strings/str_cat.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>

#include "pkg/scheduler/algorithm/volumes/missing_object.h"
#include "pkg/scheduler/volumebinder/csi_translation.h"
#include "pkg/util/contract.h"
#include "pkg/util/status.h"

namespace berth::scheduler::volumes {
namespace {

// Source: pkg/scheduler/framework/plugins/nodevolumelimits/csi.go and utils.go (1.29).
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
constexpr std::string_view kPortworxPlugin = "kubernetes.io/portworx-volume", kPortworxDriver = "pxd.portworx.com";

// Returns the CSI volume that a claim stands for on a node, or nothing if the claim does not count there.
std::optional<CsiVolume> VolumeOfClaim(const Cache& cache, const api::PersistentVolumeClaim& claim, InTree in_tree) {
  const bool migrated = in_tree != InTree::kStays;
  const Listers& listers = cache.listers();
  const auto volume = claim.volume_name.empty() ? nullptr : listers.volumes.Get(Symbol(), claim.volume_name);
  if (volume != nullptr) {
    if (volume->source == api::PersistentVolume::Source::kCsi) {
      return CsiVolume{volume->csi_driver.string(), volume->source_id};
    }
    if (volume->source == api::PersistentVolume::Source::kPortworx && in_tree == InTree::kReplacedWithPortworx) {
      return CsiVolume{std::string(kPortworxDriver), volume->source_id};
    }
    std::string error;
    if (InTreePluginOf(*volume).empty() || !migrated) return std::nullopt;
    return Translate(*volume, &error);
  }
  const std::string class_name = claim.Class();
  const auto storage_class = class_name.empty() ? nullptr : listers.storage_classes.Get(Symbol(), class_name);
  if (storage_class == nullptr) return std::nullopt;
  // A claim without a volume counts as one more volume of the provisioner. No volume has this handle; upstream uses a
  // random prefix for the same purpose.
  CsiVolume out{storage_class->provisioner, "unbound-" + claim.meta.Key()};
  if (out.driver == kPortworxPlugin && in_tree == InTree::kReplacedWithPortworx) {
    out.driver = kPortworxDriver;
    return out;
  }
  if (IsUnmigratedPlugin(out.driver)) return std::nullopt;
  if (const std::string_view driver = CsiDriverOf(out.driver); !driver.empty()) {
    if (!migrated) return std::nullopt;
    out.driver = driver;
  }
  return out;
}

}  // namespace

std::shared_ptr<const api::PersistentVolumeClaim> ClaimOfVolume(const Cache& cache, const api::Pod& pod,
                                                                const api::Volume& volume, VolumeOwner owner,
                                                                RuleError* error) {
  BERTH_REQUIRES(ClaimNameOf(pod, volume).has_value());
  const std::string name = *ClaimNameOf(pod, volume);
  if (name.empty()) {
    *error = "PersistentVolumeClaim had no name";
    return nullptr;
  }
  auto claim = cache.listers().claims.Get(pod.tmpl->ns, name);
  if (claim == nullptr) {
    if (owner == VolumeOwner::kIncoming) {
      *error = NoClaim(name);
      error->text = absl::StrCat("looking up PVC ", pod.tmpl->ns.string(), "/", name, ": ", error->text);
    }
    return nullptr;
  }
  *error = OwnershipError(pod, volume, *claim);
  return error->empty() ? claim : nullptr;
}

// A volume that several pods use, or one pod several times, counts once, because `out` is keyed by its unique name.
bool AddCsiVolumes(const Cache& cache, const api::Pod& pod, InTree in_tree, VolumeOwner owner, CsiVolumes* out,
                   RuleError* error) {
  for (const api::Volume& v : pod.tmpl->volumes) {
    std::optional<CsiVolume> volume;
    if (!ClaimNameOf(pod, v)) {
      const bool portworx = v.kind == api::Volume::Kind::kPortworx && in_tree == InTree::kReplacedWithPortworx;
      if (!portworx && (InTreePluginOf(v).empty() || in_tree == InTree::kStays)) continue;
      volume = portworx ? CsiVolume{std::string(kPortworxDriver), v.id} : Translate(v, &error->text);
      if (!volume) {
        error->text = "converting volume from inline to csi: " + error->text;
        return false;
      }
    } else {
      const auto claim = ClaimOfVolume(cache, pod, v, owner, error);
      if (!error->empty()) return false;
      if (claim == nullptr) continue;
      volume = VolumeOfClaim(cache, *claim, in_tree);
    }
    if (!volume || volume->driver.empty() || volume->handle.empty()) continue;
    out->emplace(volume->driver + "/" + volume->handle, LimitKey(volume->driver));
  }
  return true;
}

bool HasLimitedCsiVolumes(const Cache& cache, const api::Pod& pod) {
  const auto& csi_nodes = cache.listers().csi_nodes;
  if (csi_nodes.empty()) return false;
  // Errors in claims are reported by the rules themselves.
  RuleError error;
  CsiVolumes volumes;
  AddCsiVolumes(cache, pod, InTree::kReplaced, VolumeOwner::kIncoming, &volumes, &error);
  if (volumes.empty()) return false;
  std::set<std::string> wanted;
  for (const auto& [unique, limit] : volumes) wanted.insert(limit);
  bool limited = false;
  csi_nodes.ForEach([&](const auto& csi_node) {
    for (const auto& driver : csi_node->drivers) {
      limited = limited || (driver.limit && wanted.contains(LimitKey(driver.name.str())));
    }
  });
  return limited;
}

std::string LimitKey(std::string_view driver) {
  constexpr std::string_view kPrefix = "attachable-volumes-csi-";
  // Names of resources have at most 63 characters; as upstream, a name of exactly 63 is shortened, too. The shortened
  // name consists of 23 bytes of the driver name and the first 16 hexadecimal digits of its SHA-1.
  if (kPrefix.size() + driver.size() < 63) return absl::StrCat(util::ToAbsl(kPrefix), util::ToAbsl(driver));
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest;
  SHA1(reinterpret_cast<const unsigned char*>(driver.data()), driver.size(), digest.data());
  std::string out = absl::StrCat(util::ToAbsl(kPrefix), util::ToAbsl(driver.substr(0, 23)));
  for (size_t i = 0; i < 8; ++i) absl::StrAppend(&out, absl::Hex(digest[i], absl::kZeroPad2));
  return out;
}

std::map<std::string, int64_t> LimitsOf(const Cache& cache, Row row, const VolumeRules& rules) {
  std::map<std::string, int64_t> limits;
  if (rules.reads_allocatable_limits) {
    for (const auto& [name, amount] : cache.row(row).allocatable.scalars) {
      if (name.str().starts_with("attachable-volumes-")) limits[name.string()] = amount;
    }
  }
  const auto csi_node = cache.listers().csi_nodes.Get(Symbol(), cache.row(row).name.string());
  if (csi_node == nullptr) return limits;
  for (const auto& driver : csi_node->drivers) {
    if (driver.limit) limits[LimitKey(driver.name.str())] = *driver.limit;
  }
  return limits;
}

// In 1.29, CSI drivers replace all migratable in-tree plugins on a node that has a CSINode object.
bool AttachedVolumes::IsMigrated(Row row) const {
  return rules_.drivers_replace_in_tree &&
         cache_->listers().csi_nodes.Get(Symbol(), cache_->row(row).name.string()) != nullptr;
}

AttachedToNode AttachedVolumes::AttachedTo(Row row) const {
  const Cache& cache = *cache_;
  AttachedToNode out;
  const InTree in_tree = InTreeOf(IsMigrated(row), rules_);
  for (const PlacedPod& p : cache.row(row).pods) {
    if (p.info->tmpl->volumes.empty()) continue;
    if (!AddCsiVolumes(cache, *p.pod, in_tree, VolumeOwner::kExisting, &out.by_pods, &out.error)) return out;
  }
  // VolumeAttachments also count volumes that are still attached although no pod on the node uses them any more.
  for (const auto& [unique, key] : out.by_pods) ++out.counts[key];
  if (!rules_.counts_attachments) return out;
  CsiVolumes more;
  for (const std::string& name : AttachmentsOf(cache.row(row).name)) {
    const auto a = cache.listers().attachments.Get(Symbol(), name);
    if (a == nullptr || a->attacher.empty()) continue;
    const auto volume = cache.listers().volumes.Get(Symbol(), a->volume_name);
    if (volume == nullptr || volume->source != api::PersistentVolume::Source::kCsi) continue;
    if (rules_.attacher_is_driver && volume->csi_driver != a->attacher) {
      continue;
    }
    const std::string unique = absl::StrCat(volume->csi_driver.string(), "/", volume->source_id);
    if (out.by_pods.contains(unique)) continue;
    const std::string key = LimitKey(volume->csi_driver.str());
    if (more.emplace(unique, key).second) ++out.counts[key];
  }
  return out;
}

// ---- columns ------------------------------------------------------------------------------------

// Columns are allocated separately, because counted_ has pointers to them.
AttachedVolumes::Column& AttachedVolumes::ColumnOf(const std::string& limit) {
  std::unique_ptr<Column>& column = columns_[limit];
  if (column == nullptr) column = std::make_unique<Column>();
  if (column->attached.size() < cache_->row_count()) {
    column->attached.resize(cache_->row_count(), 0);
    column->limit.resize(cache_->row_count(), kNoLimit);
  }
  return *column;
}

const AttachedVolumes::Column* AttachedVolumes::Find(const std::string& limit) const {
  auto it = columns_.find(limit);
  return it == columns_.end() ? nullptr : it->second.get();
}

const std::vector<std::string>& AttachedVolumes::AttachmentsOf(Symbol node) const {
  static const std::vector<std::string> kNone;
  auto it = attachments_by_node_.find(node);
  return it == attachments_by_node_.end() ? kNone : it->second;
}

void AttachedVolumes::Note(Row row, std::vector<Row>* rows) {
  if (std::find(rows->begin(), rows->end(), row) == rows->end()) rows->push_back(row);
}

void AttachedVolumes::NoteUses(Row row, const api::Pod& pod) {
  for (const api::Volume& v : pod.tmpl->volumes) {
    const auto name = ClaimNameOf(pod, v);
    if (!name) continue;
    Note(row, &rows_by_claim_[{pod.tmpl->ns, *name}]);
    const auto claim = cache_->listers().claims.Get(pod.tmpl->ns, *name);
    if (claim != nullptr && !claim->volume_name.empty()) Note(row, &rows_by_volume_[claim->volume_name]);
  }
}

// Resets the columns in which the row had a number, and only those, before it computes the new numbers.
void AttachedVolumes::Evaluate(Row row) {
  for (Column* c : counted_[row]) {
    c->attached[row] = 0;
    c->limit[row] = kNoLimit;
  }
  counted_[row].clear();
  mistaken_.Erase(row);
  csi_nodes_.Erase(row);
  if (!cache_->listed().Has(row)) return;
  if (IsMigrated(row)) csi_nodes_.Insert(row);
  for (const PlacedPod& p : cache_->row(row).pods) {
    if (!p.info->tmpl->volumes.empty()) NoteUses(row, *p.pod);
  }
  for (const std::string& name : AttachmentsOf(cache_->row(row).name)) {
    // The row also depends on the volumes of its VolumeAttachments, whose drivers may become known only later.
    const auto a = cache_->listers().attachments.Get(Symbol(), name);
    if (a != nullptr) Note(row, &rows_by_volume_[a->volume_name]);
  }
  const AttachedToNode attached = AttachedTo(row);
  if (!attached.error.empty()) mistaken_.Insert(row);
  for (const auto& [key, count] : attached.counts) {
    Column& c = ColumnOf(key);
    c.attached[row] = count;
    counted_[row].push_back(&c);
  }
  for (const auto& [key, limit] : LimitsOf(*cache_, row, rules_)) {
    Column& c = ColumnOf(key);
    c.limit[row] = limit;
    counted_[row].push_back(&c);
  }
}

// Both the node that the attachment was on and the node that it is on now must be evaluated again.
void AttachedVolumes::MoveAttachment(const std::string& name) {
  if (auto it = attachments_.find(name); it != attachments_.end()) {
    Mark(cache_->FindRow(it->second));
    auto of_node = attachments_by_node_.find(it->second);
    std::erase(of_node->second, name);
    if (of_node->second.empty()) attachments_by_node_.erase(of_node);
    attachments_.erase(it);
  }
  const auto a = cache_->listers().attachments.Get(Symbol(), name);
  if (a == nullptr) return;
  attachments_[name] = a->node_name;
  attachments_by_node_[a->node_name].push_back(name);
  Mark(cache_->FindRow(a->node_name));
}

// A change of any storage class affects claims that have no volume yet, and no index leads from a class to rows.
bool AttachedVolumes::MarkChanges() {
  const Listers& l = cache_->listers();
  if (!built_ || classes_ != l.storage_classes.version()) return false;
  auto mark_all = [&](const auto& map, const auto& key) {
    if (auto it = map.find(key); it != map.end()) {
      for (Row row : it->second) Mark(row);
    }
  };
  return cache_->ChangesSince(generation_, [&](Row row, bool) { Mark(row); }) &&
         l.attachments.ChangesSince(attachments_version_,
                                    [&](Symbol, const std::string& name) { MoveAttachment(name); }) &&
         l.claims.ChangesSince(claims_,
                               [&](Symbol ns, const std::string& name) { mark_all(rows_by_claim_, Key(ns, name)); }) &&
         l.volumes.ChangesSince(volumes_, [&](Symbol, const std::string& name) { mark_all(rows_by_volume_, name); }) &&
         l.csi_nodes.ChangesSince(csi_nodes_version_,
                                  [&](Symbol, const std::string& name) { Mark(cache_->FindRow(Symbol::Find(name))); });
}

// Starts from scratch if a log of changes no longer reaches back to the last refresh.
void AttachedVolumes::Refresh() {
  const Listers& l = cache_->listers();
  const Row rows = cache_->row_count();
  dirty_.Clear();
  dirty_.Resize(rows);
  if (!MarkChanges()) {
    columns_.clear();
    counted_.clear();
    rows_by_claim_.clear();
    rows_by_volume_.clear();
    attachments_.clear();
    attachments_by_node_.clear();
    l.attachments.ForEach([&](const auto& a) { MoveAttachment(a->meta.name); });
    for (Row row = 0; row < rows; ++row) dirty_.Insert(row);
  }
  built_ = true;
  generation_ = cache_->generation();
  claims_ = l.claims.version();
  volumes_ = l.volumes.version();
  classes_ = l.storage_classes.version();
  csi_nodes_version_ = l.csi_nodes.version();
  attachments_version_ = l.attachments.version();
  counted_.resize(rows);
  for (auto& [key, column] : columns_) {
    column->attached.resize(rows, 0);
    column->limit.resize(rows, kNoLimit);
  }
  dirty_.ForEach([&](Row row) { Evaluate(row); });
}

}  // namespace berth::scheduler::volumes
