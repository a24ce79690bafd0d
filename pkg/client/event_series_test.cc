#include "pkg/client/event_series.h"

#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>

namespace berth::client {
namespace {

const absl::Time kStart = absl::FromUnixMicros(1763776517631648);

SeriesEvent Make(const std::string& note, absl::Duration at, const std::string& version = "1062") {
  SeriesEvent e;
  e.base.object = {"Pod", "v1", "wire", "low-1", "53820f40", version};
  e.base.ns = std::string("wire");
  e.base.name = EventName("low-1", kStart + at);
  e.base.component = std::string("default-scheduler");
  e.base.reason = std::string("FailedScheduling");
  e.base.type = EventType::kWarning;
  e.base.message = note;
  e.base.first = e.base.last = kStart + at;
  e.base.action = std::string("Scheduling");
  e.reporting_instance = std::string("default-scheduler-vm");
  return e;
}

// Returns what is sent for an occurrence: "post", "patch 2" or "".
std::string Sent(const std::optional<EventSeries::Outcome>& o) {
  if (!o) return "";
  return o->patch ? "patch " + std::to_string(o->event.base.count) : "post";
}

}  // namespace

TEST_CASE("event series: times have microseconds") {
  SeriesEvent e = Make("a", absl::ZeroDuration());
  e.base.count = 2;
  uint64_t random = 1;
  for (int i = 0; i < 2000; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    e.base.last = absl::FromUnixNanos(static_cast<int64_t>(random >> 2)) - absl::Hours(24 * 365 * (i % 60));
    if (i % 5 == 0) e.base.last = absl::FromUnixSeconds(i) + absl::Microseconds(i * i % 1000);
    CHECK(SeriesPatch(e.base) ==
          absl::StrCat(R"({"series":{"count":2,"lastObservedTime":")",
                       absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", e.base.last, absl::UTCTimeZone()), "\"}}"));
  }
}

TEST_CASE("event series: an event is written as 1.29 writes it") {
  SeriesEvent e = Make("Preempted by pod 2ae32404 on node node-a", absl::ZeroDuration());
  e.base.name = std::string("low-1.18ea3b3a1a82e64c");
  e.base.reason = std::string("Preempted");
  e.base.type = EventType::kNormal;
  e.base.action = std::string("Preempting");
  e.base.related = ObjectReference{"Pod", "v1", "wire", "high-1", "2ae32404", "1075"};
  CHECK(SeriesEventJson(e.base, e.reporting_instance) ==
        R"({"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"low-1.18ea3b3a1a82e64c",)"
        R"("namespace":"wire","creationTimestamp":null},"eventTime":"2025-11-22T01:55:17.631648Z",)"
        R"("reportingController":"default-scheduler","reportingInstance":"default-scheduler-vm",)"
        R"("action":"Preempting","reason":"Preempted","regarding":{"kind":"Pod","namespace":"wire","name":"low-1",)"
        R"("uid":"53820f40","apiVersion":"v1","resourceVersion":"1062"},"related":{"kind":"Pod","namespace":"wire",)"
        R"("name":"high-1","uid":"2ae32404","apiVersion":"v1","resourceVersion":"1075"},)"
        R"("note":"Preempted by pod 2ae32404 on node node-a","type":"Normal","deprecatedSource":{},)"
        R"("deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null})");
  e.base.count = 2;
  CHECK(SeriesPatch(e.base) == R"({"series":{"count":2,"lastObservedTime":"2025-11-22T01:55:17.631648Z"}})");
}

TEST_CASE("event series: the second occurrence patches the first, later ones count") {
  EventSeries s;
  const auto first = s.Occurred(Make("a", absl::Seconds(0)), absl::Seconds(0));
  CHECK(Sent(first) == "post");
  const auto second = s.Occurred(Make("a", absl::Seconds(1)), absl::Seconds(1));
  CHECK(Sent(second) == "patch 2");
  CHECK(second->event.base.name == first->event.base.name);
  CHECK(Sent(s.Occurred(Make("a", absl::Seconds(3)), absl::Seconds(3))) == "");
  // An occurrence about another version of the pod is a new event.
  CHECK(Sent(s.Occurred(Make("a", absl::Seconds(5), "1063"), absl::Seconds(5))) == "post");
}

TEST_CASE("M-20 fixed: an occurrence with another text is another event, not one more of the first") {
  EventSeries s;
  CHECK(Sent(s.Occurred(Make("a", absl::Seconds(0)), absl::Seconds(0))) == "post");
  const auto other = s.Occurred(Make("b", absl::Seconds(1)), absl::Seconds(1));
  CHECK(Sent(other) == "post");
  CHECK(other->event.base.message == "b");
  CHECK(Sent(s.Occurred(Make("b", absl::Seconds(2)), absl::Seconds(2))) == "patch 2");
}

TEST_CASE("event series: one that goes on is written every 30 minutes, one that ends a last time") {
  EventSeries s;
  absl::Duration now;
  for (; now < absl::Minutes(31); now += absl::Minutes(1)) {
    (void)s.Occurred(Make("a", now), now);
    if (now < absl::Minutes(30)) CHECK(s.Due(now).empty());
  }
  auto due = s.Due(now);
  REQUIRE(due.size() == 1);
  CHECK(due[0].patch);
  CHECK(due[0].event.base.count == 31);
  (void)s.Occurred(Make("a", now), now);
  now += absl::Minutes(6);
  due = s.Due(now);
  REQUIRE(due.size() == 1);
  CHECK(due[0].event.base.count == 32);
  CHECK(s.size() == 0);
  CHECK(Sent(s.Occurred(Make("a", now), now)) == "post");
}

TEST_CASE("event series: what is remembered is bounded") {
  EventSeries s;
  for (int i = 0; i < 5000; ++i) {
    (void)s.Occurred(Make(std::string("n") += std::to_string(i), absl::Milliseconds(i)), absl::Milliseconds(i));
  }
  CHECK(s.size() == 4096);
}

}  // namespace berth::client
