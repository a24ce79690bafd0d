#include "pkg/store/simulation.h"

#include <absl/strings/str_cat.h>
#include <absl/time/time.h>

#include <string>
#include <utility>

#include "pkg/store/git_version.h"
#include "pkg/util/status.h"
#include "pkg/world/living/actors.h"

namespace berth::apiserver {
namespace {

using world::living::DeleteHow;
using Failed = world::living::Refused;
using world::living::Written;

Written ErrorOf(const ApiError& e) {
  return Failed{e.code, e.message};
}

// Actors mostly read what somebody has just written.
constexpr size_t kHeldValues = 256;

std::string MicroTimeText(absl::Time t) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", t, absl::UTCTimeZone());
}

}  // namespace

// The objects of the store as controllers see and write them.
class Simulation::Access final : public world::living::Cluster {
 public:
  Access(Registry* registry, const util::Clock* clock, decltype(SimulationOptions::refuses) refuses)
      : registry_(registry), clock_(clock), refuses_(std::move(refuses)) {
    for (const ResourceInfo& r : registry->catalog().resources()) {
      // The first resource of a kind is the one of the group that everybody means.
      kinds_.try_emplace(r.kind, &r);
    }
  }
  const ResourceInfo* Of(std::string_view kind) const {
    auto it = kinds_.find(util::ToAbsl(kind));
    return it == kinds_.end() ? nullptr : it->second;
  }
  world::ValuePtr Read(const ResourceInfo& r, const Object& o) const { return Store().Read(r, StableVersionOf(r), o); }

  world::ValuePtr Get(std::string_view kind, std::string_view ns, std::string_view name) const override {
    const ResourceInfo* r = Of(kind);
    const ObjectPtr o = r == nullptr ? nullptr : Store().Get(*r, ns, name);
    return o == nullptr ? nullptr : Read(*r, *o);
  }
  void Each(std::string_view kind, std::string_view ns, const std::function<void(const Value&)>& f) const override {
    const ResourceInfo* r = Of(kind);
    if (r == nullptr || Store().size(*r) == 0) return;
    Store().Scan(*r, ns, "", [&](const ObjectPtr& o) {
      f(*Read(*r, *o));
      return true;
    });
  }
  void EachOf(std::string_view kind, const std::function<void(const Value&)>& f) const override { Each(kind, "", f); }
  bool Serves(std::string_view kind) const override { return Of(kind) != nullptr; }

  Written Create(std::string_view kind, Value object, Value* stored) override {
    const ResourceInfo* r = Of(kind);
    if (r == nullptr) return Failed{404, absl::StrCat("the server does not serve ", util::ToAbsl(kind))};
    if (auto refused = Refused(kind, true)) return refused;
    const std::string ns(world::NamespaceOf(object));
    auto made = registry_->Create(*r, StableVersionOf(*r), ns, std::move(object));
    if (auto* error = std::get_if<ApiError>(&made)) return ErrorOf(*error);
    if (stored != nullptr) *stored = *Read(*r, *std::get<ObjectPtr>(made));
    return std::nullopt;
  }
  Written Update(std::string_view kind, Value object) override {
    if (auto refused = Refused(kind)) return refused;
    const ResourceInfo& r = *Of(kind);
    const std::string ns(world::NamespaceOf(object)), name(world::NameOf(object));
    auto changed = registry_->Update(r, StableVersionOf(r), ns, name, std::move(object), {});
    if (auto* error = std::get_if<ApiError>(&changed)) return ErrorOf(*error);
    return std::nullopt;
  }
  Written UpdateStatus(std::string_view kind, Value object) override {
    if (auto refused = Refused(kind)) return refused;
    if (auto refused = registry_->Replace(*Of(kind), std::move(object))) return ErrorOf(*refused);
    return std::nullopt;
  }
  Written Delete(std::string_view kind, std::string_view ns, std::string_view name, const DeleteHow& how) override {
    if (auto refused = Refused(kind)) return refused;
    const ResourceInfo& r = *Of(kind);
    DeleteRequest request;
    request.grace_seconds = how.grace_seconds;
    if (!how.uid.empty()) request.uid = how.uid;
    request.propagation = how.propagation;
    auto gone = registry_->Delete(r, StableVersionOf(r), ns, name, request);
    if (auto* error = std::get_if<ApiError>(&gone)) return ErrorOf(*error);
    return std::nullopt;
  }
  Written Bind(std::string_view ns, std::string_view pod, std::string_view node) override {
    if (auto refused = Refused("Pod")) return refused;
    if (auto refused = registry_->Bind(ns, pod, node, nullptr)) return ErrorOf(*refused);
    return std::nullopt;
  }

