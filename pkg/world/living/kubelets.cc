#include "pkg/world/living/kubelets.h"

#include <absl/container/node_hash_map.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "pkg/api/decode.h"
#include "pkg/util/status.h"
#include "pkg/world/amounts.h"
#include "pkg/world/daemon_set.h"
#include "pkg/world/living/pod_status.h"

namespace berth::world::living {
namespace {

constexpr absl::Duration kHeartbeat = absl::Minutes(5), kHeartbeatWithoutLeases = absl::Seconds(10);
constexpr absl::Duration kFirstBackOff = absl::Seconds(10), kLongestBackOff = absl::Seconds(300),
                         kBackOffEnds = absl::Minutes(10);
constexpr absl::Duration kResizeAgain = absl::Seconds(5);
constexpr int64_t kKilled = 137;
constexpr std::string_view kAnyIp = "0.0.0.0";

struct Rejection {
  std::string reason, message;
};

class Kubelets final : public Actor {
 public:
  Kubelets(World* world, KubeletOptions options) : world_(world), options_(std::move(options)) {}

  void OnChange(const Change& c) override {
    if (c.kind == "Node") return OnNode(c);
    if (c.kind != "Pod") return;
    if (c.gone) {
      pods_.erase(c.before != nullptr ? c.before->uid : std::string());
      return;
    }
    const PodFacts& p = *c.after;
    // A pod that only changes its readiness or labels has nothing due that it had not before.
    const bool resized = NoteGeneration(*c.object);
    const bool same = !resized && c.before != nullptr && c.before->uid == p.uid && c.before->node == p.node &&
                      c.before->phase == p.phase && c.before->terminating == p.terminating &&
                      c.before->started == p.started && c.before->restarts == p.restarts;
    if (!p.node.empty() && !same && (p.terminating || !p.IsFinished())) world_->Enqueue(this, {"Pod", p.ns, p.name});
  }

  void Sync(const ObjectName& what) override {
    if (what.kind == "Node") return SyncNode(what);
    const ValuePtr found = world_->cluster().Get("Pod", what.ns, what.name);
    if (found == nullptr) return;
    const std::string node(TextAt(*found, {"spec", "nodeName"}));
    auto it = nodes_.find(node);
    if (it == nodes_.end() || it->second.down) return;
    const std::string_view phase = TextAt(*found, {"status", "phase"});
    if (IsTerminating(*found)) return Stop(what, *found);
    if (phase == "Pending" && TextAt(*found, {"status", "startTime"}).empty()) return Admit(*found, it->second);
    if (phase == "Pending") return Start(what, *found);
    if (phase == "Running") return Watch(what, *found);
  }

 private:
  struct Node {
    bool down = false;
    std::string ip;
    Amounts allocatable;
    absl::Duration heartbeat_at;
    bool reported = false;  // its status has been written
  };
  struct HostPort {
    std::string ip, protocol;
    int64_t port = 0;
    bool Clashes(const HostPort& o) const {
      return port == o.port && protocol == o.protocol && (ip == o.ip || ip == kAnyIp || o.ip == kAnyIp);
    }
  };
  struct Pod {
    std::optional<PodPlan> plan;
    Amounts requests, on_node;  // what it needs to be admitted, and what it takes then
    std::vector<HostPort> ports;
    absl::Duration seen_at, running_at, stopping_at = -absl::InfiniteDuration(), restart_at;
    absl::Duration back_off = absl::ZeroDuration();
    bool counted = false;
    bool told = false;  // that its containers have started
    int64_t generation = 0;
  };

  // Returns whether the spec of a pod that is known has changed.
  bool NoteGeneration(const Value& pod) {
    auto it = pods_.find(util::ToAbsl(UidOf(pod)));
    if (it == pods_.end()) return false;
    return std::exchange(it->second.generation, NumberAt(pod, {"metadata", "generation"})) != it->second.generation;
  }

  const PodPlan& PlanOf(const Value& object, Pod* pod) {
    if (!pod->plan) pod->plan = options_.plan ? options_.plan(object) : PlanByAnnotations(options_, object);
    return *pod->plan;
  }
  Pod& StateOf(const Value& object) {
    auto [it, is_new] = pods_.try_emplace(std::string(UidOf(object)));
    if (is_new) it->second.seen_at = it->second.running_at = world_->Steady();
    return it->second;
  }

