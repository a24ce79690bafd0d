// Three threads meet here. The server's thread calls Get...() and Work() and owns `snapshot_`, `pending_` and
// `cluster_`. The scheduler's thread runs the copying steps and owns `copy_`. The worker runs explanations, one at a
// time, at a low priority. Data moves between them only as immutable objects in posted functions.
#include "pkg/ui/live_source.h"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>

namespace berth::ui {
namespace {

// Ages up to which a copy is handed out again.
constexpr absl::Duration kKeepSnapshot = absl::Milliseconds(250), kKeepPending = absl::Seconds(1),
                         kKeepCluster = absl::Seconds(2);
// The copy of the cluster, on which the next copy builds, is dropped when it has not been requested for this long.
constexpr absl::Duration kForgetCluster = absl::Minutes(1);
constexpr size_t kPendingAStep = 4000;

}  // namespace

LiveSource::LiveSource(Post on_scheduler, Post on_server, After after, const util::Clock* clock)
    : on_scheduler_(std::move(on_scheduler)),
      on_server_(std::move(on_server)),
      after_(std::move(after)),
      clock_(clock),
      history_(clock),
      worker_([this] { RunWorker(); }) {}

LiveSource::~LiveSource() {
  {
    std::lock_guard lock(mutex_);
    over_ = true;
  }
  news_.notify_one();
  worker_.join();
}

void LiveSource::Begin(LiveScheduler live) {
  live_ = std::move(live);
  begun_ = true;
}

template <typename T>
// Returns true if nothing needs to be copied: because the last copy is young enough, or because one is being made
// already.
bool LiveSource::AnswerFromKept(Kept<T>* kept, absl::Duration keep, Done<T>* done) {
  if (clock_->Steady() - kept->taken < keep) {
    (*done)(kept->last);
    return true;
  }
  kept->waiting.push_back(std::move(*done));
  return kept->waiting.size() > 1;  // a copy is being made already
}

template <typename T>
void LiveSource::Deliver(Kept<T>* kept, std::shared_ptr<const T> fresh) {
  on_server_([this, kept, fresh = std::move(fresh)] {
    kept->last = fresh;
    kept->taken = clock_->Steady();
    for (auto& done : std::exchange(kept->waiting, {})) done(fresh);
  });
}

void LiveSource::GetSnapshot(Done<Snapshot> done) {
  if (AnswerFromKept(&snapshot_, kKeepSnapshot, &done)) return;
  on_scheduler_([this] {
    auto s = std::make_shared<Snapshot>();
    CopyNodes(*live_.cache, s.get());
    s->time = clock_->Wall();
    s->metrics = live_.scheduler->metrics();
    s->queue = live_.queue->depth();
    s->by_place = live_.scheduler->pods_by_place();
    s->pending = live_.scheduler->pending_pods();
    s->pods = live_.cache->pod_count();
    s->assumed = live_.cache->assumed_count();
    s->leading = live_.leading();
    Deliver<Snapshot>(&snapshot_, std::move(s));
  });
}

void LiveSource::GetPending(Done<PendingPods> done) {
  if (AnswerFromKept(&pending_, kKeepPending, &done)) return;
  on_scheduler_([this] {
    auto pods = std::make_shared<PendingPods>();
    pods->reserve(live_.scheduler->pending_pods());
    CopyPending(std::move(pods), live_.scheduler->pending_pods());
  });
}

// Copies the pending pods in steps, from the end of the scheduler's list to its beginning, so that none is missed (see
// Scheduler::VisitPending).
void LiveSource::CopyPending(std::shared_ptr<PendingPods> into, size_t end) {
  end = std::min(end, live_.scheduler->pending_pods());
  const size_t begin = end - std::min(end, kPendingAStep);
  live_.scheduler->VisitPending(begin, end, [&](const scheduler::Scheduler::PendingView& p) {
    PendingPod& copy = into->emplace_back(PendingPod{p.pod, p.place, p.attempts, p.reasons});
    if (p.until > absl::ZeroDuration()) copy.until = clock_->Wall() + (p.until - clock_->Steady());
  });
  if (begin > 0) return on_scheduler_([this, into, begin] { CopyPending(into, begin); });
  on_server_([this, into] {
    // The list may have changed between steps, so a pod may have been copied twice.
    std::sort(into->begin(), into->end(),
              [](const PendingPod& a, const PendingPod& b) { return a.pod->meta.uid < b.pod->meta.uid; });
    const auto same = [](const PendingPod& a, const PendingPod& b) { return a.pod->meta.uid == b.pod->meta.uid; };
    into->erase(std::unique(into->begin(), into->end(), same), into->end());
    pending_.last = into;
    pending_.taken = clock_->Steady();
    for (auto& done : std::exchange(pending_.waiting, {})) done(into);
  });
}

void LiveSource::GetCluster(Done<Cluster> done) {
  const bool first = cluster_.last == nullptr && cluster_.waiting.empty();
  cluster_asked_ = clock_->Steady();
  if (first) ForgetClusterLater();
  if (AnswerFromKept(&cluster_, kKeepCluster, &done)) return;
  CopyCluster();
}

// Each step is posted anew, so that the scheduler handles what has arrived in between.
void LiveSource::CopyCluster() {
  on_scheduler_([this] {
    if (copy_ == nullptr) copy_ = std::make_unique<ClusterCopy>();
    if (!copy_->Step(live_)) return CopyCluster();
    Deliver<Cluster>(&cluster_, copy_->Take());
  });
}

void LiveSource::ForgetClusterLater() {
  after_(kForgetCluster, [this] {
    if (clock_->Steady() - cluster_asked_ < kForgetCluster || !cluster_.waiting.empty()) return ForgetClusterLater();
    cluster_ = {};
    on_scheduler_([this] { copy_.reset(); });
  });
}

// ---- work off both threads ------------------------------------------------------------------------

void LiveSource::Work(std::function<void()> work, std::function<void()> done) {
  std::lock_guard lock(mutex_);
  work_.emplace_back(std::move(work), std::move(done));
  news_.notify_one();
}

void LiveSource::RunWorker() {
  pthread_setname_np(pthread_self(), "ui-work");
  // Answers for the page must not take CPU time from scheduling. Linux applies this priority to the calling thread
  // only.
  setpriority(PRIO_PROCESS, 0, 10);
  std::unique_lock lock(mutex_);
  for (;;) {
    news_.wait(lock, [this] { return over_ || !work_.empty(); });
    if (over_) return;
    auto [work, done] = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
    on_server_(std::move(done));
    work = nullptr;
    lock.lock();
  }
}

}  // namespace berth::ui
