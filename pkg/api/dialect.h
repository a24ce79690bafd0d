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
  // Whether lists are asked for as beginnings of watches (client-go 1.35).
  bool streams_lists = false;
  // Whether events are written in events.k8s.io with series, instead of core/v1 with counts.
  bool event_series = false;
  // Whether the server is first asked if it has them, and gets those of core/v1 if not.
  bool asks_for_event_series = false;
  // Whether events of core/v1 name the scheduler as the reporting component, too.
  bool reports_component = false;
  // Requests for the lock carry a timeout, which is this part of the time to renew it: 1 the whole, 2 half; 0: none.
  int lock_timeout = 0;
  // Whether there are two blanks before the lock's name in the log line that begins an election.
  bool two_blanks_before_lock = false;
  // Whether the lock is read again before it is released, and log lines about it use named values (client-go 1.36).
  bool reads_lock_to_release = false;
  // Whether log lines about events use named values.
  bool structured_log = false;
  // Whether a pod's condition names the generation of the pod that it is about (Kubernetes 1.33).
  bool generation_of_conditions = false;
  // Whether claims are written back by the scheduler, so that their JSON is kept.
  bool writes_claims = false;
  // The annotation of a pod that names the node to which it is nominated; empty: status.nominatedNodeName does.
  std::string_view nomination_annotation = {};
  // The kind of lock that is taken unless another one is configured: "endpoints", "endpointsleases" or "leases".
  std::string_view lock = {};
};

}  // namespace berth::api
