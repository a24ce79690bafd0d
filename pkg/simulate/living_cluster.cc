#include "pkg/simulate/living_cluster.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "pkg/releases/daemon_form.h"
#include "pkg/simulate/pod_table.h"
#include "pkg/simulate/times.h"
#include "pkg/store/loader.h"
#include "pkg/util/contract.h"
#include "pkg/util/status.h"
#include "pkg/world/kinds.h"

namespace berth::simulate {
namespace {

using world::Value;

absl::Duration DurationOf(Micros time) {
  return time == kNever ? absl::InfiniteDuration() : absl::Microseconds(time);
}

// The cluster is of the release whose scheduler it has.
const release::Id& ReleaseOf(const Options& options) {
  return **release::Named(options.configuration.release);
}

// Stores an object of a version that the release does not serve as one of a version that it does. Other kinds than
// those of workloads are left out if there is none, as scheduling does not read them then.
absl::StatusOr<bool> StoreInOtherVersion(Value v, bool verbatim, apiserver::Registry* registry) {
  const std::string kind(v.Str("kind")), version(v.Str("apiVersion"));
  const std::string group = version.substr(0, version.find('/') == std::string::npos ? 0 : version.find('/'));
  for (const apiserver::ResourceInfo& r : registry->catalog().resources()) {
    const bool same = std::any_of(r.versions.begin(), r.versions.end(),
                                  [&](const apiserver::GroupVersion& own) { return own.group == group; });
    if (r.kind != kind || !(same || world::IsOwnGroup(kind, version))) continue;
    v.Set("apiVersion", Value::String(r.versions[0].Text()));
    return apiserver::LoadObject(std::move(v), verbatim, registry);
  }
  if (!LivingInput::MakesPods(kind)) return false;
  return util::InvalidArgument(absl::StrCat(kind, " \"", util::ToAbsl(world::NameOf(v)),
                                            "\": objects of this kind are not simulated in this release"));
}

absl::Status StoreGiven(const lab::Given& given, apiserver::Registry* registry) {
  const Value v = LivingInput::Stored(given);
  auto stored = apiserver::LoadObject(v, given.verbatim, registry);
  if (stored.ok() && !*stored) stored = StoreInOtherVersion(v, given.verbatim, registry);
  if (stored.ok()) return absl::OkStatus();
  return util::InvalidArgument(absl::StrCat(given.place, ": ", util::Message(stored.status())));
}

// Returns a value for Registry::Seed, which is not 0.
uint64_t SeedOf(const Options& options) {
  constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;
  return (options.seed + 1) * kSpread | 1;
}

}  // namespace

// Counts the Jobs that are over.
class LivingCluster::JobWatch final : public apiserver::EventListener {
 public:
  JobWatch(apiserver::Store* store, Outcome* counts)
      : store_(store), r_(*store->catalog().Find("batch", "v1", "jobs")), counts_(counts) {
    store_->AddListener(r_, this);
  }
  ~JobWatch() override { store_->RemoveListener(r_, this); }

  void OnEvent(const apiserver::EventPtr& e) override {
    if (e->type == apiserver::EventType::kDeleted) return;
    const int is = HowItEnded(*e->object), was = e->old == nullptr ? 0 : HowItEnded(*e->old);
    if (is == was) return;
    ++(is > 0 ? counts_->jobs_completed : counts_->jobs_failed);
  }

 private:
  // Returns 1: it is complete, -1: it has failed, 0: neither.
  int HowItEnded(const apiserver::Object& job) const {
    const auto v = store_->Read(r_, apiserver::StableVersionOf(r_), job);
    if (world::living::IsConditionTrue(*v, "Complete")) return 1;
    return world::living::IsConditionTrue(*v, "Failed") ? -1 : 0;
  }

