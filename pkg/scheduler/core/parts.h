// What a GenericScheduler is made of. For its source files only.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "pkg/scheduler/core/batch.h"
#include "pkg/scheduler/core/extender_calls.h"
#include "pkg/scheduler/core/filtering.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/core/incremental/incremental_scheduler.h"
#include "pkg/scheduler/core/kept_failures.h"
#include "pkg/scheduler/core/preemptor.h"

namespace berth::scheduler {

struct GenericScheduler::Parts {
  Parts(Cache* cache, AlgorithmConfig* config, const NominatedPods* nominated)
      : incremental(cache, config),
        filtering(cache, config, nominated),
        failures(cache, config, nominated, &filtering),
        preemptor(cache, config, nominated, &filtering),
        extenders(cache, &config->extenders) {}

  // Decides for a pod that is expected to fit nowhere, from nothing that is kept. Returns nothing if it fits somewhere,
  // or if a rule has an error. REQUIRES: there are no extenders. All nodes are looked at.
  std::optional<Decision> FindUnfit(Cache& cache, const AlgorithmConfig& config, const api::PodPtr& pod);
  // Completes the decision about a pod that fits nowhere.
  void SayUnfit(const Release& release, const std::shared_ptr<NodeFailures>& why, Decision* d) const;
  // Keeps what a decision scored for the pods that follow.
  void NoteScored(const Cache& cache, std::span<const Row> rows, std::span<const int64_t> totals);

  IncrementalScheduler incremental;
  Filtering filtering;
  KeptFailures failures;
  Preemptor preemptor;
  ExtenderCalls extenders;
  Batch batch;                // used if the configuration has BatchParts
  BatchCounts batch_counts;   // used if the configuration counts batches
  bool wants_totals = false;  // whether `scored` is filled in
  ScoredRows scored;          // what the last decision scored
  uint64_t scored_order = 0;  // Cache::order_version() when scored.names was made
};

}  // namespace berth::scheduler
