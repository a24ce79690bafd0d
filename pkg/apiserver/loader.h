// Filling the store from files: what `kubectl get -o json|yaml` prints, or Scenario documents.
#pragma once
#include <absl/status/statusor.h>

#include <map>
#include <string>
#include <string_view>

#include "pkg/apiserver/registry.h"

namespace berth::apiserver {

struct LoadReport {
  size_t objects = 0;                     // stored
  std::map<std::string, size_t> skipped;  // by kind, for kinds that are not served
};

// Reads JSON or YAML, gzip or plain, one or many documents. Items of a List, and `cluster` and `pods` of a Scenario,
// are stored as they are (with a uid, a namespace and a resource version of this server); a document that stands alone
// gets the server's defaulting. Namespaces that objects name come into being. An object that is there already is an
// error. Errors name file, object and what is wrong; what was read before the error stays.
absl::StatusOr<LoadReport> LoadFile(const std::string& path, Registry* registry);

// The same from a text; `name` stands for the file in errors.
absl::StatusOr<LoadReport> LoadText(std::string_view name, std::string_view text, Registry* registry);

}  // namespace berth::apiserver
