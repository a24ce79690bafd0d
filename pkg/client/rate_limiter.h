// A token bucket that is full at the start (client-go flowcontrol). It reads no clock; the caller passes the time.
#pragma once
#include <absl/time/time.h>

namespace berth::client {

// The defaults of client-go, which apply for a rate or a burst of 0.
inline constexpr double kDefaultQps = 5;
inline constexpr int kDefaultBurst = 10;

class TokenBucket {
 public:
  // `per_second` < 0 means unlimited.
  TokenBucket(double per_second, int burst);
  // Takes a token, if necessary in advance, and returns how long to wait until the token is there; 0 if it is there
  // now. Later callers wait longer, so callers keep their order.
  absl::Duration Reserve(absl::Duration now);

 private:
  double per_second_, burst_, tokens_;
  absl::Duration last_;
  bool started_ = false;
};

}  // namespace berth::client
