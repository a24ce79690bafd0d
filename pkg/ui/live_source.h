// The page's data from a running scheduler.
//
// Everything is copied on the scheduler's thread, and only when a viewer has requested it: the nodes at most four times
// a second; pending pods and the cluster in steps of well under a millisecond, between which the scheduler continues. A
// copy made in steps does not show one moment but the time of all its steps. The nodes and the pods on them are the
// exception: the last step brings them up to date.
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
#include "pkg/util/contract.h"

namespace berth::ui {

// What the page shows. Everything here may be used on the scheduler's thread only. `leading` is called on that thread
// and must return quickly.
struct LiveScheduler {
  const scheduler::Cache* cache = nullptr;
  const scheduler::SchedulingQueue* queue = nullptr;
  const scheduler::Scheduler* scheduler = nullptr;
  std::function<bool()> leading;
  Algorithms algorithms = {};
  std::string configuration_json = {};
};

// Copies the cluster. Rows that have not changed since the previous copy are shared with it. For use on the
// scheduler's thread.
class ClusterCopy {
 public:
  // Makes one step of a copy. Returns false if there is more to copy; call it again after other work of the scheduler's
  // thread.
  bool Step(const LiveScheduler& live);
  // REQUIRES: Step returned true.
  std::shared_ptr<const Cluster> Take() {
    BERTH_REQUIRES(begun_ && steps_ == 0);
    return std::make_shared<Cluster>(cluster_);
  }

 private:
  void FindChangedRows(const scheduler::Cache& cache);
  bool CopyRows(const scheduler::Cache& cache, size_t most_objects);
  void CopyOthers(const scheduler::Listers& listers);
  bool CopyPending(const scheduler::Scheduler& s);

  Cluster cluster_;
  bool begun_ = false;                   // the rows have been copied at least once
  uint64_t generation_ = 0;              // changes up to this one have been entered in to_copy_
  std::vector<scheduler::Row> to_copy_;  // rows to be copied, each at most once
  std::vector<bool> waiting_;            // by row: whether it is in to_copy_
  // The number of steps of the current copy. If it exceeds the limit, because the cluster changes faster than it is
  // copied, the rest is copied at once.
  size_t steps_ = 0, most_steps_ = 0;
  std::vector<uint64_t> versions_;  // versions of the stores in cluster_.others
  size_t next_pending_ = 0;
  std::vector<api::PodPtr> pending_;
};

class LiveSource final : public Source {
 public:
  using Post = std::function<void(std::function<void()>)>;
  using After = std::function<void(absl::Duration, std::function<void()>)>;
  // `on_scheduler` and `on_server` run a function soon on those threads; `after` runs one on the server's thread after
  // a time. Functions that they never run must be destroyed. `clock` must outlive the object.
  LiveSource(Post on_scheduler, Post on_server, After after, const util::Clock* clock);
  // Neither thread may run functions of this object any more.
  ~LiveSource() override;

  // Returns the observer of the scheduler, which must receive every decision and, at least once a second, the counters.
  // To be used on the scheduler's thread.
  History* observer() { return &history_; }
  // Enables answers. Called once, on any thread. What `live` points to must outlive the object.
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

 private:
  // A copy that is made once for all who wait for it, and kept for a while. Used on the server's thread.
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
  Kept<Snapshot> snapshot_;
  Kept<PendingPods> pending_;
  Kept<Cluster> cluster_;
  absl::Duration cluster_asked_;
  std::unique_ptr<ClusterCopy> copy_;  // used on the scheduler's thread

  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<std::pair<std::function<void()>, std::function<void()>>> work_;  // guarded by mutex_
  bool over_ = false;                                                         // guarded by mutex_
  std::thread worker_;
};

}  // namespace berth::ui
