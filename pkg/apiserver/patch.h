// Applies the three kinds of patches: JSON Patch (RFC 6902), JSON Merge Patch (RFC 7386), and Kubernetes' strategic
// merge patch.
#pragma once
#include <absl/status/statusor.h>

#include <string_view>

#include "pkg/store/api_types.h"

namespace berth::apiserver {

enum class PatchKind : uint8_t { kJson, kMerge, kStrategic };

// Applies a patch to `object` and returns the result. The error texts are those that 1.10 answers with status 500.
absl::StatusOr<Value> ApplyPatch(PatchKind kind, const Value& object, std::string_view patch, const TypeDef& type);

// The single kinds, for patches that have been parsed already.
absl::Status ApplyJsonPatch(Value* object, const Value& operations);
void MergePatch(Value* object, const Value& patch);
absl::Status StrategicMerge(Value* object, const Value& patch, const TypeDef* type);

}  // namespace berth::apiserver