  // Returns whether `at` has come; otherwise has the pod looked at again then.
  bool IsTime(absl::Duration at, const ObjectName& what) {
    if (at <= world_->Steady()) return true;
    world_->Enqueue(this, what, at - world_->Steady());
    return false;
  }

  void OnNode(const Change& c) {
    const std::string name(NameOf(*c.object));
    if (c.gone) {
      nodes_.erase(name);
      return;
    }
    auto [it, is_new] = nodes_.try_emplace(name);
    Node& node = it->second;
    const bool was_down = node.down;
    node.down = AnnotationOf(*c.object, kDownAnnotation) == "true";
    const Value* allocatable = c.object->At({"status", "allocatable"});
    if (allocatable == nullptr) allocatable = c.object->At({"status", "capacity"});
    node.allocatable = AmountsOf(allocatable);
    if (const Value* addresses = c.object->At({"status", "addresses"})) {
      for (const Value& a : addresses->items) {
        if (a.Str("type") == "InternalIP") node.ip = a.Str("address");
      }
    }
    if (node.ip.empty()) node.ip = NextIp("10.96.", &node_ips_);
    if (node.down || (!is_new && !was_down && IsConditionTrue(*c.object, "Ready"))) return;
    world_->Enqueue(this, {"Node", "", name});
    if (!was_down) return;
    node.heartbeat_at = absl::ZeroDuration();
    for (const auto& [uid, pod] : world_->PodsOfNode(name)) world_->Enqueue(this, {"Pod", pod->ns, pod->name});
  }

  // Posts what a kubelet posts, when it is not there, and renews the lease.
  void SyncNode(const ObjectName& what) {
    auto it = nodes_.find(what.name);
    if (it == nodes_.end() || it->second.down) return;
    Node& node = it->second;
    const ValuePtr found = world_->cluster().Get("Node", "", what.name);
    if (found == nullptr) return;
    const bool is_due = node.heartbeat_at <= world_->Steady() && (options_.reports || !node.reported);
    if (is_due || !IsConditionTrue(*found, "Ready")) {
      Value v = *found;
      WriteNodeStatus(node.ip, options_.version, world_->Now(), &v);
      if (!world_->cluster().UpdateStatus("Node", std::move(v))) {
        node.reported = true;
        node.heartbeat_at = world_->Steady() + (world_->rules().node_leases ? kHeartbeat : kHeartbeatWithoutLeases);
      }
    }
    if (!options_.reports) return;
    world_->cluster().RenewLease(what.name);
    world_->Enqueue(this, what, world_->rules().node_leases ? options_.lease_period : kHeartbeatWithoutLeases);
  }

  static std::string NextIp(std::string_view prefix, uint32_t* counter) {
    const uint32_t n = ++*counter;
    return absl::StrCat(util::ToAbsl(prefix), n >> 8 & 255, ".", n & 255);
  }
  std::string NextPodIp() {
    const uint32_t n = ++pod_ips_;
    return absl::StrCat("10.", 128 + (n >> 16 & 127), ".", n >> 8 & 255, ".", n & 255);
  }

  // Returns the spec with those init containers only that stay (sidecars).
  static Value WithoutInitContainers(const Value& spec) {
    Value out = spec, sidecars = Value::Array();
    for (const Value& c : spec.Find("initContainers")->items) {
      if (c.Str("restartPolicy") == "Always") sidecars.items.push_back(c);
    }
    out.Set("initContainers", std::move(sidecars));
    return out;
  }

