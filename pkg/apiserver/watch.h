// Watches: the events of a resource that a selector lets pass, as the chunks of an HTTP response.
//
// The text of an event is made once and shared by all watchers of the same version. An object that begins to match the
// selector is ADDED. One that no longer matches is DELETED, with its old state and the new resource version, as in
// 1.10.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "pkg/apiserver/selector.h"
#include "pkg/store/api_types.h"
#include "pkg/store/store.h"

namespace berth::apiserver {

// One chunk of HTTP/1.1: size line, a line of JSON, CRLF.
using Frame = std::shared_ptr<const std::string>;
Frame MakeFrame(std::string_view type, std::string_view object_json);
// Returns the JSON line of a frame, for HTTP/1.0 connections, which have no chunks.
std::string_view FramePayload(const std::string& frame);

// The destination of the chunks: a connection. It must not change the store.
class WatchSink {
 public:
  virtual ~WatchSink() = default;
  virtual void Send(const Frame& frame) = 0;
  // Ends the response properly; no more frames follow.
  virtual void Finish() = 0;
};

class Watch final : public EventListener {
 public:
  // Where the watch begins.
  struct From {
    bool synthetic = false;  // begin with ADDED for everything that exists
    uint64_t rv = 0;         // otherwise begin with the changes after this version
    bool bookmarks = false;  // about once a minute, if there are new versions, send a BOOKMARK with the version reached
    // Behind the objects that exist comes a bookmark that says so, if the client takes bookmarks.
    bool marks_end = false;
  };

  // Delivers to `sink` until the watch is destroyed. `store` and `sink` must outlive it.
  Watch(Store* store, const ResourceInfo* r, size_t version, ObjectSelector selector, WatchSink* sink);
  ~Watch() override;
  // Sends the beginning and then delivers events as they happen. Returns false if `from` is too long ago: then an ERROR
  // event has been sent (none for the resource events, whose watches end silently in 1.10) and the sink has been
  // finished.
  bool Start(const From& from);

  void OnEvent(const EventPtr& e) override;
  void OnTick(absl::Duration now) override;

 private:
  // Sends a bookmark with a version; `end`: it is the one behind the objects that exist.
  void SendBookmark(uint64_t rv, bool end);
  Store* store_;
  const ResourceInfo* r_;
  size_t version_;
  ObjectSelector selector_;
  WatchSink* sink_;
  uint64_t after_ = 0;  // events up to this version are not delivered
  bool listening_ = false;
  bool bookmarks_ = false;
  // The version of the last bookmark or, before the first, that from which the watch began.
  uint64_t bookmarked_ = 0;
  absl::Duration next_bookmark_ = absl::InfiniteDuration();  // set by the first tick
};

}  // namespace berth::apiserver
