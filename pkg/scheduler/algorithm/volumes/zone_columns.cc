#include "pkg/scheduler/algorithm/volumes/zone_columns.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_split.h>

#include <algorithm>

#include "pkg/util/contract.h"
#include "pkg/util/status.h"

namespace berth::scheduler::volumes {

const std::array<Symbol, ZoneColumns::kCount>& ZoneColumns::Labels() {
  static const std::array<Symbol, kCount> labels = {
      Symbol("failure-domain.beta.kubernetes.io/zone"), Symbol("failure-domain.beta.kubernetes.io/region"),
      Symbol("topology.kubernetes.io/zone"), Symbol("topology.kubernetes.io/region")};
  return labels;
}

std::vector<ZoneColumns::Demand> ZoneColumns::DemandsOf(const api::PersistentVolume& volume) {
  std::vector<Demand> demands;
  for (size_t i = 0; i < kCount; ++i) {
    const auto value = volume.labels.Get(Labels()[i]);
    if (!value) continue;
    std::vector<Symbol> values;
    bool good = true;
    for (absl::string_view part : absl::StrSplit(value->string(), "__")) {
      part = absl::StripAsciiWhitespace(part);
      good = good && !part.empty();
      values.push_back(Symbol(util::FromAbsl(part)));
    }
    if (good) demands.emplace_back(i, std::move(values));
  }
  return demands;
}

ZoneColumns::ZoneColumns(const Cache& cache) : cache_(cache) {
  for (size_t i = 0; i < kCount; ++i) columns_[i] = &cache.Label(Labels()[i]);
}

// Usually each node has one of the labels, which is seen without a look at the rows.
RowSet ZoneColumns::Without(const RowSet& rows, size_t labels) const {
  RowSet without;
  without.Resize(cache_.row_count());
  if (std::any_of(columns_.begin(), columns_.begin() + static_cast<std::ptrdiff_t>(labels),
                  [&](const LabelColumn* c) { return c->rows_with_label() >= cache_.row_count(); })) {
    return without;
  }
  rows.ForEach([&](Row row) {
    if (HasNone(row, labels)) without.Insert(row);
  });
  return without;
}

// Finds the rows by the values of their labels.
void ZoneColumns::KeepMeeting(std::span<const Demand> demands, size_t labels, RowSet* rows) const {
  BERTH_REQUIRES(std::ranges::all_of(demands, [labels](const Demand& d) { return d.first < labels; }));
  if (demands.empty()) return;
  const RowSet without = Without(*rows, labels);
  for (const auto& [index, values] : demands) {
    RowSet with;
    with.Resize(cache_.row_count());
    for (const Symbol value : values) {
      for (const Row row : columns_[index]->RowsWith(value)) with.Insert(row);
    }
    rows->IntersectWith(with);
  }
  without.ForEach([&](Row row) { rows->Insert(row); });
}

}  // namespace berth::scheduler::volumes
