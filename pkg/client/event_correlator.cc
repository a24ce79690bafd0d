// The three steps are those of client-go, in the same order and with the same limits. A group is an object with a type
// and a reason; the key of a single event adds its message.
#include "pkg/client/event_correlator.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <charconv>
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

// The keys of an event, from its object to itself. Each begins with the one before, so they are one text. Each part is
// preceded by its length, so different parts never make the same key.
class Keys {
 public:
  explicit Keys(const Event& e) {
    const ObjectReference& o = e.object;
    all_.reserve(160 + o.name.size() + e.message.size());
    for (std::string_view p : {std::string_view(e.component), std::string_view(o.kind), std::string_view(o.ns),
                               std::string_view(o.name), std::string_view(o.uid), std::string_view(o.api_version)}) {
      Add(p);
    }
    object_ = all_.size();
    Add(NameOf(e.type));
    Add(e.reason);
    group_ = all_.size();
    Add(e.message);
  }
  // The source and the object.
  std::string_view object() const { return std::string_view(all_).substr(0, object_); }
  // The same with type and reason.
  std::string_view group() const { return std::string_view(all_).substr(0, group_); }
  std::string_view event() const { return all_; }

 private:
  void Add(std::string_view part) {
    std::array<char, 20> digits;
    char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), part.size()).ptr;
    all_.append(digits.data(), end);
    all_ += ':';
    all_ += part;
  }

  std::string all_;
  size_t object_ = 0, group_ = 0;
};

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

}  // namespace

std::string EventName(std::string_view object, absl::Time now) {
  return absl::StrCat(util::ToAbsl(object), ".", absl::Hex(absl::ToUnixNanos(now)));
}

std::string EventJson(const Event& e) {
  std::string out;
  out.reserve(600 + e.message.size());
  JsonWriter j(&out);
  j.Part(R"({"kind":"Event","apiVersion":"v1","metadata":{)").MemberUnlessEmpty("name", e.name);
  j.MemberUnlessEmpty("namespace", e.ns).Part(R"(,"creationTimestamp":null},"involvedObject":{)");
  j.MemberUnlessEmpty("kind", e.object.kind).MemberUnlessEmpty("namespace", e.object.ns);
  j.MemberUnlessEmpty("name", e.object.name).MemberUnlessEmpty("uid", e.object.uid);
  j.MemberUnlessEmpty("apiVersion", e.object.api_version);
  j.MemberUnlessEmpty("resourceVersion", e.object.resource_version).Part("}");
  j.MemberUnlessEmpty("reason", e.reason).MemberUnlessEmpty("message", e.message).Part(R"(,"source":{)");
  j.MemberUnlessEmpty("component", e.component).Part("}").Member("firstTimestamp", FormatApiTime(e.first));
  j.Member("lastTimestamp", FormatApiTime(e.last)).Member("count", e.count).Member("type", NameOf(e.type));
  j.Part(R"(,"eventTime":null)").Member("reportingComponent", e.reporting_component);
  j.Part(R"(,"reportingInstance":""})");
  return out;
}

std::string EventPatch(const Event& e) {
  JsonWriter j;
  j.Object().Member("count", e.count).Member("lastTimestamp", FormatApiTime(e.last));
  return j.MemberUnlessEmpty("message", e.message).End().Take();
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

EventCorrelator::Outcome EventCorrelator::Correlate(Event* event, absl::Time wall, absl::Duration steady) {
  const Keys keys(*event);
  std::string_view key = keys.event();

  State::Similar& similar = state_->similar.Use(keys.group());
  if (wall - similar.last > kSimilarWithin) similar.messages.clear();
  similar.messages.insert(event->message);
  similar.last = wall;
  if (similar.messages.size() >= kSimilar) {
    // Ten different messages are enough to know that a group is aggregated, so the set need not grow any further.
    similar.messages.erase(similar.messages.begin());
    event->message = absl::StrCat("(combined from similar events): ", event->message);
    event->name = EventName(event->object.name, wall);
    event->first = event->last = wall;
    key = keys.group();
  }

  State::Earlier& earlier = state_->earlier.Use(key);
  const bool exists = earlier.count > 0;
  if (exists) {
    event->name = earlier.name;
    event->first = earlier.first;
    event->count = earlier.count + 1;
  }
  earlier.count = event->count;
  earlier.first = event->first;
  earlier.name = event->name;

  if (!state_->spam.Use(keys.object()).Take(steady)) return Outcome::kDrop;
  return exists ? Outcome::kIncrease : Outcome::kCreate;
}

}  // namespace berth::client
