#include "pkg/lab/order.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace berth::lab {
namespace {

// A smaller place is nearer to the front of the queue.
std::pair<int64_t, int64_t> PlaceInQueue(bool by_priority, const api::Pod& pod) {
  const int64_t created = pod.meta.creation_seconds;
  return {by_priority ? -int64_t{pod.Priority()} : 0, created == 0 ? INT64_MAX : created};
}

}  // namespace

void OrderAsQueue(bool by_priority, Scenario* s) {
  std::vector<size_t> order(s->pending.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return PlaceInQueue(by_priority, *s->pending[a]) < PlaceInQueue(by_priority, *s->pending[b]);
  });
  std::vector<api::PodPtr> pending = std::exchange(s->pending, {});
  // Edits of the cluster merge evicted pods by these places, which must ascend.
  std::vector<size_t> after = std::exchange(s->pending_after, {});
  std::sort(after.begin(), after.end());
  for (size_t i = 0; i < order.size(); ++i) s->AddPending(std::move(pending[order[i]]), after[i]);
}

bool QueueOrderDiffers(bool by_priority, const Scenario& s) {
  return !std::is_sorted(s.pending.begin(), s.pending.end(), [&](const api::PodPtr& a, const api::PodPtr& b) {
    return PlaceInQueue(by_priority, *a) < PlaceInQueue(by_priority, *b);
  });
}

}  // namespace berth::lab
