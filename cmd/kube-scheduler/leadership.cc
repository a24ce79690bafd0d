#include "cmd/kube-scheduler/leadership.h"

#include <utility>

#include "cmd/kube-scheduler/go_text.h"

namespace berth::kube_scheduler {

client::LeaderElectionOptions LockOptionsOf(const Configuration& config, std::string identity) {
  const auto& le = config.leader_election;
  client::LeaderElectionOptions o;
  o.lock_type = le.resource_lock;
  o.ns = le.lock_object_namespace;
  o.name = le.lock_object_name;
  o.lease = le.lease_duration;
  o.renew_deadline = le.renew_deadline;
  o.retry = le.retry_period;
  o.identity = std::move(identity);
  o.warns_of_other_kinds = true;
  o.reads_before_release = o.structured_log = config.Form().dialect.reads_lock_to_release;
  o.two_blanks = config.Form().dialect.two_blanks_before_lock;
  const int part = config.Form().dialect.lock_timeout;
  if (part > 0) o.server_timeout = FormatGoDuration(le.renew_deadline / part);
  return o;
}

HealthCheck LeaderCheck(const client::LeaderElector& elector, absl::Duration lease) {
  static constexpr absl::Duration kTolerated = absl::Seconds(20);
  return {"leaderElection", [&elector, lease] {
            if (!elector.IsLeader() || elector.LeaseAge() <= lease + kTolerated) return absl::OkStatus();
            return absl::DeadlineExceededError("failed election to renew leadership on lease");
          }};
}

}  // namespace berth::kube_scheduler
