#include "pkg/world/living/node_lifecycle.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/zone.h"
#include "pkg/util/status.h"
#include "pkg/world/living/kubelets.h"

namespace berth::world::living {
namespace {

constexpr absl::Duration kMonitorPeriod = absl::Seconds(5), kTaintPeriod = absl::Milliseconds(100),
                         kFirstGrace = absl::Seconds(60), kPodsGoAfter = absl::Minutes(5);
constexpr char kNodeComponent[] = "node-controller", kLeases[] = "kube-node-lease";
constexpr char kNotReadyTaint[] = "node.kubernetes.io/not-ready",
               kUnreachableTaint[] = "node.kubernetes.io/unreachable",
               kUnschedulableTaint[] = "node.kubernetes.io/unschedulable";
// How many nodes of a zone may be not ready before it counts as disturbed, and the share that makes it so.
constexpr size_t kFewNotReady = 2, kSmallZone = 50;
constexpr double kDisturbed = 0.55, kUsualRate = 0.1, kDisturbedRate = 0.01;

// What a condition of a node with a status becomes: a taint with the effect NoSchedule.
struct TaintOfCondition {
  std::string_view type, status, key;
};
constexpr TaintOfCondition kTaintsOfConditions[] = {
    {"Ready", "False", kNotReadyTaint},
    {"Ready", "Unknown", kUnreachableTaint},
    {"MemoryPressure", "True", "node.kubernetes.io/memory-pressure"},
    {"DiskPressure", "True", "node.kubernetes.io/disk-pressure"},
    {"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"},
    {"PIDPressure", "True", "node.kubernetes.io/pid-pressure"},
};

bool IsManagedTaint(std::string_view key) {
  return key == kUnschedulableTaint || std::any_of(std::begin(kTaintsOfConditions), std::end(kTaintsOfConditions),
                                                   [&](const TaintOfCondition& t) { return t.key == key; });
}

Value Taint(std::string_view key, std::string_view effect, absl::Time now) {
  return Value::Object({{"key", key}, {"effect", effect}, {"timeAdded", TimeText(now)}});
}

// Changes the taints of `node` for which `managed` holds to those with `keys`. Returns whether any changed.
template <typename F>
bool SetTaints(std::vector<std::string_view> keys, std::string_view effect, absl::Time now, F managed, Value* node) {
  Value& spec = node->Child("spec");
  Value taints = validation::OrEmpty(spec.Find("taints"));
  if (!taints.IsArray()) taints = Value::Array();
  auto stays = [&](const Value& t) {
    if (t.Str("effect") != effect || !managed(t.Str("key"))) return true;
    auto it = std::find(keys.begin(), keys.end(), t.Str("key"));
    if (it == keys.end()) return false;
    keys.erase(it);
    return true;
  };
  const bool removed = taints.items.EraseIf([&](const Value& t) { return !stays(t); }) > 0;
  if (!removed && keys.empty()) return false;
  for (std::string_view key : keys) taints.Append(Taint(key, effect, now));
  if (taints.items.empty()) {
    spec.Erase("taints");
  } else {
    spec.Set("taints", std::move(taints));
  }
  return true;
}

bool IsReadyTaint(std::string_view key) {
  return key == kNotReadyTaint || key == kUnreachableTaint;
}

class NodeLifecycle final : public Actor {
 public:
  NodeLifecycle(World* world, NodeLifecycleOptions options)
      : world_(world),
        options_(options),
        grace_(options.grace.value_or(absl::Seconds(world->rules().long_node_grace ? 50 : 40))) {}

