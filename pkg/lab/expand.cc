#include "pkg/lab/expand.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "pkg/explain/output.h"
#include "pkg/lab/kept_fields.h"
#include "pkg/util/status.h"
#include "pkg/world/daemon_set.h"
#include "pkg/world/workload.h"

namespace berth::lab {
namespace {

using api::Json;
using world::Value;

// A workload with more pods is a mistake in the file and would exhaust the memory.
constexpr int64_t kMostReplicas = 1'000'000;
constexpr std::string_view kDurationAnnotations[] = {"schedsim/duration", "simulate.berth/runs-for",
                                                     "pod-complete.stage.kwok.x-k8s.io/delay"};

std::string Text(Json j) {
  return std::string(j.Text());
}

// Returns an error if a member of the workload's spec that says how many pods it has is out of range.
absl::Status CheckNumbers(std::string_view key, const Value& workload) {
  for (std::string_view member : {"replicas", "parallelism", "completions"}) {
    const Value* v = workload.At({"spec", member});
    if (v == nullptr || !v->IsNumber() || (v->AsInt() >= 0 && v->AsInt() <= kMostReplicas)) continue;
    if (member == "completions" && v->AsInt() > 0) continue;
    return util::InvalidArgument(absl::StrCat(util::ToAbsl(key), ": ", v->AsInt(), " ", util::ToAbsl(member),
                                              ": should be 0 to ", kMostReplicas));
  }
  return absl::OkStatus();
}

// Returns whether the pod's annotations say something to `schedsim`, such as when it arrives.
bool HasOwnAnnotations(const Value& pod) {
  const Value* annotations = pod.At({"metadata", "annotations"});
  return annotations != nullptr && std::any_of(annotations->keys.begin(), annotations->keys.end(),
                                               [](std::string_view key) { return key.starts_with("schedsim/"); });
}

// Returns whether an annotation says how long the pod runs, to schedsim, to simulated kubelets or to KWOK.
bool HasDuration(const Value& pod) {
  return std::any_of(std::begin(kDurationAnnotations), std::end(kDurationAnnotations),
                     [&](std::string_view key) { return !world::AnnotationOf(pod, key).empty(); });
}

// Makes the template of the pod with another number than the first, where numbers occur only in labels and in the names
// of claims.
class Renumbering {
 public:
  Renumbering(const std::string& kind, const std::string& name, int64_t first, int64_t number)
      : is_set_(kind == "StatefulSet"), name_(name), first_(first), number_(absl::StrCat(number)) {}

  TemplatePtr Of(const TemplatePtr& first) const {
    api::PodTemplate t = *first;
    std::vector<std::pair<api::Symbol, api::Symbol>> labels(t.labels.begin(), t.labels.end());
    for (auto& [key, value] : labels) {
      if (const auto text = LabelOf(key.str())) value = api::Symbol(*text);
    }
    t.labels = api::Labels(std::move(labels));
    for (api::Volume& v : t.volumes) {
      if (v.kind == api::Volume::Kind::kClaim) v.id = ClaimOf(std::move(v.id));
    }
    auto made = api::PodTemplate::Intern(std::move(t));
    KeepFields(first, made, [this](Value* pod) { Change(pod); });
    return made;
  }

 private:
  void Change(Value* pod) const {
    if (Value* labels = pod->Child("metadata").Find("labels"); labels != nullptr && labels->IsObject()) {
      for (size_t i = 0; i < labels->keys.size(); ++i) {
        if (const auto text = LabelOf(labels->keys[i])) labels->items[i] = Value::String(*text);
      }
    }
    Value* volumes = pod->Child("spec").Find("volumes");
    if (volumes == nullptr || !volumes->IsArray()) return;
    for (Value& v : volumes->items) {
      Value* claim = v.Find("persistentVolumeClaim");
      if (claim != nullptr) claim->Set("claimName", Value::String(ClaimOf(std::string(claim->Str("claimName")))));
    }
  }
  // Returns the value of a label that has the number.
  std::optional<std::string> LabelOf(std::string_view key) const {
    if (key == "statefulset.kubernetes.io/pod-name") return absl::StrCat(name_, "-", number_);
    if (key == "apps.kubernetes.io/pod-index" || key == "batch.kubernetes.io/job-completion-index") return number_;
    return std::nullopt;
  }
  std::string ClaimOf(std::string claim) const {
    const std::string end = absl::StrCat("-", name_, "-", first_);
    if (!is_set_ || !claim.ends_with(end)) return claim;
    return absl::StrCat(claim.substr(0, claim.size() - end.size()), "-", name_, "-", number_);
  }

