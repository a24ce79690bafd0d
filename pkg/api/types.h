// The objects that a scheduler reads, with only the fields that scheduling needs.
//
// All are immutable once decoded and passed around as shared_ptr<const T>. Texts that repeat are symbols. What pods
// made from one template share is stored once, in a PodTemplate. Optional texts are empty when absent, as in Go. The
// rules for fields are those of the Kubernetes 1.10 API. Quantities keep their exact value (quantity.h).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/compact.h"
#include "pkg/api/labels.h"
#include "pkg/api/quantity.h"
#include "pkg/util/symbol.h"

namespace berth::api {

// (resource name, amount) in the object's order; of equal names the last one is used.
using ResourceList = std::vector<std::pair<Symbol, Quantity>>;

struct OwnerReference {
  Symbol api_version, kind;
  std::string name, uid;
  bool controller = false;
  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};

struct ObjectMeta {
  std::string name;
  util::SharedSymbol ns;  // "namespace"; empty for cluster-wide kinds
  std::string uid;
  Text resource_version;
  int64_t generation = 0;         // counts changes of spec (of pods: Kubernetes 1.33); 0 when absent
  int64_t creation_seconds = 0;   // Unix time; 0 when absent
  OptionalTime deletion_seconds;  // deletionTimestamp
  // The fields that scheduling reads, as JSON. Null for pods, and unless decoders keep them (scheduling_fields.h).
  SharedText fields;
  util::KeptTexts texts;  // of the object's symbols; a pod's are kept by its template
  bool deleting() const { return deletion_seconds.has_value(); }
  // Returns "namespace/name", or the name alone for cluster-wide kinds.
  std::string Key() const { return ns.empty() ? name : ns.string() + "/" + name; }
};

// ---- Pod ----------------------------------------------------------------------------------------

struct Toleration {
  Symbol key, op, value, effect;  // op: "", "Equal" or "Exists"; any other tolerates nothing
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

struct Taint {
  Symbol key, value, effect;
  friend bool operator==(const Taint&, const Taint&) = default;
};

struct ContainerPort {
  Symbol host_ip, protocol;  // empty: 0.0.0.0, TCP
  int32_t host_port = 0, container_port = 0;
  friend bool operator==(const ContainerPort&, const ContainerPort&) = default;
};

struct Container {
  Symbol image;
  ResourceList requests, limits;
  std::vector<ContainerPort> ports;
  bool restart_always = false;  // restartPolicy Always; an init container with it is a sidecar (Kubernetes 1.29)
  friend bool operator==(const Container&, const Container&) = default;
};

// One entry of matchFields. Only the field metadata.name has a value; every other field is empty.
struct FieldRequirement {
  Symbol key;
  std::string op;
  std::vector<Symbol> values;  // as written
  friend bool operator==(const FieldRequirement&, const FieldRequirement&) = default;
};

// A node selector term. Release 1.10 reads only `match` (matchExpressions), and a term without expressions matches
// nothing. Later releases match expressions and fields together, and only a term with neither matches nothing.
struct NodeSelectorTerm {
  DecidedSelector match;
  bool has_expressions = false;
  std::vector<FieldRequirement> fields;
  // Problems of the term in later releases, by path ("matchFields[0].values: ..."); empty if it is valid.
  std::vector<std::string> problems;
  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};
struct NodeSelector {
  std::vector<NodeSelectorTerm> terms;  // one must match; see TermsMatch in algorithm/nodeaffinity for invalid terms
  friend bool operator==(const NodeSelector&, const NodeSelector&) = default;
};
struct PreferredSchedulingTerm {
  int32_t weight = 0;
  NodeSelectorTerm preference;
  friend bool operator==(const PreferredSchedulingTerm&, const PreferredSchedulingTerm&) = default;
};
struct NodeAffinity {
  std::optional<NodeSelector> required;
  std::vector<PreferredSchedulingTerm> preferred;
  friend bool operator==(const NodeAffinity&, const NodeAffinity&) = default;
};

struct PodAffinityTerm {
  DecidedSelector selector;        // absent labelSelector: matches nothing
  std::vector<Symbol> namespaces;  // sorted; never empty: defaulted to the declaring pod's namespace
  bool namespaces_given = false;   // false: `namespaces` is the default, which a namespaceSelector replaces
  std::optional<DecidedSelector> namespace_selector;  // absent: selects no namespace; empty: selects all
  Symbol topology_key;
  friend bool operator==(const PodAffinityTerm&, const PodAffinityTerm&) = default;
};
struct WeightedPodAffinityTerm {
  int32_t weight = 0;
  PodAffinityTerm term;
  friend bool operator==(const WeightedPodAffinityTerm&, const WeightedPodAffinityTerm&) = default;
};
// podAffinity or podAntiAffinity.
struct PodAffinity {
  std::vector<PodAffinityTerm> required;
  std::vector<WeightedPodAffinityTerm> preferred;
  friend bool operator==(const PodAffinity&, const PodAffinity&) = default;
};

struct Affinity {
  std::optional<NodeAffinity> node;
  std::optional<PodAffinity> pod, pod_anti;
  friend bool operator==(const Affinity&, const Affinity&) = default;
};

// The parts of a volume that predicates read. Other kinds of volumes are left out when decoding. Release 1.10 has
// neither a limit for Cinder nor ephemeral volumes, and ignores both.
struct Volume {
  enum class Kind : uint8_t { kGcePd, kAwsEbs, kIscsi, kRbd, kAzureDisk, kClaim, kCinder, kEphemeral, kPortworx };
  Kind kind = Kind::kClaim;
  bool read_only = false;  // GCE, iSCSI, RBD
  // pdName, volumeID, iqn, RBD image, diskName or claimName; for an ephemeral volume its own name, whose claim is
  // called "<pod name>-<volume name>".
  std::string id;
  std::string uri;                    // Azure disk: diskURI
  std::string pool;                   // RBD
  std::vector<std::string> monitors;  // RBD
  friend bool operator==(const Volume&, const Volume&) = default;
};

// One entry of spec.topologySpreadConstraints (Kubernetes 1.29), with defaults filled in.
struct TopologySpreadConstraint {
  enum class Action : uint8_t { kDoNotSchedule, kScheduleAnyway, kOther };  // whenUnsatisfiable
  int32_t max_skew = 0;
  Symbol topology_key;
  Action action = Action::kOther;
  DecidedSelector selector;  // absent labelSelector: matches nothing
  int32_t min_domains = 1;
  bool honor_node_affinity = true;  // nodeAffinityPolicy
  bool honor_node_taints = false;   // nodeTaintsPolicy
  // Counted pods must also have the pod's own values of these labels. Keys that the pod itself lacks are ignored.
  std::vector<Symbol> match_label_keys;
  friend bool operator==(const TopologySpreadConstraint&, const TopologySpreadConstraint&) = default;
};

// One entry of spec.resourceClaims (Kubernetes 1.34). If both names are empty, the entry says nothing.
struct PodResourceClaim {
  Symbol name;
  std::string claim;           // resourceClaimName
  bool from_template = false;  // resourceClaimTemplateName is set: the status names the claim that was generated
  friend bool operator==(const PodResourceClaim&, const PodResourceClaim&) = default;
};

// Everything about a pod that decides where it may go, except its name and node. Equal templates are one object (see
// PodTemplate::Intern), so comparing pointers compares templates.
struct PodTemplate {
  Symbol ns;
  Labels labels;
  std::optional<OwnerReference> controller;  // the first owner with controller=true
  Symbol scheduler_name;                     // "default-scheduler" when absent
  std::optional<int32_t> priority;           // spec.priority
  Labels node_selector;
  Affinity affinity;
  bool has_affinity = false;  // spec.affinity was given
  std::vector<Toleration> tolerations;
  std::vector<Container> containers, init_containers;
  std::vector<Volume> volumes;
  // Fields of later releases, which release 1.10 does not read.
  ResourceList overhead;  // spec.overhead
  // spec.resources, which says what the pod needs as a whole, of cpu, memory and huge pages (Kubernetes 1.34). While
  // the pod or one of its containers is resized in place, requests are what counts until that is done
  // (decode_resize.cc).
  ResourceList pod_requests, pod_limits;
  std::vector<TopologySpreadConstraint> spread_constraints;
  std::vector<Symbol> scheduling_gates;           // their names, in order
  bool never_preempts = false;                    // preemptionPolicy Never
  bool has_resource_claims = false;               // spec.resourceClaims is not empty (Kubernetes 1.34)
  std::vector<PodResourceClaim> resource_claims;  // its entries
  bool in_group = false;  // spec.schedulingGroup or workloadRef: to be placed with others (1.35)
  // The features that a node must declare for the pod (status.declaredFeatures, Kubernetes 1.36), sorted by name.
  std::vector<Symbol> node_features;
  std::vector<Symbol> image_volumes;  // image.reference of volumes (Kubernetes 1.35)
  // Fields of the spec that are newer than this program: "spec.fromTheFuture" (pod_spec_fields.h).
  std::vector<std::string> unknown_fields;
  util::KeptTexts texts, resize_texts;  // of the symbols above
  friend bool operator==(const PodTemplate&, const PodTemplate&) = default;

