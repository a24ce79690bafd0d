// How a release speaks to an API server, as data: the form of its lists, watches, events and locks. The values stand in
// pkg/releases; pkg/client reads them. Which kinds are followed in which versions is in the table of kinds (kinds.h).
#pragma once
#include <string_view>

#include "pkg/release/release.h"

namespace berth::api {

struct Dialect {
  release::Version version;  // what the table of kinds is asked with
  // Whether watches ask for bookmarks and carry their timeout twice, and a list after a failed watch asks for the last
  // version seen instead of any version in the server's cache (client-go 1.29).
  bool bookmarks = false;
  // Whether events are written in events.k8s.io with series, instead of core/v1 with counts.
  bool event_series = false;
  // Whether requests for the lock carry a timeout, which is half of the time to renew it.
  bool lock_timeout = false;
  // Whether log lines about events and the lock use named values.
  bool structured_log = false;
  // Whether claims are written back by the scheduler, so that their JSON is kept.
  bool writes_claims = false;
  // The kind of lock that is taken unless another one is configured: "endpoints" or "leases".
  std::string_view lock;
};

}  // namespace berth::api
