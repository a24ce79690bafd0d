#include "pkg/scheduler/volumebinder/claim_binder.h"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "pkg/api/decode.h"
#include "pkg/scheduler/volumebinder/csi_translation.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

using api::PersistentVolume;
using api::PersistentVolumeClaim;

// Returns whether the volume's claimRef refers to the claim. An empty uid in the claimRef matches every claim of that
// name.
bool IsReservedFor(const PersistentVolume& v, const PersistentVolumeClaim& c) {
  const auto& ref = v.claim_ref;
  return ref && ref->name == c.meta.name && ref->ns == c.meta.ns.str() && (ref->uid.empty() || ref->uid == c.meta.uid);
}
api::Quantity StorageOf(const PersistentVolume& v) {
  return v.capacity.value_or(api::Quantity());
}
std::string_view ModeOf(const std::optional<std::string>& mode) {
  return mode ? std::string_view(*mode) : "Filesystem";
}
// Returns whether a volume that is not reserved also satisfies the selector and the access modes of the claim.
bool SuitsUnreserved(const PersistentVolume& v, const PersistentVolumeClaim& c) {
  if (c.selector && !(c.selector->ok() && c.selector->selector.Matches(v.labels))) return false;
  return std::all_of(c.access_modes.begin(), c.access_modes.end(), [&](Symbol mode) {
    return std::find(v.access_modes.begin(), v.access_modes.end(), mode) != v.access_modes.end();
  });
}

bool SpecifiesSameClass(const PersistentVolume& v, const PersistentVolumeClaim& c) {
  return v.storage_class_name == c.storage_class_name.value_or(std::string());
}

// Returns whether the fields of a term match a node with an empty name.
bool FieldsMatchNoName(const api::NodeSelectorTerm& t) {
  return std::all_of(t.fields.begin(), t.fields.end(),
                     [](const api::FieldRequirement& f) { return f.values[0].empty() == (f.op == "In"); });
}

// Returns whether one of the terms matches a node with these labels and an empty name. No terms admit every node.
bool AdmitsNamelessNode(const std::vector<api::NodeSelectorTerm>& terms, const api::Labels& labels) {
  return terms.empty() || std::any_of(terms.begin(), terms.end(), [&](const api::NodeSelectorTerm& t) {
           if (!t.problems.empty() || (!t.has_expressions && t.fields.empty())) return false;
           if (t.has_expressions && !t.match.selector.Matches(labels)) return false;
           return FieldsMatchNoName(t);
         });
}

// Returns whether the allowedTopologies of the class allow the node. An empty list allows all nodes, an empty term
// none.
bool TopologyAllows(const api::StorageClass& storage_class, const api::Labels& node) {
  const auto& terms = storage_class.allowed_topologies;
  if (terms.empty()) return true;
  return std::any_of(terms.begin(), terms.end(), [&](const api::StorageClass::TopologyTerm& term) {
    return !term.expressions.empty() &&
           std::all_of(term.expressions.begin(), term.expressions.end(), [&](const auto& e) {
             const auto value = node.Get(e.first);
             return value && std::find(e.second.begin(), e.second.end(), *value) != e.second.end();
           });
  });
}

// Returns whether the storage that the CSIStorageCapacity describes belongs to the class and is large enough for the
// claim. As upstream, sizes are compared in whole bytes and the provisioner is not compared.
bool HoldsRequest(const api::CsiStorageCapacity& c, const std::string& storage_class,
                  const PersistentVolumeClaim& claim) {
  const auto& limit = c.maximum_volume_size ? c.maximum_volume_size : c.capacity;
  return c.storage_class_name.str() == storage_class && limit && limit->Value() >= claim.request.Value() &&
         c.node_topology && c.node_topology->ok();
}
// Returns whether storage capacity must be checked: the claim requests storage and its driver publishes capacities.
bool CapacityMatters(const VolumeRules& rules, const Listers& listers, const api::StorageClass& storage_class,
                     const PersistentVolumeClaim& claim) {
  if (!rules.reads_capacities) return false;
  const auto driver = listers.csi_drivers.Get(Symbol(), storage_class.provisioner);
  return claim.has_request && driver != nullptr && driver->storage_capacity;
}
bool Provisions(const api::StorageClass& storage_class) {
  return !storage_class.provisioner.empty() && storage_class.provisioner != "kubernetes.io/no-provisioner";
}

