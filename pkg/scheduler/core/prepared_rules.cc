#include "pkg/scheduler/core/prepared_rules.h"

#include <limits>

namespace berth::scheduler {
namespace {

template <typename T, typename Base>
std::unique_ptr<T> As(std::unique_ptr<Base> rule) {
  return std::unique_ptr<T>(static_cast<T*>(rule.release()));
}

}  // namespace

SortedRules::SortedRules(Cache* cache, const AlgorithmConfig& config, const api::PodPtr& any) {
  PodContext ctx{*any, *cache->Info(any->tmpl), *cache};
  auto pods = [](Scope scope) { return scope == Scope::kAffinity || scope == Scope::kSpread; };
  for (const ConfiguredPredicate& p : config.predicates) {
    const Scope scope = p.predicate(ctx)->scope();
    RuleList& list = scope == Scope::kVolumes ? about_volumes : pods(scope) ? about_pods : about_nodes;
    list.predicates.push_back(&p);
  }
  for (const ConfiguredPriority& p : config.priorities) {
    std::unique_ptr<Scoring> scoring = p.function(ctx);
    (pods(scoring->scope()) ? about_pods : about_nodes).priorities.push_back(&p);
    parts |= scoring->parts();
  }
}

PreparedRules::PreparedRules(Cache* cache, const RuleList& list, api::PodPtr p) : pod(std::move(p)) {
  PodContext ctx{*pod, *cache->Info(pod->tmpl), *cache};
  for (const ConfiguredPredicate* predicate : list.predicates) Add(predicate->predicate(ctx));
  for (const ConfiguredPriority* priority : list.priorities) Add(priority->function(ctx), priority->weight);
  known = known && most <= std::numeric_limits<int32_t>::max();
  if (affinity_check != nullptr) known = known && affinity_check->usable();
  if (affinity_scoring != nullptr) known = known && affinity_scoring->error().empty();
  if (known) TryOut(*cache);
}

void PreparedRules::Add(std::unique_ptr<FitCheck> check) {
  if (auto parts_of_it = check->TakeParts(); !parts_of_it.empty()) {
    for (auto& part : parts_of_it) Add(std::move(part));
    return;
  }
  if (check->FitsAlways()) return;
  switch (check->scope()) {
    case Scope::kNode:
      node_checks.push_back(std::move(check));
      break;
    case Scope::kRow:
      row_checks.push_back(std::move(check));
      break;
    case Scope::kAffinity:
      affinity_check = As<predicates::InterPodAffinityCheck>(std::move(check));
      break;
    case Scope::kSpread:
    case Scope::kVolumes:
    case Scope::kAnything:
      known = false;
  }
}

void PreparedRules::Add(std::unique_ptr<Scoring> scoring, int64_t weight) {
  switch (scoring->scope()) {
    case Scope::kAffinity:
      affinity_scoring = As<priorities::InterPodAffinityScoring>(std::move(scoring));
      affinity_weight += weight;
      return;
    case Scope::kSpread:
      spread = As<priorities::SpreadScoring>(std::move(scoring));
      spread_weight += weight;
      return;
    case Scope::kVolumes:
    case Scope::kAnything:
      known = false;
      return;
    case Scope::kNode:
    case Scope::kRow:
      break;
  }
  const bool by_node = scoring->scope() == Scope::kNode;
  const ReduceKind reduce = scoring->reduce_kind();
  if (reduce == ReduceKind::kNone) {
    most = SaturatingAdd(most, weight > std::numeric_limits<int32_t>::max() ? weight : weight * kMaxPriority);
    (by_node ? node_scores : row_scores).push_back({std::move(scoring), weight});
  } else if (reduce == ReduceKind::kOwn || !by_node) {
    known = false;
  } else {
    normalised.push_back({weight, reduce == ReduceKind::kNormalizeReversed});
    raw_scores.push_back({std::move(scoring), weight});
  }
}

// An error in mapping is the pod's own and comes for every row; the plain path words it.
void PreparedRules::TryOut(const Cache& cache) {
  const std::vector<Row>& rows = cache.by_name_descending();
  if (rows.empty()) return;
  int64_t score;
  for (auto* list : {&node_scores, &row_scores, &raw_scores}) {
    for (Weighted& w : *list) known = known && w.scoring->Map({rows.data(), 1}, {&score, 1}).ok();
  }
}

}  // namespace berth::scheduler
