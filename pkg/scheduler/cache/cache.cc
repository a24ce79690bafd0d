// Nodes and pods of a Cache and the sums over the pods of each row. The live counts are in cache_counts.cc.
//
// Everything that is derived from nodes and pods is updated in two functions. SetNode replaces the node object of a
// row: it takes the row out of everything that depends on the old object, for example the row's pods out of the counts
// of its old zone, and enters it anew. CountPod adds or subtracts one pod. Both must subtract exactly what they have
// added; cache_property_test.cc compares the result with a cache that is built from scratch.
#include "pkg/scheduler/cache/cache.h"

#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "pkg/api/zone.h"
#include "pkg/scheduler/cache/scalar_lookup.h"
#include "pkg/util/contract.h"
#include "pkg/util/log_line.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

constexpr absl::Duration kAssumedPodTtl = absl::Seconds(30);  // as in 1.10
// Clusters have a few extended resources. Pods can name any number.
constexpr size_t kMostScalarColumns = 32;

const Symbol kTrue("True"), kFalse("False"), kReady("Ready"), kOutOfDisk("OutOfDisk"),
    kNetworkUnavailable("NetworkUnavailable"), kMemoryPressure("MemoryPressure"), kDiskPressure("DiskPressure"),
    kNoSchedule("NoSchedule"), kNoExecute("NoExecute"), kPreferNoSchedule("PreferNoSchedule"), kAnyAddress("0.0.0.0");

absl::Status NoUid() {
  return util::InvalidArgument("Cannot get cache key for pod with empty UID");
}

void CountLabels(const api::Labels& labels, int sign, KeyCounts<Symbol>* keys) {
  for (const auto& [key, value] : labels) keys->Count(key, sign);
}

// Returns whether the node avoids any controller.
bool CountAvoided(const api::Node& node, int sign, KeyCounts<std::pair<Symbol, std::string>>* avoided) {
  bool any = false;
  for (const api::AvoidPods& a : node.avoid_pods) {
    if (!a.has_controller) continue;
    avoided->Count({a.kind, a.uid}, sign);
    any = true;
  }
  return any;
}

// Adds the amounts to the sum one by one, and returns the resource of the first that makes it exceed int64.
Symbol AddUntilCut(const api::ResourceList& amounts, Resource* sum) {
  for (const auto& amount : amounts) {
    if (!sum->Add({amount}, IsScalarOrPrefixedName)) return amount.first;
  }
  return {};
}

// Returns a resource of which a pod of the template requests more than an int64_t holds. It is empty if only what is
// assumed of containers without a request leads there.
Symbol CutRequest(const api::PodTemplate& t) {
  Resource sum;
  for (const api::Container& c : t.containers) {
    if (const Symbol name = AddUntilCut(c.requests, &sum); !name.empty()) return name;
  }
  if (const Symbol name = AddUntilCut(t.overhead, &sum); !name.empty()) return name;
  Resource sidecars;
  for (const api::Container& c : t.init_containers) {
    Resource own;
    if (const Symbol name = AddUntilCut(c.requests, c.restart_always ? &sidecars : &own); !name.empty()) return name;
  }
  Resource whole;
  return AddUntilCut(t.pod_requests, &whole);
}

void WarnOfRequest(const api::PodTemplate& t, std::string_view pod) {
  util::LogLine line("Request exceeds int64; clamped to its limit");
  if (pod.empty()) {
    line.Add("namespace", t.ns.str());
  } else {
    line.AddObject("pod", t.ns.str(), pod);
  }
  if (const Symbol name = CutRequest(t); !name.empty()) line.Add("resource", name.str());
  line.Warning();
}

void WarnOfAllocatable(const api::Node& node) {
  Resource sum;
  util::LogLine("Allocatable exceeds int64; clamped to its limit")
      .AddObject("node", "", node.meta.name)
      .Add("resource", AddUntilCut(node.allocatable, &sum).str())
      .Warning();
}

}  // namespace

const Symbol Cache::kNoValue = LabelColumn::no_value();

// ---- host ports ---------------------------------------------------------------------------------

