// The state machine of leader election. `open_request_` is the request that is in progress, if any; every other call of
// Tick() begins a new attempt with a GET. Expiry is judged by the steady clock since we last saw the record change,
// never by the times in the record, because clocks of different machines differ.
#include "pkg/client/leaderelection.h"

#include <absl/random/random.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <glog/logging.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "pkg/client/lock_objects.h"
#include "pkg/util/log_line.h"
#include "pkg/util/status.h"

namespace berth::client {
namespace {

constexpr double kJitter = 1.2;

bool Whole(absl::Duration d) {
  return d >= absl::Nanoseconds(1);
}

}  // namespace

absl::Status CheckLockType(const std::string& type) {
  if (KindsOfLock(type)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("couldn't create resource lock: Invalid lock-type ", type));
}

absl::Status CheckTimings(const LeaderElectionOptions& o) {
  std::string why;
  if (!Whole(o.lease)) {
    why = "leaseDuration must be greater than zero";
  } else if (!Whole(o.renew_deadline)) {
    why = "renewDeadline must be greater than zero";
  } else if (!Whole(o.retry)) {
    why = "retryPeriod must be greater than zero";
  } else if (o.lease <= o.renew_deadline) {
    why = "leaseDuration must be greater than renewDeadline";
  } else if (o.renew_deadline <= kJitter * o.retry) {
    why = "renewDeadline must be greater than retryPeriod*JitterFactor";
  }
  if (why.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("couldn't create leader elector: ", why));
}

absl::StatusOr<std::string> NewIdentity() {
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) != 0) {
    return absl::InternalError(absl::StrCat("unable to get hostname: ", std::strerror(errno)));
  }
  absl::BitGen random;
  uint64_t a = absl::Uniform<uint64_t>(random), b = absl::Uniform<uint64_t>(random);
  a = (a & ~0xf000ull) | 0x4000;           // version 4
  b = (b & ~(3ull << 62)) | (2ull << 62);  // variant 1
  return absl::StrFormat("%s_%08x-%04x-%04x-%04x-%012x", host, a >> 32, (a >> 16) & 0xffff, a & 0xffff, b >> 48,
                         b & 0xffffffffffff);
}

LeaderElection::LeaderElection(LeaderElectionOptions options, std::function<double()> random)
    : options_(std::move(options)), random_(std::move(random)) {}

bool LeaderElection::leader() const {
  return phase_ == Phase::kLeading;
}
const std::string& LeaderElection::holder() const {
  return lock_.record.holder;
}
absl::Duration LeaderElection::renewed_at() const {
  return renewed_at_;
}
const LockObject& LeaderElection::lock() const {
  return lock_;
}
std::string LeaderElection::Name() const {
  return absl::StrCat(options_.ns, "/", options_.name);
}
absl::Duration LeaderElection::Deadline() const {
  return renewed_at_ + options_.renew_deadline;
}

LeaderElection::Action LeaderElection::Ask(Request what, std::string body, absl::Duration steady) {
  open_request_ = what;
  asked_at_ = steady;
  Action a;
  a.step = what == Request::kGet ? Step::kGet : what == Request::kCreate ? Step::kCreate : Step::kUpdate;
  a.body = std::move(body);
  a.timeout = options_.renew_deadline / 2;
  if (leader()) {
    // The last attempt may begin as late as the deadline; it must be over well before others may take the lock.
    absl::Duration least = std::min((options_.lease - options_.renew_deadline) / 2, a.timeout);
    a.timeout = std::clamp(Deadline() - steady, least, a.timeout);
  }
  return a;
}

LeaderElection::Action LeaderElection::Tick(absl::Duration steady, absl::Time wall) {
  if (phase_ == Phase::kOver) {
    Action over;
    over.step = Step::kOver;
    return over;
  }
  if (release_) {
    if (!options_.reads_before_release || !leader() || json_.empty()) return WriteRelease(steady, wall);
    read_for_release_ = true;
    return Ask(Request::kGet, "", steady);
  }
  if (!std::exchange(started_, true)) SayAttempting();
  attempt_at_ = steady;
  return Ask(Request::kGet, "", steady);
}

void LeaderElection::SayAttempting() const {
  if (options_.structured_log) {
    util::LogLine("Attempting to acquire leader lease...").Add("lock", Name()).Info();
  } else {
    LOG(INFO) << "attempting to acquire leader lease " << (options_.two_blanks ? " " : "") << Name() << "...";
  }
}

