// The page's data from a scheduler at work.
//
// Everything is copied on the scheduler's thread, and only when somebody asked for it: the nodes at most four times a
// second; pending pods and the cluster in steps, each of which takes well under a millisecond and after each of which
// the scheduler goes on. A copy that was made in steps is not of one moment, but of the time that the steps took; the
// copy of nodes and the pods on them is brought up to one moment in the last step.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/queue/scheduling_queue.h"
#include "pkg/scheduler/scheduler.h"
#include "pkg/ui/source.h"
#include "pkg/util/clock.h"

namespace berth::ui {

// What the page shows. Everything here belongs to the scheduler's thread, but for `leading`, which may be called there
// and must be quick.
struct LiveScheduler {
  const scheduler::Cache* cache = nullptr;
  const scheduler::SchedulingQueue* queue = nullptr;
  const scheduler::Scheduler* scheduler = nullptr;
  std::function<bool()> leading;
  Algorithms algorithms = {};
  std::string configuration_json = {};
};

// Copies the nodes and the pods on them row by row. Rows that did not change since the copy before are shared with it.
class ClusterCopy {
 public:
  // Copies for a while. Returns false when there is more to copy; call it again after the scheduler had its turn.
  bool Step(const LiveScheduler& live);
  // REQUIRES: Step returned true.
  std::shared_ptr<const Cluster> Take() { return std::make_shared<Cluster>(cluster_); }

 private:
  void FindChangedRows(const scheduler::Cache& cache);
  bool CopyRows(const scheduler::Cache& cache, size_t most_objects);
  void CopyOthers(const scheduler::Listers& listers);
  bool CopyPending(const scheduler::Scheduler& s);

  Cluster cluster_;
  bool begun_ = false;                   // the rows were copied once
  uint64_t generation_ = 0;              // changes up to this one were noted in to_copy_
  std::vector<scheduler::Row> to_copy_;  // rows, each once
  std::vector<bool> waiting_;            // by row: is in to_copy_
  // The steps of the copy that is being made. When there were too many, because the cluster changes faster than it is
  // copied, the rest is copied at once.
  size_t steps_ = 0, most_steps_ = 0;
  std::vector<uint64_t> versions_;  // of the stores in cluster_.others
  size_t next_pending_ = 0;
  std::vector<api::PodPtr> pending_;
};

class LiveSource final : public Source {
 public:
  using Post = std::function<void(std::function<void()>)>;
  using After = std::function<void(absl::Duration, std::function<void()>)>;
  // `on_scheduler` and `on_server` run a function soon on those threads; `after` runs one on the server's thread when
  // the time has passed. What they were given and do not run is destroyed. `clock` outlives the object.
  LiveSource(Post on_scheduler, Post on_server, After after, const util::Clock* clock);
  // REQUIRES: neither thread runs functions of this object any more.
  ~LiveSource() override;

  // Must see each decision and, at least once a second, the counters; on the scheduler's thread.
  History* observer() { return &history_; }
  // From here on there are answers. Called once, from any thread; what `live` points to outlives the object.
  void Begin(LiveScheduler live);
  bool begun() const { return begun_; }

  void GetSnapshot(Done<Snapshot> done) override;
  void GetPending(Done<PendingPods> done) override;
  void GetCluster(Done<Cluster> done) override;
  void Work(std::function<void()> work, std::function<void()> done) override;
  const Algorithms& algorithms() override { return live_.algorithms; }
  std::string ConfigurationJson() override { return live_.configuration_json; }
  const History& history() override { return history_; }
  bool live() const override { return true; }

  // The longest time that one step took on the scheduler's thread.
  absl::Duration longest_step() const { return absl::Nanoseconds(longest_step_.load()); }

 private:
  // Something that is copied for all who wait for it, and kept for a while. On the server's thread.
  template <typename T>
  struct Kept {
    std::shared_ptr<const T> last;
    absl::Duration taken = -absl::InfiniteDuration();
    std::vector<Done<T>> waiting;
  };
  template <typename T>
  bool AnswerFromKept(Kept<T>* kept, absl::Duration keep, Done<T>* done);
  template <typename T>
  void Deliver(Kept<T>* kept, std::shared_ptr<const T> fresh);
  void OnScheduler(std::function<void()> step);
  void CopyPending(std::shared_ptr<PendingPods> into, size_t end);
  void CopyCluster();
  void ForgetClusterLater();
  void RunWorker();

  const Post on_scheduler_, on_server_;
  const After after_;
  const util::Clock* clock_;
  History history_;
  LiveScheduler live_;
  std::atomic<bool> begun_{false};
  std::atomic<int64_t> longest_step_{0};  // nanoseconds
  Kept<Snapshot> snapshot_;
  Kept<PendingPods> pending_;
  Kept<Cluster> cluster_;
  absl::Duration cluster_asked_;
  std::unique_ptr<ClusterCopy> copy_;  // of the scheduler's thread

  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<std::pair<std::function<void()>, std::function<void()>>> work_;  // under mutex_
  bool over_ = false;                                                         // under mutex_
  std::thread worker_;
};

}  // namespace berth::ui