  // What the pods of a node take that its kubelet has admitted.
  struct Taken {
    int64_t pods = 0;
    Amounts amounts;
    std::vector<HostPort> ports;
  };
  Taken TakenOn(const std::string& node, const std::string& but_uid) {
    Taken taken;
    for (const auto& [uid, facts] : world_->PodsOfNode(node)) {
      if (uid == but_uid || facts->IsFinished() || !facts->started) continue;
      ++taken.pods;
      Pod& p = pods_[uid];
      if (!p.counted) {
        const ValuePtr object = world_->cluster().Get("Pod", facts->ns, facts->name);
        if (object != nullptr) Count(*object, &p);
      }
      AddAmounts(p.on_node, &taken.amounts);
      taken.ports.insert(taken.ports.end(), p.ports.begin(), p.ports.end());
    }
    return taken;
  }
  void Count(const Value& object, Pod* p) const {
    const Value& spec = validation::OrEmpty(object.Find("spec"));
    p->requests = OfPod(spec, "requests");
    AddAmounts(AmountsOf(spec.Find("overhead")), &p->requests);
    p->on_node = p->requests;
    if (!world_->rules().init_containers_count_on_nodes && spec.Find("initContainers") != nullptr) {
      p->on_node = OfPod(WithoutInitContainers(spec), "requests");
      AddAmounts(AmountsOf(spec.Find("overhead")), &p->on_node);
    }
    p->ports = HostPortsOf(spec);
    p->counted = true;
  }

  // The ports of the node that the pod wants; those of init containers if these stay (sidecars).
  static std::vector<HostPort> HostPortsOf(const Value& spec) {
    std::vector<HostPort> out;
    for (std::string_view list : {"containers", "initContainers"}) {
      const Value* containers = spec.Find(list);
      if (containers == nullptr) continue;
      for (const Value& c : containers->items) {
        const Value* ports = c.Find("ports");
        if (ports == nullptr || (list != "containers" && c.Str("restartPolicy") != "Always")) continue;
        for (const Value& port : ports->items) {
          const Value* number = port.Find("hostPort");
          if (number == nullptr || number->AsInt() == 0) continue;
          const std::string_view ip = port.Str("hostIP"), protocol = port.Str("protocol");
          out.push_back({std::string(ip.empty() ? kAnyIp : ip), std::string(protocol.empty() ? "TCP" : protocol),
                         number->AsInt()});
        }
      }
    }
    return out;
  }

  // Why the kubelet does not take the pod: the first reason in the order in which it looks for them.
  std::optional<Rejection> Reject(const Value& object, const Node& node, Pod* p) {
    const std::string name(TextAt(object, {"spec", "nodeName"}));
    Count(object, p);
    const Taken taken = TakenOn(name, std::string(UidOf(object)));
    if (auto resources = RejectByResources(node, taken, *p)) return resources;
    auto predicate = [](std::string_view rule, std::string_view why) {
      return Rejection{std::string(rule), absl::StrCat("Pod was rejected: Predicate ", util::ToAbsl(rule),
                                                       " failed: ", util::ToAbsl(why))};
    };
    if (!MatchesNode(object, name)) {
      return predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
    }
    const bool clash = std::any_of(p->ports.begin(), p->ports.end(), [&](const HostPort& port) {
      return std::any_of(taken.ports.begin(), taken.ports.end(), [&](const HostPort& o) { return port.Clashes(o); });
    });
    if (clash) return predicate("NodePorts", "node(s) didn't have free ports for the requested pod ports");
    if (world_->rules().kubelets_heed_taints && !ToleratesNode(object, name)) {
      return predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate");
    }
    return std::nullopt;
  }

  static std::optional<Rejection> RejectByResources(const Node& node, const Taken& taken, const Pod& p) {
    auto reject = [](std::string_view resource, int64_t wanted, int64_t used, int64_t all) {
      const absl::string_view r = util::ToAbsl(resource);
      return Rejection{absl::StrCat("OutOf", r),
                       absl::StrCat("Pod was rejected: Node didn't have enough resource: ", r, ", requested: ", wanted,
                                    ", used: ", used, ", capacity: ", all)};
    };
    auto look = [&](const std::string& resource, const api::Quantity& amount) -> std::optional<Rejection> {
      if (amount.Sign() == 0) return std::nullopt;
      auto there = node.allocatable.find(resource);
      const int64_t all = there == node.allocatable.end() ? 0 : UnitsOf(resource, there->second);
      auto found = taken.amounts.find(resource);
      const int64_t used = found == taken.amounts.end() ? 0 : UnitsOf(resource, found->second),
                    more = UnitsOf(resource, amount);
      if (used + more <= all) return std::nullopt;
      return reject(resource, more, used, all);
    };
    auto most_pods = node.allocatable.find("pods");
    if (most_pods != node.allocatable.end() && taken.pods + 1 > UnitsOf("pods", most_pods->second)) {
      return reject("pods", 1, taken.pods, UnitsOf("pods", most_pods->second));
    }
    constexpr std::array<std::string_view, 3> kFirst = {"cpu", "memory", "ephemeral-storage"};
    for (std::string_view resource : kFirst) {
      auto wanted = p.requests.find(resource);
      if (wanted == p.requests.end()) continue;
      if (auto rejected = look(wanted->first, wanted->second)) return rejected;
    }
    for (const auto& [resource, amount] : p.requests) {
      if (std::find(kFirst.begin(), kFirst.end(), resource) != kFirst.end()) continue;
      if (auto rejected = look(resource, amount)) return rejected;
    }
    return std::nullopt;
  }

