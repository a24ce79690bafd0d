// The other scheduler runs against a small simulated API server, OtherWorld, which carries out its requests at once.
// Recorded changes are applied to that world, except for where pods of the recorded schedulers run, which the other
// scheduler decides.
#include "pkg/recording/alternative.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "pkg/api/json.h"
#include "pkg/recording/reader.h"
#include "pkg/recording/replay.h"
#include "pkg/util/status.h"

namespace berth::recording {
namespace {

using scheduler::Answer;
using scheduler::Change;
using scheduler::Reply;

// A clock whose time is set.
class SetClock final : public util::Clock {
 public:
  absl::Duration Steady() const override { return absl::Microseconds(steady); }
  absl::Time Wall() const override { return absl::FromUnixSeconds(wall); }
  int64_t steady = 0, wall = 0;
};

// Extenders are not called, because their answers about another scheduler's candidates were not recorded.
class SilentExtender final : public scheduler::Extender {
 public:
  const std::string& name() const override { return name_; }
  bool IsInterested(const api::Pod&) const override { return false; }
  absl::StatusOr<FilterResult> Filter(const api::Pod&, const std::vector<api::NodePtr>&) override {
    return util::FailedPrecondition("not asked");
  }
  absl::StatusOr<absl::flat_hash_map<util::Symbol, int64_t>> Prioritize(const api::Pod&,
                                                                        const std::vector<api::NodePtr>&) override {
    return util::FailedPrecondition("not asked");
  }
  bool IsBinder() const override { return false; }
  absl::Status Bind(const api::Pod&, const std::string&) override { return util::FailedPrecondition("not asked"); }

 private:
  std::string name_ = "none";
};

struct PodRecord {
  Fate recorded, alternative;
  int64_t appeared = 0;
  bool ours = false;
};

// The environment of the other scheduler: an API server that carries out each request at once.
class OtherWorld final : public scheduler::Actions, public scheduler::DecisionObserver {
 public:
  absl::Status Build(const CoreConfiguration& config) {
    Core::Surroundings around;
    around.actions = this;
    around.clock = &clock;
    around.observer = this;
    around.make_extender = [](const scheduler::ExtenderConfig&) { return std::make_unique<SilentExtender>(); };
    auto made = Core::Make(config, around);
    if (!made.ok()) return made.status();
    core = *std::move(made);
    return absl::OkStatus();
  }

  void Show(const api::PodPtr& pod) {
    api::PodPtr& known = pods_[pod->meta.uid];
    const api::PodPtr before = std::exchange(known, pod);
    core->scheduler->Apply(Change<api::Pod>{before, pod});
  }
  // Removes the pod, wherever it is here.
  void Gone(const std::string& uid) {
    auto it = pods_.find(uid);
    if (it == pods_.end()) return;
    const api::PodPtr before = it->second;
    pods_.erase(it);
    core->scheduler->Apply(Change<api::Pod>{before, nullptr});
  }
  api::PodPtr Find(const std::string& uid) const {
    auto it = pods_.find(uid);
    return it == pods_.end() ? nullptr : it->second;
  }
  // Lets the scheduler work until it has nothing more to do at the current time.
  void Work() {
    Serve();
    core->scheduler->Tick();
    Serve();
    while (core->scheduler->ScheduleOne()) Serve();
  }

