#include "test/simulation/scheduler_process.h"

#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <limits>
#include <set>
#include <utility>

#include "pkg/recording/recorder.h"
#include "test/simulation/world.h"

namespace berth::simulation {

using client::LeaderElection;
using scheduler::RequestId;

namespace {

constexpr int kDecisionsInARow = 64;

client::LeaderElectionOptions ElectionOptions(const std::string& identity) {
  client::LeaderElectionOptions o;
  o.identity = identity;
  return o;
}

client::EventRecorderOptions RecorderOptions(std::function<double()> random) {
  client::EventRecorderOptions o;
  o.random = std::move(random);
  return o;
}

// The schedulers that each process runs, and their providers.
constexpr std::pair<const char*, const char*> kProfiles[] = {{"default-scheduler", "DefaultProvider"},
                                                             {"packing", "ClusterAutoscalerProvider"}};

class NoSink final : public recording::EventSink {
 public:
  void Take(std::vector<recording::Event>* batch) override { batch->clear(); }
};

}  // namespace

// Passes everything on, and holds each decision against what this very process has been shown.
class SchedulerProcess::CheckedActions final : public scheduler::Actions {
 public:
  CheckedActions(SchedulerProcess* process, std::map<std::string, client::EventRecorder*, std::less<>> recorders)
      : process_(process), inner_(&process->executor_, &process->requests_, std::move(recorders), &process->inbox_) {}

  void Flush() { inner_.Flush(); }

  void Bind(RequestId id, const api::PodPtr& pod, scheduler::Extender* binder) override {
    CheckBind(*pod);
    process_->world_->Record(
        absl::StrCat(process_->name_, " binds ", pod->meta.name, " ", pod->meta.uid, " to ", pod->node_name.string()));
    open_[pod->meta.uid] = {id, pod};
    inner_.Bind(id, pod, binder);
  }
  void UpdatePodCondition(RequestId id, const api::PodPtr& pod, const api::PodCondition& c) override {
    inner_.UpdatePodCondition(id, pod, c);
  }
  void SetNominatedNode(RequestId id, const api::PodPtr& pod, util::Symbol node) override {
    if (!node.empty()) nominated_.insert(node.string());
    inner_.SetNominatedNode(id, pod, node);
  }
  void DeletePod(RequestId id, const api::PodPtr& pod) override {
    CheckVictim(*pod);
    inner_.DeletePod(id, pod);
  }
  void GetPod(RequestId id, const api::Pod& pod) override { inner_.GetPod(id, pod); }
  void GetNode(RequestId id, util::Symbol name) override { inner_.GetNode(id, name); }
  void UpdateVolume(RequestId id, const scheduler::VolumeBinder::Binding& b) override { inner_.UpdateVolume(id, b); }
  void RecordEvent(const api::PodPtr& pod, scheduler::EventType type, std::string_view reason,
                   std::string message) override {
    if (reason == "Scheduled") said_scheduled_.insert(pod->meta.uid);
    inner_.RecordEvent(pod, type, reason, std::move(message));
  }

  // Before the scheduler hears of it. Returns the pod when it was bound by this. What the pod informer shows of a pod
  // we bound is no longer ours to remember.
  api::PodPtr Answered(const scheduler::Reply& r) {
    for (auto it = open_.begin(); it != open_.end(); ++it) {
      if (it->second.first != r.id) continue;
      if (r.answer.ok()) bound_[it->first] = it->second.second;
      // After a 5xx the server has nothing left to do; after a lost answer it may.
      const bool lost = r.answer.kind == scheduler::Answer::Kind::kLost;
      if (lost || r.answer.kind == scheduler::Answer::Kind::kServerError) {
        lost_[it->first] = {it->second.second->node_name, lost ? process_->world_->loop.now() : -kLatest};
      }
      const api::PodPtr pod = it->second.second;
      open_.erase(it);
      return r.answer.ok() ? pod : nullptr;
    }
    return nullptr;
  }
  // After the scheduler has heard that its bind was carried out: users learn of it by the event.
  void CheckTold(const api::Pod& pod) {
    if (!said_scheduled_.contains(pod.meta.uid))
      Fail(absl::StrCat("bound ", pod.meta.name, " and has not said so in an event"));
  }

