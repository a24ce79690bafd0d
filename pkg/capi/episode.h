// A simulation in which an agent chooses the nodes, one question after another.
#pragma once
#include <absl/status/statusor.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "pkg/capi/cluster.h"
#include "pkg/capi/columns.h"
#include "pkg/lab/metrics.h"
#include "pkg/scheduler/core/guest.h"
#include "pkg/simulate/arrival_file.h"
#include "pkg/simulate/generated.h"
#include "pkg/simulate/input.h"
#include "pkg/simulate/simulate.h"

namespace berth::capi {

// The simulation runs in a thread of its own, as a guest of which this object takes part in its decisions. One of the
// two threads runs at a time: the simulation waits while there is a question, and the caller while there is none.
class Episode final : public Held, public scheduler::Guest {
 public:
  // What an episode is made of, besides the cluster.
  struct Pace {
    std::vector<api::PodPtr> pods;
    const double *arrivals = nullptr, *durations = nullptr;  // by pod, in seconds; null: at 0, for ever
    std::string_view options;
  };
  static absl::StatusOr<std::shared_ptr<Episode>> Begin(Cluster& cluster, const Pace& pace);
  ~Episode() override;

  Columns columns;  // written before each question

  // Answers the question, if there is one, and waits for the next one or for the end.
  absl::Status Next(int32_t node);
  // What is asked; null: nothing, because the simulation is over.
  const api::Pod* pod() const { return pod_.get(); }
  const scheduler::RowSet& rows() const { return rows_; }
  const scheduler::Cache& cache() const { return *cache_; }
  // How many nodes there are, from the beginning to the end.
  size_t nodes() const { return nodes_; }
  double seconds() const { return static_cast<double>(now_.load()) / simulate::kSecond; }
  const std::string& name() const { return name_; }
  const double* Requests() { return columns.Requests(cache_->Info(pod_->tmpl)->request); }
  // Returns how it went, in JSON; empty until it is over.
  const std::string& outcome() const { return outcome_; }

  // ---- the guest of the decisions ----
  bool Filters() const override { return true; }
  bool Chooses() const override { return false; }
  bool Filter(const api::PodPtr& pod, scheduler::RowSet* rows, std::vector<Rejected>* rejected) override;
  std::optional<size_t> Choose(const api::PodPtr&, std::span<const scheduler::Row>, std::span<const int64_t>, uint64_t,
                               size_t*) override {
    return std::nullopt;
  }
  const std::string& Error() const override { return no_error_; }
  void Begin() override { chosen_.reset(); }

 private:
  enum class Turn : uint8_t { kCaller, kSimulation };

  absl::Status ReadOptions(std::string_view text);
  absl::Status Prepare(Cluster& cluster, const Pace& pace);
  absl::StatusOr<std::unique_ptr<simulate::ArrivalSource>> Arrivals() const;
  // Runs in the thread of the simulation.
  void Run();
  int32_t Ask(const api::PodPtr& pod, const scheduler::RowSet& rows);

  // The input, which does not change once the thread runs.
  std::shared_ptr<Cluster> copy_;
  size_t nodes_ = 0;
  simulate::InputPods inputs_;
  std::vector<simulate::Arrival> given_;
  std::unique_ptr<simulate::ArrivalFile> file_;
  std::vector<simulate::Generated> generated_;
  uint64_t seed_ = 0;
  std::vector<simulate::Step> steps_;
  std::unique_ptr<lab::Workload> workload_;
  simulate::Micros horizon_ = 0;
  simulate::Options options_;

  std::thread thread_;
  std::atomic<bool> cut_ = false;
  std::atomic<simulate::Micros> now_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  Turn turn_ = Turn::kCaller;  // whose turn it is; guarded by mutex_, as is what follows up to the next comment
  bool over_ = false;
  int32_t answer_ = -1;
  api::PodPtr pod_;
  scheduler::RowSet rows_;
  std::string name_, failure_, outcome_;
  scheduler::Cache* cache_ = nullptr;
  // Of the thread of the simulation: what was chosen in the present decision.
  std::optional<int32_t> chosen_;
  const std::string no_error_;
};

}  // namespace berth::capi