namespace {

bool ComesBefore(const HostPort& a, const HostPort& b) {
  return std::tie(a.port, a.protocol, a.ip) < std::tie(b.port, b.protocol, b.ip);
}

}  // namespace

// The ports are sorted, because a pod may have thousands of them.
void HostPorts::Add(const HostPort& p) {
  std::vector<HostPort>& ports = ports_.Ensure();
  const auto at = std::lower_bound(ports.begin(), ports.end(), p, ComesBefore);
  if (at == ports.end() || *at != p) ports.insert(at, p);
}
void HostPorts::Remove(const HostPort& p) {
  if (!ports_) return;
  const auto at = std::lower_bound(ports_->begin(), ports_->end(), p, ComesBefore);
  if (at != ports_->end() && *at == p) ports_->erase(at);
  if (ports_->empty()) ports_.reset();
}
bool HostPorts::Conflicts(const HostPort& p) const {
  if (!ports_) return false;
  if (p.ip != kAnyAddress) {
    return std::binary_search(ports_->begin(), ports_->end(), p, ComesBefore) ||
           std::binary_search(ports_->begin(), ports_->end(), HostPort{kAnyAddress, p.protocol, p.port}, ComesBefore);
  }
  const auto at = std::lower_bound(ports_->begin(), ports_->end(), p, [](const HostPort& a, const HostPort& b) {
    return std::tie(a.port, a.protocol) < std::tie(b.port, b.protocol);
  });
  return at != ports_->end() && at->port == p.port && at->protocol == p.protocol;
}

bool HostPorts::HasNumber(int32_t port) const {
  if (!ports_) return false;
  const auto at = std::lower_bound(ports_->begin(), ports_->end(), port,
                                   [](const HostPort& used, int32_t number) { return used.port < number; });
  return at != ports_->end() && at->port == port;
}

// ---- rows and nodes -----------------------------------------------------------------------------

Cache::Cache(void (*describe)(const api::PodTemplate&, TemplateInfo*), CacheOptions options)
    : describe_(describe),
      options_(options),
      images_(options.notes_image_spread),
      orders_(options.order, options.keeps_tree, &columns_.name) {}
Cache::~Cache() = default;

Row Cache::FindRow(Symbol node_name) const {
  auto it = row_by_name_.find(node_name);
  return it == row_by_name_.end() ? kNoRow : it->second;
}

std::array<std::vector<int64_t>*, 12> Cache::AmountColumns() {
  Columns& c = columns_;
  return {&c.alloc_cpu,   &c.alloc_memory, &c.alloc_gpu,      &c.alloc_ephemeral, &c.alloc_pods,  &c.used_cpu,
          &c.used_memory, &c.used_gpu,     &c.used_ephemeral, &c.pod_count,       &c.nonzero_cpu, &c.nonzero_memory};
}

// Returns the row of the node name. If there is none, a free row is used, or one is added to every column.
Row Cache::EnsureRow(Symbol name) {
  if (Row r = FindRow(name); r != kNoRow) return r;
  Row r;
  if (!free_rows_.empty()) {
    r = free_rows_.back();
    free_rows_.pop_back();
  } else {
    r = static_cast<Row>(rows_.size());
    rows_.emplace_back();
    for (auto* column : AmountColumns()) column->push_back(0);
    for (auto& [resource, column] : scalar_columns_) {
      column->alloc.push_back(0);
      column->used.push_back(0);
    }
    columns_.volumes.push_back(0);
    columns_.flags.push_back(0);
    columns_.taints.push_back(0);
    columns_.zone.emplace_back();
    columns_.zone_by_either_label.emplace_back();
    columns_.name.emplace_back();
    orders_.Resize(r + 1);
  }
  rows_[r].name = name;
  columns_.name[r] = name;
  rows_[r].in_use = true;
  row_by_name_[name] = r;
  Touch(r);
  return r;
}

void Cache::Reserve(size_t nodes, size_t pods) {
  rows_.reserve(nodes);
  for (auto* column : AmountColumns()) column->reserve(nodes);
  columns_.volumes.reserve(nodes);
  columns_.flags.reserve(nodes);
  columns_.taints.reserve(nodes);
  columns_.zone.reserve(nodes);
  columns_.zone_by_either_label.reserve(nodes);
  columns_.name.reserve(nodes);
  row_by_name_.reserve(nodes);
  pod_states_.reserve(pods);
}

