// What the handles of the C ABI stand for: a simulation with its input, and lists of pods.
//
// Thread-safety: none; Use (handles.h) makes sure that one thread at a time uses an object.
#pragma once
#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/capi/columns.h"
#include "pkg/capi/handles.h"
#include "pkg/lab/scenario.h"
#include "pkg/lab/simulation.h"

namespace berth::capi {

// Which of the best nodes is chosen.
enum class Ties : uint8_t { kTurn, kFirst, kRandom };

// A rule of the embedding program.
struct OwnRule {
  std::string name;
  util::Symbol symbol;
  bool is_priority = false;
  double weight = 0;
  berth_rule_function function = nullptr;
  void* user = nullptr;
};

// Returns a text of the caller, uncompressed. It may be NULL only if it is empty.
absl::StatusOr<lab::NamedText> TextOf(const char* text, size_t size, const char* name);

// Returns an error if the name, which is that of `what`, has a NUL character or is no valid UTF-8: C would cut it
// short, and others could not read it.
absl::Status NameProblem(std::string_view name, std::string_view what);

// Where pods of a list come from, so that a snapshot can have them.
struct Source {
  lab::NamedText text;  // a null text: the pending pods of a cluster's input
  std::vector<api::PodPtr> pods;
};

struct Pods : Held {
  std::vector<api::PodPtr> pods;
  std::shared_ptr<const Source> source;  // never null
  std::vector<std::string> names;        // by pod: "namespace/name"
  std::vector<std::string> reasons;      // by pod
  std::string label;                     // what was asked for last
  const release::Id* release = nullptr;
};
// Returns the list of these pods.
std::shared_ptr<Pods> ListOf(std::shared_ptr<const Source> source, const release::Id* release);

// What a cluster was made of: its objects are read again from it.
struct Past {
  std::string options;
  std::vector<lab::NamedText> inputs, applied;
  std::shared_ptr<const Source> pending;              // of the inputs
  std::vector<std::shared_ptr<const Source>> placed;  // the lists whose pods were placed
};

// The rules of the embedding program, and the choice among the best nodes.
class OwnRules final : public scheduler::Guest {
 public:
  // `cache` must be set before a rule is called, and outlive it.
  scheduler::Cache* cache = nullptr;
  Columns columns;  // what rules read
  std::vector<OwnRule> rules;
  Ties ties = Ties::kTurn;
  uint64_t random = 0;  // the state of the generator

  bool needed() const { return !rules.empty() || ties != Ties::kTurn; }
  bool Filters() const override;
  bool Chooses() const override;
  bool Filter(const api::PodPtr& pod, scheduler::RowSet* rows, std::vector<Rejected>* rejected) override;
  std::optional<size_t> Choose(const api::PodPtr& pod, std::span<const scheduler::Row> rows,
                               std::span<const int64_t> totals, uint64_t turn, size_t* ties) override;
  const std::string& Error() const override { return error_; }
  void Begin() override { error_.clear(); }
  // Adds what the priorities give to the sums of the rows. Returns false if one failed; Error() then says how.
  bool AddScores(const api::Pod& pod, std::span<const scheduler::Row> rows, std::vector<double>* sums);
  bool HasPriorities() const;

 private:
  bool Call(const OwnRule& rule, const api::Pod& pod, std::vector<uint8_t>* feasible, std::vector<double>* scores);
  size_t Pick(const std::vector<size_t>& best, std::span<const scheduler::Row> rows, uint64_t turn);
  std::string error_;
  std::vector<uint8_t> feasible_;
  std::vector<double> scores_;
};

struct Cluster : Held {
  lab::Algorithm algorithm;
  Past past;
  std::string warnings;
  // Never null. The simulation refers to it.
  std::shared_ptr<lab::Scenario> scenario;
  std::unique_ptr<lab::Simulation> simulation;
  OwnRules own;
  std::string explanation, preemption, resources, label, snapshot;
  scheduler::Evaluation evaluation;  // kept for its memory, as is what follows
  std::vector<double> sums;
  berth_log_function log = nullptr;
  void* log_user = nullptr;
  berth_hook_function hook = nullptr;
  void* hook_user = nullptr;

  // Before there is a simulation, messages become warnings.
  void Log(int32_t severity, std::string_view text) override;
  // Notes that pods of this list may be placed.
  void NoteList(const Pods& pods);
  // Tells the hook that a pod came to a node, or leaves it.
  void Tell(const api::Pod& pod, scheduler::Row row, bool placed);
  scheduler::Cache& cache() { return simulation->cache(); }
  // Makes the simulation of `scenario`.
  absl::Status Build();
  // Tells the simulation of the rules that were added.
  void UseRules() { simulation->set_guest(own.needed() ? &own : nullptr); }
};

absl::StatusOr<std::shared_ptr<Cluster>> OpenCluster(std::string_view options,
                                                     const std::vector<lab::NamedText>& texts);
// Finds out whom to evict so that a pod fits that does not. Returns JSON: node, victims, nominatedToClear. If `apply`
// is true, the victims are taken from the node.
absl::StatusOr<std::string> Preempt(Cluster* cluster, const api::PodPtr& pod, bool apply);
// Reads the pods of a text, as they would be created in the cluster.
absl::StatusOr<std::vector<api::PodPtr>> ReadPods(const Cluster& cluster, const lab::NamedText& text);
// Reads the objects of a text by the rules of the cluster's release.
absl::StatusOr<std::vector<lab::Scenario>> ReadObjects(const Cluster& cluster, const lab::NamedText& text);
// Adds the objects of a text to the cluster, and returns their number.
absl::StatusOr<size_t> Apply(Cluster* cluster, const lab::NamedText& text);
absl::StatusOr<std::shared_ptr<Cluster>> CopyOf(Cluster& from);
// Reads options and inputs into a cluster that has no simulation yet.
absl::Status ReadInputs(std::string_view options, const std::vector<lab::NamedText>& texts, Cluster* c);
// Returns the pod as it is on a node.
api::PodPtr PlacedAs(const api::PodPtr& pod, util::Symbol node);

// Returns the cluster as a text, and makes a cluster of such a text (snapshot.cc).
absl::StatusOr<std::string> SnapshotOf(Cluster& from);
absl::StatusOr<std::shared_ptr<Cluster>> Restore(const lab::NamedText& text);

// Returns the objects of tables as a text of JSON (tables.cc). `pods` may be null.
absl::StatusOr<std::string> ObjectsOf(const berth_table& nodes, const berth_table* pods);

}  // namespace berth::capi
