// The scheduler's view of the cluster: a table of nodes, the pods on them (assumed pods too), and the services,
// controllers, volumes and budgets that rules look up. Kubernetes 1.10: pkg/scheduler/schedulercache and the listers.
//
// A "row" is the dense index of a node in the table, from 0 to row_count() - 1. A node keeps its row until its object
// and all of its pods are gone; the row may then be given to another node. A row can have pods and no node object, for
// example when a pod arrives before its node. A row with a node object is called "listed".
//
// Thread-safety: none. One thread owns a Cache and everything that reads it (pkg/README.md, "One thread owns the
// cluster"). Errors carry 1.10's texts; an error leaves the cache unchanged.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>
#include <absl/status/status.h>
#include <absl/time/time.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/cache/change_log.h"
#include "pkg/scheduler/cache/counts.h"
#include "pkg/scheduler/cache/image_index.h"
#include "pkg/scheduler/cache/key_counts.h"
#include "pkg/scheduler/cache/label_column.h"
#include "pkg/scheduler/cache/listers.h"
#include "pkg/scheduler/cache/node_orders.h"
#include "pkg/scheduler/cache/pod_hooks.h"
#include "pkg/scheduler/cache/resource.h"
#include "pkg/scheduler/cache/row_set.h"
#include "pkg/scheduler/cache/taint_lists.h"
#include "pkg/scheduler/cache/template_info.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {

struct PlacedPod {
  api::PodPtr pod;
  TemplateInfo* info;
};

// The host ports in use on one node. As in 1.10 this is a set without reference counts: if two pods use the same port,
// the port becomes free as soon as either of them leaves.
class HostPorts {
 public:
  void Add(const HostPort& p);
  void Remove(const HostPort& p);
  // Returns whether a port in use has the same number and protocol and an address that overlaps. The address 0.0.0.0
  // overlaps with every address.
  bool Conflicts(const HostPort& p) const;
  // Returns whether a port in use has this number, whatever its protocol and address.
  bool HasNumber(int32_t port) const;
  bool empty() const { return !ports_; }

 private:
  api::Rare<std::vector<HostPort>> ports_;  // never empty
};

// The data of one row besides its amounts in Columns.
struct NodeRow {
  util::SharedSymbol name;
  bool in_use = false;
  bool saturated = false;  // a sum was cut to fit an int64, so the row is counted anew when a pod leaves
  api::NodePtr node;       // null if there is no node object; the row may have pods all the same
  // Removing a pod moves the last one into its place, as in 1.10. The order matters: preemption chooses victims by it.
  std::vector<PlacedPod> pods;
  HostPorts ports;
  ScalarResources allocatable, requested;  // the other amounts are in Columns
  uint64_t generation = 0;  // value of Cache::generation() at the last change; never used twice (bug B-05, fixed)
};

// The values that rules read in every decision, each vector indexed by row. Units: milliCPU, bytes, pods. Amounts and
// flags are 0 in rows that no node uses.
struct Columns {
  std::vector<int64_t> alloc_cpu, alloc_memory, alloc_gpu, alloc_ephemeral, alloc_pods;
  std::vector<int64_t> used_cpu, used_memory, used_gpu, used_ephemeral, pod_count;
  std::vector<int64_t> nonzero_cpu, nonzero_memory;
  std::vector<int32_t> volumes;  // number of volumes in the pods' specifications, of the kinds that rules look at
  std::vector<uint8_t> flags;    // RowFlag bits
  std::vector<uint32_t> taints;  // the number of the node's list in Cache::taint_lists()
  std::vector<Symbol> name;      // the node's name
  std::vector<util::SharedSymbol> zone;                  // region ":\0:" zone; empty when the node has neither label
  std::vector<util::SharedSymbol> zone_by_either_label;  // Cache::ZoneByEitherLabelKey
  // Whether any row ever used some of the resource or had less than nothing of it. If not, a pod that requests nothing
  // of it need not look at its columns.
  bool gpu_matters = false, ephemeral_matters = false;
};
// What NodeRow::allocatable and NodeRow::requested have of one scalar resource, by row.
struct ScalarColumns {
  std::vector<int64_t> alloc, used;
};
enum RowFlag : uint8_t {
  kRowListed = 1,          // the row has a node object
  kRowMemoryPressure = 2,  // the last MemoryPressure condition is True
  kRowDiskPressure = 4,
  kRowConditionBad = 8,  // the predicate CheckNodeCondition fails
  kRowHardTaints = 16,   // has a NoSchedule or NoExecute taint
  kRowSoftTaints = 32,   // has a PreferNoSchedule taint
  kRowCordoned = 64,     // spec.unschedulable
};

