// Translates in-tree volumes to those of the CSI drivers that replace the in-tree plugins (CSI migration of Kubernetes
// 1.29), and finds the claims of a pod's volumes. Source: k8s.io/csi-translation-lib (1.29).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/types.h"

namespace berth::scheduler {

// Returns the name of the claim that a pod's volume uses, or nullopt for a volume without a claim.
std::optional<std::string> ClaimNameOf(const api::Pod& pod, const api::Volume& volume);
// Returns the error text for an ephemeral volume whose claim was not created for this pod. Empty if it was.
std::string OwnershipError(const api::Pod& pod, const api::Volume& volume, const api::PersistentVolumeClaim& claim);
// Returns: KIND "NAME" not found.
std::string NotFound(std::string_view kind, std::string_view name);

struct CsiVolume {
  std::string driver, handle;
};
// Return the in-tree plugin of a volume, such as "kubernetes.io/aws-ebs". Empty for other volumes.
std::string_view InTreePluginOf(const api::Volume& volume);
std::string_view InTreePluginOf(const api::PersistentVolume& volume);
// Returns the CSI driver that replaces an in-tree plugin. Empty for other names.
std::string_view CsiDriverOf(std::string_view in_tree_plugin);
// Returns whether 1.29 treats the name as an in-tree plugin that no CSI driver replaces by default.
bool IsUnmigratedPlugin(std::string_view provisioner);

// Return the volume as its CSI driver identifies it. Return nullopt and set `error` if 1.29 cannot translate it.
std::optional<CsiVolume> Translate(const api::Volume& volume, std::string* error);
std::optional<CsiVolume> Translate(const api::PersistentVolume& volume, std::string* error);
// Returns the volume's node affinity with the topology key of the driver in place of the zone labels. If the affinity
// has no zones, those in the volume's labels are added.
std::vector<api::NodeSelectorTerm> TranslatedAffinity(const api::PersistentVolume& volume);

// Returns whether a volume's node affinity allows the node. Fields are ignored. If there are no terms, every node is
// allowed.
bool AdmitsNode(const std::vector<api::NodeSelectorTerm>& terms, const api::Node& node);

}  // namespace berth::scheduler