  void OnChange(const Change& c) override {
    if (c.kind != "Node") return;
    const std::string name(NameOf(*c.object));
    auto [it, is_new] = nodes_.try_emplace(name);
    NodeState& node = it->second;
    const bool was_in_order = IsInOrder(node);
    if (!was_in_order) --out_of_order_;
    if (c.gone) {
      nodes_.erase(it);
      return;
    }
    const Value* ready = ConditionOf(*c.object, "Ready");
    const std::string_view heard = ready == nullptr ? "" : TextAt(*ready, {"lastHeartbeatTime"});
    if (is_new || heard != node.heartbeat) node.heard_at = world_->Steady();
    if (is_new) node.came_at = world_->Steady();
    node.heartbeat = heard;
    const bool was_down = std::exchange(node.down, AnnotationOf(*c.object, kDownAnnotation) == "true");
    if (!options_.kubelets_report && node.down && !was_down) node.heard_at = world_->Steady();
    node.posted = node.posted || !heard.empty();
    const std::string status(ready == nullptr ? "" : ready->Str("status"));
    if (status != node.ready || is_new) node.ready_since = world_->Steady();
    node.ready = status;
    node.zone = ZoneOf(*c.object);
    node.evicts = std::any_of(kReadyTaints.begin(), kReadyTaints.end(),
                              [&](std::string_view key) { return HasTaint(*c.object, key, "NoExecute"); });
    if (world_->rules().node_taints && !HasRightTaints(*c.object)) world_->Enqueue(this, {"Node", "", name});
    if (!IsInOrder(node)) ++out_of_order_;
    if (!options_.kubelets_report && was_in_order && out_of_order_ == 0) return;
    if (std::exchange(monitors_, true)) return;
    world_->Enqueue(this, {kMonitor, "", ""}, kMonitorPeriod);
  }

  void Sync(const ObjectName& what) override {
    if (what.kind == kMonitor) return Monitor();
    if (what.kind == kTaints) return AddEvictingTaints();
    if (nodes_.contains(what.name)) TaintByConditions(what.name);
  }

 private:
  static constexpr char kMonitor[] = "monitor", kTaints[] = "taints";
  static constexpr std::array<std::string_view, 2> kReadyTaints = {kNotReadyTaint, kUnreachableTaint};

  struct NodeState {
    std::string heartbeat, ready, zone, lease;
    bool down = false;       // it has the annotation that says so
    bool posted = false;     // its kubelet has been heard at all
    bool evicts = false;     // it has a taint that evicts because of Ready
    bool pods_told = false;  // its pods have been made not ready
    bool queued = false;     // it waits for such a taint
    absl::Duration came_at, heard_at, ready_since;
  };
  struct Zone {
    std::vector<std::string> queue;  // nodes that wait for a taint that evicts, or for their pods' deletion
    double rate = kUsualRate, left = 1;
    absl::Duration at;
    size_t ready = 0, not_ready = 0;
  };

  static bool HasTaint(const Value& node, std::string_view key, std::string_view effect) {
    const Value* taints = node.At({"spec", "taints"});
    return taints != nullptr && std::any_of(taints->items.begin(), taints->items.end(), [&](const Value& t) {
             return t.Str("key") == key && t.Str("effect") == effect;
           });
  }
  static std::string ZoneOf(const Value& node) {
    const Value* labels = node.At({"metadata", "labels"});
    auto label = [&](util::Symbol key) -> std::optional<std::string_view> {
      const Value* value = labels == nullptr ? nullptr : labels->Find(key.str());
      return value == nullptr ? std::nullopt : std::optional<std::string_view>(value->text());
    };
    return api::ZoneKeyOf(label, api::ZoneLabels::kFormerOrTodays);
  }

  // Returns the keys of the NoSchedule taints that the node should have for its conditions and for being cordoned.
  static std::vector<std::string_view> TaintsFor(const Value& node) {
    std::vector<std::string_view> keys;
    for (const TaintOfCondition& t : kTaintsOfConditions) {
      const Value* condition = ConditionOf(node, t.type);
      if (condition != nullptr && condition->Str("status") == t.status) keys.push_back(t.key);
    }
    if (TrueAt(node, {"spec", "unschedulable"})) keys.push_back(kUnschedulableTaint);
    return keys;
  }
  static bool HasRightTaints(const Value& node) {
    size_t there = 0;
    if (const Value* taints = node.At({"spec", "taints"})) {
      for (const Value& t : taints->items) there += t.Str("effect") == "NoSchedule" && IsManagedTaint(t.Str("key"));
    }
    const std::vector<std::string_view> wanted = TaintsFor(node);
    return there == wanted.size() && std::all_of(wanted.begin(), wanted.end(), [&](std::string_view key) {
             return HasTaint(node, key, "NoSchedule");
           });
  }
  void TaintByConditions(const std::string& name) {
    const ValuePtr found = world_->cluster().Get("Node", "", name);
    if (found == nullptr) return;
    Value v = *found;
    if (SetTaints(TaintsFor(v), "NoSchedule", world_->Now(), IsManagedTaint, &v)) {
      world_->cluster().UpdateStatus("Node", std::move(v));
    }
  }