// Adds the listed rows whose labels match the selector. If a requirement lists values, only the rows with these values
// are examined.
void AddMatchingRows(const Cache& cache, const api::Selector& selector, RowSet* rows) {
  const auto& requirements = selector.requirements();
  const api::Requirement* narrowest = nullptr;
  for (const api::Requirement& r : requirements) {
    if (r.op == api::Operator::kIn && (narrowest == nullptr || r.values.size() < narrowest->values.size()))
      narrowest = &r;
  }
  auto add = [&](Row row) {
    if (cache.listed().Has(row) && selector.Matches(cache.row(row).node->labels)) rows->Insert(row);
  };
  if (narrowest == nullptr) return cache.listed().ForEach(add);
  const LabelColumn& column = cache.Label(narrowest->key);
  for (Symbol value : narrowest->values) {
    for (Row row : column.RowsWith(value)) {
      if (requirements.size() > 1) {
        add(row);
      } else if (cache.listed().Has(row)) {
        rows->Insert(row);
      }
    }
  }
}

constexpr size_t kTranslationsKept = 64;

bool NotTaken(const std::shared_ptr<const PersistentVolume>&) {
  return false;
}

}  // namespace

// Returns whether the volume satisfies what every volume must besides its mode, even one that is reserved for the
// claim.
bool ClaimBinder::CanHold(const PersistentVolume& v, const PersistentVolumeClaim& c) const {
  return !(StorageOf(v) < c.request) && !v.meta.deleting() && SameAttributes(v, c);
}

bool ClaimBinder::SameAttributes(const PersistentVolume& v, const PersistentVolumeClaim& c) const {
  return !rules_.compares_attributes || v.attributes_class == c.attributes_class;
}

ClaimBinder::ClaimPtr ClaimBinder::Claim(Symbol ns, const std::string& name) const {
  if (!claims_.empty()) {
    if (auto it = claims_.find({ns, name}); it != claims_.end()) return it->second;
  }
  return cache_->listers().claims.Get(ns, name);
}
ClaimBinder::VolumePtr ClaimBinder::Volume(const std::string& name) const {
  if (auto it = volumes_.find(name); it != volumes_.end()) return it->second;
  return cache_->listers().volumes.Get(Symbol(), name);
}

// Unlike in 1.10, a claim is bound only after the controller has completed the binding. A claim that names a volume
// before that counts as immediate.
ClaimBinder::PodClaims ClaimBinder::ClaimsOf(const api::Pod& pod) const {
  PodClaims out;
  for (const api::Volume& v : pod.tmpl->volumes) {
    const auto name = ClaimNameOf(pod, v);
    if (!name) continue;
    out.any = true;
    ClaimPtr claim = Claim(pod.tmpl->ns, *name);
    if (claim == nullptr) {
      const std::string quoted = api::GoQuoted(pod.tmpl->ns.string() + "/" + *name);
      out.error = absl::StrCat("error getting PVC ", quoted, ": could not find v1.PersistentVolumeClaim ", quoted);
      return out;
    }
    if (!claim->volume_name.empty() && claim->bind_completed) {
      out.bound.push_back(std::move(claim));
      continue;
    }
    const std::string class_name = claim->Class();
    const auto storage_class =
        class_name.empty() ? nullptr : cache_->listers().storage_classes.Get(Symbol(), class_name);
    if (storage_class != nullptr && !storage_class->binding_mode) {
      out.error = absl::StrCat("VolumeBindingMode not set for StorageClass ", api::GoQuoted(class_name));
      return out;
    }
    const bool delayed = storage_class != nullptr && *storage_class->binding_mode == "WaitForFirstConsumer" &&
                         !(rules_.selected_node_is_immediate && claim->selected_node);
    (delayed && claim->volume_name.empty() ? out.delayed : out.immediate).push_back(std::move(claim));
  }
  std::stable_sort(out.delayed.begin(), out.delayed.end(), [](const ClaimPtr& a, const ClaimPtr& b) {
    if (a->selected_node || b->selected_node) return a->selected_node && !b->selected_node;
    return a->request < b->request;
  });
  return out;
}

// ---- one node -----------------------------------------------------------------------------------