LeaderElection::Action LeaderElection::Answer(const ApiResult<std::string>& answer, absl::Duration steady,
                                              absl::Time wall) {
  switch (std::exchange(open_request_, Request::kNothing)) {
    case Request::kGet:
      return OnGet(answer, steady, wall);
    case Request::kCreate:
    case Request::kUpdate:
      if (answer.ok()) return Succeeded(answer.value, steady);
      if (json_.empty()) {
        LOG(ERROR) << "error initially creating leader election record: " << answer.error.message << Hint(answer.error);
      } else {
        LOG(ERROR) << "Failed to update lock: " << answer.error.message << Hint(answer.error);
      }
      return Failed(steady);
    case Request::kRelease: {
      if (answer.ok()) {
        LOG(INFO) << "released lease " << Name();
      } else {
        LOG(WARNING) << "Failed to release lock " << Name() << ": " << answer.error.message
                     << "; others will wait until it expires";
      }
      phase_ = Phase::kOver;
      Action over;
      over.step = Step::kOver;
      over.event = Event::kReleased;
      return over;
    }
    case Request::kNothing:
      break;
  }
  return Failed(steady);
}

std::string LeaderElection::Hint(const ApiError& error) const {
  if (error.code != 403 || options_.lock_type == "leases") return "";
  return absl::StrCat(" (the lock is of kind ", options_.lock_type,
                      "; the role system:kube-scheduler of newer servers permits leases only: "
                      "--leader-elect-resource-lock=leases)");
}

// Decides what to do with the lock that was read: a missing or free lock is taken, a lock that this process holds is
// renewed, and a lock of another holder is left alone until its record has not changed for a whole lease.
LeaderElection::Action LeaderElection::OnGet(const ApiResult<std::string>& answer, absl::Duration steady,
                                             absl::Time wall) {
  if (read_for_release_) return OnReadForRelease(answer, steady, wall);
  if (answer.error.NotFound()) {
    json_.clear();
    lock_ = LockObject();
    return Write(steady, wall, true);
  }
  if (!answer.ok()) {
    LOG(ERROR) << "error retrieving resource lock " << Name() << ": " << answer.error.message << Hint(answer.error);
    return Failed(steady);
  }
  auto lock = ReadLock(options_.lock_type, answer.value);
  if (!lock.ok()) {
    LOG(ERROR) << "error retrieving resource lock " << Name() << ": " << util::Message(lock.status());
    return Failed(steady);
  }
  json_ = answer.value;
  lock_ = *std::move(lock);
  const LeaderRecord& record = lock_.record;
  const bool first_look = !observed_;
  if (first_look || *observed_ != record) {
    observed_ = record;
    observed_at_ = steady;
  }
  if (first_look && record.holder.empty() && record.renewed) YieldReleased(record, steady, wall);
  bool others = !record.holder.empty() && record.holder != options_.identity;
  if (others && leader()) return Lost(absl::StrCat("the lock is now held by ", record.holder));
  if (others && observed_at_ + options_.lease > steady) {
    VLOG(4) << "lock is held by " << record.holder << " and has not yet expired";
    return Failed(steady);
  }
  if (record.holder.empty() && steady < yield_until_) return Failed(steady);
  return Write(steady, wall, false);
}

// Releases the lock as it was read, unless it cannot be read or has another holder.
LeaderElection::Action LeaderElection::OnReadForRelease(const ApiResult<std::string>& answer, absl::Duration steady,
                                                        absl::Time wall) {
  absl::StatusOr<LockObject> lock = absl::NotFoundError("lease lock not found");
  if (answer.ok()) lock = ReadLock(options_.lock_type, answer.value);
  if (lock.ok() && lock->record.holder == options_.identity) {
    json_ = answer.value;
    lock_ = *std::move(lock);
  } else {
    json_.clear();  // there is nothing to release
  }
  return WriteRelease(steady, wall);
}

// A leader that ended cleanly has released the lock for the candidates that were waiting. A process that starts right
// after that, usually the restarted leader, must not take it back before they have had a chance. Candidates with a
// Lease take a released lock the next time they read it; those of client-go 1.10, with Endpoints or a ConfigMap, first
// wait for a whole lease.
void LeaderElection::YieldReleased(const LeaderRecord& record, absl::Duration steady, absl::Time wall) {
  const absl::Duration their_wait =
      options_.lock_type == "leases" ? absl::Seconds(record.lease_seconds) : options_.lease;
  const absl::Duration turn = their_wait + (1 + kJitter) * options_.retry;
  const absl::Duration since = wall - *record.renewed;
  // A release time in the future comes from a clock that differs from ours, so it is of no use.
  if (since < absl::ZeroDuration() || since >= turn) return;
  yield_until_ = steady + turn - since;
  LOG(INFO) << "lease " << Name() << " was released " << absl::FormatDuration(absl::Trunc(since, absl::Milliseconds(1)))
            << " ago; waiting " << absl::FormatDuration(absl::Trunc(turn - since, absl::Milliseconds(1)))
            << " before acquiring it";
}

