// Decodes pods. Fields of the template go into a PodTemplate, which is interned at the end, so that pods of one
// controller share it.
#include <absl/hash/hash.h>

#include <algorithm>

#include "pkg/api/decode_internal.h"
#include "pkg/api/known_template.h"
#include "pkg/api/pod_spec_fields.h"
#include "pkg/api/validation/value.h"

namespace berth::api {
namespace {

using internal::Is;
using internal::Path;
using internal::Reader;

// Fields that are only needed for the server's defaults.
struct PodExtras {
  bool host_network = false;
  bool host_users = true;
};

// A feature that a node must declare, by what makes a pod need it (Kubernetes 1.36 NodeDeclaredFeatures).
constexpr std::string_view kRestartAllContainers = "RestartAllContainersOnContainerExits",
                           kHostNetworkUsers = "UserNamespacesHostNetworkSupport";

void ReadPort(Reader& r, const Path& at, Json j, ContainerPort* out) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "hostPort")) {
      r.Read(p, v, &out->host_port);
    } else if (Is(key, "containerPort")) {
      r.Read(p, v, &out->container_port);
    } else if (Is(key, "hostIP")) {
      r.Read(p, v, &out->host_ip);
    } else if (Is(key, "protocol")) {
      r.Read(p, v, &out->protocol);
    }
  });
}

void ReadResources(Reader& r, const Path& at, Json j, ResourceList* requests, ResourceList* limits) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "requests")) {
      r.Read(p, v, requests);
    } else if (Is(key, "limits")) {
      r.Read(p, v, limits);
    }
  });
}

bool RestartsAllContainers(Json rules) {
  bool any = false;
  for (auto rule : rules.Children()) any |= rule.value.Find("action").Text() == "RestartAllContainers";
  return any;
}

void ReadContainer(Reader& r, const Path& at, Json j, Container* out, std::vector<Symbol>* node_features) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "image")) {
      r.Read(p, v, &out->image);
    } else if (Is(key, "resources")) {
      ReadResources(r, p, v, &out->requests, &out->limits);
    } else if (Is(key, "ports")) {
      out->ports.clear();
      out->ports.reserve(v.size());
      r.Elements(p, v, [&](const Path& q, Json e) { ReadPort(r, q, e, &out->ports.emplace_back()); });
    } else if (Is(key, "restartPolicy")) {
      std::string policy;
      r.Read(p, v, &policy);
      out->restart_always = policy == "Always";
    } else if (Is(key, "restartPolicyRules") && node_features->empty() && RestartsAllContainers(v)) {
      node_features->push_back(r.Intern(kRestartAllContainers));
    }
  });
}

void ReadContainers(Reader& r, const Path& at, Json j, PodTemplate* t, std::vector<Container>* out) {
  out->clear();
  out->reserve(j.size());
  r.Elements(at, j, [&](const Path& p, Json e) { ReadContainer(r, p, e, &out->emplace_back(), &t->node_features); });
}

void ReadToleration(Reader& r, const Path& at, Json j, Toleration* out) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "key")) {
      r.Read(p, v, &out->key);
    } else if (Is(key, "operator")) {
      r.Read(p, v, &out->op);
    } else if (Is(key, "value")) {
      r.Read(p, v, &out->value);
    } else if (Is(key, "effect")) {
      r.Read(p, v, &out->effect);
    }
  });
}

void ReadNodeAffinity(Reader& r, const Path& at, Json j, NodeAffinity* out) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "requiredDuringSchedulingIgnoredDuringExecution")) {
      r.ReadNodeSelectorTerms(p, v, &out->required.emplace().terms);
    } else if (Is(key, "preferredDuringSchedulingIgnoredDuringExecution")) {
      out->preferred.clear();
      r.Elements(p, v, [&](const Path& q, Json e) {
        PreferredSchedulingTerm& term = out->preferred.emplace_back();
        r.Fields(q, e, [&](std::string_view inner, const Path& s, Json w) {
          if (Is(inner, "weight")) {
            r.Read(s, w, &term.weight);
          } else if (Is(inner, "preference")) {
            r.ReadNodeSelectorTerm(s, w, &term.preference);
          }
        });
      });
    }
  });
}

