// The table is a text for each kind, which is parsed at its first use; Cutter walks an object and the table side by
// side and copies only what the table names.
#include "pkg/api/scheduling_fields.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "pkg/api/json_writer.h"
#include "pkg/util/contract.h"

namespace berth::api {
namespace {

// A field is "name" (kept as it is), "name=class" (a text, a list of texts, or a map, depending on the class) or
// "name{fields}" (an object, or a list of objects). The classes name, node, namespace, uid, key, value, resource,
// image, scheduler, driver, address and text say what the text names; labels is a map from label keys to values;
// resources a map by resource name; podnames a map by pod name; avoid and affinity are JSON in a text. "name/" marks
// what differs between pods of one template; "name+" what belongs to a template only while a pod is resized in place.

#define SELECTOR "matchLabels=labels matchExpressions{key=key operator values=value}"
#define NODE_TERM "matchExpressions{key=key operator values=value} matchFields{key operator values=node}"
#define OWNERS "ownerReferences{apiVersion kind name=name uid=uid controller}"
#define META "name=name namespace=namespace uid=uid resourceVersion creationTimestamp deletionTimestamp "
#define TEMPLATE_LABELS "template{metadata{labels=labels}}"
#define SPEC_SELECTOR "metadata{" META "} spec{selector{" SELECTOR "} " TEMPLATE_LABELS "}"
#define AFFINITY_TERM                                                            \
  "labelSelector{" SELECTOR "} namespaces=namespace namespaceSelector{" SELECTOR \
  "} topologyKey=key "                                                           \
  "matchLabelKeys=key mismatchLabelKeys=key"
#define POD_AFFINITY                                              \
  "requiredDuringSchedulingIgnoredDuringExecution{" AFFINITY_TERM \
  "} "                                                            \
  "preferredDuringSchedulingIgnoredDuringExecution{weight podAffinityTerm{" AFFINITY_TERM "}}"
#define CONTAINER                                                                                                   \
  "name+=name image=image restartPolicy restartPolicyRules{action} resources{requests=resources limits=resources} " \
  "ports{hostPort containerPort hostIP=address protocol}"
#define RESIZED "resources+{requests=resources} allocatedResources+=resources"

constexpr char kPod[] =
    "metadata{name/=name namespace=namespace uid/=uid resourceVersion/ creationTimestamp/ deletionTimestamp/ "
    "labels=labels " OWNERS
    "} spec{nodeName/=node schedulerName=scheduler priority preemptionPolicy nodeSelector=labels hostNetwork "
    "hostUsers overhead=resources resources{requests=resources limits=resources} resourceClaims{name=name "
    "resourceClaimName=name "
    "resourceClaimTemplateName=name} "
    "schedulingGroup{} workloadRef{} schedulingGates{name=name} containers{" CONTAINER "} initContainers{" CONTAINER
    "} tolerations{key=key operator value=value effect tolerationSeconds} "
    "affinity{nodeAffinity{requiredDuringSchedulingIgnoredDuringExecution{nodeSelectorTerms{" NODE_TERM
    "}} preferredDuringSchedulingIgnoredDuringExecution{weight preference{" NODE_TERM "}}} podAffinity{" POD_AFFINITY
    "} podAntiAffinity{" POD_AFFINITY
    "}} topologySpreadConstraints{maxSkew topologyKey=key whenUnsatisfiable labelSelector{" SELECTOR
    "} minDomains nodeAffinityPolicy nodeTaintsPolicy matchLabelKeys=key} "
    "volumes{name=name persistentVolumeClaim{claimName=name readOnly} gcePersistentDisk{pdName=name readOnly} "
    "awsElasticBlockStore{volumeID=name readOnly} azureDisk{diskName=name diskURI=name} iscsi{iqn=name readOnly} "
    "rbd{image=name pool=name monitors=name readOnly} cinder{volumeID=name} portworxVolume{volumeID=name} ephemeral{} "
    "image{reference=image}}} "
    "status{phase/ nominatedNodeName/=node startTime/ conditions/{type status reason message=text lastProbeTime "
    "lastTransitionTime} resourceClaimStatuses/{name=name resourceClaimName=name} containerStatuses+{name=name " RESIZED
    "} initContainerStatuses+{name=name " RESIZED "} " RESIZED "}";

constexpr char kNode[] =
    "metadata{name=node uid=uid resourceVersion creationTimestamp deletionTimestamp labels=labels "
    "annotations{scheduler.alpha.kubernetes.io/preferAvoidPods=avoid}} "
    "spec{unschedulable taints{key=key value=value effect}} "
    "status{allocatable=resources capacity=resources conditions{type status} images{names=image sizeBytes} "
    "declaredFeatures}";

constexpr char kVolume[] =
    "metadata{" META
    "labels=labels annotations{volume.beta.kubernetes.io/storage-class=name "
    "volume.alpha.kubernetes.io/node-affinity=affinity pv.kubernetes.io/bound-by-controller}} "
    "spec{capacity=resources accessModes storageClassName=name volumeAttributesClassName=name volumeMode "
    "claimRef{namespace=namespace name=name "
    "uid=uid} nodeAffinity{required{nodeSelectorTerms{" NODE_TERM
    "}}} gcePersistentDisk{pdName=name} awsElasticBlockStore{volumeID=name} azureDisk{diskName=name diskURI=name} "
    "cinder{volumeID=name} portworxVolume{volumeID=name} csi{driver=driver volumeHandle=name}} status{phase}";

constexpr char kClaim[] = "metadata{" META OWNERS
                          " annotations{volume.beta.kubernetes.io/storage-class=name pv.kubernetes.io/bind-completed "
                          "pv.kubernetes.io/bound-by-controller volume.kubernetes.io/selected-node=node}} "
                          "spec{volumeName=name storageClassName=name volumeAttributesClassName=name accessModes "
                          "volumeMode selector{" SELECTOR "} resources{requests=resources}} status{phase}";

struct KindFields {
  const char* kind;
  const char* fields;
};
constexpr KindFields kKindFields[] = {
    {"Pod", kPod},
    {"Node", kNode},
    {"Service", "metadata{" META "} spec{selector=labels}"},
    {"ReplicationController", "metadata{" META "} spec{selector=labels " TEMPLATE_LABELS "}"},
    {"ReplicaSet", SPEC_SELECTOR},
    {"StatefulSet", SPEC_SELECTOR},
    {"PersistentVolume", kVolume},
    {"PersistentVolumeClaim", kClaim},
    {"StorageClass", "metadata{" META "} volumeBindingMode provisioner=driver "
                     "allowedTopologies{matchLabelExpressions{key=key values=value}}"},
    {"PodDisruptionBudget",
     "metadata{" META "} spec{selector{" SELECTOR "}} status{disruptionsAllowed disruptedPods=podnames}"},
    {"Namespace", "metadata{" META "labels=labels}"},
    {"CSINode",
     "metadata{name=node uid=uid resourceVersion "
     "annotations{storage.alpha.kubernetes.io/migrated-plugins=driver}} "
     "spec{drivers{name=driver allocatable{count}}}"},
    {"CSIDriver", "metadata{name=driver uid=uid resourceVersion} spec{storageCapacity preventPodSchedulingIfMissing}"},
    {"CSIStorageCapacity",
     "metadata{" META "} storageClassName=name nodeTopology{" SELECTOR "} capacity maximumVolumeSize"},
    {"VolumeAttachment", "metadata{" META "} spec{attacher=driver nodeName=node source{persistentVolumeName=name}}"},
    {"ResourceClaim", "metadata{" META "} status{allocation{nodeSelector{nodeSelectorTerms{" NODE_TERM "}}}}"},
    {"ResourceSlice", "metadata{" META "} spec{nodeName=node driver=driver}"},
    {"DeviceClass", "metadata{" META "} spec{extendedResourceName=resource}"},
};

// Annotations whose text is JSON.
constexpr char kAvoidPods[] =
    "preferAvoidPods{podSignature{podController{apiVersion kind name=name uid=uid controller}} evictionTime}";
constexpr char kNodeAffinity[] = "requiredDuringSchedulingIgnoredDuringExecution{nodeSelectorTerms{" NODE_TERM
                                 "}} preferredDuringSchedulingIgnoredDuringExecution{weight preference{" NODE_TERM "}}";

#undef SELECTOR
#undef NODE_TERM
#undef OWNERS
#undef META
#undef SPEC_SELECTOR
#undef TEMPLATE_LABELS
#undef AFFINITY_TERM
#undef POD_AFFINITY
#undef CONTAINER
#undef RESIZED

// ---- reading the table --------------------------------------------------------------------------

enum class Shape : uint8_t { kKeep, kNested, kNamed, kLabels, kResources, kPodNames, kAvoidJson, kAffinityJson };

struct Field {
  std::string name;
  Shape shape = Shape::kKeep;
  NameClass what = NameClass::kName;
  bool per_pod = false, of_resize = false;
  std::vector<Field> fields;
};

struct ClassName {
  std::string_view text;
  Shape shape;
  NameClass what;
};
constexpr ClassName kClasses[] = {
    {"name", Shape::kNamed, NameClass::kName},
    {"node", Shape::kNamed, NameClass::kNode},
    {"namespace", Shape::kNamed, NameClass::kNamespace},
    {"uid", Shape::kNamed, NameClass::kUid},
    {"key", Shape::kNamed, NameClass::kLabelKey},
    {"value", Shape::kNamed, NameClass::kLabelValue},
    {"resource", Shape::kNamed, NameClass::kResource},
    {"image", Shape::kNamed, NameClass::kImage},
    {"scheduler", Shape::kNamed, NameClass::kSchedulerName},
    {"text", Shape::kNamed, NameClass::kText},
    {"address", Shape::kNamed, NameClass::kAddress},
    {"driver", Shape::kNamed, NameClass::kDriver},
    {"labels", Shape::kLabels, NameClass::kName},
    {"resources", Shape::kResources, NameClass::kName},
    {"podnames", Shape::kPodNames, NameClass::kName},
    {"avoid", Shape::kAvoidJson, NameClass::kName},
    {"affinity", Shape::kAffinityJson, NameClass::kName},
};

// Reads fields up to the closing brace or the end; `*at` is set to the position after it.
std::vector<Field> ReadTable(std::string_view text, size_t* at) {
  std::vector<Field> out;
  while (*at < text.size()) {
    if (text[*at] == ' ') {
      ++*at;
      continue;
    }
    if (text[*at] == '}') {
      ++*at;
      break;
    }
    Field f;
    const size_t end = std::min(text.find_first_of(" ={}", *at), text.size());
    f.name = std::string(text.substr(*at, end - *at));
    f.per_pod = absl::EndsWith(f.name, "/");
    f.of_resize = absl::EndsWith(f.name, "+");
    if (f.per_pod || f.of_resize) f.name.pop_back();
    *at = end;
    if (end < text.size() && text[end] == '=') {
      const size_t stop = std::min(text.find_first_of(" {}", end), text.size());
      const std::string_view name = text.substr(end + 1, stop - end - 1);
      for (const ClassName& c : kClasses) {
        if (c.text == name) f.shape = c.shape, f.what = c.what;
      }
      *at = stop;
    } else if (end < text.size() && text[end] == '{') {
      ++*at;
      f.shape = Shape::kNested;
      f.fields = ReadTable(text, at);
    }
    out.push_back(std::move(f));
  }
  return out;
}

using Table = std::map<std::string, std::vector<Field>, std::less<>>;

const Table& Tables() {
  static const Table* const kTable = [] {
    auto* t = new Table;
    const auto add = [&](const char* kind, const char* fields) {
      size_t at = 0;
      (*t)[kind] = ReadTable(fields, &at);
    };
    for (const KindFields& k : kKindFields) add(k.kind, k.fields);
    add(".avoid", kAvoidPods);
    add(".affinity", kNodeAffinity);
    return t;
  }();
  return *kTable;
}

void AppendPaths(const std::vector<Field>& fields, const std::string& prefix, std::vector<std::string>* out) {
  for (const Field& f : fields) {
    out->push_back(prefix + f.name);
    AppendPaths(f.fields, absl::StrCat(prefix, f.name, "."), out);
  }
}

// ---- cutting ------------------------------------------------------------------------------------

class Cutter {
 public:
  enum class Extent : uint8_t { kAll, kTemplate, kResizedTemplate };
  Cutter(Renamer* renamer, Extent extent) : renamer_(renamer), extent_(extent) {}

