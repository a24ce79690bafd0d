// The scheduler's picture of the cluster: one table of nodes by row, the pods on them (assumed ones too), and the
// services, controllers, volumes and budgets that rules look up. Kubernetes 1.10: pkg/scheduler/schedulercache +
// listers.
//
// Threading: none. One thread owns a Cache and everything that reads it (pkg/README.md, "One thread owns the cluster").
// Errors carry 1.10's texts; an error leaves the cache unchanged.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/status/status.h>
#include <absl/time/time.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/cache/counts.h"
#include "pkg/scheduler/cache/label_column.h"
#include "pkg/scheduler/cache/listers.h"
#include "pkg/scheduler/cache/resource.h"
#include "pkg/scheduler/cache/row_set.h"
#include "pkg/scheduler/cache/template_info.h"

namespace berth::scheduler {

struct PlacedPod {
  api::PodPtr pod;
  TemplateInfo* info;
};

// Host ports in use on one node. A set without counts, as in 1.10: of two pods with the same port, either one's leaving
// frees it.
class HostPorts {
 public:
  void Add(const HostPort& p);
  void Remove(const HostPort& p);
  // 0.0.0.0 conflicts with every address.
  bool Conflicts(const HostPort& p) const;
  bool empty() const { return ports_.empty(); }

 private:
  std::vector<HostPort> ports_;
};

// What does not fit a column: one record a row.
struct NodeRow {
  Symbol name;
  api::NodePtr node;            // null while only its pods are known
  std::vector<PlacedPod> pods;  // removal moves the last into the hole, as in 1.10 (it orders preemption's victims)
  HostPorts ports;
  Resource allocatable;  // as columns, plus scalars
  Resource requested;    // scalars only; the rest is in columns
  bool in_use = false;
  bool saturated = false;   // a sum was cut: recount when a pod leaves
  uint64_t generation = 0;  // a new number from one counter at each change (fixes B-05)
};

// What rules read on every decision, by row; 0 in free rows. Units: milliCPU, bytes, pods.
struct Columns {
  std::vector<int64_t> alloc_cpu, alloc_memory, alloc_gpu, alloc_ephemeral, alloc_pods;
  std::vector<int64_t> used_cpu, used_memory, used_gpu, used_ephemeral, pod_count;
  std::vector<int64_t> nonzero_cpu, nonzero_memory;
  std::vector<int32_t> volumes;  // that the pods list, of the kinds that rules look at
  std::vector<uint8_t> flags;    // RowFlag bits
  std::vector<Symbol> name;      // of the node
  std::vector<Symbol> zone;      // region ":\0:" zone, empty when neither label is there
};
enum RowFlag : uint8_t {
  kRowListed = 1,          // the node object is there
  kRowMemoryPressure = 2,  // its last MemoryPressure condition is True
  kRowDiskPressure = 4,
  kRowConditionBad = 8,  // CheckNodeCondition fails
  kRowHardTaints = 16,   // has a NoSchedule or NoExecute taint
  kRowSoftTaints = 32,   // has a PreferNoSchedule taint
};

class Cache {
 public:
  // `describe` counts what pods request, as the release does that the cache is for.
  explicit Cache(void (*describe)(const api::PodTemplate&, TemplateInfo*) = DescribeTemplate);
  ~Cache();
  Cache(const Cache&) = delete;

  // ---- nodes ----
  void AddNode(api::NodePtr node);
  void UpdateNode(api::NodePtr node) { AddNode(std::move(node)); }
  // Its pods stay, without a node, until they are removed. Unknown names are no error.
  void RemoveNode(std::string_view name);

  Row FindRow(Symbol node_name) const;  // kNoRow when unknown
  const NodeRow& row(Row r) const { return rows_[r]; }
  Row row_count() const { return static_cast<Row>(rows_.size()); }  // rows in use and free ones
  size_t node_count() const { return node_count_; }                 // nodes that are listed
  // Returns whether some node's preferAvoidPods annotation names the controller.
  bool IsAvoided(const api::OwnerReference& controller) const;
  // Changes when IsAvoided may answer otherwise.
  uint64_t avoided_version() const { return avoided_version_; }
  const Columns& columns() const { return columns_; }
  const RowSet& listed() const { return listed_; }
  // Listed rows in descending order of node name, the order in which 1.10 resolves ties; and a row's place in it.
  const std::vector<Row>& by_name_descending() const {
    if (names_changed_) SortNames();
    return by_name_;
  }
  uint32_t NameRank(Row r) const {
    if (names_changed_) SortNames();
    return rank_[r];
  }
  // Changes when by_name_descending() does.
  uint64_t names_version() const { return names_version_; }