// Frees the row when it has neither a node object nor pods. The row may then be given to another node, so this counts
// as a change of the node object.
void Cache::FreeRowIfEmpty(Row r) {
  NodeRow& row = rows_[r];
  if (row.node != nullptr || !row.pods.empty()) return;
  row_by_name_.erase(row.name);
  const uint64_t generation = row.generation;
  row = NodeRow{};
  row.generation = generation;  // Touch needs it
  Touch(r, /*node_changed=*/true);
  free_rows_.push_back(r);
}

// Gives the row a new generation and enters the change in the log. Every change of a row ends here, unless it only
// replaces a pod by a newer object that counts the same.
void Cache::Touch(Row r, bool node_changed) {
  rows_[r].generation = log_.Enter(r, node_changed, rows_[r].generation, rows_.size());
}

// Computes the flags from the node's conditions and taints, and numbers its list of taints. If a condition type occurs
// several times, the last one counts for the pressures, and each one counts for kRowConditionBad, as in 1.10.
void Cache::SetFlags(Row r) {
  uint8_t flags = 0;
  uint32_t taints = 0;
  if (const api::Node* node = rows_[r].node.get()) {
    flags |= kRowListed;
    if (node->unschedulable) flags |= kRowCordoned;
    taints = taint_lists_.Use(node->taints);
    bool memory = false, disk = false, bad = node->unschedulable;
    for (const api::NodeCondition& c : node->conditions) {
      if (c.type == kMemoryPressure) memory = c.status == kTrue;
      if (c.type == kDiskPressure) disk = c.status == kTrue;
      if (c.type == kReady) bad |= c.status != kTrue;
      if (c.type == kOutOfDisk || c.type == kNetworkUnavailable) bad |= c.status != kFalse;
    }
    flags |= (memory ? kRowMemoryPressure : 0) | (disk ? kRowDiskPressure : 0) | (bad ? kRowConditionBad : 0);
    for (const api::Taint& t : node->taints) {
      if (t.effect == kNoSchedule || t.effect == kNoExecute) flags |= kRowHardTaints;
      if (t.effect == kPreferNoSchedule) flags |= kRowSoftTaints;
    }
  }
  columns_.flags[r] = flags;
  taint_lists_.Release(std::exchange(columns_.taints[r], taints));
}

bool Cache::IsAvoided(const api::OwnerReference& controller) const {
  return !avoided_.empty() && avoided_.Has(std::pair(controller.kind, controller.uid));
}

