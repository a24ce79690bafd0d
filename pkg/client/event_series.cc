// A series is found by everything that makes two occurrences equal. Occurred() decides what to send for one occurrence
// at once; Due() sends the counts that have accumulated since.
#include "pkg/client/event_series.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "pkg/client/json_edit.h"
#include "pkg/client/requests.h"
#include "pkg/util/contract.h"
#include "pkg/util/status.h"

namespace berth::client {
namespace {

constexpr absl::Duration kRefresh = absl::Minutes(30), kSilence = absl::Minutes(6);
// The memory is bounded: beyond this number the series that has been silent for the longest time is forgotten.
constexpr size_t kMost = 4096;

// Returns a time with microseconds, the form of metav1.MicroTime: "2018-03-26T08:00:00.000000Z".
std::string MicroTime(absl::Time t) {
  std::string out = FormatApiTime(t);
  int64_t micros = (t - absl::FromUnixSeconds(absl::ToUnixSeconds(t))) / absl::Microseconds(1);
  std::array<char, 8> tail = {'.', '0', '0', '0', '0', '0', '0', 'Z'};
  for (size_t i = 6; micros > 0; micros /= 10) tail[i--] = static_cast<char>('0' + micros % 10);
  out.replace(out.size() - 1, 1, tail.data(), tail.size());
  return out;
}

void Reference(const ObjectReference& o, JsonWriter* out) {
  out->Object().Member("kind", o.kind).Member("namespace", o.ns).Member("name", o.name).Member("uid", o.uid);
  out->Member("apiVersion", o.api_version).Member("resourceVersion", o.resource_version).End();
}

void Series(const Event& e, JsonWriter* out) {
  out->Key("series").Object().Member("count", e.count);
  out->Member("lastObservedTime", MicroTime(e.last)).End();
}

std::string KeyOf(const SeriesEvent& e) {
  std::string key;
  key.reserve(400 + e.base.message.size());
  absl::StrAppend(&key, util::ToAbsl(NameOf(e.base.type)), "\n", e.base.action, "\n", e.base.reason, "\n",
                  e.base.component, "\n", e.reporting_instance, "\n");
  JsonWriter references(&key);
  Reference(e.base.object, &references);
  references.EndLine();
  if (e.base.related) Reference(*e.base.related, &references);
  absl::StrAppend(&key, "\n", e.base.message);
  return key;
}

}  // namespace

std::string SeriesEventJson(const Event& b, std::string_view reporting_instance) {
  std::string out;
  out.reserve(800 + b.message.size());
  JsonWriter j(&out);
  j.Part(R"({"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{)").Member("name", b.name);
  j.Member("namespace", b.ns).Part(R"(,"creationTimestamp":null})").Member("eventTime", MicroTime(b.first));
  if (b.count > 1) Series(b, &j);
  j.Member("reportingController", b.component).Member("reportingInstance", reporting_instance);
  j.Member("action", b.action).Member("reason", b.reason).Key("regarding");
  Reference(b.object, &j);
  if (b.related) Reference(*b.related, &j.Key("related"));
  j.Member("note", b.message).Member("type", NameOf(b.type));
  j.Part(R"(,"deprecatedSource":{},"deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null})");
  return out;
}

std::string SeriesPatch(const Event& e) {
  BERTH_REQUIRES(e.count > 1);
  JsonWriter j;
  Series(e, &j.Object());
  return j.End().Take();
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
