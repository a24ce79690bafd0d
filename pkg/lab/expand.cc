#include "pkg/lab/expand.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>

#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"
#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"
#include "pkg/util/status.h"

namespace berth::lab {
namespace {

using api::Json;

// A workload with more pods is a mistake in the file and would exhaust the memory.
constexpr int64_t kMostReplicas = 1'000'000;

std::string Text(Json j) {
  return std::string(j.Text());
}

int64_t Number(Json j, int64_t when_absent) {
  return j.IsInt() ? j.Int() : when_absent;
}

// Returns how many pods a workload needs. For a DaemonSet the result is meaningless, because it depends on the nodes.
int64_t ReplicasOf(std::string_view kind, Json j) {
  Json spec = j.Find("spec");
  if (kind != "Job") return Number(spec.Find("replicas"), 1);
  int64_t parallelism = Number(spec.Find("parallelism"), 1);
  int64_t completions = Number(spec.Find("completions"), parallelism);
  return std::clamp<int64_t>(completions - Number(j.Find("status").Find("succeeded"), 0), 0, parallelism);
}

}  // namespace

std::string ObjectKey(std::string_view kind, std::string_view ns, std::string_view name) {
  return absl::StrCat(util::ToAbsl(kind), " ", util::ToAbsl(ns), "/", util::ToAbsl(name));
}

bool Expander::IsWorkload(std::string_view kind) {
  static constexpr std::string_view kKinds[] = {
      "ReplicaSet", "ReplicationController", "Deployment", "StatefulSet", "Job", "DaemonSet"};
  return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

void Expander::Add(Json j, std::string_view kind, bool loose) {
  Json meta = j.Find("metadata");
  Workload w;
  w.kind = kind;
  w.name = Text(meta.Find("name"));
  w.ns = Text(meta.Find("namespace"));
  if (w.ns.empty()) w.ns = "default";
  w.uid = Text(meta.Find("uid"));
  w.loose = loose;
  if (!j.Find("spec").Find("template").IsObject()) return;  // without a template there is nothing to create pods from
  for (auto owner : meta.Find("ownerReferences").Children()) {
    if (!owner.value.Find("controller").Bool()) continue;
    w.owner_key = ObjectKey(owner.value.Find("kind").Text(), w.ns, owner.value.Find("name").Text());
  }
  w.replicas = ReplicasOf(kind, j);
  w.claims = j.Find("spec").Find("volumeClaimTemplates").size() > 0;
  w.text = j.Serialize();
  workloads_.push_back(std::move(w));
}

void Expander::Append(Expander&& other) {
  std::move(other.workloads_.begin(), other.workloads_.end(), std::back_inserter(workloads_));
  other.workloads_.clear();
}

// Creates the pods of one input.
class Expander::Maker {
 public:
  Maker(const std::vector<api::Object>& cluster, const std::vector<api::PodPtr>& pending,
        const std::vector<Workload>& workloads)
      : cluster_(cluster) {
    for (const api::Object& o : cluster) {
      if (const auto* pod = std::get_if<api::PodPtr>(&o)) Count(**pod);
    }
    for (const api::PodPtr& pod : pending) Count(*pod);
    for (const Workload& w : workloads) {
      if (!w.owner_key.empty()) owners_.insert(w.owner_key);
    }
  }

  // Returns whether the input has a pod of the workload: one with this controller, or one without a controller that the
  // workload's selector matches.
  bool HasPods(const Workload& w) const {
    if (Owned(w) > 0) return true;
    auto loose = uncontrolled_.find(w.ns);
    if (loose == uncontrolled_.end()) return false;
    api::Document d;
    if (!d.Parse(w.text).ok()) return false;
    Json spec = d.root().Find("spec"), selector = spec.Find("selector");
    // The selector of a ReplicationController is a map of labels. A workload without a selector uses its template's
    // labels.
    Json labels = w.kind == "ReplicationController" ? selector : spec.Find("template").Find("metadata").Find("labels");
    const bool by_labels = selector.size() == 0 || w.kind == "ReplicationController";
    const api::DecidedSelector decided = api::DecideLabelSelector(selector);
    auto matches = [&](const api::Pod* pod) {
      if (!by_labels) return decided.ok() && decided.selector.Matches(pod->tmpl->labels);
      auto same = [&](Json::Member m) {
        return pod->tmpl->labels.Get(scheduler::Symbol(m.key)) == scheduler::Symbol(m.value.Text());
      };
      bool all = labels.size() > 0;
      for (auto member : labels.Children()) all = all && same(member);
      return all;
    };
    return std::any_of(loose->second.begin(), loose->second.end(), matches);
  }

  absl::Status Take(const Workload& w) {
    if (w.replicas < 0 || w.replicas > kMostReplicas) {
      return util::InvalidArgument(
          absl::StrCat(ObjectKey(w.kind, w.ns, w.name), ": ", w.replicas, " replicas: should be 0 to ", kMostReplicas));
    }
    // A Deployment creates ReplicaSets. If one of them is in the input, the pods are created for that ReplicaSet.
    if (w.kind == "Deployment") {
      if (owners_.contains(ObjectKey(w.kind, w.ns, w.name))) return absl::OkStatus();
      return TakeDeployment(w);
    }
    if (w.kind == "DaemonSet") return TakeDaemonSet(w);
    return TakeReplicas(w);
  }

  Made made;

 private:
  // Finished pods do not count as replicas, but their names are taken.
  void Count(const api::Pod& pod) {
    names_.insert(pod.meta.Key());
    if (pod.Finished()) return;
    if (!pod.tmpl->controller) {
      uncontrolled_[pod.meta.ns.string()].push_back(&pod);
      return;
    }
    ++owned_[ObjectKey(pod.tmpl->controller->kind.str(), pod.meta.ns.str(), pod.tmpl->controller->name)];
  }

  int64_t Owned(const Workload& w) const {
    auto it = owned_.find(ObjectKey(w.kind, w.ns, w.name));
    return it == owned_.end() ? 0 : it->second;
  }

  // Returns a pod with the workload's template and the workload as its controller.
  absl::StatusOr<std::shared_ptr<api::Pod>> Template(const Workload& w) {
    api::Document d;
    BERTH_RETURN_IF_ERROR(d.Parse(w.text));
    Json tmpl = d.root().Find("spec").Find("template"), meta = tmpl.Find("metadata");
    std::string owner = "{\"apiVersion\":";
    api::AppendJsonString(d.root().Find("apiVersion").Text(), &owner);
    absl::StrAppend(&owner, ",\"kind\":\"", w.kind, "\",\"name\":");
    api::AppendJsonString(w.name, &owner);
    owner += ",\"uid\":";
    api::AppendJsonString(w.uid.empty() ? absl::StrCat(w.kind, "/", w.ns, "/", w.name) : w.uid, &owner);
    owner += ",\"controller\":true}";
    std::string text = "{\"metadata\":{\"name\":\"x\",\"namespace\":";
    api::AppendJsonString(w.ns, &text);
    absl::StrAppend(&text, ",\"labels\":", meta.Find("labels").Serialize(),
                    ",\"annotations\":", meta.Find("annotations").Serialize(), ",\"ownerReferences\":[", owner,
                    "]},\"spec\":", tmpl.Find("spec").Serialize(), "}");
    api::Document pod;
    BERTH_RETURN_IF_ERROR(pod.Parse(text));
    auto decoded = api::DecodePod(pod.root(), {.server_defaults = w.loose});
    if (!decoded.ok()) {
      return util::InvalidArgument(
          absl::StrCat(ObjectKey(w.kind, w.ns, w.name), ": spec.template: ", util::Message(decoded.status())));
    }
    return std::make_shared<api::Pod>(**decoded);
  }

  // Adds a pod unless one of that name exists.
  void Add(const Workload& w, const api::Pod& tmpl, const std::string& name, scheduler::Symbol node,
           std::vector<api::PodPtr>* to) {
    auto pod = std::make_shared<api::Pod>(tmpl);
    pod->meta.name = name;
    pod->meta.uid = absl::StrCat("expanded/", w.ns, "/", name);
    pod->node_name = node;
    if (!names_.insert(pod->meta.Key()).second) return;
    to->push_back(std::move(pod));
    ++made.by[w.kind];
  }

  // Creates the missing replicas. Existing pods may have some of the names, so there are more names to try than
  // replicas are missing.
  absl::Status TakeReplicas(const Workload& w) {
    int64_t there = Owned(w), missing = w.replicas - there;
    if (missing <= 0) return absl::OkStatus();
    auto tmpl = Template(w);
    if (!tmpl.ok()) return tmpl.status();
    if (w.claims) {
      made.warnings.push_back(absl::StrCat(ObjectKey(w.kind, w.ns, w.name),
                                           ": its volumeClaimTemplates are not expanded: the pods are placed as if "
                                           "they had no such volumes"));
    }
    const bool ordinal = w.kind == "StatefulSet";
    for (int64_t i = 0; missing > 0 && i < w.replicas + there; ++i) {
      size_t before = rest_.size();
      Add(w, **tmpl, ordinal ? absl::StrCat(w.name, "-", i) : absl::StrFormat("%s-%04d", w.name, i), {}, &rest_);
      missing -= static_cast<int64_t>(rest_.size() - before);
    }
    return absl::OkStatus();
  }

  // Creates the ReplicaSet that the Deployment's controller would create, so that rules about controllers find it.
  absl::Status TakeDeployment(const Workload& w) {
    api::Document d;
    BERTH_RETURN_IF_ERROR(d.Parse(w.text));
    Json spec = d.root().Find("spec");
    Workload set = w;
    set.kind = "ReplicaSet";
    set.name = absl::StrCat(w.name, "-1");
    set.uid = absl::StrCat("expanded/", w.ns, "/", set.name);
    set.text = "{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"metadata\":{\"name\":";
    api::AppendJsonString(set.name, &set.text);
    set.text += ",\"namespace\":";
    api::AppendJsonString(w.ns, &set.text);
    set.text += ",\"uid\":";
    api::AppendJsonString(set.uid, &set.text);
    absl::StrAppend(&set.text, "},\"spec\":{\"replicas\":", w.replicas,
                    ",\"selector\":", spec.Find("selector").Serialize(),
                    ",\"template\":", spec.Find("template").Serialize(), "}}");
    int64_t before = made.by["ReplicaSet"];
    BERTH_RETURN_IF_ERROR(TakeReplicas(set));
    int64_t pods = std::exchange(made.by["ReplicaSet"], before) - before;
    if (before == 0) made.by.erase("ReplicaSet");
    if (pods == 0) return absl::OkStatus();
    made.by["Deployment"] += pods;
    api::Document object;
    BERTH_RETURN_IF_ERROR(object.Parse(set.text));
    auto decoded = api::DecodeObject(object.root(), {}, {.server_defaults = true});
    if (!decoded.ok()) return decoded.status();
    made.objects.push_back(*std::move(decoded));
    return absl::OkStatus();
  }

  // Creates a pod on every node whose labels and taints admit it. As the controller of 1.10 does, it sets
  // spec.nodeName; the scheduler then decides whether the pod fits there.
  absl::Status TakeDaemonSet(const Workload& w) {
    auto tmpl = Template(w);
    if (!tmpl.ok()) return tmpl.status();
    for (const api::Object& o : cluster_) {
      const auto* node = std::get_if<api::NodePtr>(&o);
      if (node == nullptr || !Admits(**node, *(*tmpl)->tmpl)) continue;
      Add(w, **tmpl, absl::StrCat(w.name, "-", (*node)->meta.name), scheduler::Symbol((*node)->meta.name), &first_);
    }
    return absl::OkStatus();
  }

  // Returns whether the DaemonSet controller would create a pod on the node.
  static bool Admits(const api::Node& node, const api::PodTemplate& pod) {
    for (const auto& [key, value] : pod.node_selector) {
      if (node.labels.Get(key) != value) return false;
    }
    if (pod.affinity.node && pod.affinity.node->required &&
        !scheduler::nodeaffinity::TermsMatch(pod.affinity.node->required->terms, node)) {
      return false;
    }
    return std::all_of(node.taints.begin(), node.taints.end(), [&](const api::Taint& taint) {
      // The controller itself adds tolerations for the taints of the node lifecycle.
      std::string_view key = taint.key.str(), effect = taint.effect.str();
      if (key.starts_with("node.kubernetes.io/") || effect == "PreferNoSchedule") return true;
      return std::any_of(pod.tolerations.begin(), pod.tolerations.end(),
                         [&](const api::Toleration& t) { return scheduler::tainttoleration::Tolerates(t, taint); });
    });
  }

 public:
  void Finish() {
    made.pods = std::move(first_);
    made.pods.insert(made.pods.end(), rest_.begin(), rest_.end());
  }

 private:
  const std::vector<api::Object>& cluster_;
  absl::flat_hash_map<std::string, int64_t> owned_;                              // number of pods by controller
  absl::flat_hash_map<std::string, std::vector<const api::Pod*>> uncontrolled_;  // by namespace
  absl::flat_hash_set<std::string> names_;                                       // names of pods
  absl::flat_hash_set<std::string> owners_;                                      // keys of the controllers of workloads
  std::vector<api::PodPtr> first_, rest_;
};

absl::StatusOr<Expander::Made> Expander::Make(Expand mode, const std::vector<api::Object>& cluster,
                                              const std::vector<api::PodPtr>& pending) const {
  if (mode == Expand::kOff || workloads_.empty()) return Made{};
  Maker maker(cluster, pending, workloads_);
  auto has_pods = [&](const Workload& w) { return maker.HasPods(w); };
  if (mode == Expand::kAuto && std::any_of(workloads_.begin(), workloads_.end(), has_pods)) return Made{};
  for (const Workload& w : workloads_) BERTH_RETURN_IF_ERROR(maker.Take(w));
  maker.Finish();
  return std::move(maker.made);
}

}  // namespace berth::lab
