// Decides which event to send for an occurrence: the event itself, an increased count on an earlier event, a summary of
// similar events, or none (EventCorrelator of client-go 1.10).
//
//   1. Aggregate: from the tenth different message of one source, object, type and reason on, each within 600 s of the
//      one before, the event becomes "(combined from similar events): <the latest message>".
//   2. Deduplicate: an event that equals an earlier one, message included, only increases the count of that one.
//   3. Spam filter: each source and object may send 25 events at once and then one every 300 s. An event that the
//      filter drops has been counted in the steps before.
//
// Each step keeps 4096 entries and drops the least recently used ones.
//
// Thread-safety: not thread-safe. The class reads no clock; the caller passes the time.
#pragma once
#include <absl/time/time.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/client/events.h"

namespace berth::client {

struct Event {
  ObjectReference object;
  std::string ns, name;  // of the Event object
  std::string reason, message, component;
  EventType type = EventType::kNormal;
  absl::Time first, last;
  int count = 1;
  // written in core/v1 only: the reporting component, which 1.29 writes beside the source
  std::string reporting_component;
  // Written in events.k8s.io/v1 only.
  std::string action;
  std::optional<ObjectReference> related;
};

// EventJson returns the whole object, for POST; EventPatch returns count, lastTimestamp and message, for PATCH.
std::string EventJson(const Event& e);
std::string EventPatch(const Event& e);
// Returns the name of an event: "<object>.<nanoseconds since 1970 in hexadecimal>".
std::string EventName(std::string_view object, absl::Time now);

class EventCorrelator {
 public:
  EventCorrelator();
  ~EventCorrelator();
  enum class Outcome : uint8_t {
    kCreate,
    kIncrease,  // the event exists already, and this increases its count
    kDrop,      // the spam filter's word
  };
  // Makes of the occurrence the event that is to be sent. `wall` is the time written into events; `steady` is the time
  // by which the spam filter refills.
  Outcome Correlate(Event* event, absl::Time wall, absl::Duration steady);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::client
