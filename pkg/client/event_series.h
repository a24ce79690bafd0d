// Decides which occurrences are sent as events of events.k8s.io/v1, and how (client-go tools/events of Kubernetes
// 1.29).
//
// Equal occurrences make one event with a series. The first occurrence creates the event, the second adds a series with
// a count of 2, and later ones are only counted here. A series that goes on is written every 30 minutes; one that has
// been silent for 6 minutes is written a last time and forgotten. Unlike in 1.29, the note must be equal too, so that
// the text of a failure is not lost in the series of another failure.
//
// Thread-safety: not thread-safe. The class reads no clock; the caller passes the time.
#pragma once
#include <absl/time/time.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/client/event_correlator.h"

namespace berth::client {

// In `base`, `component` is the reporting controller, `count` the number of occurrences in the series, and `last` the
// time of the last one.
struct SeriesEvent {
  Event base;
  std::string reporting_instance;
};

// Returns the whole object, for POST. `base` and `reporting_instance` are those of a SeriesEvent.
std::string SeriesEventJson(const Event& base, std::string_view reporting_instance);
// Returns only the series, for PATCH. REQUIRES: base.count > 1.
std::string SeriesPatch(const Event& base);

class EventSeries {
 public:
  struct Outcome {
    SeriesEvent event;
    bool patch = false;  // the event exists already, and this is its series
  };
  // Returns what to send for an occurrence, or nothing if the occurrence is only counted.
  std::optional<Outcome> Occurred(SeriesEvent event, absl::Duration now);
  // Returns the series that are to be written now, and drops those that have ended. Call it about once a minute.
  std::vector<Outcome> Due(absl::Duration now);
  size_t size() const { return series_.size(); }

 private:
  struct Series {
    SeriesEvent event;
    absl::Duration last, written;
    int32_t written_count = 1;  // the count that was last sent to the API server
  };
  std::map<std::string, Series> series_;  // by type, action, reason, component, objects and message
};

}  // namespace berth::client
