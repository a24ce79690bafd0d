// Decodes PersistentVolume, PersistentVolumeClaim and StorageClass.
#include <algorithm>

#include "pkg/api/decode_internal.h"
#include "pkg/api/validation/value.h"

namespace berth::api {
namespace {

using internal::Is;
using internal::Path;
using internal::Reader;

constexpr std::string_view kClassAnnotation = "volume.beta.kubernetes.io/storage-class";
constexpr std::string_view kAffinityAnnotation = "volume.alpha.kubernetes.io/node-affinity";
constexpr std::string_view kBoundByController = "pv.kubernetes.io/bound-by-controller";
constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";
constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";

// Reads the required terms of a NodeAffinity that is given as JSON text, the form of 1.10's alpha annotation. Returns
// false if the text is not JSON or a member has a wrong type.
bool ParseAffinityAnnotation(std::string_view text, util::SymbolKeeper* keeper, std::vector<NodeSelectorTerm>* terms) {
  Document doc;
  if (!doc.Parse(text).ok()) return false;
  Reader r(keeper);
  r.Fields({}, doc.root(), [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "requiredDuringSchedulingIgnoredDuringExecution")) r.ReadNodeSelectorTerms(p, v, terms);
  });
  return r.ok();
}

// Calls f(name, text) for each annotation of the metadata object `meta`.
template <typename F>
void EachAnnotation(Reader& r, const Path& at, Json meta, F f) {
  r.Fields(at, meta, [&](std::string_view key, const Path& p, Json v) {
    if (!Is(key, "annotations")) return;
    r.Fields(p, v, [&](std::string_view name, const Path& q, Json w) {
      std::string text;
      r.Read(q, w, &text);
      f(name, text);
    });
  });
}

// Reads the member `name` of an object, a string, into `*out`. If the member is missing, `*out` stays as it is.
template <size_t N>
void ReadMember(Reader& r, const Path& at, Json j, const char (&name)[N], std::string* out) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, name)) r.Read(p, v, out);
  });
}

// Sets `*uid` to the uid of the first owner reference whose `controller` is true, if there is one.
void ReadController(Reader& r, const Path& at, Json meta, std::string* uid) {
  bool found = false;
  r.Fields(at, meta, [&](std::string_view key, const Path& p, Json v) {
    if (!Is(key, "ownerReferences")) return;
    r.Elements(p, v, [&](const Path& q, Json e) {
      OwnerReference owner;
      r.ReadOwner(q, e, &owner);
      if (!owner.controller || found) return;
      found = true;
      *uid = std::move(owner.uid);
    });
  });
}

void ReadTopologyTerm(Reader& r, const Path& at, Json j, StorageClass::TopologyTerm* out) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (!Is(key, "matchLabelExpressions")) return;
    out->expressions.clear();
    r.Elements(p, v, [&](const Path& q, Json e) {
      auto& [label, values] = out->expressions.emplace_back();
      r.Fields(q, e, [&, &label = label, &values = values](std::string_view inner, const Path& s, Json w) {
        if (Is(inner, "key")) {
          r.Read(s, w, &label);
        } else if (Is(inner, "values")) {
          r.Read(s, w, &values);
        }
      });
      std::sort(values.begin(), values.end());
    });
  });
}

void ReadVolumeMeta(Reader& r, const Path& at, Json j, PersistentVolume* pv) {
  r.ReadMeta(at, j, &pv->meta);
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "labels")) r.Read(p, v, &pv->labels);
  });
  EachAnnotation(r, at, j, [&](std::string_view name, const std::string& text) {
    if (name == kClassAnnotation) {
      pv->class_annotation = text;
    } else if (name == kBoundByController) {
      pv->bound_by_controller = true;
    } else if (name == kAffinityAnnotation && !text.empty()) {
      pv->annotation_affinity_bad = !ParseAffinityAnnotation(text, r.keeper(), &pv->annotation_affinity);
    }
  });
}

void ReadVolumeSpec(Reader& r, const Path& at, Json j, PersistentVolume* pv) {
  using Source = PersistentVolume::Source;
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "capacity")) {
      r.Fields(p, v, [&](std::string_view name, const Path& q, Json w) {
        if (name == "storage") r.Read(q, w, &pv->capacity);
      });
    } else if (Is(key, "accessModes")) {
      r.Read(p, v, &pv->access_modes);
    } else if (Is(key, "storageClassName")) {
      r.Read(p, v, &pv->storage_class_name);
    } else if (Is(key, "volumeMode")) {
      r.Read(p, v, &pv->volume_mode);
    } else if (Is(key, "volumeAttributesClassName")) {
      r.Read(p, v, &pv->attributes_class);
    } else if (Is(key, "claimRef")) {
      PersistentVolume::ClaimRef& ref = pv->claim_ref.emplace();
      r.Fields(p, v, [&](std::string_view inner, const Path& q, Json w) {
        if (Is(inner, "namespace")) {
          r.Read(q, w, &ref.ns);
        } else if (Is(inner, "name")) {
          r.Read(q, w, &ref.name);
        } else if (Is(inner, "uid")) {
          r.Read(q, w, &ref.uid);
        }
      });
    } else if (Is(key, "nodeAffinity")) {
      r.Fields(p, v, [&](std::string_view inner, const Path& q, Json w) {
        if (Is(inner, "required")) r.ReadNodeSelectorTerms(q, w, &pv->node_affinity);
      });
    } else if (Is(key, "gcePersistentDisk")) {
      pv->source = Source::kGcePd;
      ReadMember(r, p, v, "pdName", &pv->source_id);
    } else if (Is(key, "awsElasticBlockStore")) {
      pv->source = Source::kAwsEbs;
      ReadMember(r, p, v, "volumeID", &pv->source_id);
    } else if (Is(key, "azureDisk")) {
      pv->source = Source::kAzureDisk;
      ReadMember(r, p, v, "diskName", &pv->source_id);
      ReadMember(r, p, v, "diskURI", &pv->source_uri);
    } else if (Is(key, "cinder")) {
      pv->source = Source::kCinder;
      ReadMember(r, p, v, "volumeID", &pv->source_id);
    } else if (Is(key, "portworxVolume")) {
      pv->source = Source::kPortworx;
      ReadMember(r, p, v, "volumeID", &pv->source_id);
    } else if (Is(key, "csi")) {
      pv->source = Source::kCsi;
      ReadMember(r, p, v, "volumeHandle", &pv->source_id);
      std::string driver;
      ReadMember(r, p, v, "driver", &driver);
      pv->csi_driver = r.Intern(driver);
    }
  });
}

