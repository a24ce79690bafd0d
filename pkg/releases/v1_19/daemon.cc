#include "pkg/releases/v1_19/decides.h"

namespace berth::releases::v1_19 {

// Events in series, a lock that schedulers of both kinds of locks see, and metrics in seconds; both ports are served.
// Watches ask for bookmarks, and requests for the lock carry a timeout.
const DaemonForm& Serves() {
  static const DaemonForm kForm = [] {
    DaemonForm f;
    f.dialect = {.version = {19},
                 .bookmarks = true,
                 .event_series = true,
                 .asks_for_event_series = true,
                 .lock_timeout = 1,
                 .two_blanks_before_lock = true,
                 .structured_log = true,
                 .writes_claims = true,
                 .lock = "endpointsleases"};
    f.command = {.words = CommandForm::Words::kNamed,
                 .greatest_port = 65535,
                 .bare_errors = true,
                 .legacy_policy_needs_file = true,
                 .name_field = "profiles[0].schedulerName"};
    f.plain_port = 10251;
    f.secure_port = 10259;
    f.answers_with_status = true;
    f.has_current_pages = true;
    f.checks_lease = true;
    f.shows_profiles = true;
    f.serves_profiles = f.profiles_contention = true;
    f.log = LogForm::kMixed;
    f.says_serving = f.warns_of_plain_port = true;
    f.metrics.in_seconds = f.metrics.of_parts = true;
    f.metrics.summary_of_parts = "scheduler_scheduling_duration_seconds";
    f.metrics.deprecated_since = "1.19.0";
    f.max_backoff = absl::Seconds(10);
    f.unschedulable_limit = absl::Minutes(1);
    return f;
  }();
  return kForm;
}

}  // namespace berth::releases::v1_19
