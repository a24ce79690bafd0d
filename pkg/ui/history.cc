#include "pkg/ui/history.h"

#include <algorithm>

namespace berth::ui {
namespace {

// The number of entries that a reader examines before it releases the lock for the scheduler.
constexpr size_t kAtATime = 512;

}  // namespace

// The entry is composed before the lock is taken, so that readers hold up the scheduler's thread for as short as
// possible.
void History::Decided(const api::PodPtr& pod, const scheduler::Decision& d, uint64_t) {
  Attempt a;
  a.time = clock_->Wall();
  a.pod = pod->meta.Key();
  a.uid = pod->meta.uid;
  a.node = d.host;
  a.message = d.error.substr(0, kMostMessage);
  a.nodes = static_cast<uint32_t>(d.nodes);
  a.feasible = static_cast<uint32_t>(d.feasible);
  a.ties = static_cast<uint32_t>(d.ties);
  std::lock_guard lock(mutex_);
  Ring& ring = d.outcome == scheduler::Decision::Outcome::kPlaced ? placed_ : failed_;
  ring.entries.push_back(std::move(a));
  ++ring.end;
  if (ring.entries.size() > kMostAttempts) ring.entries.pop_front();
}

void History::PreemptionChosen(const api::PodPtr& pod, const scheduler::Preemption& p) {
  if (p.node.empty()) return;
  Preemption entry{clock_->Wall(), pod->meta.Key(), util::SharedSymbol(p.node), {}, p.victims.size()};
  for (size_t i = 0; i < std::min(p.victims.size(), kMostVictims); ++i) {
    entry.victims.push_back(p.victims[i]->meta.Key());
  }
  std::lock_guard lock(mutex_);
  preemptions_.push_back(std::move(entry));
  if (preemptions_.size() > kMostPreemptions) preemptions_.pop_front();
}

void History::Sample(const scheduler::SchedulerMetrics& m, size_t pending) {
  const absl::Duration now = clock_->Steady();
  if (now < next_sample_) return;
  next_sample_ = now + kRatePeriod;
  const Rate sum{clock_->Wall(), m.bound, m.unschedulable, m.errors, pending};
  const Rate rate{sum.time, sum.bound - last_.bound, sum.unschedulable - last_.unschedulable, sum.errors - last_.errors,
                  pending};
  last_ = sum;
  std::lock_guard lock(mutex_);
  rates_.push_back(rate);
  if (rates_.size() > kMostRates) rates_.pop_front();
}

// The lock is released between groups of entries. `next` stays valid meanwhile, because it is an entry's number: if
// that entry has been dropped, so have all before it, and the search ends.
void History::CollectAttempts(const Ring& ring, std::string_view pod, size_t limit, std::vector<Attempt>* out) const {
  std::unique_lock lock(mutex_);
  size_t found = 0;
  for (uint64_t next = ring.end; found < limit;) {
    const uint64_t begin = ring.end - ring.entries.size();
    for (size_t i = 0; i < kAtATime && next > begin && found < limit; ++i) {
      const Attempt& a = ring.entries[--next - begin];
      if (a.pod != pod) continue;
      out->push_back(a);
      ++found;
    }
    if (next <= begin) return;
    lock.unlock();
    lock.lock();
  }
}

std::vector<History::Attempt> History::AttemptsOf(std::string_view pod, size_t limit) const {
  std::vector<Attempt> out;
  CollectAttempts(placed_, pod, limit, &out);
  CollectAttempts(failed_, pod, limit, &out);
  std::stable_sort(out.begin(), out.end(), [](const Attempt& a, const Attempt& b) { return a.time > b.time; });
  if (out.size() > limit) out.resize(limit);
  return out;
}

std::vector<History::Preemption> History::Preemptions() const {
  std::lock_guard lock(mutex_);
  return {preemptions_.rbegin(), preemptions_.rend()};
}

std::vector<History::Preemption> History::PreemptionsOf(std::string_view pod) const {
  std::vector<Preemption> out;
  for (Preemption& p : Preemptions()) {
    const bool victim = std::find(p.victims.begin(), p.victims.end(), pod) != p.victims.end();
    if (p.pod == pod || victim) out.push_back(std::move(p));
  }
  return out;
}

std::vector<History::Rate> History::Rates() const {
  std::lock_guard lock(mutex_);
  return {rates_.begin(), rates_.end()};
}

}  // namespace berth::ui
