// A series is found by everything that makes two occurrences equal. Occurred() decides what to send for one occurrence
// at once; Due() sends the counts that have accumulated since.
#include "pkg/client/event_series.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "pkg/api/json.h"
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

// Appends a member; `name` needs no escapes.
void Member(std::string_view name, std::string_view value, std::string* out) {
  *out += '"';
  *out += name;
  *out += "\":";
  api::AppendJsonString(value, out);
}

void Reference(const ObjectReference& o, std::string* out) {
  *out += '{';
  Member("kind", o.kind, out);
  *out += ',';
  Member("namespace", o.ns, out);
  *out += ',';
  Member("name", o.name, out);
  *out += ',';
  Member("uid", o.uid, out);
  *out += ',';
  Member("apiVersion", o.api_version, out);
  *out += ',';
  Member("resourceVersion", o.resource_version, out);
  *out += '}';
}

std::string SeriesJson(const SeriesEvent& e) {
  return absl::StrCat("\"series\":{\"count\":", e.base.count, ",\"lastObservedTime\":\"", MicroTime(e.base.last),
                      "\"}");
}

std::string KeyOf(const SeriesEvent& e) {
  std::string key;
  key.reserve(400 + e.base.message.size());
  absl::StrAppend(&key, util::ToAbsl(NameOf(e.base.type)), "\n", e.base.action, "\n", e.base.reason, "\n",
                  e.base.component, "\n", e.reporting_instance, "\n");
  Reference(e.base.object, &key);
  key += '\n';
  if (e.base.related) Reference(*e.base.related, &key);
  absl::StrAppend(&key, "\n", e.base.message);
  return key;
}

}  // namespace

std::string SeriesEventJson(const SeriesEvent& e) {
  const Event& b = e.base;
  std::string out;
  out.reserve(800 + b.message.size());
  out += R"({"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{)";
  Member("name", b.name, &out);
  out += ',';
  Member("namespace", b.ns, &out);
  absl::StrAppend(&out, R"(,"creationTimestamp":null},"eventTime":")", MicroTime(b.first), "\",");
  if (b.count > 1) absl::StrAppend(&out, SeriesJson(e), ",");
  Member("reportingController", b.component, &out);
  out += ',';
  Member("reportingInstance", e.reporting_instance, &out);
  out += ',';
  Member("action", b.action, &out);
  out += ',';
  Member("reason", b.reason, &out);
  out += ",\"regarding\":";
  Reference(b.object, &out);
  if (b.related) {
    out += ",\"related\":";
    Reference(*b.related, &out);
  }
  out += ',';
  Member("note", b.message, &out);
  out += ',';
  Member("type", NameOf(b.type), &out);
  out += R"(,"deprecatedSource":{},"deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null})";
  return out;
}

std::string SeriesPatch(const SeriesEvent& e) {
  BERTH_REQUIRES(e.base.count > 1);
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
