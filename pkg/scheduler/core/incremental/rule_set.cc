// Which list a rule belongs to follows from Traits::cluster and, for a priority, Traits::normalisation. A combination
// that no layer can keep, for example a priority about the pods on a node that is scaled by the maximum, is called for
// every row like a rule without traits; that is slower and still exact.
#include "pkg/scheduler/core/incremental/rule_set.h"

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/cache/resource.h"

namespace berth::scheduler {

RuleSet::RuleSet(const AlgorithmConfig& config) : max_score(config.release->max_score) {
  for (const ConfiguredPredicate& p : config.predicates) Add(p);
  for (const ConfiguredPriority& p : config.priorities) Add(p);
}

uint32_t RuleSet::NodeParts(const LeftOut& left_out) const {
  uint32_t parts = 0;
  for (size_t i = 0; i < node_predicates.size(); ++i) {
    if (!left_out.predicates.Has(i)) parts |= node_predicates[i]->traits.pod;
  }
  for (const ConfiguredPriority* p : node_priorities) parts |= p->traits.pod;
  for (size_t i = 0; i < normalised_priorities.size(); ++i) {
    if (!left_out.normalised.Has(i)) parts |= normalised_priorities[i]->traits.pod;
  }
  return parts;
}

void RuleSet::Add(const ConfiguredPredicate& p) {
  if (!p.parts.empty()) {
    for (const ConfiguredPredicate& part : p.parts) Add(part);
    return;
  }
  if (!p.traits.incremental()) {
    other_predicates.push_back(&p);
    return;
  }
  switch (p.traits.cluster) {
    case ClusterPart::kNodes:
    case ClusterPart::kNode:
      node_predicates.push_back(&p);
      break;
    case ClusterPart::kNodePods:
      node_pods_predicates.push_back(&p);
      node_pods_parts |= p.traits.pod;
      break;
    case ClusterPart::kDomains:
      domain_predicates.push_back(&p);
      break;
    case ClusterPart::kVolumes:
      volume_predicates.push_back(&p);
      break;
    case ClusterPart::kAnything:
      break;
  }
}

void RuleSet::Add(const ConfiguredPriority& p) {
  const Normalisation how = p.traits.normalisation;
  const bool normalised = how == Normalisation::kMaximum || how == Normalisation::kMaximumReversed ||
                          how == Normalisation::kFractionReversed;
  const bool none = p.traits.normalisation == Normalisation::kNone;
  const ClusterPart cluster = p.traits.cluster;
  if (!p.traits.incremental()) {
    other_priorities.push_back(&p);
  } else if (cluster == ClusterPart::kDomains && p.traits.normalisation == Normalisation::kDomains) {
    domain_priorities.push_back(&p);
  } else if ((cluster == ClusterPart::kNode || cluster == ClusterPart::kNodes) && (none || normalised)) {
    (none ? node_priorities : normalised_priorities).push_back(&p);
  } else if (cluster == ClusterPart::kNodePods && none) {
    node_pods_priorities.push_back(&p);
    node_pods_parts |= p.traits.pod;
  } else {
    other_priorities.push_back(&p);
    return;
  }
  int64_t most = 0;
  for (const Priorities* list : {&node_priorities, &node_pods_priorities}) {
    for (const ConfiguredPriority* q : *list) {
      const bool large = q->weight > std::numeric_limits<int32_t>::max();
      most = SaturatingAdd(most, large ? q->weight : q->weight * max_score);
    }
  }
  scores_fit = most <= std::numeric_limits<int32_t>::max();
}

std::vector<std::unique_ptr<FitCheck>> Prepare(const RuleSet::Predicates& list, const PodContext& ctx) {
  std::vector<std::unique_ptr<FitCheck>> out;
  for (const ConfiguredPredicate* p : list) {
    std::unique_ptr<FitCheck> check = p->predicate(ctx);
    if (!check->FitsAlways()) out.push_back(std::move(check));
  }
  return out;
}

std::vector<WeightedScoring> Prepare(const RuleSet::Priorities& list, const PodContext& ctx) {
  std::vector<WeightedScoring> out;
  for (const ConfiguredPriority* p : list) out.push_back({p->function(ctx), p->weight});
  return out;
}

bool TryKeepFitting(FitCheck* check, std::vector<Row>* rows) {
  if (!check->MayError()) {
    KeepFitting(*check, rows);
    return true;
  }
  bool good = true;
  std::erase_if(*rows, [&](Row row) {
    const Verdict verdict = check->Check(row);
    good = good && verdict != Verdict::kError;
    return verdict != Verdict::kFits;
  });
  return good;
}

}  // namespace berth::scheduler
