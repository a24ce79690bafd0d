// Reads all objects of a cluster that scheduling decisions depend on, as the API server has them now, into one List.
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstddef>
#include <string>
#include <vector>

#include "pkg/client/config.h"
#include "pkg/release/release.h"

namespace berth::client {

struct SnapshotOptions {
  release::Version version;                    // the release whose decisions are to be made from it
  int page_size = 500;                         // objects per page
  absl::Duration timeout = absl::Seconds(60);  // for each page
};

struct Snapshot {
  std::string list;  // a v1 List as JSON, with the items as the server sent them, plus apiVersion and kind
  size_t objects = 0;
  // Kinds that the server does not have ("poddisruptionbudgets.policy"), or that only manifests and new nodes need and
  // that may not be listed (403); the List has no objects of them.
  std::vector<std::string> missing;
};

// Lists every kind completely, page by page, and blocks until it has. Kinds are listed one after another, so a List
// made while the cluster changes may show objects of different kinds at different times.
//
// Any failure is an error that names the kind and the server's reason, for instance that listing it is forbidden: a
// List from which objects were silently missing would lead to other decisions than the cluster's.
absl::StatusOr<Snapshot> SnapshotCluster(const RestConfig& config, const SnapshotOptions& options);

}  // namespace berth::client
