// The page about the running scheduler (--enable-ui).
#pragma once
#include <atomic>
#include <map>
#include <memory>

#include "cmd/kube-scheduler/component_config.h"
#include "cmd/kube-scheduler/inbox.h"
#include "cmd/kube-scheduler/threads.h"
#include "pkg/http/server.h"
#include "pkg/recording/format.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/ui/live_source.h"
#include "pkg/ui/server.h"
#include "pkg/util/clock.h"

namespace berth::kube_scheduler {

using AlgorithmsByName = std::map<util::Symbol, std::unique_ptr<scheduler::GenericScheduler>>;

class LivePage {
 public:
  // `loop` handles the requests. It, `inbox` and `clock` must outlive the object, and the object must outlive the
  // threads that run the loop and the inbox.
  LivePage(http::EventLoop* loop, Inbox* inbox, const util::Clock* clock);

  scheduler::DecisionObserver* observer() { return source_.observer(); }
  // Records the counters. To be called in a round, at least once a second.
  void Sample(const scheduler::Scheduler& s) { source_.observer()->Sample(s.metrics(), s.pending_pods()); }
  // Enables answers; before this call the page says that the scheduler is starting. `core` is the configuration that
  // decides, in the form of recordings, and `algorithms` has the same as objects, by scheduler name.
  void Begin(ui::LiveScheduler live, const Configuration& config, const recording::CoreConfiguration& core,
             const AlgorithmsByName& algorithms);
  void Handle(const http::ServerRequest& request, const http::Responder& answer, bool authorized);

 private:
  ui::LiveSource source_;
  ui::Server server_;
};

}  // namespace berth::kube_scheduler
