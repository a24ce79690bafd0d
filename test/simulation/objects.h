// Pods and nodes of the simulated cluster: what they are made of, and the oracle that says, independently of the
// scheduler's own code, whether one fits on the other.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "test/simulation/etcd.h"
#include "test/simulation/json.h"

namespace berth::simulation {

struct PodSpec {
  std::string name, app, owner;  // owner: a ReplicaSet, or ""
  std::string scheduler = "default-scheduler";
  int64_t milli_cpu = 500, memory_mib = 256;
  int32_t priority = 0;
  std::string zone;          // node selector; "" is any
  bool tolerates = false;    // the taint "dedicated"
  bool alone = false;        // required anti-affinity to its app by host name
  int32_t host_port = 0;     // 0: none
  int64_t runs_seconds = 0;  // 0: until deleted; else it succeeds after that
  std::string claim;         // the name of its claim (storage.h); "" for none
  // Fields that came after release 1.10.
  bool gated = false;           // it has a scheduling gate
  int32_t max_skew = 0;         // how unevenly pods of its app may be spread over the zones; 0: no matter
  bool never_preempts = false;  // preemptionPolicy
};
std::string PodJson(const PodSpec& p);

struct NodeSpec {
  std::string name, zone;
  int64_t milli_cpu = 4000, memory_mib = 8192, pods = 110;
  bool tainted = false;
};
std::string NodeJson(const NodeSpec& n);
std::string ReplicaSetJson(const std::string& name, const PodSpec& spec, int replicas);
std::string BudgetJson(const std::string& name, const std::string& app, int allowed);

// What the oracle and the controllers read of a stored object.
struct PodView {
  std::string key, app, owner, node, scheduler, zone, nominated, phase, condition, claim;
  int64_t milli_cpu = 0, memory_mib = 0;
  int32_t priority = 0, host_port = 0, max_skew = 0;
  bool tolerates = false, alone = false, deleting = false, gated = false, never_preempts = false;
  bool Finished() const { return phase == "Succeeded" || phase == "Failed"; }
};
// The result lives as long as the object. REQUIRES: the object is always read with the same key.
const PodView& ReadPod(const std::string& key, const Object& object);

struct NodeView {
  std::string name, zone;
  int64_t milli_cpu = 0, memory_mib = 0, pods = 0;
  bool ready = true, cordoned = false, tainted = false;
};
const NodeView& ReadNode(const std::string& name, const Object& object);

struct NodeUse {
  int64_t milli_cpu = 0, memory_mib = 0, pods = 0;
  std::set<int32_t> ports;
  std::set<std::string> apps, lonely_apps;  // of all pods; of those that want to be alone
};
// By node. Finished pods use nothing.
std::map<std::string, NodeUse> Use(const std::vector<PodView>& pods);
// Returns why not, or "" when it fits, as far as the node alone can say.
std::string WhyNot(const PodView& p, const NodeView& n, const NodeUse& used);
// Returns whether the pod's max_skew forbids the node, given all nodes and all other pods with their nodes. Pods that
// are being deleted do not count, and of the zones only those with a node that the pod's selector allows.
bool TooUneven(const PodView& p, const NodeView& n, const std::vector<NodeView>& nodes,
               const std::vector<PodView>& others);

// Adds a taint to a node's tree, or removes it.
void SetTaint(Tree* node, const char* key, bool on);
inline constexpr const char* kDedicated = "dedicated";
inline constexpr const char* kNotReady = "node.kubernetes.io/not-ready";

}  // namespace berth::simulation
