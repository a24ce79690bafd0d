// Loads the store from files: the output of `kubectl get -o json|yaml`, or Scenario documents.
#pragma once
#include <absl/status/statusor.h>

#include <map>
#include <string>
#include <string_view>

#include "pkg/store/registry.h"

namespace berth::apiserver {

struct LoadReport {
  size_t objects = 0;                     // stored
  std::map<std::string, size_t> skipped;  // by kind: objects of kinds that are not served
};

// Loads JSON or YAML, compressed by gzip or not, with one or several documents. Items of a List, and `cluster` and
// `pods` of a Scenario, are stored as they are (with a uid, a namespace and a resource version of this server); a
// document of a single object gets the server's defaults. Namespaces that objects name are created. It is an error if
// an object exists already. Errors name file, object and problem; objects that were read before the error stay.
absl::StatusOr<LoadReport> LoadFile(const std::string& path, Registry* registry);

// Stores one object: as it is if `verbatim`, and otherwise with the server's defaults. Returns false if its kind is not
// served. Errors name the object and the problem.
absl::StatusOr<bool> LoadObject(Value object, bool verbatim, Registry* registry);

// Like LoadFile, but from a text. `name` replaces the file's name in errors.
absl::StatusOr<LoadReport> LoadText(std::string_view name, std::string_view text, Registry* registry);

}  // namespace berth::apiserver
