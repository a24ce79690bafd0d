// The plugins that limit how many volumes a node can attach: NodeVolumeLimits for CSI drivers; EBSLimits, GCEPDLimits,
// AzureDiskLimits and CinderLimits for in-tree volumes.
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "pkg/scheduler/reference/plugins/cloned.h"
#include "pkg/scheduler/volumebinder/csi_translation.h"
#include "pkg/util/status.h"

namespace berth::scheduler::reference::plugins {
namespace {

constexpr char kExceeded[] = "node(s) exceed max volume count";

std::shared_ptr<const api::PersistentVolume> VolumeOf(const World& world, const api::PersistentVolumeClaim& claim) {
  return claim.volume_name.empty() ? nullptr : world.volumes.Get(Symbol(), claim.volume_name);
}

// Returns the claim of a volume. Returns null with an error when the cycle must end with it, and null without an error
// when the volume does not count.
enum class VolumeOwner { kIncoming, kExisting };
std::shared_ptr<const api::PersistentVolumeClaim> FindClaim(const Cycle& c, const api::Pod& pod,
                                                            const api::Volume& volume, VolumeOwner owner,
                                                            std::string* error) {
  std::string name = *ClaimNameOf(pod, volume);
  if (name.empty()) {
    *error = "PersistentVolumeClaim had no name";
    return nullptr;
  }
  auto claim = c.world.claims.Get(pod.tmpl->ns, name);
  if (claim == nullptr) {
    if (owner == VolumeOwner::kIncoming) {
      *error = absl::StrCat("looking up PVC ", pod.tmpl->ns.string(), "/", name, ": ",
                            NotFound("persistentvolumeclaim", name));
    }
    return nullptr;
  }
  *error = OwnershipError(pod, volume, *claim);
  return error->empty() ? claim : nullptr;
}

// Returns "attachable-volumes-csi-DRIVER", in which a part of a long driver name is replaced by a hash.
std::string LimitKey(const std::string& driver) {
  constexpr std::string_view kPrefix = "attachable-volumes-csi-";
  if (kPrefix.size() + driver.size() < 63) return std::string(kPrefix) + driver;
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest;
  SHA1(reinterpret_cast<const unsigned char*>(driver.data()), driver.size(), digest.data());
  std::string out = absl::StrCat(util::ToAbsl(kPrefix), driver.substr(0, 23));
  for (size_t i = 0; i < 8; ++i) absl::StrAppend(&out, absl::Hex(digest[i], absl::kZeroPad2));
  return out;
}

class CsiLimits final : public Cloned<CsiLimits> {
 public:
  Status Filter(const Cycle& c, const NodeInfo& info) override {
    auto csi_node = c.world.csi_nodes.Get(Symbol(), info.node().meta.name);
    bool migrated = csi_node != nullptr;
    Attached wanted, attached;
    std::string error;
    if (!Collect(c, c.pod, migrated, VolumeOwner::kIncoming, &wanted, &error)) return Status::Error(error);
    if (wanted.empty()) return {};
    std::map<std::string, int64_t> limits;
    for (const auto& [name, amount] : info.allocatable().scalars) {
      if (name.str().starts_with("attachable-volumes-")) limits[name.string()] = amount;
    }
    if (csi_node != nullptr) {
      for (const auto& driver : csi_node->drivers) {
        if (driver.limit) limits[LimitKey(driver.name.string())] = *driver.limit;
      }
    }
    if (limits.empty()) return {};
    for (const api::PodPtr& q : info.pods()) {
      if (!Collect(c, *q, migrated, VolumeOwner::kExisting, &attached, &error)) return Status::Error(error);
    }
    std::map<std::string, int64_t> have, more;
    for (const auto& [unique, key] : attached) {
      wanted.erase(unique);
      ++have[key];
    }
    c.world.attachments.ForEach([&](const std::shared_ptr<const api::VolumeAttachment>& a) {
      if (a->node_name != info.name() || a->attacher.empty()) return;
      auto volume = c.world.volumes.Get(Symbol(), a->volume_name);
      if (volume == nullptr || volume->source != api::PersistentVolume::Source::kCsi) return;
      std::string unique = absl::StrCat(volume->csi_driver.string(), "/", volume->source_id);
      if (attached.emplace(unique, std::string()).second) ++have[LimitKey(volume->csi_driver.string())];
    });
    for (const auto& [unique, key] : wanted) ++more[key];
    for (const auto& [key, count] : more) {
      auto limit = limits.find(key);
      if (limit != limits.end() && have[key] + count > limit->second) return Status::Unschedulable(kExceeded);
    }
    return {};
  }

