// Leader election among schedulers, as in client-go 1.10, with its known bugs fixed.
//
// A candidate reads the lock object every 2.0 to 4.4 s. It takes the lock if it is free, or if the record in it has not
// changed for a whole lease by the candidate's own steady clock. The leader renews every 2 s. It considers the lease
// lost when it has not renewed for 10 s, which leaves 5 s before another candidate may take over.
//
// Differences from client-go 1.10:
//   - A leader that reads another holder in the lock stops being the leader at once. Upstream continues for the rest of
//     the 10 s.
//   - Every request has a timeout, so a server that hangs cannot extend the deadline.
//   - LeaseAge() lets the owner check the lease right before each bind.
//   - A watchdog on its own thread ends the process if the I/O thread is blocked while the lease expires.
//   - A clean shutdown releases the lock. Candidates of client-go 1.10 still wait for a whole lease; those of this
//     class and of client-go 1.14 and later take the lock at once. A process that has only just started leaves a lock
//     that was just released to the candidates that have been waiting.
//
// LeaderElection is the state machine: it receives the time and responses, and returns requests. LeaderElector drives
// it.
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
  // "endpoints", "configmaps", "leases", or two objects: "endpointsleases", "configmapsleases" (lock_objects.h)
  std::string lock_type = "endpoints";
  std::string ns = "kube-system", name = "kube-scheduler";
  std::string identity;  // "<host>_<uuid>", see NewIdentity
  absl::Duration lease = absl::Seconds(15), renew_deadline = absl::Seconds(10), retry = absl::Seconds(2);
  // The parameter ?timeout= of requests, as a Go duration. If empty, requests have none. In 1.29 it is half of the
  // renew deadline.
  std::string server_timeout;
  // Whether the lock is read again before it is released, and its messages in the log carry named values (1.36).
  bool reads_before_release = false, structured_log = false;
  // Whether the log line that begins the election has two blanks before the lock's name (until 1.19).
  bool two_blanks = false;
  // Whether a warning is logged at the start if somebody holds a lock of this name and another kind.
  bool warns_of_other_kinds = false;
};

// Returns OK, or an error with upstream's text: "couldn't create resource lock: Invalid lock-type foo".
absl::Status CheckLockType(const std::string& lock_type);
// Returns OK, or an error with upstream's text: "couldn't create leader elector: leaseDuration must be greater than
// renewDeadline".
absl::Status CheckTimings(const LeaderElectionOptions& options);

// Returns the host's name, '_' and a random UUID. Error: "unable to get hostname: ...".
absl::StatusOr<std::string> NewIdentity();

// The record in the lock object's annotation, or in the spec of a Lease: who holds the lock, and since when.
struct LeaderRecord {
  std::string holder;
  int64_t lease_seconds = 0;
  std::optional<absl::Time> acquired, renewed;
  int64_t transitions = 0;
  friend bool operator==(const LeaderRecord&, const LeaderRecord&) = default;
};

// What ReadLock takes from the JSON of a lock object.
struct LockObject {
  std::string uid, resource_version;
  LeaderRecord record;
};
absl::StatusOr<LockObject> ReadLock(std::string_view lock_type, std::string_view json);
// Returns the lock object in `json` with `record` written into it and everything else kept, or a new object if `json`
// is empty.
absl::StatusOr<std::string> WriteLock(const LeaderElectionOptions& options, std::string_view json,
                                      const LeaderRecord& record);

// The state machine. It has no threads, clock or sockets.
class LeaderElection {
 public:
  enum class Event { kNone, kBecameLeader, kLostLease, kReleased };
  enum class Step { kGet, kCreate, kUpdate, kWait, kOver };
  struct Action {
    Step step = Step::kWait;
    std::string body;            // kCreate, kUpdate
    absl::Duration timeout;      // kGet, kCreate, kUpdate: the timeout of the request
    absl::Duration wait;         // kWait: call Tick() after this time
    Event event = Event::kNone;  // what happened, whatever the step is
  };

