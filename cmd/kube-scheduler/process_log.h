// Messages about the process itself: its start, failure and end. In a release whose log
// has sentences, a final error is written to standard error as "error: ..."; in one with a structured log everything is
// part of the log.
#pragma once
#include <string_view>

#include "pkg/release/release.h"

namespace berth::kube_scheduler {

class ProcessLog {
 public:
  ProcessLog(bool structured, const release::Id& release) : structured_(structured), release_(release) {}

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
  const bool structured_;
  const release::Id& release_;
};

}  // namespace berth::kube_scheduler
