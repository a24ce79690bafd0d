// How texts are written in YAML.
#pragma once
#include <string_view>

namespace berth::api {

// Returns whether `text` may stand in block style without quotes: readers of YAML 1.1 and 1.2 then take it for this
// very string, and not for a number, a truth value or a structure. As sigs.k8s.io/yaml does it, timestamps are plain.
bool IsPlainYaml(std::string_view text);

}  // namespace berth::api