// The declaring pod's namespace is filled in later, because it may come after the spec.
void ReadPodAffinityTerm(Reader& r, const Path& at, Json j, PodAffinityTerm* out) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "labelSelector")) {
      r.ReadLabelSelector(p, v, &out->selector);
    } else if (Is(key, "namespaces")) {
      r.Read(p, v, &out->namespaces);
    } else if (Is(key, "namespaceSelector")) {
      r.ReadLabelSelector(p, v, &out->namespace_selector.emplace());
    } else if (Is(key, "topologyKey")) {
      r.Read(p, v, &out->topology_key);
    }
  });
}

void ReadPodAffinity(Reader& r, const Path& at, Json j, PodAffinity* out) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "requiredDuringSchedulingIgnoredDuringExecution")) {
      out->required.clear();
      r.Elements(p, v, [&](const Path& q, Json e) { ReadPodAffinityTerm(r, q, e, &out->required.emplace_back()); });
    } else if (Is(key, "preferredDuringSchedulingIgnoredDuringExecution")) {
      out->preferred.clear();
      r.Elements(p, v, [&](const Path& q, Json e) {
        WeightedPodAffinityTerm& term = out->preferred.emplace_back();
        r.Fields(q, e, [&](std::string_view inner, const Path& s, Json w) {
          if (Is(inner, "weight")) {
            r.Read(s, w, &term.weight);
          } else if (Is(inner, "podAffinityTerm")) {
            ReadPodAffinityTerm(r, s, w, &term.term);
          }
        });
      });
    }
  });
}

void ReadAffinity(Reader& r, const Path& at, Json j, Affinity* out) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "nodeAffinity")) {
      ReadNodeAffinity(r, p, v, &out->node.emplace());
    } else if (Is(key, "podAffinity")) {
      ReadPodAffinity(r, p, v, &out->pod.emplace());
    } else if (Is(key, "podAntiAffinity")) {
      ReadPodAffinity(r, p, v, &out->pod_anti.emplace());
    }
  });
}

// Reads a field of the source rbd of a volume.
void ReadRbd(Reader& r, std::string_view key, const Path& at, Json v, Volume* out) {
  if (Is(key, "image")) {
    r.Read(at, v, &out->id);
  } else if (Is(key, "pool")) {
    r.Read(at, v, &out->pool);
  } else if (Is(key, "monitors")) {
    r.Read(at, v, &out->monitors);
  } else if (Is(key, "readOnly")) {
    r.Read(at, v, &out->read_only);
  }
}