  // Reduces an object or a list of objects. Anything else is kept, so that the decoder reports it.
  void Nested(Json j, const std::vector<Field>& fields) {
    if (j.IsArray()) {
      j_.Array();
      for (auto member : j.Children()) Nested(member.value, fields);
      j_.End();
    } else if (j.IsObject()) {
      j_.Object();
      for (auto [key, value] : j.Children()) {
        const Field* f = Find(fields, key);
        if (f == nullptr || value.IsNull()) continue;
        if (extent_ == Extent::kResizedTemplate && f->per_pod && f->name == "conditions") {
          ResizeCondition(value);
          continue;
        }
        if (extent_ != Extent::kAll && f->per_pod) continue;
        if (extent_ == Extent::kTemplate && f->of_resize) continue;
        const size_t before = out_.size();
        j_.Key(f->name);
        const size_t value_at = out_.size();
        Value(value, *f);
        // An object of which nothing is kept has no meaning at the top levels, while an empty one may have one.
        const bool emptied = std::string_view(out_).substr(value_at) == "{}" && value.size() != 0;
        if (emptied && (f->name == "metadata" || f->name == "status" || f->name == "annotations")) out_.resize(before);
      }
      j_.End();
    } else {
      Kept(j);
    }
  }
  std::string Take() { return std::move(out_); }

