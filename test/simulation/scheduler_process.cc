#include "test/simulation/scheduler_process.h"

#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <limits>
#include <set>
#include <utility>

#include "pkg/recording/core.h"
#include "pkg/recording/recorder.h"
#include "pkg/releases/daemon_form.h"
#include "pkg/releases/releases.h"
#include "pkg/releases/v1_10/decides.h"
#include "pkg/releases/v1_29/decides.h"
#include "pkg/scheduler/factory/from_profile.h"
#include "pkg/scheduler/policy/decode.h"
#include "test/simulation/rollouts.h"
#include "test/simulation/world.h"

namespace berth::simulation {

using client::LeaderElection;
using scheduler::RequestId;

namespace {

constexpr int kDecisionsInARow = 64;

client::LeaderElectionOptions ElectionOptions(const std::string& identity, bool later) {
  client::LeaderElectionOptions o;
  o.identity = identity;
  if (later) {
    o.lock_type = "leases";
    o.server_timeout = "5s";
  }
  return o;
}

client::EventRecorderOptions RecorderOptions(std::function<double()> random, bool later) {
  client::EventRecorderOptions o;
  o.random = std::move(random);
  if (later) {
    o.series_instance = "default-scheduler-host";
    o.reporting_component = o.component;
  }
  return o;
}

std::unique_ptr<scheduler::GenericScheduler> Build(const recording::ProfileSource& source,
                                                   const scheduler::FactoryArgs& args) {
  if (!source.configuration.empty()) {
    const auto loaded = recording::LoadConfiguration(source.configuration, *args.release);
    CHECK(loaded.ok()) << loaded.status().message();
    for (const auto& profile : loaded->profiles) {
      if (profile.scheduler_name == source.scheduler_name) {
        return scheduler::CreateFromProfile(profile, {}, args).value();
      }
    }
  }
  if (source.policy.empty()) return scheduler::CreateFromProvider(source.provider, args).value();
  const auto policy = scheduler::DecodePolicy(source.policy, args.release->version);
  CHECK(policy.ok()) << policy.status().message();
  return scheduler::CreateFromConfig(*policy, args).value();
}

class NoSink final : public recording::EventSink {
 public:
  void Take(std::vector<recording::Event>* batch) override { batch->clear(); }
};

}  // namespace

SchedulerProcess::SchedulerProcess(World* world, size_t number, std::string name)
    : world_(world),
      number_(number),
      name_(std::move(name)),
      random_(world->network_random.Next()),
      executor_(&world->loop, 1 + 0.02 * (random_.Unit() - 0.5), absl::Seconds(random_.Between(-30, 30)),
                [this] {
                  if (!std::exchange(was_turn_, false)) ScheduleTurn(absl::Microseconds(200));
                }),
      pods_http_(world, &executor_, name_, number),
      lease_http_(world, &executor_, name_, number),
      events_http_(world, &executor_, name_, number),
      requests_(&pods_http_, [this] { return MayWrite(); }),
      lease_requests_(&lease_http_),
      recorder_(&executor_, &events_http_, RecorderOptions([this] { return random_.Unit(); }, world->Later())),
      inbox_(100'000),
      watch_(&executor_, &pods_http_, &inbox_,
             kube_scheduler::ClusterWatch::Options{
                 .storage_classes = SchedulesVolumes(),
                 .dialect = &releases::DaemonFormOf(**release::Named(world->options.release)).dialect,
                 .node_json = false,
                 .random = [this] { return random_.Unit(); }}),
      actions_(&executor_, &requests_, std::map<std::string, client::EventRecorder*, std::less<>>{{"", &recorder_}},
               &inbox_, releases::DaemonFormOf(**release::Named(world->options.release)).dialect),
      checked_(world, name_, &actions_),
      profiles_(ProfilesOf(world->Later(), world->rollout)),
      sink_(Sink()),
      // Also when nothing is recorded, because the tap rounds the clocks: a recorded run is the same run.
      tap_(std::make_unique<recording::Tap>(sink_.get(), &checked_, &executor_.clock(), &checked_)),
      election_options_(ElectionOptions(name_, world->Later())),
      election_(election_options_, [this] { return random_.Unit(); }) {
  BuildScheduler();
  unsynced_ = watch_.resources();
  watch_.Start();
  Act(election_.Tick(Now(), executor_.clock().Wall()));
}

const scheduler::Release& SchedulerProcess::Release() const {
  return world_->Later() ? releases::v1_29::Decides() : releases::v1_10::Decides();
}

bool SchedulerProcess::SchedulesVolumes() const {
  return world_->Later() || world_->options.claims;
}

void SchedulerProcess::BuildScheduler() {
  const bool later = world_->Later(), priority = world_->options.pod_priority;
  scheduler::SchedulerGates gates;
  gates.algorithm.pod_priority = priority;
  gates.algorithm.volume_scheduling = SchedulesVolumes();
  parts_ = std::make_unique<scheduler::Assembly>(
      scheduler::AssemblyConfig{.decides = &Release(),
                                .process = &releases::Of(**release::Named(world_->options.release)).process,
                                .gates = gates,
                                .percentage = {},
                                .max_backoff = absl::Seconds(later ? 10 : 60),
                                .unschedulable_limit = later ? absl::Minutes(5) : absl::Seconds(60)});
  scheduler::SchedulerOptions o = parts_->Options();
  o.may_bind = [this] { return MayWrite(); };
  o.check_decisions = 1;
  o.observer = tap_.get();
  scheduler_ = std::make_unique<scheduler::Scheduler>(&parts_->cache, parts_->queue.get(), parts_->volume_binder.get(),
                                                      tap_.get(), tap_.get(), std::move(o));
  tap_->Attach(scheduler_.get());

  for (const recording::ProfileSource& p : profiles_) {
    algorithms_[p.scheduler_name] = Build(p, parts_->args);
    parts_->Register(util::Symbol(p.scheduler_name), algorithms_[p.scheduler_name].get());
    // Small enough that answers are dropped, and computed again.
    algorithms_[p.scheduler_name]->LimitKeptAnswers(size_t{1} << (10 + random_.Below(17)), profiles_.size());
  }
  for (const auto& [profile, algorithm] : algorithms_) scheduler_->AddProfile(profile, algorithm.get());
}

SchedulerProcess::~SchedulerProcess() {
  executor_.Kill();
  tap_->Flush();
}

std::unique_ptr<recording::EventSink> SchedulerProcess::Sink() const {
  if (world_->options.record_dir.empty()) return std::make_unique<NoSink>();
  recording::RecorderOptions o;
  o.dir = absl::StrCat(world_->options.record_dir, "/", name_);
  // Nothing is lost: a simulated scheduler does in a second what takes a real one minutes.
  o.max_buffered = std::numeric_limits<size_t>::max();
  recording::Header h;
  h.version = "simulation";
  h.run = name_;
  recording::CoreConfiguration& c = h.configuration;
  const bool later = world_->Later();
  c.release = world_->options.release;
  c.gates = {{"PodPriority", world_->options.pod_priority}, {"VolumeScheduling", SchedulesVolumes()}};
  c.profiles = profiles_;
  if (later) {
    c.max_backoff = absl::Seconds(10);
    c.unschedulable_limit = absl::Minutes(5);
  }
  auto recorder = recording::Recorder::Open(std::move(o), std::move(h));
  CHECK(recorder.ok()) << recorder.status().message();
  return *std::move(recorder);
}

bool SchedulerProcess::MayWrite() const {
  return !ended_ && election_.leader() && Now() - election_.renewed_at() < election_options_.renew_deadline;
}

void SchedulerProcess::ScheduleTurn(absl::Duration delay) {
  const absl::Duration at = world_->loop.now() + delay;
  if (at >= turn_at_ || ended_) return;
  executor_.Cancel(turn_timer_);
  turn_at_ = at;
  turn_timer_ = executor_.After(delay, [this] {
    turn_at_ = absl::InfiniteDuration();
    Turn();
  });
}

template <typename T>
bool SchedulerProcess::IsInBackoff(const T& object, bool unlike) const {
  bool found = false;
  if constexpr (std::is_same_v<T, api::Pod>) {
    if (!object.node_name.empty() || object.meta.deleting()) return false;
    scheduler_->VisitPending(0, scheduler_->pending_pods(), [&](const scheduler::Scheduler::PendingView& p) {
      found |= p.pod->meta.uid == object.meta.uid && p.place == scheduler::Scheduler::Place::kBackoff &&
               (p.pod->tmpl != object.tmpl) == unlike;
    });
  }
  return found;
}

void SchedulerProcess::Handle(kube_scheduler::InboxItem& item) {
  std::visit(
      [this](auto& v) {
        using V = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<V, scheduler::Reply>) {
          const api::PodPtr bound = checked_.Answered(v);
          tap_->Apply(v);
          if (bound != nullptr) checked_.CheckTold(*bound);
        } else if constexpr (std::is_same_v<V, std::function<void()>>) {
          v();
        } else {
          for (const auto& e : v.events) {
            using T = std::remove_const_t<typename std::decay_t<decltype(e.object)>::element_type>;
            if (std::string bad = informer_check_.Shows(e); !bad.empty()) world_->Fail(absl::StrCat(name_, ": ", bad));
            if (e.kind == client::InformerEvent<T>::Kind::kDeleted) {
              const scheduler::Change<T> c{e.old_object, nullptr};
              checked_.Shows(c);
              tap_->Apply(c);
            } else {
              const bool asleep = std::is_same_v<T, api::Pod> && IsInBackoff(*e.object, /*unlike=*/true);
              const scheduler::Change<T> c{e.old_object, e.object};
              checked_.Shows(c);
              tap_->Apply(c);
              if (asleep && IsInBackoff(*e.object, /*unlike=*/false)) {
                world_->Fail(absl::StrCat(name_, ": ", e.object->meta.name, " changed and waits out its back-off"));
              }
            }
          }
          if (v.initial_list_done) --unsynced_;
        }
      },
      item);
}

// What the daemon's scheduler thread does once around its loop.
void SchedulerProcess::Turn() {
  was_turn_ = true;
  std::vector<kube_scheduler::InboxItem> items;
  inbox_.Take(&items);
  for (auto& item : items) Handle(item);
  tap_->Tick();
  int n = 0;
  if (leading() && unsynced_ == 0 && !stopping_) {
    while (n < kDecisionsInARow && tap_->ScheduleOne()) ++n;
  }
  actions_.Flush();
  tap_->Flush();
  if (++turns_ % 16 == 0) {
    if (std::string bad = scheduler_->CheckInvariants(); !bad.empty()) world_->Fail(absl::StrCat(name_, ": ", bad));
    CheckBounds();
  }
  if (stopping_ && scheduler_->binds_in_flight() == 0 && !releasing_) {
    releasing_ = true;
    executor_.Cancel(election_timer_);
    Act(election_.Release(Now(), executor_.clock().Wall()));
    return;
  }
  const absl::Duration wait =
      std::clamp(scheduler_->NextDeadline() - Now(), absl::ZeroDuration(), absl::Milliseconds(500));
  ScheduleTurn(n == kDecisionsInARow ? absl::Milliseconds(1) : std::max(wait, absl::Milliseconds(1)));
}

// Nothing grows beyond its limit.
void SchedulerProcess::CheckBounds() const {
  const auto check = [this](std::string_view what, size_t is, size_t limit) {
    if (is > limit) world_->Fail(absl::StrCat(name_, ": ", is, " ", std::string(what), ", and ", limit, " at most"));
  };
  check("requests in flight", scheduler_->requests_in_flight(), scheduler::SchedulerOptions().max_requests_in_flight);
  check("events wait", recorder_.stats().queued, client::EventRecorderOptions().queue_limit);
  // A pod that is gone is kept until the request about it is answered.
  check("pods pend", scheduler_->pending_pods(), checked_.known_pods() + scheduler_->requests_in_flight());
  for (const auto& [profile, algorithm] : algorithms_) {
    // The answers of the pod template that was scheduled last are kept in any case.
    check("bytes of kept answers", algorithm->kept_answers_bytes(), algorithm->kept_answers_limit() + 32 * 1024);
  }
}

void SchedulerProcess::Terminate() {
  stopping_ = true;
  tap_->Stop();
  // A bind without an answer does not hold up the end for ever.
  executor_.After(absl::Seconds(25), [this] { End(absl::Seconds(random_.Between(1, 5))); });
}

void SchedulerProcess::End(absl::Duration restart_in) {
  if (std::exchange(ended_, true)) return;
  world_->OnEnded(number_, restart_in);
}

// As client::LeaderElector does it, which has a thread for its watchdog.
void SchedulerProcess::Act(LeaderElection::Action a) {
  using ElectionStep = LeaderElection::Step;
  switch (a.step) {
    case ElectionStep::kGet:
    case ElectionStep::kCreate:
    case ElectionStep::kUpdate: {
      client::Request r;
      r.method = a.step == ElectionStep::kGet      ? client::Method::kGet
                 : a.step == ElectionStep::kCreate ? client::Method::kPost
                                                   : client::Method::kPut;
      r.target = world_->Later() ? "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
                                 : "/api/v1/namespaces/kube-system/endpoints";
      if (a.step != ElectionStep::kCreate) r.target += "/kube-scheduler";
      if (world_->Later()) r.target += "?timeout=5s";
      r.body = std::move(a.body);
      r.timeout = a.timeout;
      lease_requests_.Raw(std::move(r), election_options_.lock_type, "kube-scheduler",
                          [this](client::ApiResult<std::string> answer) {
                            if (!ended_) Act(election_.Answer(answer, Now(), executor_.clock().Wall()));
                          });
      break;
    }
    case ElectionStep::kWait:
      if (a.wait == absl::InfiniteDuration()) break;
      executor_.Cancel(election_timer_);
      election_timer_ = executor_.After(a.wait, [this] { Act(election_.Tick(Now(), executor_.clock().Wall())); });
      break;
    case ElectionStep::kOver:
      break;
  }
  if (a.event == LeaderElection::Event::kBecameLeader) world_->Record(absl::StrCat(name_, " leads"));
  if (a.event == LeaderElection::Event::kLostLease) {
    world_->Record(absl::StrCat(name_, " has lost the lease"));
    End(absl::Milliseconds(random_.Between(3000, 10000)));
  }
  if (a.event == LeaderElection::Event::kReleased) End(absl::Milliseconds(random_.Between(3000, 10000)));
}

}  // namespace berth::simulation