  int32_t PriorityOrZero() const { return priority.value_or(0); }

  // Returns the one shared copy of an equal template. Unused copies are freed. Thread-safety: thread-safe.
  static std::shared_ptr<const PodTemplate> Intern(PodTemplate t);
  // Returns how many interned templates exist.
  static size_t InternedCount();
};

struct PodCondition {
  std::string status, reason, message;
  std::string last_probe_time, last_transition_time;  // as written; empty: null
};

enum class PodPhase : uint8_t { kPending, kRunning, kSucceeded, kFailed, kUnknown };  // absent: pending

struct Pod {
  ObjectMeta meta;
  std::shared_ptr<const PodTemplate> tmpl;  // never null
  util::SharedSymbol node_name;             // spec.nodeName
  util::SharedSymbol nominated_node_name;   // status.nominatedNodeName
  PodPhase phase = PodPhase::kPending;
  // Whether the first DisruptionTarget condition is True because of PreemptionByScheduler (Kubernetes 1.26 and later).
  bool preempted_by_scheduler = false;
  Rare<PodCondition> scheduled;  // the PodScheduled condition
  // status.resourceClaimStatuses: the name of an entry of spec.resourceClaims, and the claim that was generated for it,
  // which is nullopt if none is needed.
  Rare<std::vector<std::pair<std::string, std::optional<std::string>>>> claim_statuses;
  OptionalTime start_seconds;  // status.startTime
  // A hash of what no rule reads but batching compares (Kubernetes 1.35): the sources of volumes other than config maps
  // and secrets, and for how long taints are tolerated. 0 for pods with a node.
  uint64_t unread = 0;
  // The server's own JSON of this object. It is kept for pods without a node, because what is written back is that JSON
  // with our change; otherwise null.
  SharedText raw;