// Replaces the node object of a row; null removes it. What did not change is left alone, because most updates are
// heartbeats that change conditions only: the counts by domain when the labels are the same, the counts with a node
// filter when the taints are the same as well, the index of images when the images are.
void Cache::SetNode(Row r, api::NodePtr node) {
  NodeRow& row = rows_[r];
  bool was_listed = row.node != nullptr;
  bool same_labels = was_listed && node != nullptr && row.node->labels == node->labels;
  if (!same_labels) {
    for (const PlacedPod& p : row.pods) CountInDomains(r, p, -1, Why::kPlaced);
    if (was_listed) CountLabels(row.node->labels, -1, &label_keys_);
    if (node != nullptr) CountLabels(node->labels, +1, &label_keys_);
  }
  // Node filters read labels, taints and the name (NodeFilter), and the name of a row never changes.
  const bool same_for_filters = same_labels && row.node->taints == node->taints;
  if (!same_for_filters) DismissFromCounts(r);
  if (was_listed && CountAvoided(*row.node, -1, &avoided_)) ++avoided_version_;
  const util::SharedSymbol zone_before = TreeZone(r);
  images_.Replace(r, row.node.get(), node.get());
  row.node = std::move(node);
  if (row.node != nullptr && CountAvoided(*row.node, +1, &avoided_)) ++avoided_version_;
  Resource allocatable;
  if (row.node != nullptr) {
    if (!allocatable.Add(row.node->allocatable, IsScalarOrPrefixedName)) WarnOfAllocatable(*row.node);
  }
  columns_.alloc_cpu[r] = allocatable.milli_cpu;
  columns_.alloc_memory[r] = allocatable.memory;
  columns_.alloc_gpu[r] = allocatable.nvidia_gpu;
  columns_.alloc_ephemeral[r] = allocatable.ephemeral_storage;
  columns_.alloc_pods[r] = allocatable.allowed_pods;
  columns_.gpu_matters |= allocatable.nvidia_gpu < 0;
  columns_.ephemeral_matters |= allocatable.ephemeral_storage < 0;
  row.allocatable = std::move(allocatable);
  for (auto& [name, column] : scalar_columns_) column->alloc[r] = ScalarOf(row.allocatable, name);
  SetFlags(r);
  if (!same_labels) {
    const api::Labels no_labels;
    const api::Labels& labels = row.node != nullptr ? row.node->labels : no_labels;
    columns_.zone[r] = util::SharedSymbol(api::ZoneKeyOf(labels, api::ZoneLabels::kFormer));
    columns_.zone_by_either_label[r] = util::SharedSymbol(api::ZoneKeyOf(labels, api::ZoneLabels::kFormerOrTodays));
    for (auto& [key, column] : label_columns_) {
      column->Set(r, row.node != nullptr ? LabelOf(r, key) : kNoValue);
    }
    for (const PlacedPod& p : row.pods) CountInDomains(r, p, +1, Why::kPlaced);
  }
  if (!same_for_filters) AdmitToCounts(r);
  orders_.Note({r, was_listed, row.node != nullptr, zone_before.get(), TreeZone(r).get(), log_.generation() + 1});
  Touch(r, /*node_changed=*/true);
}

void Cache::AddNode(api::NodePtr node) {
  Row r = EnsureRow(util::SharedSymbol(node->meta.name));
  SetNode(r, std::move(node));
}

void Cache::RemoveNode(std::string_view name) {
  Row r = FindRow(Symbol::Find(name));
  if (r == kNoRow || rows_[r].node == nullptr) return;
  SetNode(r, nullptr);
  FreeRowIfEmpty(r);
}

Symbol Cache::ZoneKey() {
  static const Symbol kZoneKey("\x01zone");
  return kZoneKey;
}
Symbol Cache::ZoneByEitherLabelKey() {
  static const Symbol kZoneKey("\x01zone by either label");
  return kZoneKey;
}

Symbol Cache::LabelOf(Row r, Symbol key) const {
  const bool either = key == ZoneByEitherLabelKey();
  if (!either && key != ZoneKey()) return rows_[r].node->labels.Get(key).value_or(kNoValue);
  const util::SharedSymbol& zone = (either ? columns_.zone_by_either_label : columns_.zone)[r];
  return zone.empty() ? kNoValue : zone.get();
}

const Cache::ImageNodes* Cache::Image(Symbol name) const {
  return images_.Find(name, [this](const auto& add) { listed().ForEach([&](Row r) { add(r, *rows_[r].node); }); });
}

const Cache::LabelColumn& Cache::Label(Symbol key) const {
  std::unique_ptr<LabelColumn>& column = label_columns_[key];
  if (column == nullptr) {
    column = std::make_unique<LabelColumn>();
    // Pods may name any number of labels that no node has.
    if (key == ZoneKey() || key == ZoneByEitherLabelKey() || label_keys_.Has(key)) {
      column->SetAll(listed(), row_count(), [&](Row r) { return LabelOf(r, key); });
    }
  }
  return *column;
}

const ScalarColumns* Cache::ScalarColumnsOf(Symbol resource) const {
  if (auto known = scalar_columns_.find(resource); known != scalar_columns_.end()) return known->second.get();
  if (scalar_columns_.size() >= kMostScalarColumns) return nullptr;
  auto column = std::make_unique<ScalarColumns>();
  for (const NodeRow& row : rows_) {
    column->alloc.push_back(ScalarOf(row.allocatable, resource));
    column->used.push_back(ScalarOf(row.requested, resource));
  }
  return (scalar_columns_[resource] = std::move(column)).get();
}

