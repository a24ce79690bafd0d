// Random changes of a cluster (Lockstep), and the description of everything that a cache knows (Describe).
#include "pkg/scheduler/reference/lockstep.h"

#include <algorithm>

#include <absl/strings/str_cat.h>
#include <absl/time/time.h>
#include <glog/logging.h>

#include <catch2/catch.hpp>

namespace berth::scheduler::reference {

Lockstep::Lockstep(uint64_t seed, bool large)
    : binder(&cache, AlgorithmGates{}), random(seed), character(&random), log_level_(FLAGS_minloglevel) {
  FLAGS_minloglevel = google::GLOG_FATAL;
  if (large) {
    character.nodes = 90;
    character.uniform = true;
    character.taints = character.conditions = character.volumes = character.mistakes = 0;
    character.pod_affinity = seed % 2 == 0 ? 60 : 0;
  }
  for (int i = random.Between(3, 8); i > 0; --i) templates_.push_back(RandomTemplate(&random, character));
  for (int i = 0; i < character.nodes; ++i) {
    if (random.Chance(large ? 97 : 70)) {
      auto node = RandomNode(&random, character, i);
      cache.AddNode(node);
      model.SetNode(node);
    }
  }
  for (int i = 0; i < 25; ++i) ChangeObjects();
}

Lockstep::~Lockstep() {
  FLAGS_minloglevel = log_level_;
}

std::shared_ptr<api::Pod> Lockstep::Pending() {
  if (random.Chance(25)) {
    size_t one = static_cast<size_t>(random.Below(static_cast<int>(templates_.size())));
    templates_[one] = random.Chance(70) ? RandomSibling(&random, character, *random.Of(templates_))
                                        : RandomTemplate(&random, character);
  }
  auto pod = NewPod(next_pod_++, random.Of(templates_));
  if (random.Chance(4)) pod->node_name = util::Symbol(NodeName(random.Below(character.nodes)));  // exercises HostName
  if (random.Chance(10)) pod->nominated_node_name = util::Symbol(NodeName(random.Below(character.nodes)));
  return pod;
}

std::shared_ptr<api::Pod> Lockstep::Copy(const std::string& uid) {
  return std::make_shared<api::Pod>(*model.FindPod(uid));
}

std::string Lockstep::SomePod() {
  std::vector<std::string> uids;
  for (const auto& [name, state] : model.nodes) {
    for (const api::PodPtr& p : state.pods) uids.push_back(p->meta.uid);
  }
  return uids.empty() ? std::string() : random.Of(uids);
}

void Lockstep::Assume(const api::PodPtr& pod, const std::string& node) {
  auto placed = std::make_shared<api::Pod>(*pod);
  placed->node_name = util::Symbol(node);
  REQUIRE(cache.AssumePod(placed).ok());
  model.AddPod(placed);
  assumed_.insert(placed->meta.uid);
}

void Lockstep::Nominate(const api::PodPtr& pod) {
  Unnominate(*pod);
  nominated.Add(pod);
  if (!pod->nominated_node_name.empty()) model.nominated[pod->nominated_node_name.string()].push_back(pod);
}

void Lockstep::Unnominate(const api::Pod& pod) {
  nominated.Remove(pod);
  for (auto& [node, pods] : model.nominated) {
    std::erase_if(pods, [&](const api::PodPtr& p) { return p->meta.uid == pod.meta.uid; });
  }
  std::erase_if(model.nominated, [](const auto& n) { return n.second.empty(); });
}

void Lockstep::Storm() {
  for (const auto& [name, state] : model.nodes) {
    if (state.node == nullptr) continue;
    auto cordoned = std::make_shared<api::Node>(*state.node);
    cordoned->unschedulable = !cordoned->unschedulable;
    for (int i = 0; i < 5000 / static_cast<int>(model.nodes.size()); ++i) {
      cache.UpdateNode(cordoned);
      cache.UpdateNode(state.node);
    }
  }
}

void Lockstep::ChangeNode() {
  int number = random.Below(character.nodes);
  if (random.Chance(25)) {
    cache.RemoveNode(NodeName(number));
    model.RemoveNode(NodeName(number));
    return;
  }
  auto node = RandomNode(&random, character, number);
  cache.AddNode(node);
  model.SetNode(node);
}

void Lockstep::ChangePods() {
  std::string uid = SomePod();
  int what = random.Below(10);
  if (uid.empty() || what < 3) {
    auto pod = NewPod(next_pod_++, random.Of(templates_));
    pod->node_name = util::Symbol(NodeName(random.Below(character.nodes)));  // the node may be unknown
    REQUIRE(cache.AddPod(pod).ok());
    model.AddPod(pod);
    return;
  }
  auto pod = Copy(uid);
  bool assumed = assumed_.contains(uid);
  CHECK(cache.IsAssumed(uid) == assumed);
  if (assumed && random.Chance(50)) {
    if (random.Chance(60)) {  // the pod is confirmed, sometimes on another node
      if (random.Chance(15)) pod->node_name = util::Symbol(NodeName(random.Below(character.nodes)));
      REQUIRE(cache.AddPod(pod).ok());
      model.UpdatePod(pod);
    } else if (random.Chance(50)) {
      REQUIRE(cache.ForgetPod(*pod).ok());
      model.RemovePod(uid);
    } else {
      cache.FinishBinding(*pod, absl::Seconds(100));
      CHECK(cache.Expire(absl::Seconds(130)).empty());
      auto expired = cache.Expire(absl::Seconds(130) + absl::Nanoseconds(1));
      REQUIRE(expired.size() == 1);
      CHECK(expired[0]->meta.uid == uid);
      model.RemovePod(uid);
    }
    assumed_.erase(uid);
    return;
  }
  if (what < 6) {
    REQUIRE(cache.RemovePod(*pod).ok());
    model.RemovePod(uid);
    assumed_.erase(uid);
    return;
  }
  if (random.Chance(40)) pod->meta.deletion_seconds = 1;
  if (random.Chance(30)) {
    auto tmpl = random.Of(templates_);
    pod->tmpl = tmpl;
    pod->meta.ns = tmpl->ns;
  }
  if (random.Chance(10)) pod->node_name = util::Symbol(NodeName(random.Below(character.nodes)));
  REQUIRE(cache.UpdatePod(pod).ok());
  model.UpdatePod(pod);
  assumed_.erase(uid);
}

void Lockstep::ChangeObjects() {
  auto change = [&](auto& store, auto& objects, auto object) {
    Cluster::Key key(object->meta.ns.string(), object->meta.name);
    if (random.Chance(30)) {
      store.Remove(object->meta.ns, object->meta.name);
      objects.erase(key);
    } else {
      store.Set(object);
      objects[key] = object;
    }
  };
  Listers& l = cache.listers();
  int what = random.Below(10);
  if (what < 4 && random.Chance(100 - character.owners)) what = 4 + what;
  switch (what) {
    case 0:
      change(l.services, model.services, RandomService(&random, random.Below(4)));
      break;
    case 1:
      change(l.replication_controllers, model.replication_controllers,
             RandomReplicationController(&random, random.Below(2)));
      break;
    case 2:
      change(l.replica_sets, model.replica_sets, RandomReplicaSet(&random, random.Below(3)));
      break;
    case 3:
      change(l.stateful_sets, model.stateful_sets, RandomStatefulSet(&random, random.Below(2)));
      break;
    case 4:
    case 5:
      change(l.volumes, model.volumes, RandomVolume(&random, random.Below(8)));
      break;
    case 6:
    case 7:
      change(l.claims, model.claims, RandomClaim(&random, character, random.Below(kClaims)));
      break;
    case 8:
      change(l.storage_classes, model.storage_classes, RandomStorageClass(&random, character, random.Below(2)));
      break;
    default:
      change(l.budgets, model.budgets, RandomBudget(&random, random.Below(3)));
      break;
  }
}

void Lockstep::Change() {
  int what = random.Below(10);
  if (what < 2) {
    ChangeNode();
  } else if (what < 8) {
    ChangePods();
  } else {
    ChangeObjects();
  }
}

// ---- describing caches --------------------------------------------------------------------------

namespace {

using util::Symbol;

std::vector<PodQuery> Queries() {
  std::vector<PodQuery> out;
  for (const char* key : {"", "rack", "failure-domain.beta.kubernetes.io/zone", "kubernetes.io/hostname"}) {
    for (const char* app : {"web", "db", ""}) {
      PodQuery q;
      q.namespaces = {Symbol("default")};
      if (*app == 0) {
        q.namespaces.push_back(Symbol("other"));
        std::sort(q.namespaces.begin(), q.namespaces.end());
        q.any_of = {api::Selector::Everything()};
      } else {
        q.any_of = {api::Selector::FromMap(api::Labels({{Symbol("app"), Symbol(app)}})),
                    api::Selector::FromMap(api::Labels({{Symbol("tier"), Symbol("front")}}))};
        q.skip_terminating = true;
      }
      q.topology_key = Symbol(key);
      out.push_back(q);
    }
  }
  return out;
}

std::string TermText(const api::PodAffinityTerm& t) {
  std::string out = absl::StrCat(t.selector.selector.String(), "|", t.selector.error, "|", t.topology_key.string());
  std::set<std::string> namespaces;
  for (Symbol ns : t.namespaces) namespaces.insert(ns.string());
  for (const std::string& ns : namespaces) absl::StrAppend(&out, "|", ns);
  return out;
}

// Checks the columns of scalar resources against the row. They are made by the first call.
void CheckScalarColumns(const Cache& cache, Row r) {
  const NodeRow& row = cache.row(r);
  for (const auto* scalars : {&row.allocatable.scalars, &row.requested.scalars}) {
    for (const auto& [name, amount] : *scalars) {
      const ScalarColumns* const columns = cache.ScalarColumnsOf(name);
      if (columns == nullptr) continue;
      CHECK(columns->alloc[r] == row.allocatable.Scalar(name));
      CHECK(columns->used[r] == row.requested.Scalar(name));
    }
  }
  const Columns& c = cache.columns();
  CHECK((c.gpu_matters || (c.used_gpu[r] == 0 && c.alloc_gpu[r] >= 0)));
  CHECK((c.ephemeral_matters || (c.used_ephemeral[r] == 0 && c.alloc_ephemeral[r] >= 0)));
}

void DescribeRow(const Cache& cache, Row r, bool with_ports, std::map<std::string, std::string>* out) {
  const NodeRow& row = cache.row(r);
  const Columns& c = cache.columns();
  std::string name = "row of " + row.name.string();
  std::string& text = (*out)[name];
  absl::StrAppend(&text, "node=", row.node != nullptr, " listed=", cache.listed().Has(r), " flags=", c.flags[r],
                  " zone=", c.zone[r].string(), " volumes=", c.volumes[r]);
  absl::StrAppend(&text, " alloc=", c.alloc_cpu[r], ",", c.alloc_memory[r], ",", c.alloc_gpu[r], ",",
                  c.alloc_ephemeral[r], ",", c.alloc_pods[r]);
  absl::StrAppend(&text, " used=", c.used_cpu[r], ",", c.used_memory[r], ",", c.used_gpu[r], ",", c.used_ephemeral[r],
                  ",", c.pod_count[r], " nonzero=", c.nonzero_cpu[r], ",", c.nonzero_memory[r]);
  std::set<std::string> scalars;
  for (const auto& [n, v] : row.requested.scalars) {
    if (v != 0) scalars.insert(absl::StrCat(n.string(), "=", v));
  }
  for (const std::string& s : scalars) absl::StrAppend(&text, " ", s);
  absl::StrAppend(&text, " pods:");
  for (const PlacedPod& p : row.pods) {
    absl::StrAppend(&text, " ", p.pod->meta.uid, p.pod->meta.deleting() ? "(deleting)" : "");
  }
  const std::vector<Row>& order = cache.in_order();
  if (row.node != nullptr) absl::StrAppend(&text, " place=", std::find(order.begin(), order.end(), r) - order.begin());
  if (with_ports) {
    absl::StrAppend(&text, " ports:");
    for (const char* ip : {"10.0.0.1", "10.0.0.2", "10.0.0.3", "0.0.0.0"}) {
      for (const char* protocol : {"TCP", "UDP"}) {
        for (int port : {80, 81, 82}) text += row.ports.Conflicts({Symbol(ip), Symbol(protocol), port}) ? '1' : '0';
      }
    }
  }
  for (const char* key : {"rack", "failure-domain.beta.kubernetes.io/zone", "kubernetes.io/hostname", "disk"}) {
    Symbol value = cache.Label(Symbol(key))[r];
    absl::StrAppend(&text, " ", key, "=", value == Cache::kNoValue ? "-" : value.string());
  }
}

}  // namespace

std::map<std::string, std::string> Describe(Cache& cache, bool with_ports) {
  std::map<std::string, std::string> out;
  for (Row r = 0; r < cache.row_count(); ++r) {
    const NodeRow& row = cache.row(r);
    if (row.in_use) {
      CHECK(cache.FindRow(row.name) == r);
      DescribeRow(cache, r, with_ports, &out);
      CheckScalarColumns(cache, r);
    } else {  // no node uses the row, so everything in it must be 0
      const Columns& c = cache.columns();
      int64_t sum = c.alloc_cpu[r] + c.alloc_memory[r] + c.alloc_pods[r] + c.used_cpu[r] + c.used_memory[r] +
                    c.used_gpu[r] + c.used_ephemeral[r] + c.pod_count[r] + c.nonzero_cpu[r] + c.nonzero_memory[r] +
                    c.flags[r];
      if (sum != 0 || !row.pods.empty() || cache.listed().Has(r)) out[absl::StrCat("free row ", r)] = "not empty";
    }
  }
  std::string& names = out["names, descending"];
  for (Row r : cache.by_name_descending()) absl::StrAppend(&names, cache.row(r).name.string(), " ");
  out["pods"] = absl::StrCat(cache.pod_count());
  out["nodes"] = absl::StrCat(cache.node_count());

  int number = 0;
  for (const PodQuery& q : Queries()) {
    auto count = cache.Count(q);
    std::string& text = out[absl::StrCat("query ", number++)];
    absl::StrAppend(&text, "total=", count->total(), " all=", count->total_all());
    std::set<std::string> parts;
    for (Row r = 0; r < cache.row_count() && count->column() == nullptr; ++r) {
      if (count->OnRow(r) != 0) parts.insert(absl::StrCat(cache.row(r).name.string(), ":", count->OnRow(r)));
    }
    if (count->column() != nullptr) {
      count->numbers().ForEach([&](uint32_t domain, int64_t n) {
        parts.insert(absl::StrCat("in ", count->column()->Value(domain).string(), ":", n));
      });
    }
    for (const std::string& p : parts) absl::StrAppend(&text, " ", p);
  }

  const DeclaredTerms& declared = cache.declared_terms();
  out["terms"] = absl::StrCat("anti=", declared.anti_required(), " scoring=", declared.scoring());
  for (const DeclaredTerms::Term& t : declared.terms()) {
    if (t.anti_required == 0 && t.scoring == 0) continue;
    std::string& text = out["term " + TermText(t.term)];
    absl::StrAppend(&text, "anti=", t.anti_required, " scoring=", t.scoring);
    std::set<std::string> parts;
    for (const auto& [domain, d] : t.domains) {
      parts.insert(absl::StrCat(t.column->Value(domain).string(), ":", d.anti_required, ",", d.affinity_required, ",",
                                d.preferred, ",", d.preferred_weight));
    }
    for (const std::string& p : parts) absl::StrAppend(&text, " ", p);
  }
  std::map<const LabelledPods*, int64_t> pods_of;
  for (const auto& [tmpl, info] : cache.templates()) pods_of[info->labelled] += info->pods;
  for (const auto& [alike, pods] : pods_of) {
    int64_t placed = 0;
    for (const auto& [row, n] : alike->rows) placed += n.live + n.terminating;
    CHECK(placed == pods);
  }
  return out;
}

std::vector<std::string> Differences(const std::map<std::string, std::string>& a,
                                     const std::map<std::string, std::string>& b) {
  std::vector<std::string> out;
  auto all = a;
  all.insert(b.begin(), b.end());
  for (const auto& [key, text] : all) {
    auto in_a = a.find(key), in_b = b.find(key);
    std::string x = in_a == a.end() ? "(none)" : in_a->second, y = in_b == b.end() ? "(none)" : in_b->second;
    if (x != y) out.push_back(key + "\n  " + x + "\n  " + y);
  }
  return out;
}

void Rebuild(const Cluster& cluster, Cache* cache) {
  for (const auto& [name, state] : cluster.nodes) {
    if (state.node != nullptr) cache->AddNode(state.node);
  }
  for (const auto& [name, state] : cluster.nodes) {
    for (const api::PodPtr& p : state.pods) REQUIRE(cache->AddPod(p).ok());
  }
}

}  // namespace berth::scheduler::reference
