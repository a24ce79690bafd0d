// How kube-scheduler of a release looks from outside and is set up, as data: what it serves, what its log and its
// metrics look like, and how it speaks to an API server.
#pragma once
#include <absl/time/time.h>

#include <cstdint>

#include <span>
#include <string_view>

#include "pkg/api/dialect.h"
#include "pkg/release/release.h"

namespace berth::releases {

// A flag of kube-scheduler that this release alone has, and that has no effect here. Flags that come and go with
// several releases are rows of cmd/kube-scheduler/release_flags.cc.
struct OwnFlag {
  std::string_view name;
  bool is_bool = false;    // whether it needs no value
  std::string_view usage;  // why it has no effect
};

// What the log of a release is like: sentences; sentences about the process and the lock, and messages with named
// values about what becomes of pods; or messages wherever there are values.
enum class LogForm : uint8_t { kSentences, kMixed, kMessages };

// What the scheduler's metrics are called and which of them there are.
struct MetricsForm {
  // Whether durations count seconds, under the names that 1.14 and later releases use.
  bool in_seconds = false;
  // Whether filtering, scoring, preemption and binding are measured apart in seconds, attempts as a whole have the name
  // that they had with it, and the metrics are missing that came when that went.
  bool of_parts = false;
  // The name of the same as a summary; empty: there is none.
  std::string_view summary_of_parts = {};
  // Whether the steps of volume binding are measured.
  bool of_volume_steps = false;
  // Whether there are counters of the equivalence cache.
  bool of_equivalence_cache = false;
  // The version that help texts name for metrics that went soon after: "1.19.0".
  std::string_view deprecated_since = {};
  // Whether the size of the cache has its shorter name, and the older one of two durations of pods is gone.
  bool drops_old = false;
  // Whether changes of the cluster, hints, batches and evictions are measured, and more of the metrics are BETA.
  bool of_events = false;
};

// What the command line of a release is like. Flags are rows of cmd/kube-scheduler/release_flags.cc.
struct CommandForm {
  // What becomes of words that are no flags: they are passed over; they are an error; a line on standard error says
  // that they are not supported, and the start goes on; or they are an error that names them.
  enum class Words : uint8_t { kIgnored, kRefused, kMentioned, kNamed };
  Words words = Words::kRefused;
  // The greatest value of --port as errors name it. If it is not 0, --port=0 serves nothing, and --port=-1 and an
  // --address that is a name are errors.
  int greatest_port = 0;
  // Whether errors that end the process stand by themselves on standard error, without "error: " and not in the log.
  bool bare_errors = false;
  // Whether --use-legacy-policy-config without a file is an error at once.
  bool legacy_policy_needs_file = false;
  // The field that an empty --scheduler-name is missing in; empty: that name is taken.
  std::string_view name_field = {};
  // Whether a --hard-pod-affinity-symmetric-weight outside of 0-100 is an error before a scheduler is made.
  bool checks_hard_weight = false;
};

struct DaemonForm {
  api::Dialect dialect;

  // The ports that are served unless flags or a file say otherwise; 0: none.
  int plain_port = 0, secure_port = 0;
  // Whether refusals on the secure port are Status objects, only the pages of health as a whole need no permission, and
  // the authorities of clients are read from the cluster. Otherwise they are plain texts.
  bool answers_with_status = false;
  // Whether pages carry Cache-Control, and /configz has the content type of JSON.
  bool has_current_pages = false;
  // Whether /metrics/resources and /metrics/slis are served.
  bool serves_more_metrics = false;
  // Whether /livez and /readyz are served, and /statusz and /flagz.
  bool serves_probes = false;
  // Whether /healthz fails when the lease is too old.
  bool checks_lease = false;
  // Whether /configz and --write-config-to show profiles of plugins.
  bool shows_profiles = false;
  // Whether /configz without profiles shows disablePreemption, percentageOfNodesToScore and bindTimeoutSeconds (1.13).
  bool shows_search = false;
  // Whether /configz shows them as a document of v1 does, and not with the names of Go's fields.
  bool shows_document = false;

  LogForm log = LogForm::kSentences;
  // Whether the log says that ports are "Serving healthz insecurely on" instead of "starting healthz server on", and
  // whether it warns that a plain port is open to everybody.
  bool says_serving = false, warns_of_plain_port = false;
  MetricsForm metrics;

  CommandForm command;

  // Whether a warning says that flags other than --config are deprecated.
  bool deprecates_flags = false;

  // Whether a leader is elected and profiles are served, also those of contention, unless flags say otherwise.
  bool elects_leader = true, serves_profiles = false, profiles_contention = false;

  std::span<const OwnFlag> flags{};

  // Times of the queue that no flag or file changes.
  absl::Duration max_backoff, unschedulable_limit;
};

// Returns the form of a release (folders.cc). REQUIRES: `id` is from release::All() or release::Named().
const DaemonForm& DaemonFormOf(const release::Id& id);

}  // namespace berth::releases
