// Reads CSINode, CSIDriver, CSIStorageCapacity and VolumeAttachment (storage.k8s.io, Kubernetes 1.29), and
// ResourceClaim, ResourceSlice and DeviceClass (resource.k8s.io, Kubernetes 1.34).
#include <absl/strings/str_split.h>

#include "pkg/api/decode_internal.h"
#include "pkg/util/status.h"

namespace berth::api::internal {

static void Read(Reader& r, const Path& at, Json j, CsiNode::Driver* out) {
  r.Members(at, j, Member("name", &out->name), Member("allocatable", Member("count", &out->limit)));
}

void Read(Reader& r, const Path& at, Json j, CsiNode* out) {
  const auto migrated = [&](const Path& p, Json v) {
    std::string text;
    Read(r, p, v, &text);
    out->migrated_plugins.clear();
    for (absl::string_view plugin : absl::StrSplit(text, ',')) {
      out->migrated_plugins.push_back(r.Intern(util::FromAbsl(plugin)));
    }
  };
  r.Members(at, j, Member("metadata", &out->meta), Member("spec", Member("drivers", &out->drivers)));
  r.Members(at, j,
            Member("metadata", Member("annotations", Key("storage.alpha.kubernetes.io/migrated-plugins", migrated))));
}

void Read(Reader& r, const Path& at, Json j, CsiDriver* out) {
  r.Members(at, j, Member("metadata", &out->meta),
            Member("spec", Member("storageCapacity", &out->storage_capacity),
                   Member("preventPodSchedulingIfMissing", &out->must_be_on_node)));
}

void Read(Reader& r, const Path& at, Json j, CsiStorageCapacity* out) {
  r.Members(at, j, Member("metadata", &out->meta), Member("storageClassName", &out->storage_class_name),
            Member("nodeTopology", &out->node_topology), Member("capacity", &out->capacity),
            Member("maximumVolumeSize", &out->maximum_volume_size));
}

void Read(Reader& r, const Path& at, Json j, VolumeAttachment* out) {
  r.Members(at, j, Member("metadata", &out->meta),
            Member("spec", Member("attacher", &out->attacher), Member("nodeName", &out->node_name),
                   Member("source", Member("persistentVolumeName", &out->volume_name))));
}

void Read(Reader& r, const Path& at, Json j, ResourceClaim* out) {
  const auto allocation = [&](const Path&, Json v) { out->allocated = v.IsObject(); };
  r.Members(at, j, Member("metadata", &out->meta), Member("status", Member("allocation", allocation)));
}

void Read(Reader& r, const Path& at, Json j, ResourceSlice* out) {
  r.Members(at, j, Member("metadata", &out->meta), Member("spec", Member("nodeName", &out->node_name)));
}

void Read(Reader& r, const Path& at, Json j, DeviceClass* out) {
  r.Members(at, j, Member("metadata", &out->meta),
            Member("spec", Member("extendedResourceName", &out->extended_resource)));
}

}  // namespace berth::api::internal