// ---- sums and counts ----------------------------------------------------------------------------

// Adds or subtracts a pod in the row's amounts. Once a sum was cut to fit an int64, subtracting does not restore it, so
// the row is marked `saturated` and counted anew when a pod leaves.
void Cache::CountResources(Row r, const TemplateInfo& info, int sign) {
  NodeRow& row = rows_[r];
  bool cut = info.saturated;
  auto add = [&](int64_t* sum, int64_t amount) {
    *sum = sign > 0 ? SaturatingAdd(*sum, amount, &cut) : SaturatingSub(*sum, amount, &cut);
  };
  add(&columns_.used_cpu[r], info.used.milli_cpu);
  add(&columns_.used_memory[r], info.used.memory);
  add(&columns_.used_gpu[r], info.used.nvidia_gpu);
  add(&columns_.used_ephemeral[r], info.used.ephemeral_storage);
  add(&columns_.nonzero_cpu[r], info.nonzero_milli_cpu);
  add(&columns_.nonzero_memory[r], info.nonzero_memory);
  columns_.gpu_matters |= info.used.nvidia_gpu != 0;
  columns_.ephemeral_matters |= info.used.ephemeral_storage != 0;
  for (const auto& [name, amount] : info.used.scalars) {
    int64_t* const sum = row.requested.MutableScalar(name);
    add(sum, amount);
    if (auto column = scalar_columns_.find(name); column != scalar_columns_.end()) column->second->used[r] = *sum;
  }
  columns_.pod_count[r] += sign;
  columns_.volumes[r] += sign * static_cast<int32_t>(info.tmpl->volumes.size());
  row.saturated |= cut;
}

void Cache::CountPod(Row r, const PlacedPod& p, int sign, Why why) {
  CountResources(r, *p.info, sign);
  for (const HostPort& port : p.info->host_ports) {
    if (sign > 0) {
      rows_[r].ports.Add(port);
    } else {
      rows_[r].ports.Remove(port);
    }
  }
  for (PodCount* c : p.info->labelled->counted_by) {
    if (!Counts(*c, p, why)) continue;
    if (c->column() == nullptr) c->Add(r, sign);
    c->total_all_ += sign;
    if (c->query_.nodes == nullptr || rows_[r].node == nullptr || !c->CountsOn(r)) continue;
    c->total_ += sign;
    if (const uint32_t domain = c->DomainOf(r); domain != LabelColumn::kNoDomain) c->AddInDomain(domain, sign);
  }
  // LabelledPods::rows says where pods are placed, which a nominated pod is not.
  if (why != Why::kNominated) {
    const bool terminating = p.pod->meta.deleting();
    LabelledPods::Placed& placed = p.info->labelled->rows[r];
    (terminating ? placed.terminating : placed.live) += sign;
    if (placed.live == 0 && placed.terminating == 0) p.info->labelled->rows.erase(r);
    p.info->pods += sign;
    const auto same = pods_with_priority_.try_emplace(p.info->priority).first;
    same->second += sign;
    if (same->second == 0) pods_with_priority_.erase(same);
  }
  CountInDomains(r, p, sign, why);
  if (!hooks_.empty()) TellHooks(r, p, sign, why != Why::kPlaced);
}

void Cache::Tell(const std::shared_ptr<PodHooks>& hooks) {
  for (Row r = 0; r < row_count(); ++r) {
    for (const PlacedPod& p : rows_[r].pods) hooks->Placed(r, p, /*trial=*/false);
  }
  hooks_.push_back(hooks);
}

void Cache::TellHooks(Row r, const PlacedPod& p, int sign, bool trial) {
  std::erase_if(hooks_, [&](const std::weak_ptr<PodHooks>& known) {
    const std::shared_ptr<PodHooks> hooks = known.lock();
    if (hooks == nullptr) return true;
    sign > 0 ? hooks->Placed(r, p, trial) : hooks->Left(r, p, trial);
    return false;
  });
}

