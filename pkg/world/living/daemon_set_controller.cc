// DaemonSets (pkg/controller/daemon, 1.36).
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/decode.h"
#include "pkg/util/status.h"
#include "pkg/world/daemon_set.h"
#include "pkg/world/living/actors.h"
#include "pkg/world/living/owned_pods.h"
#include "pkg/world/living/revisions.h"
#include "pkg/world/workload.h"

namespace berth::world::living {
namespace {

constexpr char kDaemonComponent[] = "daemonset-controller";
constexpr absl::Duration kFirstRetry = absl::Seconds(1), kLongestRetry = absl::Minutes(15);
constexpr size_t kMostDaemons = 250;

bool TolerationCovers(const api::Toleration& t, const api::Taint& taint) {
  if (!t.effect.empty() && t.effect != taint.effect) return false;
  if (!t.key.empty() && t.key != taint.key) return false;
  return t.op.str() == "Exists" ||
         ((t.op.empty() || t.op.str() == "Equal") && !t.key.empty() && t.value == taint.value);
}

class DaemonSets final : public Actor {
 public:
  explicit DaemonSets(World* world) : world_(world) {}

  void OnChange(const Change& c) override {
    if (c.kind == "DaemonSet" && !c.gone) {
      sets_.insert({"DaemonSet", std::string(NamespaceOf(*c.object)), std::string(NameOf(*c.object))});
      world_->Enqueue(this, {"DaemonSet", std::string(NamespaceOf(*c.object)), std::string(NameOf(*c.object))});
    } else if (c.kind == "DaemonSet") {
      const ObjectName name{"DaemonSet", std::string(NamespaceOf(*c.object)), std::string(NameOf(*c.object))};
      sets_.erase(name);
      known_.erase(name);
    } else if (c.kind == "Node") {
      // Heartbeats are no reason to look.
      std::string now = c.gone ? std::string() : WhatMatters(*c.object);
      std::string& before = nodes_[std::string(NameOf(*c.object))];
      if (before == now) return;
      before = std::move(now);
      if (!c.gone && world_->rules().daemons_look_at_lone_nodes) {
        world_->Enqueue(this, {"Node", "", std::string(NameOf(*c.object))});
        return;
      }
      for (const ObjectName& set : sets_) world_->Enqueue(this, set, CalmFor(world_->nodes().size()));
    } else if (c.kind == "Pod") {
      for (const PodFactsPtr& pod : {c.before, c.after}) {
        if (pod == nullptr || pod->controller_kind != "DaemonSet") continue;
        world_->Enqueue(this, {"DaemonSet", pod->ns, pod->controller_name},
                        CalmFor(world_->PodsOfController(pod->controller_uid).size()));
      }
    }
  }

  void Sync(const ObjectName& what) override {
    if (what.kind == "Node") return SyncNode(what.name);
    const ValuePtr found = world_->cluster().Get("DaemonSet", what.ns, what.name);
    if (found == nullptr) return;
    const Value& set = *found;
    Look look;
    look.what = what;
    look.pod = PodOf("DaemonSet", set, std::nullopt, world_->rules());
    look.hash = TextAt(look.pod, {"metadata", "labels", "controller-revision-hash"});
    look.min_ready = NumberAt(set, {"spec", "minReadySeconds"});
    const std::string revision = KeepRevision(world_, set);
    const Value selector = validation::OrEmpty(set.At({"spec", "selector"}));
    for (const PodFactsPtr& p : ClaimPods(world_, set, &selector)) look.on_node[p->TargetNode()].push_back(p);
    Decide(what, set, &look);
    const bool is_sound = Selects(&selector, set.At({"spec", "template", "metadata", "labels"}), false);
    if (!IsTerminating(set) && is_sound) {
      Place(set, &look);
      if (TextAt(set, {"spec", "updateStrategy", "type"}) == "RollingUpdate") Roll(set, look);
      TrimRevisions(world_, set, {revision});
    }
    Report(look);
  }