  bool Finished() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
  int32_t Priority() const { return tmpl->PriorityOrZero(); }
};

// ---- Node ---------------------------------------------------------------------------------------

struct NodeCondition {
  Symbol type, status;
  friend bool operator==(const NodeCondition&, const NodeCondition&) = default;
};
struct NodeImage {
  std::vector<Symbol> names;
  int64_t size_bytes = 0;
  friend bool operator==(const NodeImage&, const NodeImage&) = default;
};
// status.images. Copies share it, and so do the versions of a node between which it did not change
// (NodeImagesMemory in decode.h).
class NodeImages {
 public:
  NodeImages() = default;
  // `texts` keeps the names.
  explicit NodeImages(std::vector<NodeImage> images, util::KeptTexts texts = {});
  size_t size() const { return shared_ == nullptr ? 0 : shared_->images.size(); }
  bool empty() const { return size() == 0; }
  const NodeImage* begin() const { return shared_ == nullptr ? nullptr : shared_->images.data(); }
  const NodeImage* end() const { return begin() + size(); }
  friend bool operator==(const NodeImages& a, const NodeImages& b);

 private:
  friend class NodeImagesMemory;
  struct Shared {
    std::vector<NodeImage> images;
    util::KeptTexts texts;
  };
  std::shared_ptr<const Shared> shared_;  // null: none
};
// One entry of the annotation scheduler.alpha.kubernetes.io/preferAvoidPods: the controller to avoid.
struct AvoidPods {
  Symbol kind;
  std::string uid;
  bool has_controller = false;
  friend bool operator==(const AvoidPods&, const AvoidPods&) = default;
};
struct Node {
  ObjectMeta meta;
  Labels labels;
  bool unschedulable = false;
  // Nodes that were decoded one after another share lists that are alike.
  SharedList<Taint> taints;
  SharedList<ResourceList::value_type> allocatable;
  SharedList<NodeCondition> conditions;  // in order, duplicates kept
  NodeImages images;
  SharedList<Symbol> declared_features;  // status.declaredFeatures (Kubernetes 1.35)
  SharedList<AvoidPods> avoid_pods;      // empty when the annotation is missing or not valid JSON
  SharedText raw;                        // only if extenders need whole nodes

