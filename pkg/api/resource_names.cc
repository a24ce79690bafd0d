#include "pkg/api/resource_names.h"

#include <string>

#include "pkg/api/labels.h"

namespace berth::api {

bool IsExtendedResourceName(std::string_view name) {
  return name.find('/') != std::string_view::npos && name.find("kubernetes.io/") == std::string_view::npos &&
         !name.starts_with("requests.") && QualifiedNameProblems("requests." + std::string(name)).empty();
}

}  // namespace berth::api
