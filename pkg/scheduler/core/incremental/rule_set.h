// The configured rules of a scheduler, sorted once by their traits into the lists that the layers of the incremental
// scheduler evaluate.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "pkg/scheduler/algorithm/domain_rule.h"
#include "pkg/scheduler/registry/algorithm_config.h"

namespace berth::scheduler {

// How a priority is normalised whose raw scores are scaled by the largest one of all feasible nodes.
struct Normalised {
  int64_t weight;
  Normalisation how;
};

// A set of positions in a list of rules. Positions from 64 on are never in the set; adding them does nothing.
class PlaceSet {
 public:
  void Add(size_t place) { bits_ |= place < 64 ? uint64_t{1} << place : 0; }
  bool Has(size_t place) const { return place < 64 && (bits_ >> place & 1) != 0; }
  friend bool operator==(const PlaceSet&, const PlaceSet&) = default;

 private:
  uint64_t bits_ = 0;
};

// The rules about nodes that a StaticNodeIndex leaves out because the DomainOverlay evaluates them once for each group:
// for the pod in question, they read nothing of a node but labels by which nodes are grouped.
struct LeftOut {
  PlaceSet predicates;  // positions in RuleSet::node_predicates
  PlaceSet normalised;  // positions in RuleSet::normalised_priorities
  friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

struct RuleSet {
  explicit RuleSet(const AlgorithmConfig& config);

  using Predicates = std::vector<const ConfiguredPredicate*>;
  using Priorities = std::vector<const ConfiguredPriority*>;
  // The predicates by what their answers depend on (ClusterPart). A composite predicate is represented by its parts.
  Predicates node_predicates, node_pods_predicates, domain_predicates, volume_predicates;
  // Predicates without usable traits, which are called for every candidate node of every pod.
  Predicates other_predicates;
  Priorities node_priorities;        // about node objects; the scores need no normalisation
  Priorities normalised_priorities;  // about node objects; raw scores are scaled by the largest one
  Priorities node_pods_priorities;
  Priorities domain_priorities;
  Priorities other_priorities;  // called for every feasible node of every pod

  // Returns the PodPart bits that the rules about node objects read, without those of the rules that are left out.
  uint32_t NodeParts(const LeftOut& left_out) const;
  uint32_t node_pods_parts = 0;  // PodPart bits that rules about the pods on each node read
  int64_t max_score = 0;
  // Whether the largest sum of weighted scores that one node can get fits an int32, the type in which they are kept.
  bool scores_fit = true;

 private:
  void Add(const ConfiguredPredicate& p);
  void Add(const ConfiguredPriority& p);
};

// A priority prepared for one pod.
struct WeightedScoring {
  std::unique_ptr<Scoring> scoring;
  int64_t weight;
};
struct WeightedDomainScoring {
  std::unique_ptr<DomainScoring> scoring;
  int64_t weight;
};

// Prepares the predicates for a pod and leaves out those that fit every row.
std::vector<std::unique_ptr<FitCheck>> Prepare(const RuleSet::Predicates& list, const PodContext& ctx);
// Erases the rows that do not fit. Returns false when the check had an error for one of them.
bool TryKeepFitting(FitCheck* check, std::vector<Row>* rows);
std::vector<WeightedScoring> Prepare(const RuleSet::Priorities& list, const PodContext& ctx);

}  // namespace berth::scheduler