// Adds an entry of spec.volumes, if it is of a kind that rules read.
void ReadVolume(Reader& r, const Path& at, Json j, std::vector<Volume>* out, std::vector<Symbol>* images) {
  // The name is read first, because an ephemeral volume is identified by it.
  std::string name;
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "name")) r.Read(p, v, &name);
  });
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    Volume volume;
    auto read = [&](Volume::Kind kind, auto one) {
      volume.kind = kind;
      r.Fields(p, v, one);
      out->push_back(std::move(volume));
    };
    if (Is(key, "persistentVolumeClaim")) {
      read(Volume::Kind::kClaim, [&](std::string_view inner, const Path& q, Json w) {
        if (Is(inner, "claimName")) r.Read(q, w, &volume.id);
      });
    } else if (Is(key, "gcePersistentDisk")) {
      read(Volume::Kind::kGcePd, [&](std::string_view inner, const Path& q, Json w) {
        if (Is(inner, "pdName")) {
          r.Read(q, w, &volume.id);
        } else if (Is(inner, "readOnly")) {
          r.Read(q, w, &volume.read_only);
        }
      });
    } else if (Is(key, "image")) {
      Symbol reference;
      r.Fields(p, v, [&](std::string_view inner, const Path& q, Json w) {
        if (Is(inner, "reference")) r.Read(q, w, &reference);
      });
      if (!reference.empty()) images->push_back(reference);
    } else if (Is(key, "ephemeral")) {
      volume.kind = Volume::Kind::kEphemeral;
      volume.id = name;
      out->push_back(std::move(volume));
    } else if (Is(key, "cinder")) {
      read(Volume::Kind::kCinder, [&](std::string_view inner, const Path& q, Json w) {
        if (Is(inner, "volumeID")) r.Read(q, w, &volume.id);
      });
    } else if (Is(key, "portworxVolume")) {
      read(Volume::Kind::kPortworx, [&](std::string_view inner, const Path& q, Json w) {
        if (Is(inner, "volumeID")) r.Read(q, w, &volume.id);
      });
    } else if (Is(key, "awsElasticBlockStore")) {
      read(Volume::Kind::kAwsEbs, [&](std::string_view inner, const Path& q, Json w) {
        if (Is(inner, "volumeID")) r.Read(q, w, &volume.id);
      });
    } else if (Is(key, "azureDisk")) {
      read(Volume::Kind::kAzureDisk, [&](std::string_view inner, const Path& q, Json w) {
        if (Is(inner, "diskName")) {
          r.Read(q, w, &volume.id);
        } else if (Is(inner, "diskURI")) {
          r.Read(q, w, &volume.uri);
        }
      });
    } else if (Is(key, "iscsi")) {
      read(Volume::Kind::kIscsi, [&](std::string_view inner, const Path& q, Json w) {
        if (Is(inner, "iqn")) {
          r.Read(q, w, &volume.id);
        } else if (Is(inner, "readOnly")) {
          r.Read(q, w, &volume.read_only);
        }
      });
    } else if (Is(key, "rbd")) {
      read(Volume::Kind::kRbd,
           [&](std::string_view inner, const Path& q, Json w) { ReadRbd(r, inner, q, w, &volume); });
    }
  });
}

void ReadSpreadConstraint(Reader& r, const Path& at, Json j, TopologySpreadConstraint* out) {
  using Action = TopologySpreadConstraint::Action;
  std::string text;
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "maxSkew")) {
      r.Read(p, v, &out->max_skew);
    } else if (Is(key, "topologyKey")) {
      r.Read(p, v, &out->topology_key);
    } else if (Is(key, "whenUnsatisfiable")) {
      r.Read(p, v, &text);
      out->action = text == "DoNotSchedule"    ? Action::kDoNotSchedule
                    : text == "ScheduleAnyway" ? Action::kScheduleAnyway
                                               : Action::kOther;
    } else if (Is(key, "labelSelector")) {
      r.ReadLabelSelector(p, v, &out->selector);
    } else if (Is(key, "minDomains")) {
      r.Read(p, v, &out->min_domains);
    } else if (Is(key, "nodeAffinityPolicy")) {
      text = "Honor";
      r.Read(p, v, &text);
      out->honor_node_affinity = text == "Honor";
    } else if (Is(key, "nodeTaintsPolicy")) {
      text = "Ignore";
      r.Read(p, v, &text);
      out->honor_node_taints = text == "Honor";
    } else if (Is(key, "matchLabelKeys")) {
      r.Read(p, v, &out->match_label_keys);
    }
  });
}

void ReadResourceClaim(Reader& r, const Path& at, Json j, PodResourceClaim* out) {
  std::string text;
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "name")) {
      r.Read(p, v, &out->name);
    } else if (Is(key, "resourceClaimName")) {
      r.Read(p, v, &out->claim);
    } else if (Is(key, "resourceClaimTemplateName")) {
      r.Read(p, v, &text);
      out->from_template = !text.empty();
    }
  });
}

