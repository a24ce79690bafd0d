// The configured rules of a scheduler, sorted once by what their traits say they read.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "pkg/scheduler/algorithm/domain_rule.h"
#include "pkg/scheduler/registry/algorithm_config.h"

namespace berth::scheduler {

// A priority whose raw scores are scaled by the largest one of all feasible nodes.
struct Normalised {
  int64_t weight;
  bool reversed;
};

// Places in a list of rules. Places beyond the first 64 are never in it.
class PlaceSet {
 public:
  void Add(size_t place) { bits_ |= place < 64 ? uint64_t{1} << place : 0; }
  bool Has(size_t place) const { return place < 64 && (bits_ >> place & 1) != 0; }
  friend bool operator==(const PlaceSet&, const PlaceSet&) = default;

 private:
  uint64_t bits_ = 0;
};

// Rules about nodes that are evaluated once for each group of nodes: for the pod at hand they read nothing of a node
// but labels that groups tell apart.
struct LeftOut {
  PlaceSet predicates;  // in RuleSet::node_predicates
  PlaceSet normalised;  // in RuleSet::normalised_priorities
  friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

struct RuleSet {
  explicit RuleSet(const AlgorithmConfig& config);

  using Predicates = std::vector<const ConfiguredPredicate*>;
  using Priorities = std::vector<const ConfiguredPriority*>;
  // By what their answers depend on. A composite predicate stands here by its parts.
  Predicates node_predicates, node_pods_predicates, domain_predicates, volume_predicates;
  // Without usable traits: called anew for every candidate node of every pod.
  Predicates other_predicates;
  Priorities node_priorities;        // already 0..max_score
  Priorities normalised_priorities;  // by node, scaled by the largest raw score
  Priorities node_pods_priorities;
  Priorities domain_priorities;
  Priorities other_priorities;

  // PodPart bits that rules about nodes read, but for those that are left out.
  uint32_t NodeParts(const LeftOut& left_out) const;
  uint32_t node_pods_parts = 0;  // PodPart bits that rules about the pods on each node read
  int64_t max_score = 0;
  // Some rule's answer for a node depends on other node objects.
  bool any_node_matters = false;
  // Weighted scores of one node fit an int32, so that the answers of nodes can be kept in that size.
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

// Prepares predicates and leaves out those that fit always.
std::vector<std::unique_ptr<FitCheck>> Prepare(const RuleSet::Predicates& list, const PodContext& ctx);
// Erases the rows that do not fit; returns false when one of them got an error.
bool KeepFitting(FitCheck* check, std::vector<Row>* rows);
std::vector<WeightedScoring> Prepare(const RuleSet::Priorities& list, const PodContext& ctx);

}  // namespace berth::scheduler
