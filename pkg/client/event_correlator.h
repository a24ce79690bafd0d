// Which event to send: itself, a count on an earlier one, a summary of similar ones, or none (client-go 1.10
// EventCorrelator).
//
//  1. aggregate: the tenth and later different message of one source, object, type and reason, each within 600 s of
//     the one before, become one event "(combined from similar events): <the latest message>".
//  2. dedup: an event like an earlier one, message included, only raises that one's count.
//  3. spam filter: each source and object may send 25 at once and then one every 300 s. What it takes was counted.
// Each memory holds 4096 entries, the least recently used go. No thread, no clock: the caller gives the time.
#pragma once
#include <absl/time/time.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/client/events.h"

namespace berth::client {

struct Event {
  ObjectReference object;
  std::string ns, name;  // of the event itself
  std::string reason, message, component;
  EventType type = EventType::kNormal;
  absl::Time first, last;
  int count = 1;
  std::string reporting_component;  // of core/v1: who reports, for what 1.29 adds to the source
  // Of events.k8s.io/v1 alone.
  std::string action;
  std::optional<ObjectReference> related;
};

// The whole object, for POST; and count, lastTimestamp and message, for PATCH.
std::string EventJson(const Event& e);
std::string EventPatch(const Event& e);
// "<object>.<hex nanoseconds>".
std::string EventName(std::string_view object, absl::Time now);

class EventCorrelator {
 public:
  EventCorrelator();
  ~EventCorrelator();
  struct Outcome {
    Event event;
    bool patch = false;  // raises the count of an event already there
  };
  // Nothing: the spam filter took it. `wall` stamps, `steady` refills.
  std::optional<Outcome> Correlate(Event event, absl::Time wall, absl::Duration steady);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::client
