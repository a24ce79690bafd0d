#include "test/simulation/living.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "pkg/util/status.h"
#include "pkg/world/living/actors.h"
#include "pkg/world/living/kubelets.h"
#include "test/simulation/world.h"

namespace berth::simulation {
namespace {

using world::Value;
using world::ValuePtr;
using world::living::DeleteHow;
using world::living::NumberAt;
using world::living::Refused;
using world::living::Written;

// The kinds that these actors read and write, and their tables in etcd.
constexpr std::pair<std::string_view, const char*> kTables[] = {
    {"Pod", "pods"}, {"Node", "nodes"}, {"ReplicaSet", "replicasets"}};

const char* TableOf(std::string_view kind) {
  const auto* it = std::find_if(std::begin(kTables), std::end(kTables), [&](const auto& t) { return t.first == kind; });
  return it == std::end(kTables) ? nullptr : it->second;
}
std::string_view KindOf(std::string_view table) {
  const auto* it =
      std::find_if(std::begin(kTables), std::end(kTables), [&](const auto& t) { return t.second == table; });
  return it == std::end(kTables) ? std::string_view() : it->first;
}

std::string KeyOf(std::string_view ns, std::string_view name) {
  return ns.empty() ? std::string(name) : absl::StrCat(util::ToAbsl(ns), "/", util::ToAbsl(name));
}

ValuePtr ValueOf(std::string_view kind, const Object& object) {
  auto v = validation::ParseJson(object.json);
  if (!v.ok()) return nullptr;
  v->Set("kind", Value::String(kind));
  return std::make_shared<const Value>(*std::move(v));
}

}  // namespace

class LivingActors::LoopClock final : public util::Clock {
 public:
  explicit LoopClock(const EventLoop* loop) : loop_(loop) {}
  absl::Duration Steady() const override { return loop_->now(); }
  absl::Time Wall() const override { return absl::FromUnixSeconds(1'500'000'000) + loop_->now(); }

 private:
  const EventLoop* loop_;
};

class LivingActors::Access final : public world::living::Cluster {
 public:
  Access(World* world, const util::Clock* clock)
      : world_(world), clock_(clock), random_(world->options.seed ^ 0x6c697665) {}

  ValuePtr Get(std::string_view kind, std::string_view ns, std::string_view name) const override {
    const char* const table = TableOf(kind);
    const ObjectPtr o = table == nullptr ? nullptr : world_->etcd.Get(table, KeyOf(ns, name));
    return o == nullptr ? nullptr : ValueOf(kind, *o);
  }
  void Each(std::string_view kind, std::string_view ns, const std::function<void(const Value&)>& f) const override {
    EachOf(kind, [&](const Value& v) {
      if (world::NamespaceOf(v) == ns) f(v);
    });
  }
  void EachOf(std::string_view kind, const std::function<void(const Value&)>& f) const override {
    const char* const table = TableOf(kind);
    if (table == nullptr) return;
    const Etcd::Table all = world_->etcd.List(table);  // a copy: `f` may change it
    for (const auto& [key, o] : all) {
      if (const ValuePtr v = ValueOf(kind, *o)) f(*v);
    }
  }
  bool Serves(std::string_view kind) const override { return TableOf(kind) != nullptr; }
  void RenewLease(std::string_view /*node*/) override {}

  Written Create(std::string_view kind, Value object, Value* stored) override {
    if (kind != "Pod") return std::nullopt;  // events are not looked at
    return Do(false, [&]() -> Written {
      Value& meta = object.Child("metadata");
      if (meta.Str("name").empty()) {
        meta.Set("name", Value::String(absl::StrCat(util::ToAbsl(meta.Str("generateName")), random_.Next() >> 40)));
      }
      meta.Set("creationTimestamp", Value::String(world::living::TimeText(clock_->Wall())));
      object.Set("apiVersion", Value::String("v1"));
      object.Set("kind", Value::String("Pod"));
      object.Child("status").Set("phase", Value::String("Pending"));
      const std::string key = KeyOf(world::NamespaceOf(object), world::NameOf(object));
      if (world_->etcd.Get("pods", key) != nullptr) return Refused{409, "already exists"};
      const ObjectPtr made = world_->etcd.Put("pods", key, validation::ToJson(object));
      if (stored != nullptr) *stored = *ValueOf("Pod", *made);
      return std::nullopt;
    });
  }
  Written Update(std::string_view kind, Value object) override { return UpdateStatus(kind, std::move(object)); }
  Written UpdateStatus(std::string_view kind, Value object) override {
    if (kind == "Node") return std::nullopt;
    return Do(true, [&]() -> Written {
      const std::string table = TableOf(kind), key = KeyOf(world::NamespaceOf(object), world::NameOf(object));
      const ObjectPtr now = world_->etcd.Get(table, key);
      if (now == nullptr) return Refused{404, "not found"};
      if (world::living::TextAt(object, {"metadata", "resourceVersion"}) != absl::StrCat(now->version))
        return Changed();
      world_->etcd.Put(table, key, validation::ToJson(object));
      return std::nullopt;
    });
  }
  Written Delete(std::string_view kind, std::string_view ns, std::string_view name, const DeleteHow& how) override {
    return Do(true, [&]() -> Written {
      const std::string table = TableOf(kind), key = KeyOf(ns, name);
      const ObjectPtr now = world_->etcd.Get(table, key);
      if (now == nullptr) return Refused{404, "not found"};
      if (!how.uid.empty() && how.uid != now->uid) return Changed();
      if (kind != "Pod" || how.grace_seconds == 0) {
        world_->etcd.Delete(table, key);
      } else if (!ReadPod(key, *now).deleting) {
        world_->DeletePod(key);
      }
      return std::nullopt;
    });
  }
  Written Bind(std::string_view, std::string_view, std::string_view) override { return Refused{405, "not here"}; }

 private:
  static Refused Changed() { return Refused{409, "the object has been modified"}; }

  // Does what is to be written, unless a fault prevents it; a fault may also hide that it was done.
  template <typename F>
  Written Do(bool may_conflict, F write) {
    const Faults& f = world_->faults;
    const bool conflicts = may_conflict && random_.Chance((f.refuse + f.lose_request + f.error_before) / 2);
    if (conflicts || random_.Chance(f.refuse) || random_.Chance(f.lose_request) || random_.Chance(f.error_before)) {
      return Fault(conflicts ? Changed() : Refused{500, "the request was lost"});
    }
    if (Written refused = write()) return refused;
    if (random_.Chance(f.lose_answer) || random_.Chance(f.error_after)) return Fault({500, "the answer was lost"});
    return std::nullopt;
  }
  Refused Fault(Refused refused) {
    world_->CountFault();
    world_->NoteUnrest();
    return refused;
  }

  World* const world_;
  const util::Clock* const clock_;
  Random random_;  // of names and faults
};

LivingActors::LivingActors(World* world)
    : world_(world),
      clock_(std::make_unique<LoopClock>(&world->loop)),
      access_(std::make_unique<Access>(world, clock_.get())),
      living_(std::make_unique<world::living::World>(access_.get(), clock_.get(),
                                                     world::RulesOf(world->emulated.id.version))),
      plans_(world->options.seed ^ 0x706c616e) {
  living_->Add(world::living::NewReplicaSetController(living_.get(), "ReplicaSet"));
  living_->Add(world::living::NewGarbageCollector(living_.get()));
  world::living::KubeletOptions options;
  options.plan = [this](const Value& pod) {
    world::living::PodPlan plan;
    plan.start_delay = absl::Milliseconds(plans_.Between(300, 3000));
    plan.stop_delay = absl::Milliseconds(plans_.Between(500, 8000));
    int64_t seconds = 0;
    if (absl::SimpleAtoi(util::ToAbsl(world::AnnotationOf(pod, "runs-seconds")), &seconds) && seconds > 0) {
      plan.runs_for = absl::Seconds(seconds);
    }
    return plan;
  };
  living_->Add(world::living::NewKubelets(living_.get(), std::move(options)));
  living_->OnEarlier([this] { Wake(); });
}

LivingActors::~LivingActors() = default;

void LivingActors::Wake() {
  const auto next = living_->NextDue();
  if (!next || *next >= awake_at_) return;
  awake_at_ = *next;
  world_->loop.At(*next, [this, at = *next] {
    if (awake_at_ != at) return;  // something earlier was asked for since, and asks for what follows
    awake_at_ = absl::InfiniteDuration();
    constexpr size_t kAtOnce = 100;
    living_->RunDue(kAtOnce);
    Wake();
  });
}

int64_t LivingActors::ActivePodsOf(const Value& set) const {
  const auto& pods = living_->PodsOfController(world::living::UidOf(set));
  return std::count_if(pods.begin(), pods.end(), [](const auto& p) { return p.second->IsActive(); });
}

void LivingActors::OnCommit(const Commit& c) {
  const std::string_view kind = KindOf(c.resource);
  const ValuePtr object = kind.empty() ? nullptr : ValueOf(kind, c.after == nullptr ? *c.before : *c.after);
  if (object == nullptr) return;
  living_->Changed(kind, object, c.after == nullptr);
  if (kind != "Pod" || c.before != nullptr) return;
  const Value* owner = world::living::ControllerOf(*object);
  const ValuePtr set = owner == nullptr ? nullptr : access_->Get("ReplicaSet", "default", owner->Str("name"));
  if (set == nullptr || world::living::UidOf(*set) != owner->Str("uid")) return;
  const int64_t wanted = NumberAt(*set, {"spec", "replicas"}), active = ActivePodsOf(*set);
  if (active > wanted) {
    world_->Fail(
        absl::StrCat("pod ", c.key, " was made although its ReplicaSet wants ", wanted, " pods and has ", active - 1));
  }
}

void LivingActors::CheckAtRest() {
  access_->EachOf("ReplicaSet", [&](const Value& set) {
    const int64_t wanted = NumberAt(set, {"spec", "replicas"}), active = ActivePodsOf(set);
    if (active == wanted) return;
    world_->Fail(absl::StrCat("ReplicaSet ", util::ToAbsl(world::NameOf(set)), " wants ", wanted, " pods and has ",
                              active, " at rest"));
  });
}

}  // namespace berth::simulation
