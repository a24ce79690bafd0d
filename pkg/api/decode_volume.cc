// Reads PersistentVolume, PersistentVolumeClaim and StorageClass.
#include <algorithm>

#include "pkg/api/decode_internal.h"
#include "pkg/api/validation/value.h"

namespace berth::api::internal {
namespace {

constexpr std::string_view kClassAnnotation = "volume.beta.kubernetes.io/storage-class";

// Reads the required terms of a NodeAffinity that is given as JSON text, the form of 1.10's alpha annotation. Returns
// false if the text is not JSON or a member has a wrong type.
bool ParseAffinityAnnotation(std::string_view text, util::SymbolKeeper* keeper, std::vector<NodeSelectorTerm>* terms) {
  Document doc;
  if (!doc.Parse(text).ok()) return false;
  Reader r(keeper);
  r.Members({}, doc.root(),
            Member("requiredDuringSchedulingIgnoredDuringExecution", Member("nodeSelectorTerms", terms)));
  return r.ok();
}

// Annotations that nobody reads must be texts as well. What is read in a pass of its own comes after what is read in
// the ones before it, which decides what the first error is.
void ReadMeta(Reader& r, const Path& at, Json j, PersistentVolume* out) {
  std::string text, other;
  const auto parse_affinity = [&] {
    if (text.empty()) return;
    out->annotation_affinity_bad = !ParseAffinityAnnotation(text, r.keeper(), &out->annotation_affinity);
  };
  Read(r, at, j, &out->meta);
  r.Members(at, j, Member("labels", &out->labels));
  r.Members(at, j,
            Member("annotations", Key(kClassAnnotation, &out->class_annotation),
                   Key("pv.kubernetes.io/bound-by-controller", &other, Given{&out->bound_by_controller}),
                   Key("volume.alpha.kubernetes.io/node-affinity", &text, parse_affinity), Rest(&other)));
}

void ReadMeta(Reader& r, const Path& at, Json j, PersistentVolumeClaim* out) {
  std::string other;
  std::optional<OwnerReference> controller;
  Read(r, at, j, &out->meta);
  r.Members(at, j,
            Member("annotations", Key(kClassAnnotation, &out->class_annotation),
                   Key("pv.kubernetes.io/bind-completed", &other, Given{&out->bind_completed}),
                   Key("volume.kubernetes.io/selected-node", &out->selected_node), Rest(&other)));
  r.Members(at, j, Member("ownerReferences", ControllerOf{&controller}));
  if (controller) out->controller_uid = std::move(controller->uid);
}

}  // namespace

static void Read(Reader& r, const Path& at, Json j, PersistentVolume::ClaimRef* out) {
  r.Members(at, j, Member("namespace", &out->ns), Member("name", &out->name), Member("uid", &out->uid));
}

static void ReadSpec(Reader& r, const Path& at, Json j, PersistentVolume* out) {
  using Source = PersistentVolume::Source;
  // Each of the members is read in a pass of its own.
  const auto source = [&](Source kind, auto... members) {
    return [&, kind, members...](const Path& p, Json v) {
      out->source = kind;
      (r.Members(p, v, members), ...);
    };
  };
  const auto no_driver = [&] { out->csi_driver = Symbol(); };
  r.Members(at, j, Member("capacity", Key("storage", &out->capacity)), Member("accessModes", &out->access_modes),
            Member("storageClassName", &out->storage_class_name), Member("volumeMode", &out->volume_mode),
            Member("volumeAttributesClassName", &out->attributes_class), Member("claimRef", &out->claim_ref),
            Member("nodeAffinity", Member("required", Member("nodeSelectorTerms", &out->node_affinity))),
            Member("gcePersistentDisk", source(Source::kGcePd, Member("pdName", &out->source_id))),
            Member("awsElasticBlockStore", source(Source::kAwsEbs, Member("volumeID", &out->source_id))),
            Member("azureDisk", source(Source::kAzureDisk, Member("diskName", &out->source_id),
                                       Member("diskURI", &out->source_uri))),
            Member("cinder", source(Source::kCinder, Member("volumeID", &out->source_id))),
            Member("portworxVolume", source(Source::kPortworx, Member("volumeID", &out->source_id))),
            Member("csi", no_driver,
                   source(Source::kCsi, Member("volumeHandle", &out->source_id), Member("driver", &out->csi_driver))));
}

void Read(Reader& r, const Path& at, Json j, PersistentVolume* out) {
  r.Members(at, j, Member("metadata", [&](const Path& p, Json v) { ReadMeta(r, p, v, out); }),
            Member("spec", [&](const Path& p, Json v) { ReadSpec(r, p, v, out); }),
            Member("status", Member("phase", &out->phase)));
  if (r.options().keep_raw) out->raw = SharedText(j.Serialize());
}

void Read(Reader& r, const Path& at, Json j, PersistentVolumeClaim* out) {
  const auto storage = Key("storage", Given{&out->has_request}, &out->request);
  r.Members(
      at, j, Member("metadata", [&](const Path& p, Json v) { ReadMeta(r, p, v, out); }),
      Member("spec", Member("volumeName", &out->volume_name), Member("storageClassName", &out->storage_class_name),
             Member("accessModes", &out->access_modes), Member("volumeMode", &out->volume_mode),
             Member("selector", &out->selector), Member("volumeAttributesClassName", &out->attributes_class),
             Member("resources", Member("requests", storage))),
      Member("status", Member("phase", &out->phase)));
  if (r.options().keep_raw && out->volume_name.empty()) out->raw = SharedText(j.Serialize());
}

static void Read(Reader& r, const Path& at, Json j, std::pair<Symbol, std::vector<Symbol>>* out) {
  r.Members(at, j, Member("key", &out->first), Member("values", &out->second));
  std::sort(out->second.begin(), out->second.end());
}

static void Read(Reader& r, const Path& at, Json j, StorageClass::TopologyTerm* out) {
  r.Members(at, j, Member("matchLabelExpressions", &out->expressions));
}

void Read(Reader& r, const Path& at, Json j, StorageClass* out) {
  r.Members(at, j, Member("metadata", &out->meta), Member("volumeBindingMode", &out->binding_mode),
            Member("provisioner", &out->provisioner), Member("allowedTopologies", &out->allowed_topologies));
  if (r.options().server_defaults && !out->binding_mode) {
    out->binding_mode = "Immediate";
    r.fill_in = [](validation::Value* fields) {
      fields->Set("volumeBindingMode", validation::Value::String("Immediate"));
    };
  }
}

}  // namespace berth::api::internal
