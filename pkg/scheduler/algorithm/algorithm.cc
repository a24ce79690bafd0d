#include "pkg/scheduler/algorithm/algorithm.h"

#include <algorithm>
#include <bit>

#include "pkg/scheduler/algorithm/keep_rows.h"

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
  const size_t size = cache.columns().flags.size();
  std::vector<uint64_t>& words = rows->words();
  for (size_t w = 0; w < words.size(); ++w) {
    // Most nodes have none of the flags, so those of all rows of a word are looked at together first.
    const size_t begin = w * 64, end = std::min(begin + 64, size);
    uint8_t any = 0;
    for (size_t row = begin; row < end; ++row) any |= of[row];
    if ((any & flags) == 0) continue;
    for (uint64_t left = words[w]; left != 0; left &= left - 1) {
      const auto bit = static_cast<size_t>(std::countr_zero(left));
      if ((of[begin + bit] & flags) != 0) words[w] &= ~(uint64_t{1} << bit);
    }
  }
}

void EraseFlagged(const Cache& cache, uint8_t flags, std::vector<Row>* rows) {
  if (flags == 0) return;
  const uint8_t* of = cache.columns().flags.data();
  KeepRows(rows, [of, flags](size_t, Row row) { return (of[row] & flags) == 0; });
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
