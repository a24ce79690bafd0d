// The event recorder: writes what happened to an object to the API server as Events, as client-go 1.10 does.
//
// Record() never blocks and never fails. Events wait in a queue of at most 1000; while it is full, new events are
// dropped and counted. Before an event is sent, the correlator (event_correlator.h) combines it with similar ones,
// turns repeated ones into a count, and drops events of an object that has too many.
//
// client-go sends one event at a time. This recorder keeps that order for each object, but sends up to `in_flight`
// events of different objects at the same time. With in_flight = 1 the order is client-go's.
//
// An event that the server rejects is not sent again ("Server rejected event ... (will not retry!)"). An event that
// gets no response is tried 12 times, 10 s apart, with a random first wait between 0 and 10 s. It keeps its slot in
// flight meanwhile, so a server that does not respond holds up all events.
#pragma once
#include <absl/time/time.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/client/http.h"

namespace berth::client {

// The object that an event is about. The caller sets kind and apiVersion; 1.10 derives them from selfLink, which newer
// servers no longer send.
struct ObjectReference {
  std::string kind = "Pod", api_version = "v1";
  std::string ns, name, uid, resource_version;
};

enum class EventType : uint8_t { kNormal, kWarning };

// Returns the type's name in the API: "Normal" or "Warning".
std::string_view NameOf(EventType type);

// Thread-safety: may be read from any thread.
struct EventStats {
  std::atomic<uint64_t> recorded{0};  // calls of Record
  std::atomic<uint64_t> dropped{0};   // the queue was full
  std::atomic<uint64_t> spam{0};      // dropped by the spam filter
  std::atomic<uint64_t> sent{0};      // accepted by the server
  std::atomic<uint64_t> rejected{0};  // rejected by the server, or given up after the last try
  std::atomic<uint64_t> queued{0};    // waiting or in flight
};

struct EventRecorderOptions {
  std::string component = "default-scheduler";
  // Written in events of core/v1: empty in 1.10, the component in 1.29.
  std::string reporting_component;
  // Whether log lines about events use named values, as in release 1.29.
  bool structured_log = false;
  size_t queue_limit = 1000;
  int in_flight = 64;
  // The shortest time between the moments at which the I/O thread takes events and sends them. An event that comes
  // alone is sent at once; of many, the thread is woken once for those that gather meanwhile.
  absl::Duration gather = absl::ZeroDuration();
  // If not empty, events are written in events.k8s.io/v1 with series (event_series.h), and this is their
  // reportingInstance, "<scheduler name>-<host>" (Kubernetes 1.19). If empty, or once the server turns out not to have
  // that group, they are written in core/v1 with counts.
  std::string series_instance;
  int tries = 12;
  absl::Duration retry = absl::Seconds(10);
  std::function<double()> random;  // uniform in [0, 1); empty: the recorder's own generator
};

class EventRecorder {
 public:
  // `client` should not be used for anything else, so that events have their own connections and rate limit. Both must
  // outlive the recorder.
  EventRecorder(Executor* executor, HttpClient* client, EventRecorderOptions options = {});
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  // Records an event. `action` and `related` are written in events.k8s.io/v1 only. Thread-safety: may be called from
  // any thread.
  void Record(ObjectReference object, EventType type, std::string_view reason, std::string message,
              std::string_view action = {}, std::optional<ObjectReference> related = {});
  const EventStats& stats() const;
  // Sends what has gathered, and calls `done` on the I/O thread once all recorded events have been sent or dropped, or
  // when `limit` has passed. Used for a clean shutdown.
  void Drain(absl::Duration limit, std::function<void()> done);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::client
