// A token bucket, full at the start (client-go flowcontrol). It has no clock: the caller passes the time.
#pragma once
#include <absl/time/time.h>

namespace berth::client {

// client-go's, for a rate or a burst of 0.
inline constexpr double kDefaultQps = 5;
inline constexpr int kDefaultBurst = 10;

class TokenBucket {
 public:
  // `per_second` < 0: no limit.
  TokenBucket(double per_second, int burst);
  // Takes a token, in debt if need be, and says how long to wait until it is really there; 0: at once. Callers that
  // come later wait longer, so order is kept.
  absl::Duration Reserve(absl::Duration now);

 private:
  double per_second_, burst_, tokens_;
  absl::Duration last_;
  bool started_ = false;
};

}  // namespace berth::client