  static api::PodPtr Decoded(const Value& object) {
    api::Document document;
    if (!document.Parse(validation::ToJson(object)).ok()) return nullptr;
    const auto pod = api::DecodePod(document.root());
    return pod.ok() ? api::PodPtr(*pod) : nullptr;
  }

  // Returns whether the pod tolerates the taints of its node that end pods.
  bool ToleratesNode(const Value& object, const std::string& name) const {
    auto node = world_->nodes().find(name);
    if (node == world_->nodes().end()) return true;
    api::Node ending;
    ending.taints = node->second->taints;
    ending.taints = ending.taints.Without([](const api::Taint& t) { return t.effect.str() != "NoExecute"; });
    if (ending.taints.empty()) return true;
    const api::PodPtr pod = Decoded(object);
    if (pod == nullptr) return true;
    api::PodTemplate plain;
    plain.tolerations = pod->tmpl->tolerations;
    return DaemonRunsOn(plain, "", ending);
  }

  // Returns whether the node selector and the required affinity of the pod match its node.
  bool MatchesNode(const Value& object, const std::string& name) const {
    const Value& spec = validation::OrEmpty(object.Find("spec"));
    if (spec.Find("nodeSelector") == nullptr && spec.At({"affinity", "nodeAffinity"}) == nullptr) return true;
    auto node = world_->nodes().find(name);
    const api::PodPtr pod = node == world_->nodes().end() ? nullptr : Decoded(object);
    if (pod == nullptr) return true;
    api::PodTemplate tolerant = *pod->tmpl;
    api::Toleration all;
    all.op = api::Symbol("Exists");
    tolerant.tolerations = {all};
    return DaemonRunsOn(tolerant, "", *node->second);
  }

  void Admit(const Value& object, const Node& node) {
    Pod& p = StateOf(object);
    p.seen_at = world_->Steady();
    Value v = object;
    if (auto rejection = Reject(object, node, &p)) {
      WriteRejected(rejection->reason, rejection->message, world_->Now(), &v);
      world_->Record(object, "kubelet", TextAt(object, {"spec", "nodeName"}), "Warning", rejection->reason,
                     rejection->message);
    } else {
      WriteCreating(node.ip, world_->Now(), &v);
    }
    world_->cluster().UpdateStatus("Pod", std::move(v));
  }

  void Start(const ObjectName& what, const Value& object) {
    Pod& p = StateOf(object);
    const PodPlan plan = PlanOf(object, &p);
    if (!IsTime(p.seen_at + plan.start_delay, what)) return;
    Value v = object;
    WriteRunning(NextPodIp(), plan.becomes_ready, 0, world_->Now(), &v);
    if (world_->rules().resizes_pods) WriteResources(&v);
    p.running_at = world_->Steady();
    p.restart_at = absl::InfiniteDuration();
    if (!p.told) {
      TellContainers(object, {{"Pulled", "Container image \"$i\" already present on machine"},
                              {"Created", "Created container: $c"},
                              {"Started", "Started container $c"}});
    }
    p.told = true;
    world_->cluster().UpdateStatus("Pod", std::move(v));
  }

