// Writes YAML in block style, as kubectl does: lists begin in the column of their key.
#pragma once
#include <string>
#include <string_view>

#include "pkg/api/json.h"

namespace berth::api {

// Returns whether `text` may be written without quotes in block style, so that readers of YAML 1.1 and 1.2 take it for
// exactly this string, and not for a number, a boolean or a structure. Like sigs.k8s.io/yaml, it accepts timestamps.
bool IsPlainYaml(std::string_view text);

// Appends a scalar, quoted if it has to be.
void AppendYamlText(std::string_view text, std::string* out);

// Returns a JSON text as YAML, with members in their order. Returns a text that is not JSON as it is.
std::string YamlOf(std::string_view json);

}  // namespace berth::api