// Reads the fields of a pod's spec that are newer than release 1.10.
void ReadAddedSpecField(Reader& r, std::string_view key, const Path& p, Json v, PodTemplate* t) {
  if (Is(key, "topologySpreadConstraints")) {
    t->spread_constraints.clear();
    r.Elements(p, v,
               [&](const Path& q, Json e) { ReadSpreadConstraint(r, q, e, &t->spread_constraints.emplace_back()); });
  } else if (Is(key, "schedulingGates")) {
    t->scheduling_gates.clear();
    r.Elements(p, v, [&](const Path& q, Json e) {
      Symbol& gate = t->scheduling_gates.emplace_back();
      r.Fields(q, e, [&](std::string_view inner, const Path& s, Json w) {
        if (Is(inner, "name")) r.Read(s, w, &gate);
      });
    });
  } else if (Is(key, "overhead")) {
    t->overhead.clear();
    r.Read(p, v, &t->overhead);
  } else if (Is(key, "preemptionPolicy")) {
    std::string policy;
    r.Read(p, v, &policy);
    t->never_preempts = policy == "Never";
  } else if (Is(key, "resources")) {
    ReadResources(r, p, v, &t->pod_requests, &t->pod_limits);
  } else if (Is(key, "resourceClaims")) {
    t->has_resource_claims = v.size() > 0;
    t->resource_claims.clear();
    r.Elements(p, v, [&](const Path& q, Json e) { ReadResourceClaim(r, q, e, &t->resource_claims.emplace_back()); });
  } else if (Is(key, "schedulingGroup") || Is(key, "workloadRef")) {
    t->in_group = true;
  }
}

void ReadMeta(Reader& r, const Path& at, Json j, Pod* pod, PodTemplate* t) {
  r.ReadMeta(at, j, &pod->meta);
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "labels")) {
      r.Read(p, v, &t->labels);
    } else if (Is(key, "ownerReferences")) {
      t->controller.reset();
      r.Elements(p, v, [&](const Path& q, Json e) {
        OwnerReference owner;
        r.ReadOwner(q, e, &owner);
        if (owner.controller && !t->controller) t->controller = std::move(owner);
      });
    }
  });
}

void ReadSpec(Reader& r, const Path& at, Json j, Pod* pod, PodTemplate* t, PodExtras* extras) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "containers")) {
      ReadContainers(r, p, v, t, &t->containers);
    } else if (Is(key, "nodeName")) {
      r.Read(p, v, &pod->node_name);
    } else if (Is(key, "schedulerName")) {
      r.Read(p, v, &t->scheduler_name);
    } else if (Is(key, "priority")) {
      r.Read(p, v, &t->priority);
    } else if (Is(key, "nodeSelector")) {
      r.Read(p, v, &t->node_selector);
    } else if (Is(key, "tolerations")) {
      t->tolerations.clear();
      r.Elements(p, v, [&](const Path& q, Json e) { ReadToleration(r, q, e, &t->tolerations.emplace_back()); });
    } else if (Is(key, "affinity")) {
      t->has_affinity = true;
      t->affinity = {};
      ReadAffinity(r, p, v, &t->affinity);
    } else if (Is(key, "volumes")) {
      t->volumes.clear();
      t->image_volumes.clear();
      r.Elements(p, v, [&](const Path& q, Json e) { ReadVolume(r, q, e, &t->volumes, &t->image_volumes); });
    } else if (Is(key, "initContainers")) {
      ReadContainers(r, p, v, t, &t->init_containers);
    } else if (Is(key, "hostNetwork")) {
      r.Read(p, v, &extras->host_network);
    } else if (Is(key, "hostUsers")) {
      r.Read(p, v, &extras->host_users);
    } else {
      ReadAddedSpecField(r, key, p, v, t);
    }
  });
  t->unknown_fields = UnknownPodSpecFields(j);
  if (extras->host_network && !extras->host_users) t->node_features.push_back(r.Intern(kHostNetworkUsers));
}