  void Bind(scheduler::RequestId id, const api::PodPtr& pod, scheduler::Extender*) override {
    todo_.emplace_back([this, id, pod] {
      core->scheduler->Apply(Reply{id, {}, nullptr});
      if (const api::PodPtr known = Find(pod->meta.uid)) {
        auto bound = std::make_shared<api::Pod>(*known);
        bound->node_name = pod->node_name;
        bound->nominated_node_name = util::Symbol();
        Show(bound);
        on_bound(*bound);
      }
    });
  }
  void UpdatePodCondition(scheduler::RequestId id, const api::PodPtr& pod, const api::PodCondition& c) override {
    Change_(id, pod, [c](api::Pod& p) { p.scheduled = c; });
  }
  void SetNominatedNode(scheduler::RequestId id, const api::PodPtr& pod, util::Symbol node) override {
    Change_(id, pod, [node](api::Pod& p) { p.nominated_node_name = node; });
  }
  void PatchPodStatus(scheduler::RequestId id, const api::PodPtr& pod, const std::optional<api::PodCondition>& c,
                      std::optional<util::Symbol> node) override {
    Change_(id, pod, [c, node](api::Pod& p) {
      if (c) p.scheduled = c;
      if (node) p.nominated_node_name = *node;
    });
  }
  void DeletePod(scheduler::RequestId id, const api::PodPtr& pod) override {
    todo_.emplace_back([this, id, pod] {
      on_evicted(*pod);
      Gone(pod->meta.uid);
      core->scheduler->Apply(Reply{id, {}, nullptr});
    });
  }
  void GetPod(scheduler::RequestId id, const api::Pod& pod) override {
    todo_.emplace_back([this, id, uid = pod.meta.uid] {
      const api::PodPtr known = Find(uid);
      Reply r{id, {}, known};
      if (known == nullptr) r.answer.kind = Answer::Kind::kNotFound;
      core->scheduler->Apply(r);
    });
  }
  void GetNode(scheduler::RequestId id, util::Symbol) override {
    todo_.emplace_back([this, id] { core->scheduler->Apply(Reply{id, {}, nullptr}); });
  }
  void UpdateVolume(scheduler::RequestId id, const scheduler::VolumeBinder::Binding& b) override {
    todo_.emplace_back([this, id, b] {
      auto volume = std::make_shared<api::PersistentVolume>(*b.volume);
      volume->claim_ref = {b.claim->meta.ns.string(), b.claim->meta.name, b.claim->meta.uid};
      core->scheduler->Apply(Change<api::PersistentVolume>{b.volume, volume});
      auto claim = std::make_shared<api::PersistentVolumeClaim>(*b.claim);
      claim->volume_name = volume->meta.name;
      claim->bind_completed = true;
      core->scheduler->Apply(Change<api::PersistentVolumeClaim>{b.claim, claim});
      core->scheduler->Apply(Reply{id, {}, nullptr});
    });
  }
  // Provisions the volume at once, like a provisioner that never fails.
  void UpdateClaim(scheduler::RequestId id,
                   const std::shared_ptr<const api::PersistentVolumeClaim>& selected) override {
    todo_.emplace_back([this, id, selected] {
      auto volume = std::make_shared<api::PersistentVolume>();
      volume->meta.name = "provisioned-" + selected->meta.uid;
      volume->claim_ref = {selected->meta.ns.string(), selected->meta.name, selected->meta.uid};
      auto claim = std::make_shared<api::PersistentVolumeClaim>(*selected);
      claim->volume_name = volume->meta.name;
      claim->bind_completed = true;
      core->scheduler->Apply(Reply{id, {}, nullptr});
      core->scheduler->Apply(Change<api::PersistentVolume>{nullptr, volume});
      core->scheduler->Apply(Change<api::PersistentVolumeClaim>{selected, claim});
    });
  }
  void RecordEvent(const api::PodPtr&, scheduler::EventType, std::string_view, std::string) override {}
  void Decided(const api::PodPtr&, const scheduler::Decision&, uint64_t) override { ++decisions; }
  void PreemptionChosen(const api::PodPtr&, const scheduler::Preemption&) override {}

  SetClock clock;
  std::unique_ptr<Core> core;
  int64_t decisions = 0;
  std::function<void(const api::Pod&)> on_bound, on_evicted;

