// Writes YAML for responses of type application/yaml: block style, sorted keys.
#pragma once
#include <string>

#include "pkg/apiserver/api_types.h"

namespace berth::apiserver {

std::string ToYaml(const Value& v);

}  // namespace berth::apiserver
