// The page's data from a result: a scenario whose pending pods have been placed once, and which no longer changes.
#pragma once
#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "pkg/lab/scenario.h"
#include "pkg/ui/source.h"
#include "pkg/util/clock.h"

namespace berth::ui {

class ResultSource final : public Source {
 public:
  // Places the pending pods of `scenario` in order. `clock` must outlive the object. It is an error if the scenario
  // cannot be run.
  static absl::StatusOr<std::unique_ptr<ResultSource>> Make(const lab::Scenario& scenario, const util::Clock* clock);

  void GetSnapshot(Done<Snapshot> done) override { done(snapshot_); }
  void GetPending(Done<PendingPods> done) override { done(pending_); }
  void GetCluster(Done<Cluster> done) override { done(cluster_); }
  // A result has one user, so the work is done inside the call.
  void Work(std::function<void()> work, std::function<void()> done) override {
    work();
    done();
  }
  const Algorithms& algorithms() override { return algorithms_; }
  std::string ConfigurationJson() override { return configuration_; }
  const History& history() override { return history_; }
  bool live() const override { return false; }

 private:
  explicit ResultSource(const util::Clock* clock) : history_(clock) {}
  void CopyCluster(const lab::Scenario& scenario, const scheduler::Cache& cache);

  History history_;
  std::shared_ptr<Snapshot> snapshot_ = std::make_shared<Snapshot>();
  std::shared_ptr<PendingPods> pending_ = std::make_shared<PendingPods>();
  std::shared_ptr<Cluster> cluster_ = std::make_shared<Cluster>();
  Algorithms algorithms_;
  std::string configuration_;
};

}  // namespace berth::ui