ClaimBinder::Provisioning ClaimBinder::CanProvision(const PersistentVolumeClaim& claim, const api::Node& node,
                                                    std::string* error) const {
  const std::string class_name = claim.Class();
  if (class_name.empty()) {
    *error = absl::StrCat("no class for claim ", api::GoQuoted(claim.meta.Key()));
    return Provisioning::kError;
  }
  const Listers& listers = cache_->listers();
  const auto storage_class = listers.storage_classes.Get(Symbol(), class_name);
  if (storage_class == nullptr) {
    *error = absl::StrCat("failed to find storage class ", api::GoQuoted(class_name));
    return Provisioning::kError;
  }
  if (!Provisions(*storage_class) || !TopologyAllows(*storage_class, node.labels)) return Provisioning::kImpossible;
  if (!rules_.knows_csi_drivers || !CapacityMatters(volume_rules_, listers, *storage_class, claim)) {
    return Provisioning::kPossible;
  }
  bool enough = false;
  listers.csi_capacities.ForEach([&](const auto& c) {
    enough = enough || (HoldsRequest(*c, class_name, claim) && c->node_topology->selector.Matches(node.labels));
  });
  return enough ? Provisioning::kPossible : Provisioning::kNoSpace;
}

bool ClaimBinder::Admits(const PersistentVolume& volume, const api::Node& node) const {
  return rules_.names_are_empty ? AdmitsNamelessNode(volume.node_affinity, node.labels)
                                : AdmitsNode(volume.node_affinity, node);
}

void ClaimBinder::AddAdmitted(const std::vector<api::NodeSelectorTerm>& node_affinity, RowSet* rows) const {
  rows->Resize(cache_->row_count());
  auto add_all = [&] {
    const std::vector<uint64_t>& listed = cache_->listed().words();
    if (rows->words().size() < listed.size()) rows->words().resize(listed.size());
    for (size_t w = 0; w < listed.size(); ++w) rows->words()[w] |= listed[w];
  };
  if (node_affinity.empty()) add_all();
  for (const api::NodeSelectorTerm& t : node_affinity) {
    // As upstream, a term that has neither expressions nor fields matches nothing.
    if (!t.problems.empty() || (!t.has_expressions && t.fields.empty())) continue;
    if (rules_.names_are_empty && !FieldsMatchNoName(t)) continue;
    if (t.has_expressions) {
      AddMatchingRows(*cache_, t.match.selector, rows);
    } else {
      add_all();
    }
  }
}

bool ClaimBinder::SameMode(const PersistentVolume& volume, const PersistentVolumeClaim& claim) const {
  return !rules_.compares_modes || ModeOf(volume.volume_mode) == ModeOf(claim.volume_mode);
}

std::optional<int64_t> ClaimBinder::CapacityFor(const PersistentVolumeClaim& claim, const api::Node& node) const {
  const Listers& listers = cache_->listers();
  const std::string class_name = claim.Class();
  const auto storage_class = listers.storage_classes.Get(Symbol(), class_name);
  if (storage_class == nullptr || !CapacityMatters(volume_rules_, listers, *storage_class, claim)) return std::nullopt;
  std::shared_ptr<const api::CsiStorageCapacity> found;
  listers.csi_capacities.ForEach([&](const auto& c) {
    if (!HoldsRequest(*c, class_name, claim) || !c->node_topology->selector.Matches(node.labels)) return;
    if (found == nullptr || c->meta.Key() < found->meta.Key()) found = c;
  });
  if (found == nullptr || !found->capacity) return std::nullopt;
  return found->capacity->Value();
}

bool ClaimBinder::IsTranslated(const PersistentVolume& volume) const {
  return rules_.knows_csi_drivers && volume_rules_.drivers_replace_in_tree && !InTreePluginOf(volume).empty();
}

const ClaimBinder::Translation& ClaimBinder::TranslationOf(const VolumePtr& volume) const {
  if (translations_.size() > kTranslationsKept) translations_.clear();
  auto [it, fresh] = translations_.try_emplace(volume);
  Translation& t = it->second;
  if (!fresh) return t;
  if (Translate(*volume, &t.error)) t.node_affinity = TranslatedAffinity(*volume);
  return t;
}

bool ClaimBinder::CanUse(const VolumePtr& volume, const api::Node& node, std::string* error) const {
  if (!rules_.knows_csi_drivers) return Admits(*volume, node);
  if (!IsTranslated(*volume) ||
      !csi_node_rows_.Migrated(InTreePluginOf(*volume)).Has(cache_->FindRow(Symbol::Find(node.meta.name)))) {
    return AdmitsNode(volume->node_affinity, node);
  }
  const Translation& translation = TranslationOf(volume);
  if (!translation.error.empty()) *error = "could not translate pv: " + translation.error;
  return translation.error.empty() && AdmitsNode(translation.node_affinity, node);
}

