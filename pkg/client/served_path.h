// Under which of a resource's paths a server has it.
#pragma once
#include <absl/strings/str_cat.h>

#include <cstddef>
#include <string>

#include "pkg/client/reflector.h"

namespace berth::client {

class ServedPath {
 public:
  // The resource must outlive the object.
  explicit ServedPath(const Resource* resource) : resource_(*resource) {}

  const std::string& path() const { return resource_.paths[path_]; }
  // Returns the parameter that selects objects, with an ampersand behind it; empty if all are wanted.
  std::string Selector() const {
    return resource_.field_selector.empty()
               ? ""
               : absl::StrCat("fieldSelector=", PercentEncode(resource_.field_selector), "&");
  }
  // The server does not have the path: goes on to the next one. Returns false if it has none of them.
  bool Next() {
    path_ = (path_ + 1) % resource_.paths.size();
    if (++tried_ < resource_.paths.size()) return true;
    tried_ = 0;
    return false;
  }
  // The server has the path.
  void Found() { tried_ = 0; }
  // Returns what to do about a server that has none of the paths, which the scheduler cannot do without.
  std::string Advice() const {
    if (resource_.served_since.empty()) return "";
    return absl::StrCat("; the server has no ", resource_.name, ", which Kubernetes serves since ",
                        resource_.served_since, ": for an older server, set --emulated-version to its release");
  }

 private:
  const Resource& resource_;
  size_t path_ = 0, tried_ = 0;
};

}  // namespace berth::client
