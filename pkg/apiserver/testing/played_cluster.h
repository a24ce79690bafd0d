// A cluster for tests that play recorded cases of a real API server and controller manager (release 1.36,
// test/testdata/world): this server's store with the controllers and kubelets of pkg/world/living, a scheduler of a few
// lines, and a clock that is moved by hand. Its four nodes and its kubelets are those of the recordings.
#pragma once
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/quantity.h"
#include "pkg/apiserver/patch.h"
#include "pkg/store/simulation.h"
#include "pkg/util/status.h"
#include "pkg/world/living/fields.h"

namespace berth::apiserver::testing {

using world::living::NumberAt;
using world::living::TextAt;

inline constexpr char kPlayedNamespace[] = "world";
inline constexpr absl::Duration kTick = absl::Milliseconds(50);

inline Value Parse(const std::string& text) {
  auto v = ParseJson(text);
  REQUIRE(v.ok());
  return *std::move(v);
}

// As the kubelets of the recordings: labels say what becomes of a pod.
inline world::living::PodPlan PlanByLabels(const Value& pod) {
  auto seconds = [&](std::string_view label, absl::Duration otherwise) {
    double n = 0;
    const bool given = absl::SimpleAtod(util::ToAbsl(TextAt(pod, {"metadata", "labels", label})), &n);
    return given ? absl::Seconds(n) : otherwise;
  };
  world::living::PodPlan plan;
  plan.start_delay = absl::Milliseconds(250);
  plan.stop_delay = seconds("stay", absl::Milliseconds(250));
  plan.becomes_ready = TextAt(pod, {"metadata", "labels", "unready"}) != "yes";
  const Value* owner = world::living::ControllerOf(pod);
  const bool of_job = owner != nullptr && owner->Str("kind") == "Job";
  if (of_job || TextAt(pod, {"metadata", "labels", "ends"}) == "yes") {
    plan.runs_for = seconds("runs", absl::Milliseconds(1200));
  }
  if (TextAt(pod, {"metadata", "labels", "fail"}) == "yes") plan.exit_code = 1;
  const std::string_view index = world::AnnotationOf(pod, "batch.kubernetes.io/job-completion-index");
  if (!index.empty() && index == TextAt(pod, {"metadata", "labels", "failindex"})) plan.exit_code = 1;
  const std::string_view code = TextAt(pod, {"metadata", "labels", "exit"});
  if (!code.empty()) REQUIRE(absl::SimpleAtoi(util::ToAbsl(code), &plan.exit_code));
  return plan;
}

class PlayedCluster {
 public:
  explicit PlayedCluster(Version release = Version{36}) : store_(release) {
    registry_.CreateInitialObjects(443);
    Create(Parse(
        absl::StrCat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")", kPlayedNamespace, R"("}})")));
    for (int i = 1; i <= 4; ++i) AddNode(absl::StrCat("n", i), true);
    SimulationOptions options{.kubelets = true, .controllers = true, .kubelet = {}};
    options.kubelet.plan = PlanByLabels;
    options.kubelet.lease_period = absl::Seconds(2);
    options.node_grace = absl::Seconds(8);
    options.refuses = [this](std::string_view kind, bool creates) {
      return refuses ? refuses(kind, creates) : std::nullopt;
    };
    simulation_.emplace(&registry_, &clock_, options);
    Run(absl::Seconds(1));
  }

  // Lets the time pass; a scheduler binds to the node with the fewest pods of those that fit.
  void Run(absl::Duration time) {
    for (; time > absl::ZeroDuration(); time -= kTick) {
      Settle();
      if (has_scheduler && HasChanged(&scheduled_at_)) Schedule();
      Settle();
      if (HasChanged(&noted_at_)) Note();
      clock_.Advance(kTick);
    }
  }
  // Lets the controllers do what is due now.
  void Settle() {
    while (simulation_->world().RunDue(between ? 1 : 1000) > 0) {
      if (between) between();
    }
  }

  const ResourceInfo& Of(std::string_view kind) const {
    for (const ResourceInfo& r : store_.catalog().resources()) {
      if (r.kind == kind) return r;
    }
    FAIL("no kind " << kind);
    throw 0;
  }
  // The namespace of objects of the kind.
  static std::string NamespaceFor(const ResourceInfo& r) { return r.namespaced ? kPlayedNamespace : ""; }

  // Returns the message of the refusal, or nothing.
  std::string Create(Value v) {
    const ResourceInfo& r = Of(v.Str("kind"));
    const int version = [&] {
      const std::string_view text = v.Str("apiVersion");
      for (size_t i = 0; i < r.versions.size(); ++i) {
        if (r.versions[i].Text() == text) return static_cast<int>(i);
      }
      return 0;
    }();
    const auto decoded = Decode(v, r.TypeIn(version), r.versions[version].version, ToJson(v));
    REQUIRE(decoded.ok());
    auto made = registry_.Create(r, version, NamespaceFor(r), *decoded);
    auto* error = std::get_if<ApiError>(&made);
    return error == nullptr ? "" : error->message;
  }

