// Evaluates all predicates on all nodes, for those who explain a decision.
#include <utility>

#include "pkg/scheduler/core/parts.h"

namespace berth::scheduler {

std::vector<std::pair<Symbol, std::vector<GenericScheduler::PredicateResult>>> GenericScheduler::EvaluatePredicates(
    const api::PodPtr& pod) {
  PodContext ctx{*pod, *cache_->Info(*pod), *cache_};
  Checks checks = parts_->filtering.Prepare(ctx);
  std::vector<std::pair<Symbol, std::vector<PredicateResult>>> out;
  const std::vector<Row>& rows = cache_->by_name_descending();
  for (auto it = rows.rbegin(); it != rows.rend(); ++it) {
    std::vector<PredicateResult> results;
    for (auto& check : checks.list) {
      PredicateResult j;
      PreFilterResult result = check->PreFilter();
      if (result.rejection != nullptr) {
        j.verdict = Verdict::kFails;
        j.reasons.push_back(result.rejection->reason);
        results.push_back(std::move(j));
        continue;
      }
      j.error = std::move(result.error);
      j.verdict = j.error.empty() ? check->Check(*it) : Verdict::kError;
      if (j.verdict == Verdict::kFails) {
        check->Explain(*it, &j.reasons);
        parts_->filtering.InWordsOfRelease(0, &j.reasons);
        j.detail = check->Detail(*it);
      }
      if (j.verdict == Verdict::kError && j.error.empty()) j.error = check->Error(*it);
      results.push_back(std::move(j));
    }
    out.emplace_back(cache_->row(*it).name, std::move(results));
  }
  return out;
}

}  // namespace berth::scheduler