  // A pod that runs: ends when its time has come, and starts again as its restartPolicy says.
  void Watch(const ObjectName& what, const Value& object) {
    Pod& p = StateOf(object);
    const PodPlan plan = PlanOf(object, &p);
    if (plan.becomes_ready && !IsWaiting(object) && !IsConditionTrue(object, "Ready")) {
      // Its node was lost, and is back.
      Value v = object;
      SetCondition({"Ready", "True", "", ""}, world_->Now(), &v);
      world_->cluster().UpdateStatus("Pod", std::move(v));
      return world_->Enqueue(this, what);
    }
    if (Resize(what, object, &p) || !plan.runs_for) return;
    const std::string_view policy = TextAt(object, {"spec", "restartPolicy"});
    const bool restarts = policy == "Always" || (policy == "OnFailure" && plan.exit_code != 0);
    Value v = object;
    if (IsWaiting(object)) {
      if (!IsTime(p.restart_at, what)) return;
      WriteRunning(TextAt(object, {"status", "podIP"}), plan.becomes_ready, RestartsOf(object) + 1, world_->Now(), &v);
      if (world_->rules().resizes_pods) WriteResources(&v);
      p.running_at = world_->Steady();
    } else {
      if (!IsTime(p.running_at + *plan.runs_for, what)) return;
      if (restarts) {
        return BackOff(what, object, plan, &p);
      }
      WriteFinished(plan.exit_code, world_->Now(), &v);
    }
    if (!world_->cluster().UpdateStatus("Pod", std::move(v)) && restarts) world_->Enqueue(this, what);
  }

  // The containers have ended, and start again later.
  void BackOff(const ObjectName& what, const Value& object, const PodPlan& plan, Pod* p) {
    absl::Duration wait = world_->Steady() - p->running_at >= kBackOffEnds ? absl::ZeroDuration() : p->back_off;
    wait = wait == absl::ZeroDuration() ? kFirstBackOff : std::min(wait * 2, kLongestBackOff);
    Value v = object;
    WriteWaiting(plan.exit_code, wait, world_->Now(), &v);
    if (world_->cluster().UpdateStatus("Pod", std::move(v))) return;
    p->back_off = wait;
    p->restart_at = world_->Steady() + wait;
    TellContainers(object, {{"BackOff", "Back-off restarting failed container $c"}});
    world_->Enqueue(this, what);
  }

  // Gives a running pod what its spec asks for by now, or says why not. Returns whether it has written.
  bool Resize(const ObjectName& what, const Value& object, Pod* p) {
    if (!world_->rules().resizes_pods || IsWaiting(object) || HasItsResources(object)) return false;
    const std::string node(TextAt(object, {"spec", "nodeName"}));
    Pod wanted;
    Count(object, &wanted);
    const Amounts used = TakenOn(node, std::string(UidOf(object))).amounts;
    const Amounts& allocatable = nodes_[node].allocatable;
    Value v = object;
    for (const auto& [resource, amount] : wanted.requests) {
      const int64_t all = UnitsIn(allocatable, resource), taken = UnitsIn(used, resource),
                    more = UnitsOf(resource, amount);
      if (taken + more <= all) continue;
      const bool never = more > all;
      const std::string about = absl::StrCat(util::ToAbsl(resource), ", requested: ", more);
      SetCondition(
          {"PodResizePending", "True", never ? "Infeasible" : "Deferred",
           never ? absl::StrCat("Node didn't have enough capacity: ", about, ", capacity: ", all)
                 : absl::StrCat("Node didn't have enough resource: ", about, ", used: ", taken, ", capacity: ", all)},
          world_->Now(), &v);
      if (!never) world_->EnqueueTry(this, what, kResizeAgain);
      if (v == object) return false;
      world_->cluster().UpdateStatus("Pod", std::move(v));
      return true;
    }
    RemoveCondition("PodResizePending", &v);
    WriteResources(&v);
    p->requests = wanted.requests;
    world_->cluster().UpdateStatus("Pod", std::move(v));
    world_->Enqueue(this, what);
    return true;
  }
  static int64_t UnitsIn(const Amounts& amounts, std::string_view resource) {
    auto it = amounts.find(std::string(resource));
    return it == amounts.end() ? 0 : UnitsOf(resource, it->second);
  }

