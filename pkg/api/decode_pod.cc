// Decodes pods. Fields of the template go into a PodTemplate, which is interned at the end, so that pods of one
// controller share it.
#include <absl/hash/hash.h>

#include <algorithm>

#include "pkg/api/decode_internal.h"
#include "pkg/api/known_template.h"
#include "pkg/api/pod_spec_fields.h"
#include "pkg/api/validation/value.h"

namespace berth::api::internal {
namespace {

// Fields that are only needed for the server's defaults.
struct PodExtras {
  bool host_network = false;
  bool host_users = true;
};

// A feature that a node must declare, by what makes a pod need it (Kubernetes 1.36 NodeDeclaredFeatures).
constexpr std::string_view kRestartAllContainers = "RestartAllContainersOnContainerExits",
                           kHostNetworkUsers = "UserNamespacesHostNetworkSupport";

bool RestartsAllContainers(Json rules) {
  bool any = false;
  for (auto rule : rules.Children()) any |= rule.value.Find("action").Text() == "RestartAllContainers";
  return any;
}

PodPhase PhaseOf(std::string_view text) {
  if (text.empty() || text == "Pending") return PodPhase::kPending;
  if (text == "Running") return PodPhase::kRunning;
  if (text == "Succeeded") return PodPhase::kSucceeded;
  if (text == "Failed") return PodPhase::kFailed;
  return PodPhase::kUnknown;
}

}  // namespace

// ---- the template ---------------------------------------------------------------------------------

static void Read(Reader& r, const Path& at, Json j, ContainerPort* out) {
  r.Members(at, j, Member("hostPort", &out->host_port), Member("containerPort", &out->container_port),
            Member("hostIP", &out->host_ip), Member("protocol", &out->protocol));
}

static void ReadContainers(Reader& r, const Path& at, Json j, PodTemplate* t, std::vector<Container>* out) {
  out->clear();
  out->reserve(j.size());
  r.Elements(at, j, [&](const Path& p, Json e) {
    Container& c = out->emplace_back();
    const auto rules = [&](const Path&, Json v) {
      if (t->node_features.empty() && RestartsAllContainers(v)) {
        t->node_features.push_back(r.Intern(kRestartAllContainers));
      }
    };
    r.Members(p, e, Member("image", &c.image),
              Member("resources", Member("requests", &c.requests), Member("limits", &c.limits)),
              Member("ports", &c.ports), Member("restartPolicy", IsWord{"Always", &c.restart_always}),
              Member("restartPolicyRules", rules));
  });
}

static void Read(Reader& r, const Path& at, Json j, Toleration* out) {
  r.Members(at, j, Member("key", &out->key), Member("operator", &out->op), Member("value", &out->value),
            Member("effect", &out->effect));
}

static void Read(Reader& r, const Path& at, Json j, NodeSelector* out) {
  r.Members(at, j, Member("nodeSelectorTerms", &out->terms));
}

static void Read(Reader& r, const Path& at, Json j, PreferredSchedulingTerm* out) {
  r.Members(at, j, Member("weight", &out->weight), Member("preference", &out->preference));
}

// The declaring pod's namespace is filled in later, because it may come after the spec.
static void Read(Reader& r, const Path& at, Json j, PodAffinityTerm* out) {
  r.Members(at, j, Member("labelSelector", &out->selector), Member("namespaces", &out->namespaces),
            Member("namespaceSelector", &out->namespace_selector), Member("topologyKey", &out->topology_key));
}

static void Read(Reader& r, const Path& at, Json j, WeightedPodAffinityTerm* out) {
  r.Members(at, j, Member("weight", &out->weight), Member("podAffinityTerm", &out->term));
}

// NodeAffinity and PodAffinity.
template <typename T>
static void ReadTerms(Reader& r, const Path& at, Json j, T* out) {
  r.Members(at, j, Member("requiredDuringSchedulingIgnoredDuringExecution", &out->required),
            Member("preferredDuringSchedulingIgnoredDuringExecution", &out->preferred));
}
static void Read(Reader& r, const Path& at, Json j, NodeAffinity* out) {
  ReadTerms(r, at, j, out);
}
static void Read(Reader& r, const Path& at, Json j, PodAffinity* out) {
  ReadTerms(r, at, j, out);
}

static void Read(Reader& r, const Path& at, Json j, Affinity* out) {
  *out = {};
  r.Members(at, j, Member("nodeAffinity", &out->node), Member("podAffinity", &out->pod),
            Member("podAntiAffinity", &out->pod_anti));
}

// Adds an entry of spec.volumes, if it is of a kind that rules read.
static void ReadVolume(Reader& r, const Path& at, Json j, PodTemplate* t) {
  using Kind = Volume::Kind;
  std::string name;
  Volume volume;
  const auto add = [&](Kind kind, auto... members) {
    return [&, kind, members...](const Path& p, Json v) {
      volume = {};
      volume.kind = kind;
      r.Members(p, v, members...);
      t->volumes.push_back(std::move(volume));
    };
  };
  const auto add_ephemeral = [&] {
    t->volumes.emplace_back();
    t->volumes.back().kind = Kind::kEphemeral;
    t->volumes.back().id = name;
  };
  const auto read_image = [&](const Path& p, Json v) {
    Symbol reference;
    r.Members(p, v, Member("reference", &reference));
    if (!reference.empty()) t->image_volumes.push_back(reference);
  };
  // The name is read first, because an ephemeral volume is identified by it.
  r.Members(at, j, Member("name", &name));
  r.Members(at, j, Member("persistentVolumeClaim", add(Kind::kClaim, Member("claimName", &volume.id))),
            Member("gcePersistentDisk",
                   add(Kind::kGcePd, Member("pdName", &volume.id), Member("readOnly", &volume.read_only))),
            Member("image", read_image), Member("ephemeral", add_ephemeral),
            Member("cinder", add(Kind::kCinder, Member("volumeID", &volume.id))),
            Member("portworxVolume", add(Kind::kPortworx, Member("volumeID", &volume.id))),
            Member("awsElasticBlockStore", add(Kind::kAwsEbs, Member("volumeID", &volume.id))),
            Member("azureDisk", add(Kind::kAzureDisk, Member("diskName", &volume.id), Member("diskURI", &volume.uri))),
            Member("iscsi", add(Kind::kIscsi, Member("iqn", &volume.id), Member("readOnly", &volume.read_only))),
            Member("rbd", add(Kind::kRbd, Member("image", &volume.id), Member("pool", &volume.pool),
                              Member("monitors", &volume.monitors), Member("readOnly", &volume.read_only))));
}

static void Read(Reader& r, const Path& at, Json j, TopologySpreadConstraint* out) {
  using Action = TopologySpreadConstraint::Action;
  std::string action;
  const auto decide = [&] {
    out->action = action == "DoNotSchedule"    ? Action::kDoNotSchedule
                  : action == "ScheduleAnyway" ? Action::kScheduleAnyway
                                               : Action::kOther;
  };
  r.Members(at, j, Member("maxSkew", &out->max_skew), Member("topologyKey", &out->topology_key),
            Member("whenUnsatisfiable", &action, decide), Member("labelSelector", &out->selector),
            Member("minDomains", &out->min_domains),
            Member("nodeAffinityPolicy", IsWord{"Honor", &out->honor_node_affinity}),
            Member("nodeTaintsPolicy", IsWord{"Honor", &out->honor_node_taints}),
            Member("matchLabelKeys", &out->match_label_keys));
}

static void Read(Reader& r, const Path& at, Json j, PodResourceClaim* out) {
  std::string from;
  r.Members(at, j, Member("name", &out->name), Member("resourceClaimName", &out->claim),
            Member("resourceClaimTemplateName", &from, [&] { out->from_template = !from.empty(); }));
}

static void ReadMeta(Reader& r, const Path& at, Json j, Pod* pod, PodTemplate* t) {
  Read(r, at, j, &pod->meta);
  r.Members(at, j, Member("labels", &t->labels),
            Member(
                "ownerReferences", [&] { t->controller.reset(); }, ControllerOf{&t->controller}));
}

static void ReadSpec(Reader& r, const Path& at, Json j, Pod* pod, PodTemplate* t, PodExtras* extras) {
  const auto containers = [&](std::vector<Container>* out) {
    return [&, out](const Path& p, Json v) { ReadContainers(r, p, v, t, out); };
  };
  const auto volumes = [&](const Path& p, Json v) {
    t->volumes.clear();
    t->image_volumes.clear();
    r.Elements(p, v, [&](const Path& q, Json e) { ReadVolume(r, q, e, t); });
  };
  const auto gates = [&](const Path& p, Json v) {
    t->scheduling_gates.clear();
    r.Elements(p, v,
               [&](const Path& q, Json e) { r.Members(q, e, Member("name", &t->scheduling_gates.emplace_back())); });
  };
  const auto any_claims = [&](const Path&, Json v) { t->has_resource_claims = v.size() > 0; };
  r.Members(at, j, Member("containers", containers(&t->containers)), Member("nodeName", &pod->node_name),
            Member("schedulerName", &t->scheduler_name), Member("priority", &t->priority),
            Member("nodeSelector", &t->node_selector), Member("tolerations", &t->tolerations),
            Member("affinity", Given{&t->has_affinity}, &t->affinity), Member("volumes", volumes),
            Member("initContainers", containers(&t->init_containers)), Member("hostNetwork", &extras->host_network),
            Member("hostUsers", &extras->host_users),
            // Fields that are newer than release 1.10.
            Member("topologySpreadConstraints", &t->spread_constraints), Member("schedulingGates", gates),
            Member(
                "overhead", [&] { t->overhead.clear(); }, &t->overhead),
            Member("preemptionPolicy", IsWord{"Never", &t->never_preempts}),
            Member("resources", Member("requests", &t->pod_requests), Member("limits", &t->pod_limits)),
            Member("resourceClaims", any_claims, &t->resource_claims), Member("schedulingGroup", Given{&t->in_group}),
            Member("workloadRef", Given{&t->in_group}));
  t->unknown_fields = UnknownPodSpecFields(j);
  if (extras->host_network && !extras->host_users) t->node_features.push_back(r.Intern(kHostNetworkUsers));
}

// ---- the status -----------------------------------------------------------------------------------

// If several conditions have the same type, the first one is used.
static void ReadCondition(Reader& r, const Path& at, Json j, Pod* pod, bool* disruption_seen) {
  PodCondition c;
  std::string type;
  r.Members(at, j, Member("type", &type), Member("status", &c.status), Member("reason", &c.reason),
            Member("message", &c.message), Member("lastProbeTime", &c.last_probe_time),
            Member("lastTransitionTime", &c.last_transition_time));
  if (type == "PodScheduled" && !pod->scheduled) {
    pod->scheduled = std::move(c);
  } else if (type == "DisruptionTarget" && !*disruption_seen) {
    *disruption_seen = true;
    pod->preempted_by_scheduler = c.status == "True" && c.reason == "PreemptionByScheduler";
  }
}

static void Read(Reader& r, const Path& at, Json j, std::pair<std::string, std::optional<std::string>>* out) {
  r.Members(at, j, Member("name", &out->first), Member("resourceClaimName", &out->second));
}

static void ReadStatus(Reader& r, const Path& at, Json j, Pod* pod) {
  std::string phase;
  std::vector<std::pair<std::string, std::optional<std::string>>> claims;
  const auto conditions = [&](const Path& p, Json v) {
    pod->scheduled.reset();
    pod->preempted_by_scheduler = false;
    bool disruption_seen = false;
    r.Elements(p, v, [&](const Path& q, Json e) { ReadCondition(r, q, e, pod, &disruption_seen); });
  };
  const auto keep_claims = [&] {
    pod->claim_statuses.reset();
    if (!claims.empty()) pod->claim_statuses = std::move(claims);
  };
  r.Members(at, j, Member("phase", &phase, [&] { pod->phase = PhaseOf(phase); }),
            Member("nominatedNodeName", &pod->nominated_node_name), Member("conditions", conditions),
            Member("startTime", Time(&pod->start_seconds)), Member("resourceClaimStatuses", &claims, keep_claims));
}

namespace {

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
  DefaultNamespace(&pod->meta);
  if (pod->meta.uid.empty()) pod->meta.uid = MadeUpUid("pod", pod->meta);
}

bool Has(const ResourceList& list, Symbol name) {
  return std::any_of(list.begin(), list.end(), [&](const auto& entry) { return entry.first == name; });
}

void ApplyServerDefaults(const PodExtras& extras, Pod* pod, PodTemplate* t) {
  ApplyMetaDefaults(pod);
  // As a server does for the containers; what containers request is added up in any case.
  for (const auto& [name, limit] : t->pod_limits) {
    const auto requests_it = [n = name](const Container& c) { return Has(c.requests, n); };
    if (Has(t->pod_requests, name) || std::any_of(t->containers.begin(), t->containers.end(), requests_it)) continue;
    t->pod_requests.emplace_back(name, limit);
  }
  for (std::vector<Container>* list : {&t->containers, &t->init_containers}) {
    for (Container& c : *list) {
      for (const auto& [name, limit] : c.limits) {
        if (!Has(c.requests, name)) c.requests.emplace_back(name, limit);
      }
      for (ContainerPort& port : c.ports) {
        if (extras.host_network && port.host_port == 0) port.host_port = port.container_port;
      }
    }
  }
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

absl::StatusOr<PodPtr> FinishPod(Reader& r, Json j, const DecodeOptions& o, Pod pod, uint64_t unread) {
  const std::shared_ptr<const PodTemplate> counted = WithResize(r, j, pod.tmpl);
  if (!r.ok()) return r.Status("Pod", j);
  const bool resized = counted != pod.tmpl;
  pod.tmpl = counted;
  if (pod.node_name.empty()) pod.unread = unread;
  if (o.keep_raw && pod.node_name.empty()) pod.raw = SharedText(j.Serialize());
  if (KeepsSchedulingFields()) NoteFields(pod, j, o, resized);
  return std::make_shared<const Pod>(std::move(pod));
}

// Reads what does not belong to the template, which is known. The template keeps the text of the namespace.
absl::StatusOr<PodPtr> DecodeOfTemplate(Reader& r, Json j, const DecodeOptions& o, PodTemplateMemory::Known known) {
  Pod pod;
  pod.tmpl = std::move(known.tmpl);
  r.Members({}, j, Member("metadata", &pod.meta), Member("spec", Member("nodeName", &pod.node_name)),
            Member("status", [&](const Path& p, Json v) { ReadStatus(r, p, v, &pod); }));
  if (!r.ok()) return r.Status("Pod", j);
  if (known.spec_is_unread) pod.node_name = util::SharedSymbol(known.node_name);
  if (o.server_defaults) ApplyMetaDefaults(&pod);
  return FinishPod(r, j, o, std::move(pod), known.unread);
}

absl::StatusOr<PodPtr> DecodeWhole(Reader& r, Json j, const DecodeOptions& o) {
  static const Symbol kDefaultScheduler("default-scheduler");
  Pod pod;
  PodTemplate t;
  PodExtras extras;
  r.Members({}, j, Member("metadata", [&](const Path& p, Json v) { ReadMeta(r, p, v, &pod, &t); }),
            Member("spec", [&](const Path& p, Json v) { ReadSpec(r, p, v, &pod, &t, &extras); }),
            Member("status", [&](const Path& p, Json v) { ReadStatus(r, p, v, &pod); }));
  if (j.IsNull()) r.Fail({}, j, "must be an object");
  if (!r.ok()) return r.Status("Pod", j);
  if (o.server_defaults) ApplyServerDefaults(extras, &pod, &t);
  t.ns = r.keeper()->Keep(pod.meta.ns);
  if (t.scheduler_name.empty()) t.scheduler_name = kDefaultScheduler;
  ScopeTerms(t.ns, &t.affinity.pod);
  ScopeTerms(t.ns, &t.affinity.pod_anti);
  t.texts = r.keeper()->Take();
  pod.tmpl = PodTemplate::Intern(std::move(t));
  const bool remembers = o.templates != nullptr;
  const uint64_t unread = remembers || pod.node_name.empty() ? HashOfUnread(j.Find("spec")) : 0;
  if (remembers) o.templates->Remember(j, pod.tmpl, unread);
  return FinishPod(r, j, o, std::move(pod), unread);
}

// Reads a pod whose spec was left unread, from its text.
absl::StatusOr<PodPtr> DecodeAgain(std::string_view text, DecodeOptions o) {
  Document whole;
  if (absl::Status s = whole.Parse(text, nullptr, Unread::kManagedFields); !s.ok()) return s;
  o.templates = nullptr;
  Reader r(o);
  return DecodeWhole(r, whole.root(), o);
}

}  // namespace
}  // namespace berth::api::internal

namespace berth::api {

absl::StatusOr<PodPtr> DecodePodOfTemplate(Json j, std::shared_ptr<const PodTemplate> known) {
  internal::Reader r;
  PodTemplateMemory::Known of_template;
  of_template.tmpl = std::move(known);
  of_template.unread = internal::HashOfUnread(j.Find("spec"));
  return internal::DecodeOfTemplate(r, j, {}, std::move(of_template));
}

absl::StatusOr<PodPtr> DecodePod(Json j, const DecodeOptions& o) {
  internal::Reader r;
  if (o.templates == nullptr) return internal::DecodeWhole(r, j, o);
  PodTemplateMemory::Known known = o.templates->Find(j);
  const bool whole = known.tmpl == nullptr || (known.spec_is_unread && internal::SaysWhatContainersHave(j));
  if (!whole) return internal::DecodeOfTemplate(r, j, o, std::move(known));
  return known.spec_is_unread ? internal::DecodeAgain(known.text, o) : internal::DecodeWhole(r, j, o);
}

}  // namespace berth::api
