// Delayed volume binding as in the plugin VolumeBinding of release 1.29 or, by other ClaimRules, as in 1.13: determines
// which volumes the unbound claims of a pod would get on a node and which claims would be provisioned there, and
// reserves both when the pod is assumed on a node.
//
// Find answers for one node in detail. KeepFitting answers for all nodes at once and only examines the volumes that a
// claim could get. Assumed volumes and claims are stored here and take precedence over the objects of the cache until
// the API server reports them. Thread-safety: the same as that of Cache. Source:
// pkg/scheduler/framework/plugins/volumebinding/binder.go (1.29).
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/functional/function_ref.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/cache/gates.h"
#include "pkg/scheduler/volumebinder/claim_rules.h"
#include "pkg/scheduler/volumebinder/csi_node_rows.h"

namespace berth::scheduler {

class ClaimBinder {
 public:
  using ClaimPtr = std::shared_ptr<const api::PersistentVolumeClaim>;
  using VolumePtr = std::shared_ptr<const api::PersistentVolume>;

  // The cache must outlive the binder.
  explicit ClaimBinder(const Cache* cache, const ClaimRules& rules = {}, const VolumeRules& volume_rules = {})
      : cache_(cache), rules_(rules), volume_rules_(volume_rules), csi_node_rows_(cache) {}

  // Return the assumed object if there is one, otherwise that of the cache. Return null if neither exists.
  ClaimPtr Claim(Symbol ns, const std::string& name) const;
  VolumePtr Volume(const std::string& name) const;

  // The claims of a pod, classified once for all nodes.
  struct PodClaims {
    std::vector<ClaimPtr> bound;  // the binding is complete
    // Unbound claims of a class that waits for the first consumer: those with a selected node first, then by requested
    // size.
    std::vector<ClaimPtr> delayed;
    std::vector<ClaimPtr> immediate;  // to be bound by the volume controller, not by a scheduler
    std::string error;                // if not empty, the scheduling cycle must end
    bool any = false;                 // whether any volume of the pod has a claim
  };
  PodClaims ClaimsOf(const api::Pod& pod) const;

  // The answer for the claims of a pod on one node.
  struct OnNode {
    std::vector<std::pair<ClaimPtr, VolumePtr>> bindings;  // unbound claims and the volumes found for them
    std::vector<ClaimPtr> provisions;                      // claims that would be provisioned
    // Whether the volumes of all bound claims exist and can be used on the node, whether all unbound claims find a
    // volume or can be provisioned, and whether there is enough storage capacity for the latter.
    bool bound_exist = true, bound_fit = true, unbound_fit = true, enough_space = true;
    std::string error;  // if not empty, the scheduling cycle must end
    bool fits() const { return bound_exist && bound_fit && unbound_fit && enough_space && error.empty(); }
  };
  OnNode Find(const PodClaims& claims, const api::Node& node) const;
  // Returns whether Find answers with an error on some nodes, because the volume of one of these bound claims cannot be
  // translated.
  bool MayErr(std::span<const ClaimPtr> bound) const;
  // What bound claims come to on a node: OnNode::bound_exist and bound_fit. The first claim that is not kUsable
  // decides.
  enum class Bound : uint8_t { kUsable, kOutOfReach, kMissing };
  // Writes the answer for each listed row. REQUIRES: !MayErr(bound).
  void FindBound(std::span<const ClaimPtr> bound, std::span<const Row> rows, std::span<Bound> answers) const;
  // Returns the capacity, in bytes, of the CSIStorageCapacity by which the claim can be provisioned on the node.
  // Returns nullopt if capacity does not matter there, or if the object has none, which ended the release's process
  // (bug N-02, mended).
  std::optional<int64_t> CapacityFor(const api::PersistentVolumeClaim& claim, const api::Node& node) const;
  // Erases the rows that do not fit according to Find. Returns false and leaves the rows unchanged if the rows must be
  // checked one at a time with Find.
  bool KeepFitting(const PodClaims& claims, RowSet* rows) const;

  // What was assumed for one pod: it must be written through the API, or be forgotten if that fails.
  struct Assumed {
    struct Binding {
      ClaimPtr claim;
      VolumePtr volume;  // as it must be written
      VolumePtr before;  // as it was before
    };
    std::vector<Binding> bindings;
    std::vector<ClaimPtr> provisions;  // as they must be written: with the selected node
    std::string error;
    bool nothing() const { return bindings.empty() && provisions.empty(); }
  };
  // Reserves the volumes and provisions that Find chooses for the pod on the node.
  Assumed Assume(const api::Pod& pod, const api::Node& node);
  // Returns whether everything that was written for a pod on the node is bound by now. Sets *error if that cannot
  // happen any more: a volume or a claim is gone, a reservation or the choice of the node for provisioning was taken
  // back, or, where the release looks at the node again, that is gone or cannot use a volume.
  bool Completed(const Assumed& written, Symbol node_name, std::string* error) const;
  // Releases what was assumed.
  void Forget(const Assumed& assumed);
  // Must be called when the API server reports an object, or its deletion: whatever was assumed for it no longer holds.
  void VolumeChanged(const std::string& name);
  void ClaimChanged(Symbol ns, const std::string& name) { claims_.erase({ns, name}); }