// What a cache does for one release, besides the description of templates.
struct CacheOptions {
  NodeOrder order = NodeOrder::kNameDescending;
  bool keeps_tree = false;  // whether there is a NodeTree, which kZoneTree needs and decisions that sample nodes
  // Whether ImageNodes::Size::nodes is kept. It costs a look at all images of a node with each update of it.
  bool notes_image_spread = false;
  // Whether the zones of the tree are those of either label: the older one, or the one that replaced it (1.17).
  bool zones_by_either_label = false;
};

class Cache {
 public:
  // `describe` computes what a pod of a template requests by the rules of one release (Release::describe_template).
  explicit Cache(void (*describe)(const api::PodTemplate&, TemplateInfo*) = DescribeTemplate,
                 CacheOptions options = {});
  ~Cache();
  Cache(const Cache&) = delete;

  // ---- nodes ----
  // Adds the node, or replaces the node object with the same name.
  void AddNode(api::NodePtr node);
  void UpdateNode(api::NodePtr node) { AddNode(std::move(node)); }
  // Removes the node object. Its pods stay in the row until they are removed. Does nothing for an unknown name.
  void RemoveNode(std::string_view name);

  // Returns the row of the node, or kNoRow when the cache has neither the node nor a pod on it.
  Row FindRow(Symbol node_name) const;
  const NodeRow& row(Row r) const { return rows_[r]; }
  // Returns the number of rows, including those that no node uses.
  Row row_count() const { return static_cast<Row>(rows_.size()); }
  size_t node_count() const { return orders_.node_count(); }  // listed rows
  // Returns the lowest priority of a pod on any row, or INT32_MAX if there is no pod.
  int32_t least_priority() const {
    return pods_with_priority_.empty() ? std::numeric_limits<int32_t>::max() : pods_with_priority_.begin()->first;
  }
  // Returns whether the preferAvoidPods annotation of any node names the controller.
  bool IsAvoided(const api::OwnerReference& controller) const;
  // Changes whenever the results of IsAvoided may change.
  uint64_t avoided_version() const { return avoided_version_; }
  const Columns& columns() const { return columns_; }
  const TaintLists& taint_lists() const { return taint_lists_; }
  // Returns the columns of a scalar resource, made at the first call for it and kept up to date from then on. Returns
  // null, and the amounts are in NodeRow alone, when pods have named so many resources that memory is better saved.
  const ScalarColumns* ScalarColumnsOf(Symbol resource) const;
  const RowSet& listed() const { return orders_.listed(); }
  // Returns the listed rows in descending order of node name.
  const std::vector<Row>& by_name_descending() const { return orders_.by_name_descending(); }
  NodeOrder order() const { return orders_.order(); }
  // Returns the listed rows in the order of order(), in which ties are broken.
  const std::vector<Row>& in_order() const { return orders_.in_order(); }
  // Returns the rank of a row. Rows that come earlier in in_order() have lower ranks. REQUIRES: the row is listed, or
  // was listed since ranks_version() changed and its rank was not given to another row (RanksGivenUpSince).
  uint32_t Rank(Row r) const { return orders_.Rank(r); }
  // Returns the row that has the rank. REQUIRES: a listed row has it.
  Row RowAt(uint32_t rank) const { return orders_.RowAt(rank); }
  // All ranks are below this. Some of them may be free for nodes that come. It changes with ranks_version() alone.
  uint32_t rank_limit() const { return orders_.rank_limit(); }
  // Changes when all ranks are given anew. Until then, a row keeps its rank as long as it is that of one node.
  uint64_t ranks_version() const { return orders_.ranks_version(); }
  // Calls f(row, its rank before) for each row that got another rank after the given generation, because it became the
  // row of another node, oldest first. REQUIRES: ranks_version() has not changed since.
  template <typename F>
  void RanksGivenUpSince(uint64_t generation, F f) const {
    orders_.RanksGivenUpSince(generation, f);
  }
  // Changes whenever in_order() changes, which need not change ranks.
  uint64_t order_version() const { return orders_.order_version(); }
  // Return the tree of the listed rows, and these in the order of a walk that begins anew. REQUIRES:
  // CacheOptions::keeps_tree.
  NodeTree& node_tree() { return orders_.tree(); }
  const std::vector<Row>& in_tree_order() const { return orders_.in_tree_order(); }

