// Time. At each time that matters, everything that happens then is shown to the scheduler, it decides about all pods
// that are ready, and its requests are answered, until nothing is left to do at that time. Then the clock jumps to the
// next event or to what the scheduler waits for.
#include "pkg/simulate/world.h"

#include <absl/strings/str_cat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "pkg/scheduler/extender/http_extender.h"
#include "pkg/util/status.h"
#include "pkg/util/version.h"

namespace berth::simulate {

using scheduler::Change;

namespace {

double ThreadCpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// The scheduler's deadlines as times of the simulation, which is not earlier.
Micros TimeOf(absl::Duration deadline) {
  if (deadline >= absl::Microseconds(kNever)) return kNever;
  return absl::ToInt64Microseconds(absl::Ceil(deadline, absl::Microseconds(1)));
}

// The writing thread of a recording may be slower than the simulation. So many events may wait for it.
constexpr size_t kMostBuffered = 200'000;

}  // namespace

World::World(const Case& what, std::unique_ptr<ArrivalSource> arrivals, const Options& options)
    : what_(what),
      options_(options),
      arrivals_(std::move(arrivals)),
      ties_(options.ties),
      rules_(world::RulesOf(what.scenario->algorithm.release->version)) {
  out_.cpu_seconds = -ThreadCpuSeconds();
  used_.resize(what.workload->resources().size());
  offered_.resize(used_.size());
  out_.series = Series(std::max<Micros>(what.horizon / 120, 1), used_.size(),
                       [this] { return what_.workload->Fragmentation(what_.workload->Free(core_->cache)); });
}

World::~World() {
  if (tap_ != nullptr) tap_->Flush();
}

template <typename T>
void World::Show(const std::shared_ptr<const T>& before, const std::shared_ptr<const T>& after) {
  const Change<T> change{before, after};
  if (tap_ != nullptr) {
    tap_->Apply(change);
  } else {
    scheduler_->Apply(change);
  }
}
template void World::Show(const api::PodPtr&, const api::PodPtr&);
template void World::Show(const api::NodePtr&, const api::NodePtr&);
template void World::Show(const std::shared_ptr<const api::PodDisruptionBudget>&,
                          const std::shared_ptr<const api::PodDisruptionBudget>&);
template void World::Show(const std::shared_ptr<const api::PersistentVolume>&,
                          const std::shared_ptr<const api::PersistentVolume>&);
template void World::Show(const std::shared_ptr<const api::PersistentVolumeClaim>&,
                          const std::shared_ptr<const api::PersistentVolumeClaim>&);

void World::Reply(const scheduler::Reply& reply) {
  if (tap_ != nullptr) {
    tap_->Apply(reply);
  } else {
    scheduler_->Apply(reply);
  }
}

absl::Status World::Start() {
  recording::Core::Surroundings around;
  around.actions = this;
  around.clock = &clock_;
  around.observer = this;
  if (!options_.record_dir.empty()) {
    recording::RecorderOptions o;
    o.dir = options_.record_dir;
    o.max_bytes = std::numeric_limits<int64_t>::max();
    o.max_buffered = std::numeric_limits<size_t>::max();
    recording::Header h;
    h.version = absl::StrCat(util::ToAbsl(util::Version()), " simulate");
    h.run = "simulation";
    h.wall_seconds = clock_.WallSeconds();
    h.configuration = options_.configuration;
    auto recorder = recording::Recorder::Open(std::move(o), std::move(h));
    if (!recorder.ok()) return recorder.status();
    recorder_ = *std::move(recorder);
    tap_ = std::make_unique<recording::Tap>(recorder_.get(), this, &clock_, this);
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
  ShowCluster();
  if (options_.began) options_.began(core_->cache);
  more_arrivals_ = arrivals_->Next(&next_arrival_);
  return arrivals_->status();
}

// Shows what is there at the beginning, as the daemon's first lists do: kind by kind, pods last.
void World::ShowCluster() {
  absl::flat_hash_set<std::string> joining;  // nodes that join
  for (const Step& s : *what_.steps) {
    if (s.kind == Step::Kind::kJoin) joining.insert(s.nodes[0]);
  }
  for (const api::Object& o : what_.scenario->cluster) {
    if (const auto* node = std::get_if<api::NodePtr>(&o); node != nullptr && !joining.contains((*node)->meta.name)) {
      Join(*node);
    }
  }
  api::StoredKinds::ForEach([&]<typename T>() {
    for (const api::Object& o : what_.scenario->cluster) {
      const auto* object = std::get_if<api::Ptr<T>>(&o);
      if (object == nullptr) continue;
      if constexpr (std::is_same_v<T, api::PodDisruptionBudget>) {
        auto value = what_.scenario->budgets.find((*object)->meta.Key());
        if (value != what_.scenario->budgets.end() && (*object)->has_selector && (*object)->selector.ok()) {
          budgets_.push_back({*object, value->second, {}});
        }
      } else if constexpr (std::is_same_v<T, api::PersistentVolumeClaim>) {
        claims_[(*object)->meta.Key()] = *object;
      } else if constexpr (std::is_same_v<T, api::PersistentVolume>) {
        volumes_[(*object)->meta.name] = *object;
      }
      const Change<T> change{nullptr, *object};
      tap_ != nullptr ? tap_->Apply(change) : scheduler_->Apply(change);
    }
  });
  for (const api::Object& o : what_.scenario->cluster) {
    const auto* pod = std::get_if<api::PodPtr>(&o);
    if (pod == nullptr || (*pod)->Finished()) continue;
    names_.insert((*pod)->meta.Key());
    PodState& p = Add(*pod);
    p.from_start = p.was_placed = p.ready = true;
    p.again = (*pod)->tmpl->controller.has_value();
    Place(&p, FindNode((*pod)->node_name.str()));
    Show<api::Pod>(nullptr, p.object);
  }
  ShowBudgets();
}

void World::After(Micros delay, std::function<void()> what) {
  if (delay == 0) {
    soon_.push_back(std::move(what));
    return;
  }
  uint32_t index = 0;
  if (free_calls_.empty()) {
    index = static_cast<uint32_t>(calls_.size());
    calls_.push_back(std::move(what));
  } else {
    index = free_calls_.back();
    free_calls_.pop_back();
    calls_[index] = std::move(what);
  }
  events_.push({Plus(clock_.now(), delay), ++last_event_, {}, index + 1});
}

// Lets everything happen that is due.
void World::Deliver() {
  const Micros now = clock_.now();
  while (!events_.empty() && events_.top().at <= now) {
    const Event e = events_.top();
    events_.pop();
    if (e.call == 0) {
      if (PodState* p = Find(e.pod)) Gone(p);
      continue;
    }
    const std::function<void()> call = std::exchange(calls_[e.call - 1], nullptr);
    free_calls_.push_back(e.call - 1);
    call();
  }
  while (next_step_ < what_.steps->size() && (*what_.steps)[next_step_].at <= now) Do((*what_.steps)[next_step_++]);
  while (more_arrivals_ && next_arrival_.at <= now) {
    Arrive(next_arrival_);
    more_arrivals_ = arrivals_->Next(&next_arrival_);
  }
  while (!soon_.empty()) {
    const std::function<void()> call = std::move(soon_.front());
    soon_.pop_front();
    call();
  }
  ShowBudgets();
}

// Whether the present state lasts for ever: nothing is left to happen, and each pod that waits, and each node that is
// being emptied, was tried in this state.
bool World::NothingWillHappen() const {
  if (more_arrivals_ || next_step_ < what_.steps->size() || !soon_.empty() || events_.size() > retries_) return false;
  using Place = scheduler::Scheduler::Place;
  const auto by_place = scheduler_->pods_by_place();
  const auto in = [&](scheduler::Scheduler::Place p) { return by_place[static_cast<size_t>(p)]; };
  const size_t aside = in(Place::kGated) + in(Place::kUnsupported) + in(Place::kDeleting);
  if (static_cast<size_t>(tried_) + aside < scheduler_->pending_pods()) return false;
  return drains_ == 0 || std::all_of(nodes_.begin(), nodes_.end(), [this](const auto& n) {
           return !n.second.draining || n.second.retried_at == changes_;
         });
}

Micros World::NextTime() {
  Micros next = std::max(TimeOf(scheduler_->NextDeadline()), clock_.now() + 1);
  if (!events_.empty()) next = std::min(next, events_.top().at);
  if (more_arrivals_) next = std::min(next, next_arrival_.at);
  if (next_step_ < what_.steps->size()) next = std::min(next, (*what_.steps)[next_step_].at);
  return next;
}

void World::AdvanceTo(Micros now) {
  CountOffered();
  out_.series.Hold(clock_.now(), now, static_cast<double>(unplaced_), used_, offered_);
  clock_.Set(now);
  if (options_.now != nullptr) options_.now->store(now, std::memory_order_relaxed);
}

void World::Throttle() const {
  while (recorder_->stats().buffered > kMostBuffered) usleep(1'000);
}

void World::Run() {
  constexpr int kRoundsBetweenLooks = 256;
  for (int round = 0;; ++round) {
    if (round % kRoundsBetweenLooks == 0) {
      if (recorder_ != nullptr) Throttle();
      if (Cut()) {
        out_.cut = true;
        break;
      }
    }
    Deliver();
    if (scheduler_->NextDeadline() <= clock_.Steady()) tap_ != nullptr ? tap_->Tick() : scheduler_->Tick();
    while (tap_ != nullptr ? tap_->ScheduleOne() : scheduler_->ScheduleOne()) {
      if (++decided_ % kRoundsBetweenLooks == 0 && Cut()) break;
    }
    if (tap_ != nullptr) tap_->Flush();
    if (!soon_.empty()) continue;
    if (NothingWillHappen()) break;
    const Micros next = NextTime();
    if (next == kNever) break;
    if (next > options_.until) {
      AdvanceTo(std::max(options_.until, clock_.now()));
      out_.cut = true;
      break;
    }
    AdvanceTo(next);
  }
}

void World::NoteNeverPlaced() {
  for (PodState& p : pods_) {
    if (p.object == nullptr || p.node != nullptr || p.from_start || p.was_placed) continue;
    NotePlacement(&p, {});
  }
}

absl::StatusOr<Outcome> World::Finish() {
  if (!out_.cut && !arrivals_->status().ok()) return arrivals_->status();
  NoteNeverPlaced();
  out_.end = clock_.now();
  out_.series.Finish();
  out_.nodes = core_->cache.node_count();
  if (tap_ != nullptr) tap_->Flush();
  if (recorder_ != nullptr) {
    const auto stats = recorder_->stats();
    if (stats.errors > 0) return util::InvalidArgument(absl::StrCat("cannot write to ", options_.record_dir));
  }
  out_.cpu_seconds += ThreadCpuSeconds();
  return std::move(out_);
}

absl::StatusOr<Outcome> Simulate(const Case& what, std::unique_ptr<ArrivalSource> arrivals, const Options& options) {
  World world(what, std::move(arrivals), options);
  BERTH_RETURN_IF_ERROR(world.Start());
  world.Run();
  return world.Finish();
}

}  // namespace berth::simulate
