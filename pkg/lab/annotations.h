// Checks annotations of pods, and of the templates of workloads, where they are read.
#pragma once
#include <absl/status/status.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"

namespace berth::lab {

// An annotation with a meaning: `check` returns why a text is none of its values, and what would be one.
struct AnnotationCheck {
  std::string_view name;
  absl::Status (*check)(std::string_view text);
};

// Checks the annotations of an object. `place` converts an offset into FILE:LINE:COLUMN. An error names the place, the
// object, the path of the annotation, and its value.
absl::Status CheckAnnotations(api::Json object, std::string_view kind, const std::vector<AnnotationCheck>& checks,
                              const std::function<std::string(size_t offset)>& place);

}  // namespace berth::lab