// If several conditions have the same type, the first one is used.
void ReadCondition(Reader& r, const Path& at, Json j, Pod* pod, bool* disruption_seen) {
  PodCondition c;
  std::string type;
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "type")) {
      r.Read(p, v, &type);
    } else if (Is(key, "status")) {
      r.Read(p, v, &c.status);
    } else if (Is(key, "reason")) {
      r.Read(p, v, &c.reason);
    } else if (Is(key, "message")) {
      r.Read(p, v, &c.message);
    } else if (Is(key, "lastProbeTime")) {
      r.Read(p, v, &c.last_probe_time);
    } else if (Is(key, "lastTransitionTime")) {
      r.Read(p, v, &c.last_transition_time);
    }
  });
  if (type == "PodScheduled" && !pod->scheduled) {
    pod->scheduled = std::move(c);
  } else if (type == "DisruptionTarget" && !*disruption_seen) {
    *disruption_seen = true;
    pod->preempted_by_scheduler = c.status == "True" && c.reason == "PreemptionByScheduler";
  }
}

PodPhase PhaseOf(std::string_view text) {
  if (text.empty() || text == "Pending") return PodPhase::kPending;
  if (text == "Running") return PodPhase::kRunning;
  if (text == "Succeeded") return PodPhase::kSucceeded;
  if (text == "Failed") return PodPhase::kFailed;
  return PodPhase::kUnknown;
}

void ReadStatus(Reader& r, const Path& at, Json j, Pod* pod) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "phase")) {
      std::string phase;
      r.Read(p, v, &phase);
      pod->phase = PhaseOf(phase);
    } else if (Is(key, "nominatedNodeName")) {
      r.Read(p, v, &pod->nominated_node_name);
    } else if (Is(key, "conditions")) {
      pod->scheduled.reset();
      pod->preempted_by_scheduler = false;
      bool disruption_seen = false;
      r.Elements(p, v, [&](const Path& q, Json e) { ReadCondition(r, q, e, pod, &disruption_seen); });
    } else if (Is(key, "startTime")) {
      r.ReadTime(p, v, &pod->start_seconds.emplace());
    } else if (Is(key, "resourceClaimStatuses")) {
      std::vector<std::pair<std::string, std::optional<std::string>>> claims;
      r.Elements(p, v, [&](const Path& q, Json e) {
        auto& [name, claim] = claims.emplace_back();
        r.Fields(q, e, [&, n = &name, c = &claim](std::string_view inner, const Path& s, Json w) {
          if (Is(inner, "name")) r.Read(s, w, n);
          if (Is(inner, "resourceClaimName")) r.Read(s, w, c);
        });
      });
      pod->claim_statuses.reset();
      if (!claims.empty()) pod->claim_statuses = std::move(claims);
    }
  });
}

// Fills in the namespace: a term without namespaces refers to the pod's own.
void ScopeTerm(Symbol ns, PodAffinityTerm* term) {
  term->namespaces_given = !term->namespaces.empty();
  if (term->namespaces.empty()) term->namespaces = {ns};
  std::sort(term->namespaces.begin(), term->namespaces.end());
  term->namespaces.erase(std::unique(term->namespaces.begin(), term->namespaces.end()), term->namespaces.end());
}
void ScopeTerms(Symbol ns, std::optional<PodAffinity>* affinity) {
  if (!affinity->has_value()) return;
  for (PodAffinityTerm& term : (*affinity)->required) ScopeTerm(ns, &term);
  for (WeightedPodAffinityTerm& term : (*affinity)->preferred) ScopeTerm(ns, &term.term);
}

void ApplyMetaDefaults(Pod* pod) {
  internal::DefaultNamespace(&pod->meta);
  if (pod->meta.uid.empty()) pod->meta.uid = internal::MadeUpUid("pod", pod->meta);
}

