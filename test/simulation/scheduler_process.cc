#include "test/simulation/scheduler_process.h"

#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <limits>
#include <set>
#include <utility>

#include "cmd/kube-scheduler/leadership.h"
#include "pkg/recording/recorder.h"
#include "test/simulation/rollouts.h"
#include "test/simulation/world.h"

namespace berth::simulation {

using client::LeaderElection;
using scheduler::RequestId;

namespace {

constexpr int kDecisionsInARow = 64;

client::LeaderElectionOptions ElectionOptions(const Emulated& release, const std::string& identity) {
  kube_scheduler::Configuration c;
  c.release = &release.id;
  c.leader_election.resource_lock = std::string(release.form.dialect.lock);
  client::LeaderElectionOptions o = kube_scheduler::LockOptionsOf(c, identity);
  o.warns_of_other_kinds = false;
  return o;
}

client::EventRecorderOptions RecorderOptions(const Emulated& release, std::function<double()> random) {
  client::EventRecorderOptions o;
  o.random = std::move(random);
  if (release.form.dialect.event_series) o.series_instance = "default-scheduler-host";
  if (release.form.dialect.reports_component) o.reporting_component = o.component;
  return o;
}

recording::CoreConfiguration ConfigurationOf(const World& world) {
  recording::CoreConfiguration c = world.emulated.Configuration(world.options.pod_priority, world.options.claims);
  c.profiles = ProfilesOf(world.emulated, world.rollout);
  return c;
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
      recorder_(&executor_, &events_http_, RecorderOptions(world->emulated, [this] { return random_.Unit(); })),
      inbox_(100'000),
      watch_(&executor_, &pods_http_, &inbox_,
             kube_scheduler::ClusterWatch::Options{
                 .storage_classes = world->emulated.schedules_volumes || world->options.claims,
                 .dialect = &world->emulated.form.dialect,
                 .node_json = false,
                 .random = [this] { return random_.Unit(); }}),
      actions_(&executor_, &requests_, std::map<std::string, client::EventRecorder*, std::less<>>{{"", &recorder_}},
               &inbox_, world->emulated.form.dialect),
      checked_(world, name_, &actions_),
      configuration_(ConfigurationOf(*world)),
      sink_(Sink()),
      // Also when nothing is recorded, because the tap rounds the clocks: a recorded run is the same run.
      tap_(std::make_unique<recording::Tap>(sink_.get(), &checked_, &executor_.clock(), &checked_)),
      election_options_(ElectionOptions(world->emulated, name_)),
      lock_(&lease_http_, election_options_),
      election_(election_options_, [this] { return random_.Unit(); }) {
  BuildScheduler();
  unsynced_ = watch_.resources();
  watch_.Start();
  Act(election_.Tick(Now(), executor_.clock().Wall()));
}

void SchedulerProcess::BuildScheduler() {
  auto built = recording::Core::Make(configuration_, {.actions = tap_.get(),
                                                      .clock = tap_.get(),
                                                      .observer = tap_.get(),
                                                      .make_extender = {},
                                                      .may_bind = [this] { return MayWrite(); },
                                                      .check_decisions = 1});
  CHECK(built.ok()) << built.status().message();
  core_ = *std::move(built);
  tap_->Attach(core_->scheduler.get());
  for (const auto& [name, profile] : core_->profiles) {
    // Small enough that answers are dropped, and computed again.
    profile.algorithm->LimitKeptAnswers(size_t{1} << (10 + random_.Below(17)), core_->profiles.size());
  }
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
  h.configuration = configuration_;
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
    core_->scheduler->VisitPending(
        0, core_->scheduler->pending_pods(), [&](const scheduler::Scheduler::PendingView& p) {
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
    if (std::string bad = core_->scheduler->CheckInvariants(); !bad.empty())
      world_->Fail(absl::StrCat(name_, ": ", bad));
    CheckBounds();
  }
  if (stopping_ && core_->scheduler->binds_in_flight() == 0 && !releasing_) {
    releasing_ = true;
    executor_.Cancel(election_timer_);
    Act(election_.Release(Now(), executor_.clock().Wall()));
    return;
  }
  const absl::Duration wait =
      std::clamp(core_->scheduler->NextDeadline() - Now(), absl::ZeroDuration(), absl::Milliseconds(500));
  ScheduleTurn(n == kDecisionsInARow ? absl::Milliseconds(1) : std::max(wait, absl::Milliseconds(1)));
}

// Nothing grows beyond its limit.
void SchedulerProcess::CheckBounds() const {
  const auto check = [this](std::string_view what, size_t is, size_t limit) {
    if (is > limit) world_->Fail(absl::StrCat(name_, ": ", is, " ", std::string(what), ", and ", limit, " at most"));
  };
  check("requests in flight", core_->scheduler->requests_in_flight(),
        scheduler::SchedulerOptions().max_requests_in_flight);
  check("events wait", recorder_.stats().queued, client::EventRecorderOptions().queue_limit);
  // A pod that is gone is kept until the request about it is answered.
  check("pods pend", core_->scheduler->pending_pods(), checked_.known_pods() + core_->scheduler->requests_in_flight());
  for (const auto& [name, profile] : core_->profiles) {
    // The answers of the pod template that was scheduled last are kept in any case.
    check("bytes of kept answers", profile.algorithm->kept_answers_bytes(),
          profile.algorithm->kept_answers_limit() + 32 * 1024);
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
    case ElectionStep::kUpdate:
      lock_.Do(a.step, std::move(a.body), a.timeout, [this](client::ApiResult<std::string> answer) {
        if (!ended_) Act(election_.Answer(answer, Now(), executor_.clock().Wall()));
      });
      break;
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
