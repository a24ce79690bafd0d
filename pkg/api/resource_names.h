// Kinds of resource names.
#pragma once
#include <string_view>

namespace berth::api {

// Returns whether the name is an extended resource (Kubernetes 1.10): it contains "/", does not contain
// "kubernetes.io/", does not begin with "requests.", and "requests." + name is a qualified name.
bool IsExtendedResourceName(std::string_view name);

}  // namespace berth::api