  // Returns whether there is nothing to be done about the node. It is so of one that is new.
  static bool IsInOrder(const NodeState& n) { return !n.down && !n.evicts && (n.ready.empty() || n.ready == "True"); }

  void Monitor() {
    monitors_ = !nodes_.empty();
    if (!monitors_) return;
    if (options_.kubelets_report) world_->Enqueue(this, {kMonitor, "", ""}, kMonitorPeriod);
    LookAtNodes();
    if (options_.kubelets_report) return;
    monitors_ = HasMoreToDo();
    if (monitors_) world_->Enqueue(this, {kMonitor, "", ""}, kMonitorPeriod);
  }

  void LookAtNodes() {
    std::vector<std::string> names;
    for (const auto& [name, node] : nodes_) names.push_back(name);
    for (const std::string& name : names) {
      auto it = nodes_.find(name);
      if (it != nodes_.end() && IsSilent(name, &it->second)) BecomesUnknown(name);
    }
    CountZones();
    if (all_lost_) return;
    for (const std::string& name : names) {
      auto it = nodes_.find(name);
      if (it != nodes_.end()) FollowReady(name, &it->second);
    }
    AddEvictingTaints();
  }

  // Returns whether anything is to be done about a node although nothing else changes.
  bool HasMoreToDo() {
    return std::any_of(nodes_.begin(), nodes_.end(), [this](const auto& n) {
      const auto& [name, node] = n;
      if (node.down && node.ready != "Unknown") return true;
      if (all_lost_ || node.ready == "True" || node.ready.empty() || node.evicts) return false;
      const Zone& zone = zones_[node.zone];
      const bool waits = std::find(zone.queue.begin(), zone.queue.end(), name) != zone.queue.end();
      return zone.rate > 0 && (waits || !node.queued);
    });
  }

  // Returns whether the grace period is over. Leases are read only when it would be without them.
  bool IsSilent(const std::string& name, NodeState* node) {
    auto is_over = [&] {
      return world_->Steady() - node->heard_at > grace_ &&
             (node->posted || world_->Steady() - node->came_at > std::max(grace_, kFirstGrace));
    };
    if (!options_.kubelets_report) return node->down && world_->Steady() - node->heard_at > grace_;
    if (!is_over()) return false;
    if (const ValuePtr lease = world_->cluster().Get("Lease", kLeases, name)) {
      const std::string renewed(TextAt(*lease, {"spec", "renewTime"}));
      if (!renewed.empty() && renewed != node->lease) {
        node->lease = renewed;
        node->posted = true;
        const absl::Duration age = world_->Now() - TimeAt(*lease, {"spec", "renewTime"});
        // A client whose clock is wrong is still heard of when its lease is read.
        node->heard_at = std::max(node->heard_at, world_->Steady() - std::clamp(age, absl::ZeroDuration(), grace_ * 2));
      }
    }
    return (options_.expects_kubelets || !node->lease.empty()) && is_over();
  }

