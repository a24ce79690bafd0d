// Simulated changes of one row of a Cache.
#include <glog/logging.h>

#include <algorithm>

#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler {

// The list of pods and the ports are restored from copies, because the order of the list matters and ports have no
// reference counts. All other changes are undone one by one, in reverse order.

Cache::Simulation::Simulation(Cache* cache, Row row)
    : cache_(cache),
      row_(row),
      saved_pods_(cache->rows_[row].pods),
      saved_ports_(cache->rows_[row].ports),
      restored_before_(cache->restored_.size()) {}

Cache::Simulation::~Simulation() {
  cache_->restored_.resize(std::min(cache_->restored_.size(), restored_before_));
  for (auto it = done_.rbegin(); it != done_.rend(); ++it) {
    cache_->CountPod(row_, it->first, it->second > 0 ? -1 : +1, it->second > 1 ? Why::kNominated : Why::kSimulated);
  }
  NodeRow& row = cache_->rows_[row_];
  row.pods = std::move(saved_pods_);
  row.ports = std::move(saved_ports_);
  if (row.saturated) cache_->Recount(row_);
}

void Cache::Simulation::Remove(const PlacedPod& pod) {
  std::vector<PlacedPod>& pods = cache_->rows_[row_].pods;
  auto it = std::find_if(pods.begin(), pods.end(), [&](const PlacedPod& p) { return p.pod == pod.pod; });
  CHECK(it != pods.end());
  PlacedPod gone = *it;
  *it = std::move(pods.back());
  pods.pop_back();
  cache_->CountPod(row_, gone, -1, Why::kSimulated);
  if (cache_->rows_[row_].saturated) cache_->Recount(row_);
  done_.emplace_back(gone, -1);
  std::erase_if(cache_->restored_, [&](const auto& restored) { return restored.second.pod == gone.pod; });
}

void Cache::Simulation::Restore(const PlacedPod& pod) {
  cache_->rows_[row_].pods.push_back(pod);
  cache_->CountPod(row_, pod, +1, Why::kSimulated);
  done_.emplace_back(pod, +1);
  cache_->restored_.emplace_back(row_, pod);
}

void Cache::Simulation::AddNominated(const api::PodPtr& pod) {
  PlacedPod p{pod, cache_->Info(*pod)};
  cache_->rows_[row_].pods.push_back(p);
  cache_->CountPod(row_, p, +1, Why::kNominated);
  done_.emplace_back(p, +2);
}

}  // namespace berth::scheduler