 private:
  using Attached = std::map<std::string, std::string>;  // from "driver/handle" to the name of the limit

  // Adds the pod's volumes that CSI drivers attach. Returns false with an error when the cycle must end with it.
  static bool Collect(const Cycle& c, const api::Pod& pod, bool migrated, VolumeOwner owner, Attached* out,
                      std::string* error) {
    for (const api::Volume& v : pod.tmpl->volumes) {
      std::optional<CsiVolume> volume;
      if (!ClaimNameOf(pod, v)) {
        if (InTreePluginOf(v).empty() || !migrated) continue;
        volume = Translate(v, error);
        if (!volume) {
          *error = absl::StrCat("converting volume from inline to csi: ", *error);
          return false;
        }
      } else {
        auto claim = FindClaim(c, pod, v, owner, error);
        if (!error->empty()) return false;
        if (claim == nullptr) continue;
        volume = OfClaim(c, *claim, migrated);
      }
      if (!volume || volume->driver.empty() || volume->handle.empty()) continue;
      out->emplace(volume->driver + "/" + volume->handle, LimitKey(volume->driver));
    }
    return true;
  }

  // Returns the CSI volume that the claim has or will have, or nothing when no CSI driver attaches it. In-tree volumes
  // count when the node has a CSINode, to which their plugin may have been migrated.
  static std::optional<CsiVolume> OfClaim(const Cycle& c, const api::PersistentVolumeClaim& claim, bool migrated) {
    if (auto volume = VolumeOf(c.world, claim)) {
      if (volume->source == api::PersistentVolume::Source::kCsi) {
        return CsiVolume{volume->csi_driver.string(), volume->source_id};
      }
      std::string error;
      if (InTreePluginOf(*volume).empty() || !migrated) return std::nullopt;
      return Translate(*volume, &error);
    }
    std::string class_name = claim.Class();
    auto storage_class = class_name.empty() ? nullptr : c.world.storage_classes.Get(Symbol(), class_name);
    if (storage_class == nullptr) return std::nullopt;
    // The volume does not exist yet, so a name that no volume has stands for it.
    CsiVolume out{storage_class->provisioner, "unbound-" + claim.meta.Key()};
    if (IsUnmigratedPlugin(out.driver)) return std::nullopt;
    if (std::string_view driver = CsiDriverOf(out.driver); !driver.empty()) {
      if (!migrated) return std::nullopt;
      out.driver = driver;
    }
    return out;
  }
};

struct InTreeLimit {
  std::string_view plugin, provisioner, limit_key;
  api::Volume::Kind kind;
  api::PersistentVolume::Source source;
  int64_t limit;
};
using Source = api::PersistentVolume::Source;
using Kind = api::Volume::Kind;
constexpr std::array<InTreeLimit, 4> kInTreeLimits = {{
    {"EBSLimits", "kubernetes.io/aws-ebs", "attachable-volumes-aws-ebs", Kind::kAwsEbs, Source::kAwsEbs, 39},
    {"GCEPDLimits", "kubernetes.io/gce-pd", "attachable-volumes-gce-pd", Kind::kGcePd, Source::kGcePd, 16},
    {"AzureDiskLimits", "kubernetes.io/azure-disk", "attachable-volumes-azure-disk", Kind::kAzureDisk,
     Source::kAzureDisk, 16},
    {"CinderLimits", "kubernetes.io/cinder", "attachable-volumes-cinder", Kind::kCinder, Source::kCinder, 256},
}};

class InTreeLimits final : public Cloned<InTreeLimits> {
 public:
  explicit InTreeLimits(const InTreeLimit& limit) : limit_(limit) {}

