// Decodes Kubernetes' protobuf, which `kubectl create namespace|configmap|deployment|service...` sends.
//
// Only kinds whose member numbers are in the type table are supported. Responses are always JSON, which every client
// accepts besides protobuf.
#pragma once
#include <absl/status/statusor.h>

#include <string_view>

#include "pkg/store/api_types.h"

namespace berth::apiserver {

// Returns the JSON object, with kind and apiVersion, for a body of application/vnd.kubernetes.protobuf ("k8s\0" and an
// envelope). `type` is the expected type.
absl::StatusOr<Value> DecodeProtobuf(std::string_view body, const TypeDef& type);

}  // namespace berth::apiserver
