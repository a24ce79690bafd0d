// Decodes CSINode, CSIDriver, CSIStorageCapacity and VolumeAttachment (storage.k8s.io, Kubernetes 1.29), and
// ResourceClaim, ResourceSlice and DeviceClass (resource.k8s.io, Kubernetes 1.34).
#include <absl/strings/str_split.h>

#include "pkg/api/decode_internal.h"
#include "pkg/util/status.h"

namespace berth::api {
namespace {

using internal::Is;
using internal::Path;
using internal::Reader;

constexpr std::string_view kMigratedPlugins = "storage.alpha.kubernetes.io/migrated-plugins";

void ReadDriver(Reader& r, const Path& at, Json j, CsiNode::Driver* out) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "name")) {
      r.Read(p, v, &out->name);
    } else if (Is(key, "allocatable")) {
      r.Fields(p, v, [&](std::string_view inner, const Path& q, Json w) {
        if (Is(inner, "count")) r.Read(q, w, &out->limit);
      });
    }
  });
}

// Calls f(key, path, value) for each member of the object's spec and reads its metadata.
template <typename F>
void SpecFields(Reader& r, Json j, ObjectMeta* meta, F f) {
  r.Fields({}, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "metadata")) {
      r.ReadMeta(p, v, meta);
    } else if (Is(key, "spec")) {
      r.Fields(p, v, f);
    }
  });
}

void ReadMigratedPlugins(Reader& r, const Path& at, Json meta, std::vector<Symbol>* out) {
  r.Fields(at, meta, [&](std::string_view key, const Path& p, Json v) {
    if (!Is(key, "annotations")) return;
    r.Fields(p, v, [&](std::string_view name, const Path& q, Json w) {
      std::string text;
      if (name != kMigratedPlugins) return;
      r.Read(q, w, &text);
      out->clear();
      for (absl::string_view plugin : absl::StrSplit(text, ',')) out->push_back(r.Intern(util::FromAbsl(plugin)));
    });
  });
}

}  // namespace

absl::StatusOr<std::shared_ptr<const CsiNode>> DecodeCsiNode(Json j, const DecodeOptions&) {
  Reader r;
  CsiNode node;
  SpecFields(r, j, &node.meta, [&](std::string_view key, const Path& p, Json v) {
    if (!Is(key, "drivers")) return;
    node.drivers.clear();
    r.Elements(p, v, [&](const Path& q, Json e) { ReadDriver(r, q, e, &node.drivers.emplace_back()); });
  });
  r.Fields({}, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "metadata")) ReadMigratedPlugins(r, p, v, &node.migrated_plugins);
  });
  return internal::Finish(r, "CSINode", j, std::move(node));
}

absl::StatusOr<std::shared_ptr<const CsiDriver>> DecodeCsiDriver(Json j, const DecodeOptions&) {
  Reader r;
  CsiDriver driver;
  SpecFields(r, j, &driver.meta, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "storageCapacity")) {
      r.Read(p, v, &driver.storage_capacity);
    } else if (Is(key, "preventPodSchedulingIfMissing")) {
      r.Read(p, v, &driver.must_be_on_node);
    }
  });
  return internal::Finish(r, "CSIDriver", j, std::move(driver));
}

absl::StatusOr<std::shared_ptr<const CsiStorageCapacity>> DecodeCsiStorageCapacity(Json j, const DecodeOptions& o) {
  Reader r;
  CsiStorageCapacity c;
  r.Fields({}, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "metadata")) {
      r.ReadMeta(p, v, &c.meta);
    } else if (Is(key, "storageClassName")) {
      r.Read(p, v, &c.storage_class_name);
    } else if (Is(key, "nodeTopology")) {
      r.ReadLabelSelector(p, v, &c.node_topology.emplace());
    } else if (Is(key, "capacity")) {
      r.Read(p, v, &c.capacity);
    } else if (Is(key, "maximumVolumeSize")) {
      r.Read(p, v, &c.maximum_volume_size);
    }
  });
  if (o.server_defaults) internal::DefaultNamespace(&c.meta);
  return internal::Finish(r, "CSIStorageCapacity", j, std::move(c));
}

absl::StatusOr<std::shared_ptr<const VolumeAttachment>> DecodeVolumeAttachment(Json j, const DecodeOptions&) {
  Reader r;
  VolumeAttachment a;
  SpecFields(r, j, &a.meta, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "attacher")) {
      r.Read(p, v, &a.attacher);
    } else if (Is(key, "nodeName")) {
      r.Read(p, v, &a.node_name);
    } else if (Is(key, "source")) {
      r.Fields(p, v, [&](std::string_view inner, const Path& q, Json w) {
        if (Is(inner, "persistentVolumeName")) r.Read(q, w, &a.volume_name);
      });
    }
  });
  return internal::Finish(r, "VolumeAttachment", j, std::move(a));
}

absl::StatusOr<std::shared_ptr<const ResourceClaim>> DecodeResourceClaim(Json j, const DecodeOptions& o) {
  Reader r;
  ResourceClaim claim;
  r.Fields({}, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "metadata")) {
      r.ReadMeta(p, v, &claim.meta);
    } else if (Is(key, "status")) {
      r.Fields(p, v, [&](std::string_view inner, const Path&, Json w) {
        if (Is(inner, "allocation")) claim.allocated = w.IsObject();
      });
    }
  });
  if (o.server_defaults) internal::DefaultNamespace(&claim.meta);
  return internal::Finish(r, "ResourceClaim", j, std::move(claim));
}

absl::StatusOr<std::shared_ptr<const ResourceSlice>> DecodeResourceSlice(Json j, const DecodeOptions&) {
  Reader r;
  ResourceSlice slice;
  SpecFields(r, j, &slice.meta, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "nodeName")) r.Read(p, v, &slice.node_name);
  });
  return internal::Finish(r, "ResourceSlice", j, std::move(slice));
}

absl::StatusOr<std::shared_ptr<const DeviceClass>> DecodeDeviceClass(Json j, const DecodeOptions&) {
  Reader r;
  DeviceClass c;
  SpecFields(r, j, &c.meta, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "extendedResourceName")) r.Read(p, v, &c.extended_resource);
  });
  return internal::Finish(r, "DeviceClass", j, std::move(c));
}

}  // namespace berth::api
