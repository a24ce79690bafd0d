// Names of kinds as servers write them in messages and quotas.
#pragma once
#include <string>
#include <string_view>

namespace berth::world {

// Returns the resource of a kind with its group, as in messages: "pods", "deployments.apps". For a kind that is not
// known here, returns the kind in small letters with an s.
std::string ResourceText(std::string_view kind);

// Returns whether `api_version` is one in which servers of any release serve this kind. It must be the group of
// Kubernetes itself: "apps/v1" for a Deployment, and not "apps.kruise.io/v1".
bool IsOwnGroup(std::string_view kind, std::string_view api_version);

}  // namespace berth::world