 private:
  void Fail(std::string what) { process_->world_->Fail(absl::StrCat(process_->name_, ": ", std::move(what))); }

  // No second node while a bind is unanswered, and no node over what it has, as far as this process can know.
  void CheckBind(const api::Pod& pod) {
    process_->world_->CountDecision();
    if (auto it = open_.find(pod.meta.uid); it != open_.end()) {
      Fail(absl::StrCat("pod ", pod.meta.name, " is bound to ", pod.node_name.string(), " while its bind to ",
                        it->second.second->node_name.string(), " is open"));
    }
    if (auto it = lost_.find(pod.meta.uid); it != lost_.end() && it->second.first != pod.node_name &&
                                            process_->world_->loop.now() - it->second.second < kLatest) {
      Fail(absl::StrCat("pod ", pod.meta.name, " is bound to ", pod.node_name.string(), " while a bind to ",
                        it->second.first.string(), " that was lost may still be carried out"));
    }
    if (auto it = bound_.find(pod.meta.uid); it != bound_.end() && it->second->node_name != pod.node_name) {
      Fail(absl::StrCat("pod ", pod.meta.name, " is bound to ", pod.node_name.string(), " and was bound to ",
                        it->second->node_name.string(), " before"));
    }
    // The same bind again, as the answer was lost, is no new decision: the node may be another by now.
    if (auto it = lost_.find(pod.meta.uid); it != lost_.end() && it->second.first == pod.node_name) return;
    std::vector<PodView> pods;
    std::set<std::string> shown;
    for (const api::PodPtr& p : process_->watch_.Pods()) {
      shown.insert(p->meta.uid);
      if (p->meta.uid == pod.meta.uid && !p->node_name.empty() && p->node_name != pod.node_name) {
        Fail(absl::StrCat("pod ", pod.meta.name, " is bound to ", pod.node_name.string(), " though it is shown on ",
                          p->node_name.string()));
      }
      if (p->node_name == pod.node_name && p->meta.uid != pod.meta.uid) pods.push_back(process_->world_->View(*p));
    }
    // Binds that the server confirmed, or has not answered, and the watch does not show yet.
    for (const auto& [uid, p] : bound_) AddUnseen(uid, p, pod, &pods);
    for (const auto& [uid, entry] : open_) AddUnseen(uid, entry.second, pod, &pods);
    for (auto it = bound_.begin(); it != bound_.end();)
      it = shown.contains(it->first) ? std::next(it) : bound_.erase(it);
    CheckNode(pod, pods);
  }

  void AddUnseen(const std::string& uid, const api::PodPtr& p, const api::Pod& next, std::vector<PodView>* pods) {
    if (p->node_name != next.node_name || uid == next.meta.uid) return;
    for (const PodView& v : *pods) {
      if (v.key == p->meta.name) return;
    }
    // It counts only while the informer still shows it as pending: one that is gone uses nothing.
    for (const api::PodPtr& shown : process_->watch_.Pods()) {
      if (shown->meta.uid == uid && shown->node_name.empty()) {
        pods->push_back(process_->world_->View(*p));
      }
    }
  }

