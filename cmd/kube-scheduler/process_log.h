// What the process says about itself: when it starts, fails and ends. In 1.10 an error that ends it is written to
// standard error as "error: ..."; in 1.29 all of it is part of the log.
#pragma once
#include <string_view>

namespace berth::kube_scheduler {

class ProcessLog {
 public:
  explicit ProcessLog(bool release_1_29) : release_1_29_(release_1_29) {}

  void Starting() const;
  void Failed(std::string_view error) const;
  void Terminating(std::string_view signal) const;
  // After a clean end.
  void Ended() const;
  // The lock is held by somebody else now, or could not be renewed.
  void LostLease() const;
  // The last word of a process that lost its lease.
  void EndWithoutLease() const;

 private:
  const bool release_1_29_;
};

}  // namespace berth::kube_scheduler
