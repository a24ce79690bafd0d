#include "pkg/client/lock_objects.h"

#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "pkg/util/contract.h"
#include "pkg/util/status.h"

namespace berth::client {
namespace {

constexpr std::string_view kEndpoints = "endpoints", kConfigMaps = "configmaps", kLeases = "leases";
// The holder in client-go's MultiLock when the objects name two.
constexpr std::string_view kUnknownLeader = "unknown leader";

struct LockTypeRow {
  std::string_view name;
  LockKinds kinds;
};
constexpr LockTypeRow kLockTypes[] = {{kEndpoints, {kEndpoints, {}}},
                                      {kConfigMaps, {kConfigMaps, {}}},
                                      {kLeases, {kLeases, {}}},
                                      {"endpointsleases", {kEndpoints, kLeases}},
                                      {"configmapsleases", {kConfigMaps, kLeases}}};

std::string_view KindNamed(std::string_view plural) {
  return plural == kLeases ? "Lease" : plural == kConfigMaps ? "ConfigMap" : "Endpoints";
}

}  // namespace

std::optional<LockKinds> KindsOfLock(std::string_view lock_type) {
  for (const LockTypeRow& row : kLockTypes) {
    if (row.name == lock_type) return row.kinds;
  }
  return std::nullopt;
}

class LockObjects::Impl : public std::enable_shared_from_this<LockObjects::Impl> {
 public:
  Impl(HttpClient* client, LeaderElectionOptions options)
      : requests_(client), options_(std::move(options)), kinds_(*KindsOfLock(options_.lock_type)) {}

  using Step = LeaderElection::Step;

  void Do(Step step, std::string body, absl::Duration timeout, Done<std::string> done) {
    const std::string written = body;
    Send(step, kinds_.first, std::move(body), timeout, [=, self = shared_from_this()](ApiResult<std::string> answer) {
      if (!answer.ok() || self->kinds_.second.empty()) return done(std::move(answer));
      if (step == Step::kCreate) return self->WriteSecond(Step::kCreate, "", written, answer, timeout, done);
      self->Send(Step::kGet, self->kinds_.second, "", timeout, [=](ApiResult<std::string> second) {
        if (step == Step::kGet) return done(self->Together(answer, second));
        if (!second.ok() && !second.error.NotFound()) return done(std::move(second));
        self->WriteSecond(second.ok() ? Step::kUpdate : Step::kCreate, second.value, written, answer, timeout, done);
      });
    });
  }

  std::vector<ObjectReference> References(const LockObject& first) const {
    std::vector<ObjectReference> out;
    for (std::string_view kind : {kinds_.first, kinds_.second}) {
      if (kind.empty()) continue;
      ObjectReference& o = out.emplace_back();
      o.kind = KindNamed(kind);
      o.api_version = kind == kLeases ? "coordination.k8s.io/v1" : "v1";
      o.ns = options_.ns;
      o.name = options_.name;
      o.uid = kind == kinds_.first ? first.uid : second_.uid;
      o.resource_version = kind == kinds_.first ? first.resource_version : second_.resource_version;
    }
    return out;
  }

  void WarnOfOtherKinds(absl::Time now) {
    for (std::string_view kind : {kEndpoints, kConfigMaps, kLeases}) {
      if (kind == kinds_.first || kind == kinds_.second) continue;
      Send(Step::kGet, kind, "", kReadTimeout, [=, self = shared_from_this()](const ApiResult<std::string>& other) {
        const auto lock = other.ok() ? ReadLock(kind, other.value) : absl::StatusOr<LockObject>(LockObject{});
        if (!lock.ok() || !self->IsHeld(lock->record, now)) return;
        self->Send(Step::kGet, self->kinds_.first, "", kReadTimeout, [=](const ApiResult<std::string>& own) {
          const auto ours = own.ok() ? ReadLock(self->kinds_.first, own.value) : lock;
          if (own.ok() && ours.ok() && ours->record.holder == lock->record.holder) return;
          LOG(WARNING) << "The lock " << self->options_.ns << "/" << self->options_.name << " of kind "
                       << KindNamed(kind) << " is held by " << lock->record.holder
                       << ", but this scheduler's lock is of kind " << self->options_.lock_type
                       << ". Neither sees the other, and both bind pods. End one of them, or give both the same "
                          "--leader-elect-resource-lock; the manual of kube-scheduler has the order of an upgrade";
        });
      });
    }
  }