  const bool is_set_;
  const std::string name_;
  const int64_t first_;
  const std::string number_;
};

}  // namespace

std::string ObjectKey(std::string_view kind, std::string_view ns, std::string_view name) {
  return absl::StrCat(util::ToAbsl(kind), " ", util::ToAbsl(ns), "/", util::ToAbsl(name));
}

void Expander::Add(Json j, std::string_view kind, bool stored, const std::string& made_name) {
  Json meta = j.Find("metadata");
  Workload w;
  w.kind = kind;
  w.name = made_name.empty() ? Text(meta.Find("name")) : made_name;
  w.ns = Text(meta.Find("namespace"));
  if (w.ns.empty()) w.ns = "default";
  w.stored = stored;
  if (Json replicas = j.Find("spec").Find("replicas"); replicas.IsInt()) w.replicas = replicas.Int();
  if (!j.Find("spec").Find("template").IsObject()) return;  // without a template there is nothing to create pods from
  for (auto owner : meta.Find("ownerReferences").Children()) {
    if (!owner.value.Find("controller").Bool()) continue;
    w.owner_key = ObjectKey(owner.value.Find("kind").Text(), w.ns, owner.value.Find("name").Text());
  }
  if (made_name.empty()) {
    w.text = j.Serialize();
  } else {
    world::Value named = validation::FromJson(j);
    named.Child("metadata").Set("name", world::Value::String(made_name));
    w.text = validation::ToJson(named);
  }
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
        const std::vector<Workload>& workloads, bool autoscaled, Manifests* manifests)
      : cluster_(cluster), autoscaled_(autoscaled), manifests_(manifests) {
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
  bool HasPods(const Workload& w) const { return Owned(w.kind, w) > 0 || Adoptable(w) > 0; }

  absl::Status Take(const Workload& w) {
    const std::string key = ObjectKey(w.kind, w.ns, w.name);
    // A Deployment creates ReplicaSets. If one of them is in the input, the pods are created for that ReplicaSet.
    if (w.kind == "Deployment" && owners_.contains(key)) return absl::OkStatus();
    auto value = ValueOf(w, manifests_->rules());
    if (!value.ok()) return value.status();
    BERTH_RETURN_IF_ERROR(CheckNumbers(key, *value));
    Autoscale(key, &*value);
    if (!w.stored && !manifests_->CreateOther(w.kind, *value)) return absl::OkStatus();
    if (w.kind == "Deployment") return TakeDeployment(w, *value);
    if (w.kind == "DaemonSet") return TakeDaemonSet(w, *value);
    return TakeReplicas(w, w.kind, *value);
  }

  // Returns the workload as a server has it: with its kind, namespace and uid, and a Job with its labels.
  static absl::StatusOr<Value> ValueOf(const Workload& w, const world::Rules& rules) {
    auto value = validation::ParseJson(w.text);
    if (!value.ok()) return value.status();
    if (value->Str("kind").empty()) value->Set("kind", Value::String(w.kind));
    if (value->Str("apiVersion").empty()) {
      value->Set("apiVersion", Value::String(w.kind == "Job"                     ? "batch/v1"
                                             : w.kind == "ReplicationController" ? "v1"
                                                                                 : "apps/v1"));
    }
    Value& meta = value->Child("metadata");
    meta.Set("namespace", Value::String(w.ns));
    if (meta.Str("uid").empty()) meta.Set("uid", Value::String(world::MadeUpUid(w.kind, w.ns, w.name)));
    if (w.kind == "Job" && !w.stored) world::CompleteJob(rules, &*value);
    return value;
  }

  void Finish() {
    made.pods = std::move(first_);
    made.pods.insert(made.pods.end(), rest_.begin(), rest_.end());
    for (const auto& [why, without] : none_) {
      made.warnings.push_back(
          absl::StrCat(without.second, " ", why, ": no pod is made of it",
                       without.first > 1 ? absl::StrCat(" (and of ", without.first - 1, " more)") : ""));
    }
  }

  Made made;

 private:
  // Finished pods do not count as replicas, but their names are taken.
  void Count(const api::Pod& pod) {
    names_.insert(pod.meta.Key());
    if (pod.Finished()) return;
    if (!pod.tmpl->controller) {
      if (!pod.meta.deleting()) uncontrolled_[pod.meta.ns.string()].push_back(&pod);
      return;
    }
    const std::string key = ObjectKey(pod.tmpl->controller->kind.str(), pod.meta.ns.str(), pod.tmpl->controller->name);
    ++owned_[key];
    if (pod.tmpl->controller->kind.str() == "DaemonSet") daemon_nodes_.insert(key + " " + NodeOf(pod));
  }

  // Returns the node that a DaemonSet's pod is on or is pinned to.
  static std::string NodeOf(const api::Pod& pod) {
    if (!pod.node_name.empty()) return pod.node_name.string();
    const auto& affinity = pod.tmpl->affinity.node;
    if (!affinity || !affinity->required) return "";
    for (const api::NodeSelectorTerm& term : affinity->required->terms) {
      for (const api::FieldRequirement& f : term.fields) {
        if (f.key.str() == "metadata.name" && f.values.size() == 1) return f.values[0].string();
      }
    }
    return "";
  }

  int64_t Owned(std::string_view kind, const Workload& w) const {
    auto it = owned_.find(ObjectKey(kind, w.ns, w.name));
    return it == owned_.end() ? 0 : it->second;
  }

  // Returns how many pods without a controller the workload's selector matches.
  int64_t Adoptable(const Workload& w) const {
    auto loose = uncontrolled_.find(w.ns);
    if (loose == uncontrolled_.end()) return 0;
    api::Document d;
    if (!d.Parse(w.text).ok()) return 0;
    Json spec = d.root().Find("spec"), selector = spec.Find("selector");
    // The selector of a ReplicationController is a map of labels. A workload without a selector uses its template's
    // labels.
    Json labels = w.kind == "ReplicationController" ? selector : spec.Find("template").Find("metadata").Find("labels");
    const bool by_labels = selector.size() == 0 || w.kind == "ReplicationController";
    const api::DecidedSelector decided = api::DecideLabelSelector(selector);
    auto matches = [&](const api::Pod* pod) {
      if (!by_labels) return decided.ok() && decided.selector.Matches(pod->tmpl->labels);
      auto same = [&](Json::Member m) {
        return pod->tmpl->labels.Get(api::Symbol(m.key)) == api::Symbol(m.value.Text());
      };
      bool all = labels.size() > 0;
      for (auto member : labels.Children()) all = all && same(member);
      return all;
    };
    return std::count_if(loose->second.begin(), loose->second.end(), matches);
  }

  // Raises the replicas of the target of a HorizontalPodAutoscaler to its minimum.
  void Autoscale(const std::string& key, Value* workload) {
    manifests_->table().Each("HorizontalPodAutoscaler", world::NamespaceOf(*workload), [&](const Value& hpa) {
      const Value* target = hpa.At({"spec", "scaleTargetRef"});
      if (target == nullptr || target->Str("kind") != workload->Str("kind") ||
          target->Str("name") != world::NameOf(*workload)) {
        return;
      }
      const Value* given = hpa.At({"spec", "minReplicas"});
      const int64_t least = given != nullptr && given->IsNumber() ? given->AsInt() : 1;
      Value& spec = workload->Child("spec");
      const Value* replicas = spec.Find("replicas");
      const bool named = replicas != nullptr && replicas->IsNumber();
      if (named && (replicas->AsInt() >= least || replicas->AsInt() == 0)) return;
      const bool use = !named || autoscaled_;
      made.warnings.push_back(absl::StrCat("HorizontalPodAutoscaler ", util::ToAbsl(world::NamespaceOf(hpa)), "/",
                                           util::ToAbsl(world::NameOf(hpa)), ": ", key, " has at least ",
                                           explain::Counted(least, "pod"),
                                           use ? ", which is what is created"
                                               : absl::StrCat("; its replicas are created, ", replicas->AsInt(),
                                                              " (--autoscaled creates the minimum)")));
      if (use) spec.Set("replicas", Value::Int(least));
    });
  }

  void NoteNone(const Workload& w, const std::string& why) {
    auto& [count, first] = none_[why];
    if (count++ == 0) first = ObjectKey(w.kind, w.ns, w.name);
  }

  // Adds a pod unless one of that name exists. Returns whether there is one of that name now.
  absl::StatusOr<bool> Add(const std::string& ns, const std::string& name, std::shared_ptr<const api::PodTemplate> tmpl,
                           const Manifests::Completed& completed, std::vector<api::PodPtr>* to) {
    auto pod = std::make_shared<api::Pod>();
    pod->meta.name = name;
    pod->meta.ns = api::Symbol(ns);
    pod->meta.uid = absl::StrCat("expanded/", ns, "/", name);
    pod->tmpl = std::move(tmpl);
    if (!names_.insert(pod->meta.Key()).second) return false;
    if (HasOwnAnnotations(*completed.pod)) {
      Value raw = *completed.pod;
      raw.Child("metadata").Set("name", Value::String(name));
      pod->raw = api::SharedText(validation::ToJson(raw));
    }
    auto created = manifests_->Create(completed, *pod);
    if (!created.ok()) return created.status();
    if (*created) to->push_back(std::move(pod));
    return true;
  }

  // Completes the pod that the workload's template makes; errors name the workload.
  absl::StatusOr<Manifests::Completed> Complete(const Workload& w, Value pod, const std::string& name) {
    auto completed = manifests_->Complete(std::move(pod), name);
    if (completed.ok()) return completed;
    return util::InvalidArgument(
        absl::StrCat(ObjectKey(w.kind, w.ns, w.name), ": spec.template: ", util::Message(completed.status())));
  }

  // Creates the missing replicas. Existing pods may have some of the names, so there are more names to try than
  // replicas are missing.
  absl::Status TakeReplicas(const Workload& w, const std::string& kind, const Value& value) {
    const world::WantedPods wanted = world::PodsWantedBy(kind, value, manifests_->rules());
    const bool adopts = kind == "ReplicaSet" || kind == "ReplicationController";
    const int64_t there = Owned(kind, w) + (adopts ? Adoptable(w) : 0);
    int64_t missing = wanted.count - there;
    if (wanted.count == 0 && !wanted.why_none.starts_with("has replicas")) NoteNone(w, wanted.why_none);
    if (missing <= 0) return absl::OkStatus();
    const bool numbered = !wanted.numbers.empty();
    const size_t before = rest_.size();
    // A number is part of names, and a number that is taken is left out; other names are tried until enough are free.
    auto name_of = [&](int64_t number) {
      if (kind == "StatefulSet") return absl::StrCat(w.name, "-", number);
      if (numbered) return absl::StrCat(w.name, "-", number, "-0000");
      return absl::StrFormat("%s-%04d", w.name, number);
    };
    const int64_t first = numbered ? wanted.numbers[0] : 0;
    std::optional<int64_t> first_number;
    if (numbered) first_number = first;
    auto completed = Complete(w, world::PodOf(kind, value, first_number, manifests_->rules()), name_of(first));
    if (!completed.ok()) return completed.status();
    if (completed->tmpl == nullptr) {
      for (int64_t i = 0; i < missing; ++i) manifests_->Refuse("Pod", name_of(first + i), *completed->refusal);
      return absl::OkStatus();
    }
    // Labels that pods do not share may be merged into selectors, and a pod that keeps its JSON has them there.
    const bool each =
        numbered && (w.text.find("atchLabelKeys") != std::string::npos || HasOwnAnnotations(*completed->pod));
    const int64_t tries = numbered ? static_cast<int64_t>(wanted.numbers.size()) : wanted.count + there;
    for (int64_t i = 0; missing > 0 && i < tries; ++i) {
      const int64_t number = numbered ? wanted.numbers[static_cast<size_t>(i)] : i;
      if (kind == "StatefulSet") {
        for (Value& claim : world::ClaimsOfOrdinal(value, number)) {
          if (auto made_claim = manifests_->CreateClaim(std::move(claim)); !made_claim.ok()) return made_claim.status();
        }
      }
      Manifests::Completed made_for = *completed;
      if (each) {
        auto own = Complete(w, world::PodOf(kind, value, number, manifests_->rules()), name_of(number));
        if (!own.ok()) return own.status();
        if (own->tmpl != nullptr) made_for = *std::move(own);
      } else if (numbered && number != first) {
        made_for.tmpl = Renumbering(kind, w.name, first, number).Of(completed->tmpl);
      }
      auto added = Add(w.ns, name_of(number), made_for.tmpl, made_for, &rest_);
      if (!added.ok()) return added.status();
      missing -= *added ? 1 : 0;
    }
    made.by[w.kind] += static_cast<int64_t>(rest_.size() - before);
    return absl::OkStatus();
  }

  // Creates the ReplicaSet that the Deployment's controller would create, so that rules about controllers find it.
  absl::Status TakeDeployment(const Workload& w, const Value& value) {
    Value set = world::ReplicaSetOf(value);
    Workload own = w;
    own.name = world::NameOf(set);
    own.text = validation::ToJson(set);
    set.Child("metadata").Set("uid", Value::String(absl::StrCat("expanded/", w.ns, "/", own.name)));
    if (!manifests_->CreateOther("ReplicaSet", set)) return absl::OkStatus();
    const size_t before = rest_.size();
    BERTH_RETURN_IF_ERROR(TakeReplicas(own, "ReplicaSet", set));
    if (rest_.size() == before) return absl::OkStatus();
    made.scales[ObjectKey("ReplicaSet", w.ns, own.name)] = {static_cast<int64_t>(rest_.size() - before),
                                                            ObjectKey("Deployment", w.ns, w.name)};
    api::Document object;
    BERTH_RETURN_IF_ERROR(object.Parse(validation::ToJson(set)));
    auto decoded = api::DecodeObject(object.root(), {}, {.server_defaults = true});
    if (!decoded.ok()) return decoded.status();
    made.objects.push_back(*std::move(decoded));
    return absl::OkStatus();
  }

  // Creates a pod for every node whose labels and taints admit it. In releases in which the controller binds its pods
  // itself, they have their node.
  absl::Status TakeDaemonSet(const Workload& w, const Value& value) {
    Value pod = world::PodOfDaemonSet(value, manifests_->rules());
    const std::string node_name(validation::OrEmpty(pod.Find("spec")).Str("nodeName"));
    auto completed = Complete(w, std::move(pod), w.name);
    if (!completed.ok()) return completed.status();
    if (completed->tmpl == nullptr) {
      manifests_->Refuse("Pod", w.name, *completed->refusal);
      return absl::OkStatus();
    }
    const std::string key = ObjectKey(w.kind, w.ns, w.name);
    const bool scheduled = manifests_->rules().daemon_pods_are_scheduled;
    const size_t before = first_.size();
    for (const api::Object& o : cluster_) {
      const auto* node = std::get_if<api::NodePtr>(&o);
      if (node == nullptr || !world::DaemonRunsOn(*completed->tmpl, node_name, **node)) continue;
      const std::string& on = (*node)->meta.name;
      if (daemon_nodes_.contains(key + " " + on)) continue;
      auto tmpl = scheduled ? world::PinnedToNode(*completed->tmpl, on) : completed->tmpl;
      if (scheduled) KeepFields(completed->tmpl, tmpl, [&](Value* v) { world::PinToNode(on, v); });
      auto added = Add(w.ns, absl::StrCat(w.name, "-", on), std::move(tmpl), *completed, &first_);
      if (!added.ok()) return added.status();
      if (scheduled || first_.empty() || first_.back()->meta.name != absl::StrCat(w.name, "-", on)) continue;
      auto bound = std::make_shared<api::Pod>(*first_.back());
      bound->node_name = api::Symbol(on);
      made.bound_by_controller.insert(bound.get());
      first_.back() = std::move(bound);
    }
    if (first_.size() > before) made.by[w.kind] += static_cast<int64_t>(first_.size() - before);
    return absl::OkStatus();
  }

  const std::vector<api::Object>& cluster_;
  const bool autoscaled_;
  Manifests* const manifests_;
  absl::flat_hash_map<std::string, int64_t> owned_;                              // number of pods by controller
  absl::flat_hash_map<std::string, std::vector<const api::Pod*>> uncontrolled_;  // by namespace
  absl::flat_hash_set<std::string> names_;                                       // names of pods
  absl::flat_hash_set<std::string> owners_;                                      // keys of the controllers of workloads
  absl::flat_hash_set<std::string> daemon_nodes_;  // "DaemonSet ns/name node" of their pods
  std::map<std::string, std::pair<int64_t, std::string>> none_;
  std::vector<api::PodPtr> first_, rest_;
};

absl::StatusOr<Expander::Made> Expander::Make(Expand mode, bool autoscaled, const std::vector<api::Object>& cluster,
                                              const std::vector<api::PodPtr>& pending, Manifests* manifests) const {
  if (mode == Expand::kOff || workloads_.empty()) return Made{};
  Maker maker(cluster, pending, workloads_, autoscaled, manifests);
  auto has_pods = [&](const Workload& w) { return maker.HasPods(w); };
  if (mode == Expand::kAuto && std::any_of(workloads_.begin(), workloads_.end(), has_pods)) return Made{};
  for (const Workload& w : workloads_) BERTH_RETURN_IF_ERROR(maker.Take(w));
  maker.Finish();
  return std::move(maker.made);
}

absl::StatusOr<std::vector<Daemon>> Expander::Daemons(Manifests* manifests) const {
  std::vector<Daemon> daemons;
  for (const Workload& w : workloads_) {
    if (w.kind != "DaemonSet") continue;
    auto value = Maker::ValueOf(w, manifests->rules());
    if (!value.ok()) return value.status();
    Value pod = world::PodOfDaemonSet(*value, manifests->rules());
    Daemon daemon{ObjectKey(w.kind, w.ns, w.name), nullptr,
                  std::string(validation::OrEmpty(pod.Find("spec")).Str("nodeName"))};
    auto completed = manifests->Complete(std::move(pod), "");
    if (!completed.ok() || completed->tmpl == nullptr) continue;
    auto made = std::make_shared<api::Pod>();
    made->meta.name = w.name;
    made->meta.ns = api::Symbol(w.ns);
    made->tmpl = completed->tmpl;
    daemon.pod = std::move(made);
    daemons.push_back(std::move(daemon));
  }
  return daemons;
}

std::string Expander::FirstThatGoesOn() const {
  for (const Workload& w : workloads_) {
    if (w.kind != "Job") continue;
    const auto job = validation::ParseJson(w.text);
    if (!job.ok()) continue;
    const Value* completions = job->At({"spec", "completions"});
    const Value* parallelism = job->At({"spec", "parallelism"});
    const int64_t at_once = parallelism != nullptr && parallelism->IsNumber() ? parallelism->AsInt() : 1;
    const bool more = completions != nullptr && completions->IsNumber() && completions->AsInt() > at_once;
    const Value& pod = validation::OrEmpty(job->At({"spec", "template"}));
    if (more && at_once > 0 && HasDuration(pod)) return ObjectKey(w.kind, w.ns, w.name);
  }
  return {};
}

std::map<std::string, Scale> Expander::Scales() const {
  std::map<std::string, Scale> scales;
  for (const Workload& w : workloads_) {
    const std::string key = ObjectKey(w.kind, w.ns, w.name);
    if (w.kind != "Job" && w.kind != "DaemonSet") scales[key] = {w.replicas, key};
  }
  for (const Workload& w : workloads_) {
    auto owner = scales.find(w.owner_key);
    if (w.kind != "ReplicaSet" || owner == scales.end()) continue;
    scales[ObjectKey(w.kind, w.ns, w.name)] = {owner->second.replicas, owner->first};
  }
  return scales;
}

}  // namespace berth::lab