void ReadClaimSpec(Reader& r, const Path& at, Json j, PersistentVolumeClaim* claim) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "volumeName")) {
      r.Read(p, v, &claim->volume_name);
    } else if (Is(key, "storageClassName")) {
      r.Read(p, v, &claim->storage_class_name);
    } else if (Is(key, "accessModes")) {
      r.Read(p, v, &claim->access_modes);
    } else if (Is(key, "volumeMode")) {
      r.Read(p, v, &claim->volume_mode);
    } else if (Is(key, "volumeAttributesClassName")) {
      r.Read(p, v, &claim->attributes_class);
    } else if (Is(key, "selector")) {
      r.ReadLabelSelector(p, v, &claim->selector.emplace());
    } else if (Is(key, "resources")) {
      r.Fields(p, v, [&](std::string_view inner, const Path& q, Json w) {
        if (!Is(inner, "requests")) return;
        r.Fields(q, w, [&](std::string_view name, const Path& s, Json x) {
          if (name != "storage") return;
          claim->has_request = true;
          r.Read(s, x, &claim->request);
        });
      });
    }
  });
}

}  // namespace

absl::StatusOr<std::shared_ptr<const PersistentVolume>> DecodePersistentVolume(Json j, const DecodeOptions& o) {
  Reader r;
  PersistentVolume pv;
  r.Fields({}, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "metadata")) {
      ReadVolumeMeta(r, p, v, &pv);
    } else if (Is(key, "spec")) {
      ReadVolumeSpec(r, p, v, &pv);
    } else if (Is(key, "status")) {
      ReadMember(r, p, v, "phase", &pv.phase);
    }
  });
  if (o.server_defaults && pv.meta.uid.empty()) pv.meta.uid = internal::MadeUpUid("volume", pv.meta);
  if (o.keep_raw) pv.raw = std::make_shared<const std::string>(j.Serialize());
  return internal::Finish(r, "PersistentVolume", j, std::move(pv));
}

absl::StatusOr<std::shared_ptr<const PersistentVolumeClaim>> DecodePersistentVolumeClaim(Json j,
                                                                                         const DecodeOptions& o) {
  Reader r;
  PersistentVolumeClaim claim;
  r.Fields({}, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "metadata")) {
      r.ReadMeta(p, v, &claim.meta);
      EachAnnotation(r, p, v, [&](std::string_view name, const std::string& text) {
        if (name == kClassAnnotation) {
          claim.class_annotation = text;
        } else if (name == kBindCompleted) {
          claim.bind_completed = true;
        } else if (name == kSelectedNode) {
          claim.selected_node = text;
        }
      });
      ReadController(r, p, v, &claim.controller_uid);
    } else if (Is(key, "spec")) {
      ReadClaimSpec(r, p, v, &claim);
    } else if (Is(key, "status")) {
      ReadMember(r, p, v, "phase", &claim.phase);
    }
  });
  if (o.server_defaults) {
    internal::DefaultNamespace(&claim.meta);
    if (claim.meta.uid.empty()) claim.meta.uid = internal::MadeUpUid("claim", claim.meta);
  }
  if (o.keep_raw && claim.volume_name.empty()) claim.raw = std::make_shared<const std::string>(j.Serialize());
  return internal::Finish(r, "PersistentVolumeClaim", j, std::move(claim));
}

absl::StatusOr<std::shared_ptr<const StorageClass>> DecodeStorageClass(Json j, const DecodeOptions& o) {
  Reader r;
  StorageClass c;
  r.Fields({}, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "metadata")) {
      r.ReadMeta(p, v, &c.meta);
    } else if (Is(key, "volumeBindingMode")) {
      r.Read(p, v, &c.binding_mode);
    } else if (Is(key, "provisioner")) {
      r.Read(p, v, &c.provisioner);
    } else if (Is(key, "allowedTopologies")) {
      c.allowed_topologies.clear();
      r.Elements(p, v, [&](const Path& q, Json e) { ReadTopologyTerm(r, q, e, &c.allowed_topologies.emplace_back()); });
    }
  });
  internal::FillIn fill_in;
  if (o.server_defaults && !c.binding_mode) {
    c.binding_mode = "Immediate";
    fill_in = [](validation::Value* fields) {
      fields->Set("volumeBindingMode", validation::Value::String("Immediate"));
    };
  }
  return internal::Finish(r, "StorageClass", j, std::move(c), fill_in);
}

}  // namespace berth::api
