// The event recorder: writes what happened to an object as Events to the API server, as client-go 1.10 does.
//
// Record() never blocks and never fails: events wait in a bounded queue (1000; then new ones are dropped and counted).
// On the way out they are correlated (event_correlator.h): many similar ones become one, repeated ones a count, and an
// object that floods is cut off.
// Upstream sends one event after another. So does this recorder for any one object; events of different objects may be
// on their way together, at most `in_flight` of them. With in_flight = 1 it is upstream's order exactly.
//
// An answer that is an error is not repeated ("Server rejected event ... (will not retry!)"). Without an answer an
// event is tried 12 times, 10 s apart, the first wait random between 0 and 10 s; meanwhile its slot in flight is taken,
// so a dead server holds up all.
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

// What an event is about. Kind and apiVersion are named by the caller (1.10 guesses them from selfLink, which newer
// servers do not send).
struct ObjectReference {
  std::string kind = "Pod", api_version = "v1";
  std::string ns, name, uid, resource_version;
};

enum class EventType : uint8_t { kNormal, kWarning };

// Readable from any thread.
struct EventStats {
  std::atomic<uint64_t> recorded{0};  // calls of Record
  std::atomic<uint64_t> dropped{0};   // the queue was full
  std::atomic<uint64_t> spam{0};      // cut off by the spam filter
  std::atomic<uint64_t> sent{0};      // accepted by the server
  std::atomic<uint64_t> rejected{0};  // refused by the server, or given up
  std::atomic<uint64_t> queued{0};    // waiting or on their way
};

struct EventRecorderOptions {
  std::string component = "default-scheduler";
  // Of events in core/v1: empty in 1.10, the component in 1.29.
  std::string reporting_component;
  // Release 1.29 writes log lines about events with named values.
  bool structured_log = false;
  size_t queue_limit = 1000;
  int in_flight = 64;
  // Not empty: events are written in events.k8s.io/v1 with series (event_series.h), and this is their
  // reportingInstance, "<scheduler name>-<host>" (Kubernetes 1.29). Empty: in core/v1 with counts.
  std::string series_instance;
  int tries = 12;
  absl::Duration retry = absl::Seconds(10);
  std::function<double()> random;  // uniform in [0, 1); empty: its own
};

class EventRecorder {
 public:
  // `client`: one of its own, with its own connections and limit. Both must outlive the recorder.
  EventRecorder(Executor* executor, HttpClient* client, EventRecorderOptions options = {});
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  // From any thread. `action` and `related` are written in events.k8s.io/v1 only.
  void Record(ObjectReference object, EventType type, std::string_view reason, std::string message,
              std::string_view action = {}, std::optional<ObjectReference> related = {});
  const EventStats& stats() const;
  // Calls `done` on the I/O thread once all that was recorded has been dealt with, or when `limit` has passed: for a
  // clean end.
  void Drain(absl::Duration limit, std::function<void()> done);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::client
