// Rules for writing texts in YAML.
#pragma once
#include <string_view>

namespace berth::api {

// Returns whether `text` may be written without quotes in block style, so that readers of YAML 1.1 and 1.2 take it for
// exactly this string, and not for a number, a boolean or a structure. Like sigs.k8s.io/yaml, it accepts timestamps.
bool IsPlainYaml(std::string_view text);

}  // namespace berth::api
