#include "pkg/client/leaderelection.h"

#include <catch2/catch.hpp>

#include "pkg/api/json.h"
#include "pkg/client/fake_api.h"
#include "pkg/client/fake_server.h"
#include "pkg/client/manual_executor.h"

namespace berth::client {
namespace {

const char kKey[] = "control-plane.alpha.kubernetes.io/leader";

// A lock object on a server in memory, with optimistic locking, and candidates that share a manual clock.
struct ElectionWorld {
  explicit ElectionWorld(std::string type = "endpoints") : lock_type(std::move(type)) {}

  struct Candidate {
    Candidate(ElectionWorld* w, const std::string& id) {
      LeaderElectionOptions o;
      o.identity = id;
      o.lock_type = w->lock_type;
      o.reads_before_release = w->reads_before_release;
      LeaderElectorCallbacks c;
      c.on_started_leading = [this] { log += "+"; };
      c.on_stopped_leading = [this] { log += "-"; };
      c.on_released = [this] { log += "r"; };
      elector = std::make_unique<LeaderElector>(&w->executor, &api, nullptr, o, c);
    }
    FakeApi api;
    std::unique_ptr<LeaderElector> elector;
    std::string log;
    bool cut_off = false;  // its requests get no answer
  };

  Candidate* Add(const std::string& id) {
    candidates.push_back(std::make_unique<Candidate>(this, id));
    candidates.back()->elector->Start();
    Serve();
    return candidates.back().get();
  }

  // Answers all open requests as an API server would.
  void Serve() {
    for (auto& c : candidates) {
      for (size_t i = 0; i < c->api.calls.size(); ++i) {
        auto call = c->api.calls[i];
        if (call->over) continue;
        Request& r = call->request;
        if (c->cut_off) {
          c->api.Break("no answer within 5s", true, call);
          continue;
        }
        requests += std::string(MethodName(r.method)) + " ";
        if (r.method == Method::kGet) {
          c->api.Answer(object.empty() ? 404 : 200, object.empty() ? "{}" : object, call);
        } else if (r.method == Method::kPost) {
          Store(r.body);
          c->api.Answer(201, object, call);
        } else if (VersionOf(r.body) != VersionOf(object)) {
          c->api.Answer(409, R"({"kind":"Status","reason":"Conflict","message":"conflict","code":409})", call);
        } else {
          Store(r.body);
          c->api.Answer(200, object, call);
        }
      }
    }
  }
  static std::string VersionOf(const std::string& json) {
    api::Document d;
    CHECK(d.Parse(json).ok());
    return std::string(d.root().Find("metadata").Find("resourceVersion").Text());
  }
  void Store(std::string json) {
    std::string old = VersionOf(json), now = "\"resourceVersion\":\"" + std::to_string(++version) + "\"";
    size_t at = json.find("\"resourceVersion\":\"" + old + "\"");
    if (old.empty()) {
      json.insert(json.find("\"metadata\":{") + 12, now + ",");
    } else {
      json.replace(at, 21 + old.size() - 1, now);
    }
    object = json;
  }
  LeaderRecord Record() const { return ReadLock(lock_type, object)->record; }

  // Advances the clock in steps of 0.1 s and checks after each that there are not two leaders.
  void Pass(absl::Duration d) {
    for (absl::Duration t; t < d; t += absl::Milliseconds(100)) {
      executor.Advance(absl::Milliseconds(100));
      Serve();
      int leaders = 0;
      for (auto& c : candidates) leaders += c->elector->IsLeader();
      CHECK(leaders <= 1);
    }
  }