 private:
  struct Look {
    ObjectName what;
    Value pod;  // of the present template
    std::string hash;
    int64_t min_ready = 0;
    std::map<std::string, std::vector<PodFactsPtr>> on_node;
    std::vector<std::string> wanted, kept;  // nodes that should run one; those where one that is there may stay
  };
  struct Failure {
    absl::Duration wait = absl::ZeroDuration(), until = absl::ZeroDuration();
  };

  static std::string WhatMatters(const Value& node) {
    const Value* labels = node.At({"metadata", "labels"});
    const Value* spec = node.Find("spec");
    return absl::StrCat(labels == nullptr ? "" : validation::ToJson(*labels),
                        spec == nullptr ? "" : validation::ToJson(*spec));
  }

  // Has the sets looked at of which a pod is missing on the node, or must not stay there. Another change of it, such as
  // a taint that keeps only new pods away, leaves the status of a set as it is.
  void SyncNode(const std::string& name) {
    const auto node = world_->nodes().find(name);
    if (node == world_->nodes().end()) return;
    for (const ObjectName& set : sets_) {
      const ValuePtr found = world_->cluster().Get("DaemonSet", set.ns, set.name);
      const Template* tmpl = found == nullptr ? nullptr : TemplateOf(set, *found);
      if (tmpl == nullptr) continue;
      const World::PodSet& pods = world_->PodsOfNode(name);
      const bool there = std::any_of(pods.begin(), pods.end(),
                                     [&](const auto& p) { return p.second->controller_uid == UidOf(*found); });
      const bool runs = Runs(*tmpl, *node->second);
      if (there ? !runs && !Stays(*tmpl, *node->second) : runs) {
        world_->Enqueue(this, set, CalmFor(world_->nodes().size()));
      }
    }
  }

  // What decides on which nodes the pods of a set run.
  struct Template {
    std::string version;  // of the set: its uid and resourceVersion
    api::PodPtr pod;
    api::PodTemplate tolerant;  // as the pod, with every toleration
    std::string node_name;
  };
  // Returns null if the pod is not valid.
  const Template* TemplateOf(const ObjectName& what, const Value& set) {
    Template& known = known_[what];
    std::string version =
        absl::StrCat(util::ToAbsl(UidOf(set)), " ", util::ToAbsl(TextAt(set, {"metadata", "resourceVersion"})));
    if (known.version == version) return known.pod == nullptr ? nullptr : &known;
    known = {.version = std::move(version), .pod = nullptr, .tolerant = {}, .node_name = {}};
    Value named = PodOf("DaemonSet", set, std::nullopt, world_->rules());
    named.Child("metadata").Set("name", Value::String("x"));
    api::Document document;
    if (!document.Parse(validation::ToJson(named)).ok()) return nullptr;
    const auto decoded = api::DecodePod(document.root());
    if (!decoded.ok()) return nullptr;
    known.pod = *decoded;
    known.tolerant = *known.pod->tmpl;
    api::Toleration all;
    all.op = api::Symbol("Exists");
    known.tolerant.tolerations = {all};
    known.node_name = TextAt(set, {"spec", "template", "spec", "nodeName"});
    return &known;
  }
  static bool Runs(const Template& t, const api::Node& node) { return DaemonRunsOn(*t.pod->tmpl, t.node_name, node); }
  static bool Stays(const Template& t, const api::Node& node) {
    return DaemonRunsOn(t.tolerant, t.node_name, node) && !IsDrivenOut(*t.pod->tmpl, node);
  }

  void Decide(const ObjectName& what, const Value& set, Look* look) {
    const Template* tmpl = TemplateOf(what, set);
    if (tmpl == nullptr) return;
    for (const auto& [name, node] : world_->nodes()) {
      const bool runs = Runs(*tmpl, *node);
      if (runs) look->wanted.push_back(name);
      if (runs || Stays(*tmpl, *node)) look->kept.push_back(name);
    }
  }
  static bool IsDrivenOut(const api::PodTemplate& pod, const api::Node& node) {
    return std::any_of(node.taints.begin(), node.taints.end(), [&](const api::Taint& taint) {
      return taint.effect.str() == "NoExecute" &&
             std::none_of(pod.tolerations.begin(), pod.tolerations.end(),
                          [&](const api::Toleration& t) { return TolerationCovers(t, taint); });
    });
  }

