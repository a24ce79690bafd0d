// Leader election among schedulers, as client-go 1.10 does it, with its known bugs fixed.
//
// A candidate reads the lock object every 2.0-4.4 s; it takes the lock when nobody holds it, or when the record has not
// changed for a whole lease of the candidate's own steady clock. The leader renews every 2 s. It has lost when 10 s
// went by without a renewal, which leaves 5 s until others may take over.
//
// Beyond upstream: a leader that reads another holder in the lock has lost at once (upstream goes on for the rest of
// the 10 s); every request has a timeout, so a hung server cannot stretch the deadline; LeaseAge() lets the owner check
// right before each bind; a watchdog on a thread of its own ends the process if the I/O thread no longer runs and the
// lease goes by; a clean end releases the lock (other 1.10 candidates still wait their lease; ours and 1.14+ take it at
// once, unless they have only just started: a process that is restarted leaves the lock to those that stood by).
//
// LeaderElection is the state machine: time and answers in, requests out. LeaderElector drives it.
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/client/api_error.h"
#include "pkg/client/events.h"
#include "pkg/client/http.h"

namespace berth::client {

struct LeaderElectionOptions {
  std::string lock_type = "endpoints";  // "endpoints", "configmaps" or "leases"
  std::string ns = "kube-system", name = "kube-scheduler";
  std::string identity;  // "<host>_<uuid>", see NewIdentity
  absl::Duration lease = absl::Seconds(15), renew_deadline = absl::Seconds(10), retry = absl::Seconds(2);
  // What requests ask the server to give up after, as Go writes a duration; empty: nothing. 1.29 asks for half of the
  // renew deadline.
  std::string server_timeout;
};

// OK, or upstream's text: "couldn't create resource lock: Invalid lock-type foo".
absl::Status CheckLockType(const std::string& lock_type);
// OK, or upstream's text: "couldn't create leader elector: leaseDuration must be greater than renewDeadline".
absl::Status CheckTimings(const LeaderElectionOptions& options);

// The host's name, '_', and a random UUID. Error: "unable to get hostname: ...".
absl::StatusOr<std::string> NewIdentity();

// Who holds the lock; what the annotation or the Lease says.
struct LeaderRecord {
  std::string holder;
  int64_t lease_seconds = 0;
  std::optional<absl::Time> acquired, renewed;
  int64_t transitions = 0;
  friend bool operator==(const LeaderRecord&, const LeaderRecord&) = default;
};

// The lock object in JSON: reading the record, and the object with another record put in.
struct LockObject {
  std::string uid, resource_version;
  LeaderRecord record;
};
absl::StatusOr<LockObject> ReadLock(std::string_view lock_type, std::string_view json);
// A new object when `json` is empty, else that object with the record changed and all else kept.
absl::StatusOr<std::string> WriteLock(const LeaderElectionOptions& options, std::string_view json,
                                      const LeaderRecord& record);

// The state machine. No threads, no clock, no sockets.
class LeaderElection {
 public:
  enum class Event { kNone, kBecameLeader, kLostLease, kReleased };
  enum class Step { kGet, kCreate, kUpdate, kWait, kOver };
  struct Action {
    Step step = Step::kWait;
    std::string body;            // kCreate, kUpdate
    absl::Duration timeout;      // kGet, kCreate, kUpdate: the request is to be given up after this
    absl::Duration wait;         // kWait: call Tick() then
    Event event = Event::kNone;  // something to tell, whatever the step
  };

  // `random`: uniform in [0, 1).
  LeaderElection(LeaderElectionOptions options, std::function<double()> random);

  // Each returns what to do next. `steady` and `wall` are now.
  Action Tick(absl::Duration steady, absl::Time wall);
  Action Answer(const ApiResult<std::string>& answer, absl::Duration steady, absl::Time wall);
  // Gives the lock up if it is held; ends with kOver.
  Action Release(absl::Duration steady, absl::Time wall);

  bool leader() const;
  // Who holds the lock as far as is known; "" before the first answer.
  const std::string& holder() const;
  // When the request that renewed the lease last was sent: from then on the lease counts.
  absl::Duration renewed_at() const;
  const LockObject& lock() const;

 private:
  enum class Phase { kAcquiring, kLeading, kOver };
  enum class Asked { kNothing, kGet, kCreate, kUpdate, kRelease };
  Action Ask(Asked what, std::string body, absl::Duration steady);
  Action OnGet(const ApiResult<std::string>& answer, absl::Duration steady, absl::Time wall);
  Action Write(absl::Duration steady, absl::Time wall, bool create);
  Action Succeeded(const std::string& json, absl::Duration steady);
  Action Failed(absl::Duration steady);
  Action Lost(std::string_view why);
  Action WriteRelease(absl::Duration steady, absl::Time wall);
  void YieldReleased(const LeaderRecord& record, absl::Duration steady, absl::Time wall);
  // Returns what to do about an error, to be added to its message; often empty.
  std::string Hint(const ApiError& error) const;
  std::string Name() const;
  absl::Duration Deadline() const;  // when leading: when the lease counts as lost

  const LeaderElectionOptions options_;
  std::function<double()> random_;
  Phase phase_ = Phase::kAcquiring;
  Asked asked_ = Asked::kNothing;
  bool started_ = false, release_ = false;
  std::string json_;                      // the lock object as it was last seen; empty: there is none
  LockObject lock_;                       // the same, read
  LeaderRecord writing_;                  // what the write under way says
  std::optional<LeaderRecord> observed_;  // the record as it was last seen to change,
  absl::Duration observed_at_;            // and when
  absl::Duration asked_at_;               // when the request under way was sent
  absl::Duration attempt_at_;             // when this attempt began
  absl::Duration renewed_at_;
  absl::Duration yield_until_;  // a released lock is left to others until then
};

struct LeaderElectorCallbacks {
  std::function<void()> on_started_leading;  // on the I/O thread
  std::function<void()> on_stopped_leading;  // on the I/O thread: the lease is lost for good, the process should end
  std::function<void()> on_released;         // after Release(): done, whether it worked or not
  // The lease has gone by and on_stopped_leading did not get to run; the text says so. On the watchdog's thread. Must
  // end the process without waiting for anything: neither locks nor the log, which another thread may hold up.
  std::function<void(std::string_view why)> on_watchdog;
};

class LeaderElector {
 public:
  // `client`: one of its own. `events` may be null. All must outlive the elector.
  LeaderElector(Executor* executor, HttpClient* client, EventRecorder* events, LeaderElectionOptions options,
                LeaderElectorCallbacks callbacks);
  ~LeaderElector();
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  void Start();    // on the I/O thread
  void Release();  // from any thread

  // From any thread:
  bool IsLeader() const;
  // Time since the lease was last renewed, counted from when that request was sent; infinite when not leading. A bind
  // is safe while this is less than the lease with room for the bind itself: compare with renew_deadline.
  absl::Duration LeaseAge() const;
  std::string Holder() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::client
