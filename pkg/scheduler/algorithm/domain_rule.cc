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
    // Whether a sum is complete depends on the label of the term and not on the column of the totals: totals by row
    // have a domain for every node, even if the rule requires the hostname label.
    const uint32_t domain = t.totals->DomainOf(row);
    if (domain != LabelColumn::kNoDomain) AddTo(&sum, channels_[t.channel], t, t.totals->In(domain));
  }
}

// The reference scheduler calls this for one row at a time, also while a Simulation changes the cache, so the terms are
// refreshed at each call.
Verdict DomainCheck::Check(Row row) {
  Refresh();
  // A predicate without channels restricts nothing, and Admits may read the sums of all channels without a check.
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
  // Without terms all sums are 0, as they are already.
  const size_t summed = terms_.empty() && keys_.empty() ? 0 : rows.size();
  for (size_t i = 0; i < summed; ++i) {
    SumsOf(rows[i], {sums.data() + i * channels_.size(), channels_.size()});
    for (const LabelColumn* key : keys_) domains.push_back(key->Domain(rows[i]));
  }
  Score({rows.size(), sums, domains, nodes}, scores);
  return absl::OkStatus();
}

}  // namespace berth::scheduler