  // Makes pods where they are missing, and deletes those that have failed, that are too many and that must not be
  // there.
  void Place(const Value& set, Look* look) {
    const bool surge = ShareOf(set.At({"spec", "updateStrategy", "rollingUpdate", "maxSurge"}), 1, true, 0) > 0;
    size_t made = 0;
    for (const std::string& node : look->wanted) {
      std::vector<PodFactsPtr>& pods = look->on_node[node];
      bool waits = false;
      int64_t running = 0;
      for (const PodFactsPtr& p : pods) {
        if (p->terminating) {
          waits = true;
        } else if (p->IsFinished()) {
          waits = true;
          Replace(set, node, *p, look->what);
        } else {
          ++running;
        }
      }
      if (running > 1 && !surge) DropTwins(set, pods);
      if (running > 0 || waits) continue;
      if (++made > kMostDaemons) {
        world_->Enqueue(this, look->what);
        break;
      }
      if (!Create(set, node, *look)) break;
    }
    for (const auto& [node, pods] : look->on_node) {
      if (std::binary_search(look->kept.begin(), look->kept.end(), node)) continue;
      // The pods of nodes that are gone are another controller's.
      if (!world_->nodes().contains(node)) continue;
      for (const PodFactsPtr& p : pods) {
        if (!p->terminating) DeletePod(world_, set, kDaemonComponent, *p);
      }
    }
  }

  bool Create(const Value& set, const std::string& node, const Look& look) {
    Value pod = look.pod;
    if (world_->rules().daemon_pods_are_scheduled) {
      PinToNode(node, &pod);
    } else {
      pod.Child("spec").Set("nodeName", Value::String(node));
    }
    if (!CreatePod(world_, set, kDaemonComponent, std::move(pod))) return true;
    world_->EnqueueTry(this, look.what, kFirstRetry);
    return false;
  }

  void Replace(const Value& set, const std::string& node, const PodFacts& pod, const ObjectName& what) {
    Failure& f = failures_[absl::StrCat(util::ToAbsl(UidOf(set)), "/", node)];
    if (f.until > world_->Steady()) {
      world_->Enqueue(this, what, f.until - world_->Steady());
      return;
    }
    f.wait = f.wait == absl::ZeroDuration() ? kFirstRetry : std::min(f.wait * 2, kLongestRetry);
    f.until = world_->Steady() + f.wait;
    world_->Record(
        set, kDaemonComponent, "", "Warning", "FailedDaemonPod",
        absl::StrCat("Found failed daemon pod ", pod.ns, "/", pod.name, " on node ", node, ", will try to kill it"));
    DeletePod(world_, set, kDaemonComponent, pod);
  }

  // Of several pods on a node, the oldest stays.
  void DropTwins(const Value& set, std::vector<PodFactsPtr> pods) {
    std::erase_if(pods, [](const PodFactsPtr& p) { return !p->IsActive(); });
    std::sort(pods.begin(), pods.end(), [](const PodFactsPtr& a, const PodFactsPtr& b) {
      return std::pair(a->created, std::string_view(a->uid)) < std::pair(b->created, std::string_view(b->uid));
    });
    for (size_t i = 1; i < pods.size(); ++i) DeletePod(world_, set, kDaemonComponent, *pods[i]);
  }

