#include "pkg/scheduler/algorithm/domain_rule.h"

#include "pkg/util/contract.h"

namespace berth::scheduler {

void DomainRule::SumsOf(Row row, std::span<DomainSum> sums) const {
  BERTH_REQUIRES(sums.size() == channels().size());
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

namespace {

// Calls f(index, domain) for each row that has a domain.
template <typename F>
void ForEachDomain(const LabelColumn* column, std::span<const Row> rows, F f) {
  if (column == nullptr) {
    for (size_t i = 0; i < rows.size(); ++i) f(i, rows[i]);
    return;
  }
  const uint32_t* const domains = column->domains().data();
  const size_t limit = column->domains().size();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < limit) f(i, domains[rows[i]]);
  }
}

// Marks the sums of rows without the label, `width` sums apart.
void MarkIncomplete(const LabelColumn& label, std::span<const Row> rows, size_t width, DomainSum* sums) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (label.Domain(rows[i]) == LabelColumn::kNoDomain) sums[i * width].complete = false;
  }
}

}  // namespace

// Goes through the rows term by term. The numbers of a term by domain are copied into an array first, so that a row
// costs a read of that array and not a lookup in a hash table. Its last element is for rows without a number.
void DomainRule::SumsOfAll(std::span<const Row> rows, std::vector<DomainSum>* sums) const {
  const size_t width = channels_.size();
  sums->assign(rows.size() * width, DomainSum{});
  thread_local std::vector<int64_t> by_domain;
  for (const DomainTerm& t : terms_) {
    DomainSum* const to = sums->data() + t.channel;
    if (t.label != nullptr) MarkIncomplete(*t.label, rows, width, to);
    const DomainNumbers& numbers = t.totals->numbers();
    if (numbers.empty()) continue;
    const uint32_t limit = numbers.limit();
    by_domain.assign(size_t{limit} + 1, 0);
    numbers.ForEach([&](uint32_t domain, int64_t number) { by_domain[domain] = number; });
    const int64_t* const number_of = by_domain.data();
    const LabelColumn* const column = t.totals->column();
    if (t.label != nullptr && t.label != column) {
      ForEachDomain(column, rows, [&, channel = channels_[t.channel]](size_t i, uint32_t domain) {
        if (t.label->Domain(rows[i]) == LabelColumn::kNoDomain) return;
        AddTo(&to[i * width], channel, t, number_of[std::min(domain, limit)]);
      });
    } else if (channels_[t.channel] == DomainChannel::kAny) {
      ForEachDomain(column, rows, [=](size_t i, uint32_t domain) {
        to[i * width].value |= number_of[std::min(domain, limit)] > 0 ? 1 : 0;
      });
    } else {
      ForEachDomain(column, rows, [=, weight = t.weight](size_t i, uint32_t domain) {
        to[i * width].value += weight * number_of[std::min(domain, limit)];
      });
    }
  }
}

bool CountedRows(const DomainTerm& term, size_t most, std::vector<Row>* rows) {
  const DomainNumbers& numbers = term.totals->numbers();
  rows->clear();
  if (numbers.size() > most) return false;
  const LabelColumn* const column = term.totals->column();
  numbers.ForEach([&](uint32_t domain, int64_t) {
    if (column == nullptr) {
      rows->push_back(domain);
    } else if (rows->size() <= most) {
      rows->insert(rows->end(), column->Rows(domain).begin(), column->Rows(domain).end());
    }
  });
  return rows->size() <= most;
}

bool FewestCountedRows(std::span<const DomainTerm> terms, size_t most, std::vector<Row>* rows) {
  bool any = false;
  std::vector<Row> of_term;
  for (const DomainTerm& t : terms) {
    if (!CountedRows(t, most, &of_term)) continue;
    most = of_term.size();
    rows->swap(of_term);
    any = true;
  }
  return any;
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
  std::vector<DomainSum> sums;
  SumsOfAll(rows, &sums);
  std::vector<uint32_t> domains;
  domains.reserve(rows.size() * keys_.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    for (const LabelColumn* key : keys_) domains.push_back(key->Domain(rows[i]));
  }
  const std::vector<uint32_t> nodes(rows.size(), 1);
  BERTH_REQUIRES(scores.size() == rows.size());
  Score({rows.size(), sums, domains, nodes}, scores);
  return absl::OkStatus();
}

}  // namespace berth::scheduler
