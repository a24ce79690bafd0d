#include "pkg/scheduler/cache/label_column.h"

#include <algorithm>

#include "pkg/util/release_memory.h"

namespace berth::scheduler {

Symbol LabelColumn::no_value() {
  static const Symbol kNoValue("\x01no value");
  return kNoValue;
}

const std::vector<Row>& LabelColumn::RowsWith(Symbol value) const {
  static const std::vector<Row> kNone;
  const uint32_t domain = DomainOf(value);
  return domain == kNoDomain ? kNone : rows_[domain];
}

// Moves the row to the domain of the value. A domain that loses its last row becomes free and may be given to the new
// value at once; DomainTotals are not affected, because the cache subtracts the row's pods before this and adds them
// afterwards.
void LabelColumn::Set(Row r, Symbol value) {
  const uint32_t before = Domain(r);
  if (before == kNoDomain ? value == no_value() : values_[before] == value) return;
  if (before != kNoDomain) {
    std::erase(rows_[before], r);
    --rows_with_label_;
    if (rows_[before].empty()) {
      by_value_.erase(values_[before]);
      free_.push_back(before);
    }
  }
  if (before != kNoDomain) domains_[r] = kNoDomain;
  if (value == no_value()) {
    if (by_value_.empty()) util::ReleaseMemory(&domains_);
    return;
  }
  const uint32_t domain = DomainFor(value);
  if (r >= domains_.size()) domains_.resize(r + 1, kNoDomain);
  domains_[r] = domain;
  rows_[domain].push_back(r);
  ++rows_with_label_;
}

uint32_t LabelColumn::DomainFor(Symbol value) {
  auto [it, fresh] = by_value_.try_emplace(value, static_cast<uint32_t>(values_.size()));
  if (!fresh) return it->second;
  ++version_;
  if (!free_.empty()) {
    it->second = free_.back();
    free_.pop_back();
    values_[it->second] = value;
  } else {
    values_.push_back(value);
    rows_.emplace_back();
  }
  return it->second;
}

// Neighbours often have the same value, whose domain need not be looked up.
void LabelColumn::SetAll(const RowSet& rows, uint32_t row_count, absl::FunctionRef<Symbol(Row)> value_of) {
  BERTH_REQUIRES(domains_.empty() && by_value_.empty());
  domains_.assign(row_count, kNoDomain);
  Symbol last = no_value();
  uint32_t domain = kNoDomain, end = 0;
  rows.ForEach([&](Row r) {
    const Symbol value = value_of(r);
    if (value != last) domain = value == no_value() ? kNoDomain : DomainFor(value);
    last = value;
    if (domain == kNoDomain) return;
    domains_[r] = domain;
    rows_[domain].push_back(r);
    ++rows_with_label_;
    end = r + 1;
  });
  domains_.resize(end);
  if (end == 0) util::ReleaseMemory(&domains_);
}

}  // namespace berth::scheduler
