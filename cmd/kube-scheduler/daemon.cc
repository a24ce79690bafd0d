#include "cmd/kube-scheduler/daemon.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <glog/logging.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include "cmd/kube-scheduler/algorithm_source.h"
#include "cmd/kube-scheduler/api_actions.h"
#include "cmd/kube-scheduler/build_info.h"
#include "cmd/kube-scheduler/cluster_watch.h"
#include "cmd/kube-scheduler/end_process.h"
#include "cmd/kube-scheduler/event_recorders.h"
#include "cmd/kube-scheduler/go_text.h"
#include "cmd/kube-scheduler/inbox.h"
#include "cmd/kube-scheduler/leadership.h"
#include "cmd/kube-scheduler/metrics.h"
#include "cmd/kube-scheduler/metrics_in_seconds.h"
#include "cmd/kube-scheduler/page_metrics.h"
#include "cmd/kube-scheduler/pages.h"
#include "cmd/kube-scheduler/process_log.h"
#include "cmd/kube-scheduler/profile_config.h"
#include "cmd/kube-scheduler/recording.h"
#include "cmd/kube-scheduler/rounds.h"
#include "cmd/kube-scheduler/threads.h"
#include "pkg/client/config.h"
#include "pkg/client/events.h"
#include "pkg/client/leaderelection.h"
#include "pkg/client/rate_limiter.h"
#include "pkg/client/requests.h"
#include "pkg/client/rest.h"
#include "pkg/heap/heap.h"
#include "pkg/recording/tap.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/assembly/assembly.h"
#include "pkg/scheduler/extender/http_extender.h"
#include "pkg/scheduler/factory/from_profile.h"
#include "pkg/scheduler/scheduler.h"
#include "pkg/util/status.h"

namespace berth::kube_scheduler {
namespace {

// The most changes of objects that may wait to be applied. Each takes a few hundred bytes.
constexpr size_t kInboxLimit = 100'000;
// The most requests about pods that may be unanswered.
constexpr double kMostRequests = 4096;
// How often the snapshot for other threads is taken although none of them asks for it. It is used only by those that
// get no turn between two rounds, and all get one soon while rounds are short.
constexpr absl::Duration kPublishEvery = absl::Seconds(5), kPublishEveryIfSlow = absl::Milliseconds(250);
constexpr absl::Duration kSlowRound = absl::Milliseconds(10);
// Leadership may change without anything in the inbox, so the time between two rounds is limited.
constexpr absl::Duration kRoundEvery = absl::Seconds(1);
// How long a clean shutdown waits for binds that have not been answered.
constexpr absl::Duration kBindsGrace = absl::Seconds(15);
// How long a clean shutdown then waits for its events and its lock, whatever the API server does. Both are dispensable,
// so the supervisor that sent SIGTERM should not wait long for them.
constexpr absl::Duration kEventsGrace = absl::Milliseconds(800), kReleaseGrace = absl::Milliseconds(800);
// Every request has its own timeout; this limit only matters if that fails because of a defect.
constexpr absl::Duration kBlockingLimit = absl::Minutes(2);

sigset_t HandledSignals() {
  sigset_t s;
  sigemptyset(&s);
  for (int n : {SIGTERM, SIGINT, SIGUSR2}) sigaddset(&s, n);
  return s;
}

class Daemon {
 public:
  Daemon(const Configuration& config, const Options& options)
      : config_(config),
        options_(options),
        log_(config.Form(), *config.release),
        inbox_(kInboxLimit),
        pods_io_("pods-io"),
        lease_io_("lease-io"),
        rounds_(&inbox_, &clock_,
                {[this] { return pods_io_.executor()->RunsHere(); },
                 [this](std::function<void()> f) { pods_io_.executor()->Post(std::move(f)); }}) {}

  ~Daemon();
  int Run();