  // `random`: uniform in [0, 1).
  LeaderElection(LeaderElectionOptions options, std::function<double()> random);

  // Each returns what to do next. `steady` and `wall` are the current time.
  Action Tick(absl::Duration steady, absl::Time wall);
  Action Answer(const ApiResult<std::string>& answer, absl::Duration steady, absl::Time wall);
  // Gives the lock up if it is held. The last step is kOver.
  Action Release(absl::Duration steady, absl::Time wall);

  bool leader() const;
  // Returns the last known holder of the lock; "" before the first response.
  const std::string& holder() const;
  // Returns when the request that last renewed the lease was sent. The lease counts from that time.
  absl::Duration renewed_at() const;
  const LockObject& lock() const;

 private:
  enum class Phase { kAcquiring, kLeading, kOver };
  enum class Request { kNothing, kGet, kCreate, kUpdate, kRelease };
  Action Ask(Request what, std::string body, absl::Duration steady);
  Action OnGet(const ApiResult<std::string>& answer, absl::Duration steady, absl::Time wall);
  Action Write(absl::Duration steady, absl::Time wall, bool create);
  Action Succeeded(const std::string& json, absl::Duration steady);
  Action Failed(absl::Duration steady);
  Action Lost(std::string_view why);
  Action OnReadForRelease(const ApiResult<std::string>& answer, absl::Duration steady, absl::Time wall);
  void SayAttempting() const;
  Action WriteRelease(absl::Duration steady, absl::Time wall);
  void YieldReleased(const LeaderRecord& record, absl::Duration steady, absl::Time wall);
  // Returns advice to append to an error's message; often empty.
  std::string Hint(const ApiError& error) const;
  std::string Name() const;
  absl::Duration Deadline() const;  // when leading: the time from which the lease counts as lost

  const LeaderElectionOptions options_;
  std::function<double()> random_;
  Phase phase_ = Phase::kAcquiring;
  Request open_request_ = Request::kNothing;
  bool started_ = false, release_ = false;
  bool read_for_release_ = false;         // whether the lock was read, or is being read, to release it
  std::string json_;                      // the lock object as last read; empty: it does not exist
  LockObject lock_;                       // the same, parsed
  LeaderRecord writing_;                  // the record in the write that is in progress
  std::optional<LeaderRecord> observed_;  // the record when it last changed,
  absl::Duration observed_at_;            // and the time of that
  absl::Duration asked_at_;               // when the current request was sent
  absl::Duration attempt_at_;             // when the current attempt began
  absl::Duration renewed_at_;
  absl::Duration yield_until_;  // until then a released lock is left to others
};

struct LeaderElectorCallbacks {
  std::function<void()> on_started_leading;  // on the I/O thread
  std::function<void()> on_stopped_leading;  // on the I/O thread: the lease is lost for good; the process should end
  std::function<void()> on_released;         // after Release(), whether it succeeded or not
  // Called on the watchdog's thread when the lease has expired and on_stopped_leading has not run; `why` says so. It
  // must end the process without waiting for anything, neither a lock nor the log, because another thread may block
  // those.
  std::function<void(std::string_view why)> on_watchdog;
};

class LeaderElector {
 public:
  // `client` should not be used for anything else. `events` may be null. All must outlive the elector.
  LeaderElector(Executor* executor, HttpClient* client, EventRecorder* events, LeaderElectionOptions options,
                LeaderElectorCallbacks callbacks);
  ~LeaderElector();
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  void Start();    // called on the I/O thread
  void Release();  // may be called from any thread

  // The following may be called from any thread.
  bool IsLeader() const;
  // Returns the time since the lease was last renewed, counted from when that request was sent, or infinity when not
  // leading. A bind is safe while this is less than the lease minus the time that the bind itself may take: compare it
  // with renew_deadline.
  absl::Duration LeaseAge() const;
  std::string Holder() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::client