 private:
  void Change_(scheduler::RequestId id, const api::PodPtr& pod, std::function<void(api::Pod&)> change) {
    todo_.emplace_back([this, id, pod, change = std::move(change)] {
      const api::PodPtr known = Find(pod->meta.uid);
      Reply r{id, {}, nullptr};
      if (known == nullptr) {
        r.answer.kind = Answer::Kind::kNotFound;
      } else {
        auto changed = std::make_shared<api::Pod>(*known);
        change(*changed);
        Show(changed);
        r.pod = changed;
      }
      core->scheduler->Apply(r);
    });
  }
  void Serve() {
    while (!todo_.empty()) {
      auto f = std::move(todo_.front());
      todo_.pop_front();
      f();
    }
  }
  std::map<std::string, api::PodPtr> pods_;  // by uid
  // Requests of the scheduler. They are carried out when the call that made them has returned (see Serve).
  std::deque<std::function<void()>> todo_;
};

class Comparing {
 public:
  explicit Comparing(const std::function<absl::Status(CoreConfiguration*)>& change) : change_(change) {}

  absl::Status Begin(const Step& step) {
    // another run of the daemon, or a gap: the simulated world continues
    if (world_ != nullptr) return absl::OkStatus();
    CoreConfiguration config = step.header.configuration;
    BERTH_RETURN_IF_ERROR(change_(&config));
    for (const ProfileSource& p : config.profiles) ours_.insert(p.scheduler_name);
    world_ = std::make_unique<OtherWorld>();
    BERTH_RETURN_IF_ERROR(world_->Build(config));
    world_->on_bound = [this](const api::Pod& p) {
      PodRecord& r = pods_[p.meta.uid];
      r.alternative.node = p.node_name.string();
      r.alternative.waited_micros = world_->clock.steady - r.appeared;
    };
    world_->on_evicted = [this](const api::Pod& p) {
      PodRecord& r = pods_[p.meta.uid];
      r.alternative.evicted = true;
    };
    for (const Event& e : step.objects) Apply(std::get<AnyChange>(e.what));
    return absl::OkStatus();
  }

  void Do(const Step& step) {
    ++result_.inputs;
    if (!step.input.steady.empty()) world_->clock.steady = step.input.steady.front();
    if (!step.input.wall.empty()) world_->clock.wall = step.input.wall.front();
    if (const auto* any = std::get_if<AnyChange>(&step.input.what)) Apply(*any);
    for (const std::string& line : step.outputs) Follow(line);
    // The other scheduler works whenever the recorded one tried a pod or let time pass.
    if (std::holds_alternative<ScheduleInput>(step.input.what) || std::holds_alternative<TickInput>(step.input.what)) {
      world_->Work();
    }
  }

  Comparison Finish() {
    if (world_ != nullptr) result_.alternative.decisions = world_->decisions;
    std::vector<int64_t> waits[2];
    for (const std::string& uid : order_) {
      const PodRecord& r = pods_[uid];
      if (!r.ours) continue;
      Count(r.recorded, &result_.recorded, &waits[0]);
      Count(r.alternative, &result_.alternative, &waits[1]);
      if (r.recorded.node == r.alternative.node && r.recorded.evicted == r.alternative.evicted) {
        result_.same_node += !r.recorded.node.empty();
      } else {
        result_.differing.emplace_back(r.recorded, r.alternative);
      }
    }
    Quantiles(&waits[0], &result_.recorded);
    Quantiles(&waits[1], &result_.alternative);
    return std::move(result_);
  }
  Comparison& result() { return result_; }

 private:
  static void Count(const Fate& f, Outcome* o, std::vector<int64_t>* waits) {
    ++o->pods;
    o->evicted += f.evicted;
    ++(f.node.empty() ? o->pending : o->placed);
    if (f.waited_micros >= 0) waits->push_back(f.waited_micros);
  }
  static void Quantiles(std::vector<int64_t>* waits, Outcome* o) {
    if (waits->empty()) return;
    std::sort(waits->begin(), waits->end());
    o->median_wait_micros = (*waits)[waits->size() / 2];
    o->p99_wait_micros = (*waits)[std::min(waits->size() - 1, waits->size() * 99 / 100)];
  }