 private:
  absl::Status Connect();
  absl::Status Build();
  absl::Status AddProfiles(bool* node_json, std::vector<recording::ProfileSource>* sources);
  absl::Status AddProfile(const std::string& name,
                          absl::StatusOr<std::unique_ptr<scheduler::GenericScheduler>> algorithm);
  absl::StatusOr<std::string> ReadPolicyMap(const PolicyConfigMapSource& source);
  // Runs an asynchronous request on the I/O thread and waits for it, at most for kBlockingLimit.
  template <typename T>
  client::ApiResult<T> Blocking(std::function<void(client::Done<T>)> start);
  // Adds the metrics of the scheduler and its clients. May be called from any thread.
  void CollectMetrics(Families* families);
  bool MayWrite() const;
  void Lead();
  void Decide();  // the deciding thread
  bool AsksExtenders() const;
  Rounds::Left Round(std::vector<InboxItem>& items, int most);
  void Handle(InboxItem& item);
  // Passes an input to the scheduler, through the tap while a recording is made.
  template <typename T>
  void Apply(const T& input) {
    tap_ != nullptr ? tap_->Apply(input) : scheduler_->Apply(input);
  }
  bool ScheduleOne() { return tap_ != nullptr ? tap_->ScheduleOne() : scheduler_->ScheduleOne(); }
  void PublishSnapshot();
  void DumpState();
  int WaitForSignals();
  int EndCleanly();
  [[noreturn]] void EndNow();

  const Configuration& config_;
  const Options& options_;
  const ProcessLog log_;
  util::RealClock clock_;
  Inbox inbox_;
  RestMetrics rest_metrics_;

  IoThread pods_io_, lease_io_;
  Rounds rounds_;
  std::unique_ptr<client::RestClient> pods_client_, lease_client_, events_client_;
  std::unique_ptr<client::Requests> requests_;
  EventRecorders recorders_;
  std::unique_ptr<client::LeaderElector> elector_;
  std::unique_ptr<ClusterWatch> watch_;

  // The members below are used by whoever holds the round.
  std::unique_ptr<scheduler::Assembly> parts_;
  Algorithms algorithms_;
  std::unique_ptr<ApiActions> actions_;
  std::unique_ptr<recording::Recorder> recorder_;  // null without --record-dir
  std::unique_ptr<recording::Tap> tap_;            // wraps the scheduler while it is recorded; else null
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  size_t requests_limit_ = 0;
  int unsynced_ = 0;                                      // resources whose first list has not been applied
  bool leading_ = false;                                  // true without leader election
  absl::Duration published_ = -absl::InfiniteDuration();  // when the snapshot was taken; steady clock
  OneTimeEvent synced_, ending_, released_;
  std::atomic<bool> built_{false};  // watch_ exists
  std::thread decider_;
  std::atomic<bool> may_write_{true};