  void RenewLease(std::string_view node) override {
    constexpr int64_t kSeconds = 40;
    constexpr char kNamespace[] = "kube-node-lease";
    const ResourceInfo* r = Of("Lease");
    if (r == nullptr || !validation::kNodeLeases.Has(registry_->catalog().release())) return;
    Value renewed = Value::Object();
    const ObjectPtr old = Store().Get(*r, kNamespace, node);
    if (old != nullptr) {
      renewed = ToValue(*r, 0, *old);
      renewed.Child("spec").Set("renewTime", Value::String(MicroTimeText(clock_->Wall())));
      registry_->store().Refresh(*r, MakeObject(*r, renewed, old->rv));
      return;
    }
    renewed.Child("metadata").Set("name", Value::String(node));
    // It goes with its node.
    if (const auto owner = Get("Node", "", node); owner != nullptr) {
      Value reference = Value::Object(
          {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}, {"uid", world::living::UidOf(*owner)}});
      renewed.Child("metadata").Set("ownerReferences", Value::Array()).Append(std::move(reference));
    }
    Value& spec = renewed.Child("spec");
    spec.SetAll(
        {{"holderIdentity", node}, {"leaseDurationSeconds", kSeconds}, {"renewTime", MicroTimeText(clock_->Wall())}});
    registry_->Create(*r, 0, kNamespace, std::move(renewed));
  }

 private:
  const apiserver::Store& Store() const { return registry_->store(); }
  Written Refused(std::string_view kind, bool creates = false) const {
    return refuses_ ? refuses_(kind, creates) : std::nullopt;
  }
  Registry* registry_;
  const util::Clock* clock_;
  const decltype(SimulationOptions::refuses) refuses_;
  absl::flat_hash_map<std::string, const ResourceInfo*> kinds_;
};

// Tells the world of the changes of one resource.
class Simulation::Follower final : public EventListener {
 public:
  Follower(Registry* registry, const ResourceInfo& r, const Access* access, world::living::World* world)
      : store_(&registry->store()), r_(r), access_(access), world_(world) {
    store_->AddListener(r_, this);
  }
  ~Follower() override { store_->RemoveListener(r_, this); }
  void OnEvent(const EventPtr& e) override { Tell(*e->object, e->type == EventType::kDeleted); }
  void Tell(const Object& o, bool gone) { world_->Changed(r_.kind, access_->Read(r_, o), gone); }

 private:
  Store* store_;
  const ResourceInfo& r_;
  const Access* access_;
  world::living::World* world_;
};

Simulation::Simulation(Registry* registry, const util::Clock* clock, SimulationOptions options)
    : access_(std::make_unique<Access>(registry, clock, std::move(options.refuses))),
      world_(
          std::make_unique<world::living::World>(access_.get(), clock, world::RulesOf(registry->catalog().release()))) {
  if (options.quiet) {
    registry->store().HoldAllValues();
  } else {
    registry->store().HoldValues(kHeldValues);
  }
  if (options.controllers) {
    AddControllers(
        world_.get(),
        {.grace = options.node_grace, .expects_kubelets = options.kubelets, .kubelets_report = !options.quiet},
        !options.quiet);
  }
  if (options.quiet) world_->WriteNoEvents();
  if (options.quiet) options.kubelet.reports = false;
  options.kubelet.version = GitVersion(registry->catalog().release());
  if (options.kubelets) world_->Add(NewKubelets(world_.get(), std::move(options.kubelet)));
  for (std::string_view kind : world::living::kFollowedKinds) {
    const ResourceInfo* r = access_->Of(kind);
    if (r == nullptr) continue;
    followers_.push_back(std::make_unique<Follower>(registry, *r, access_.get(), world_.get()));
    std::vector<ObjectPtr> there;
    registry->store().Scan(*r, "", "", [&](const ObjectPtr& o) {
      there.push_back(o);
      return true;
    });
    for (const ObjectPtr& o : there) followers_.back()->Tell(*o, false);
  }
}

Simulation::~Simulation() = default;

world::living::World& Simulation::world() {
  return *world_;
}

world::living::Cluster& Simulation::cluster() {
  return *access_;
}

}  // namespace berth::apiserver
