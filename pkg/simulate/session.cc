#include "pkg/simulate/session.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "pkg/scheduler/extender/http_extender.h"
#include "pkg/util/status.h"
#include "pkg/util/version.h"

namespace berth::simulate {
namespace {

// The writing thread of a recording may be slower than the simulation. So many events may wait for it.
constexpr size_t kMostBuffered = 200'000;
constexpr int64_t kDecisionsBetweenLooks = 256;

// The scheduler's deadlines as times of the simulation, which is not earlier.
Micros TimeOf(absl::Duration deadline) {
  if (deadline >= absl::Microseconds(kNever)) return kNever;
  return absl::ToInt64Microseconds(absl::Ceil(deadline, absl::Microseconds(1)));
}

}  // namespace

Session::Session(const Options& options, const Timeline* timeline)
    : options_(options), timeline_(timeline), ties_(options.ties) {}

Session::~Session() {
  if (tap_ != nullptr) tap_->Flush();
}

absl::Status Session::StartRecording(scheduler::Actions* actions, scheduler::DecisionObserver* observer) {
  recording::RecorderOptions o;
  o.dir = options_.record_dir;
  o.max_bytes = std::numeric_limits<int64_t>::max();
  o.max_buffered = std::numeric_limits<size_t>::max();
  recording::Header h;
  h.version = absl::StrCat(util::ToAbsl(util::Version()), " simulate");
  h.run = "simulation";
  h.wall_seconds = timeline_->clock().WallSeconds();
  h.configuration = options_.configuration;
  auto recorder = recording::Recorder::Open(std::move(o), std::move(h));
  if (!recorder.ok()) return recorder.status();
  recorder_ = *std::move(recorder);
  tap_ = std::make_unique<recording::Tap>(recorder_.get(), actions, &timeline_->clock(), observer);
  return absl::OkStatus();
}

absl::Status Session::Start(scheduler::Actions* actions, scheduler::DecisionObserver* observer) {
  recording::Core::Surroundings around;
  around.actions = actions;
  around.clock = &timeline_->clock();
  around.observer = observer;
  if (!options_.record_dir.empty()) {
    BERTH_RETURN_IF_ERROR(StartRecording(actions, observer));
    around.actions = tap_.get();
    around.clock = tap_.get();
    around.observer = tap_.get();
  }
  if (options_.calls_extenders) {
    around.make_extender =
        [this](const scheduler::ExtenderConfig& c) -> absl::StatusOr<std::unique_ptr<scheduler::Extender>> {
      auto made = scheduler::NewHttpExtender(c);
      if (!made.ok() || tap_ == nullptr) return made;
      return tap_->Wrap(*std::move(made));
    };
  }
  auto core = recording::Core::Make(options_.configuration, around);
  if (!core.ok()) return core.status();
  core_ = *std::move(core);
  BreakNextTie();
  scheduler_ = core_->scheduler.get();
  for (auto& [name, profile] : core_->profiles) profile.algorithm->set_guest(options_.guest);
  if (tap_ != nullptr) tap_->Attach(scheduler_);
  return absl::OkStatus();
}

void Session::Reply(const scheduler::Reply& reply) {
  if (tap_ != nullptr) {
    tap_->Apply(reply);
  } else {
    scheduler_->Apply(reply);
  }
}

void Session::Decide() {
  if (scheduler_->NextDeadline() <= timeline_->clock().Steady()) tap_ != nullptr ? tap_->Tick() : scheduler_->Tick();
  while (tap_ != nullptr ? tap_->ScheduleOne() : scheduler_->ScheduleOne()) {
    if (++decided_ % kDecisionsBetweenLooks == 0 && IsCut()) break;
  }
  if (tap_ != nullptr) tap_->Flush();
}

void Session::Throttle() const {
  while (recorder_ != nullptr && recorder_->stats().buffered > kMostBuffered) usleep(1'000);
}

absl::Status Session::Finish() {
  if (tap_ != nullptr) tap_->Flush();
  if (recorder_ != nullptr && recorder_->stats().errors > 0) {
    return util::InvalidArgument(absl::StrCat("cannot write to ", options_.record_dir));
  }
  return evictions_.status();
}

bool Session::EvictsForEver() {
  return options_.ends_by_itself && evictions_.Found(core_->cache.pod_count() + scheduler_->pending_pods());
}

bool Session::HasTriedAll() const {
  using Place = scheduler::Scheduler::Place;
  const auto by_place = scheduler_->pods_by_place();
  const auto in = [&](Place p) { return by_place[static_cast<size_t>(p)]; };
  const size_t aside = in(Place::kGated) + in(Place::kUnsupported) + in(Place::kDeleting);
  return static_cast<size_t>(tried_) + aside >= scheduler_->pending_pods();
}

Micros Session::NextTime() const {
  return std::max(TimeOf(scheduler_->NextDeadline()), timeline_->now() + 1);
}

void Session::BreakNextTie() {
  if (const auto number = ties_.Next()) core_->SetTurn(*number);
}

std::string Session::WhyNotTried(const api::Pod& pod) const {
  const recording::Core::Profile* const profile = core_->ProfileOf(pod);
  if (profile == nullptr) {
    return absl::StrCat("no scheduler is called ", pod.tmpl->scheduler_name.string());
  }
  if (!pod.tmpl->scheduling_gates.empty() && !profile->algorithm->config().passes_gates) {
    return "it has scheduling gates";
  }
  return "it was not tried";
}

}  // namespace berth::simulate