// Finds for one claim after another the first volume of a shelf that no claim before has taken and that the node can
// use. A pod with many claims looks at each volume a few times, and not once for each claim.
class ClaimBinder::Picker {
 public:
  Picker(const ClaimBinder& binder, const api::Node& node) : binder_(binder), node_(node) {}

  VolumePtr Pick(const Options& options) {
    if (options.own != nullptr) return binder_.Admits(*options.own, node_) ? options.own : nullptr;
    const Shelf& shelf = *options.shelf;
    std::vector<size_t>& next = next_[&shelf];
    if (next.empty()) {
      next.resize(shelf.size() + 1);
      std::iota(next.begin(), next.end(), size_t{0});
    }
    for (size_t i = Usable(options.first, &next); i < shelf.size(); i = Usable(i, &next)) {
      const VolumePtr& v = shelf[i].volume;
      if (!taken(*v) && binder_.Admits(*v, node_)) return v;
      next[i] = i + 1;
    }
    return nullptr;
  }
  void Take(const PersistentVolume& v) { taken_.insert(v.meta.name); }
  bool taken(const PersistentVolume& v) const { return taken_.contains(v.meta.name); }

 private:
  // Returns the first place from this one on that was not found useless.
  static size_t Usable(size_t from, std::vector<size_t>* next) {
    size_t end = from;
    while ((*next)[end] != end) end = (*next)[end];
    while ((*next)[from] != end && from != end) from = std::exchange((*next)[from], end);
    return end;
  }

  const ClaimBinder& binder_;
  const api::Node& node_;
  absl::flat_hash_set<std::string> taken_;  // by name
  // By shelf and place: the same place, or one behind it if the volume there cannot be had.
  absl::flat_hash_map<const Shelf*, std::vector<size_t>> next_;
};

// First checks the volumes of bound claims, then looks for existing volumes for delayed claims, and then checks whether
// the rest can be provisioned. Like upstream, it is greedy: claims get volumes in order, without backtracking.
ClaimBinder::OnNode ClaimBinder::Find(const PodClaims& claims, const api::Node& node) const {
  OnNode out;
  for (const ClaimPtr& claim : claims.bound) {
    const VolumePtr volume = Volume(claim->volume_name);
    if (volume == nullptr) {
      out.bound_exist = false;
      break;
    }
    const bool usable = CanUse(volume, node, &out.error);
    if (!out.error.empty()) return out;
    if (!usable) {
      out.bound_fit = false;
      break;
    }
  }
  // A claim that has been given to another node stops the search, before anything else is checked.
  for (const ClaimPtr& claim : claims.delayed) {
    if (!claim->selected_node || *claim->selected_node == node.meta.name) continue;
    out.unbound_fit = false;
    return out;
  }
  // A claim that finds no existing volume may still be provisioned.
  std::vector<ClaimPtr> to_provision;
  Picker picker(*this, node);
  std::vector<Options> options;  // keep the shelves
  for (const ClaimPtr& claim : claims.delayed) {
    if (claim->selected_node) {
      to_provision.push_back(claim);
      continue;
    }
    // A claim that the pod names twice is looked for twice, and a volume that is reserved for it is taken by then.
    options.push_back(OptionsOf(*claim, [&](const VolumePtr& v) { return picker.taken(*v); }));
    VolumePtr found = picker.Pick(options.back());
    if (found == nullptr) {
      to_provision.push_back(claim);
    } else {
      picker.Take(*found);
      out.bindings.emplace_back(claim, std::move(found));
    }
  }
  for (const ClaimPtr& claim : to_provision) {
    const Provisioning p = CanProvision(*claim, node, &out.error);
    if (p == Provisioning::kError) return out;
    if (p == Provisioning::kImpossible) out.unbound_fit = false;
    if (p == Provisioning::kNoSpace) out.enough_space = false;
    // The first failure ends the search, so that its reason is the only one of this part.
    if (p != Provisioning::kPossible) break;
    out.provisions.push_back(claim);
  }
  return out;
}

// ---- volumes that claims could get --------------------------------------------------------------

