// Tables, which kubectl prints (meta.k8s.io/v1beta1 Table), with 1.10's columns.
#pragma once
#include <absl/time/time.h>

#include <string>
#include <string_view>
#include <vector>

#include "pkg/apiserver/api_types.h"
#include "pkg/apiserver/object.h"

namespace berth::apiserver {

// Returns a Table of these objects. `list_metadata` is the response's member "metadata" as JSON.
std::string MakeTable(const ResourceInfo& r, size_t version, const std::vector<ObjectPtr>& objects,
                      std::string_view list_metadata, absl::Time now);

// Returns an age as kubectl 1.10 shows it: "5s", "3m", "2h", "4d", "1y"; "<unknown>" if there is no time.
std::string Age(std::string_view rfc3339, absl::Time now);

}  // namespace berth::apiserver
