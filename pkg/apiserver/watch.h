// Watches: the events of a resource that a selector lets through, as the chunks of an HTTP answer.
//
// The text of an event is made once and shared by all watchers of the resource's first version. An object that enters a
// selector is ADDED; one that leaves it is DELETED, with its old state and the new resource version, as 1.10 does.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "pkg/apiserver/api_types.h"
#include "pkg/apiserver/selector.h"
#include "pkg/apiserver/store.h"

namespace berth::apiserver {

// One chunk of HTTP/1.1: size line, JSON line, CRLF.
using Frame = std::shared_ptr<const std::string>;
Frame MakeFrame(std::string_view type, std::string_view object_json);
// The JSON line inside, for HTTP/1.0 connections that know no chunks.
std::string_view FramePayload(const std::string& frame);

// Where the chunks go: a connection. Must not change the store.
class WatchSink {
 public:
  virtual ~WatchSink() = default;
  virtual void Send(const Frame& frame) = 0;
  // No more will come; the answer ends in order.
  virtual void Finish() = 0;
};

class Watch final : public EventListener {
 public:
  // What to begin with.
  struct From {
    bool synthetic = false;  // ADDED for everything that exists, then what happens
    uint64_t rv = 0;         // else: everything that happened after this version
    bool bookmarks = false;  // about once a minute a BOOKMARK tells the version that has been reached, if there is news
  };

  // Delivers to `sink` until it is destroyed. Both outlive it.
  Watch(Store* store, const ResourceInfo* r, size_t version, ObjectSelector selector, WatchSink* sink);
  ~Watch() override;
  // Sends the beginning and goes on from there. False when `from` is too long ago: an ERROR event has been sent (none
  // for events, which end silently in 1.10) and the sink is finished.
  bool Start(const From& from);

  void OnEvent(const EventPtr& e) override;
  void OnTick(absl::Duration now) override;

 private:
  Store* store_;
  const ResourceInfo* r_;
  size_t version_;
  ObjectSelector selector_;
  WatchSink* sink_;
  uint64_t after_ = 0;  // events up to this version are not delivered
  bool listening_ = false;
  bool bookmarks_ = false;
  uint64_t bookmarked_ = 0;                                  // the version that the client knows to have reached
  absl::Duration next_bookmark_ = absl::InfiniteDuration();  // set by the first tick
};

}  // namespace berth::apiserver