  using LabelColumn = scheduler::LabelColumn;
  static const Symbol kNoValue;  // LabelColumn::no_value()
  // Returns the key under which Label() keeps region and zone joined as in 1.10. It is not the key of a real label. A
  // node with neither label has no value.
  static Symbol ZoneKey();
  // The same with the labels topology.kubernetes.io/region and zone for nodes without the older ones (1.17 and later).
  static Symbol ZoneByEitherLabelKey();
  // Returns the column of a node label. It is created at the first call and kept up to date from then on.
  const LabelColumn& Label(Symbol key) const;

  using ImageNodes = scheduler::ImageNodes;
  // Returns the nodes that have the image, or null when no listed node has it. All images are indexed at the first
  // call or, with CacheOptions::notes_image_spread, from the start, and the index is kept up to date from then on.
  const ImageNodes* Image(Symbol name) const;

  // ---- what changed ----
  // Grows by one with each change of a row.
  uint64_t generation() const { return log_.generation(); }
  // Return the changes after the given generation; see ChangeLog.
  template <typename F>
  bool ChangesSince(uint64_t generation, F f) const {
    return log_.Since(generation, f);
  }
  bool RowsChangedSince(uint64_t generation, std::vector<Row>* rows) const { return log_.RowsSince(generation, rows); }
  template <typename F>
  bool NodeChangesSince(uint64_t generation, F f) const {
    return log_.NodesSince(generation, f);
  }

  // ---- pods ----
  // Pods are identified by uid. A pod without one gets "Cannot get cache key for pod with empty UID".

  // Places a pod on pod->node_name before the API server has confirmed the binding. Fails when the cache already has
  // the pod. REQUIRES: pod->node_name is set.
  absl::Status AssumePod(api::PodPtr pod);
  // Lets an assumed pod expire 30 s after `now`, a reading of a monotonic clock, unless AddPod confirms it before.
  void FinishBinding(const api::Pod& pod, absl::Duration now);
  // Removes an assumed pod again. Fails when the pod is not assumed, or is assumed on another node.
  absl::Status ForgetPod(const api::Pod& pod);
  // Adds a bound pod that the API server has reported. Confirms the pod when it is assumed.
  absl::Status AddPod(api::PodPtr pod);
  // Replaces a bound pod, or adds it when it is unknown. If it is on another node than in the cache, the cache is
  // corrected and repairs() grows.
  absl::Status UpdatePod(api::PodPtr pod);
  // Removes a pod, assumed or not, that the API server has reported as gone.
  absl::Status RemovePod(const api::Pod& pod);
  bool IsAssumed(std::string_view uid) const;
  api::PodPtr GetPod(std::string_view uid) const;  // null when unknown
  // Removes and returns the assumed pods whose binding finished more than 30 s ago and was never confirmed.
  std::vector<api::PodPtr> Expire(absl::Duration now);
  size_t pod_count() const { return pod_states_.size(); }
  size_t assumed_count() const { return assumed_; }
  // Prepares for as many nodes and pods altogether, so that no table has to grow on the way to that.
  void Reserve(size_t nodes, size_t pods);
  // Returns how often UpdatePod found a pod on another node than in the cache.
  uint64_t repairs() const { return repairs_; }

  // Calls f(placed pod, its NodeRow) for every bound or assumed pod, in no particular order.
  template <typename F>
  void ForEachPod(F f) const {
    for (const NodeRow& r : rows_) {
      for (const PlacedPod& p : r.pods) f(p, r);
    }
  }

  // Tells the hooks of all pods on rows: at once of those that are there, and from then on of each that comes or goes,
  // as long as the caller holds the pointer.
  void Tell(const std::shared_ptr<PodHooks>& hooks);

