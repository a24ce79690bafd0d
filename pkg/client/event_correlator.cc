// The three steps are those of client-go, in the same order and with the same limits. A group is an object with a type
// and a reason; the key of a single event adds its message.
#include "pkg/client/event_correlator.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>

#include "pkg/api/json.h"
#include "pkg/client/json_edit.h"
#include "pkg/client/lru.h"
#include "pkg/client/requests.h"
#include "pkg/util/status.h"

namespace berth::client {
namespace {

constexpr size_t kMemory = 4096;
constexpr size_t kSimilar = 10;
constexpr absl::Duration kSimilarWithin = absl::Seconds(600);
constexpr int kSpamBurst = 25;
constexpr double kSpamPerSecond = 1.0 / 300;

// Returns a key made of parts that may hold any text. Each part is preceded by its length, so different parts never
// make the same key.
std::string Key(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (std::string_view p : parts) absl::StrAppend(&out, p.size(), ":", util::ToAbsl(p));
  return out;
}

std::string ObjectKey(const Event& e) {
  const ObjectReference& o = e.object;
  return Key({e.component, o.kind, o.ns, o.name, o.uid, o.api_version});
}

// A token bucket for one source and object. Unlike TokenBucket it refuses at once when it is empty.
class SpamBucket {
 public:
  bool Take(absl::Duration now) {
    if (!started_) last_ = now;
    started_ = true;
    tokens_ = std::min<double>(kSpamBurst, tokens_ + absl::ToDoubleSeconds(now - last_) * kSpamPerSecond);
    last_ = now;
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

 private:
  double tokens_ = kSpamBurst;
  absl::Duration last_;
  bool started_ = false;
};

void Member(std::string* out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  if (out->back() != '{') *out += ',';
  api::AppendJsonString(name, out);
  *out += ':';
  api::AppendJsonString(value, out);
}

}  // namespace

std::string EventName(std::string_view object, absl::Time now) {
  return absl::StrCat(util::ToAbsl(object), ".", absl::Hex(absl::ToUnixNanos(now)));
}

std::string EventJson(const Event& e) {
  std::string out;
  out.reserve(600 + e.message.size());
  out += R"({"kind":"Event","apiVersion":"v1","metadata":{)";
  Member(&out, "name", e.name);
  Member(&out, "namespace", e.ns);
  out += R"(,"creationTimestamp":null},"involvedObject":{)";
  Member(&out, "kind", e.object.kind);
  Member(&out, "namespace", e.object.ns);
  Member(&out, "name", e.object.name);
  Member(&out, "uid", e.object.uid);
  Member(&out, "apiVersion", e.object.api_version);
  Member(&out, "resourceVersion", e.object.resource_version);
  out += '}';
  Member(&out, "reason", e.reason);
  Member(&out, "message", e.message);
  out += ",\"source\":{";
  Member(&out, "component", e.component);
  absl::StrAppend(&out, "},\"firstTimestamp\":\"", FormatApiTime(e.first), "\",\"lastTimestamp\":\"",
                  FormatApiTime(e.last), "\",\"count\":", e.count, ",\"type\":\"", util::ToAbsl(NameOf(e.type)),
                  R"(","eventTime":null,"reportingComponent":)", JsonString(e.reporting_component),
                  R"(,"reportingInstance":""})");
  return out;
}

std::string EventPatch(const Event& e) {
  std::string out = absl::StrCat("{\"count\":", e.count, ",\"lastTimestamp\":\"", FormatApiTime(e.last), "\"");
  Member(&out, "message", e.message);
  out += '}';
  return out;
}

struct EventCorrelator::State {
  struct Similar {
    std::set<std::string> messages;
    absl::Time last;
  };
  struct Earlier {
    int count = 0;
    absl::Time first;
    std::string name;
  };
  Lru<Similar> similar{kMemory};
  Lru<Earlier> earlier{kMemory};
  Lru<SpamBucket> spam{kMemory};
};

EventCorrelator::EventCorrelator() : state_(std::make_unique<State>()) {}
EventCorrelator::~EventCorrelator() = default;

std::optional<EventCorrelator::Outcome> EventCorrelator::Correlate(Event event, absl::Time wall,
                                                                   absl::Duration steady) {
  std::string object = ObjectKey(event);
  std::string group = Key({object, NameOf(event.type), event.reason});
  std::string key = Key({group, event.message});

  State::Similar& similar = state_->similar.Use(group);
  if (wall - similar.last > kSimilarWithin) similar.messages.clear();
  similar.messages.insert(event.message);
  similar.last = wall;
  if (similar.messages.size() >= kSimilar) {
    // Ten different messages are enough to know that a group is aggregated, so the set need not grow any further.
    similar.messages.erase(similar.messages.begin());
    event.message = absl::StrCat("(combined from similar events): ", event.message);
    event.name = EventName(event.object.name, wall);
    event.first = event.last = wall;
    key = group;
  }

  State::Earlier& earlier = state_->earlier.Use(key);
  Outcome outcome;
  if (earlier.count > 0) {
    event.name = earlier.name;
    event.first = earlier.first;
    event.count = earlier.count + 1;
    outcome.patch = true;
  }
  earlier.count = event.count;
  earlier.first = event.first;
  earlier.name = event.name;

  if (!state_->spam.Use(object).Take(steady)) return std::nullopt;
  outcome.event = std::move(event);
  return outcome;
}

}  // namespace berth::client