  // Returns whether nothing that scheduling reads differs, as after a heartbeat.
  bool SchedulesLike(const Node& o) const;
};

// ---- Owners, volumes, policies ------------------------------------------------------------------

struct Service {
  ObjectMeta meta;
  std::optional<Labels> selector;  // absent: no selector
};
struct ReplicationController {
  ObjectMeta meta;
  Labels selector;
};
// ReplicaSet and StatefulSet: a label selector object.
struct ReplicaSet {
  ObjectMeta meta;
  DecidedSelector selector;
};
struct StatefulSet {
  ObjectMeta meta;
  DecidedSelector selector;
};

struct PersistentVolume {
  ObjectMeta meta;
  Labels labels;
  std::optional<Quantity> capacity;  // spec.capacity.storage
  std::vector<Symbol> access_modes;
  std::string storage_class_name;               // spec
  std::optional<std::string> class_annotation;  // volume.beta.kubernetes.io/storage-class
  std::optional<std::string> volume_mode;
  std::string attributes_class;  // volumeAttributesClassName (Kubernetes 1.34)
  struct ClaimRef {
    std::string ns, name, uid;
  };
  std::optional<ClaimRef> claim_ref;
  bool bound_by_controller = false;  // the annotation pv.kubernetes.io/bound-by-controller exists
  // spec.nodeAffinity.required, and the required terms of the alpha annotation. Every term must match (B-32, kept).
  std::vector<NodeSelectorTerm> node_affinity, annotation_affinity;
  bool annotation_affinity_bad = false;  // the annotation is not valid JSON
  enum class Source : uint8_t { kOther, kGcePd, kAwsEbs, kAzureDisk, kCinder, kCsi, kPortworx };
  Source source = Source::kOther;
  std::string source_id;   // pdName, volumeID, diskName, volumeHandle
  std::string source_uri;  // Azure disk: diskURI
  Symbol csi_driver;       // spec.csi.driver
  std::string phase;       // status.phase, as written
  SharedText raw;          // the server's own JSON
  // Returns the annotation's class if there is one, otherwise spec.storageClassName.
  const std::string& Class() const { return class_annotation ? *class_annotation : storage_class_name; }
};

struct PersistentVolumeClaim {
  ObjectMeta meta;
  std::string volume_name;
  std::optional<std::string> storage_class_name;  // spec
  std::optional<std::string> class_annotation;
  bool bind_completed = false;  // the annotation pv.kubernetes.io/bind-completed exists
  std::vector<Symbol> access_modes;
  std::optional<std::string> volume_mode;
  std::string attributes_class;  // volumeAttributesClassName (Kubernetes 1.34)
  Quantity request;              // spec.resources.requests.storage
  bool has_request = false;
  std::optional<DecidedSelector> selector;  // spec.selector
  std::string phase;                        // status.phase, as written
  std::string controller_uid;               // uid of the owner reference with controller=true, if there is one
  SharedText raw;                           // the server's own JSON, for unbound claims if the decoder keeps it
  // The annotation volume.kubernetes.io/selected-node: the node for which the volume is being provisioned.
  std::optional<std::string> selected_node;
  std::string Class() const {
    return class_annotation ? *class_annotation : storage_class_name.value_or(std::string());
  }
};

struct StorageClass {
  ObjectMeta meta;
  std::optional<std::string> binding_mode;  // volumeBindingMode
  std::string provisioner;
  // allowedTopologies: a node is allowed if one of the terms matches. A term without expressions matches nothing.
  struct TopologyTerm {
    std::vector<std::pair<Symbol, std::vector<Symbol>>> expressions;  // key, its values (sorted)
  };
  std::vector<TopologyTerm> allowed_topologies;
};

// ---- Storage of Kubernetes 1.29 -----------------------------------------------------------------

struct CsiNode {
  ObjectMeta meta;
  struct Driver {
    Symbol name;
    std::optional<int32_t> limit;  // allocatable.count
  };
  std::vector<Driver> drivers;
  // The annotation storage.alpha.kubernetes.io/migrated-plugins: in-tree plugins whose volumes CSI handles on this
  // node.
  std::vector<Symbol> migrated_plugins;
};
struct CsiDriver {
  ObjectMeta meta;
  bool storage_capacity = false;  // spec.storageCapacity
  bool must_be_on_node = false;   // spec.preventPodSchedulingIfMissing (Kubernetes 1.36)
};
struct CsiStorageCapacity {
  ObjectMeta meta;
  Symbol storage_class_name;
  std::optional<DecidedSelector> node_topology;  // absent: no node can reach the storage
  std::optional<Quantity> capacity, maximum_volume_size;
};
struct VolumeAttachment {
  ObjectMeta meta;
  Symbol attacher, node_name;
  std::string volume_name;  // spec.source.persistentVolumeName
};

// Kinds of dynamic resource allocation (resource.k8s.io, Kubernetes 1.34). Nothing allocates devices here, so only what
// says who needs them, and that there are some, is read.
struct ResourceClaim {
  ObjectMeta meta;
  bool allocated = false;  // status.allocation is there
};
struct ResourceSlice {
  ObjectMeta meta;
  Symbol node_name;  // spec.nodeName; empty: of several nodes
};
struct DeviceClass {
  ObjectMeta meta;
  Symbol extended_resource;  // spec.extendedResourceName
};

struct PodDisruptionBudget {
  ObjectMeta meta;
  DecidedSelector selector;
  bool has_selector = false;
  int32_t disruptions_allowed = 0;
  std::vector<std::string> disrupted_pods;  // names in status.disruptedPods, sorted
};

struct Namespace {
  ObjectMeta meta;
  Labels labels;
};
struct Deployment {
  ObjectMeta meta;
};
struct PriorityClass {
  ObjectMeta meta;
  int32_t value = 0;
};
struct ConfigMap {
  ObjectMeta meta;
  std::vector<std::pair<std::string, std::string>> data;
};

using PodPtr = std::shared_ptr<const Pod>;
using NodePtr = std::shared_ptr<const Node>;

}  // namespace berth::api