void ApplyServerDefaults(const PodExtras& extras, Pod* pod, PodTemplate* t) {
  ApplyMetaDefaults(pod);
  auto each = [&](Container& c) {
    for (const auto& [name, limit] : c.limits) {
      bool requested =
          std::any_of(c.requests.begin(), c.requests.end(), [&, n = name](auto& e) { return e.first == n; });
      if (!requested) c.requests.emplace_back(name, limit);
    }
    for (ContainerPort& port : c.ports) {
      if (extras.host_network && port.host_port == 0) port.host_port = port.container_port;
    }
  };
  // As a server does for the containers; what containers request is added up in any case.
  for (const auto& [name, limit] : t->pod_limits) {
    const auto names = [n = name](const auto& e) { return e.first == n; };
    const auto requests_it = [&](const Container& c) {
      return std::any_of(c.requests.begin(), c.requests.end(), names);
    };
    if (std::any_of(t->pod_requests.begin(), t->pod_requests.end(), names)) continue;
    if (std::any_of(t->containers.begin(), t->containers.end(), requests_it)) continue;
    t->pod_requests.emplace_back(name, limit);
  }
  std::for_each(t->containers.begin(), t->containers.end(), each);
  std::for_each(t->init_containers.begin(), t->init_containers.end(), each);
  for (Volume& v : t->volumes) {
    if (v.kind == Volume::Kind::kRbd && v.pool.empty()) v.pool = "rbd";
  }
}

// Returns Pod::unread. The order of the entries, and the names of the volumes, do not matter.
uint64_t HashOfUnread(Json spec) {
  uint64_t sum = 0;
  for (auto volume : spec.Find("volumes").Children()) {
    for (auto source : volume.value.Children()) {
      if (source.key == "name" || source.key == "configMap" || source.key == "secret") continue;
      sum += absl::HashOf(source.key, source.value.Serialize());
    }
  }
  for (auto toleration : spec.Find("tolerations").Children()) {
    const Json seconds = toleration.value.Find("tolerationSeconds");
    if (seconds.IsNull()) continue;
    sum += absl::HashOf(seconds.Text(), toleration.value.Find("key").Text(), toleration.value.Find("effect").Text());
  }
  return sum;
}

// Adds the limits for which nothing is requested to the requests.
void FillInRequests(const validation::Value& limits, validation::Value* resources) {
  const validation::Value all = limits;
  validation::Value& requests = resources->Child("requests");
  for (size_t i = 0; i < all.keys.size(); ++i) {
    if (requests.Find(all.keys[i]) == nullptr) requests.Set(all.keys[i], all.items[i]);
  }
}

// Sets what ApplyServerDefaults has filled in for a container.
void FillInContainer(bool host_network, validation::Value* container) {
  const validation::Value* limits = container->At({"resources", "limits"});
  if (limits != nullptr && limits->IsObject()) FillInRequests(*limits, &container->Child("resources"));
  validation::Value* ports = container->Find("ports");
  if (!host_network || ports == nullptr || !ports->IsArray()) return;
  for (validation::Value& port : ports->items) {
    const validation::Value *inner = port.Find("containerPort"), *outer = port.Find("hostPort");
    if (inner != nullptr && (outer == nullptr || outer->text() == "0")) {
      port.Set("hostPort", validation::Value(*inner));
    }
  }
}

// Notes the fields of the pod's template, with what was filled in if it was never stored.
void NoteFields(const Pod& pod, Json j, const DecodeOptions& o, bool resized) {
  if (!o.server_defaults || TemplateFields(pod.tmpl) != nullptr) return NoteTemplateFields(pod.tmpl, j, resized);
  auto fields = validation::ParseJson(CutToTemplateFields(j, nullptr, resized));
  if (!fields.ok()) return NoteTemplateFields(pod.tmpl, j, resized);
  fields->Child("metadata").Set("namespace", validation::Value::String(pod.meta.ns.str()));
  validation::Value& spec = fields->Child("spec");
  for (std::string_view list : {"containers", "initContainers"}) {
    validation::Value* containers = spec.Find(list);
    if (containers == nullptr || !containers->IsArray()) continue;
    for (validation::Value& c : containers->items) FillInContainer(j.Find("spec").Find("hostNetwork").Bool(), &c);
  }
  if (const validation::Value* volumes = spec.Find("volumes"); volumes != nullptr && volumes->IsArray()) {
    for (validation::Value& v : spec.Find("volumes")->items) {
      validation::Value* rbd = v.Find("rbd");
      if (rbd != nullptr && rbd->Str("pool").empty()) rbd->Set("pool", validation::Value::String("rbd"));
    }
  }
  validation::Value* const resources = spec.Find("resources");
  if (resources != nullptr && !pod.tmpl->pod_requests.empty()) {
    validation::Value& requests = resources->Child("requests");
    for (const auto& [name, amount] : pod.tmpl->pod_requests) {
      if (requests.Find(name.str()) == nullptr) requests.Set(name.str(), validation::Value::String(amount.String()));
    }
  }
  Document document;
  if (document.Parse(validation::ToJson(*fields)).ok()) NoteTemplateFields(pod.tmpl, document.root(), resized);
}

