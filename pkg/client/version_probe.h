// Finds out whether a server has lost data. One that was restarted without its data counts versions from the beginning,
// and a watch from a version that it has not reached yet stays silent and misses everything until then. Any list
// contains the version that the server has reached.
#pragma once
#include <absl/time/time.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "pkg/api/json.h"
#include "pkg/client/current_stream.h"
#include "pkg/client/http.h"
#include "pkg/client/newest_version.h"

namespace berth::client {

// Asks while one stream is the current one, with its timer. Thread-safety: used on the I/O thread alone.
class VersionProbe {
 public:
  // The time is short, so that the loss is detected before the server reaches the old versions again.
  static constexpr absl::Duration kWait = absl::Milliseconds(200);

  // Both must outlive the object. `most`: the longest time between two requests.
  VersionProbe(HttpClient* client, CurrentStream* stream, absl::Duration most)
      : client_(client), stream_(stream), most_(most) {}

  // Asks, until there is an answer, for the list of which `target` is one object. Then calls `answered` with whether
  // the server is behind `version`.
  void Start(std::string target, uint64_t version, std::function<void(bool is_behind)> answered) {
    target_ = std::move(target);
    version_ = version;
    answered_ = std::move(answered);
    wait_ = kWait;
    AskLater();
  }

 private:
  void AskLater() {
    stream_->After(wait_, [this] {
      Request request;
      request.throttled = false;
      request.target = target_;
      client_->Do(std::move(request), stream_->WhileCurrent<const Reply&>([this](const Reply& r) { OnReply(r); }));
    });
  }
  void OnReply(const Reply& r) {
    api::Document list;
    std::optional<uint64_t> version;
    if (r.ok() && list.Parse(r.body).ok()) {
      version = NewestVersion::Number(list.root().Find("metadata").Find("resourceVersion").Text());
    }
    if (version) return answered_(*version < version_);
    wait_ = std::min(2 * wait_, most_);
    AskLater();
  }

  HttpClient* client_;
  CurrentStream* stream_;
  const absl::Duration most_;
  std::string target_;
  uint64_t version_ = 0;
  std::function<void(bool)> answered_;
  absl::Duration wait_;
};

}  // namespace berth::client