  mutable std::mutex snapshot_mutex_;
  SchedulerSnapshot snapshot_;
  std::shared_ptr<const std::vector<SchedulerSnapshot::ProfilePlugins>> profile_plugins_;  // null in 1.10
  std::unique_ptr<Pages> pages_;
  LivePage* live_page_ = nullptr;  // owned by pages_; null without --enable-ui
};

// ---- building -----------------------------------------------------------------------------------

absl::Status Daemon::Connect() {
  const auto& cc = config_.client_connection;
  if (cc.kubeconfig.empty() && options_.master.empty()) {
    LOG(WARNING) << "Neither --kubeconfig nor --master was specified. Using default API client. This might not work.";
  }
  if (!options_.context.empty() && cc.kubeconfig.empty()) {
    return util::InvalidArgument(absl::StrCat("--context: invalid value ", GoQuoted(options_.context),
                                              ": contexts are in a kubeconfig, and none is given"));
  }
  client::ConfigSources sources;
  sources.kubeconfig = cc.kubeconfig;
  sources.master = options_.master;
  sources.context = options_.context;
  absl::StatusOr<client::RestConfig> rest = client::LoadConfig(sources);
  if (!rest.ok()) return rest.status();
  rest->qps = cc.qps == 0 ? client::kDefaultQps : cc.qps;  // < 0: unlimited
  rest->burst = cc.burst == 0 ? client::kDefaultBurst : cc.burst;
  const auto user_agent = [this](const char* suffix) {
    const BuildInfo b = GetBuildInfo(*config_.release);
    return client::UserAgent("kube-scheduler", b.git_version, b.git_commit, suffix);
  };
  const auto make = [&](client::AsioExecutor* executor, const char* suffix) {
    client::RestConfig c = *rest;
    c.user_agent = user_agent(suffix);
    return client::RestClient::New(executor, c, &rest_metrics_);
  };
  auto pods = make(pods_io_.executor(), "scheduler");
  auto lease = make(lease_io_.executor(), "leader-election");
  auto events = make(lease_io_.executor(), "events");
  for (const absl::Status& s : {pods.status(), lease.status(), events.status()}) {
    if (!s.ok()) return util::InvalidArgument(absl::StrCat("kubeconfig ", cc.kubeconfig, ": ", util::Message(s)));
  }
  pods_client_ = *std::move(pods);
  lease_client_ = *std::move(lease);
  events_client_ = *std::move(events);
  client::RestConfig for_reviews = *rest;
  for_reviews.user_agent = user_agent("authentication");
  auto pages = Pages::New(config_, options_.SecureServing(config_), std::move(for_reviews), &rest_metrics_, &clock_,
                          [this](Families* families) { CollectMetrics(families); });
  if (!pages.ok()) return pages.status();
  pages_ = *std::move(pages);
  pages_->AddReadyCheck({"shutdown", [this] {
                           return ending_.raised() ? util::Unavailable("process is shutting down") : absl::OkStatus();
                         }});
  pages_->AddReadyCheck({"sched-handler-sync", [this] {
                           return synced_.raised() ? absl::OkStatus()
                                                   : util::Unavailable("handlers are not fully synchronized");
                         }});
  std::string flags;
  for (const flags::Flag* f : options_.flags().Listed()) absl::StrAppend(&flags, f->name, "=", f->text(), "\n");
  pages_->ShowFlags(std::move(flags));
  if (options_.enable_ui) live_page_ = pages_->ServeUi(&inbox_);
  requests_ = std::make_unique<client::Requests>(pods_client_.get(), [this] { return MayWrite(); });
  // Limits requests to what the rate limiter lets pass in a few seconds, so that none times out there.
  const double affordable = rest->qps < 0 ? kMostRequests : rest->burst + 5 * rest->qps;
  requests_limit_ = static_cast<size_t>(std::clamp(affordable, 1.0, kMostRequests));
  snapshot_.requests_limit = requests_limit_;
  snapshot_.form = config_.Form().metrics;

  lease_io_.Start();  // the server may have to be asked which events it has
  recorders_ = MakeRecorders(config_, rest->burst, lease_io_.executor(), events_client_.get());
  return absl::OkStatus();
}

absl::StatusOr<std::string> Daemon::ReadPolicyMap(const PolicyConfigMapSource& source) {
  for (;;) {
    using Map = std::shared_ptr<const api::ConfigMap>;
    auto r = Blocking<Map>(
        [&](client::Done<Map> done) { requests_->GetConfigMap(source.ns, source.name, std::move(done)); });
    if (r.ok()) {
      for (const auto& [key, value] : r.value->data) {
        if (key == "policy.cfg") return value;
      }
      return util::NotFound("missing policy config map value at key \"policy.cfg\"");
    }
    const std::string text =
        absl::StrCat("couldn't get policy config map ", source.ns, "/", source.name, ": ", r.error.message);
    if (!r.error.transport) return util::NotFound(text);
    // The API server may be starting, too.
    LOG(ERROR) << text << "; retrying";
    const sigset_t signals = HandledSignals();
    const timespec second{1, 0};
    const int n = sigtimedwait(&signals, nullptr, &second);
    if (n == SIGTERM || n == SIGINT) return absl::CancelledError();
  }
}

absl::Status Daemon::AddProfile(const std::string& name,
                                absl::StatusOr<std::unique_ptr<scheduler::GenericScheduler>> algorithm) {
  if (!algorithm.ok()) return algorithm.status();
  LogNotIncremental(name, **algorithm);
  scheduler_->AddProfile(name, algorithm->get());
  parts_->Register(util::Symbol(name), algorithm->get());
  algorithms_[util::Symbol(name)] = *std::move(algorithm);
  return absl::OkStatus();
}

absl::Status Daemon::AddProfiles(bool* node_json, std::vector<recording::ProfileSource>* sources) {
  const scheduler::FactoryArgs& args = parts_->args;
  if (config_.ByProfiles()) {
    profile_plugins_ = EvaluatedPlugins(config_.plugin_profiles);
    for (const scheduler::ExtenderConfig& e : config_.extenders) {
      *node_json |= !e.node_cache_capable && (!e.filter_verb.empty() || !e.prioritize_verb.empty());
    }
    for (const auto& p : config_.plugin_profiles) {
      sources->push_back({p.scheduler_name, config_.base_provider, "", config_.configuration_text});
      auto built = scheduler::CreateFromProfile(p, config_.extenders, args);
      if (auto s = AddProfile(p.scheduler_name, std::move(built)); !s.ok()) return s;
    }
    return absl::OkStatus();
  }
  std::vector<Profile> profiles = {{config_.scheduler_name, config_.algorithm}};
  profiles.insert(profiles.end(), config_.profiles.begin(), config_.profiles.end());
  for (const Profile& p : profiles) {
    recording::ProfileSource& source = sources->emplace_back();
    source.scheduler_name = p.scheduler_name;
    source.provider = p.algorithm.provider.value_or("");
    auto built = BuildAlgorithm(
        p.scheduler_name, p.algorithm, args, [this](const PolicyConfigMapSource& s) { return ReadPolicyMap(s); },
        node_json, &source.policy);
    if (auto s = AddProfile(p.scheduler_name, std::move(built)); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status Daemon::Build() {
  const scheduler::SchedulerGates gates = GatesOfRules(config_, options_);
  parts_ = std::make_unique<scheduler::Assembly>(
      scheduler::AssemblyConfig{.decides = &ReleaseToRun(config_),
                                .process = &config_.Release().process,
                                .gates = gates,
                                .percentage = options_.PercentageOfNodes(config_),
                                .initial_backoff = config_.pod_initial_backoff,
                                .max_backoff = config_.pod_max_backoff,
                                .unschedulable_limit = config_.pod_max_in_unschedulable});
  scheduler::FactoryArgs& args = parts_->args;
  args.hard_pod_affinity_symmetric_weight = config_.hard_pod_affinity_symmetric_weight;
  args.clock = &clock_;
  args.make_extender =
      [this](const scheduler::ExtenderConfig& c) -> absl::StatusOr<std::unique_ptr<scheduler::Extender>> {
    auto extender = scheduler::NewHttpExtender(c);
    if (!extender.ok() || tap_ == nullptr) return extender;
    return tap_->Wrap(*std::move(extender));
  };

  std::map<std::string, client::EventRecorder*, std::less<>> recorders;
  for (const auto& [name, r] : recorders_) recorders[name] = r.get();
  recorders[""] = recorders_.find(config_.scheduler_name)->second.get();
  actions_ = std::make_unique<ApiActions>(pods_io_.executor(), requests_.get(), std::move(recorders), &inbox_,
                                          config_.Form().dialect);

  scheduler::SchedulerOptions o = parts_->Options();
  o.preempts = !config_.disable_preemption;
  o.volume_bind_timeouts = VolumeBindTimeouts(config_);
  o.ignore_unknown_fields = options_.ignore_unknown_fields;
  o.max_requests_in_flight = requests_limit_;
  o.check_decisions = options_.check_decisions;
  o.may_bind = [this] { return MayWrite(); };
  scheduler::Actions* actions = actions_.get();
  const util::Clock* clock = &clock_;
  o.observer = live_page_ != nullptr ? live_page_->observer() : nullptr;
  if (!options_.record_dir.empty()) {
    tap_ = std::make_unique<recording::Tap>(nullptr, actions, clock, o.observer);
    actions = tap_.get();
    clock = tap_.get();
    o.observer = tap_.get();
  }
  scheduler_ = std::make_unique<scheduler::Scheduler>(&parts_->cache, parts_->queue.get(), parts_->volume_binder.get(),
                                                      actions, clock, std::move(o));

  bool node_json = false;
  std::vector<recording::ProfileSource> sources;
  if (auto s = AddProfiles(&node_json, &sources); !s.ok()) return s;
  auto core = CoreConfigurationOf(config_, gates, std::move(sources), requests_limit_, options_.ignore_unknown_fields);
  core.percentage = options_.PercentageOfNodes(config_);
  const ui::LiveScheduler live{&parts_->cache, parts_->queue.get(), scheduler_.get(),
                               [this] { return leading_ && MayWrite(); }};
  if (live_page_ != nullptr) live_page_->Begin(live, config_, core, algorithms_);
  if (tap_ != nullptr) {
    auto recorder = StartRecording(options_, core);
    if (!recorder.ok()) return recorder.status();
    recorder_ = *std::move(recorder);
    tap_->set_sink(recorder_.get());
    tap_->Attach(scheduler_.get());
  }
  const bool owners = std::any_of(algorithms_.begin(), algorithms_.end(),
                                  [](const auto& named) { return named.second->config().reads_owners; });
  const ClusterWatch::Options watch{owners, gates.algorithm.volume_scheduling, &config_.Form().dialect, node_json};
  watch_ = std::make_unique<ClusterWatch>(pods_io_.executor(), pods_client_.get(), &inbox_, watch);
  unsynced_ = watch_->resources();
  return absl::OkStatus();
}

template <typename T>
client::ApiResult<T> Daemon::Blocking(std::function<void(client::Done<T>)> start) {
  auto done = std::make_shared<std::promise<client::ApiResult<T>>>();
  pods_io_.executor()->Post(
      [start = std::move(start), done] { start([done](client::ApiResult<T> r) { done->set_value(std::move(r)); }); });
  auto answer = done->get_future();
  if (answer.wait_for(absl::ToChronoMilliseconds(kBlockingLimit)) == std::future_status::ready) return answer.get();
  client::ApiResult<T> late;
  late.error.transport = true;
  late.error.message = absl::StrCat("no answer within ", absl::FormatDuration(kBlockingLimit));
  return late;
}

void Daemon::CollectMetrics(Families* families) {
  using prometheus::MetricType;
  // While a round lasts long, the numbers are those before it.
  if (built_) rounds_.Visit(absl::Milliseconds(50), [this] { PublishSnapshot(); });
  {
    std::lock_guard lock(snapshot_mutex_);
    CollectScheduler(snapshot_, families);
  }
  rest_metrics_.Collect(families);
  if (config_.Form().metrics.in_seconds) rest_metrics_.CollectInSeconds(families);
  const auto one = [&](const char* name, MetricType type, const char* help, double v) {
    families->push_back(Family(name, type, help));
    AddSample(&families->back(), {}, v);
  };
  one("scheduler_inbox_events", MetricType::Gauge, "Number of changes of objects that wait for the scheduler",
      static_cast<double>(inbox_.depth()));
  one("scheduler_inbox_limit", MetricType::Gauge, "Number of changes that may wait before the watches are held back",
      static_cast<double>(inbox_.limit()));
  one("scheduler_inbox_full_total", MetricType::Counter, "Number of times that the watches were held back",
      static_cast<double>(inbox_.full()));
  const double queued = CollectEvents(recorders_, families);
  one("scheduler_events_queued", MetricType::Gauge, "Number of events waiting or on their way", queued);
  one("rest_client_throttled_requests", MetricType::Gauge, "Number of requests waiting for a client's rate limit",
      static_cast<double>(pods_client_->throttled() + lease_client_->throttled() + events_client_->throttled()));
  if (elector_ != nullptr) {
    families->push_back(Family("leader_election_master_status", MetricType::Gauge,
                               "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, "
                               "1 indicates master. 'name' is the string used to identify the lease."));
    AddSample(&families->back(), {{"name", config_.leader_election.lock_object_name}}, elector_->IsLeader() ? 1 : 0);
  }
  if (!built_) return;
  if (recorder_ != nullptr) CollectRecording(*recorder_, families);
  CollectWatches(*watch_, clock_.Steady(), families);
}

// ---- deciding -----------------------------------------------------------------------------------

void Daemon::Handle(InboxItem& item) {
  std::visit(
      [this](auto& v) {
        using V = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<V, scheduler::Reply>) {
          Apply(v);
        } else if constexpr (std::is_same_v<V, std::function<void()>>) {
          v();
        } else {
          for (const auto& e : v.events) {
            using T = std::remove_const_t<typename std::decay_t<decltype(e.object)>::element_type>;
            if (e.kind == client::InformerEvent<T>::Kind::kDeleted) {
              Apply(scheduler::Change<T>{e.old_object, nullptr});
            } else {
              Apply(scheduler::Change<T>{e.old_object, e.object});
            }
          }
          if (v.initial_list_done && --unsynced_ == 0) synced_.Raise();
        }
      },
      item);
}

void Daemon::Decide() {
  pthread_setname_np(pthread_self(), "scheduler");
  rounds_.Run([this](std::vector<InboxItem>& items, int most) { return Round(items, most); }, !AsksExtenders());
}

bool Daemon::AsksExtenders() const {
  return std::any_of(algorithms_.begin(), algorithms_.end(),
                     [](const auto& named) { return !named.second->config().extenders.empty(); });
}

Rounds::Left Daemon::Round(std::vector<InboxItem>& items, int most) {
  const absl::Duration begin = clock_.Steady();
  for (InboxItem& item : items) Handle(item);
  tap_ != nullptr ? tap_->Tick() : scheduler_->Tick();
  int n = 0;
  bool late = false;
  if (leading_ && unsynced_ == 0) {
    // Extenders may take seconds for a decision. What has been decided must not wait for the next ones, nor must a
    // signal to end.
    const bool waits = AsksExtenders();
    while (n < most && !late && ScheduleOne()) {
      ++n;
      late = waits && clock_.Steady() - begin > kSlowRound;
    }
  }
  actions_->Flush();
  if (tap_ != nullptr) tap_->Flush();
  const absl::Duration now = clock_.Steady();
  if (live_page_ != nullptr) live_page_->Sample(*scheduler_);
  if (now - published_ > (now - begin > kSlowRound ? kPublishEveryIfSlow : kPublishEvery)) PublishSnapshot();
  return {n == most || late, std::min(scheduler_->NextDeadline(), now + kRoundEvery)};
}

void Daemon::PublishSnapshot() {
  SchedulerSnapshot s = TakeSnapshot(*scheduler_, *parts_->queue, parts_->cache, algorithms_);
  s.requests_limit = requests_limit_;
  s.form = config_.Form().metrics;
  s.plugins = profile_plugins_;
  published_ = clock_.Steady();
  std::lock_guard lock(snapshot_mutex_);
  snapshot_ = std::move(s);
}

// ---- leadership ---------------------------------------------------------------------------------

// Returns whether no other process can have become leader. May be called from any thread.
bool Daemon::MayWrite() const {
  return may_write_.load(std::memory_order_relaxed) &&
         (elector_ == nullptr || elector_->LeaseAge() < config_.leader_election.renew_deadline);
}

// Makes this process the one that decides. May be called from any thread.
void Daemon::Lead() {
  inbox_.Put(std::function<void()>([this] { leading_ = true; }));
}

// Ends at once, while other threads are running: a process that lost the lease must not bind any more.
void Daemon::EndNow() {
  log_.EndWithoutLease();
  google::FlushLogFiles(google::INFO);
  _exit(1);
}

// ---- life ---------------------------------------------------------------------------------------

int Daemon::Run() {
  const auto fail = [this](const absl::Status& s) {
    log_.Failed(util::Message(s));
    return 1;
  };
  if (auto s = Connect(); !s.ok()) return fail(s);
  const auto& le = config_.leader_election;
  if (le.leader_elect) {
    auto identity = client::NewIdentity();
    if (!identity.ok()) return fail(identity.status());
    client::LeaderElectorCallbacks callbacks;
    callbacks.on_started_leading = [this] {
      Lead();
      if (config_.delay_cache_until_active) pods_io_.executor()->Post([this] { watch_->Start(); });
    };
    callbacks.on_stopped_leading = [this] {
      may_write_ = false;
      log_.LostLease();
      // Waits up to a second for the event about it to be sent.
      RecorderOfLock(config_, recorders_)->Drain(absl::Seconds(1), [this] { EndNow(); });
    };
    callbacks.on_released = [this] { released_.Raise(); };
    callbacks.on_watchdog = [](std::string_view why) {
      EndWithoutWaiting(absl::StrCat("lost lease: ", std::string(why)));
    };
    elector_ = std::make_unique<client::LeaderElector>(lease_io_.executor(), lease_client_.get(),
                                                       RecorderOfLock(config_, recorders_),
                                                       LockOptionsOf(config_, *identity), std::move(callbacks));
    if (config_.Form().checks_lease) pages_->AddHealthCheck(LeaderCheck(*elector_, le.lease_duration));
  }
  VLOG(1) << "JSON is sent to and accepted from the API server, whatever --kube-api-content-type says";
  log_.Starting();
  pods_io_.executor()->HandleTogether(options_.min_sync_period);
  pods_io_.Start();
  lease_io_.executor()->Post([this] { lease_io_.executor()->Every(absl::Minutes(1), heap::ReturnFreePages); });
  pages_->Start();
  if (auto s = Build(); !s.ok()) return absl::IsCancelled(s) ? 0 : fail(s);
  for (auto& [name, a] : algorithms_) a->LimitKeptAnswers(options_.kept_answers_max_bytes, algorithms_.size());
  built_ = true;
  pages_->ServePods([this](std::function<void(std::vector<api::PodPtr>)> then) {
    pods_io_.executor()->Post([this, then = std::move(then)] { then(watch_->Pods()); });
  });

  decider_ = std::thread([this] { Decide(); });
  const bool delayed = elector_ != nullptr && config_.delay_cache_until_active;
  const auto elect = [this] { lease_io_.executor()->Post([this] { elector_->Start(); }); };
  if (delayed) {
    elect();
  } else {
    pods_io_.executor()->Post([this] { watch_->Start(); });
  }
  LOG(INFO) << "Waiting for caches to sync for scheduler controller";
  std::thread start([&] {
    while (!synced_.WaitFor(absl::Milliseconds(100))) {
      if (ending_.raised()) return;
    }
    LOG(INFO) << "Caches are synced for scheduler controller";
    if (elector_ == nullptr) {
      Lead();
    } else if (!delayed) {
      elect();
    }
  });
  const int status = WaitForSignals();
  ending_.Raise();
  start.join();
  return status;
}

// The rounds end first, because they use all threads; then the inbox releases I/O threads that wait for room in it.
Daemon::~Daemon() {
  rounds_.End();
  if (decider_.joinable()) decider_.join();
  inbox_.Close();
  if (pages_ != nullptr) pages_->Stop();
  pods_io_.Stop();
  lease_io_.Stop();
}

int Daemon::WaitForSignals() {
  const sigset_t signals = HandledSignals();
  for (;;) {
    int n = 0;
    if (sigwait(&signals, &n) != 0) continue;
    if (n == SIGUSR2) {
      DumpState();
    } else if (n == SIGTERM || n == SIGINT) {
      log_.Terminating(n == SIGTERM ? "SIGTERM" : "SIGINT");
      return EndCleanly();
    }
  }
}

void Daemon::DumpState() {
  pods_io_.executor()->Post([this] {
    // The comparison comes after all changes in the inbox, so that both sides show the same moment.
    inbox_.Put(std::function<void()>([this, nodes = watch_->Nodes(), pods = watch_->Pods()] {
      const std::string text = scheduler_->DumpAndCompare(nodes, pods);
      size_t at = 0;
      while (at < text.size()) {
        const size_t end = std::min(text.find('\n', at), text.size());
        LOG(INFO) << text.substr(at, end - at);
        at = end + 1;
      }
    }));
  });
}

int Daemon::EndCleanly() {
  // A second signal ends the process at once.
  std::thread impatient([] {
    const sigset_t signals = HandledSignals();
    int n = 0;
    while (sigwait(&signals, &n) == 0) {
      if (n == SIGTERM || n == SIGINT) _exit(1);
    }
  });
  impatient.detach();

  // Flags are shared with the functions that raise them, because those may run after this function has returned.
  const auto settled = std::make_shared<OneTimeEvent>();
  const absl::Duration deadline = clock_.Steady() + kBindsGrace;
  while (!settled->raised() && clock_.Steady() < deadline) {
    const auto looked = std::make_shared<OneTimeEvent>();
    inbox_.Put(std::function<void()>([this, settled, looked] {
      tap_ != nullptr ? tap_->Stop() : scheduler_->Stop();
      if (scheduler_->binds_in_flight() == 0) settled->Raise();
      looked->Raise();
    }));
    looked->WaitFor(deadline - clock_.Steady());
    settled->WaitFor(absl::Milliseconds(20));
  }
  if (!settled->raised()) {
    LOG(WARNING) << "Shutting down with unanswered bindings; the next leader will find out whether they succeeded";
  }
  const auto drained = std::make_shared<OneTimeEvent>();
  const auto left = std::make_shared<std::atomic<size_t>>(recorders_.size());
  for (auto& [name, r] : recorders_) {
    lease_io_.executor()->Post([drained, left, recorder = r.get()] {
      recorder->Drain(kEventsGrace, [drained, left] {
        if (--*left == 0) drained->Raise();
      });
    });
  }
  drained->WaitFor(kEventsGrace + absl::Milliseconds(100));
  if (elector_ != nullptr) {
    elector_->Release();
    released_.WaitFor(kReleaseGrace);
  }
  log_.Ended();
  return 0;
}

}  // namespace

void BlockSignals() {
  const sigset_t s = HandledSignals();
  pthread_sigmask(SIG_BLOCK, &s, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // a recording that has reached the limit of a file's size is an error of the recording
}

int RunDaemon(const Configuration& config, const Options& options) {
  heap::BoundThreadCaches();
  Daemon daemon(config, options);
  return daemon.Run();
}

}  // namespace berth::kube_scheduler
