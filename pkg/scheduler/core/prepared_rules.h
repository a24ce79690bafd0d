// Configured rules prepared for one pod, sorted by what their answers depend on: what RowClass, NodeClass and PodClass
// are made of.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "pkg/scheduler/algorithm/predicates/match_inter_pod_affinity.h"
#include "pkg/scheduler/algorithm/priorities/inter_pod_affinity.h"
#include "pkg/scheduler/algorithm/priorities/selector_spread.h"
#include "pkg/scheduler/core/generic_scheduler.h"

namespace berth::scheduler {

// A priority whose raw scores are scaled by the largest one of all feasible nodes.
struct Normalised {
  int64_t weight;
  bool reversed;
};

// Some of the configured rules.
struct RuleList {
  std::vector<const ConfiguredPredicate*> predicates;
  std::vector<const ConfiguredPriority*> priorities;
};

// All of them. What a rule's answers depend on is the same for every pod.
struct SortedRules {
  SortedRules(Cache* cache, const AlgorithmConfig& config, const api::PodPtr& any);
  RuleList about_pods;   // scopes kAffinity and kSpread
  RuleList about_nodes;  // and the pods on each
  RuleList about_volumes;
  uint8_t parts = 0;  // TemplatePart bits that they read
};

struct PreparedRules {
  PreparedRules(Cache* cache, const RuleList& list, api::PodPtr pod);

  api::PodPtr pod;    // rules refer to it: whoever takes some of them keeps it too
  bool known = true;  // false: a rule's answers cannot be kept, or it fails for this pod

  // Those that can fail.
  std::vector<std::unique_ptr<FitCheck>> node_checks, row_checks;
  struct Weighted {
    std::unique_ptr<Scoring> scoring;
    int64_t weight;
  };
  std::vector<Weighted> node_scores, row_scores;  // 0..10 as they are
  std::vector<Weighted> raw_scores;               // by node, to be normalised
  std::vector<Normalised> normalised;             // how, by raw_scores

  std::unique_ptr<predicates::InterPodAffinityCheck> affinity_check;  // null: not configured
  std::unique_ptr<priorities::SpreadScoring> spread;
  std::unique_ptr<priorities::InterPodAffinityScoring> affinity_scoring;
  int64_t spread_weight = 0, affinity_weight = 0;
  int64_t most = 0;  // that node_scores and row_scores can sum up to

 private:
  void Add(std::unique_ptr<FitCheck> check);
  void Add(std::unique_ptr<Scoring> scoring, int64_t weight);
  void TryOut(const Cache& cache);
};

}  // namespace berth::scheduler