  // The column of a node label. Created on first use, then kept up to date.
  using LabelColumn = scheduler::LabelColumn;
  static const Symbol kNoValue;  // LabelColumn::no_value()
  // The key of a column that is no label: region and zone together, as 1.10 joins them; absent where a node has
  // neither.
  static Symbol ZoneKey();
  const LabelColumn& Label(Symbol key) const;

  // The nodes that have an image by this name. The index is made at the first call, then kept up to date.
  struct ImageNodes {
    struct Size {
      Row row;
      int64_t bytes;  // of several entries for a name on one node the last counts
    };
    std::vector<Size> sizes;  // in ascending order of rows
    int64_t first_size = 0;   // bytes, on the node that was found first
  };
  // Returns null when no listed node has the image.
  const ImageNodes* Image(Symbol name) const;

  // ---- what changed ----
  // A number that grows with each change of a row.
  uint64_t generation() const { return generation_; }
  // Calls f(row, node_changed) for each change after the given generation, oldest first; rows may repeat. node_changed:
  // the node object itself, not only the pods on it. False, and no call, when that is too long ago to be remembered.
  template <typename F>
  bool ChangesSince(uint64_t generation, F f) const {
    if (generation_ - generation >= changes_.size()) return generation == generation_;
    for (uint64_t g = generation + 1; g <= generation_; ++g) {
      uint32_t change = changes_[g & (changes_.size() - 1)];
      f(Row{change >> 1}, (change & 1) != 0);
    }
    return true;
  }

  // The same for changes of node objects alone, of which many more are remembered.
  template <typename F>
  bool NodeChangesSince(uint64_t generation, F f) const {
    if (generation < node_changes_forgotten_) return false;
    auto it = std::lower_bound(node_changes_.begin(), node_changes_.end(), generation + 1,
                               [](const auto& change, uint64_t g) { return change.first < g; });
    for (; it != node_changes_.end(); ++it) f(it->second);
    return true;
  }

  // ---- pods ----
  // Pods are known by uid; without one: "Cannot get cache key for pod with empty UID".
  absl::Status AssumePod(api::PodPtr pod);                      // with node_name set
  void FinishBinding(const api::Pod& pod, absl::Duration now);  // may expire 30 s from now
  absl::Status ForgetPod(const api::Pod& pod);
  absl::Status AddPod(api::PodPtr pod);  // bound, from the API: confirms an assumed one
  // A bound pod changed. If it is on another node than the cache knew, the cache is corrected and that is counted.
  absl::Status UpdatePod(api::PodPtr pod);
  absl::Status RemovePod(const api::Pod& pod);  // also an assumed one: the API says that it is gone
  bool IsAssumed(std::string_view uid) const;
  api::PodPtr GetPod(std::string_view uid) const;  // null when unknown
  // Drops assumed pods whose binding finished more than 30 s ago and was never confirmed; returns them.
  std::vector<api::PodPtr> Expire(absl::Duration now);
  size_t pod_count() const { return pod_states_.size(); }
  size_t assumed_count() const { return assumed_; }
  uint64_t repairs() const { return repairs_; }  // pods found on another node than known

  // Every pod with a node, in no particular order.
  template <typename F>
  void ForEachPod(F f) const {
    for (const NodeRow& r : rows_) {
      for (const PlacedPod& p : r.pods) f(p, r);
    }
  }

  // ---- templates and counts ----
  TemplateInfo* Info(const std::shared_ptr<const api::PodTemplate>& tmpl);
  // Fills in what a pod of the template counts for, as the cache's release does, without keeping it.
  void Describe(const api::PodTemplate& tmpl, TemplateInfo* info) const { describe_(tmpl, info); }
  const absl::flat_hash_map<const api::PodTemplate*, std::unique_ptr<TemplateInfo>>& templates() const {
    return templates_;
  }
  std::shared_ptr<const PodCount> Count(const PodQuery& query);
  // REQUIRES: all terms have one topology key, which is not empty.
  std::shared_ptr<const TermTotals> SumOf(const TermSum& sum);
  const DeclaredTerms& declared_terms() const { return terms_; }

  // ---- what else rules look up ----
  Listers& listers() { return listers_; }
  const Listers& listers() const { return listers_; }