  std::string Patch(const Value& p) {
    const ResourceInfo& r = Of(p.Str("kind"));
    const ObjectPtr old = store_.Get(r, NamespaceFor(r), p.Str("name"));
    REQUIRE(old != nullptr);
    auto patched = ApplyPatch(PatchKind::kStrategic, ToValue(r, 0, *old), ToJson(*p.Find("strategicMerge")), *r.type);
    REQUIRE(patched.ok());
    auto decoded = Decode(*patched, *r.type, r.versions[0].version, ToJson(*patched));
    REQUIRE(decoded.ok());
    UpdateRequest how;
    how.patch = true;
    auto done = registry_.Update(r, 0, NamespaceFor(r), p.Str("name"), *decoded, how);
    auto* error = std::get_if<ApiError>(&done);
    return error == nullptr ? "" : error->message;
  }

  void Delete(std::string_view kind, std::string_view name, std::string_view policy) {
    const ResourceInfo& r = Of(kind);
    DeleteRequest how;
    how.propagation = policy;
    registry_.Delete(r, 0, NamespaceFor(r), name, how);
  }

  // Returns all objects of the kind, of another namespace than that of the recordings if one is named.
  std::vector<Value> All(std::string_view kind, std::string_view ns = "") const {
    std::vector<Value> out;
    const ResourceInfo& r = Of(kind);
    store_.Scan(r, ns.empty() ? NamespaceFor(r) : std::string(ns), "", [&](const ObjectPtr& o) {
      out.push_back(ToValue(r, 0, *o));
      return true;
    });
    return out;
  }
  std::optional<Value> Get(std::string_view kind, std::string_view name) const {
    const ResourceInfo& r = Of(kind);
    const ObjectPtr o = store_.Get(r, NamespaceFor(r), name);
    if (o == nullptr) return std::nullopt;
    return ToValue(r, 0, *o);
  }
  // Changes an object as its owner may, status and all.
  template <typename F>
  void Change(std::string_view kind, std::string_view name, F change) {
    std::optional<Value> v = Get(kind, name);
    REQUIRE(v.has_value());
    change(&*v);
    registry_.Replace(Of(kind), *std::move(v));
  }

