#include "pkg/lab/experiment.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/failure_reasons.h"
#include "pkg/util/status.h"

namespace berth::lab {
namespace {

using scheduler::Decision;

// Computes one sample after pods that request `arrived` of the scarcest resource have arrived.
Sample TakeSample(const Workload& w, const scheduler::Cache& cache, double arrived) {
  const size_t r = w.scarcest(), width = w.resources().size();
  const std::vector<int64_t> free = w.Free(cache);
  double left = 0;
  for (size_t n = 0; n < w.node_count(); ++n) left += static_cast<double>(free[n * width + r]);
  const double total = std::max(w.total(r), 1.0);
  return {arrived / total, 1 - left / total, w.Fragmentation(free)[r]};
}

}  // namespace

std::string MainReason(const Decision& d) {
  const bool by_node = d.failures != nullptr && d.failures->size() > 0;
  const scheduler::FailureReason* reason = by_node ? scheduler::DecisiveReason(*d.failures) : nullptr;
  // Claims that do not exist are one reason, whatever their names are. Resources and taints are told apart.
  const scheduler::Symbol kind = reason != nullptr ? reason->kind : d.error_kind;
  const bool told_apart =
      kind == scheduler::reasons::kExtendedResource || kind == scheduler::reasons::kUntoleratedTaint;
  if (!kind.empty() && !told_apart) return kind.string();
  return reason != nullptr ? reason->text.string() : by_node ? std::string() : d.error;
}

Trial RunTrial(const Scenario& scenario, const Workload& workload, const Algorithm& algorithm,
               const TrialOptions& options) {
  Trial trial;
  auto made = Simulation::Make(scenario, algorithm);
  if (!made.ok()) {
    trial.error = util::Message(made.status());
    return trial;
  }
  Simulation& sim = **made;
  const size_t pods = scenario.pending.size();
  trial.hosts.reserve(pods);
  trial.reasons.resize(pods);
  double arrived = 0;
  for (size_t i = 0; i < pods; ++i) {
    const api::PodPtr& pod = scenario.pending[i];
    const Decision d = sim.Place(pod);
    trial.hosts.push_back(d.host);
    if (d.outcome == Decision::Outcome::kPlaced) {
      ++trial.metrics.placed;
    } else {
      ++trial.metrics.pending;
      trial.reasons[i] = MainReason(d);
      ++trial.metrics.pending_by_reason[trial.reasons[i]];
      if (options.preemptions && sim.pod_priority() && d.outcome == Decision::Outcome::kUnfit) {
        trial.metrics.preemptions += !sim.scheduler().Preempt(pod, *d.failures).node.empty();
      }
    }
    arrived += static_cast<double>(workload.request(i)[workload.scarcest()]);
    const size_t s = options.samples;
    // Takes a sample whenever the next of `s` equal portions of the pods has arrived.
    if (s > 0 && (i + 1) * s / pods != i * s / pods)
      trial.samples.push_back(TakeSample(workload, sim.cache(), arrived));
  }
  MeasureCluster(workload, sim.cache(), options.compaction, &trial.metrics);
  return trial;
}

void RunOnAllCores(size_t n, const std::function<void(size_t)>& work, const std::function<void(size_t)>& step) {
  std::atomic<size_t> next = 0;
  size_t done = 0;
  std::mutex mutex;
  std::condition_variable changed;
  auto loop = [&] {
    for (size_t i = next++; i < n; i = next++) {
      work(i);
      std::lock_guard<std::mutex> lock(mutex);
      ++done;
      changed.notify_one();
    }
  };
  std::vector<std::thread> threads;
  const size_t cores = std::max<size_t>(std::thread::hardware_concurrency(), 1);
  for (size_t i = 0; i < std::min(cores, n); ++i) threads.emplace_back(loop);
  // `step` is called without the lock, so that slow output does not delay the work.
  std::unique_lock<std::mutex> lock(mutex);
  while (done < n) {
    changed.wait(lock);
    const size_t so_far = done;
    if (step) {
      lock.unlock();
      step(so_far);
      lock.lock();
    }
  }
  lock.unlock();
  for (std::thread& t : threads) t.join();
}

}  // namespace berth::lab