// Computes the amounts of the row from its pods.
void Cache::Recount(Row r) {
  NodeRow& row = rows_[r];
  columns_.used_cpu[r] = columns_.used_memory[r] = columns_.used_gpu[r] = columns_.used_ephemeral[r] = 0;
  columns_.nonzero_cpu[r] = columns_.nonzero_memory[r] = columns_.pod_count[r] = 0;
  row.requested = {};
  for (auto& [name, column] : scalar_columns_) column->used[r] = 0;
  columns_.volumes[r] = 0;
  row.saturated = false;
  for (const PlacedPod& p : row.pods) CountResources(r, *p.info, +1);
}

void Cache::Place(Row r, const PlacedPod& p) {
  rows_[r].pods.push_back(p);
  CountPod(r, p, +1);
  Touch(r);
}

// The list and the pod's state share the object, so no other pod is looked at: on a full node, fetching the uid of each
// would cost more than all the rest of an update. Most updates are of the pod that came last.
PlacedPod& Cache::PlaceOf(Row r, const api::PodPtr& known) {
  auto& pods = rows_[r].pods;
  const auto it = std::find_if(pods.rbegin(), pods.rend(), [&](const PlacedPod& p) { return p.pod == known; });
  CHECK(it != pods.rend()) << "pod " << known->meta.uid << " is not in the list of its node";
  return *it;
}

void Cache::Unplace(Row r, const api::PodPtr& known) {
  NodeRow& row = rows_[r];
  PlacedPod& place = PlaceOf(r, known);
  const PlacedPod gone = std::exchange(place, std::move(row.pods.back()));
  row.pods.pop_back();
  CountPod(r, gone, -1);
  if (row.saturated) Recount(r);
  Touch(r);
}

TemplateInfo* Cache::InfoOf(const std::shared_ptr<const api::PodTemplate>& tmpl, std::string_view pod) {
  auto it = templates_.find(tmpl.get());
  if (it != templates_.end()) return it->second.get();
  if (templates_.size() >= next_template_sweep_) DropUnusedTemplates();
  auto owned = std::make_unique<TemplateInfo>();
  TemplateInfo* info = owned.get();
  info->tmpl = tmpl;
  describe_(*tmpl, info);
  if (info->saturated) WarnOfRequest(*tmpl, pod);
  auto declare = [&](TermUse::Kind kind, const api::PodAffinityTerm& t, int32_t weight) {
    const uint32_t term = terms_.Use(t, kind == TermUse::Kind::kAntiRequired);
    if (!t.topology_key.empty()) terms_.terms_[term].column = &Label(t.topology_key);
    info->terms.push_back({kind, weight, term});
  };
  // CountInDomains needs the column of each topology key, so the columns are created before any pod is counted.
  if (const auto& a = tmpl->affinity.pod) {
    for (const auto& t : a->required) declare(TermUse::Kind::kAffinityRequired, t, 0);
    for (const auto& t : a->preferred) declare(TermUse::Kind::kPreferred, t.term, t.weight);
  }
  if (const auto& a = tmpl->affinity.pod_anti) {
    for (const auto& t : a->required) declare(TermUse::Kind::kAntiRequired, t, 0);
    for (const auto& t : a->preferred) {
      declare(TermUse::Kind::kPreferred, t.term, static_cast<int32_t>(0u - static_cast<uint32_t>(t.weight)));
    }
  }
  info->labelled = LabelledFor(*tmpl);
  templates_.emplace(tmpl.get(), std::move(owned));
  return info;
}

// Returns what the template shares with others that have its labels, for one more template.
LabelledPods* Cache::LabelledFor(const api::PodTemplate& tmpl) {
  std::unique_ptr<LabelledPods>& owned = labelled_[{tmpl.ns, {tmpl.labels.begin(), tmpl.labels.end()}}];
  if (owned != nullptr) {
    ++owned->templates;
    return owned.get();
  }
  owned = std::make_unique<LabelledPods>();
  LabelledPods* const pods = owned.get();
  pods->ns = tmpl.ns;
  pods->labels = tmpl.labels;
  pods->templates = 1;
  std::vector<uint32_t> candidates;
  counts_index_.Candidates(tmpl.labels, &candidates);
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  for (uint32_t number : candidates) {
    if (counts_[number]->query_.Matches(tmpl)) pods->counted_by.push_back(counts_[number].get());
  }
  for (const auto& label : tmpl.labels) labelled_by_label_[label].push_back(pods);
  return pods;
}

