#include "pkg/scheduler/algorithm/algorithm.h"

#include <algorithm>

namespace berth::scheduler {

void FitCheck::Filter(RowSet* candidates, RowSet* errors) {
  candidates->ForEach([&](Row row) {
    switch (Check(row)) {
      case Verdict::kFits:
        break;
      case Verdict::kError:
        errors->Insert(row);
        [[fallthrough]];
      case Verdict::kFails:
        candidates->Erase(row);
    }
  });
}

void EraseFlagged(const Cache& cache, uint8_t flags, RowSet* rows) {
  if (flags == 0) return;
  const uint8_t* of = cache.columns().flags.data();
  rows->ForEach([&](Row row) {
    if ((of[row] & flags) != 0) rows->Erase(row);
  });
}

void EraseFlagged(const Cache& cache, uint8_t flags, std::vector<Row>* rows) {
  if (flags == 0) return;
  const uint8_t* of = cache.columns().flags.data();
  Row* const to = rows->data();
  size_t kept = 0;
  for (size_t i = 0, size = rows->size(); i < size; ++i) {
    const Row row = to[i];
    to[kept] = row;
    kept += (of[row] & flags) == 0 ? 1 : 0;
  }
  rows->resize(kept);
}

// One eviction must satisfy both predicates, so the larger amount of each resource counts.
void FreedNeed::And(const FreedNeed& o) {
  known = known && o.known;
  possible = possible && o.possible;
  milli_cpu = std::max(milli_cpu, o.milli_cpu);
  memory = std::max(memory, o.memory);
  nvidia_gpu = std::max(nvidia_gpu, o.nvidia_gpu);
  ephemeral_storage = std::max(ephemeral_storage, o.ephemeral_storage);
  pods = std::max(pods, o.pods);
}

}  // namespace berth::scheduler