  void Apply(const AnyChange& any) {
    if (const auto* c = std::get_if<Change<api::Pod>>(&any)) return ApplyPod(*c);
    std::visit([this](const auto& c) { world_->core->scheduler->Apply(c); }, any);
  }
  void ApplyPod(const Change<api::Pod>& c) {
    if (c.before != nullptr && (c.after == nullptr || c.after->meta.uid != c.before->meta.uid)) {
      world_->Gone(c.before->meta.uid);
    }
    if (c.after == nullptr) return;
    const api::Pod& pod = *c.after;
    const std::string& uid = pod.meta.uid;
    if (pod.Finished()) return world_->Gone(uid);
    auto it = pods_.find(uid);
    const bool first = it == pods_.end();
    if (first) {
      it = pods_.try_emplace(uid).first;
      order_.push_back(uid);
      PodRecord& r = it->second;
      r.recorded.pod = r.alternative.pod = pod.meta.Key();
      r.appeared = world_->clock.steady;
      r.ours = pod.node_name.empty() && ours_.contains(pod.tmpl->scheduler_name.string());
      by_name_[pod.meta.Key()] = uid;
    }
    const PodRecord& r = it->second;
    if (!r.ours) return world_->Show(c.after);
    // The other scheduler decides where a pod of ours runs; all other changes of the pod are taken over.
    const api::PodPtr here = world_->Find(uid);
    if (here == nullptr && !first) return;  // evicted by the other scheduler
    auto shown = std::make_shared<api::Pod>(pod);
    shown->node_name = here == nullptr ? util::Symbol() : here->node_name;
    shown->nominated_node_name = here == nullptr ? util::Symbol() : here->nominated_node_name;
    if (here != nullptr) shown->scheduled = here->scheduled;
    world_->Show(shown);
  }
  // Outputs show what the recorded scheduler did.
  void Follow(const std::string& line) {
    const bool decision = absl::StartsWith(line, "{\"out\":\"decision\"");
    result_.recorded.decisions += decision;
    const bool bind = absl::StartsWith(line, "{\"out\":\"bind\""), gone = absl::StartsWith(line, "{\"out\":\"delete\"");
    if (!bind && !gone) return;
    api::Document doc;
    if (!doc.Parse(line).ok()) return;
    auto it = by_name_.find(std::string(doc.root().FindExact("pod").Text()));
    if (it == by_name_.end()) return;
    PodRecord& r = pods_[it->second];
    if (gone) {
      r.recorded.evicted = true;
      return;
    }
    r.recorded.node = std::string(doc.root().FindExact("node").Text());
    r.recorded.waited_micros = world_->clock.steady - r.appeared;
  }

  const std::function<absl::Status(CoreConfiguration*)>& change_;
  std::unique_ptr<OtherWorld> world_;
  std::set<std::string> ours_;
  std::map<std::string, PodRecord> pods_;  // by uid
  std::vector<std::string> order_;
  std::map<std::string, std::string> by_name_;  // uid of the newest pod with a name
  Comparison result_;
};

}  // namespace

absl::StatusOr<Comparison> CompareWithRecording(const std::string& path,
                                                const std::function<absl::Status(CoreConfiguration*)>& change) {
  auto reader = RecordingReader::Open(path);
  if (!reader.ok()) return reader.status();
  Comparing comparing(change);
  bool begun = false;
  Step step;
  for (;;) {
    auto more = (*reader)->Next(&step);
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (step.kind == Step::Kind::kGap) {
      comparing.result().lost += step.lost;
    } else if (step.kind != Step::Kind::kInput) {
      if (auto s = comparing.Begin(step); !s.ok()) return s;
      begun = true;
    } else if (!begun) {
      return util::InvalidArgument(step.at + ": the recording does not begin with a header");
    } else {
      comparing.Do(step);
    }
  }
  return comparing.Finish();
}

}  // namespace berth::recording
