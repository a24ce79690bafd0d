#include "pkg/releases/v1_10/decides.h"
#include "pkg/releases/v1_13/decides.h"

namespace berth::releases::v1_13 {

const DaemonForm& Serves() {
  static const DaemonForm kForm = [] {
    DaemonForm f = v1_10::Serves();
    f.dialect.version = {13};
    f.dialect.writes_claims = true;
    f.secure_port = 10259;
    f.checks_lease = true;
    f.deprecates_flags = false;
    f.shows_search = true;
    f.says_serving = f.warns_of_plain_port = true;
    // The number is the release's own.
    f.command = {.words = CommandForm::Words::kMentioned,
                 .greatest_port = 65335,
                 .bare_errors = true,
                 .legacy_policy_needs_file = true,
                 .name_field = "schedulerName",
                 .checks_hard_weight = true};
    f.metrics.summary_of_parts = "scheduler_scheduling_latency_seconds";
    f.metrics.of_equivalence_cache = f.metrics.of_volume_steps = true;
    return f;
  }();
  return kForm;
}

}  // namespace berth::releases::v1_13