absl::StatusOr<PodPtr> FinishPod(Reader& r, Json j, const DecodeOptions& o, Pod pod) {
  const std::shared_ptr<const PodTemplate> counted = internal::WithResize(r, j, pod.tmpl);
  if (!r.ok()) return r.Status("Pod", j);
  const bool resized = counted != pod.tmpl;
  pod.tmpl = counted;
  if (pod.node_name.empty()) pod.unread = HashOfUnread(j.Find("spec"));
  if (o.keep_raw && pod.node_name.empty()) pod.raw = std::make_shared<const std::string>(j.Serialize());
  if (KeepsSchedulingFields()) NoteFields(pod, j, o, resized);
  return std::make_shared<const Pod>(std::move(pod));
}

// Reads what does not belong to the template, which is known. The template keeps the text of the namespace.
absl::StatusOr<PodPtr> DecodeOfTemplate(Reader& r, Json j, const DecodeOptions& o, Pod pod) {
  r.Fields({}, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "metadata")) {
      r.ReadMeta(p, v, &pod.meta);
    } else if (Is(key, "spec")) {
      r.Fields(p, v, [&](std::string_view inner, const Path& q, Json w) {
        if (Is(inner, "nodeName")) r.Read(q, w, &pod.node_name);
      });
    } else if (Is(key, "status")) {
      ReadStatus(r, p, v, &pod);
    }
  });
  if (!r.ok()) return r.Status("Pod", j);
  if (o.server_defaults) ApplyMetaDefaults(&pod);
  return FinishPod(r, j, o, std::move(pod));
}

}  // namespace

absl::StatusOr<PodPtr> DecodePodOfTemplate(Json j, std::shared_ptr<const PodTemplate> known) {
  Reader r;
  Pod pod;
  pod.tmpl = std::move(known);
  return DecodeOfTemplate(r, j, {}, std::move(pod));
}

absl::StatusOr<PodPtr> DecodePod(Json j, const DecodeOptions& o) {
  static const Symbol kDefaultScheduler("default-scheduler");
  Reader r;
  Pod pod;
  PodTemplateMemory* const memory = o.templates;
  if (memory != nullptr) pod.tmpl = memory->Find(j);
  if (pod.tmpl != nullptr) return DecodeOfTemplate(r, j, o, std::move(pod));
  PodTemplate t;
  PodExtras extras;
  r.Fields({}, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "metadata")) {
      ReadMeta(r, p, v, &pod, &t);
    } else if (Is(key, "spec")) {
      ReadSpec(r, p, v, &pod, &t, &extras);
    } else if (Is(key, "status")) {
      ReadStatus(r, p, v, &pod);
    }
  });
  if (j.IsNull()) r.Fail({}, j, "must be an object");
  if (!r.ok()) return r.Status("Pod", j);
  if (o.server_defaults) ApplyServerDefaults(extras, &pod, &t);
  t.ns = r.keeper()->Keep(pod.meta.ns);
  if (t.scheduler_name.empty()) t.scheduler_name = kDefaultScheduler;
  ScopeTerms(t.ns, &t.affinity.pod);
  ScopeTerms(t.ns, &t.affinity.pod_anti);
  t.texts = r.keeper()->Take();
  pod.tmpl = PodTemplate::Intern(std::move(t));
  if (memory != nullptr) memory->Remember(pod.tmpl);
  return FinishPod(r, j, o, std::move(pod));
}

}  // namespace berth::api