// Takes note that a template with these labels is dropped.
void Cache::DropLabelled(LabelledPods* pods) {
  if (--pods->templates > 0) return;
  for (const auto& label : pods->labels) {
    auto it = labelled_by_label_.find(label);
    std::erase(it->second, pods);
    if (it->second.empty()) labelled_by_label_.erase(it);
  }
  labelled_.erase(LabelsKey{pods->ns, {pods->labels.begin(), pods->labels.end()}});
}

// Drops the templates that have no placed pod and to which no pointer exists outside of the cache. The next sweep comes
// when the number of templates has doubled, so that a sweep costs little for each template that is added.
void Cache::DropUnusedTemplates() {
  absl::erase_if(templates_, [&](const auto& entry) {
    const TemplateInfo& info = *entry.second;
    if (info.pods != 0 || info.tmpl.use_count() > 1) return false;
    for (const TermUse& use : info.terms) ReleaseTerm(use.term);
    DropLabelled(info.labelled);
    return true;
  });
  next_template_sweep_ = std::max<size_t>(1024, 2 * templates_.size());
}

// ---- pods ---------------------------------------------------------------------------------------

absl::Status Cache::AssumePod(api::PodPtr pod) {
  BERTH_REQUIRES(!pod->node_name.empty());
  if (pod->meta.uid.empty()) return NoUid();
  if (!pod_states_.insert({pod, /*assumed=*/true}).second) {
    return util::FailedPrecondition(absl::StrCat("pod ", pod->meta.uid, " is in the cache, so can't be assumed"));
  }
  ++assumed_;
  Place(EnsureRow(pod->node_name), {pod, Info(*pod)});
  return absl::OkStatus();
}

void Cache::FinishBinding(const api::Pod& pod, absl::Duration now) {
  auto it = pod_states_.find(pod.meta.uid);
  if (it == pod_states_.end() || !it->assumed) return;
  deadlines_[it->pod.get()] = now + kAssumedPodTtl;
  if (VLOG_IS_ON(5)) {
    util::LogLine("Finished binding for pod, can be expired")
        .InSentences(absl::StrCat("Finished binding for pod ", pod.meta.uid, ". Can be expired."))
        .Add("podKey", pod.meta.uid)
        .AddObject("pod", pod.meta.ns.str(), pod.meta.name)
        .Info(5);
  }
}

absl::Status Cache::ForgetPod(const api::Pod& pod) {
  if (pod.meta.uid.empty()) return NoUid();
  auto it = pod_states_.find(pod.meta.uid);
  if (it == pod_states_.end() || !it->assumed) {
    return util::FailedPrecondition(absl::StrCat("pod ", pod.meta.uid, " wasn't assumed so cannot be forgotten"));
  }
  const api::PodPtr known = it->pod;
  if (known->node_name != pod.node_name) {
    return util::FailedPrecondition(absl::StrCat("pod ", pod.meta.uid, " was assumed on ", pod.node_name.string(),
                                                 " but assigned to ", known->node_name.string()));
  }
  return RemovePod(pod);
}

absl::Status Cache::AddPod(api::PodPtr pod) {
  if (pod->meta.uid.empty()) return NoUid();
  const auto [it, fresh] = pod_states_.insert({pod});
  const PodState& state = *it;
  if (fresh) {
    Place(EnsureRow(pod->node_name), {pod, Info(*pod)});
    return absl::OkStatus();
  }
  if (!state.assumed) {
    return util::FailedPrecondition(absl::StrCat("pod ", pod->meta.uid, " was already in added state"));
  }
  if (state.pod->node_name != pod->node_name) {
    util::LogLine("Pod was added to a different node than it was assumed")
        .InSentences(absl::StrCat("Pod ", pod->meta.uid, " was assumed to be on ", state.pod->node_name.string(),
                                  " but got added to ", pod->node_name.string()))
        .Add("podKey", pod->meta.uid)
        .AddObject("pod", pod->meta.ns.str(), pod->meta.name)
        .Add("assumedNode", state.pod->node_name.str())
        .Add("currentNode", pod->node_name.str())
        .Warning();
  }
  // The pod was assumed. From here on it is a bound pod that has changed, perhaps to another node.
  deadlines_.erase(state.pod.get());
  state.assumed = false;
  --assumed_;
  return UpdatePod(std::move(pod));
}