  ManualExecutor executor;
  std::string lock_type, object, requests;
  int version = 0;
  bool reads_before_release = false;
  std::vector<std::unique_ptr<Candidate>> candidates;
};

ApiResult<std::string> Ok(const std::string& body) {
  return {{}, body};
}

ApiResult<std::string> Error(int code, const std::string& message) {
  ApiResult<std::string> r;
  r.error.code = code;
  r.error.message = message;
  r.error.transport = code == 0;
  return r;
}

std::string Lock(const std::string& holder, const std::string& renewed = "2017-07-14T02:40:00Z", int transitions = 3) {
  std::string record = R"({\"holderIdentity\":\")" + holder +
                       R"(\",\"leaseDurationSeconds\":15,\"acquireTime\":\"2017-07-14T02:00:00Z\",\"renewTime\":\")" +
                       renewed + R"(\",\"leaderTransitions\":)" + std::to_string(transitions) + "}";
  return R"({"kind":"Endpoints","metadata":{"name":"kube-scheduler","uid":"u","resourceVersion":"5","annotations":{"x":"y",")" +
         std::string(kKey) + R"(":")" + record + R"("}},"subsets":[{"kept":true}]})";
}

}  // namespace

TEST_CASE("the timings are checked in upstream's words") {
  auto check = [](absl::Duration lease, absl::Duration renew, absl::Duration retry) {
    LeaderElectionOptions o;
    o.lease = lease;
    o.renew_deadline = renew;
    o.retry = retry;
    return std::string(CheckTimings(o).message());
  };
  using absl::Seconds;
  CHECK(check(Seconds(15), Seconds(10), Seconds(2)) == "");
  CHECK(check(Seconds(10), Seconds(10), Seconds(2)) ==
        "couldn't create leader elector: leaseDuration must be greater than renewDeadline");
  CHECK(check(Seconds(15), absl::Milliseconds(2400), Seconds(2)) ==
        "couldn't create leader elector: renewDeadline must be greater than retryPeriod*JitterFactor");
  CHECK(check(Seconds(15), absl::Milliseconds(2401), Seconds(2)) == "");
  CHECK_THAT(check(Seconds(0), Seconds(10), Seconds(2)), Catch::Contains("leaseDuration must be greater than zero"));
  CHECK(CheckLockType("leases").ok());
  CHECK(CheckLockType("foo").message() == "couldn't create resource lock: Invalid lock-type foo");
}

TEST_CASE("identities are the host's name and something unique") {
  auto a = NewIdentity(), b = NewIdentity();
  REQUIRE(a.ok());
  CHECK(*a != *b);
  size_t at = a->rfind('_');
  REQUIRE(at != std::string::npos);
  CHECK(a->size() - at == 37);
}

TEST_CASE("records are read and written as upstream does, and the rest of the object is kept") {
  auto lock = ReadLock("endpoints", Lock("someone"));
  REQUIRE(lock.ok());
  CHECK(lock->record.holder == "someone");
  CHECK(lock->record.lease_seconds == 15);
  CHECK(lock->record.transitions == 3);
  CHECK(lock->record.renewed == absl::FromUnixSeconds(1'500'000'000));
  CHECK(lock->uid == "u");
  CHECK(lock->resource_version == "5");
  LeaderElectionOptions o;
  LeaderRecord r;
  r.holder = "me";
  r.lease_seconds = 15;
  r.renewed = absl::FromUnixSeconds(1'500'000'002);
  r.transitions = 4;
  auto written = WriteLock(o, Lock("someone"), r);
  REQUIRE(written.ok());
  CHECK(
      *written ==
      R"({"kind":"Endpoints","metadata":{"name":"kube-scheduler","uid":"u","resourceVersion":"5","annotations":{"x":"y",)"
      R"("control-plane.alpha.kubernetes.io/leader":"{\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15,)"
      R"(\"acquireTime\":null,\"renewTime\":\"2017-07-14T02:40:02Z\",\"leaderTransitions\":4}"}},"subsets":[{"kept":true}]})");
  CHECK(ReadLock("endpoints", *written)->record == r);
  CHECK(ReadLock("endpoints", "{\"metadata\":{}}")->record == LeaderRecord());
  CHECK_FALSE(ReadLock("endpoints", R"({"metadata":{"annotations":{")" + std::string(kKey) + R"(":"{"}}})").ok());
  CHECK_FALSE(ReadLock("endpoints", "garbage").ok());
  o.lock_type = "leases";
  r.acquired = absl::FromUnixMillis(1'500'000'000'250);
  written = WriteLock(o, "", r);
  CHECK(
      *written ==
      R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"kube-scheduler","namespace":"kube-system",)"
      R"("creationTimestamp":null},"spec":{"holderIdentity":"me","leaseDurationSeconds":15,"acquireTime":"2017-07-14T02:40:00.250000Z",)"
      R"("renewTime":"2017-07-14T02:40:02.000000Z","leaseTransitions":4}})");
  CHECK(ReadLock("leases", *written)->record == r);
}

