// The predicates of the independent reference of 1.10.
#include <algorithm>
#include <limits>

#include "pkg/api/labels.h"
#include "pkg/scheduler/reference/reference.h"

namespace berth::scheduler::reference {
namespace {

using util::Symbol;

constexpr char kZoneLabel[] = "failure-domain.beta.kubernetes.io/zone";
constexpr char kRegionLabel[] = "failure-domain.beta.kubernetes.io/region";

Answer Fit() {
  return {};
}
Answer Fail(std::vector<std::string> reasons) {
  return {false, std::move(reasons), {}};
}
Answer Error(std::string text) {
  return {false, {}, std::move(text)};
}

bool IsExtended(const std::string& name) {
  return name.find('/') != std::string::npos && name.find("kubernetes.io/") == std::string::npos &&
         name.rfind("requests.", 0) != 0 && api::QualifiedNameProblems("requests." + name).empty();
}
bool IsScalar(const std::string& name) {
  return name.rfind("hugepages-", 0) == 0 || IsExtended(name);
}
bool IsNative(const std::string& name) {
  return name == "cpu" || name == "memory" || name == "alpha.kubernetes.io/nvidia-gpu" || name == "ephemeral-storage";
}

int64_t AmountOf(const std::string& name, const api::Quantity& q) {
  return name == "cpu" ? q.MilliValue() : q.Value();
}

std::vector<const api::ResourceList*> ListsOf(const std::vector<api::Container>& containers, bool limits) {
  std::vector<const api::ResourceList*> lists;
  for (const api::Container& c : containers) lists.push_back(limits ? &c.limits : &c.requests);
  return lists;
}

Amounts RaisedToInit(const api::Pod& pod, bool limits) {
  Amounts a = SumOf(ListsOf(pod.tmpl->containers, limits));
  for (const api::ResourceList* list : ListsOf(pod.tmpl->init_containers, limits)) {
    for (const auto& [symbol, quantity] : *list) {
      std::string name = symbol.string();
      if (!IsNative(name) && !IsScalar(name)) continue;
      if (AmountOf(name, quantity) > a.Get(name)) a.by_name[name] = AmountOf(name, quantity);
    }
  }
  return a;
}

// ---- one node, one pod ----------------------------------------------------------------------------

Answer CheckNodeCondition(const Question& q) {
  std::vector<std::string> reasons;
  for (const api::NodeCondition& c : q.here.node->conditions) {
    if (c.type.str() == "Ready" && c.status.str() != "True") reasons.push_back("node(s) were not ready");
    if (c.type.str() == "OutOfDisk" && c.status.str() != "False") reasons.push_back("node(s) were out of disk space");
    if (c.type.str() == "NetworkUnavailable" && c.status.str() != "False") {
      reasons.push_back("node(s) had unavailable network");
    }
  }
  if (q.here.node->unschedulable) reasons.push_back("node(s) were unschedulable");
  return reasons.empty() ? Fit() : Fail(reasons);
}

Answer PodFitsResources(const Question& q) {
  std::vector<std::string> reasons;
  Amounts allocatable = SumOf({&q.here.node->allocatable.list()});
  int64_t pods = static_cast<int64_t>(q.here.pods.size());
  if (pods + 1 > allocatable.Get("pods")) reasons.push_back("Insufficient pods");
  Amounts wanted = RequestOf(q.pod);
  Amounts used = UsedBy(q.here.pods);
  bool asks = false;
  for (const auto& [name, amount] : wanted.by_name) asks |= IsScalar(name) || (IsNative(name) && amount != 0);
  if (asks) {
    auto evaluate = [&](const std::string& name) {
      if (allocatable.Get(name) < Clamp(__int128_t{wanted.Get(name)} + used.Get(name))) {
        reasons.push_back("Insufficient " + name);
      }
    };
    for (const char* name : {"cpu", "memory", "alpha.kubernetes.io/nvidia-gpu", "ephemeral-storage"}) evaluate(name);
    for (const auto& [name, amount] : wanted.by_name) {
      if (!IsScalar(name) || (IsExtended(name) && q.settings.ignored_resources.contains(name))) continue;
      evaluate(name);
    }
  }
  return reasons.empty() ? Fit() : Fail(reasons);
}

Answer HostName(const Question& q) {
  std::string wanted = q.pod.node_name.string();
  return wanted.empty() || wanted == q.here.name ? Fit() : Fail({"node(s) didn't match the requested hostname"});
}

Answer PodFitsHostPorts(const Question& q) {
  for (const auto& [ip, protocol, port] : HostPortsOf(q.pod)) {
    for (const auto& [used_ip, used_protocol, used_port] : q.here.ports) {
      bool same_ip = ip == "0.0.0.0" || used_ip == "0.0.0.0" || ip == used_ip;
      if (same_ip && protocol == used_protocol && port == used_port) {
        return Fail({"node(s) didn't have free ports for the requested pod ports"});
      }
    }
  }
  return Fit();
}

Answer MatchNodeSelector(const Question& q) {
  const Answer no = Fail({"node(s) didn't match node selector"});
  const api::Labels& labels = q.here.node->labels;
  if (!q.pod.tmpl->node_selector.empty() && !ValidatedMapMatches(q.pod.tmpl->node_selector, labels)) return no;
  const auto& affinity = q.pod.tmpl->affinity.node;
  if (!affinity || !affinity->required) return Fit();
  for (const api::NodeSelectorTerm& term : affinity->required->terms) {
    if (!term.match.error.empty()) return no;
    if (SelectorMatches(term.match.selector, labels)) return Fit();
  }
  return no;
}

Answer GeneralPredicates(const Question& q) {
  std::vector<std::string> reasons;
  for (auto* part : {PodFitsResources, HostName, PodFitsHostPorts, MatchNodeSelector}) {
    for (const std::string& reason : part(q).reasons) reasons.push_back(reason);
  }
  return reasons.empty() ? Fit() : Fail(reasons);
}

Answer PodToleratesNodeTaints(const Question& q) {
  for (const api::Taint& taint : q.here.node->taints) {
    if (taint.effect.str() != "NoSchedule" && taint.effect.str() != "NoExecute") continue;
    bool tolerated = false;
    for (const api::Toleration& t : q.pod.tmpl->tolerations) tolerated |= TermToleratesTaint(t, taint);
    if (!tolerated) return Fail({"node(s) had taints that the pod didn't tolerate"});
  }
  return Fit();
}

Answer CheckNodeLabelPresence(const Question& q, const PredicateKey& key) {
  for (const std::string& label : *key.labels_presence) {
    if (Label(q.here.node->labels, label).has_value() != key.presence) {
      return Fail({"node(s) didn't have the requested labels"});
    }
  }
  return Fit();
}

bool BestEffort(const api::Pod& pod) {
  for (const api::Container& c : pod.tmpl->containers) {
    for (const api::ResourceList* list : {&c.requests, &c.limits}) {
      for (const auto& [name, quantity] : *list) {
        if ((name.str() == "cpu" || name.str() == "memory") && quantity > api::Quantity()) return false;
      }
    }
  }
  return true;
}

std::string LastCondition(const api::Node& node, std::string_view type) {
  std::string status;
  for (const api::NodeCondition& c : node.conditions) {
    if (c.type.str() == type) status = c.status.string();
  }
  return status;
}

// ---- volumes --------------------------------------------------------------------------------------

bool DisksConflict(const api::Volume& a, const api::Volume& b) {
  using Kind = api::Volume::Kind;
  if (a.kind != b.kind || a.id != b.id) return false;
  if (a.kind == Kind::kAwsEbs) return true;
  if (a.read_only && b.read_only) return false;
  if (a.kind == Kind::kGcePd || a.kind == Kind::kIscsi) return true;
  if (a.kind != Kind::kRbd || a.pool != b.pool) return false;
  for (const std::string& x : a.monitors) {
    for (const std::string& y : b.monitors) {
      if (x == y) return true;
    }
  }
  return false;
}

Answer NoDiskConflict(const Question& q) {
  for (const api::Volume& ours : q.pod.tmpl->volumes) {
    for (const api::PodPtr& p : q.here.pods) {
      for (const api::Volume& theirs : p->tmpl->volumes) {
        if (DisksConflict(ours, theirs)) return Fail({"node(s) had no available disk"});
      }
    }
  }
  return Fit();
}

Answer MaxVolumeCount(const Question& q, api::Volume::Kind kind, api::PersistentVolume::Source source, size_t max) {
  using Id = std::pair<std::string, std::string>;
  std::string error;
  auto ids = [&](const api::PodTemplate& t) {
    std::set<Id> out;
    error.clear();
    for (const api::Volume& v : t.volumes) {
      if (v.kind == kind) out.insert({"disk", v.id});
      if (v.kind != api::Volume::Kind::kClaim) continue;
      if (v.id.empty()) {
        error = "PersistentVolumeClaim had no name";
        continue;
      }
      auto claim = Cluster::Find(q.cluster.claims, t.ns.string(), v.id);
      auto volume = claim == nullptr || claim->volume_name.empty()
                        ? nullptr
                        : Cluster::Find(q.cluster.volumes, "", claim->volume_name);
      if (volume == nullptr) {
        out.insert({"unbound", t.ns.string() + "/" + v.id});
      } else if (volume->source == source) {
        out.insert({"disk", volume->source_id});
      }
    }
    return out;
  };
  std::set<Id> wanted = ids(*q.pod.tmpl);
  if (!error.empty()) return Error(error);
  if (wanted.empty()) return Fit();
  std::set<Id> all = wanted;
  for (const api::PodPtr& p : q.here.pods) {
    for (const Id& id : ids(*p->tmpl)) all.insert(id);
  }
  return all.size() <= max ? Fit() : Fail({"node(s) exceed max volume count"});
}

Answer NoVolumeZoneConflict(const Question& q) {
  const api::Labels& labels = q.here.node->labels;
  if (!Label(labels, kZoneLabel) && !Label(labels, kRegionLabel)) return Fit();
  for (const api::Volume& v : q.pod.tmpl->volumes) {
    if (v.kind != api::Volume::Kind::kClaim) continue;
    if (v.id.empty()) return Error("PersistentVolumeClaim had no name");
    auto claim = Cluster::Find(q.cluster.claims, q.pod.tmpl->ns.string(), v.id);
    if (claim == nullptr) return Error("persistentvolumeclaim \"" + v.id + "\" not found");
    if (claim->volume_name.empty()) {
      std::string class_name = claim->storage_class_name.value_or("");
      auto storage_class = Cluster::Find(q.cluster.storage_classes, "", class_name);
      if (q.settings.volume_scheduling && !class_name.empty() && storage_class != nullptr) {
        if (!storage_class->binding_mode) {
          return Error("VolumeBindingMode not set for StorageClass \"" + class_name + "\"");
        }
        if (*storage_class->binding_mode == "WaitForFirstConsumer") continue;
      }
      return Error("PersistentVolumeClaim is not bound: \"" + v.id + "\"");
    }
    auto volume = Cluster::Find(q.cluster.volumes, "", claim->volume_name);
    if (volume == nullptr) return Error("persistentvolume \"" + claim->volume_name + "\" not found");
    for (const char* key : {kZoneLabel, kRegionLabel}) {
      auto value = Label(volume->labels, key);
      if (!value) continue;
      std::set<std::string> zones;
      bool usable = true;
      for (size_t at = 0; at <= value->size();) {
        size_t end = std::min(value->find("__", at), value->size());
        zones.insert(value->substr(at, end - at));
        usable &= end > at;
        at = end + 2;
        if (end == value->size()) break;
      }
      if (!usable) continue;
      if (!zones.contains(Label(labels, key).value_or(""))) return Fail({"node(s) had no available volume zone"});
    }
  }
  return Fit();
}

bool UsableOn(const api::PersistentVolume& volume, const api::Labels& labels) {
  if (volume.annotation_affinity_bad) return false;
  for (const auto* terms : {&volume.annotation_affinity, &volume.node_affinity}) {
    for (const api::NodeSelectorTerm& term : *terms) {
      if (!term.match.error.empty() || !SelectorMatches(term.match.selector, labels)) return false;
    }
  }
  return true;
}

// Returns the volume that the claim would get on the node, or null when there is none.
std::shared_ptr<const api::PersistentVolume> VolumeFor(const Question& q, const api::PersistentVolumeClaim& claim,
                                                       const std::set<std::string>& taken) {
  std::shared_ptr<const api::PersistentVolume> best;
  auto capacity = [](const auto& v) { return v->capacity.value_or(api::Quantity()); };
  for (const auto& [key, v] : q.cluster.volumes) {
    if (v->storage_class_name != claim.storage_class_name.value_or("")) continue;  // B-33
    if (taken.contains(v->meta.name) || v->meta.deleting()) continue;
    bool usable = UsableOn(*v, q.here.node->labels);
    if (v->claim_ref) {
      bool ours = v->claim_ref->ns == claim.meta.ns.str() && v->claim_ref->name == claim.meta.name &&
                  (v->claim_ref->uid.empty() || v->claim_ref->uid == claim.meta.uid);
      if (!ours || capacity(v) < claim.request) continue;
      return usable ? v : nullptr;
    }
    if (claim.selector && !SelectorMatches(claim.selector->selector, v->labels)) continue;
    if (v->Class() != claim.Class() || !usable) continue;
    bool modes = true;
    for (Symbol m : claim.access_modes) {
      modes &= std::find(v->access_modes.begin(), v->access_modes.end(), m) != v->access_modes.end();
    }
    if (!modes || capacity(v) < claim.request) continue;
    if (best == nullptr || capacity(v) < capacity(best)) best = v;
  }
  return best;
}

Answer CheckVolumeBinding(const Question& q) {
  if (!q.settings.volume_scheduling) return Fit();
  std::vector<std::shared_ptr<const api::PersistentVolumeClaim>> bound, unbound;
  bool immediate = false;
  for (const api::Volume& v : q.pod.tmpl->volumes) {
    if (v.kind != api::Volume::Kind::kClaim) continue;
    auto claim = Cluster::Find(q.cluster.claims, q.pod.tmpl->ns.string(), v.id);
    if (claim == nullptr) {
      return Error("error getting PVC \"" + v.id + "\": persistentvolumeclaim \"" + v.id + "\" not found");
    }
    if (!claim->volume_name.empty()) {
      bound.push_back(claim);
      continue;
    }
    auto storage_class =
        claim->Class().empty() ? nullptr : Cluster::Find(q.cluster.storage_classes, "", claim->Class());
    if (storage_class != nullptr && !storage_class->binding_mode) {
      return Error("VolumeBindingMode not set for StorageClass \"" + claim->Class() + "\"");
    }
    bool delayed = storage_class != nullptr && *storage_class->binding_mode == "WaitForFirstConsumer";
    if (delayed) {
      unbound.push_back(claim);
    } else {
      immediate = true;
    }
  }
  if (immediate) return Error("pod has unbound PersistentVolumeClaims");
  std::vector<std::string> reasons;
  for (const auto& claim : bound) {
    auto volume = Cluster::Find(q.cluster.volumes, "", claim->volume_name);
    if (volume == nullptr) return Error("could not find v1.PersistentVolume \"" + claim->volume_name + "\"");
    if (!UsableOn(*volume, q.here.node->labels)) {
      reasons.push_back("node(s) had volume node affinity conflict");
      break;
    }
  }
  std::stable_sort(unbound.begin(), unbound.end(),
                   [](const auto& a, const auto& b) { return a->request < b->request; });
  std::set<std::string> taken;
  for (const auto& claim : unbound) {
    auto volume = VolumeFor(q, *claim, taken);
    if (volume == nullptr) {
      reasons.push_back("node(s) didn't find available persistent volumes to bind");
      break;
    }
    taken.insert(volume->meta.name);
  }
  return reasons.empty() ? Fit() : Fail(reasons);
}

// ---- other pods -----------------------------------------------------------------------------------

// Returns all nodes of the cluster, with `here` in the place of the node that it is a copy of.
std::vector<const NodeState*> StatesOf(const Question& q) {
  std::vector<const NodeState*> out;
  for (const auto& [name, state] : q.cluster.nodes) {
    const NodeState& s = name == q.here.name ? q.here : state;
    if (s.node != nullptr) out.push_back(&s);
  }
  return out;
}

// Returns whether the pod is on the node only in the simulation. Upstream's list of all pods does not have such pods.
bool Nominated(const Question& q, const NodeState& on, const api::Pod& pod) {
  return !q.cluster.nodes.at(on.name).Has(pod.meta.uid);
}

Answer CheckServiceAffinity(const Question& q, const PredicateKey& key) {
  std::map<std::string, std::string> wanted;
  for (const std::string& label : *key.service_affinity) {
    if (auto value = Label(q.pod.tmpl->node_selector, label)) wanted[label] = *value;
  }
  if (key.service_affinity->size() > wanted.size() && !ServicesOf(q.cluster, q.pod).empty()) {
    // Of the pods that match, the first by name decides (B-14).
    const NodeState* reference_node = nullptr;
    std::string first;
    for (const NodeState* s : StatesOf(q)) {
      for (const api::PodPtr& p : s->pods) {
        if (Nominated(q, *s, *p) || p->tmpl->ns != q.pod.tmpl->ns) continue;
        if (!ValidatedMapMatches(q.pod.tmpl->labels, p->tmpl->labels)) continue;
        if (reference_node != nullptr && first <= p->meta.name) continue;
        reference_node = s;
        first = p->meta.name;
      }
    }
    if (reference_node != nullptr) {
      for (const std::string& label : *key.service_affinity) {
        auto value = Label(reference_node->node->labels, label);
        if (value && !wanted.contains(label)) wanted[label] = *value;
      }
    }
  }
  for (const auto& [label, value] : wanted) {
    if (Label(q.here.node->labels, label) != value) return Fail({"node(s) didn't match service affinity"});
  }
  return Fit();
}

struct TermAnswer {
  bool same_topology = false, exists = false;
  std::string error;
};
TermAnswer Match(const Question& q, const api::PodAffinityTerm& term) {
  TermAnswer out;
  if (term.topology_key.empty()) {
    out.error = "empty topologyKey is not allowed except for PreferredDuringScheduling pod anti-affinity";
  }
  if (!term.selector.error.empty()) out.error = term.selector.error;
  if (!out.error.empty()) return out;
  bool hostname = term.topology_key.str() == "kubernetes.io/hostname";
  for (const NodeState* s : StatesOf(q)) {
    if (hostname && s != &q.here) continue;  // B-09
    for (const api::PodPtr& p : s->pods) {
      if (!hostname && Nominated(q, *s, *p)) continue;
      if (!TermMatchesPod(term, *p)) continue;
      out.exists = true;
      if (ShareTopology(*s->node, *q.here.node, term.topology_key.string())) out.same_topology = true;
    }
  }
  return out;
}

Answer MatchInterPodAffinity(const Question& q) {
  auto fail = [](const char* why) { return Fail({"node(s) didn't match pod affinity/anti-affinity", why}); };
  for (const NodeState* s : StatesOf(q)) {
    for (const api::PodPtr& p : s->pods) {
      if (!p->tmpl->affinity.pod_anti) continue;
      for (const api::PodAffinityTerm& term : p->tmpl->affinity.pod_anti->required) {
        if (!term.selector.error.empty() || !TermMatchesPod(term, q.pod)) continue;
        if (ShareTopology(*s->node, *q.here.node, term.topology_key.string())) {
          return fail("node(s) didn't satisfy existing pods anti-affinity rules");
        }
      }
    }
  }
  if (const auto& affinity = q.pod.tmpl->affinity.pod) {
    for (const api::PodAffinityTerm& term : affinity->required) {
      TermAnswer a = Match(q, term);
      if (!a.error.empty()) {
        return Error("Cannot schedule pod " + q.pod.meta.Key() + " onto node " + q.here.name +
                     ", because of a required podAffinity term with topologyKey \"" + term.topology_key.string() +
                     "\", err: " + a.error);
      }
      if (a.same_topology) continue;
      if (a.exists || !TermMatchesPod(term, q.pod)) return fail("node(s) didn't match pod affinity rules");
    }
  }
  if (const auto& anti = q.pod.tmpl->affinity.pod_anti) {
    for (const api::PodAffinityTerm& term : anti->required) {
      TermAnswer a = Match(q, term);
      if (a.same_topology || !a.error.empty()) return fail("node(s) didn't match pod anti-affinity rules");
    }
  }
  return Fit();
}

}  // namespace

// ---- helpers --------------------------------------------------------------------------------------

int64_t Clamp(__int128_t sum) {
  if (sum > std::numeric_limits<int64_t>::max()) return std::numeric_limits<int64_t>::max();
  if (sum < std::numeric_limits<int64_t>::min()) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(sum);
}

Amounts SumOf(const std::vector<const api::ResourceList*>& lists) {
  std::map<std::string, __int128_t> sums;
  for (const api::ResourceList* list : lists) {
    for (const auto& [symbol, quantity] : *list) {
      std::string name = symbol.string();
      if (IsNative(name) || IsScalar(name) || name == "pods") sums[name] += AmountOf(name, quantity);
    }
  }
  Amounts out;
  for (const auto& [name, sum] : sums) out.by_name[name] = Clamp(sum);
  return out;
}

Amounts RequestOf(const api::Pod& pod) {
  return RaisedToInit(pod, false);
}
Amounts LimitsOf(const api::Pod& pod) {
  return RaisedToInit(pod, true);
}

Amounts UsedBy(const std::vector<api::PodPtr>& pods) {
  std::vector<const api::ResourceList*> lists;
  for (const api::PodPtr& p : pods) {
    for (const api::ResourceList* list : ListsOf(p->tmpl->containers, false)) lists.push_back(list);
  }
  return SumOf(lists);
}

int64_t NonZero(const api::Pod& pod, const std::string& resource) {
  __int128_t sum = 0;
  for (const api::Container& c : pod.tmpl->containers) {
    int64_t amount = resource == "cpu" ? 100 : 200 * 1024 * 1024;
    for (const auto& [name, quantity] : c.requests) {
      if (name.str() == resource) amount = AmountOf(resource, quantity);
    }
    sum += amount;
  }
  return Clamp(sum);
}

std::optional<std::string> Label(const api::Labels& labels, const std::string& key) {
  for (const auto& [k, v] : labels) {
    if (k.str() == key) return v.string();
  }
  return std::nullopt;
}

bool SelectorMatches(const api::Selector& selector, const api::Labels& labels) {
  if (selector.MatchesNothing()) return false;
  for (const api::Requirement& r : selector.requirements()) {
    std::optional<std::string> have = Label(labels, r.key.string());
    bool among = false;
    for (Symbol v : r.values) among |= have && v.str() == *have;
    bool ok = false;
    switch (r.op) {
      case api::Operator::kIn:
      case api::Operator::kEquals:
        ok = among;
        break;
      case api::Operator::kNotIn:
      case api::Operator::kNotEquals:
        ok = !among;
        break;
      case api::Operator::kExists:
        ok = have.has_value();
        break;
      case api::Operator::kDoesNotExist:
        ok = !have.has_value();
        break;
      case api::Operator::kGreaterThan:
      case api::Operator::kLessThan: {
        bool number = have && !have->empty() && have->size() < 18;
        for (char c : have.value_or("")) number &= c >= '0' && c <= '9';
        if (!number) break;
        int64_t n = std::stoll(*have), bound = std::stoll(r.values[0].string());
        ok = r.op == api::Operator::kGreaterThan ? n > bound : n < bound;
      }
    }
    if (!ok) return false;
  }
  return true;
}

bool ValidatedMapMatches(const api::Labels& map, const api::Labels& labels) {
  for (const auto& [key, value] : map) {
    if (!api::QualifiedNameProblems(key.str()).empty() || !api::LabelValueProblems(value.str()).empty()) return true;
  }
  for (const auto& [key, value] : map) {
    if (Label(labels, key.string()) != value.string()) return false;
  }
  return true;
}

bool TermMatchesPod(const api::PodAffinityTerm& term, const api::Pod& pod) {
  bool in_namespace = false;
  for (Symbol ns : term.namespaces) in_namespace |= ns == pod.tmpl->ns;
  return in_namespace && SelectorMatches(term.selector.selector, pod.tmpl->labels);
}

bool ShareTopology(const api::Node& a, const api::Node& b, const std::string& key) {
  return !key.empty() && Label(a.labels, key) && Label(a.labels, key) == Label(b.labels, key);
}

bool TermToleratesTaint(const api::Toleration& t, const api::Taint& taint) {
  if (!t.effect.empty() && t.effect != taint.effect) return false;
  if (!t.key.empty() && t.key != taint.key) return false;
  if (t.op.empty() || t.op.str() == "Equal") return t.value == taint.value;
  return t.op.str() == "Exists";
}

std::vector<std::shared_ptr<const api::Service>> ServicesOf(const Cluster& cluster, const api::Pod& pod) {
  std::vector<std::shared_ptr<const api::Service>> out;
  for (const auto& [key, service] : cluster.services) {
    if (key.first != pod.tmpl->ns.str() || !service->selector) continue;
    bool matches = true;
    for (const auto& [k, v] : *service->selector) matches &= Label(pod.tmpl->labels, k.string()) == v.string();
    if (matches) out.push_back(service);
  }
  return out;
}

bool Unresolvable(const std::string& reason) {
  static const std::set<std::string> kList = {"node(s) had no available volume zone",
                                              "node(s) didn't match node selector",
                                              "node(s) had taints that the pod didn't tolerate",
                                              "node(s) didn't match the requested hostname",
                                              "node(s) didn't have the requested labels",
                                              "node(s) were not ready",
                                              "node(s) had unavailable network",
                                              "node(s) were unschedulable",
                                              "node(s) had unknown conditions",
                                              "node(s) had volume node affinity conflict",
                                              "node(s) didn't find available persistent volumes to bind"};
  return kList.contains(reason);
}

Answer Evaluate(const PredicateKey& key, const Question& q) {
  using Kind = api::Volume::Kind;
  using Source = api::PersistentVolume::Source;
  const Settings& s = q.settings;
  if (key.labels_presence) return CheckNodeLabelPresence(q, key);
  if (key.service_affinity) return CheckServiceAffinity(q, key);
  if (key.name == "CheckNodeCondition") return CheckNodeCondition(q);
  if (key.name == "GeneralPredicates") return GeneralPredicates(q);
  if (key.name == "HostName") return HostName(q);
  if (key.name == "PodFitsHostPorts" || key.name == "PodFitsPorts") return PodFitsHostPorts(q);
  if (key.name == "MatchNodeSelector") return MatchNodeSelector(q);
  if (key.name == "PodFitsResources") return PodFitsResources(q);
  if (key.name == "NoDiskConflict") return NoDiskConflict(q);
  if (key.name == "PodToleratesNodeTaints") return PodToleratesNodeTaints(q);
  if (key.name == "MaxEBSVolumeCount") return MaxVolumeCount(q, Kind::kAwsEbs, Source::kAwsEbs, s.max_ebs);
  if (key.name == "MaxGCEPDVolumeCount") return MaxVolumeCount(q, Kind::kGcePd, Source::kGcePd, s.max_gce);
  if (key.name == "MaxAzureDiskVolumeCount")
    return MaxVolumeCount(q, Kind::kAzureDisk, Source::kAzureDisk, s.max_azure);
  if (key.name == "CheckVolumeBinding") return CheckVolumeBinding(q);
  if (key.name == "NoVolumeZoneConflict") return NoVolumeZoneConflict(q);
  if (key.name == "CheckNodeMemoryPressure") {
    bool bad = BestEffort(q.pod) && LastCondition(*q.here.node, "MemoryPressure") == "True";
    return bad ? Fail({"node(s) had memory pressure"}) : Fit();
  }
  if (key.name == "CheckNodeDiskPressure") {
    bool bad = LastCondition(*q.here.node, "DiskPressure") == "True";
    return bad ? Fail({"node(s) had disk pressure"}) : Fit();
  }
  if (key.name == "MatchInterPodAffinity") return MatchInterPodAffinity(q);
  return Error("the reference knows no predicate " + key.name);
}

}  // namespace berth::scheduler::reference
