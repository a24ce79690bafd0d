// In-tree volumes as their CSI drivers know them (Kubernetes 1.29's CSI migration), and claims as a pod names them.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/types.h"

namespace berth::scheduler {

// Returns the name of the claim that a volume of a pod uses; nullopt for a volume without one.
std::optional<std::string> ClaimNameOf(const api::Pod& pod, const api::Volume& volume);
// Returns the error of an ephemeral volume whose claim belongs to somebody else; empty when it is the pod's.
std::string OwnershipError(const api::Pod& pod, const api::Volume& volume, const api::PersistentVolumeClaim& claim);
std::string NotFound(std::string_view kind, std::string_view name);  // `kind "name" not found`

struct CsiVolume {
  std::string driver, handle;
};
// The in-tree plugin of a volume ("kubernetes.io/aws-ebs"); empty for any other volume.
std::string_view InTreePluginOf(const api::Volume& volume);
std::string_view InTreePluginOf(const api::PersistentVolume& volume);
// The CSI driver that took over from an in-tree plugin; empty for any other name.
std::string_view CsiDriverOf(std::string_view in_tree_plugin);
// Names that 1.29 takes for in-tree plugins, but leaves to themselves by default.
bool IsUnmigratedPlugin(std::string_view provisioner);

// Returns the volume as its driver names it; nullopt where 1.29 fails to translate it, with its error.
std::optional<CsiVolume> Translate(const api::Volume& volume, std::string* error);
std::optional<CsiVolume> Translate(const api::PersistentVolume& volume, std::string* error);
// Returns the volume's node affinity with the driver's topology key in place of zones; the zones of the volume's labels
// count where its affinity has none.
std::vector<api::NodeSelectorTerm> TranslatedAffinity(const api::PersistentVolume& volume);

// Returns true when a volume's node affinity admits a node. Only labels count; no terms admit every node.
bool AdmitsNode(const std::vector<api::NodeSelectorTerm>& terms, const api::Node& node);

}  // namespace berth::scheduler
