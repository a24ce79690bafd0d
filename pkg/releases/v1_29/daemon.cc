#include "pkg/releases/v1_19/decides.h"
#include "pkg/releases/v1_29/decides.h"

namespace berth::releases::v1_29 {

// The plain port is gone, and pods wait for five minutes before they are tried without an event.
const DaemonForm& Serves() {
  static const DaemonForm kForm = [] {
    DaemonForm f = v1_19::Serves();
    f.dialect.version = {29};
    f.dialect.asks_for_event_series = false;
    f.dialect.reports_component = true;
    f.dialect.lock = "leases";
    f.dialect.lock_timeout = 2;
    f.dialect.two_blanks_before_lock = false;
    f.log = LogForm::kMessages;
    f.warns_of_plain_port = false;
    f.metrics.of_parts = false;
    f.metrics.summary_of_parts = {};
    f.metrics.deprecated_since = "1.29.0";
    f.plain_port = 0;
    f.serves_more_metrics = true;
    f.command = {.words = CommandForm::Words::kNamed};
    f.unschedulable_limit = absl::Minutes(5);
    return f;
  }();
  return kForm;
}

}  // namespace berth::releases::v1_29
