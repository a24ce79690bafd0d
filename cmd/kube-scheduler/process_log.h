// Messages about the process itself: its start, failure and end. A final error is written to standard error, as
// "error: ..." or by itself (releases::CommandForm), or is a line of a structured log.
#pragma once
#include <string_view>

#include "pkg/release/release.h"

namespace berth::kube_scheduler {

class ProcessLog {
 public:
  // `bare_errors`: releases::CommandForm.
  ProcessLog(bool structured, bool bare_errors, const release::Id& release)
      : structured_(structured), bare_errors_(bare_errors), release_(release) {}

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
  const bool structured_, bare_errors_;
  const release::Id& release_;
};

}  // namespace berth::kube_scheduler