  apiserver::Store* const store_;
  const apiserver::ResourceInfo& r_;
  Outcome* const counts_;
};

LivingCluster::LivingCluster(const Case& what, std::unique_ptr<ArrivalSource> arrivals, const Options& options)
    : what_(what),
      options_(options),
      agenda_(what.steps, std::move(arrivals)),
      session_(options, &timeline_),
      measures_(what, options, &timeline_,
                [this] { return what_.workload->Fragmentation(what_.workload->Free(session_.cache())); }),
      nodes_(*what.workload),
      pods_(
          &timeline_, &session_, &measures_, [this](const std::string& node) { return nodes_.IsLost(node); },
          [this](const LivingPod& gone) { OnGone(gone); }),
      store_(ReleaseOf(options).version),
      registry_(&store_, &timeline_.clock()),
      drains_(&timeline_, &session_, &measures_, this),
      answers_(options, &timeline_, &session_, &measures_, &pods_) {
  kubelets_.start_delay = DurationOf(options.start_delay);
  kubelets_.stop_delay = DurationOf(options.end_delay);
  kubelets_.job_duration = absl::InfiniteDuration();
}

LivingCluster::~LivingCluster() = default;

absl::Status LivingCluster::Start() {
  BERTH_RETURN_IF_ERROR(session_.Start(&answers_, &answers_));
  auto input = LivingInput::Of(*what_.scenario, *what_.steps);
  if (!input.ok()) return input.status();
  input_ = *std::move(input);
  BERTH_RETURN_IF_ERROR(StoreInput());
  const std::string_view annotation = releases::DaemonFormOf(ReleaseOf(options_)).dialect.nomination_annotation;
  watch_ = std::make_unique<StoreWatch>(
      &registry_, &session_, annotation,
      [this](const std::string& uid, const api::PodPtr& now) { pods_.See(uid, now); },
      [this](const std::string& uid, bool succeeded) { pods_.Over(uid, succeeded); },
      [this](const api::NodePtr& before, const api::NodePtr& now) { nodes_.See(before, now); },
      [this] { drains_.BudgetsChanged(); });
  pods_.BeginWith();
  watch_->ShowAll();
  pods_.HaveBegun();
  if (options_.began) options_.began(session_.cache());
  StartControllers();
  answers_.Use(&cluster(), watch_.get(), annotation);
  for (const LivingInput::Workload& w : input_->workloads()) {
    if (w.at == 0) {
      BERTH_RETURN_IF_ERROR(Store(*w.given));
      continue;
    }
    timeline_.After(w.at, [this, given = w.given] { store_error_.Update(Store(*given)); });
  }
  return agenda_.Start();
}

absl::Status LivingCluster::Store(const lab::Given& given) {
  return StoreGiven(given, &registry_);
}

absl::Status LivingCluster::StoreInput() {
  registry_.Seed(SeedOf(options_));
  for (const lab::Given* g : input_->first()) BERTH_RETURN_IF_ERROR(Store(*g));
  registry_.CreateInitialObjects(0);
  jobs_ = std::make_unique<JobWatch>(&store_, &measures_.counts());
  return absl::OkStatus();
}

void LivingCluster::StartControllers() {
  apiserver::SimulationOptions o{.kubelets = true, .controllers = true, .kubelet = kubelets_, .quiet = true};
  o.kubelet.plan = [this](const Value& pod) { return PlanOf(pod); };
  simulation_ = std::make_unique<apiserver::Simulation>(&registry_, &timeline_.clock(), std::move(o));
  for (const std::string& uid : input_->absent_owners()) simulation_->world().PresumeThere(uid);
}

world::living::PodPlan LivingCluster::PlanOf(const Value& pod) {
  // Where a release tries pods before their back-off ends, one may be evicted and placed again for ever, and time would
  // never go on. After a few times it takes a second to end, and then longer, up to about a minute.
  constexpr uint8_t kFew = 8;
  world::living::PodPlan plan = PlanByAnnotations(kubelets_, pod);
  if (plan.runs_for == absl::InfiniteDuration()) plan.runs_for.reset();
  if (const Micros duration = simulate::DurationOf(pod); duration != kNever) plan.runs_for = DurationOf(duration);
  // Containers that are started again whenever they end would keep the simulation from its end.
  const std::string_view policy = world::living::TextAt(pod, {"spec", "restartPolicy"});
  const Value* owner = world::living::ControllerOf(pod);
  const bool of_job = owner != nullptr && owner->Str("kind") == "Job";
  const bool restarts = policy == "Always" || (policy == "OnFailure" && plan.exit_code != 0 && !of_job);
  if (restarts && options_.until == kNever) plan.runs_for.reset();
  const LivingPod* const p = pods_.Find(std::string(world::living::UidOf(pod)));
  if (p != nullptr && p->brief >= kFew) {
    plan.stop_delay = std::max(plan.stop_delay, absl::Seconds(int64_t{1} << (p->brief - kFew)));
  }
  return plan;
}

// ---- time ---------------------------------------------------------------------------------------

void LivingCluster::Settle() {
  do {
    while (simulation_->world().RunDue(1) > 0) watch_->Flush();
    watch_->Flush();
    for (const Name& pod : std::exchange(ended_, {})) {
      cluster().Delete("Pod", pod.ns, pod.name, {.grace_seconds = 0, .uid = pod.uid, .propagation = "Background"});
    }
  } while (watch_->Flush() || !ended_.empty());
}

void LivingCluster::Deliver() {
  timeline_.RunDue();
  agenda_.RunDue(
      timeline_.now(), [this](const Step& step) { Do(step); }, [this](const Arrival& a) { Arrive(a); });
  timeline_.RunSoon();
  Settle();
}

bool LivingCluster::NothingWillHappen() const {
  return agenda_.IsOver() && timeline_.OnlyTries() && session_.HasTriedAll() && drains_.HaveTried() &&
         simulation_->world().IsSettled();
}

Micros LivingCluster::NextTime() const {
  const Micros next = std::min(timeline_.Next(), agenda_.Next());
  const std::optional<absl::Duration> due = simulation_->world().NextDue();
  if (!due || *due >= absl::Microseconds(kNever)) return next;
  return std::min(next, absl::ToInt64Microseconds(absl::Ceil(*due, absl::Microseconds(1))));
}

void LivingCluster::AdvanceTo(Micros next) {
  measures_.HoldUntil(next, pods_.unplaced(), nodes_.Offered());
  timeline_.AdvanceTo(next);
  store_.ForgetHistory();  // which is kept for watches of clients, and there are none
}

void LivingCluster::Run() {
  measures_.counts().cut = RunToTheEnd(options_, this, &session_, &timeline_);
}

absl::StatusOr<Outcome> LivingCluster::Finish() {
  BERTH_RETURN_IF_ERROR(store_error_);
  if (!measures_.counts().cut) BERTH_RETURN_IF_ERROR(agenda_.status());
  pods_.NoteNeverPlaced();
  BERTH_RETURN_IF_ERROR(session_.Finish());
  Outcome& counts = measures_.counts();
  counts.nodes = session_.cache().node_count();
  counts.most_pods = pods_.most();
  return measures_.Finish();
}

// ---- pods ---------------------------------------------------------------------------------------

void LivingCluster::Arrive(const Arrival& a) {
  session_.evictions().Reset();
  // Pods of the input are there before controllers look, and others come after what controllers have made by then.
  if (!a.as_is) Settle();
  bool verbatim = false;
  Value pod = input_->PodOf(a, &verbatim);
  Outcome& counts = measures_.counts();
  const std::string ns(world::NamespaceOf(pod)), wanted(world::NameOf(pod));
  const apiserver::ResourceInfo& pods = registry_.catalog().Core("pods");
  std::string name = wanted;
  for (int64_t i = 2; store_.Get(pods, ns, name) != nullptr; ++i) name = absl::StrCat(wanted, "-", i);
  if (name != wanted) ++counts.renamed;
  Value& meta = pod.Child("metadata");
  meta.SetAll({{"name", name}, {"creationTimestamp", registry_.NowText()}});
  const auto stored = apiserver::LoadObject(std::move(pod), verbatim, &registry_);
  if (!stored.ok() && counts.refused_pods++ == 0) {
    counts.first_refused = absl::StrCat(TimeText(timeline_.now()), ": ", util::Message(stored.status()));
  }
  watch_->Flush();
}

void LivingCluster::OnGone(const LivingPod& gone) {
  const api::Pod& pod = *gone.object;
  if (!pod.node_name.empty()) drains_.OnGone(pod.node_name.string());
  // Controllers count the pods of theirs that have ended. Of others nobody will ask.
  if (!pod.tmpl->controller) ended_.push_back({pod.meta.ns.string(), pod.meta.name, pod.meta.uid});
}

// ---- drains -------------------------------------------------------------------------------------

bool LivingCluster::HasNode(const std::string& name) {
  return store_.Get(registry_.catalog().Core("nodes"), "", name) != nullptr;
}

void LivingCluster::Cordon(const std::string& name, bool cordoned) {
  Value node = *cluster().Get("Node", "", name);
  Value& spec = node.Child("spec");
  if (cordoned) {
    spec.Set("unschedulable", Value::Bool(true));
  } else {
    spec.Erase("unschedulable");
  }
  cluster().Update("Node", std::move(node));
  watch_->Flush();
}

std::vector<std::string> LivingCluster::PodsToLeave(const std::string& node) {
  std::vector<std::string> uids;
  for (const auto& [uid, pod] : simulation_->world().PodsOfNode(node)) {
    const bool stays = pod->controller_kind == "DaemonSet" || pod->controller_kind == "Node";
    if (!stays && !pod->IsFinished()) uids.push_back(uid);
  }
  return uids;
}

Drainable::Eviction LivingCluster::Evict(const std::string& node, const std::string& uid) {
  LivingPod* const p = pods_.Find(uid);
  if (p == nullptr || p->leaving || p->object->node_name.str() != node) return Eviction::kNotNeeded;
  const std::string ns = p->object->meta.ns.string(), name = p->object->meta.name;
  p->is_evicted = true;
  if (options_.budgets) {
    const auto refused = registry_.Evict(ns, name, {});
    if (refused) {
      p->is_evicted = false;
      return Eviction::kRefused;
    }
  } else {
    cluster().Delete("Pod", ns, name, {.grace_seconds = {}, .uid = uid, .propagation = "Background"});
  }
  watch_->Flush();
  return Eviction::kDone;
}

// ---- steps --------------------------------------------------------------------------------------

void LivingCluster::Do(const Step& step) {
  session_.evictions().Reset();
  switch (step.kind) {
    case Step::Kind::kJoin:
      return Join(step);
    case Step::Kind::kScale:
      return Scale(step);
    case Step::Kind::kRestart:
      return Restart(step.workload);
    case Step::Kind::kRoll:
      return drains_.Roll(step.back_after, {step.nodes.rbegin(), step.nodes.rend()});
    default:
      for (const std::string& name : step.nodes) DoTo(step, name);
  }
}

void LivingCluster::DoTo(const Step& step, const std::string& name) {
  const bool fails = step.kind == Step::Kind::kFail, drains = step.kind == Step::Kind::kDrain;
  const char* const event = fails ? "fail" : drains ? "drain" : "leave";
  if (!HasNode(name)) return measures_.NoteIdleStep(event, name, "is not there");
  if (fails) {
    if (nodes_.HasFailed(name)) return measures_.NoteIdleStep(event, name, "has failed already");
    return Fail(name, step.back_after);
  }
  if (drains) {
    if (drains_.IsDraining(name)) return measures_.NoteIdleStep(event, name, "is being drained already");
    return drains_.Start(name, step.back_after);
  }
  Leave(name);
}

void LivingCluster::Join(const Step& step) {
  if (HasNode(step.nodes[0])) return;
  apiserver::LoadObject(input_->NodeOf(step), false, &registry_).IgnoreError();
  watch_->Flush();
}

void LivingCluster::Leave(const std::string& node) {
  cluster().Delete("Node", "", node, {});
  ++failures_[node];
  watch_->Flush();
  drains_.OnLeft(node);
}

void LivingCluster::SetDown(const std::string& node, bool down) {
  Value v = *cluster().Get("Node", "", node);
  v.Child("metadata").Child("annotations").Set(world::living::kDownAnnotation, Value::String(down ? "true" : "false"));
  nodes_.SetFailed(node, down);
  cluster().UpdateStatus("Node", std::move(v));
  watch_->Flush();
}

void LivingCluster::Fail(const std::string& node, Micros back_after) {
  const uint64_t failure = ++failures_[node];
  SetDown(node, true);
  if (back_after == kNever) return;
  timeline_.After(back_after, [this, node, failure] {
    if (failures_[node] == failure) SetDown(node, false);
  });
}

template <typename F>
void LivingCluster::ChangeWorkload(const std::string& workload, F change) {
  const size_t blank = workload.find(' '), slash = workload.find('/');
  const std::string kind = workload.substr(0, blank), ns = workload.substr(blank + 1, slash - blank - 1);
  const world::ValuePtr found = cluster().Get(kind, ns, workload.substr(slash + 1));
  if (found == nullptr) return;
  Value v = *found;
  change(&v);
  cluster().Update(kind, std::move(v));
  watch_->Flush();
}

void LivingCluster::Scale(const Step& step) {
  const bool is_job = absl::StartsWith(step.workload, "Job ");
  ChangeWorkload(step.workload, [&](Value* v) {
    v->Child("spec").Set(is_job ? "parallelism" : "replicas", Value::Int(step.replicas));
  });
}

void LivingCluster::Restart(const std::string& workload) {
  ChangeWorkload(workload, [&](Value* v) {
    v->Child("spec")
        .Child("template")
        .Child("metadata")
        .Child("annotations")
        .Set("kubectl.kubernetes.io/restartedAt", Value::String(registry_.NowText()));
  });
}

absl::Status CheckLivingInput(const lab::Scenario& scenario, const std::vector<Step>& steps, release::Version release) {
  auto input = LivingInput::Of(scenario, steps);
  if (!input.ok()) return input.status();
  const VirtualClock clock;
  apiserver::Store store(release);
  apiserver::Registry registry(&store, &clock);
  for (const lab::Given* g : input->first()) BERTH_RETURN_IF_ERROR(StoreGiven(*g, &registry));
  for (const LivingInput::Workload& w : input->workloads()) BERTH_RETURN_IF_ERROR(StoreGiven(*w.given, &registry));
  return absl::OkStatus();
}

absl::StatusOr<Outcome> SimulateLiving(const Case& what, std::unique_ptr<ArrivalSource> arrivals,
                                       const Options& options) {
  BERTH_REQUIRES(options.controllers);
  LivingCluster cluster(what, std::move(arrivals), options);
  BERTH_RETURN_IF_ERROR(cluster.Start());
  cluster.Run();
  return cluster.Finish();
}

}  // namespace berth::simulate
