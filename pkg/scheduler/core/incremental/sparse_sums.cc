#include "pkg/scheduler/core/incremental/sparse_sums.h"

#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

// There are many counted rows if at least one domain in this many rows is counted by a term.
constexpr size_t kRowsOfCounted = 8;

}  // namespace

std::span<const int64_t> SparseSums::Of(const TermLayout& layout, Row row) {
  signature_.assign(layout.slots().size(), 0);
  for (const TermLayout::Term& t : layout.sparse()) {
    if (t.term->label != nullptr && t.term->label->Domain(row) == LabelColumn::kNoDomain) continue;
    const uint32_t domain = t.term->totals->DomainOf(row);
    if (domain == LabelColumn::kNoDomain) continue;
    DomainSum sum{signature_[t.slot]};
    DomainRule::AddTo(&sum, layout.channels()[t.channel], *t.term, t.term->totals->In(domain));
    signature_[t.slot] = sum.value;
  }
  return signature_;
}

// Returns the place of a row's sum for a slot. A row that has not been met before gets sums of 0.
int64_t& SparseSums::ValueOf(Row row, size_t slot, size_t width) {
  uint32_t& at = added_at_[row];
  if (at == 0) {
    added_.push_back(row);
    values_.resize(values_.size() + width, 0);
    at = static_cast<uint32_t>(added_.size());
  }
  return values_[(at - 1) * width + slot];
}

// Adds the numbers of one term to the sums, which have a place for each row.
void SparseSums::AddToAll(const TermLayout& layout, const TermLayout::Term& t, int64_t* all) {
  const size_t width = layout.slots().size();
  const bool adds = layout.channels()[t.channel] == DomainChannel::kSum;
  const int64_t weight = t.term->weight;
  const LabelColumn* const label = t.term->label;
  int64_t* const values = all + t.slot;
  const auto add = [=](Row row, int64_t number) {
    if (label != nullptr && label->Domain(row) == LabelColumn::kNoDomain) return;
    int64_t& value = values[row * width];
    value = adds ? value + weight * number : number > 0 ? 1 : value;
  };
  const LabelColumn* const column = t.term->totals->column();
  t.term->totals->numbers().ForEach([&](uint32_t domain, int64_t number) {
    if (column == nullptr) {
      add(domain, number);
    } else {
      for (const Row row : column->Rows(domain)) add(row, number);
    }
  });
}

bool SparseSums::AreMany(const TermLayout& layout, size_t rows) {
  return layout.Counted() * kRowsOfCounted > rows;
}

std::vector<int64_t>* SparseSums::OfAll(const TermLayout& layout, size_t rows) {
  const size_t width = layout.slots().size();
  for (Row row : added_) added_at_[row] = 0;
  added_.clear();
  values_.assign((rows + 1) * width, 0);
  for (const TermLayout::Term& t : layout.sparse()) AddToAll(layout, t, values_.data() + width);
  return &values_;
}

// A single term has each row's signature as soon as it meets the row; the sums of several are collected first.
void SparseSums::ForEach(const TermLayout& layout, size_t rows,
                         absl::FunctionRef<void(Row, std::span<const int64_t>)> f) {
  if (layout.sparse().empty()) return;
  const size_t width = layout.slots().size();
  const bool single = layout.sparse().size() == 1;
  for (Row row : added_) added_at_[row] = 0;
  added_.clear();
  if (!single && AreMany(layout, rows)) return ForEachIn(*OfAll(layout, rows), width, f);
  values_.clear();
  if (added_at_.size() < rows) added_at_.resize(rows, 0);
  for (const TermLayout::Term& t : layout.sparse()) {
    const DomainChannel channel = layout.channels()[t.channel];
    auto add = [&](Row row, int64_t number) {
      BERTH_REQUIRES(row < rows);
      if (t.term->label != nullptr && t.term->label->Domain(row) == LabelColumn::kNoDomain) return;
      DomainSum sum;
      if (single) {
        DomainRule::AddTo(&sum, channel, *t.term, number);
        return f(row, {&sum.value, 1});
      }
      int64_t& value = ValueOf(row, t.slot, width);
      sum.value = value;
      DomainRule::AddTo(&sum, channel, *t.term, number);
      value = sum.value;
    };
    const LabelColumn* column = t.term->totals->column();
    t.term->totals->numbers().ForEach([&](uint32_t domain, int64_t number) {
      if (column == nullptr) {
        add(domain, number);
      } else {
        for (Row row : column->Rows(domain)) add(row, number);
      }
    });
  }
  for (size_t i = 0; i < added_.size(); ++i) f(added_[i], {values_.data() + i * width, width});
}

}  // namespace berth::scheduler
