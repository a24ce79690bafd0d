// Prepares the checks of a pod, and says what they find in the words of the release.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>

#include "pkg/scheduler/core/filtering.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

// Joins error messages as 1.10 does: sorted, and with the number of repetitions.
std::string JoinCounted(const Errors& errors) {
  std::vector<std::string> parts;
  for (const auto& [text, of_text] : errors.by_text()) {
    const int64_t n = of_text.rows;
    parts.push_back(n == 1 ? text : absl::StrCat(text, " (repeated ", n, " times)"));
  }
  return parts.size() == 1 ? parts[0] : absl::StrCat("[", absl::StrJoin(parts, ", "), "]");
}

}  // namespace

Filtering::Filtering(Cache* cache, const AlgorithmConfig* config, const NominatedPods* nominated)
    : cache_(cache), config_(config), nominated_(nominated), nominated_rows_(cache, nominated) {
  for (const ConfiguredPredicate& p : config_->predicates) rule_names_.emplace_back(p.name);
}

// The nominated rows are refreshed first, so that the rules know the affinity
// terms of all nominated pods that may be simulated later.
Checks Filtering::Prepare(const PodContext& ctx) {
  nominated_rows_.Refresh();
  Checks checks;
  checks.pod = &ctx.pod;
  for (const ConfiguredPredicate& p : config_->predicates) {
    checks.list.push_back(p.predicate(ctx));
    checks.rules.push_back(&p);
  }
  return checks;
}

// A predicate that skips the pod does so whatever is simulated later,
// so it is left out.
Checks Filtering::PrepareActive(const PodContext& ctx) {
  Checks checks = Prepare(ctx);
  size_t kept = 0;
  for (size_t i = 0; i < checks.list.size(); ++i) {
    const PreFilterResult result = checks.list[i]->PreFilter();
    if (result.skip) continue;
    std::swap(checks.list[kept], checks.list[i]);
    checks.rules[kept++] = checks.rules[i];
    if (result.only_nodes == nullptr) continue;
    RowSet rows;
    for (Symbol name : *result.only_nodes) {
      const Row row = cache_->FindRow(name);
      if (row != kNoRow && (!checks.names_nodes || checks.only.Has(row))) rows.Insert(row);
    }
    checks.only = std::move(rows);
    checks.names_nodes = true;
  }
  checks.list.resize(kept);
  checks.rules.resize(kept);
  return checks;
}

Symbol Filtering::RuleOf(const Checks& checks, size_t check) const {
  return rule_names_[static_cast<size_t>(checks.rules[check] - config_->predicates.data())];
}

// Appends the reasons of a check on a row, as those of its rule.
void Filtering::AppendReasons(const Checks& checks, size_t check, Row row, std::vector<FailureReason>* reasons) const {
  const size_t before = reasons->size();
  checks.list[check]->Explain(row, reasons);
  const Symbol rule = RuleOf(checks, check);
  for (size_t i = before; i < reasons->size(); ++i) (*reasons)[i].rule = rule;
  InWordsOfRelease(before, reasons);
}

void Filtering::InWordsOfRelease(size_t first, std::vector<FailureReason>* reasons) const {
  if (config_->release->reason_word == nullptr) return;
  size_t kept = first;
  for (size_t i = first; i < reasons->size(); ++i) {
    FailureReason r = (*reasons)[i];
    r.text = config_->release->reason_word(r.text);
    if (!r.text.empty()) (*reasons)[kept++] = r;
  }
  reasons->resize(kept);
}

// Returns the error of a check on a row, with the words that the release puts around it.
RuleError Filtering::ErrorOfCheck(const Checks& checks, size_t check, Row row) const {
  RuleError error = checks.list[check]->Error(row);
  if (config_->release->error_text == nullptr) return error;
  error.text = config_->release->error_text(Release::Step::kFilter, *checks.pod, checks.rules[check]->name, error.text);
  return error;
}

RuleError Filtering::ErrorOf(const Errors& errors) const {
  BERTH_REQUIRES(!errors.by_text().empty());
  const auto& [first, of_first] = *errors.by_text().begin();
  return {config_->release->reports_first_error_only ? first : JoinCounted(errors), of_first.kind};
}

bool Filtering::RejectPod(Checks& checks, Decision* d, DecisionTrace* trace) {
  auto decided_by = [&](size_t i) {
    const std::string& name = checks.rules[i]->name;
    const PreFilterResult result = checks.list[i]->PreFilter();
    if (!result.error.empty()) {
      d->error = config_->release->error_text == nullptr
                     ? result.error.text
                     : config_->release->error_text(Release::Step::kPrepare, *checks.pod, name, result.error.text);
      d->error_kind = result.error.kind;
      rejected_pod_ = true;
      return true;
    }
    const PodRejection* rejection = result.rejection;
    if (rejection == nullptr) return false;
    auto failures = std::make_shared<NodeFailures>();
    std::vector<FailureReason> reasons{rejection->reason};
    reasons[0].rule = RuleOf(checks, i);
    cache_->listed().ForEach([&](Row row) {
      failures->AddNew(cache_->row(row).name, reasons);
      if (trace != nullptr) trace->rejected_by.emplace_back(cache_->row(row).name, name);
    });
    d->outcome = Decision::Outcome::kUnfit;
    d->error = config_->release->fit_error_text(*failures, d->nodes, rejection);
    d->failures = failures;
    d->rejected_by = {reasons[0].rule};
    if (trace != nullptr) trace->failures = failures;
    rejected_pod_ = true;
    return true;
  };
  if (config_->preparation_order.empty()) {
    for (size_t i = 0; i < checks.list.size(); ++i) {
      if (decided_by(i)) return true;
    }
    return false;
  }
  for (const size_t place : config_->preparation_order) {
    auto it = std::find(checks.rules.begin(), checks.rules.end(), &config_->predicates[place]);
    if (it != checks.rules.end() && decided_by(static_cast<size_t>(it - checks.rules.begin()))) return true;
  }
  return false;
}

}  // namespace berth::scheduler