 private:
  static constexpr absl::Duration kReadTimeout = absl::Seconds(5);

  std::string Path(std::string_view kind) const {
    return absl::StrCat(kind == kLeases ? "/apis/coordination.k8s.io/v1" : "/api/v1", "/namespaces/",
                        PercentEncode(options_.ns), "/", std::string(kind));
  }

  void Send(Step step, std::string_view kind, std::string body, absl::Duration timeout, Done<std::string> done) {
    Request r;
    r.method = step == Step::kGet ? Method::kGet : step == Step::kCreate ? Method::kPost : Method::kPut;
    r.target = step == Step::kCreate ? Path(kind) : absl::StrCat(Path(kind), "/", PercentEncode(options_.name));
    if (!options_.server_timeout.empty()) absl::StrAppend(&r.target, "?timeout=", options_.server_timeout);
    r.body = std::move(body);
    r.timeout = timeout;
    r.throttled = false;
    requests_.Raw(std::move(r), std::string(kind), options_.name, std::move(done));
  }

  // Writes into the second object the record that was written into the first one. `json` is the object as it is.
  void WriteSecond(Step step, const std::string& json, const std::string& written, ApiResult<std::string> first,
                   absl::Duration timeout, const Done<std::string>& done) {
    const auto record = ReadLock(kinds_.first, written);
    LeaderElectionOptions of_second = options_;
    of_second.lock_type = std::string(kinds_.second);
    auto body = record.ok() ? WriteLock(of_second, json, record->record) : absl::StatusOr<std::string>(record.status());
    if (!body.ok()) {
      first.error.message = util::Message(body.status());
      return done(std::move(first));
    }
    Send(step, kinds_.second, *std::move(body), timeout,
         [=, self = shared_from_this()](const ApiResult<std::string>& second) {
           if (!second.ok()) return done(second);
           if (auto lock = ReadLock(self->kinds_.second, second.value); lock.ok()) self->second_ = *lock;
           done(first);
         });
  }

  // Returns the first object as it counts with the second one beside it.
  ApiResult<std::string> Together(const ApiResult<std::string>& first, const ApiResult<std::string>& second) {
    // Without the second one, a scheduler that knows only the first kind holds the lock, or we are about to write both.
    if (!second.ok() && second.error.NotFound()) return first;
    if (!second.ok()) return second;
    auto a = ReadLock(kinds_.first, first.value), b = ReadLock(kinds_.second, second.value);
    if (!a.ok() || !b.ok()) return first;
    second_ = *b;
    if (a->record.holder == b->record.holder) return first;
    LeaderRecord both = a->record;
    both.holder = kUnknownLeader;
    if (b->record.renewed && (!both.renewed || *both.renewed < *b->record.renewed)) both.renewed = b->record.renewed;
    LeaderElectionOptions of_first = options_;
    of_first.lock_type = std::string(kinds_.first);
    ApiResult<std::string> out = first;
    if (auto text = WriteLock(of_first, first.value, both); text.ok()) out.value = *std::move(text);
    return out;
  }

  bool IsHeld(const LeaderRecord& r, absl::Time now) const {
    return !r.holder.empty() && r.holder != options_.identity && r.renewed &&
           *r.renewed + absl::Seconds(r.lease_seconds) > now;
  }

  Requests requests_;
  const LeaderElectionOptions options_;
  const LockKinds kinds_;
  LockObject second_;  // as last read or written
};

LockObjects::LockObjects(HttpClient* client, LeaderElectionOptions options)
    : impl_((BERTH_REQUIRES(KindsOfLock(options.lock_type)), std::make_shared<Impl>(client, std::move(options)))) {}

LockObjects::~LockObjects() = default;

void LockObjects::Do(LeaderElection::Step step, std::string body, absl::Duration timeout, Done<std::string> done) {
  impl_->Do(step, std::move(body), timeout, std::move(done));
}

std::vector<ObjectReference> LockObjects::References(const LockObject& first) const {
  return impl_->References(first);
}

void LockObjects::WarnOfOtherKinds(absl::Time now) {
  impl_->WarnOfOtherKinds(now);
}

}  // namespace berth::client