// Volumes with equal texts are usable on the same nodes.
uint32_t ClaimBinder::AffinityOf(const PersistentVolume& volume) const {
  std::string text;
  for (const api::NodeSelectorTerm& t : volume.node_affinity) {
    absl::StrAppend(&text, t.match.selector.String(), t.has_expressions ? "|e" : "|-", t.problems.empty() ? "" : "!",
                    t.fields.empty()       ? ""
                    : FieldsMatchNoName(t) ? "f"
                                           : "n",
                    "\n");
  }
  return affinities_.try_emplace(std::move(text), static_cast<uint32_t>(affinities_.size())).first->second;
}

void ClaimBinder::Unindex(const std::string& name) const {
  shelves_.clear();
  auto it = indexed_.find(name);
  if (it == indexed_.end()) return;
  const PersistentVolume& v = *it->second;
  if (v.claim_ref) {
    auto claim = reserved_.find({v.claim_ref->ns, v.claim_ref->name});
    claim->second.erase(name);
    if (claim->second.empty()) reserved_.erase(claim);
  } else if (auto of_class = free_.find(v.Class()); of_class != free_.end()) {
    of_class->second.erase(name);
  }
  indexed_.erase(it);
}

// A volume is a candidate if it is reserved for a claim or if it is free and Available.
void ClaimBinder::Index(const std::string& name) const {
  Unindex(name);
  VolumePtr v = Volume(name);
  if (v == nullptr || v->meta.deleting()) return;
  if (v->claim_ref) {
    reserved_[{v->claim_ref->ns, v->claim_ref->name}][name] = v;
  } else if (v->phase == "Available") {
    free_[v->Class()][name] = {v, AffinityOf(*v)};
  } else {
    return;
  }
  indexed_[name] = std::move(v);
}

void ClaimBinder::Sync() const {
  const auto& volumes = cache_->listers().volumes;
  if (synced_ && seen_ == volumes.version()) return;
  if (!synced_ || !volumes.ChangesSince(seen_, [&](Symbol, const std::string& name) { Index(name); })) {
    shelves_.clear();
    free_.clear();
    reserved_.clear();
    indexed_.clear();
    affinities_.clear();
    volumes.ForEach([&](const VolumePtr& v) { Index(v->meta.name); });
  }
  synced_ = true;
  seen_ = volumes.version();
}

ClaimBinder::Options ClaimBinder::OptionsOf(const PersistentVolumeClaim& claim,
                                            absl::FunctionRef<bool(const VolumePtr&)> taken) const {
  Sync();
  Options out;
  const std::string class_name = claim.Class();
  if (auto it = reserved_.find({claim.meta.ns.string(), claim.meta.name}); it != reserved_.end()) {
    for (const auto& [name, v] : it->second) {
      const bool listed = rules_.lists_by_specification ? SpecifiesSameClass(*v, claim) : v->Class() == class_name;
      if (!listed || !IsReservedFor(*v, claim) || !CanHold(*v, claim) || !SameMode(*v, claim) || taken(v)) continue;
      out.own = v;
      // A reserved volume counts even if the node cannot use it: the claim then finds no other.
      return out;
    }
  }
  out.shelf = ShelfFor(claim);
  out.first = static_cast<size_t>(
      std::partition_point(out.shelf->begin(), out.shelf->end(),
                           [&](const FreeVolume& f) { return StorageOf(*f.volume) < claim.request; }) -
      out.shelf->begin());
  return out;
}

// The volumes are in order of name, and the sort by capacity is stable, so that the smallest name wins among equal
// sizes.
std::shared_ptr<const ClaimBinder::Shelf> ClaimBinder::ShelfFor(const PersistentVolumeClaim& claim) const {
  BERTH_REQUIRES(synced_ && seen_ == cache_->listers().volumes.version());
  constexpr size_t kMostShelves = 64;
  std::string key = absl::StrCat(claim.Class(), "\n", claim.storage_class_name.value_or(""), "\n",
                                 claim.attributes_class, "\n", std::string(ModeOf(claim.volume_mode)), "\n");
  for (const Symbol mode : claim.access_modes) absl::StrAppend(&key, mode.string(), ",");
  if (claim.selector) {
    absl::StrAppend(&key, "\n", claim.selector->ok() ? claim.selector->selector.String() : "no selector");
  }
  if (const auto known = shelves_.find(key); known != shelves_.end()) return known->second;
  auto shelf = std::make_shared<Shelf>();
  if (const auto it = free_.find(claim.Class()); it != free_.end()) {
    for (const auto& [name, f] : it->second) {
      if (rules_.lists_by_specification && !SpecifiesSameClass(*f.volume, claim)) continue;
      const bool suits = SameAttributes(*f.volume, claim) && SameMode(*f.volume, claim);
      if (suits && SuitsUnreserved(*f.volume, claim)) shelf->push_back(f);
    }
  }
  std::stable_sort(shelf->begin(), shelf->end(), [](const FreeVolume& a, const FreeVolume& b) {
    return StorageOf(*a.volume) < StorageOf(*b.volume);
  });
  if (shelves_.size() >= kMostShelves) shelves_.clear();
  return shelves_[std::move(key)] = std::move(shelf);
}

