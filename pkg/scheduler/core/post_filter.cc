// What happens when no node fits, in releases whose PostFilter plugins are called one after another until one of them
// finds a node.
#include <absl/strings/str_join.h>

#include <algorithm>

#include "pkg/scheduler/core/preemptor.h"

namespace berth::scheduler {

// Returns whether the plugin for claims was called before the nodes were filtered: no plugin before it rejected the
// pod.
bool Preemptor::ClaimsWerePrepared(const api::PodPtr& pod) const {
  const auto place = [&](std::string_view name) {
    return std::find(config_->pre_filters.begin(), config_->pre_filters.end(), name);
  };
  const auto claims = place(config_->release->claims_plugin);
  if (claims == config_->pre_filters.end()) return false;
  const PodContext ctx{*pod, *cache_->Info(*pod), *cache_};
  Checks checks = filtering_->PrepareActive(ctx);
  Decision unused;
  DecisionTrace trace;
  if (!filtering_->RejectPod(checks, &unused, &trace) || trace.rejected_by.empty()) return true;
  return !(place(trace.rejected_by[0].second) < claims);
}

Preemption Preemptor::RunPostFilters(const api::PodPtr& pod, const NodeFailures& failures, uint64_t decided_at) {
  std::vector<std::string> texts;
  Preemption::Outcome outcome = Preemption::Outcome::kNotEligible;
  for (const std::string& name : config_->post_filters) {
    if (name == config_->release->claims_plugin) {
      if (!ClaimsWerePrepared(pod)) {
        Preemption failed;
        failed.outcome = Preemption::Outcome::kFailed;
        failed.error = "not found";
        return failed;
      }
      texts.emplace_back(config_->release->no_claims_text);
    } else if (name == "DefaultPreemption") {
      Preemption found = PreemptByImportance(pod, failures, decided_at);
      if (found.outcome == Preemption::Outcome::kChosen) return found;
      outcome = found.outcome;
      texts.push_back(std::move(found.error));
    }
  }
  Preemption out;
  out.outcome = outcome;
  out.error = absl::StrJoin(texts, ", ");
  return out;
}

}  // namespace berth::scheduler
