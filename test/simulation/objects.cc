#include "test/simulation/objects.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

namespace berth::simulation {
namespace {

// "500m" in thousandths, "256Mi" in MiB, "110" as it is: the only forms that the simulation writes.
int64_t Number(const std::string& text) {
  int64_t v = 0;
  (void)absl::SimpleAtoi(text.substr(0, text.find_first_not_of("0123456789-")), &v);
  return v;
}

std::string Spec(const PodSpec& p) {
  std::string s =
      absl::StrCat("{\"schedulerName\":\"", p.scheduler, "\",\"priority\":", p.priority,
                   ",\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"",
                   p.milli_cpu, "m\",\"memory\":\"", p.memory_mib, "Mi\"}}");
  if (p.host_port != 0) {
    absl::StrAppend(&s, ",\"ports\":[{\"containerPort\":80,\"hostPort\":", p.host_port, ",\"protocol\":\"TCP\"}]");
  }
  s += "}]";
  if (!p.zone.empty()) absl::StrAppend(&s, ",\"nodeSelector\":{\"zone\":\"", p.zone, "\"}");
  if (p.tolerates) s += ",\"tolerations\":[{\"key\":\"dedicated\",\"operator\":\"Exists\"}]";
  if (p.alone) {
    absl::StrAppend(&s,
                    ",\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"
                    "\"topologyKey\":\"kubernetes.io/hostname\",\"labelSelector\":{\"matchLabels\":{\"app\":\"",
                    p.app, "\"}}}]}}");
  }
  if (!p.claim.empty()) {
    absl::StrAppend(&s, ",\"volumes\":[{\"name\":\"data\",\"persistentVolumeClaim\":{\"claimName\":\"", p.claim,
                    "\"}}]");
  }
  if (p.gated) s += ",\"schedulingGates\":[{\"name\":\"example.com/quota\"}]";
  if (p.never_preempts) s += ",\"preemptionPolicy\":\"Never\"";
  if (p.max_skew > 0) {
    absl::StrAppend(&s, ",\"topologySpreadConstraints\":[{\"maxSkew\":", p.max_skew,
                    ",\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{"
                    "\"matchLabels\":{\"app\":\"",
                    p.app, "\"}}}]");
  }
  return s + "}";
}

}  // namespace

std::string PodJson(const PodSpec& p) {
  std::string s = absl::StrCat(
      "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"", p.name,
      "\",\"namespace\":\"default\",\"creationTimestamp\":\"2017-07-14T02:40:00Z\",\"labels\":{\"app\":\"", p.app,
      "\"},\"annotations\":{\"runs-seconds\":\"", p.runs_seconds, "\",\"unknown\":{\"kept\":\"as it is\"}}");
  if (!p.owner.empty()) {
    absl::StrAppend(&s, ",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"",
                    p.owner, "\",\"uid\":\"rs-", p.owner, "\",\"controller\":true}]");
  }
  // The API server writes the condition of a pod that is created with gates.
  const char* const conditions =
      p.gated ? ",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"SchedulingGated\"}]"
              : "";
  return absl::StrCat(s, "},\"spec\":", Spec(p), ",\"status\":{\"phase\":\"Pending\"", conditions, "}}");
}

std::string NodeJson(const NodeSpec& n) {
  const std::string resources =
      absl::StrCat("{\"cpu\":\"", n.milli_cpu, "m\",\"memory\":\"", n.memory_mib, "Mi\",\"pods\":\"", n.pods, "\"}");
  return absl::StrCat("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"", n.name,
                      "\",\"labels\":{\"kubernetes.io/hostname\":\"", n.name, "\",\"zone\":\"", n.zone,
                      "\"}},\"spec\":{",
                      n.tainted ? "\"taints\":[{\"key\":\"dedicated\",\"value\":\"x\",\"effect\":\"NoSchedule\"}]" : "",
                      "},\"status\":{\"capacity\":", resources, ",\"allocatable\":", resources,
                      ",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}");
}

std::string ReplicaSetJson(const std::string& name, const PodSpec& spec, int replicas) {
  return absl::StrCat("{\"apiVersion\":\"extensions/v1beta1\",\"kind\":\"ReplicaSet\",\"metadata\":{\"name\":\"", name,
                      "\",\"namespace\":\"default\"},\"spec\":{\"replicas\":", replicas,
                      ",\"selector\":{\"matchLabels\":{\"app\":\"", spec.app,
                      "\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"", spec.app,
                      "\"},\"annotations\":{\"runs-seconds\":\"", spec.runs_seconds, "\"}},\"spec\":", Spec(spec),
                      "}},\"status\":{\"replicas\":0}}");
}

std::string BudgetJson(const std::string& name, const std::string& app, int allowed) {
  return absl::StrCat("{\"apiVersion\":\"policy/v1beta1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{\"name\":\"",
                      name, "\",\"namespace\":\"default\"},\"spec\":{\"selector\":{\"matchLabels\":{\"app\":\"", app,
                      "\"}}},\"status\":{\"disruptionsAllowed\":", allowed, "}}");
}

const PodView& ReadPod(const std::string& key, const Object& object) {
  if (object.pod != nullptr) return *object.pod;
  const Tree t = ParseJson(object.json);
  PodView p;
  p.key = key;
  p.app = TextAt(t, {"metadata", "labels", "app"});
  if (const Node* owners = At(t, {"metadata", "ownerReferences"}); owners != nullptr)
    p.owner = TextAt((*owners)[0], {"name"});
  p.deleting = At(t, {"metadata", "deletionTimestamp"}) != nullptr;
  p.node = TextAt(t, {"spec", "nodeName"});
  p.scheduler = TextAt(t, {"spec", "schedulerName"});
  p.zone = TextAt(t, {"spec", "nodeSelector", "zone"});
  p.tolerates = At(t, {"spec", "tolerations"}) != nullptr;
  p.alone = At(t, {"spec", "affinity"}) != nullptr;
  const Node* gates = At(t, {"spec", "schedulingGates"});
  p.gated = gates != nullptr && gates->Size() > 0;
  p.never_preempts = TextAt(t, {"spec", "preemptionPolicy"}) == "Never";
  if (const Node* c = At(t, {"spec", "topologySpreadConstraints"}); c != nullptr)
    p.max_skew = (*c)[0]["maxSkew"].GetInt();
  if (const Node* v = At(t, {"spec", "volumes"}); v != nullptr)
    p.claim = TextAt((*v)[0], {"persistentVolumeClaim", "claimName"});
  p.phase = TextAt(t, {"status", "phase"});
  p.nominated = TextAt(t, {"status", "nominatedNodeName"});
  if (p.nominated.empty()) p.nominated = TextAt(t, {"metadata", "annotations", "NominatedNodeName"});
  if (const Node* n = At(t, {"spec", "priority"}); n != nullptr) p.priority = n->GetInt();
  const Node& c = (*At(t, {"spec", "containers"}))[0];
  p.milli_cpu = Number(TextAt(c, {"resources", "requests", "cpu"}));
  p.memory_mib = Number(TextAt(c, {"resources", "requests", "memory"}));
  if (const Node* ports = At(c, {"ports"}); ports != nullptr) p.host_port = (*ports)[0]["hostPort"].GetInt();
  if (const Node* conditions = At(t, {"status", "conditions"}); conditions != nullptr) {
    for (const Node& x : conditions->GetArray()) {
      if (TextAt(x, {"type"}) == "PodScheduled") p.condition = TextAt(x, {"status"});
    }
  }
  object.pod = std::make_shared<const PodView>(std::move(p));
  return *object.pod;
}

const NodeView& ReadNode(const std::string& name, const Object& object) {
  if (object.node != nullptr) return *object.node;
  const Tree t = ParseJson(object.json);
  NodeView n;
  n.name = name;
  n.zone = TextAt(t, {"metadata", "labels", "zone"});
  n.milli_cpu = Number(TextAt(t, {"status", "allocatable", "cpu"}));
  n.memory_mib = Number(TextAt(t, {"status", "allocatable", "memory"}));
  n.pods = Number(TextAt(t, {"status", "allocatable", "pods"}));
  n.ready = TextAt((*At(t, {"status", "conditions"}))[0], {"status"}) == "True";
  const Node* cordoned = At(t, {"spec", "unschedulable"});
  n.cordoned = cordoned != nullptr && cordoned->IsTrue();
  if (const Node* taints = At(t, {"spec", "taints"}); taints != nullptr) {
    for (const Node& taint : taints->GetArray()) n.tainted |= TextAt(taint, {"key"}) == kDedicated;
  }
  object.node = std::make_shared<const NodeView>(std::move(n));
  return *object.node;
}

std::map<std::string, NodeUse> Use(const std::vector<PodView>& pods) {
  std::map<std::string, NodeUse> out;
  for (const PodView& p : pods) {
    if (p.node.empty() || p.Finished()) continue;
    NodeUse& u = out[p.node];
    u.milli_cpu += p.milli_cpu;
    u.memory_mib += p.memory_mib;
    ++u.pods;
    if (p.host_port != 0) u.ports.insert(p.host_port);
    u.apps.insert(p.app);
    if (p.alone) u.lonely_apps.insert(p.app);
  }
  return out;
}

std::string WhyNot(const PodView& p, const NodeView& n, const NodeUse& used) {
  if (p.gated) return "gated";
  if (!n.ready) return "not ready";
  if (n.cordoned) return "cordoned";
  if (n.tainted && !p.tolerates) return "tainted";
  if (!p.zone.empty() && p.zone != n.zone) return "another zone";
  if (used.pods + 1 > n.pods) return "too many pods";
  if (used.milli_cpu + p.milli_cpu > n.milli_cpu) return "not enough cpu";
  if (used.memory_mib + p.memory_mib > n.memory_mib) return "not enough memory";
  if (p.host_port != 0 && used.ports.contains(p.host_port)) return "port in use";
  if (p.alone && used.apps.contains(p.app)) return "not alone";
  if (used.lonely_apps.contains(p.app)) return "another wants to be alone";
  return "";
}

bool TooUneven(const PodView& p, const NodeView& n, const std::vector<NodeView>& nodes,
               const std::vector<PodView>& others) {
  if (p.max_skew == 0) return false;
  std::map<std::string, std::string> zones;  // by node
  std::map<std::string, int> counts;         // by zone
  for (const NodeView& x : nodes) {
    if (!p.zone.empty() && x.zone != p.zone) continue;
    zones[x.name] = x.zone;
    counts[x.zone] = 0;
  }
  for (const PodView& o : others) {
    const auto zone = zones.find(o.node);
    if (zone != zones.end() && o.app == p.app && !o.deleting && !o.Finished()) ++counts[zone->second];
  }
  int least = INT32_MAX;
  for (const auto& [zone, count] : counts) least = std::min(least, count);
  return counts[n.zone] + 1 - least > p.max_skew;
}

void SetTaint(Tree* node, const char* key, bool on) {
  Tree taints;
  taints.SetArray();
  if (const Node* now = At(*node, {"spec", "taints"}); now != nullptr) {
    for (const Node& t : now->GetArray()) {
      if (TextAt(t, {"key"}) != key) taints.PushBack(Node(t, taints.GetAllocator()), taints.GetAllocator());
    }
  }
  if (on) {
    const Tree taint = ParseJson(absl::StrCat("{\"key\":\"", key, "\",\"value\":\"x\",\"effect\":\"NoSchedule\"}"));
    taints.PushBack(Node(taint, taints.GetAllocator()), taints.GetAllocator());
  }
  Set(node, {"spec", "taints"}, Node(taints, node->GetAllocator()));
}

}  // namespace berth::simulation
