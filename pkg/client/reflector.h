// List, then watch, for ever: keeps a sink equal to one resource of the server (client-go 1.10 Reflector).
//
//   list  -> watch -> (ends) -> watch from the last resourceVersion -> ...
//     ^                 | too old, ERROR event, failed to open, very short: after 1 s
//     +-----------------+
// A failed list is tried again after 1 s, then later and later, at most 10 s apart, with jitter (1.10: always 1 s); but
// a server that answers 429 or 5xx with Retry-After says itself when.
// A list that is older than what was already seen, in a watch or in a list that failed halfway, is not believed: it
// comes from a server whose cache is behind. It is read again without resourceVersion, straight from the store. What
// that says is the truth, even if it is older.
// One bad object never stops the others: it is logged, counted and skipped; what was known of it before stays.
// A path that answers 404 is changed for the next of the resource's paths, at once; when all fail, after the back-off.
// A server that is gone without a word is noticed within a minute, by the sockets' keep-alive. One that hangs while its
// kernel still acknowledges is noticed when a watch is 30 s overdue, as no other sign comes on a quiet one.
//
// Lists and watches are cut into single objects by their JSON, straight from the receive buffer; a list is never held
// as a whole.
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

// One resource to follow. Literals; the table of what a scheduler follows is in resources.h.
struct Resource {
  std::string name;                // "replicasets.extensions", for errors
  std::string type;                // "*v1beta1.ReplicaSet", for log lines as operators know them
  std::vector<std::string> paths;  // by preference: "/apis/extensions/v1beta1/replicasets", "/apis/apps/v1/replicasets"
  std::string field_selector;      // "" or "status.phase!=Failed,..."
  // Requests have the form of client-go 1.29: watches ask for bookmarks and name their timeout twice, and a list after
  // a failed watch asks for the last version seen instead of any version that the server has in its cache.
  bool bookmarks = false;
};

// Where objects go. All calls on the I/O thread.
class ReflectorSink {
 public:
  enum class Change { kAdded, kModified, kDeleted };
  virtual ~ReflectorSink() = default;
  // A list begins: objects follow, then EndList, unless the list fails and another one begins.
  virtual void BeginList() = 0;
  // An object of the list. An error means "cannot be decoded": the sink keeps what it knew; the text names the object.
  virtual absl::Status Listed(api::Json object) = 0;
  // Everything that was not listed since BeginList is gone.
  virtual void EndList() = 0;
  virtual absl::Status Changed(Change change, api::Json object) = 0;
  // No more for now: a good moment to pass a batch on.
  virtual void Flush() = 0;
};

// Counters and gauges, readable from any thread.
struct ReflectorStats {
  std::atomic<uint64_t> lists{0}, list_failures{0}, watches{0}, watch_failures{0}, short_watches{0};
  std::atomic<uint64_t> events{0}, undecodable{0}, stale_lists{0};
  std::atomic<bool> watching{false};
  std::atomic<bool> absent{false};  // optional, and not served or not permitted as of the last list: there is no watch
  std::atomic<int64_t> last_activity_nanos{0};  // steady clock: when the server last sent anything
};

struct ReflectorOptions {
  absl::Duration retry = absl::Seconds(1);
  absl::Duration max_retry = absl::Seconds(10);
  int page_size = 500;
  // Uniform in [0, 1), for watch lengths and jitter; empty: a random generator of its own.
  std::function<double()> random;
  std::string name = "pkg/client/informer";
  // True for a resource that a cluster may do without: when the server does not have it (404), or does not let us list
  // it (403), an empty list is delivered, and the server is asked again every five minutes.
  bool optional = false;
};

class Reflector {
 public:
  // All must outlive the reflector. Start() begins; destroying ends it, without further calls to the sink.
  Reflector(Executor* executor, HttpClient* client, Resource resource, ReflectorSink* sink,
            ReflectorOptions options = {});
  ~Reflector();
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;
  void Start();
  const ReflectorStats& stats() const;
  // The last resourceVersion seen; empty before the first list.
  const std::string& resource_version() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::client
