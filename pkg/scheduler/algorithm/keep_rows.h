// How lists of rows are narrowed by predicates.
#pragma once
#include <cstddef>
#include <vector>

#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler {

// Erases the rows for which keep(i, rows[i]) is false or 0, and keeps the order of the others. Nothing is written as
// long as all rows are kept. From then on, each row is written and only the end of the list depends on the answer,
// because which rows are kept is hard to predict; `keep` should have no branch on it either.
template <typename Keep>
void KeepRows(std::vector<Row>* rows, Keep keep) {
  Row* const to = rows->data();
  const size_t size = rows->size();
  size_t kept = 0;
  while (kept < size && keep(kept, to[kept])) ++kept;
  for (size_t i = kept; i < size; ++i) {
    const Row row = to[i];
    to[kept] = row;
    kept += keep(i, row) ? 1 : 0;
  }
  rows->resize(kept);
}

}  // namespace berth::scheduler
