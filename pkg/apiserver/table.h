// Tables (meta.k8s.io/v1beta1 Table), which kubectl requests and prints. The columns are those of Kubernetes 1.10
// (pkg/printers/internalversion/printers.go) and, where those are served, of later releases.
#pragma once
#include <absl/time/time.h>

#include <string>
#include <string_view>
#include <vector>

#include "pkg/store/api_types.h"
#include "pkg/store/object.h"

namespace berth::apiserver {

// What the rows of a Table contain besides the cells (the parameter includeObject): nothing, the object's metadata, or
// the whole object, which kubectl needs to sort by any of its fields.
enum class RowObject : uint8_t { kNone, kMetadata, kWhole };

// Returns the JSON of a Table with one row for each object, in the given order. Each row also contains what `object`
// says, in the form of version `version` of the resource. `list_metadata` is the JSON of the Table's own
// "metadata". Ages are computed at `now`.
std::string MakeTable(const ResourceInfo& r, size_t version, const std::vector<ObjectPtr>& objects,
                      std::string_view list_metadata, absl::Time now, RowObject object = RowObject::kMetadata);

// Returns the time since `rfc3339` as kubectl 1.10 shows it: "5s", "3m", "2h", "4d", "1y", rounded down. Returns
// "<unknown>" if the text is empty or not a time, and "<invalid>" if the time is more than a second after `now`.
std::string Age(std::string_view rfc3339, absl::Time now, Version release);

}  // namespace berth::apiserver