// ---- all nodes at once --------------------------------------------------------------------------

void ClaimBinder::DropOldProvisionable() const {
  const Listers& listers = cache_->listers();
  const uint64_t version =
      // Every version only grows, so that the sum changes if one of them does.
      listers.csi_capacities.version() + listers.csi_drivers.version() + listers.storage_classes.version();
  bool nodes_changed = false;
  const bool known =
      cache_->NodeChangesSince(provisionable_generation_, [&](Row) { nodes_changed = true; }) && !nodes_changed;
  provisionable_generation_ = cache_->generation();
  if (!known || version != provisionable_version_ || provisionable_.size() > 256) provisionable_.clear();
  provisionable_version_ = version;
}

// REQUIRES: the class of the claim exists, and DropOldProvisionable was called since the cluster changed.
const RowSet& ClaimBinder::ProvisionableRows(const PersistentVolumeClaim& claim) const {
  const Listers& listers = cache_->listers();
  const std::string class_name = claim.Class();
  auto [it, fresh] = provisionable_.try_emplace({class_name, claim.has_request ? claim.request.Value() : -1});
  RowSet& rows = it->second;
  if (!fresh) return rows;
  rows.Resize(cache_->row_count());
  const auto storage_class = listers.storage_classes.Get(Symbol(), class_name);
  if (!Provisions(*storage_class)) return rows;
  if (storage_class->allowed_topologies.empty()) {
    rows = cache_->listed();
  } else {
    cache_->listed().ForEach([&](Row row) {
      if (TopologyAllows(*storage_class, cache_->row(row).node->labels)) rows.Insert(row);
    });
  }
  if (!rules_.knows_csi_drivers || !CapacityMatters(volume_rules_, listers, *storage_class, claim)) return rows;
  RowSet enough;
  enough.Resize(cache_->row_count());
  listers.csi_capacities.ForEach([&](const auto& c) {
    if (HoldsRequest(*c, class_name, claim)) AddMatchingRows(*cache_, c->node_topology->selector, &enough);
  });
  rows.IntersectWith(enough);
  return rows;
}

// Finds the volumes of all claims by row, instead of trying all volumes on every row. A row needs to know at most n
// volumes for each of n claims, because each of the others can take only one.
//
// REQUIRES: no claim has a selected node, and at least one claim has volumes that it could get.
bool ClaimBinder::KeepMatching(const PodClaims& claims, RowSet* rows) const {
  // What is kept for each row grows with the square of the number of claims.
  constexpr size_t kMostClaims = 32;
  const size_t n = claims.delayed.size();
  if (n > kMostClaims) return false;
  std::vector<Options> options;
  std::vector<const RowSet*> provisionable;
  for (const ClaimPtr& claim : claims.delayed) {
    options.push_back(OptionsOf(*claim, NotTaken));
    // A claim that the pod names twice may get another volume the second time.
    const bool again = std::count(claims.delayed.begin(), claims.delayed.end(), claim) > 1;
    if (again && options.back().own != nullptr) return false;
    provisionable.push_back(&ProvisionableRows(*claim));
  }
  absl::flat_hash_map<uint32_t, RowSet> by_affinity;
  // By row and claim: the volumes that the claim could get there, the best first.
  absl::flat_hash_map<Row, std::vector<std::vector<const PersistentVolume*>>> reach;
  for (size_t i = 0; i < n; ++i) {
    auto add = [&](const VolumePtr& v, const RowSet& where) {
      where.ForEach([&](Row row) {
        if (!rows->Has(row)) return;
        auto& lists = reach.try_emplace(row, n).first->second;
        if (lists[i].size() < n) lists[i].push_back(v.get());
      });
    };
    if (options[i].own != nullptr) {
      RowSet where;
      AddAdmitted(options[i].own->node_affinity, &where);
      add(options[i].own, where);
    }
    absl::flat_hash_map<uint32_t, size_t> used;
    for (const FreeVolume& f : options[i].any()) {
      if (++used[f.affinity] > n) continue;
      auto [it, fresh] = by_affinity.try_emplace(f.affinity);
      if (fresh) AddAdmitted(f.volume->node_affinity, &it->second);
      add(f.volume, it->second);
    }
  }
  std::vector<const PersistentVolume*> taken;
  rows->ForEach([&](Row row) {
    auto lists = reach.find(row);
    taken.clear();
    for (size_t i = 0; i < n; ++i) {
      const PersistentVolume* found = nullptr;
      if (lists != reach.end()) {
        for (const PersistentVolume* v : lists->second[i]) {
          if (options[i].own == nullptr && std::find(taken.begin(), taken.end(), v) != taken.end()) continue;
          found = v;
          break;
        }
      }
      if (found != nullptr) {
        taken.push_back(found);
      } else if (!provisionable[i]->Has(row)) {
        rows->Erase(row);
        return;
      }
    }
  });
  return true;
}

