// A series is found by everything that makes two occurrences equal. Occurred() decides what to send for one occurrence
// at once; Due() sends the counts that have accumulated since.
#include "pkg/client/event_series.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "pkg/client/json_edit.h"

namespace berth::client {
namespace {

constexpr absl::Duration kRefresh = absl::Minutes(30), kSilence = absl::Minutes(6);
// The memory is bounded: beyond this number the series that has been silent for the longest time is forgotten.
constexpr size_t kMost = 4096;

std::string Member(std::string_view name, std::string_view value) {
  return absl::StrCat("\"", std::string(name), "\":", JsonString(value));
}

// Returns a time with microseconds, the form of metav1.MicroTime.
std::string MicroTime(absl::Time t) {
  return absl::FormatTime("\"%Y-%m-%dT%H:%M:%E6SZ\"", t, absl::UTCTimeZone());
}

std::string Reference(const ObjectReference& o) {
  return absl::StrCat("{", Member("kind", o.kind), ",", Member("namespace", o.ns), ",", Member("name", o.name), ",",
                      Member("uid", o.uid), ",", Member("apiVersion", o.api_version), ",",
                      Member("resourceVersion", o.resource_version), "}");
}

std::string SeriesJson(const SeriesEvent& e) {
  return absl::StrCat("\"series\":{\"count\":", e.base.count, ",\"lastObservedTime\":", MicroTime(e.base.last), "}");
}

std::string KeyOf(const SeriesEvent& e) {
  return absl::StrCat(util::ToAbsl(NameOf(e.base.type)), "\n", e.base.action, "\n", e.base.reason, "\n",
                      e.base.component, "\n", e.reporting_instance, "\n", Reference(e.base.object), "\n",
                      e.base.related ? Reference(*e.base.related) : "", "\n", e.base.message);
}

}  // namespace

std::string SeriesEventJson(const SeriesEvent& e) {
  const Event& b = e.base;
  return absl::StrCat(R"({"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{)", Member("name", b.name), ",",
                      Member("namespace", b.ns), R"(,"creationTimestamp":null},"eventTime":)", MicroTime(b.first), ",",
                      b.count > 1 ? SeriesJson(e) + "," : "", Member("reportingController", b.component), ",",
                      Member("reportingInstance", e.reporting_instance), ",", Member("action", e.base.action), ",",
                      Member("reason", b.reason), ",\"regarding\":", Reference(b.object), ",",
                      e.base.related ? absl::StrCat("\"related\":", Reference(*e.base.related), ",") : "",
                      Member("note", b.message), ",", Member("type", NameOf(b.type)),
                      R"(,"deprecatedSource":{},"deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null})");
}

std::string SeriesPatch(const SeriesEvent& e) {
  return absl::StrCat("{", SeriesJson(e), "}");
}

std::optional<EventSeries::Outcome> EventSeries::Occurred(SeriesEvent event, absl::Duration now) {
  const std::string key = KeyOf(event);
  auto it = series_.find(key);
  if (it != series_.end() && now - it->second.last < kSilence) {
    Series& s = it->second;
    s.last = now;
    s.event.base.last = event.base.first;
    if (++s.event.base.count > 2) return std::nullopt;
    s.written = now;
    s.written_count = s.event.base.count;
    return Outcome{s.event, true};
  }
  if (it == series_.end() && series_.size() >= kMost) {
    series_.erase(std::min_element(series_.begin(), series_.end(),
                                   [](const auto& a, const auto& b) { return a.second.last < b.second.last; }));
  }
  event.base.count = 1;
  series_[key] = {event, now, now};
  return Outcome{std::move(event), false};
}

std::vector<EventSeries::Outcome> EventSeries::Due(absl::Duration now) {
  std::vector<Outcome> out;
  for (auto it = series_.begin(); it != series_.end();) {
    Series& s = it->second;
    const bool over = now - s.last >= kSilence;
    const bool unwritten = s.event.base.count > s.written_count;
    if (unwritten && (over || now - s.written >= kRefresh)) {
      out.push_back({s.event, true});
      s.written = now;
      s.written_count = s.event.base.count;
    }
    it = over ? series_.erase(it) : std::next(it);
  }
  return out;
}

}  // namespace berth::client