 private:
  static const Field* Find(const std::vector<Field>& fields, std::string_view key) {
    for (const Field& f : fields) {
      if (absl::EqualsIgnoreCase(absl::string_view(f.name), absl::string_view(key.data(), key.size()))) return &f;
    }
    return nullptr;
  }
  // Keeps whether a resize cannot be made, which decides what the pod counts for.
  void ResizeCondition(Json conditions) {
    for (auto c : conditions.Children()) {
      if (c.value.Find("type").Text() != "PodResizePending") continue;
      j_.Key("conditions").Array().Object().Member("type", "PodResizePending");
      j_.Member("reason", c.value.Find("reason").Text()).End().End();
      return;
    }
  }
  void Text(NameClass what, std::string_view text) {
    renamer_ == nullptr ? j_.Text(text) : j_.Text(renamer_->Rename(what, text));
  }
  void Named(Json j, NameClass what) {
    if (j.IsString()) {
      Text(what, j.Text());
    } else if (j.IsArray()) {
      j_.Array();
      for (auto member : j.Children()) Named(member.value, what);
      j_.End();
    } else if (j.IsObject()) {
      Kept(j);
    } else {
      j_.Literal(j.Serialize());
    }
  }
  // A number, a word of the API, or anything else that was written in its place.
  void Kept(Json j) {
    if (renamer_ == nullptr) {
      j_.Literal(j.Serialize());
    } else if (j.IsObject()) {
      static constexpr NameClass kWord = NameClass::kWord;
      Map(j, NameClass::kName, &kWord);
    } else {
      Named(j, NameClass::kWord);
    }
  }
  void Map(Json j, NameClass keys, const NameClass* values) {
    if (!j.IsObject()) return Named(j, NameClass::kWord);
    j_.Object();
    for (auto [key, value] : j.Children()) {
      renamer_ == nullptr ? j_.Key(key) : j_.Key(renamer_->Rename(keys, key));
      if (values != nullptr && value.IsString()) {
        Text(*values, value.Text());
      } else {
        Kept(value);
      }
    }
    j_.End();
  }
  void JsonText(Json j, const char* table) {
    Document inner;
    if (!j.IsString() || !inner.Parse(j.Text()).ok()) {
      // Text that is not JSON is replaced by other text that is not JSON, so that nothing else is revealed.
      j_.Text(j.IsString() && j.Text().empty() ? "" : "{");
      return;
    }
    Cutter cutter(renamer_, Extent::kAll);
    cutter.Nested(inner.root(), Tables().find(table)->second);
    j_.Text(cutter.Take());
  }
  void Value(Json j, const Field& f) {
    static constexpr NameClass kValue = NameClass::kLabelValue;
    switch (f.shape) {
      case Shape::kKeep:
        Kept(j);
        break;
      case Shape::kNested:
        Nested(j, f.fields);
        break;
      case Shape::kNamed:
        Named(j, f.what);
        break;
      case Shape::kLabels:
        Map(j, NameClass::kLabelKey, &kValue);
        break;
      case Shape::kResources:
        Map(j, NameClass::kResource, nullptr);
        break;
      case Shape::kPodNames:
        Map(j, NameClass::kName, nullptr);
        break;
      case Shape::kAvoidJson:
        JsonText(j, ".avoid");
        break;
      case Shape::kAffinityJson:
        JsonText(j, ".affinity");
        break;
    }
  }