// On some rows, the volume may have to be translated. Whether it can be does not depend on the row.
bool ClaimBinder::AddUsable(const VolumePtr& volume, RowSet* rows) const {
  AddAdmitted(volume->node_affinity, rows);
  if (!IsTranslated(*volume)) return true;
  const RowSet& migrated = csi_node_rows_.Migrated(InTreePluginOf(*volume));
  if (migrated.empty()) return true;
  const Translation& translation = TranslationOf(volume);
  if (!translation.error.empty()) return false;
  RowSet there;
  AddAdmitted(translation.node_affinity, &there);
  there.IntersectWith(migrated);
  migrated.ForEach([&](Row row) { rows->Erase(row); });
  there.ForEach([&](Row row) { rows->Insert(row); });
  return true;
}

bool ClaimBinder::MayErr(std::span<const ClaimPtr> bound) const {
  return std::ranges::any_of(bound, [&](const ClaimPtr& claim) {
    const VolumePtr volume = Volume(claim->volume_name);
    return volume != nullptr && IsTranslated(*volume) && !TranslationOf(volume).error.empty();
  });
}

void ClaimBinder::FindBound(std::span<const ClaimPtr> bound, std::span<const Row> rows,
                            std::span<Bound> answers) const {
  BERTH_REQUIRES(!MayErr(bound) && answers.size() == rows.size());
  std::ranges::fill(answers, Bound::kUsable);
  for (const ClaimPtr& claim : bound) {
    const VolumePtr volume = Volume(claim->volume_name);
    RowSet usable;
    if (volume != nullptr) AddUsable(volume, &usable);
    const Bound otherwise = volume != nullptr ? Bound::kOutOfReach : Bound::kMissing;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (answers[i] == Bound::kUsable && !usable.Has(rows[i])) answers[i] = otherwise;
    }
    if (volume == nullptr) return;
  }
}

bool ClaimBinder::KeepFitting(const PodClaims& claims, RowSet* rows) const {
  RowSet kept = *rows;
  for (const ClaimPtr& claim : claims.bound) {
    const VolumePtr volume = Volume(claim->volume_name);
    if (volume == nullptr) {
      rows->Clear();
      return true;
    }
    if (volume->node_affinity.empty() && InTreePluginOf(*volume).empty()) continue;
    RowSet usable;
    if (!AddUsable(volume, &usable)) return false;
    kept.IntersectWith(usable);
  }
  *rows = std::move(kept);
  if (claims.delayed.empty()) return true;
  // Claims with a selected node come first, and all other nodes are excluded.
  DropOldProvisionable();
  if (claims.delayed[0]->selected_node) {
    const Row row = cache_->FindRow(Symbol::Find(*claims.delayed[0]->selected_node));
    const bool fits = row != kNoRow && rows->Has(row) && Find(claims, *cache_->row(row).node).fits();
    rows->Clear();
    if (fits) rows->Insert(row);
    return true;
  }
  if (std::any_of(claims.delayed.begin(), claims.delayed.end(),
                  [&](const ClaimPtr& claim) { return !OptionsOf(*claim, NotTaken).empty(); })) {
    return KeepMatching(claims, rows);
  }
  for (const ClaimPtr& claim : claims.delayed) rows->IntersectWith(ProvisionableRows(*claim));
  return true;
}

}  // namespace berth::scheduler
