#include "pkg/scheduler/cache/label_column.h"

#include <algorithm>

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
    if (by_value_.empty()) domains_ = {};
    return;
  }
  auto [it, fresh] = by_value_.try_emplace(value, static_cast<uint32_t>(values_.size()));
  if (fresh) ++version_;
  if (fresh && !free_.empty()) {
    it->second = free_.back();
    free_.pop_back();
    values_[it->second] = value;
  } else if (fresh) {
    values_.push_back(value);
    rows_.emplace_back();
  }
  if (r >= domains_.size()) domains_.resize(r + 1, kNoDomain);
  domains_[r] = it->second;
  rows_[it->second].push_back(r);
  ++rows_with_label_;
}

}  // namespace berth::scheduler
