#include "pkg/releases/v1_10/decides.h"

namespace berth::releases::v1_10 {

const DaemonForm& Serves() {
  static const DaemonForm kForm = [] {
    DaemonForm f;
    f.dialect = {.version = {10}, .two_blanks_before_lock = true, .lock = "endpoints"};
    f.plain_port = 10251;
    f.deprecates_flags = true;
    f.max_backoff = absl::Minutes(1);
    f.unschedulable_limit = absl::Minutes(1);
    return f;
  }();
  return kForm;
}

}  // namespace berth::releases::v1_10