TEST_CASE("a free lock is taken at once and renewed every two seconds") {
  ElectionWorld w(GENERATE(std::string("endpoints"), std::string("configmaps"), std::string("leases")));
  auto* a = w.Add("a");
  CHECK(a->elector->IsLeader());
  CHECK(a->log == "+");
  CHECK(a->elector->Holder() == "a");
  CHECK(w.Record().transitions == 0);
  CHECK(w.requests == "GET POST ");
  std::string path = w.lock_type == "leases" ? "/apis/coordination.k8s.io/v1" : "/api/v1";
  CHECK(a->api.calls[0]->request.target == path + "/namespaces/kube-system/" + w.lock_type + "/kube-scheduler");
  CHECK(a->api.calls[1]->request.target == path + "/namespaces/kube-system/" + w.lock_type);
  w.requests.clear();
  w.Pass(absl::Milliseconds(1900));
  CHECK(w.requests == "");
  CHECK(a->elector->LeaseAge() == absl::Milliseconds(1900));
  w.Pass(absl::Milliseconds(200));
  CHECK(w.requests == "GET PUT ");
  CHECK(a->elector->LeaseAge() < absl::Milliseconds(200));
  w.Pass(absl::Seconds(60));
  CHECK(a->log == "+");
  CHECK(*w.Record().acquired == absl::FromUnixSeconds(1'500'000'000));
  CHECK(*w.Record().renewed >= absl::FromUnixSeconds(1'500'000'058));
}

TEST_CASE("a candidate waits a whole lease of its own clock, whatever the record says") {
  ElectionWorld w;
  auto* a = w.Add("a");
  w.Pass(absl::Seconds(5));
  auto* b = w.Add("b");
  w.Pass(absl::Seconds(100));
  CHECK(b->log == "");
  CHECK(b->elector->LeaseAge() == absl::InfiniteDuration());
  CHECK(b->elector->Holder() == "a");
  a->cut_off = true;
  w.Pass(absl::Milliseconds(11'500));
  CHECK(a->log == "+-");
  CHECK(b->log == "");
  w.Pass(absl::Seconds(10));
  CHECK(b->log == "+");
  CHECK(w.Record().holder == "b");
  CHECK(w.Record().transitions == 1);
  // A candidate's requests are 2.0 to 4.4 s apart.
  CHECK(b->api.calls.size() > 100 / 4.4);
}

TEST_CASE("a leader without answers stops in time, after a last try") {
  ElectionWorld w;
  auto* a = w.Add("a");
  a->cut_off = true;
  absl::Duration lost_at;
  size_t before = a->api.calls.size();
  for (int i = 0; i < 150 && lost_at == absl::ZeroDuration(); ++i) {
    w.Pass(absl::Milliseconds(100));
    if (!a->elector->IsLeader()) lost_at = w.executor.clock().Steady();
  }
  CHECK(lost_at >= absl::Seconds(10));
  CHECK(lost_at <= absl::Milliseconds(10'200));
  CHECK(a->log == "+-");
  CHECK(a->elector->LeaseAge() == absl::InfiniteDuration());
  CHECK(a->api.calls.size() - before == 5);  // after 2, 4, 6, 8 and 10 s
  w.Pass(absl::Seconds(30));
  CHECK(a->api.calls.size() - before == 5);
}

TEST_CASE("a leader that reads another holder has lost at once") {
  ElectionWorld w;
  auto* a = w.Add("a");
  w.Pass(absl::Seconds(3));
  w.object = Lock("thief");
  w.Pass(absl::Milliseconds(2100));
  CHECK(a->log == "+-");
  CHECK(w.Record().holder == "thief");
}

TEST_CASE("a conflict is a failed attempt, not a loss") {
  ElectionWorld w;
  auto* a = w.Add("a");
  // Another client changes the object once, between the candidate's GET and PUT.
  w.executor.Advance(absl::Seconds(2));
  auto get = a->api.calls.back();
  std::string old = w.object;
  w.Store(w.object);
  a->api.Answer(200, old, get);
  w.Serve();
  CHECK(a->elector->IsLeader());
  w.Pass(absl::Seconds(3));
  CHECK(a->elector->IsLeader());
  CHECK(a->elector->LeaseAge() < absl::Seconds(2));
}

TEST_CASE("released, the lock is taken by the next candidate without waiting for the lease") {
  ElectionWorld w;
  auto* a = w.Add("a");
  auto* b = w.Add("b");
  w.Pass(absl::Seconds(7));
  a->elector->Release();
  w.executor.Run();
  w.Serve();
  CHECK(a->log == "+r");
  CHECK_FALSE(a->elector->IsLeader());
  CHECK(w.Record().holder == "");
  CHECK(w.Record().lease_seconds == 1);
  w.Pass(absl::Milliseconds(4500));
  CHECK(b->log == "+");
  CHECK(w.Record().transitions == 1);
  b->elector->Release();
  w.executor.Run();
  w.Serve();
  CHECK(b->log == "+r");
}

TEST_CASE("where the release says so, the lock is read before it is released, and left alone if another holds it") {
  for (const bool lost : {false, true}) {
    ElectionWorld w("leases");
    w.reads_before_release = true;
    auto* a = w.Add("a");
    REQUIRE(a->log == "+");
    w.requests.clear();
    if (lost) w.object = WriteLock({.lock_type = "leases"}, w.object, {.holder = "b", .transitions = 7}).value();
    a->elector->Release();
    for (int i = 0; i < 2; ++i) {
      w.executor.Run();
      w.Serve();
    }
    w.executor.Run();
    CHECK(w.requests == (lost ? "GET " : "GET PUT "));
    CHECK(ReadLock("leases", w.object)->record.holder == (lost ? "b" : ""));
    CHECK(a->log == "+r");
  }
}

TEST_CASE("a process that starts right after a release leaves the lock to those that stood by") {
  const bool lease = GENERATE(false, true);
  ElectionWorld w(lease ? "leases" : "endpoints");
  auto* a = w.Add("a");
  w.Pass(absl::Seconds(7));
  a->elector->Release();
  w.executor.Run();
  w.Serve();
  w.Pass(absl::Seconds(1));
  auto* again = w.Add("a again");
  // Candidates of client-go 1.10 wait until 15 s after the last change of the Endpoints, which they read at least every
  // 4.4 s.
  const absl::Duration turn = absl::Milliseconds(lease ? 1000 + 4400 : 15000 + 4400);
  w.Pass(turn - absl::Seconds(1) - absl::Milliseconds(300));
  CHECK_FALSE(again->elector->IsLeader());
  w.Pass(absl::Seconds(5));
  CHECK(again->log == "+");
}

TEST_CASE("a start long after a release, or a release by a clock that is ahead, takes the lock at once") {
  const auto [renewed, taken] = GENERATE(table<std::string, bool>(
      {{"2017-07-14T02:39:30Z", true}, {"2017-07-14T02:50:00Z", true}, {"2017-07-14T02:39:55Z", false}}));
  LeaderElectionOptions o;
  o.identity = "me";
  LeaderElection e(o, [] { return 0.5; });
  const absl::Time wall = absl::FromUnixSeconds(1'500'000'000);  // 02:40:00
  CHECK(e.Tick(absl::Seconds(1), wall).step == LeaderElection::Step::kGet);
  CHECK((e.Answer(Ok(Lock("", renewed)), absl::Seconds(1), wall).step == LeaderElection::Step::kUpdate) == taken);
}

TEST_CASE("releasing what is not held, or while a request is under way") {
  ElectionWorld w;
  w.object = Lock("someone");
  auto* a = w.Add("a");
  a->elector->Release();
  w.executor.Run();
  CHECK(a->log == "r");
  CHECK(w.Record().holder == "someone");
  w.Pass(absl::Seconds(30));
  CHECK(w.Record().holder == "someone");

  ElectionWorld busy;
  auto* b = busy.Add("b");
  busy.executor.Advance(absl::Seconds(2));  // a renewal's GET is under way
  b->elector->Release();
  busy.executor.Run();
  CHECK(b->log == "+");
  busy.Serve();
  busy.executor.Run();
  busy.Serve();
  busy.executor.Run();
  busy.Serve();
  CHECK(b->log == "+r");
  CHECK(busy.Record().holder == "");
}

TEST_CASE("requests are given up in time: a hung server cannot stretch the deadline") {
  LeaderElectionOptions o;
  o.identity = "me";
  LeaderElection e(o, [] { return 0.5; });
  absl::Time wall = absl::FromUnixSeconds(1'500'000'000);
  using Step = LeaderElection::Step;
  auto a = e.Tick(absl::Seconds(0), wall);
  CHECK(a.step == Step::kGet);
  CHECK(a.timeout == absl::Seconds(5));
  a = e.Answer(Error(404, "not found"), absl::Seconds(1), wall);
  REQUIRE(a.step == Step::kCreate);
  // The lease counts from when the request was sent, not from its answer.
  a = e.Answer(Ok(a.body), absl::Seconds(4), wall);
  CHECK(a.event == LeaderElection::Event::kBecameLeader);
  CHECK(a.wait == absl::Seconds(2));
  CHECK(e.renewed_at() == absl::Seconds(1));
  a = e.Tick(absl::Seconds(6), wall);
  CHECK(a.timeout == absl::Seconds(5));
  a = e.Answer(Error(0, "no answer within 5s"), absl::Seconds(9), wall);
  CHECK(a.wait == absl::ZeroDuration());  // two seconds after the attempt began are over
  a = e.Tick(absl::Seconds(9), wall);
  CHECK(a.timeout == absl::Milliseconds(2500));
  a = e.Answer(Error(0, "no answer"), absl::Milliseconds(10'500), wall);
  CHECK(a.wait == absl::Milliseconds(500));  // not beyond the deadline at 11 s
  a = e.Tick(absl::Seconds(11), wall);
  CHECK(a.timeout == absl::Milliseconds(2500));
  CHECK(e.leader());
  a = e.Answer(Error(0, "no answer"), absl::Milliseconds(13'500), wall);
  CHECK(a.event == LeaderElection::Event::kLostLease);
  CHECK(a.step == Step::kOver);
  CHECK_FALSE(e.leader());
  CHECK(e.Tick(absl::Seconds(20), wall).step == Step::kOver);
}

TEST_CASE("while waiting for the lock: jitter, and what cannot be read is tried again") {
  LeaderElectionOptions o;
  o.identity = "me";
  double random = 0;
  LeaderElection e(o, [&] { return random; });
  absl::Time wall = absl::FromUnixSeconds(1'500'000'000);
  auto attempt = [&](const ApiResult<std::string>& answer, double at) {
    CHECK(e.Tick(absl::Seconds(at), wall).step == LeaderElection::Step::kGet);
    return e.Answer(answer, absl::Seconds(at), wall);
  };
  CHECK(attempt(Ok(Lock("other")), 0).wait == absl::Seconds(2));
  random = 1;
  CHECK(attempt(Error(500, "oh"), 3).wait == absl::Milliseconds(4400));
  CHECK(attempt(Ok("garbage"), 6).wait == absl::Milliseconds(4400));
  CHECK(attempt(Ok(Lock("other", "2017-07-14T02:41:00Z")), 14).step == LeaderElection::Step::kWait);
  // The lock was changed at 14 s, so it is free at 29 s and not before.
  CHECK(attempt(Ok(Lock("other", "2017-07-14T02:41:00Z")), 28.9).step == LeaderElection::Step::kWait);
  auto a = attempt(Ok(Lock("other", "2017-07-14T02:41:00Z")), 29);
  REQUIRE(a.step == LeaderElection::Step::kUpdate);
  auto record = ReadLock("endpoints", a.body)->record;
  CHECK(record.holder == "me");
  CHECK(record.transitions == 4);
  CHECK(record.acquired == wall);
  CHECK(e.Answer(Error(409, "conflict"), absl::Seconds(29), wall).step == LeaderElection::Step::kWait);
  CHECK_FALSE(e.leader());
  // A lock without a holder or without a record is free.
  CHECK(attempt(Ok(Lock("", "2017-07-14T02:42:00Z")), 31).step == LeaderElection::Step::kUpdate);
  CHECK(e.Answer(Error(500, "oh"), absl::Seconds(31), wall).step == LeaderElection::Step::kWait);
  CHECK(attempt(Ok(R"({"metadata":{"resourceVersion":"9"}})"), 35).step == LeaderElection::Step::kUpdate);
}

TEST_CASE("the watchdog bites when the I/O thread hangs") {
  std::string object;
  std::mutex mutex;
  FakeServer server([&](const FakeRequest& r, FakeServer::Turn& t) {
    std::lock_guard<std::mutex> lock(mutex);
    if (r.method == "GET") {
      t.Respond(object.empty() ? 404 : 200, object);
    } else {
      object = r.body;
      t.Respond(200, object);
    }
  });
  IoThread io;
  HttpOptions h;
  h.host = "127.0.0.1";
  h.port = static_cast<uint16_t>(server.port());
  auto client = NewHttpClient(io.executor(), h);
  REQUIRE(client.ok());
  LeaderElectionOptions o;
  o.identity = "me";
  o.lease = absl::Milliseconds(300);
  o.renew_deadline = absl::Milliseconds(200);
  o.retry = absl::Milliseconds(50);
  Mailbox<int> bitten;
  LeaderElectorCallbacks c;
  // As soon as it leads, the I/O thread hangs until the watchdog has bitten. So it cannot lose the lease before.
  c.on_started_leading = [&] { bitten.WaitFor(1); };
  c.on_watchdog = [&](std::string_view) { bitten.Put(1); };
  std::unique_ptr<LeaderElector> elector;
  io.Run([&] {
    elector = std::make_unique<LeaderElector>(io.executor(), client->get(), nullptr, o, c);
    elector->Start();
  });
  REQUIRE(bitten.WaitFor(1));
  io.Run([] {});
  CHECK(bitten.values().size() == 1);
  io.Run([&] {
    elector.reset();
    client->reset();
  });
}

TEST_CASE("leadership is recorded as an event on the lock object") {
  ManualExecutor executor;
  FakeApi api, events_api;
  EventRecorder events(&executor, &events_api);
  LeaderElectionOptions o;
  o.identity = "host_1%s";
  LeaderElector elector(&executor, &api, &events, o, {});
  elector.Start();
  api.Answer(404);
  api.Answer(201, Lock("host_1%s"));
  executor.Run();
  REQUIRE(events_api.calls.size() == 1);
  CHECK(events_api.target() == "/api/v1/namespaces/kube-system/events");
  CHECK_THAT(
      events_api.last().request.body,
      Catch::Contains(R"("involvedObject":{"kind":"Endpoints","namespace":"kube-system","name":"kube-scheduler",)"
                      R"("uid":"u","apiVersion":"v1","resourceVersion":"5"},"reason":"LeaderElection",)"
                      R"("message":"host_1%s became leader")"));
}

}  // namespace berth::client
