// The objects that are a lock of leader election: one, or two with the same record (client-go's MultiLock, of release
// 1.19: "endpointsleases" is Endpoints and then a Lease). Two serve to change the kind of lock: schedulers that look at
// either of them see who leads.
//
// Thread-safety: used on the I/O thread only.
#pragma once
#include <absl/time/time.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/client/events.h"
#include "pkg/client/leaderelection.h"
#include "pkg/client/requests.h"

namespace berth::client {

// The kinds of objects of a type of lock; `second` is empty for a lock of one object.
struct LockKinds {
  std::string_view first, second;
};
// Returns nothing for a type that does not exist.
std::optional<LockKinds> KindsOfLock(std::string_view lock_type);

class LockObjects {
 public:
  // REQUIRES: options.lock_type exists. `client` must outlive the object.
  LockObjects(HttpClient* client, LeaderElectionOptions options);
  ~LockObjects();
  LockObjects(const LockObjects&) = delete;
  LockObjects& operator=(const LockObjects&) = delete;

  // Carries out a request of LeaderElection, kGet, kCreate or kUpdate. The answer has the JSON of the first object. If
  // the two objects name different holders, the holder is "unknown leader", so that nobody takes the lock while either
  // of them is renewed.
  void Do(LeaderElection::Step step, std::string body, absl::Duration timeout, Done<std::string> done);

  // Returns the objects, for events. `first` is what LeaderElection knows of the first one.
  std::vector<ObjectReference> References(const LockObject& first) const;

  // Reads the locks of this name of other kinds, once, and logs a warning for each one that somebody holds who does not
  // hold this lock too: two schedulers that look at different objects both believe that they lead.
  void WarnOfOtherKinds(absl::Time now);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::client