  void SetCondition(std::string_view kind, std::string_view name, const world::living::Condition& c) {
    Change(kind, name, [&](Value* v) { world::living::SetCondition(c, clock_.Wall(), v); });
  }
  void Annotate(std::string_view kind, std::string_view name, std::string_view annotation, std::string_view value) {
    Change(kind, name,
           [&](Value* v) { v->Child("metadata").Child("annotations").Set(annotation, Value::String(value)); });
  }
  void AddNode(std::string_view name, bool has_kubelet) {
    const int number = name.back() - '0';
    Create(Parse(absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")", util::ToAbsl(name),
                              R"(","labels":{"topology.kubernetes.io/zone":"z)", 2 - number % 2,
                              R"(","kubernetes.io/hostname":")", util::ToAbsl(name), R"("},"annotations":{")",
                              world::living::kDownAnnotation, R"(":")", has_kubelet ? "false" : "true",
                              R"("}},"status":{"capacity":{"cpu":"8","memory":"16Gi","pods":"110"}}})")));
  }

  // Returns the message of the refusal, or nothing.
  std::string Evict(std::string_view pod, bool dry_run = false) {
    DeleteRequest how;
    how.dry_run = dry_run;
    Registry::DryRun dry(&registry_, dry_run);
    auto refused = registry_.Evict(kPlayedNamespace, pod, how);
    return refused ? refused->message : "";
  }
  Registry& registry() { return registry_; }
  const util::Clock& clock() const { return clock_; }
  const world::living::World& world() { return simulation_->world(); }

  // What makes writes of controllers and kubelets fail, and what others do after each piece of their work.
  std::function<world::living::Written(std::string_view kind, bool creates)> refuses;
  std::function<void()> between;
  bool has_scheduler = true;

  // The number of pods by image, readiness and deletion, whenever they changed.
  std::vector<std::map<std::string, int64_t>> seen;

 private:
  // Returns whether anything was written since it was last asked with this version, and notes the present one.
  bool HasChanged(uint64_t* at) const { return std::exchange(*at, store_.rv()) != store_.rv(); }

  void Schedule() {
    std::map<std::string, int> on;
    const std::vector<Value> nodes = All("Node");
    for (const Value& node : nodes) on[std::string(world::NameOf(node))] = 0;
    std::vector<Value> pending;
    for (const Value& pod : All("Pod")) {
      const std::string node(TextAt(pod, {"spec", "nodeName"}));
      if (!node.empty()) {
        ++on[node];
      } else if (pod.At({"spec", "schedulingGates"}) == nullptr) {
        pending.push_back(pod);
      }
    }
    for (const Value& pod : pending) {
      std::string best;
      for (const Value& node : nodes) {
        const std::string name(world::NameOf(node));
        if (Fits(pod, node) && (best.empty() || on[name] < on[best])) best = name;
      }
      if (best.empty() || !HasVolumes(pod, best)) continue;
      ++on[best];
      registry_.Bind(kPlayedNamespace, world::NameOf(pod), best, nullptr);
    }
  }
  static bool Fits(const Value& pod, const Value& node) {
    const std::string pinned = world::living::FactsOf(pod).pinned;
    if (!pinned.empty() && pinned != world::NameOf(node)) return false;
    if (const Value* selector = pod.At({"spec", "nodeSelector"})) {
      for (size_t i = 0; i < selector->keys.size(); ++i) {
        if (TextAt(node, {"metadata", "labels", selector->keys[i]}) != selector->items[i].text()) return false;
      }
    }
    const Value* taints = node.At({"spec", "taints"});
    return taints == nullptr || std::all_of(taints->items.begin(), taints->items.end(), [&](const Value& t) {
             return t.Str("effect") == "PreferNoSchedule" || Tolerates(pod, t);
           });
  }
  static bool Tolerates(const Value& pod, const Value& taint) {
    const Value* all = pod.At({"spec", "tolerations"});
    return all != nullptr && std::any_of(all->items.begin(), all->items.end(), [&](const Value& t) {
             return (t.Str("effect").empty() || t.Str("effect") == taint.Str("effect")) &&
                    (t.Str("key").empty() || t.Str("key") == taint.Str("key")) &&
                    (t.Str("operator") == "Exists" || t.Str("value") == taint.Str("value"));
           });
  }

  // Returns whether all claims of the pod are bound; chooses volumes, or the node for their provisioner, where binding
  // waits for that.
  bool HasVolumes(const Value& pod, const std::string& node) {
    bool all = true;
    for (const std::string& name : world::living::ClaimsUsedBy(pod)) {
      const std::optional<Value> claim = Get("PersistentVolumeClaim", name);
      if (claim && TextAt(*claim, {"status", "phase"}) == "Bound") continue;
      all = false;
      if (!claim) continue;
      const std::optional<Value> storage_class = Get("StorageClass", TextAt(*claim, {"spec", "storageClassName"}));
      if (!storage_class || storage_class->Str("volumeBindingMode") != "WaitForFirstConsumer") continue;
      if (storage_class->Str("provisioner") != "kubernetes.io/no-provisioner") {
        Annotate("PersistentVolumeClaim", name, "volume.kubernetes.io/selected-node", node);
        continue;
      }
      for (const Value& volume : All("PersistentVolume")) {
        const bool free = volume.At({"spec", "claimRef"}) == nullptr &&
                          TextAt(volume, {"spec", "storageClassName"}) == world::NameOf(*storage_class);
        if (!free) continue;
        Choose(*claim, world::NameOf(volume));
        break;
      }
    }
    return all;
  }
  void Choose(const Value& claim, std::string_view volume) {
    Annotate("PersistentVolume", volume, "pv.kubernetes.io/bound-by-controller", "yes");
    Change("PersistentVolume", volume, [&](Value* v) {
      Value& ref = v->Child("spec").Child("claimRef");
      ref.Set("kind", Value::String("PersistentVolumeClaim"));
      ref.Set("apiVersion", Value::String("v1"));
      ref.Set("namespace", Value::String(kPlayedNamespace));
      ref.Set("name", Value::String(world::NameOf(claim)));
      ref.Set("uid", Value::String(world::living::UidOf(claim)));
    });
  }

  void Note() {
    std::map<std::string, int64_t> now;
    for (const Value& pod : All("Pod")) {
      const auto facts = world::living::FactsOf(pod);
      if (facts.IsFinished()) continue;
      now["all"] += !facts.terminating;
      now["ready"] += facts.ready && !facts.terminating;
    }
    if (seen.empty() || seen.back() != now) seen.push_back(now);
  }

  util::ManualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  Store store_;
  uint64_t scheduled_at_ = 0, noted_at_ = 0;  // versions of the store
  Registry registry_{&store_, &clock_, {.taints_new_nodes = true}};
  std::optional<Simulation> simulation_;
};

}  // namespace berth::apiserver::testing
