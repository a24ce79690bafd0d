// A cluster's objects as one List: everything that a scheduling decision reads, as the API server has it now.
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstddef>
#include <string>
#include <vector>

#include "pkg/client/config.h"

namespace berth::client {

struct SnapshotOptions {
  std::string release = "1.10";                // whose decisions read it: "1.10" or "1.29"
  int page_size = 500;                         // objects asked for at once
  absl::Duration timeout = absl::Seconds(60);  // of each page
};

struct Snapshot {
  std::string list;  // a v1 List as JSON: items as the server sent them, with apiVersion and kind
  size_t objects = 0;
  // Kinds that this server does not have ("poddisruptionbudgets.policy"): they are left out.
  std::vector<std::string> missing;
};

// Lists every kind completely, page by page, and blocks until it has. Kinds are listed one after another, so an object
// that changes meanwhile may be in the List as it was before or after the objects of another kind.
//
// An error names the kind and the server's reason, for instance that it is forbidden: a List from which objects are
// silently missing would lead to other decisions than the cluster's.
absl::StatusOr<Snapshot> SnapshotCluster(const RestConfig& config, const SnapshotOptions& options);

}  // namespace berth::client
