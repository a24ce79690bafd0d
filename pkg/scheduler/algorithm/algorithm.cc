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

void FitCheck::KeepFitting(std::vector<Row>* rows) {
  std::erase_if(*rows, [&](Row row) { return Check(row) != Verdict::kFits; });
}

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
