#include "pkg/releases/daemon_form.h"

#include <glog/logging.h>

namespace berth::releases {
namespace {

// Forms of releases that the daemon has in common with their neighbours are rows of one table; each row stands until
// the next one.
DaemonForm WithPoliciesOnly(uint8_t minor) {
  DaemonForm f;
  f.dialect = {.version = {minor}, .lock = "endpoints"};
  f.plain_port = 10251;
  f.deprecates_flags = true;
  f.max_backoff = absl::Minutes(1);
  f.unschedulable_limit = absl::Minutes(1);
  return f;
}

// Before configuration files.
DaemonForm WithFlagsOnly(uint8_t minor) {
  DaemonForm f = WithPoliciesOnly(minor);
  f.deprecates_flags = false;
  f.serves_profiles = true;
  return f;
}

DaemonForm WithElectionOnRequest(uint8_t minor) {
  DaemonForm f = WithPoliciesOnly(minor);
  f.elects_leader = false;
  return f;
}

// The secure port of its own came with 1.13.
DaemonForm WithSecurePort(uint8_t minor) {
  DaemonForm f = WithPoliciesOnly(minor);
  f.secure_port = 10259;
  f.checks_lease = true;
  return f;
}

// Events in series, locks with a timeout and metrics in seconds; both ports are served.
DaemonForm WithProfiles(uint8_t minor) {
  DaemonForm f;
  f.dialect = {.version = {minor},
               .bookmarks = true,
               .event_series = true,
               .lock_timeout = 2,
               .structured_log = true,
               .writes_claims = true,
               .lock = "leases"};
  f.plain_port = 10251;
  f.secure_port = 10259;
  f.answers_with_status = true;
  f.has_current_pages = true;
  f.checks_lease = true;
  f.shows_profiles = true;
  f.serves_profiles = f.profiles_contention = true;
  f.structured_log = true;
  f.metrics_in_seconds = true;
  f.max_backoff = absl::Seconds(10);
  f.unschedulable_limit = absl::Minutes(1);
  return f;
}

// Events in series, and a lock that schedulers of both kinds of locks see. Watches ask for bookmarks, and requests for
// the lock carry a timeout.
DaemonForm WithTwoLocks(uint8_t minor) {
  DaemonForm f = WithProfiles(minor);
  f.dialect.lock = "endpointsleases";
  f.dialect.lock_timeout = 1;
  return f;
}

// The plain port is gone, and pods wait for five minutes before they are tried without an event.
DaemonForm WithoutPlainPort(uint8_t minor) {
  DaemonForm f = WithProfiles(minor);
  f.plain_port = 0;
  f.unschedulable_limit = absl::Minutes(5);
  return f;
}

// Lists are beginnings of watches, and conditions name the generation of the pod.
DaemonForm WithStreamedLists(uint8_t minor) {
  DaemonForm f = WithoutPlainPort(minor);
  f.dialect.streams_lists = true;
  f.dialect.generation_of_conditions = true;
  return f;
}

}  // namespace

const DaemonForm& DaemonFormOf(const release::Id& id) {
  struct Row {
    release::Version version;
    DaemonForm form;
  };
  static const Row kForms[] = {{{8}, WithFlagsOnly(8)},      {{9}, WithElectionOnRequest(9)},
                               {{10}, WithPoliciesOnly(10)}, {{13}, WithSecurePort(13)},
                               {{19}, WithTwoLocks(19)},     {{29}, WithoutPlainPort(29)},
                               {{36}, WithStreamedLists(36)}};
  for (const Row& row : kForms) {
    if (row.version == id.version) return row.form;
  }
  LOG(FATAL) << "release " << id.name << " has no daemon form";
  return kForms[0].form;
}

}  // namespace berth::releases