 private:
  using ClaimKey = std::pair<Symbol, std::string>;  // namespace and name
  // A volume that is available for unbound claims of its class.
  struct FreeVolume {
    VolumePtr volume;
    uint32_t affinity;  // id of the node affinity; equal for volumes with equal node affinity
  };
  // The volumes that one unbound claim could get on some node.
  using Shelf = std::vector<FreeVolume>;
  struct Options {
    VolumePtr own;                       // if not null, it is reserved for the claim, which takes no other
    std::shared_ptr<const Shelf> shelf;  // else the volumes for claims that differ only in size; not null
    size_t first = 0;                    // where those that are large enough begin
    std::span<const FreeVolume> any() const {
      return shelf == nullptr ? std::span<const FreeVolume>() : std::span(*shelf).subspan(first);
    }
    bool empty() const { return own == nullptr && any().empty(); }
  };
  class Picker;
  // Updates the indices below from the cache's log of changed volumes.
  void Sync() const;
  // Add a volume to the indices, or remove it from them.
  void Index(const std::string& name) const;
  void Unindex(const std::string& name) const;
  // Returns the id of a volume's node affinity.
  uint32_t AffinityOf(const api::PersistentVolume& volume) const;
  // Leaves out reserved volumes that are taken.
  Options OptionsOf(const api::PersistentVolumeClaim& claim, absl::FunctionRef<bool(const VolumePtr&)> taken) const;
  // Returns the volumes that are not reserved and that the claim could get if they are large enough, by capacity and
  // then by name. Kept until a volume changes. REQUIRES: Sync was called.
  std::shared_ptr<const Shelf> ShelfFor(const api::PersistentVolumeClaim& claim) const;
  // Returns whether the volume can be used on the node. On a node whose CSI driver replaces the volume's in-tree
  // plugin, the affinity of the translated volume counts; if it cannot be translated, *error says why.
  bool CanUse(const VolumePtr& volume, const api::Node& node, std::string* error) const;
  // Returns whether CSI drivers may replace the volume's plugin, by the rules of the release.
  bool IsTranslated(const api::PersistentVolume& volume) const;
  // A volume as CSI drivers have it, or why there is none.
  struct Translation {
    std::string error;
    std::vector<api::NodeSelectorTerm> node_affinity;
  };
  // Valid until the next call for another volume.
  const Translation& TranslationOf(const VolumePtr& volume) const;
  // Whether a claim can be provisioned on a node. kNoSpace: no CSIStorageCapacity there is large enough.
  enum class Provisioning : uint8_t { kPossible, kImpossible, kNoSpace, kError };
  Provisioning CanProvision(const api::PersistentVolumeClaim& claim, const api::Node& node, std::string* error) const;
  // Clears provisionable_ if anything that it depends on has changed.
  void DropOldProvisionable() const;
  const RowSet& ProvisionableRows(const api::PersistentVolumeClaim& claim) const;
  // Implement Completed: see ClaimRules::waits_for_claims_alone.
  bool CompletedClaims(const Assumed& written, Symbol node_name, std::string* error) const;
  bool CompletedOnNode(const Assumed& written, Symbol node_name, std::string* error) const;
  // Implements KeepFitting for delayed claims that could get existing volumes.
  bool KeepMatching(const PodClaims& claims, RowSet* rows) const;

  // Returns whether a volume's node affinity admits the node, by the rules of the release.
  bool Admits(const api::PersistentVolume& volume, const api::Node& node) const;
  // Adds the listed rows that a volume's node affinity admits.
  void AddAdmitted(const std::vector<api::NodeSelectorTerm>& node_affinity, RowSet* rows) const;
  // Adds the listed rows on whose nodes CanUse allows the volume. Returns false if it has an error for some of them.
  bool AddUsable(const VolumePtr& volume, RowSet* rows) const;
  // Returns whether claim and volume have the same volumeMode, if that matters.
  bool SameMode(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) const;
  bool SameAttributes(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) const;
  bool CanHold(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) const;

  const Cache* cache_;
  ClaimRules rules_;
  VolumeRules volume_rules_;
  absl::flat_hash_map<std::string, VolumePtr> volumes_;  // assumed
  absl::flat_hash_map<ClaimKey, ClaimPtr> claims_;       // assumed

  // Volumes by what makes them candidates. Invariant: after Sync, they describe version seen_ of the cache's volumes
  // together with the assumed volumes. Volumes without a claimRef are only in free_ while their phase is Available.
  mutable uint64_t seen_ = 0;
  mutable bool synced_ = false;
  mutable absl::flat_hash_map<std::string, std::map<std::string, FreeVolume>> free_;  // by class, then name
  // By namespace and name in claimRef, then by name.
  mutable absl::flat_hash_map<std::pair<std::string, std::string>, std::map<std::string, VolumePtr>> reserved_;
  mutable absl::flat_hash_map<std::string, VolumePtr> indexed_;  // the members of both
  // By what claims ask for besides their size. Empty after each change of the indices.
  mutable absl::flat_hash_map<std::string, std::shared_ptr<const Shelf>> shelves_;
  // The ids of node affinities by their text.
  mutable absl::flat_hash_map<std::string, uint32_t> affinities_;

  // The rows on which a claim of a class and a requested size can be provisioned, valid for the versions below.
  mutable std::map<std::pair<std::string, int64_t>, RowSet> provisionable_;
  mutable uint64_t provisionable_version_ = 0, provisionable_generation_ = 0;

  mutable CsiNodeRows csi_node_rows_;
  // Of the volumes that were asked for last. An object of a volume never changes.
  mutable absl::flat_hash_map<VolumePtr, Translation> translations_;
};

}  // namespace berth::scheduler
