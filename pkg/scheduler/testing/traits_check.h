// A property test that finds rules which read more than their traits declare. A unit test, also of a plugin, needs one
// line for each rule:
//
//   const Registry& registry = FrozenRegistry(releases::Of(release::Default()).decides);
//   CHECK(TraitsProblem(registry, "MaxReplicasPerNode") == "");
//
// The check makes small random clusters and pairs of pods that are alike in all parts that the rule declares. Both pods
// must get the same answers on every node. For a rule that declares to read the node alone, or the node and its pods,
// it also adds a pod to a node; answers for other nodes, or for all nodes, must stay the same. A rule that reads labels
// of its own needs pods and nodes that have them:
//
//   CHECK(TraitsProblem(registry, "NoBatchOnInteractive", {{"tier", "batch"}, {"interactive", ""}}) == "");
#pragma once
#include <absl/strings/str_cat.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "pkg/api/decode.h"
#include "pkg/scheduler/algorithm/template_parts.h"
#include "pkg/scheduler/registry/registry.h"
#include "pkg/scheduler/volumebinder/volume_binder.h"

namespace berth::scheduler::testing {

// Labels by key. Each of them is set on about half of the pods and half of the nodes.
using SomeLabels = std::map<std::string, std::string>;

// One run of the check with one seed. Tests call TraitsProblem.
class TraitsCheck {
 public:
  TraitsCheck(const Registry& registry, std::string name, SomeLabels labels, uint32_t seed)
      : name_(std::move(name)), some_labels_(std::move(labels)), random_(seed) {
    args_.cache = &cache_;
    args_.volume_binder = &binder_;
    args_.gates.pod_priority = true;
    if (auto p = registry.predicates().find(name_); p != registry.predicates().end()) {
      predicate_ = p->second.factory(args_);
      traits_ = p->second.traits;
    } else if (auto q = registry.priorities().find(name_); q != registry.priorities().end()) {
      priority_ = q->second.factory(args_);
      traits_ = q->second.traits;
    } else {
      problem_ = absl::StrCat(name_, " is not registered");
    }
  }

  // Returns what is wrong, or an empty text. Adds to `*pairs` the number of pairs of pods that were compared.
  std::string Run(int* pairs) {
    for (int i = 0; i < 6; ++i) cache_.AddNode(Node(i));
    for (int i = 0; i < 25; ++i)
      cache_.AddPod(Pod(absl::StrCat("placed-", i), absl::StrCat("n", Pick(6)))).IgnoreError();
    for (int i = 0; i < 60 && problem_.empty() && traits_.incremental(); ++i) {
      const api::PodPtr a = Pod("a", ""), b = Variation(*a);
      if (AlikeIn(traits_.pod, *cache_.Info(*a), *cache_.Info(*b), cache_) && a->tmpl != b->tmpl) {
        ++*pairs;
        if (Answers(a) != Answers(b)) {
          problem_ =
              absl::StrCat(name_, " reads a part of the pod that its traits do not declare: pods that differ in ",
                           changed_, " get different answers");
        }
      }
      CheckCluster(a);
    }
    return problem_;
  }

 private:
  int Pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool Chance(int percent) { return Pick(100) < percent; }
  template <typename T>
  static auto Decoded(T decode, const std::string& json) {
    api::Document d;
    if (!d.Parse(json).ok()) std::abort();
    return decode(d.root()).value();
  }