  Status Filter(const Cycle& c, const NodeInfo& info) override {
    std::set<std::string> wanted, attached;
    std::string error;
    if (!Collect(c, c.pod, VolumeOwner::kIncoming, &wanted, &error)) return Status::Error(error);
    if (wanted.empty()) return {};
    // On a node with a CSINode object, NodeVolumeLimits counts the volumes.
    if (c.world.csi_nodes.Get(Symbol(), info.node().meta.name) != nullptr) return {};
    for (const api::PodPtr& q : info.pods()) {
      if (!Collect(c, *q, VolumeOwner::kExisting, &attached, &error)) return Status::Error(error);
    }
    attached.merge(wanted);
    return static_cast<int64_t>(attached.size()) > LimitOf(info) ? Status::Unschedulable(kExceeded) : Status();
  }

 private:
  int64_t LimitOf(const NodeInfo& info) const {
    const auto& scalars = info.allocatable().scalars;
    if (auto it = scalars.find(Symbol(limit_.limit_key)); it != scalars.end()) return it->second;
    int64_t from_environment = 0;
    const char* text = std::getenv("KUBE_MAX_PD_VOLS");
    if (text != nullptr && absl::SimpleAtoi(text, &from_environment) && from_environment > 0) return from_environment;
    if (limit_.kind != Kind::kAwsEbs) return limit_.limit;
    const api::Labels& labels = info.node().labels;
    std::optional<Symbol> type = labels.Get(Symbol("node.kubernetes.io/instance-type"));
    if (!type) type = labels.Get(Symbol("beta.kubernetes.io/instance-type"));
    std::string_view t = type ? type->str() : std::string_view();
    bool nitro = t.starts_with("c5") || t.starts_with("m5") || t.starts_with("r5") ||
                 t.find("t3") != std::string_view::npos || t.find("z1d") != std::string_view::npos;
    return nitro ? 25 : limit_.limit;
  }

  bool Collect(const Cycle& c, const api::Pod& pod, VolumeOwner owner, std::set<std::string>* out,
               std::string* error) const {
    for (const api::Volume& v : pod.tmpl->volumes) {
      if (v.kind == limit_.kind) {
        out->insert(v.id);
        continue;
      }
      if (!ClaimNameOf(pod, v)) continue;
      auto claim = FindClaim(c, pod, v, owner, error);
      if (!error->empty()) return false;
      if (claim == nullptr) continue;
      if (auto volume = VolumeOf(c.world, *claim)) {
        if (volume->source == limit_.source) out->insert(volume->source_id);
      } else if (IsProvisionedHere(c, *claim)) {
        out->insert("unbound-" + claim->meta.Key());
      }
    }
    return true;
  }
  bool IsProvisionedHere(const Cycle& c, const api::PersistentVolumeClaim& claim) const {
    if (!claim.storage_class_name) return false;
    auto storage_class = c.world.storage_classes.Get(Symbol(), *claim.storage_class_name);
    return storage_class != nullptr && storage_class->provisioner == limit_.provisioner;
  }

  InTreeLimit limit_;
};

}  // namespace

std::unique_ptr<Plugin> MakeCsiLimits() {
  return std::make_unique<CsiLimits>();
}
std::unique_ptr<Plugin> MakeInTreeLimits(std::string_view plugin) {
  for (const InTreeLimit& limit : kInTreeLimits) {
    if (limit.plugin == plugin) return std::make_unique<InTreeLimits>(limit);
  }
  return nullptr;
}

}  // namespace berth::scheduler::reference::plugins