  // Replaces pods of older templates: those that are not available first, others as far as maxUnavailable allows. With
  // maxSurge the new pod comes first, and the old one goes when that is available.
  void Roll(const Value& set, const Look& look) {
    const auto nodes = static_cast<int64_t>(look.wanted.size());
    const Value& bounds = validation::OrEmpty(set.At({"spec", "updateStrategy", "rollingUpdate"}));
    const int64_t surge = ShareOf(bounds.Find("maxSurge"), nodes, true, 0);
    int64_t down = ShareOf(bounds.Find("maxUnavailable"), nodes, true, surge > 0 ? 0 : 1), up = surge;
    if (surge == 0) down = std::max<int64_t>(down, 1);
    std::vector<PodFactsPtr> sick, well;
    std::vector<std::string> beside;
    for (const std::string& node : look.wanted) {
      PodFactsPtr old, fresh;
      bool leaves = false;
      auto it = look.on_node.find(node);
      if (it == look.on_node.end()) continue;
      for (const PodFactsPtr& p : it->second) {
        leaves = leaves || p->terminating;
        if (p->IsActive()) (p->revision == look.hash ? fresh : old) = p;
      }
      const bool available = fresh != nullptr && fresh->IsAvailable(look.min_ready, world_->Now());
      if (surge == 0) {
        if (old == nullptr) {
          down -= !available;
        } else if (!old->IsAvailable(look.min_ready, world_->Now())) {
          sick.push_back(old);
          --down;
        } else if (!leaves) {
          well.push_back(old);
        }
        continue;
      }
      if (old != nullptr && available) sick.push_back(old);
      if (fresh != nullptr && (old != nullptr || leaves)) --up;
      if (old != nullptr && fresh == nullptr) beside.push_back(node);
    }
    for (const PodFactsPtr& p : sick) DeletePod(world_, set, kDaemonComponent, *p);
    for (const PodFactsPtr& p : well) {
      if (down-- <= 0) break;
      DeletePod(world_, set, kDaemonComponent, *p);
    }
    for (const std::string& node : beside) {
      if (up-- <= 0 || !Create(set, node, look)) break;
    }
  }

  void Report(const Look& look) {
    const ValuePtr found = world_->cluster().Get("DaemonSet", look.what.ns, look.what.name);
    if (found == nullptr) return;
    Value set = *found;
    std::map<std::string, std::vector<PodFactsPtr>> on_node;
    for (const auto& [uid, p] : world_->PodsOfController(UidOf(set))) on_node[p->TargetNode()].push_back(p);
    int64_t scheduled = 0, misplaced = 0, ready = 0, available = 0, updated = 0;
    for (const auto& [node, pods] : on_node) {
      if (!std::binary_search(look.wanted.begin(), look.wanted.end(), node)) {
        misplaced += world_->nodes().contains(node);
        continue;
      }
      ++scheduled;
      const PodFacts& p = **std::min_element(pods.begin(), pods.end(), [](const PodFactsPtr& a, const PodFactsPtr& b) {
        return std::pair(a->terminating, a->created) < std::pair(b->terminating, b->created);
      });
      updated += p.revision == look.hash;
      if (!p.ready) continue;
      ++ready;
      if (p.IsAvailable(look.min_ready, world_->Now())) {
        ++available;
      } else {
        world_->Enqueue(this, look.what, p.ready_since + absl::Seconds(look.min_ready) - world_->Now());
      }
    }
    const auto desired = static_cast<int64_t>(look.wanted.size());
    Value& status = set.Child("status");
    status.SetAll({{"currentNumberScheduled", scheduled},
                   {"numberMisscheduled", misplaced},
                   {"desiredNumberScheduled", desired},
                   {"numberReady", ready}});
    SetCount("numberAvailable", available, &status);
    SetCount("numberUnavailable", desired - available, &status);
    SetCount("updatedNumberScheduled", updated, &status);
    status.Set("observedGeneration", Value::Int(NumberAt(set, {"metadata", "generation"})));
    WriteStatus(world_, "DaemonSet", *found, std::move(set));
  }

  World* world_;
  absl::btree_set<ObjectName> sets_;
  std::map<ObjectName, Template> known_;                 // of sets_
  absl::flat_hash_map<std::string, std::string> nodes_;  // labels and spec by name
  absl::flat_hash_map<std::string, Failure> failures_;   // by set and node
};

}  // namespace

std::unique_ptr<Actor> NewDaemonSetController(World* world) {
  return std::make_unique<DaemonSets>(world);
}

}  // namespace berth::world::living
