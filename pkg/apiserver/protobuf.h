// Reading Kubernetes' protobuf: what `kubectl create namespace|configmap|deployment|service...` sends.
//
// Only reading, and only the kinds whose member numbers the type table knows; answers are JSON, which every client
// accepts beside protobuf.
#pragma once
#include <absl/status/statusor.h>

#include <string_view>

#include "pkg/apiserver/api_types.h"

namespace berth::apiserver {

// A body of application/vnd.kubernetes.protobuf ("k8s\0" and an envelope) as the JSON object that it means, with kind
// and apiVersion. `type` is the type that is expected.
absl::StatusOr<Value> DecodeProtobuf(std::string_view body, const TypeDef& type);

}  // namespace berth::apiserver
