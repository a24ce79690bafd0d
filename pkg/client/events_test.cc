#include "pkg/client/events.h"

#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <catch2/catch.hpp>

#include "pkg/api/json.h"
#include "pkg/client/event_correlator.h"
#include "pkg/client/fake_api.h"
#include "pkg/client/lru.h"
#include "pkg/client/manual_executor.h"

namespace berth::client {
namespace {

ObjectReference Pod(const std::string& name) {
  return {"Pod", "v1", "default", name, "u-" + name, "7"};
}

Event Make(const std::string& message, const std::string& pod = "big", const std::string& reason = "FailedScheduling") {
  Event e;
  e.object = Pod(pod);
  e.ns = "default";
  e.component = "default-scheduler";
  e.reason = reason;
  e.message = message;
  e.type = EventType::kWarning;
  e.first = e.last = absl::FromUnixSeconds(1'500'000'000);
  e.name = EventName(pod, e.first);
  return e;
}

struct Correlator {
  struct Sent {
    Event event;
    bool patch = false;
  };
  std::optional<Sent> operator()(Event e, absl::Duration later = absl::ZeroDuration()) {
    now += later;
    const auto outcome = c.Correlate(&e, absl::FromUnixSeconds(1'500'000'000) + now, now);
    if (outcome == EventCorrelator::Outcome::kDrop) return std::nullopt;
    return Sent{std::move(e), outcome == EventCorrelator::Outcome::kIncrease};
  }
  EventCorrelator c;
  absl::Duration now;
};

struct EventsFixture {
  explicit EventsFixture(int in_flight = 64, size_t queue = 1000) {
    EventRecorderOptions o;
    o.in_flight = in_flight;
    o.queue_limit = queue;
    o.random = [] { return 0.25; };
    recorder = std::make_unique<EventRecorder>(&executor, &api, o);
  }
  void Record(const std::string& pod, const std::string& message) {
    recorder->Record(Pod(pod), EventType::kWarning, "FailedScheduling", message);
    executor.Run();
  }
  ManualExecutor executor;
  FakeApi api;
  std::unique_ptr<EventRecorder> recorder;
};

}  // namespace

TEST_CASE("an event is written as upstream writes it") {
  Event e = Make("0/1 nodes are available: 1 Insufficient cpu.");
  CHECK(e.name == "big.14d1120d7b160000");
  CHECK(
      EventJson(e) ==
      R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"big.14d1120d7b160000","namespace":"default","creationTimestamp":null},)"
      R"("involvedObject":{"kind":"Pod","namespace":"default","name":"big","uid":"u-big","apiVersion":"v1","resourceVersion":"7"},)"
      R"("reason":"FailedScheduling","message":"0/1 nodes are available: 1 Insufficient cpu.","source":{"component":"default-scheduler"},)"
      R"("firstTimestamp":"2017-07-14T02:40:00Z","lastTimestamp":"2017-07-14T02:40:00Z","count":1,"type":"Warning",)"
      R"("eventTime":null,"reportingComponent":"","reportingInstance":""})");
  e.count = 2;
  CHECK(
      EventPatch(e) ==
      R"({"count":2,"lastTimestamp":"2017-07-14T02:40:00Z","message":"0/1 nodes are available: 1 Insufficient cpu."})");
  e.message = "a \"b\"\n<c>";
  api::Document d;
  REQUIRE(d.Parse(EventJson(e)).ok());
  CHECK(d.root().Find("message").Text() == e.message);
}

TEST_CASE("an event like an earlier one raises its count") {
  Correlator c;
  auto one = c(Make("m"));
  CHECK_FALSE(one->patch);
  auto two = c(Make("m"), absl::Seconds(5));
  CHECK(two->patch);
  CHECK(two->event.count == 2);
  CHECK(two->event.name == one->event.name);
  CHECK(two->event.first == one->event.first);
  CHECK(c(Make("m"))->event.count == 3);
  for (const Event& other : {Make("other"), Make("m", "other"), Make("m", "big", "Other")}) {
    auto o = c(other);
    CHECK_FALSE(o->patch);
    CHECK(o->event.count == 1);
  }
}

TEST_CASE("the tenth different message within ten minutes becomes a summary") {
  Correlator c;
  for (int i = 1; i <= 9; ++i)
    CHECK(c(Make(absl::StrCat("m", i)), absl::Seconds(600))->event.message == absl::StrCat("m", i));
  auto tenth = c(Make("m10"));
  CHECK(tenth->event.message == "(combined from similar events): m10");
  CHECK_FALSE(tenth->patch);
  auto eleventh = c(Make("m11"));
  CHECK(eleventh->event.message == "(combined from similar events): m11");
  CHECK(eleventh->patch);
  CHECK(eleventh->event.count == 2);
  CHECK(eleventh->event.name == tenth->event.name);
  // After a pause of more than 600 s the similar events are forgotten.
  CHECK(c(Make("m12"), absl::Seconds(601))->event.message == "m12");
}

TEST_CASE("an object that floods is cut off after 25, then one every five minutes") {
  Correlator c;
  for (int i = 0; i < 25; ++i) CHECK(c(Make("m")).has_value());
  CHECK_FALSE(c(Make("m")).has_value());
  CHECK(c(Make("m", "other")).has_value());
  CHECK_FALSE(c(Make("m"), absl::Seconds(299)).has_value());
  auto late = c(Make("m"), absl::Seconds(1));
  REQUIRE(late.has_value());
  CHECK(late->event.count == 28);  // those cut off were counted
  CHECK_FALSE(c(Make("m")).has_value());
}

TEST_CASE("the memories are bounded") {
  Lru<int> l(3);
  l.Use("a") = 1;
  l.Use("b") = 2;
  l.Use("c") = 3;
  CHECK(l.Use("a") == 1);
  l.Use("d") = 4;  // b goes
  CHECK(l.size() == 3);
  CHECK(l.Use("a") == 1);
  CHECK(l.Use("c") == 3);
  CHECK(l.Use("b") == 0);
}

TEST_CASE("events are posted, repeated ones patched, and anew when they are gone") {
  EventsFixture f;
  f.Record("big", "m");
  REQUIRE(f.api.calls.size() == 1);
  CHECK(f.api.last().request.method == Method::kPost);
  CHECK(f.api.target() == "/api/v1/namespaces/default/events");
  f.api.Answer(201);
  f.executor.Advance(absl::Seconds(1));
  f.Record("big", "m");
  CHECK(f.api.last().request.method == Method::kPatch);
  CHECK(f.api.target() == "/api/v1/namespaces/default/events/big.14d1120d7b160000");
  CHECK(f.api.last().request.content_type == "application/strategic-merge-patch+json");
  CHECK(f.api.last().request.body == R"({"count":2,"lastTimestamp":"2017-07-14T02:40:01Z","message":"m"})");
  f.api.Answer(404, "");
  CHECK(f.api.last().request.method == Method::kPost);
  CHECK_THAT(f.api.last().request.body, Catch::Contains(R"("count":2)"));
  CHECK_THAT(f.api.last().request.body, Catch::Contains(R"("firstTimestamp":"2017-07-14T02:40:00Z")"));
  f.api.Answer(201);
  CHECK(f.recorder->stats().sent == 2);
  CHECK(f.recorder->stats().queued == 0);
}

TEST_CASE("events of one object keep their order, others go on") {
  EventsFixture f;
  f.Record("a", "1");
  f.Record("a", "2");
  f.Record("b", "3");
  REQUIRE(f.api.calls.size() == 2);
  CHECK_THAT(f.api.last().request.body, Catch::Contains("\"message\":\"3\""));
  f.api.Answer(201, "{}", f.api.calls[0]);
  REQUIRE(f.api.calls.size() == 3);
  CHECK_THAT(f.api.last().request.body, Catch::Contains("\"message\":\"2\""));
  CHECK(f.recorder->stats().queued == 2);
}

TEST_CASE("an event that comes alone is sent at once, and those that follow it closely together") {
  ManualExecutor executor;
  FakeApi api;
  EventRecorderOptions o;
  o.gather = absl::Milliseconds(5);
  o.in_flight = 1000;
  EventRecorder recorder(&executor, &api, o);
  const auto record = [&](const std::string& pod) {
    recorder.Record(Pod(pod), EventType::kWarning, "FailedScheduling", "m");
    executor.Run();
  };
  record("a");
  CHECK(api.calls.size() == 1);
  executor.Advance(absl::Milliseconds(2));
  record("b");
  executor.Advance(absl::Milliseconds(2));
  record("c");
  CHECK(api.calls.size() == 1);
  CHECK(executor.timers() == 1);
  executor.Advance(absl::Milliseconds(1));
  CHECK(api.calls.size() == 3);
  // Where several have come together, the thread looks for more by itself and is not woken.
  recorder.Record(Pod("d"), EventType::kWarning, "FailedScheduling", "m");
  CHECK(executor.posted() == 0);
  executor.Run();
  CHECK(api.calls.size() == 3);
  // At the end of the process they are sent at once.
  bool drained = false;
  recorder.Drain(absl::Seconds(1), [&] { drained = true; });
  executor.Run();
  REQUIRE(api.calls.size() == 4);
  CHECK_FALSE(drained);
  for (const auto& call : std::vector(api.calls)) api.Answer(201, "{}", call);
  CHECK(drained);
  CHECK(recorder.stats().sent == 4);
  executor.Advance(absl::Milliseconds(5));
  record("e");
  CHECK(api.calls.size() == 5);
  // Many do not wait for more.
  for (int i = 0; i < 255; ++i) record(absl::StrCat("f", i));
  CHECK(api.calls.size() == 5);
  record("g");
  CHECK(api.calls.size() == 261);
}

TEST_CASE("with one in flight it is upstream's order") {
  EventsFixture f(1);
  f.Record("a", "1");
  f.Record("b", "2");
  CHECK(f.api.calls.size() == 1);
  f.api.Answer(201);
  CHECK(f.api.calls.size() == 2);
}

TEST_CASE("a full queue drops what is new and counts it") {
  EventsFixture f(1, 3);
  for (int i = 0; i < 10; ++i) f.Record("a", absl::StrCat(i));
  CHECK(f.recorder->stats().recorded == 10);
  CHECK(f.recorder->stats().dropped == 7);
  CHECK(f.recorder->stats().queued == 3);
  f.api.Answer(201);
  f.Record("a", "new");
  CHECK(f.recorder->stats().dropped == 7);
}

TEST_CASE("a refused event is not repeated") {
  EventsFixture f;
  f.Record("a", "1");
  f.api.Answer(GENERATE(500, 403, 409, 422));
  f.executor.Advance(absl::Hours(1));
  CHECK(f.api.calls.size() == 1);
  CHECK(f.recorder->stats().rejected == 1);
  CHECK(f.recorder->stats().queued == 0);
}

TEST_CASE("an event without an answer is tried twelve times") {
  EventsFixture f;
  f.Record("a", "1");
  std::vector<double> waits;
  for (int i = 1; i < 12; ++i) {
    REQUIRE(f.api.calls.size() == static_cast<size_t>(i));
    f.api.Break("EOF");
    f.executor.Advance(absl::Seconds(1));  // the log's timer
    waits.push_back(1 + absl::ToDoubleSeconds(f.executor.NextTimer()));
    f.executor.Advance(f.executor.NextTimer());
  }
  CHECK(waits == std::vector<double>{2.5, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10});
  CHECK(f.api.calls.size() == 12);
  f.api.Break("EOF");
  CHECK(f.recorder->stats().rejected == 1);
  CHECK(f.executor.timers() == 0);
}

TEST_CASE("events of events.k8s.io/v1 are posted, and their series patched") {
  EventsFixture f;
  EventRecorderOptions o;
  o.series_instance = std::string("default-scheduler-host");
  EventRecorder recorder(&f.executor, &f.api, o);
  const auto record = [&] {
    recorder.Record(Pod("a"), EventType::kWarning, "FailedScheduling", "m", "Scheduling");
    f.executor.Run();
  };
  record();
  REQUIRE(f.api.calls.size() == 1);
  CHECK(f.api.calls[0]->request.target == "/apis/events.k8s.io/v1/namespaces/default/events");
  CHECK(f.api.calls[0]->request.body.find(R"("action":"Scheduling")") != std::string::npos);
  f.api.Answer(201, "{}");
  record();
  REQUIRE(f.api.calls.size() == 2);
  CHECK(f.api.calls[1]->request.method == Method::kPatch);
  CHECK(f.api.calls[1]->request.body.find(R"({"series":{"count":2,)") == 0);
  f.api.Answer(200, "{}");
  for (int i = 0; i < 3; ++i) record();
  CHECK(f.api.calls.size() == 2);
  f.executor.Advance(absl::Minutes(8));  // silence: the count is written a last time
  REQUIRE(f.api.calls.size() == 3);
  CHECK(f.api.calls[2]->request.body.find(R"({"series":{"count":5,)") == 0);
  f.api.Answer(200, "{}");
  CHECK(recorder.stats().queued == 0);
}

TEST_CASE("events that a broken connection fails together are two log lines") {
  struct Lines : google::LogSink {
    Lines() { google::AddLogSink(this); }
    ~Lines() override { google::RemoveLogSink(this); }
    void send(google::LogSeverity, const char*, const char*, int, const struct ::tm*, const char* text,
              size_t length) override {
      all.append(text, length).push_back('\n');
    }
    std::string all;
  } lines;
  EventsFixture f;
  for (int i = 0; i < 50; ++i) f.Record(absl::StrCat("p", i), "m");
  REQUIRE(f.api.calls.size() == 50);
  for (int i = 0; i < 50; ++i) f.api.Break("EOF", true, f.api.calls[i]);
  CHECK(lines.all == "Unable to write event: 'EOF' (may retry after sleeping)\n");
  f.executor.Advance(absl::Seconds(1));
  CHECK(lines.all ==
        "Unable to write event: 'EOF' (may retry after sleeping)\n"
        "Unable to write 49 more events within a second: 'EOF' (may retry after sleeping)\n");
}

TEST_CASE("an object without a namespace has its events in default") {
  EventsFixture f;
  f.recorder->Record({"Node", "v1", "", "n1", "", ""}, EventType::kNormal, "R", "m");
  f.executor.Run();
  CHECK(f.api.target() == "/api/v1/namespaces/default/events");
  CHECK_THAT(f.api.last().request.body,
             Catch::Contains(R"("involvedObject":{"kind":"Node","name":"n1","apiVersion":"v1"})"));
}

TEST_CASE("draining waits for what is on its way, but not for ever") {
  EventsFixture f;
  int done = 0;
  f.recorder->Drain(absl::Seconds(5), [&] { ++done; });
  f.executor.Run();
  CHECK(done == 1);
  f.Record("a", "1");
  f.recorder->Drain(absl::Seconds(5), [&] { ++done; });
  f.executor.Run();
  CHECK(done == 1);
  f.api.Answer(201);
  CHECK(done == 2);
  f.Record("a", "2");
  f.recorder->Drain(absl::Seconds(5), [&] { ++done; });
  f.executor.Advance(absl::Seconds(5));
  CHECK(done == 3);
  f.api.Answer(201);
  CHECK(done == 3);
}

}  // namespace berth::client
