// Messages about the process itself: its start, failure and end, as releases::LogForm says. A final error is written to
// standard error, as "error: ..." or by itself (releases::CommandForm), or is a line of the log.
#pragma once
#include <string_view>

#include "pkg/release/release.h"
#include "pkg/releases/daemon_form.h"

namespace berth::kube_scheduler {

class ProcessLog {
 public:
  // `form` is that of `release`, and must outlive this.
  ProcessLog(const releases::DaemonForm& form, const release::Id& release) : form_(form), release_(release) {}

  void Starting() const;
  void Failed(std::string_view error) const;
  void Terminating(std::string_view signal) const;
  // Called after a clean shutdown.
  void Ended() const;
  // Called when another process holds the lock, or when it could not be renewed.
  void LostLease() const;
  // Called as the last thing in a process that lost its lease.
  void EndWithoutLease() const;

 private:
  const releases::DaemonForm& form_;
  const release::Id& release_;
};

}  // namespace berth::kube_scheduler