  Renamer* renamer_;
  Extent extent_;
  std::string out_;
  JsonWriter j_{&out_};
};

std::string Cut(std::string_view kind, Json object, Renamer* renamer, Cutter::Extent extent) {
  Cutter cutter(renamer, extent);
  cutter.Nested(object, Tables().find(kind)->second);
  return cutter.Take();
}

// ---- what decoders keep -------------------------------------------------------------------------

std::atomic<bool> keeps_fields{false};

// Invariant: by_template has no more than max(1024, twice the number of living templates at the last sweep) entries,
// because entries whose template is gone are removed when that size is reached.
struct TemplateTexts {
  struct Entry {
    std::weak_ptr<const PodTemplate> owner;
    std::shared_ptr<const std::string> text;
  };
  std::mutex mutex;
  absl::flat_hash_map<const PodTemplate*, Entry> by_template;
  size_t next_sweep = 1024;
};
TemplateTexts& Texts() {
  static auto* const kTexts = new TemplateTexts;
  return *kTexts;
}

}  // namespace

std::vector<std::string> SchedulingKinds() {
  std::vector<std::string> kinds;
  for (const KindFields& k : kKindFields) kinds.emplace_back(k.kind);
  return kinds;
}

std::vector<std::string> SchedulingFieldPaths(std::string_view kind) {
  BERTH_REQUIRES(IsSchedulingKind(kind));
  std::vector<std::string> paths;
  AppendPaths(Tables().find(kind)->second, "", &paths);
  return paths;
}

bool IsSchedulingKind(std::string_view kind) {
  return !kind.empty() && kind[0] != '.' && Tables().find(kind) != Tables().end();
}

std::string CutToSchedulingFields(std::string_view kind, Json object, Renamer* renamer) {
  BERTH_REQUIRES(IsSchedulingKind(kind));
  return Cut(kind, object, renamer, Cutter::Extent::kAll);
}

std::string CutToTemplateFields(Json pod, Renamer* renamer, bool resized) {
  return Cut("Pod", pod, renamer, resized ? Cutter::Extent::kResizedTemplate : Cutter::Extent::kTemplate);
}

void KeepSchedulingFields(bool keep) {
  keeps_fields = keep;
}

bool KeepsSchedulingFields() {
  return keeps_fields.load(std::memory_order_relaxed);
}

std::shared_ptr<const std::string> TemplateFields(const std::shared_ptr<const PodTemplate>& t) {
  TemplateTexts& texts = Texts();
  std::lock_guard lock(texts.mutex);
  auto it = texts.by_template.find(t.get());
  // The address may have belonged to another template before.
  if (it == texts.by_template.end() || it->second.owner.lock() != t) return nullptr;
  return it->second.text;
}

void NoteTemplateFields(const std::shared_ptr<const PodTemplate>& t, Json pod, bool resized) {
  if (TemplateFields(t) != nullptr) return;
  auto text = std::make_shared<const std::string>(CutToTemplateFields(pod, nullptr, resized));
  TemplateTexts& texts = Texts();
  std::lock_guard lock(texts.mutex);
  texts.by_template[t.get()] = {t, std::move(text)};
  if (texts.by_template.size() < texts.next_sweep) return;
  absl::erase_if(texts.by_template, [](const auto& e) { return e.second.owner.expired(); });
  texts.next_sweep = std::max<size_t>(1024, 2 * texts.by_template.size());
}

}  // namespace berth::api
