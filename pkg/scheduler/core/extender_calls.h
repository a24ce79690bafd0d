// The calls of extenders in an attempt to schedule a pod.
//
// Thread-safety: none; used on the thread of its Cache.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/extender/extender.h"
#include "pkg/util/symbol.h"

namespace berth::scheduler {

// The answers of the extenders for one pod in one attempt. When the attempt is decided twice, first by the incremental
// and then by the reference scheduler, the second decision uses these answers and calls no extender again.
struct ExtenderRound {
  std::vector<Extender::FilterResult> answers;               // in the order of the extenders that were called
  std::vector<std::pair<Symbol, std::string>> failed;        // nodes that an extender rejected, with the reasons
  std::vector<std::pair<Symbol, std::string>> unresolvable;  // the same, where evictions would not help
  std::string error;                                         // not empty when a call failed
};

class ExtenderCalls {
 public:
  // Both pointers must outlive this object.
  ExtenderCalls(const Cache* cache, const std::vector<std::unique_ptr<Extender>>* extenders)
      : cache_(cache), extenders_(extenders) {}

  bool AnyIsInterested(const api::Pod& pod) const;
  // Erases the rows that an extender rejects. Extenders are called one after another with the nodes that are left, in
  // the order of the rows. Returns false and sets round->error when an extender failed that is not ignorable.
  bool Filter(const api::Pod& pod, std::vector<Row>* feasible, ExtenderRound* round) const;
  // Adds the extenders' scores to the totals; totals[i] is that of rows[i].
  void AddScores(const api::Pod& pod, std::span<const Row> rows, std::span<int64_t> totals) const;

 private:
  const Cache* const cache_;
  const std::vector<std::unique_ptr<Extender>>* const extenders_;
};

}  // namespace berth::scheduler