// Keeps the time of acquisition while the holder stays the same, and counts a transition when it changes.
LeaderElection::Action LeaderElection::Write(absl::Duration steady, absl::Time wall, bool create) {
  LeaderRecord r;
  r.holder = options_.identity;
  r.lease_seconds = absl::ToInt64Seconds(options_.lease);
  r.acquired = r.renewed = wall;
  if (!create) {
    const LeaderRecord& old = lock_.record;
    if (old.holder == options_.identity) {
      r.acquired = old.acquired;
      r.transitions = old.transitions;
    } else {
      r.transitions = old.transitions + 1;
    }
  }
  auto body = WriteLock(options_, json_, r);
  if (!body.ok()) {
    LOG(ERROR) << "error retrieving resource lock " << Name() << ": " << util::Message(body.status());
    return Failed(steady);
  }
  writing_ = r;
  return Ask(create ? Request::kCreate : Request::kUpdate, *std::move(body), steady);
}

// The lease counts from when the request was sent, not from its response: another candidate may have seen the new
// record at any time in between.
LeaderElection::Action LeaderElection::Succeeded(const std::string& json, absl::Duration steady) {
  if (auto lock = ReadLock(options_.lock_type, json); lock.ok()) {
    json_ = json;
    lock_ = *std::move(lock);
    observed_ = lock_.record;
  } else {
    observed_ = lock_.record = writing_;
  }
  observed_at_ = steady;
  renewed_at_ = asked_at_;
  Action a;
  if (leader()) {
    VLOG(4) << "successfully renewed lease " << Name();
  } else {
    phase_ = Phase::kLeading;
    a.event = Event::kBecameLeader;
    if (options_.structured_log) {
      util::LogLine("Successfully acquired lease").Add("lock", Name()).Info();
    } else {
      LOG(INFO) << "successfully acquired lease " << Name();
    }
  }
  a.wait = release_ ? absl::ZeroDuration() : options_.retry;
  return a;
}

// A candidate tries again after a random delay, so that candidates do not all try at the same time. A leader tries
// again until its deadline, and has then lost the lease.
LeaderElection::Action LeaderElection::Failed(absl::Duration steady) {
  Action a;
  if (!leader()) {
    if (release_) return a;  // retry without waiting
    VLOG(4) << "failed to acquire lease " << Name();
    a.wait = options_.retry * (1 + kJitter * random_());
    return a;
  }
  if (steady >= Deadline()) return Lost("timed out waiting for the condition");
  a.wait = std::max(std::min(attempt_at_ + options_.retry, Deadline()) - steady, absl::ZeroDuration());
  if (release_) a.wait = absl::ZeroDuration();
  return a;
}

// A lost lease is final: the state machine does not try again.
LeaderElection::Action LeaderElection::Lost(std::string_view why) {
  if (options_.structured_log) {
    util::LogLine("Failed to renew lease").Add("lock", Name()).Add("err", std::string(why)).Info();
  } else {
    LOG(INFO) << "failed to renew lease " << Name() << ": " << why;
  }
  phase_ = Phase::kOver;
  Action a;
  a.step = Step::kOver;
  a.event = Event::kLostLease;
  return a;
}

LeaderElection::Action LeaderElection::Release(absl::Duration steady, absl::Time wall) {
  release_ = true;
  if (phase_ == Phase::kOver) {
    Action over;
    over.step = Step::kOver;
    over.event = Event::kReleased;
    return over;
  }
  // The request in progress may still make us leader, so its response is awaited first.
  if (open_request_ != Request::kNothing) {
    Action a;
    a.wait = absl::InfiniteDuration();
    return a;
  }
  return Tick(steady, wall);
}

// Releases the lock by a record without a holder and with a lease of one second.
LeaderElection::Action LeaderElection::WriteRelease(absl::Duration steady, absl::Time wall) {
  Action over;
  over.step = Step::kOver;
  over.event = Event::kReleased;
  if (!leader() || json_.empty()) {
    phase_ = Phase::kOver;
    return over;
  }
  LeaderRecord r;
  r.lease_seconds = 1;
  r.acquired = r.renewed = wall;
  r.transitions = lock_.record.transitions;
  auto body = WriteLock(options_, json_, r);
  if (!body.ok()) {
    phase_ = Phase::kOver;
    return over;
  }
  return Ask(Request::kRelease, *std::move(body), steady);
}

}  // namespace berth::client