  void CheckNode(const api::Pod& pod, const std::vector<PodView>& pods) {
    for (const api::NodePtr& n : process_->watch_.Nodes()) {
      if (n->meta.name != pod.node_name.str()) continue;
      if (n->unschedulable)
        Fail(absl::StrCat("pod ", pod.meta.name, " is bound to ", n->meta.name, ", which is cordoned"));
      int64_t cpu = 0, memory = 0, count = 0;
      for (const auto& [name, q] : n->allocatable) {
        if (name == util::Symbol("cpu")) cpu = q.MilliValue();
        if (name == util::Symbol("memory")) memory = q.Value() >> 20;
        if (name == util::Symbol("pods")) count = q.Value();
      }
      const auto use = Use(pods);
      auto it = use.find(n->meta.name);
      const NodeUse used = it == use.end() ? NodeUse{} : it->second;
      const PodView v = process_->world_->View(pod);
      if (used.milli_cpu + v.milli_cpu > cpu || used.memory_mib + v.memory_mib > memory || used.pods + 1 > count) {
        Fail(absl::StrCat("pod ", pod.meta.name, " of ", v.milli_cpu, "m and ", v.memory_mib, " MiB is bound to ",
                          n->meta.name, ", where ", used.milli_cpu, "m of ", cpu, "m, ", used.memory_mib, " of ",
                          memory, " MiB and ", used.pods, " of ", count, " pods are in use"));
      }
      if (v.host_port != 0 && used.ports.contains(v.host_port)) {
        Fail(absl::StrCat("pod ", pod.meta.name, " is bound to ", n->meta.name, ", where port ", v.host_port,
                          " is taken"));
      }
      if ((v.alone && used.apps.contains(v.app)) || used.lonely_apps.contains(v.app)) {
        Fail(absl::StrCat("pod ", pod.meta.name, " is bound to ", n->meta.name, " against an anti-affinity"));
      }
      if (!v.zone.empty()) {
        for (const auto& [key, value] : n->labels) {
          if (key == util::Symbol("zone") && value.str() != v.zone) {
            Fail(absl::StrCat("pod ", pod.meta.name, " is bound to ", n->meta.name, " in another zone"));
          }
        }
      }
      return;
    }
    Fail(absl::StrCat("pod ", pod.meta.name, " is bound to ", pod.node_name.string(), ", a node that is not there"));
  }

  // A victim must make room for a pod that is more important, on the node that was chosen for that pod.
  void CheckVictim(const api::Pod& victim) {
    process_->world_->Record(absl::StrCat(process_->name_, " evicts ", victim.meta.name));
    if (!nominated_.contains(victim.node_name.string())) {
      Fail(absl::StrCat("pod ", victim.meta.name, " is evicted from ", victim.node_name.string(),
                        ", which no pod is nominated to"));
    }
    int32_t highest = INT32_MIN;
    for (const api::PodPtr& p : process_->watch_.Pods()) {
      if (p->node_name.empty()) highest = std::max(highest, process_->world_->View(*p).priority);
    }
    if (process_->world_->View(victim).priority >= highest) {
      Fail(absl::StrCat("pod ", victim.meta.name, " is evicted, and no pending pod is more important"));
    }
  }

