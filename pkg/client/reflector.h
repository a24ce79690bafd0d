// Keeps a sink equal to one resource of the server by listing it and then watching it, forever (client-go 1.10
// Reflector).
//
//   list  -> watch -> (ends) -> watch from the last resourceVersion -> ...
//     ^                 | version too old, ERROR event, failure to open, very short watch: after 1 s
//     +-----------------+
// With `streams_lists`, a list is the beginning of a watch: the objects that exist, then a bookmark that says so, then
// the changes, on one connection and without a version in a server's cache that could be old: it is asked for nothing
// older than what was seen. A server that refuses that, or whose bookmark does not come, is asked for a list instead.
//
// A failed list is repeated after 1 s, and then after longer and longer delays of at most 10 s, with jitter (1.10
// always waits 1 s). If the server answers 429 or 5xx with Retry-After, the delay is that one.
//
// A list can be older than what was already seen, in a watch or in a list that failed halfway, if it comes from a
// server whose cache is behind. Such a list is discarded and read again without resourceVersion, which makes the server
// read it from its store. That second list is always accepted, even if it is older, because the store is authoritative.
//
// An object that cannot be decoded never stops the others: it is logged, counted and skipped, and its last known state
// is kept. When a path answers 404, the next of the resource's paths is tried at once; when all have failed, after the
// delay.
//
// A server that disappears without closing the connection is noticed within a minute by TCP keep-alive. A server that
// hangs while its kernel still acknowledges packets is noticed when a watch is 30 s overdue, because a quiet watch
// gives no other sign.
//
// Lists and watches are split into single objects straight from the receive buffer; a list is never held as a whole.
#pragma once
#include <absl/status/status.h>
#include <absl/time/time.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/client/http.h"

namespace berth::client {

// Describes one resource to follow. resources.h makes these for the resources that a scheduler follows.
struct Resource {
  std::string name;  // "replicasets.extensions", for errors
  std::string type;  // as client-go's log lines name it
  // in order of preference: "/apis/extensions/v1beta1/replicasets", "/apis/apps/v1/replicasets"
  std::vector<std::string> paths;
  // The first Kubernetes release with the stable version of the kind, such as "1.17"; empty if all have one.
  std::string served_since;
  std::string field_selector;  // "" or "status.phase!=Failed,..."
  // Whether requests have the form of client-go 1.29: watches ask for bookmarks and carry their timeout twice, and a
  // list after a failed watch asks for the last version seen instead of any version in the server's cache.
  bool bookmarks = false;
  // Whether a list is asked for as the beginning of a watch (WatchList, client-go 1.35), with a list to fall back to.
  bool streams_lists = false;
};

// Receives the objects. All calls are made on the I/O thread.
class ReflectorSink {
 public:
  enum class Change { kAdded, kModified, kDeleted };
  virtual ~ReflectorSink() = default;
  // A list begins. Calls of Listed and one of EndList follow, unless the list fails and another one begins.
  virtual void BeginList() = 0;
  // Delivers an object of the list. An error means that it cannot be decoded; the sink then keeps the last known state.
  // The text of the error names the object.
  virtual absl::Status Listed(api::Json object) = 0;
  // The list is complete: every object that was not listed since BeginList is gone.
  virtual void EndList() = 0;
  virtual absl::Status Changed(Change change, api::Json object) = 0;
  // Returns which parts of objects the parser may skip, or null.
  virtual api::KnownParts* known_parts() { return nullptr; }
  // All events that have been received so far have been delivered, so this is the time to pass a batch on.
  virtual void Flush() = 0;
};

// Counters and gauges. Thread-safety: may be read from any thread.
struct ReflectorStats {
  std::atomic<uint64_t> lists{0}, list_failures{0}, watches{0}, watch_failures{0}, short_watches{0};
  std::atomic<uint64_t> events{0}, undecodable{0}, stale_lists{0};
  std::atomic<uint64_t> streamed_lists{0};  // complete lists that were beginnings of watches
  std::atomic<bool> watching{false};
  std::atomic<bool> absent{false};  // the resource is optional and the last list found it not served or not permitted
  std::atomic<int64_t> last_activity_nanos{0};  // steady clock: when the server last sent something
  void Heard(absl::Duration now) {
    last_activity_nanos.store(absl::ToInt64Nanoseconds(now), std::memory_order_relaxed);
  }
};

struct ReflectorOptions {
  absl::Duration retry = absl::Seconds(1);
  absl::Duration max_retry = absl::Seconds(10);
  int page_size = 500;
  // Returns numbers uniform in [0, 1), for the lengths of watches and for jitter. If empty, the reflector's own
  // generator.
  std::function<double()> random;
  std::string name = "pkg/client/informer";
  // Whether a cluster may lack the resource. If the server does not have it (404) or does not permit listing it (403),
  // an empty list is delivered, and the server is asked again every five minutes.
  bool optional = false;
};

class Reflector {
 public:
  // All arguments must outlive the reflector. The destructor stops it; the sink is not called afterwards.
  Reflector(Executor* executor, HttpClient* client, Resource resource, ReflectorSink* sink,
            ReflectorOptions options = {});
  ~Reflector();
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;
  void Start();
  const ReflectorStats& stats() const;
  // Returns the last resourceVersion seen; empty before the first list.
  const std::string& resource_version() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::client