absl::Status Cache::UpdatePod(api::PodPtr pod) {
  if (pod->meta.uid.empty()) return NoUid();
  auto it = pod_states_.find(pod->meta.uid);
  if (it == pod_states_.end() || it->assumed) return AddPod(std::move(pod));
  const PodState& state = *it;
  Row from = FindRow(state.pod->node_name);
  if (state.pod->node_name != pod->node_name) {
    ++repairs_;
    util::LogLine("Pod updated on a different node than previously added to. The cache was corrected")
        .InSentences(absl::StrCat(
            "Pod ", pod->meta.uid, " updated on a different node than previously added to: it is on ",
            pod->node_name.string(), ", not on ", state.pod->node_name.string(), ". The cache was corrected."))
        .Add("podKey", pod->meta.uid)
        .AddObject("pod", pod->meta.ns.str(), pod->meta.name)
        .Add("knownNode", state.pod->node_name.str())
        .Add("currentNode", pod->node_name.str())
        .Error({});
  } else if (state.pod->tmpl == pod->tmpl && state.pod->meta.deleting() == pod->meta.deleting()) {
    // Template, node and deletion are all that is counted, so it is enough to replace the object.
    PlaceOf(from, state.pod).pod = pod;
    // Who is evicted first depends on when pods started.
    if (state.pod->start_seconds != pod->start_seconds) Touch(from);
    state.pod = std::move(pod);
    return absl::OkStatus();
  }
  Unplace(from, state.pod);
  state.pod = pod;
  Row to = EnsureRow(pod->node_name);
  Place(to, {pod, Info(*pod)});
  if (from != to) FreeRowIfEmpty(from);
  return absl::OkStatus();
}

absl::Status Cache::RemovePod(const api::Pod& pod) {
  if (pod.meta.uid.empty()) return NoUid();
  auto it = pod_states_.find(pod.meta.uid);
  if (it == pod_states_.end()) {
    return util::NotFound(
        absl::StrCat("pod ", pod.meta.uid, " is not found in scheduler cache, so cannot be removed from it"));
  }
  const api::PodPtr known = it->pod;
  if (it->assumed) --assumed_;
  deadlines_.erase(known.get());
  pod_states_.erase(it);
  Row r = FindRow(known->node_name);
  Unplace(r, known);
  FreeRowIfEmpty(r);
  return absl::OkStatus();
}

bool Cache::IsAssumed(std::string_view uid) const {
  auto it = pod_states_.find(uid);
  return it != pod_states_.end() && it->assumed;
}

api::PodPtr Cache::GetPod(std::string_view uid) const {
  auto it = pod_states_.find(uid);
  return it == pod_states_.end() ? nullptr : it->pod;
}

std::vector<api::PodPtr> Cache::Expire(absl::Duration now) {
  std::vector<api::PodPtr> expired;
  for (const auto& [pod, deadline] : deadlines_) {
    if (now > deadline) expired.push_back(GetPod(pod->meta.uid));
  }
  // The order of a hash table differs from run to run; a replayed recording must expire pods in the same order.
  std::sort(expired.begin(), expired.end(),
            [](const api::PodPtr& a, const api::PodPtr& b) { return a->meta.uid < b->meta.uid; });
  for (const api::PodPtr& pod : expired) {
    util::LogLine("Pod expired")
        .InSentences(absl::StrCat("Pod ", pod->meta.Key(), " expired"))
        .Add("podKey", pod->meta.uid)
        .AddObject("pod", pod->meta.ns.str(), pod->meta.name)
        .Warning();
    RemovePod(*pod).IgnoreError();
  }
  return expired;
}

}  // namespace berth::scheduler
