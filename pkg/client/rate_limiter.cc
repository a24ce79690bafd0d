// The bucket may go into debt: a caller that must wait has already taken its token, so the next caller waits for one
// more.
#include "pkg/client/rate_limiter.h"

#include <algorithm>

namespace berth::client {

TokenBucket::TokenBucket(double per_second, int burst)
    : per_second_(per_second == 0 ? kDefaultQps : per_second),
      burst_(burst <= 0 ? kDefaultBurst : burst),
      tokens_(burst_) {}

absl::Duration TokenBucket::Reserve(absl::Duration now) {
  if (per_second_ < 0) return absl::ZeroDuration();
  if (started_ && now > last_) {
    tokens_ = std::min(burst_, tokens_ + absl::ToDoubleSeconds(now - last_) * per_second_);
  }
  if (!started_ || now > last_) last_ = now;
  started_ = true;
  tokens_ -= 1;
  return tokens_ >= 0 ? absl::ZeroDuration() : absl::Seconds(-tokens_ / per_second_);
}

}  // namespace berth::client
