// Events of events.k8s.io/v1: which occurrence is sent, and how (client-go tools/events of Kubernetes 1.29).
//
// Occurrences that are alike are one event with a series: the first is created, the second adds a series with a count
// of 2, later ones only count here. A series that goes on is written every 30 minutes; one that has been silent for 6
// minutes is written a last time and forgotten. Unlike 1.29, the note is part of what makes two occurrences alike, so
// that no failure text is lost in the series of another.
// No thread, no clock: the caller gives the time.
#pragma once
#include <absl/time/time.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pkg/client/event_correlator.h"

namespace berth::client {

// `base.component` is the reporting controller, `base.count` that of the series, and `base.last` the time of its last
// occurrence.
struct SeriesEvent {
  Event base;
  std::string reporting_instance;
};

// Returns the whole object, for POST.
std::string SeriesEventJson(const SeriesEvent& e);
// Returns the series alone, for PATCH. REQUIRES: e.base.count > 1.
std::string SeriesPatch(const SeriesEvent& e);

class EventSeries {
 public:
  struct Outcome {
    SeriesEvent event;
    bool patch = false;  // the series of an event that is there already
  };
  // Returns what to send for an occurrence; nothing when it is only counted.
  std::optional<Outcome> Occurred(SeriesEvent event, absl::Duration now);
  // Returns the series to write now, and forgets those that are over. To be called every minute or so.
  std::vector<Outcome> Due(absl::Duration now);
  size_t size() const { return series_.size(); }

 private:
  struct Series {
    SeriesEvent event;
    absl::Duration last, written;
    int32_t written_count = 1;  // what the API server was last sent
  };
  std::map<std::string, Series> series_;  // by everything that makes occurrences alike
};

}  // namespace berth::client