  // ---- templates and counts ----
  // Returns the record of a template, which is computed at the first call. The pointer is valid as long as a pod of the
  // template is placed or a pointer to the template exists outside of the cache.
  TemplateInfo* Info(const std::shared_ptr<const api::PodTemplate>& tmpl) { return InfoOf(tmpl, {}); }
  // Returns the record of the pod's template. The pod is named in the warning about an amount beyond int64.
  TemplateInfo* Info(const api::Pod& pod) { return InfoOf(pod.tmpl, pod.meta.name); }
  // Computes what a pod of the template requests, by the rules of the cache's release, and keeps nothing.
  void Describe(const api::PodTemplate& tmpl, TemplateInfo* info) const { describe_(tmpl, info); }
  const absl::flat_hash_map<const api::PodTemplate*, std::unique_ptr<TemplateInfo>>& templates() const {
    return templates_;
  }
  // Returns the live count of the pods that match the query. Equal queries share one count, which is kept up to date as
  // long as the caller holds the pointer.
  std::shared_ptr<const PodCount> Count(const PodQuery& query);
  // Returns the live sum over declared affinity terms, shared in the same way. REQUIRES: the terms have the same
  // topology key, which is not empty.
  std::shared_ptr<const TermTotals> SumOf(const TermSum& sum);
  const DeclaredTerms& declared_terms() const { return terms_; }

  // ---- what else rules look up ----
  Listers& listers() { return listers_; }
  const Listers& listers() const { return listers_; }

  // ---- simulation ----
  // Calls f(placed pod) for the pods that a Simulation has removed from the row and given back.
  template <typename F>
  void ForEachRestored(Row row, F f) const {
    for (const auto& [r, pod] : restored_) {
      if (r == row) f(pod);
    }
  }
  // Adds pods to one row and removes pods from it, for preemption and for nominated pods, so that rules see the row as
  // it would be. The changes are made to the table itself and undone by the destructor; generations stay as they are.
  // The cache must not be changed otherwise meanwhile, and a simulation that begins within another one must end within
  // it.
  class Simulation {
   public:
    Simulation(Cache* cache, Row row);
    ~Simulation();
    Simulation(const Simulation&) = delete;
    void Remove(const PlacedPod& pod);
    void Restore(const PlacedPod& pod);  // adds the pod at the end of the row's list, as 1.10's reprieve does
    // Adds a nominated pod. Only counts with PodQuery::sees_nominated include it.
    void AddNominated(const api::PodPtr& pod);

   private:
    Cache* cache_;
    Row row_;
    std::vector<PlacedPod> saved_pods_;
    HostPorts saved_ports_;
    std::vector<std::pair<PlacedPod, int>> done_;  // each pod with +1 (restored), -1 (removed) or +2 (nominated)
    size_t restored_before_;                       // size of Cache::restored_ at the beginning
  };

 private:
  // A known pod. Its key in pod_states_ is the pod's own uid, so the object is only replaced by another with that uid.
  struct PodState {
    mutable api::PodPtr pod;
    mutable bool assumed = false;
  };
  struct UidOf {
    using is_transparent = void;
    static std::string_view Key(std::string_view uid) { return uid; }
    static std::string_view Key(const PodState& s) { return s.pod->meta.uid; }
  };
  struct HashOfUid : UidOf {
    size_t operator()(const auto& of) const { return absl::HashOf(Key(of)); }
  };
  struct SameUid : UidOf {
    bool operator()(const auto& a, const auto& b) const { return Key(a) == Key(b); }
  };
  std::array<std::vector<int64_t>*, 12> AmountColumns();
  TemplateInfo* InfoOf(const std::shared_ptr<const api::PodTemplate>& tmpl, std::string_view pod);
  Row EnsureRow(Symbol name);
  void FreeRowIfEmpty(Row r);
  void Touch(Row r, bool node_changed = false);
  // Adds the pod to the row's list and to all sums and counts.
  void Place(Row r, const PlacedPod& p);
  // Returns the pod's entry in the row's list. REQUIRES: `known` is placed on the row.
  PlacedPod& PlaceOf(Row r, const api::PodPtr& known);
  // Undoes Place. REQUIRES: `known` is placed on the row.
  void Unplace(Row r, const api::PodPtr& known);
  // Why a pod is added to or taken from the counts: it comes or goes, preemption simulates its eviction, or a
  // nomination is simulated.
  enum class Why : uint8_t { kPlaced, kSimulated, kNominated };
  // Adds (`sign` +1) or subtracts (-1) a pod in every sum and count.
  void CountPod(Row r, const PlacedPod& p, int sign, Why why = Why::kPlaced);
  void TellHooks(Row r, const PlacedPod& p, int sign, bool trial);
  void CountResources(Row r, const TemplateInfo& info, int sign);
  void CountInDomains(Row r, const PlacedPod& p, int sign, Why why);  // the counts that depend on the node's labels
  static bool Counts(const PodCount& c, const PlacedPod& p, Why why);
  Symbol LabelOf(Row r, Symbol key) const;
  void AdmitToCounts(Row r);      // called after a node object changes
  void DismissFromCounts(Row r);  // called before a node object changes
  absl::flat_hash_map<const PodCount*, int32_t> FilteredOnRow(Row r) const;
  void AdmitAll(PodCount* count, const PodCount* like);
  LabelledPods* LabelledFor(const api::PodTemplate& tmpl);
  void DropLabelled(LabelledPods* pods);
  std::vector<LabelledPods*> PodsOf(const PodQuery& query) const;
  void Recount(Row r);
  void SetNode(Row r, api::NodePtr node);
  void SetFlags(Row r);
  void DropUnusedCounts();
  void DropUnusedSums();
  void ReleaseTerm(uint32_t term);
  void DropUnusedTemplates();

