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
};

struct DaemonForm {
  api::Dialect dialect;

  // The ports that are served unless flags or a file say otherwise; 0: none.
  int plain_port = 0, secure_port = 0;
  // Whether refusals on the secure port are Status objects, only the pages of health as a whole need no permission, and
  // the authorities of clients are read from the cluster. Otherwise they are plain texts.
  bool answers_with_status = false;
  // Whether pages carry Cache-Control, /metrics/resources is served, and /configz has the content type of JSON.
  bool has_current_pages = false;
  // Whether /livez and /readyz are served, and /statusz and /flagz.
  bool serves_probes = false;
  // Whether /healthz fails when the lease is too old.
  bool checks_lease = false;
  // Whether /configz and --write-config-to show profiles of plugins.
  bool shows_profiles = false;
  // Whether /configz shows them as a document of v1 does, and not with the names of Go's fields.
  bool shows_document = false;

  // Whether log lines carry named values instead of sentences.
  bool structured_log = false;
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