  // ---- simulation: preemption and nominated pods try things out on the table itself and take them back ----
  // Undoes everything done through it when destroyed. At most one at a time.
  class Simulation {
   public:
    Simulation(Cache* cache, Row row);
    ~Simulation();
    Simulation(const Simulation&) = delete;
    void Remove(const PlacedPod& pod);
    void Restore(const PlacedPod& pod);         // re-adds at the end, as 1.10's reprieve does
    void AddNominated(const api::PodPtr& pod);  // seen by rules about this node only

   private:
    Cache* cache_;
    Row row_;
    std::vector<PlacedPod> saved_pods_;
    HostPorts saved_ports_;
    std::vector<std::pair<PlacedPod, int>> done_;  // and +1, -1, or +2 for a nomination
  };

 private:
  struct PodState {
    api::PodPtr pod;
    bool assumed = false, binding_finished = false;
    absl::Duration deadline;
  };
  Row EnsureRow(Symbol name);
  void FreeRowIfEmpty(Row r);
  void SortNames() const;
  void Touch(Row r, bool node_changed = false);
  void Place(Row r, const PlacedPod& p);     // list and counts
  bool Unplace(Row r, const api::Pod& pod);  // by uid
  // Whether a pod is counted because it is there, because an eviction is simulated, or because a nomination is.
  enum class Why : uint8_t { kPlaced, kSimulated, kNominated };
  void CountPod(Row r, const PlacedPod& p, int sign, Why why = Why::kPlaced);  // in every sum and count
  void CountResources(Row r, const TemplateInfo& info, int sign);
  void CountInDomains(Row r, const PlacedPod& p, int sign, Why why);  // what goes by the node's labels
  static bool Counts(const PodCount& c, const PlacedPod& p, Why why);
  Symbol LabelOf(Row r, Symbol key) const;
  void AdmitToCounts(Row r);      // after the node changed
  void DismissFromCounts(Row r);  // before it does
  void Recount(Row r);
  void SetNode(Row r, api::NodePtr node);
  void SetFlags(Row r);
  void CountAvoided(const api::Node& node, int sign);
  void IndexImages(Row r) const;
  void ForgetImages(Row r, const api::Node& node);
  void DropUnusedCounts();
  void DropUnusedSums();
  void ReleaseTerm(uint32_t term);
  void DropUnusedTemplates();

  void (*describe_)(const api::PodTemplate&, TemplateInfo*);
  std::vector<NodeRow> rows_;
  std::vector<Row> free_rows_;
  Columns columns_;
  RowSet listed_;
  size_t node_count_ = 0;
  absl::flat_hash_map<std::pair<Symbol, std::string>, int32_t> avoided_;  // nodes by kind and uid of a controller
  uint64_t avoided_version_ = 0;
  absl::flat_hash_map<Symbol, Row> row_by_name_;
  mutable absl::flat_hash_map<Symbol, std::unique_ptr<LabelColumn>> label_columns_;
  mutable absl::flat_hash_map<Symbol, ImageNodes> images_;
  mutable bool images_indexed_ = false;
  mutable std::vector<Row> by_name_;
  mutable std::vector<uint32_t> rank_;
  mutable bool names_changed_ = true;
  uint64_t names_version_ = 0;
  uint64_t generation_ = 0;
  std::vector<uint32_t> changes_;                       // a ring by generation: row * 2 + node_changed
  std::vector<std::pair<uint64_t, Row>> node_changes_;  // generation and row, ascending
  uint64_t node_changes_forgotten_ = 0;                 // changes up to this generation are not remembered
  absl::flat_hash_map<std::string, PodState> pod_states_;
  size_t assumed_ = 0;
  uint64_t repairs_ = 0;
  absl::flat_hash_map<const api::PodTemplate*, std::unique_ptr<TemplateInfo>> templates_;
  // Templates by each of their labels, for queries that ask for one.
  absl::flat_hash_map<std::pair<Symbol, Symbol>, std::vector<TemplateInfo*>> templates_by_label_;
  // Live counts by number, null in free places. Those that nobody else holds are kept a while for the next pod.
  std::vector<std::shared_ptr<PodCount>> counts_;
  std::vector<uint32_t> free_counts_;
  absl::flat_hash_map<size_t, std::vector<uint32_t>> counts_by_hash_;
  LabelPairIndex counts_index_;
  std::vector<PodCount*> filtered_counts_;  // those with a node filter
  absl::flat_hash_map<TermSum, std::shared_ptr<TermTotals>> sums_;
  size_t next_template_sweep_ = 1024;
  DeclaredTerms terms_;
  Listers listers_;
};

}  // namespace berth::scheduler