  void (*describe_)(const api::PodTemplate&, TemplateInfo*);
  const CacheOptions options_;
  std::vector<NodeRow> rows_;
  std::vector<Row> free_rows_;
  Columns columns_;
  TaintLists taint_lists_;
  mutable absl::flat_hash_map<Symbol, std::unique_ptr<ScalarColumns>> scalar_columns_;
  KeyCounts<std::pair<Symbol, std::string>> avoided_;  // kinds and uids of the controllers that nodes avoid
  uint64_t avoided_version_ = 0;
  absl::flat_hash_map<Symbol, Row> row_by_name_;
  std::map<int32_t, int64_t> pods_with_priority_;  // number of pods on rows, without nominated pods
  mutable absl::flat_hash_map<Symbol, std::unique_ptr<LabelColumn>> label_columns_;
  KeyCounts<Symbol> label_keys_;  // of nodes
  mutable ImageIndex images_;
  NodeOrders orders_;
  const util::SharedSymbol& TreeZone(Row r) const {
    return options_.zones_by_either_label ? columns_.zone_by_either_label[r] : columns_.zone[r];
  }
  ChangeLog log_;
  absl::flat_hash_set<PodState, HashOfUid, SameUid> pod_states_;
  // When the assumed pods whose binding has finished expire. The keys are objects in pod_states_.
  absl::flat_hash_map<const api::Pod*, absl::Duration> deadlines_;
  size_t assumed_ = 0;
  uint64_t repairs_ = 0;
  absl::flat_hash_map<const api::PodTemplate*, std::unique_ptr<TemplateInfo>> templates_;
  // What templates share, by namespace and labels; and those of them that have a label, by its key and value, so that a
  // new count looks at few of them.
  using LabelsKey = std::pair<Symbol, std::vector<std::pair<Symbol, Symbol>>>;
  absl::flat_hash_map<LabelsKey, std::unique_ptr<LabelledPods>> labelled_;
  absl::flat_hash_map<std::pair<Symbol, Symbol>, std::vector<LabelledPods*>> labelled_by_label_;
  // Live counts by number, null where the number is free. Some counts that only the cache holds are kept for later
  // queries. Invariant: LabelledPods::counted_by lists exactly the counts here whose query matches such pods.
  std::vector<std::shared_ptr<PodCount>> counts_;
  std::vector<uint32_t> free_counts_;
  absl::flat_hash_map<size_t, std::vector<uint32_t>> counts_by_hash_;
  LabelPairIndex counts_index_;
  std::vector<PodCount*> filtered_counts_;  // the counts with a node filter
  absl::flat_hash_map<TermSum, std::shared_ptr<TermTotals>> sums_;
  size_t next_template_sweep_ = 1024;
  size_t counts_until_look_ = 0, sums_until_look_ = 0;  // new ones until unused ones are looked for
  DeclaredTerms terms_;
  std::vector<std::weak_ptr<PodHooks>> hooks_;
  Listers listers_;
  std::vector<std::pair<Row, PlacedPod>> restored_;  // by the simulations that exist
};

}  // namespace berth::scheduler