  void Stop(const ObjectName& what, const Value& object) {
    Pod& p = StateOf(object);
    const int64_t grace = NumberAt(object, {"metadata", "deletionGracePeriodSeconds"});
    const bool held = grace == 0 && object.At({"metadata", "finalizers"}) != nullptr;
    if (p.stopping_at == -absl::InfiniteDuration()) {
      p.stopping_at = world_->Steady();
      TellContainers(object, {{"Killing", "Stopping container $c"}});
    }
    if (!IsTime(p.stopping_at + std::min(PlanOf(object, &p).stop_delay, absl::Seconds(grace)), what)) return;
    const std::string_view phase = TextAt(object, {"status", "phase"});
    if (held && (phase == "Succeeded" || phase == "Failed")) return;
    if (held) {
      Value v = object;
      WriteFinished(kKilled, world_->Now(), &v);
      world_->cluster().UpdateStatus("Pod", std::move(v));
      return;
    }
    const DeleteHow how{.grace_seconds = 0, .uid = std::string(UidOf(object)), .propagation = ""};
    if (world_->cluster().Delete("Pod", what.ns, what.name, how)) return;
    // Finalizers may keep the object: then it is told that its containers have ended.
    if (const PodFactsPtr left = world_->Pod(what.ns, what.name); left != nullptr && !left->IsFinished()) {
      world_->Enqueue(this, what);
    }
  }

  struct Told {
    std::string_view reason, message;
  };
  // Writes events about each container; $c is its name, $i its image.
  void TellContainers(const Value& object, std::initializer_list<Told> events) {
    const Value* containers = object.At({"spec", "containers"});
    if (containers == nullptr) return;
    for (const Value& c : containers->items) {
      for (const Told& e : events) {
        world_->Record(object, "kubelet", TextAt(object, {"spec", "nodeName"}),
                       e.reason == "BackOff" ? "Warning" : "Normal", e.reason, TextFor(e.message, c));
      }
    }
  }
  static std::string TextFor(std::string_view pattern, const Value& container) {
    std::string out;
    for (size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] == '$' && i + 1 < pattern.size()) {
        absl::StrAppend(&out, util::ToAbsl(container.Str(pattern[++i] == 'c' ? "name" : "image")));
      } else {
        out.push_back(pattern[i]);
      }
    }
    return out;
  }

  World* world_;
  const KubeletOptions options_;
  absl::flat_hash_map<std::string, Node> nodes_;
  absl::node_hash_map<std::string, Pod> pods_;  // by uid; references stay good while others are added
  uint32_t node_ips_ = 0, pod_ips_ = 0;
};

std::optional<absl::Duration> DurationOf(const Value& pod, std::string_view annotation) {
  absl::Duration d;
  if (!absl::ParseDuration(util::ToAbsl(AnnotationOf(pod, annotation)), &d) || d < absl::ZeroDuration()) {
    return std::nullopt;
  }
  return d;
}

}  // namespace

PodPlan PlanByAnnotations(const KubeletOptions& options, const Value& pod) {
  PodPlan plan{.start_delay = options.start_delay, .stop_delay = options.stop_delay};
  const Value* owner = ControllerOf(pod);
  if (owner != nullptr && owner->Str("kind") == "Job") plan.runs_for = options.job_duration;
  if (auto d = DurationOf(pod, "simulate.berth/start-delay")) plan.start_delay = *d;
  if (auto d = DurationOf(pod, "simulate.berth/stop-delay")) plan.stop_delay = *d;
  for (std::string_view name : {"pod-complete.stage.kwok.x-k8s.io/delay", "simulate.berth/runs-for"}) {
    if (auto d = DurationOf(pod, name)) plan.runs_for = *d;
  }
  int64_t code = 0;
  if (absl::SimpleAtoi(util::ToAbsl(AnnotationOf(pod, "simulate.berth/exit-code")), &code)) plan.exit_code = code;
  plan.becomes_ready = AnnotationOf(pod, "simulate.berth/unready") != "true";
  return plan;
}

std::unique_ptr<Actor> NewKubelets(World* world, KubeletOptions options) {
  return std::make_unique<Kubelets>(world, std::move(options));
}

}  // namespace berth::world::living
