#include "pkg/scheduler/algorithm/domain_rule.h"

namespace berth::scheduler {

void DomainRule::SumsOf(Row row, std::span<DomainSum> sums) const {
  for (DomainSum& s : sums) s = {};
  for (const DomainTerm& t : terms_) {
    DomainSum& sum = sums[t.channel];
    if (t.label != nullptr && t.label->Domain(row) == LabelColumn::kNoDomain) {
      sum.complete = false;
      continue;
    }
    // An incomplete channel is decided by the label of the term, not by the column of the totals: for totals by row
    // every node has a domain, even if the rule wants the sum to depend on the hostname label.
    const uint32_t domain = t.totals->DomainOf(row);
    if (domain != LabelColumn::kNoDomain) AddTo(&sum, channels_[t.channel], t, t.totals->In(domain));
  }
}

// Called for one row at a time by the reference scheduler, also while a Simulation changes the cache.
Verdict DomainCheck::Check(Row row) {
  Refresh();
  // A predicate without channels restricts nothing, and Admits expects at least the channels that the rule has listed.
  if (terms_.empty() && channels_.empty()) return Verdict::kFits;
  thread_local std::vector<DomainSum> sums;
  sums.resize(channels_.size());
  SumsOf(row, sums);
  return Admits(sums) ? Verdict::kFits : Verdict::kFails;
}

absl::Status DomainScoring::Map(std::span<const Row> rows, std::span<int64_t> scores) {
  Refresh();
  std::vector<DomainSum> sums(rows.size() * channels_.size());
  std::vector<uint32_t> domains;
  domains.reserve(rows.size() * keys_.size());
  const std::vector<uint32_t> nodes(rows.size(), 1);
  for (size_t i = 0; i < rows.size(); ++i) {
    SumsOf(rows[i], {sums.data() + i * channels_.size(), channels_.size()});
    for (const LabelColumn* key : keys_) domains.push_back(key->Domain(rows[i]));
  }
  Score({rows.size(), sums, domains, nodes}, scores);
  return absl::OkStatus();
}

}  // namespace berth::scheduler