  void BecomesUnknown(const std::string& name) {
    const ValuePtr found = world_->cluster().Get("Node", "", name);
    if (found == nullptr) return;
    const bool was_ready = IsConditionTrue(*found, "Ready");
    Value v = *found;
    for (std::string_view type : {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"}) {
      const bool posted = ConditionOf(*found, type) != nullptr;
      Value* old = posted ? const_cast<Value*>(ConditionOf(v, type)) : nullptr;
      const Value heartbeat = old == nullptr ? Value() : validation::OrEmpty(old->Find("lastHeartbeatTime"));
      const bool changed =
          SetCondition({type, "Unknown", posted ? "NodeStatusUnknown" : "NodeStatusNeverUpdated",
                        posted ? "Kubelet stopped posting node status." : "Kubelet never posted node status."},
                       world_->Now(), &v);
      if (changed && heartbeat.IsString())
        const_cast<Value*>(ConditionOf(v, type))->Set("lastHeartbeatTime", heartbeat);
    }
    if (v == *found) return;
    world_->cluster().UpdateStatus("Node", std::move(v));
    if (!was_ready) return;
    world_->Record(*found, kNodeComponent, "", "Normal", "NodeNotReady",
                   absl::StrCat("Node ", name, " status is now: NodeNotReady"));
    std::vector<PodFactsPtr> pods;
    for (const auto& [uid, pod] : world_->PodsOfNode(name)) pods.push_back(pod);
    for (const PodFactsPtr& pod : pods) BecomesNotReady(*pod);
  }

  void BecomesNotReady(const PodFacts& facts) {
    const ValuePtr pod = world_->cluster().Get("Pod", facts.ns, facts.name);
    if (pod == nullptr || !IsConditionTrue(*pod, "Ready")) return;
    Value v = *pod;
    SetCondition({"Ready", "False", "", ""}, world_->Now(), &v);
    world_->cluster().UpdateStatus("Pod", std::move(v));
    world_->Record(*pod, kNodeComponent, "", "Warning", "NodeNotReady", "Node is not ready");
  }

  // Sets the rates by how many nodes of each zone are not ready. While none is anywhere, nothing is evicted, and the
  // clocks start anew when one comes back.
  void CountZones() {
    for (auto& [name, zone] : zones_) zone.ready = zone.not_ready = 0;
    for (const auto& [name, node] : nodes_) {
      Zone& zone = zones_[node.zone];
      ++(node.ready == "True" ? zone.ready : zone.not_ready);
    }
    const bool lost = std::all_of(zones_.begin(), zones_.end(), [](const auto& z) { return z.second.ready == 0; });
    for (auto& [name, zone] : zones_) {
      const size_t all = zone.ready + zone.not_ready;
      const bool disturbed = zone.ready > 0 && zone.not_ready > kFewNotReady &&
                             static_cast<double>(zone.not_ready) >= kDisturbed * static_cast<double>(all);
      Refill(&zone);
      zone.rate = !disturbed ? kUsualRate : all > kSmallZone ? kDisturbedRate : 0;
    }
    if (lost == std::exchange(all_lost_, lost)) return;
    for (auto& [name, node] : nodes_) {
      if (!lost) node.heard_at = node.ready_since = world_->Steady();
      node.queued = false;
      if (lost && node.evicts) SetEvictingTaints(name, {});
    }
    for (auto& [name, zone] : zones_) zone.queue.clear();
  }

  // Queues a node that is not ready, or takes back what was done to it.
  void FollowReady(const std::string& name, NodeState* node) {
    if (node->ready == "True" || node->ready.empty()) {
      if (node->queued) std::erase(zones_[node->zone].queue, name);
      node->queued = false;
      if (node->evicts) SetEvictingTaints(name, {});
      return;
    }
    if (node->evicts) {
      SetEvictingTaints(name, {TaintFor(*node)});
    } else if (!node->queued) {
      if (!world_->rules().node_taints && world_->Steady() - node->ready_since < kPodsGoAfter) return;
      node->queued = true;
      zones_[node->zone].queue.push_back(name);
    }
  }
  static std::string_view TaintFor(const NodeState& node) {
    return node.ready == "Unknown" ? kUnreachableTaint : kNotReadyTaint;
  }

  void SetEvictingTaints(const std::string& name, const std::vector<std::string_view>& keys) {
    const ValuePtr found = world_->cluster().Get("Node", "", name);
    if (found == nullptr) return;
    Value v = *found;
    if (SetTaints(keys, "NoExecute", world_->Now(), IsReadyTaint, &v)) {
      world_->cluster().UpdateStatus("Node", std::move(v));
    }
  }

  void Refill(Zone* zone) const {
    zone->left = std::min(1.0, zone->left + zone->rate * absl::ToDoubleSeconds(world_->Steady() - zone->at));
    zone->at = world_->Steady();
  }

  // Does as much of the queues as the rates allow, and comes back while they are not empty.
  void AddEvictingTaints() {
    bool waits = false;
    for (auto& [zone_name, zone] : zones_) {
      Refill(&zone);
      while (!zone.queue.empty() && zone.left >= 1) {
        const std::string name = zone.queue.front();
        zone.queue.erase(zone.queue.begin());
        auto it = nodes_.find(name);
        if (it == nodes_.end()) continue;
        zone.left -= 1;
        if (world_->rules().node_taints) {
          it->second.queued = false;
          SetEvictingTaints(name, {TaintFor(it->second)});
        } else {
          DeletePodsOf(name);
        }
      }
      waits = waits || (!zone.queue.empty() && zone.rate > 0);
    }
    if (waits) world_->Enqueue(this, {kTaints, "", ""}, kTaintPeriod);
  }

  // Without taints: all pods but those of DaemonSets.
  void DeletePodsOf(const std::string& node) {
    std::vector<PodFactsPtr> pods;
    for (const auto& [uid, pod] : world_->PodsOfNode(node)) {
      if (!pod->terminating && pod->controller_kind != "DaemonSet") pods.push_back(pod);
    }
    for (const PodFactsPtr& pod : pods) {
      if (const ValuePtr object = world_->cluster().Get("Pod", pod->ns, pod->name)) {
        world_->Record(*object, kNodeComponent, "", "Normal", "NodeControllerEviction",
                       absl::StrCat("Marking for deletion Pod ", pod->name, " from Node ", node));
      }
      Disrupt(world_, *pod, "", "", std::nullopt);
    }
  }

  World* world_;
  const NodeLifecycleOptions options_;
  const absl::Duration grace_;
  std::map<std::string, NodeState> nodes_;
  std::map<std::string, Zone> zones_;
  size_t out_of_order_ = 0;  // how many nodes are not in order
  bool monitors_ = false, all_lost_ = false;
};

}  // namespace

void Disrupt(World* world, const PodFacts& pod, std::string_view reason, std::string_view message,
             std::optional<int64_t> grace_seconds) {
  if (world->rules().disruption_targets && !reason.empty()) {
    const ValuePtr found = world->cluster().Get("Pod", pod.ns, pod.name);
    if (found == nullptr || UidOf(*found) != pod.uid) return;
    Value v = *found;
    if (SetCondition({"DisruptionTarget", "True", reason, message}, world->Now(), &v)) {
      world->cluster().UpdateStatus("Pod", std::move(v));
    }
  }
  world->cluster().Delete("Pod", pod.ns, pod.name, {.grace_seconds = grace_seconds, .uid = pod.uid, .propagation = ""});
}

void TaintNewNode(const Rules& rules, Value* node) {
  if (!rules.node_taints) return;
  Value& spec = node->Child("spec");
  Value* taints = spec.Find("taints");
  if (taints == nullptr || !taints->IsArray()) taints = &spec.Set("taints", Value::Array());
  const bool there = std::any_of(taints->items.begin(), taints->items.end(), [](const Value& t) {
    return t.Str("key") == kNotReadyTaint && t.Str("effect") == "NoSchedule";
  });
  if (there) return;
  Value t = Value::Object({{"key", kNotReadyTaint}, {"effect", "NoSchedule"}});
  taints->Append(std::move(t));
}

std::unique_ptr<Actor> NewNodeLifecycle(World* world, NodeLifecycleOptions options) {
  return std::make_unique<NodeLifecycle>(world, options);
}

}  // namespace berth::world::living