  api::NodePtr Node(int i) {
    std::string labels = absl::StrCat(R"("kubernetes.io/hostname":"n)", i, R"(","tier":"t)", Pick(3), "\"");
    if (Chance(80)) absl::StrAppend(&labels, R"(,"failure-domain.beta.kubernetes.io/zone":"z)", Pick(3), "\"");
    if (Chance(60)) absl::StrAppend(&labels, R"(,"price-per-hour":")", Pick(9), "\"");
    if (Chance(70)) absl::StrAppend(&labels, R"(,"rack":"r)", Pick(3), "\"");
    AppendSome(&labels);
    std::string taints;
    if (Chance(40)) taints = absl::StrCat(R"({"key":"k)", Pick(2), R"(","effect":")", Effect(), "\"}");
    return Decoded([](const auto& v) { return api::DecodeNode(v); },
                   absl::StrCat(R"({"metadata":{"name":"n)", i, R"(","labels":{)", labels, R"(}},"spec":{"taints":[)",
                                taints, R"(]},"status":{"allocatable":{"cpu":")", 2 + Pick(8), R"(","memory":")",
                                2 + Pick(8), R"(Gi","pods":")", 3 + Pick(9), R"("},"images":[{"names":["img)", Pick(3),
                                R"("],"sizeBytes":)", 100000000 * (1 + Pick(9)), R"(}],"conditions":[{"type":"Ready",)",
                                R"("status":"True"},{"type":"MemoryPressure","status":")",
                                Chance(30) ? "True" : "False", R"("}]}})"));
  }
  void AppendSome(std::string* labels) {
    for (const auto& [key, value] : some_labels_) {
      if (Chance(50)) absl::StrAppend(labels, ",\"", key, "\":\"", value, "\"");
    }
  }
  const char* Effect() {
    static constexpr const char* kEffects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
    return kEffects[Pick(3)];
  }
  // The parts of a pod that are varied one at a time, by name, each as JSON.
  using Parts = std::map<std::string, std::string>;
  std::string Term() {
    return absl::StrCat(R"({"topologyKey":")",
                        Chance(50) ? "kubernetes.io/hostname" : "failure-domain.beta.kubernetes.io/zone",
                        R"(","labelSelector":{"matchLabels":{"app":"a)", Pick(3), "\"}}}");
  }
  std::string Value(const std::string& part) {
    if (part == "namespace") return Chance(70) ? "default" : "other";
    if (part == "labels") {
      std::string labels = absl::StrCat(R"("app":"a)", Pick(3), "\"");
      if (Chance(50)) absl::StrAppend(&labels, R"(,"max-per-node":")", 1 + Pick(3), "\"");
      AppendSome(&labels);
      return labels;
    }
    if (part == "requests") return absl::StrCat(R"("cpu":")", Pick(4), R"(","memory":")", Pick(3), "Gi\"");
    if (part == "limits") return absl::StrCat(R"("cpu":")", 4 + Pick(4), "\"");
    if (part == "ports") return Chance(60) ? "" : absl::StrCat(R"({"containerPort":1,"hostPort":)", 80 + Pick(3), "}");
    if (part == "image") return absl::StrCat("img", Pick(3));
    if (part == "node selector") return Chance(60) ? "" : absl::StrCat(R"("tier":"t)", Pick(3), "\"");
    if (part == "tolerations") {
      return Chance(50) ? "" : absl::StrCat(R"({"key":"k)", Pick(2), R"(","operator":"Exists"})");
    }
    if (part == "pod affinity") {
      const std::string kind = Chance(50) ? "podAffinity" : "podAntiAffinity";
      if (Chance(40)) return "";
      if (Chance(50)) {
        return absl::StrCat("\"", kind, R"(":{"requiredDuringSchedulingIgnoredDuringExecution":[)", Term(), "]}");
      }
      return absl::StrCat("\"", kind, R"(":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":)",
                          1 + Pick(100), R"(,"podAffinityTerm":)", Term(), "}]}");
    }
    if (part == "priority") return absl::StrCat(Pick(3));
    if (part == "volumes") {
      return Chance(60) ? "" : absl::StrCat(R"({"name":"v","gcePersistentDisk":{"pdName":"d)", Pick(3), "\"}}");
    }
    return absl::StrCat("s", Pick(3));  // for the scheduler's name and the uid of the controller
  }
  static const std::vector<std::string>& PartNames() {
    static const std::vector<std::string> kNames = {
        "namespace",   "labels",       "requests", "limits",  "ports",          "image",     "node selector",
        "tolerations", "pod affinity", "priority", "volumes", "scheduler name", "controller"};
    return kNames;
  }
  api::PodPtr Made(const std::string& name, const std::string& node, const Parts& p) {
    return Decoded(
        [](const auto& v) { return api::DecodePod(v); },
        absl::StrCat(R"({"metadata":{"name":")", name, R"(","namespace":")", p.at("namespace"), R"(","uid":"u-)", name,
                     R"(","labels":{)", p.at("labels"), R"(},"ownerReferences":[{"apiVersion":"apps/v1","kind":)",
                     R"("ReplicaSet","controller":true,"name":"c","uid":")", p.at("controller"),
                     R"("}]},"spec":{"nodeName":")", node, R"(","schedulerName":")", p.at("scheduler name"),
                     R"(","priority":)", p.at("priority"), R"(,"nodeSelector":{)", p.at("node selector"),
                     R"(},"tolerations":[)", p.at("tolerations"), R"(],"affinity":{)", p.at("pod affinity"),
                     R"(},"volumes":[)", p.at("volumes"), R"(],"containers":[{"name":"c","image":")", p.at("image"),
                     R"(","ports":[)", p.at("ports"), R"(],"resources":{"requests":{)", p.at("requests"),
                     R"(},"limits":{)", p.at("limits"), "}}}]}}"));
  }
  api::PodPtr Pod(const std::string& name, const std::string& node) {
    last_.clear();
    for (const std::string& part : PartNames()) last_[part] = Value(part);
    return Made(name, node, last_);
  }
  // Returns the pod that Pod() made last with one part changed, whose name is left in changed_.
  api::PodPtr Variation(const api::Pod& of) {
    Parts parts = last_;
    changed_ = PartNames()[static_cast<size_t>(Pick(static_cast<int>(PartNames().size())))];
    parts[changed_] = Value(changed_);
    return Made(of.meta.name, "", parts);
  }

  // Returns the verdict or the score for each node; a single -1 when scoring fails.
  std::vector<int64_t> Answers(const api::PodPtr& pod) {
    const PodContext ctx{*pod, *cache_.Info(*pod), cache_};
    const std::vector<Row> rows = cache_.by_name_descending();
    std::vector<int64_t> out(rows.size());
    if (predicate_ != nullptr) {
      auto check = predicate_(ctx);
      for (size_t i = 0; i < rows.size(); ++i) out[i] = static_cast<int64_t>(check->Check(rows[i]));
    } else if (auto scoring = priority_(ctx); !scoring->Map(rows, out).ok()) {
      out.assign(1, -1);
    }
    return out;
  }
  // Adds a pod to a node and requires that answers which must not depend on it stay the same.
  void CheckCluster(const api::PodPtr& pod) {
    if (traits_.cluster != ClusterPart::kNode && traits_.cluster != ClusterPart::kNodePods) return;
    const std::vector<int64_t> before = Answers(pod);
    const Row row = cache_.FindRow(util::Symbol("n0"));
    const api::PodPtr more = Pod("more", "n0");
    if (!cache_.AddPod(more).ok()) return;
    const std::vector<int64_t> after = Answers(pod);
    cache_.RemovePod(*more).IgnoreError();
    const std::vector<Row>& rows = cache_.by_name_descending();
    for (size_t i = 0; i < rows.size() && i < before.size() && i < after.size(); ++i) {
      if (before[i] == after[i] || (rows[i] == row && traits_.cluster == ClusterPart::kNodePods)) continue;
      problem_ = absl::StrCat(name_, " reads more of the cluster than its traits declare: a pod that came to node n0 ",
                              "changed its answer for node ", cache_.row(rows[i]).name.string());
    }
  }

  std::string name_, problem_, changed_;
  SomeLabels some_labels_;
  std::mt19937 random_;
  Cache cache_;
  VolumeBinder binder_{&cache_, AlgorithmGates{}};
  PluginFactoryArgs args_;
  FitPredicate predicate_;
  PriorityFunction priority_;
  Traits traits_;
  Parts last_;
};

// Returns what is wrong with the traits of a registered rule, or an empty text. A rule without traits is never wrong.
// If `pairs` is not null, it gets the number of pairs of pods that were compared.
inline std::string TraitsProblem(const Registry& registry, const std::string& name, const SomeLabels& labels = {},
                                 int* pairs = nullptr) {
  int compared = 0;
  std::string problem;
  for (uint32_t seed = 1; seed <= 10 && problem.empty(); ++seed) {
    problem = TraitsCheck(registry, name, labels, seed).Run(&compared);
  }
  if (pairs != nullptr) *pairs = compared;
  return problem;
}

}  // namespace berth::scheduler::testing