  SchedulerProcess* process_;
  kube_scheduler::ApiActions inner_;
  std::map<std::string, std::pair<RequestId, api::PodPtr>> open_;  // binds without an answer, by uid
  std::map<std::string, api::PodPtr> bound_;                       // binds that succeeded
  // Binds whose answer was lost, and when: the server may carry them out for another kLatest.
  std::map<std::string, std::pair<util::Symbol, absl::Duration>> lost_;
  std::set<std::string> said_scheduled_;  // uids
  std::set<std::string> nominated_;
};

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
      recorder_(&executor_, &events_http_, RecorderOptions([this] { return random_.Unit(); })),
      inbox_(100'000),
      watch_(&executor_, &pods_http_, &inbox_,
             kube_scheduler::ClusterWatch::Options{
                 .storage_classes = false, .node_json = false, .random = [this] { return random_.Unit(); }}),
      queue_(world->options.pod_priority ? scheduler::NewPriorityQueue() : scheduler::NewFifo()),
      election_options_(ElectionOptions(name_)),
      election_(election_options_, [this] { return random_.Unit(); }) {
  actions_ = std::make_unique<CheckedActions>(
      this, std::map<std::string, client::EventRecorder*, std::less<>>{{"", &recorder_}});
  scheduler::SchedulerOptions o;
  o.pod_priority = world->options.pod_priority;
  o.may_bind = [this] { return MayWrite(); };
  // Also when nothing is recorded, because the tap rounds the clocks: a recorded run is the same run.
  sink_ = Sink();
  tap_ = std::make_unique<recording::Tap>(sink_.get(), actions_.get(), &executor_.clock(), nullptr);
  o.observer = tap_.get();
  scheduler_ =
      std::make_unique<scheduler::Scheduler>(&cache_, queue_.get(), nullptr, tap_.get(), tap_.get(), std::move(o));
  tap_->Attach(scheduler_.get());
  for (const auto& [profile, provider] : kProfiles) {
    scheduler::FactoryArgs args;
    args.cache = &cache_;
    args.nominated = queue_->nominated();
    args.gates.algorithm.pod_priority = world->options.pod_priority;
    args.gates.algorithm.volume_scheduling = false;
    algorithms_.push_back(scheduler::CreateFromProvider(provider, std::move(args)).value());
    scheduler_->AddProfile(profile, algorithms_.back().get());
  }
  unsynced_ = watch_.resources();
  watch_.Start();
  Act(election_.Tick(Now(), executor_.clock().Wall()));
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
  c.gates = {{"PodPriority", world_->options.pod_priority}, {"VolumeScheduling", false}};
  for (const auto& [profile, provider] : kProfiles) c.profiles.push_back({profile, provider, "", ""});
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
          const api::PodPtr bound = actions_->Answered(v);
          tap_->Apply(v);
          if (bound != nullptr) actions_->CheckTold(*bound);
        } else if constexpr (std::is_same_v<V, std::function<void()>>) {
          v();
        } else {
          for (const auto& e : v.events) {
            using T = std::remove_const_t<typename std::decay_t<decltype(e.object)>::element_type>;
            if (std::string bad = informer_check_.Shows(e); !bad.empty()) world_->Fail(absl::StrCat(name_, ": ", bad));
            if (e.kind == client::InformerEvent<T>::Kind::kDeleted) {
              tap_->Apply(scheduler::Change<T>{e.old_object, nullptr});
            } else {
              const bool asleep = std::is_same_v<T, api::Pod> && IsInBackoff(*e.object, /*unlike=*/true);
              tap_->Apply(scheduler::Change<T>{e.old_object, e.object});
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
  inbox_.Take(&items, absl::ZeroDuration());
  for (auto& item : items) Handle(item);
  tap_->Tick();
  int n = 0;
  if (leading() && unsynced_ == 0 && !stopping_) {
    while (n < kDecisionsInARow && tap_->ScheduleOne()) ++n;
  }
  actions_->Flush();
  tap_->Flush();
  if (++turns_ % 16 == 0) {
    if (std::string bad = scheduler_->CheckInvariants(); !bad.empty()) world_->Fail(absl::StrCat(name_, ": ", bad));
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
  using Step = LeaderElection::Step;
  switch (a.step) {
    case Step::kGet:
    case Step::kCreate:
    case Step::kUpdate: {
      client::Request r;
      r.method = a.step == Step::kGet      ? client::Method::kGet
                 : a.step == Step::kCreate ? client::Method::kPost
                                           : client::Method::kPut;
      r.target = "/api/v1/namespaces/kube-system/endpoints";
      if (a.step != Step::kCreate) r.target += "/kube-scheduler";
      r.body = std::move(a.body);
      r.timeout = a.timeout;
      lease_requests_.Raw(std::move(r), "endpoints", "kube-scheduler", [this](client::ApiResult<std::string> answer) {
        if (!ended_) Act(election_.Answer(answer, Now(), executor_.clock().Wall()));
      });
      break;
    }
    case Step::kWait:
      if (a.wait == absl::InfiniteDuration()) break;
      executor_.Cancel(election_timer_);
      election_timer_ = executor_.After(a.wait, [this] { Act(election_.Tick(Now(), executor_.clock().Wall())); });
      break;
    case Step::kOver:
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
