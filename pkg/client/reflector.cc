// One stream, a list or a watch, is open at a time (CurrentStream).
//
// Invariant: the sink has been shown nothing newer than `newest_`. A list from a server's cache is only accepted if it
// is not older, so that the sink never goes back in time without the store's word.
#include "pkg/client/reflector.h"

#include <absl/random/random.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <optional>
#include <utility>

#include "pkg/client/api_error.h"
#include "pkg/client/current_stream.h"
#include "pkg/client/framing.h"
#include "pkg/client/newest_version.h"
#include "pkg/client/served_path.h"
#include "pkg/client/version_probe.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::client {
namespace {

constexpr absl::Duration kShortWatch = absl::Seconds(1);
constexpr absl::Duration kWatchGrace = absl::Seconds(30);  // after timeoutSeconds, before the connection counts as dead
constexpr absl::Duration kListSilence = absl::Seconds(60);
constexpr absl::Duration kAbsentRetry = absl::Minutes(5);
// A server that does not know streaming lists may take one for a watch, whose list never ends. After this time without
// an event it is asked for a list.
constexpr absl::Duration kStreamSilence = absl::Seconds(30);
constexpr std::string_view kEndOfList = "k8s.io/initial-events-end";  // annotation of the bookmark behind a list

std::string_view VersionOf(api::Json object) {
  return object.Find("metadata").Find("resourceVersion").Text();
}

}  // namespace

class Reflector::Impl : public std::enable_shared_from_this<Reflector::Impl> {
 public:
  Impl(Executor* executor, HttpClient* client, Resource resource, ReflectorSink* sink, ReflectorOptions options)
      : executor_(executor),
        resource_(std::move(resource)),
        sink_(sink),
        options_(std::move(options)),
        stream_(executor, client),
        path_(&resource_),
        probe_(client, &stream_, options_.max_retry) {
    if (!options_.random) {
      options_.random = [g = std::make_shared<absl::BitGen>()] { return absl::Uniform(*g, 0.0, 1.0); };
    }
  }

  void Start() {
    stream_.SetOwner(weak_from_this());
    List();
  }

  void Stop() {
    stopped_ = true;
    stream_.Stop();
  }

  const ReflectorStats& stats() const { return stats_; }
  const std::string& version() const { return version_; }

 private:
  // Calls `next` after the delay that the server demanded, or else after one that grows with each consecutive failure.
  void Later(void (Impl::*next)()) {
    stream_.Close();
    stats_.watching = false;
    if (retry_after_) {
      wait_ = std::max(*retry_after_, options_.retry);
    } else {
      ++failures_;
      wait_ = options_.retry;
      for (int i = 1; i < failures_ && wait_ < options_.max_retry; ++i) wait_ *= 2;
      wait_ = std::min(wait_, options_.max_retry) * (1 + 0.2 * options_.random());
    }
    stream_.After(wait_, [this, next] { (this->*next)(); });
  }

  // ---- list ----

  void List() {
    continue_.clear();
    consistent_ = false;
    whole_ = false;
    if (resource_.streams_lists) {
      OpenStream();
    } else {
      OpenList();
    }
  }

  // Opens a watch that begins with the objects that exist, at a version that is not older than what was seen.
  void OpenStream() {
    sink_->BeginList();
    stats_.lists.fetch_add(1, std::memory_order_relaxed);
    listing_ = true;
    std::string more = "resourceVersionMatch=NotOlderThan&sendInitialEvents=true&";
    if (!version_.empty() && !consistent_) more = absl::StrCat("resourceVersion=", NotOlderThan(), "&", more);
    OpenWatch(more);
    AwaitStream();
  }

  // Returns the version that the next streamed list must not be older than. A list that broke off may have shown
  // objects that are newer than the last list that ended.
  std::string NotOlderThan() const { return newest_.IsNewerThan(version_) ? absl::StrCat(newest_.number()) : version_; }

  // Gives up a stream that has been silent for too long before its list has ended.
  void AwaitStream() {
    stream_heard_ = false;
    stream_.After(kStreamSilence, [this] {
      if (!listing_) return;
      if (stream_heard_) return AwaitStream();
      LOG(WARNING) << options_.name << ": the server does not end the list of " << resource_.type
                   << " that begins a watch; asking for a list";
      ListInstead();
    });
  }

  // Asks for a list, because the server does not stream it.
  void ListInstead() {
    stream_.Close();
    listing_ = false;
    stream_.CancelTimer();
    OpenList();
  }

  // The server refused a streaming list, or it ended before its bookmark.
  void StreamFailed(const std::string& why) {
    listing_ = false;
    stream_.CancelTimer();
    if (error_.code == 404) {
      NextPath();
    } else if (VersionRefused()) {
      LOG(WARNING) << options_.name << ": the server cannot list " << resource_.type << " from its cache: " << why
                   << "; reading the list from the store";
      ListFromStore();
    } else if (error_.code == 403 && options_.optional) {
      ListAbsent();
    } else if (error_.code == 429 || error_.code == 0) {
      ListFailed(why);  // overloaded, not reachable, or broken off
    } else {
      // client-go falls back to a list in each round, because the next server may know how.
      VLOG(2) << options_.name << ": the list of " << resource_.type << " cannot begin a watch: " << why
              << "; asking for a list";
      ListInstead();
    }
  }

  void StreamedListEnded(std::string_view version) {
    listing_ = false;
    stream_.CancelTimer();
    stats_.streamed_lists.fetch_add(1, std::memory_order_relaxed);
    ListEnded(std::string(version));
    failures_ = 0;
  }

  void OpenList() {
    if (continue_.empty()) sink_->BeginList();
    request_ = Request{};
    // A list from the last version seen is answered from the server's cache and in one piece (client-go 1.29).
    const bool resume = resource_.bookmarks && !version_.empty() && !consistent_ && !whole_;
    const bool pages = resource_.bookmarks ? !whole_ && !resume : !whole_ && !consistent_;
    request_.target = absl::StrCat(path_.path(), "?",
                                   continue_.empty() ? "" : absl::StrCat("continue=", PercentEncode(continue_), "&"),
                                   path_.Selector(), pages ? absl::StrCat("limit=", options_.page_size, "&") : "",
                                   consistent_ ? "" : absl::StrCat("resourceVersion=", resume ? version_ : "0"));
    request_.accepts_gzip = true;
    if (request_.target.back() == '&' || request_.target.back() == '?') request_.target.pop_back();
    framer_.emplace();
    problem_.clear();
    first_item_ = true;
    stale_ = false;
    error_ = ApiError{};
    retry_after_.reset();
    stats_.lists.fetch_add(1, std::memory_order_relaxed);
    StreamOptions o;
    o.head_timeout = kListSilence;
    o.idle_timeout = kListSilence;
    stream_.Open(request_, o,
                 {.on_head = [this](const Reply& head) { OnHead(head); },
                  .on_data = [this](std::string_view piece) { OnListData(piece); },
                  .on_end = [this](const std::string& error) { OnListEnd(error); }});
  }

  void OnHead(const Reply& head) {
    stats_.Heard(executor_->clock().Steady());
    if (!head.ok()) error_ = ErrorFrom(request_, head, resource_.name);
    if (const auto delay = RetryDelay(head)) retry_after_ = delay;
    if (head.ok() && !framer_) {
      stats_.watching = true;
      opened_ = true;
    }
  }

  // Objects go to the sink while the list arrives. Whether the list is stale is checked when its first item arrives, if
  // its version precedes the items; otherwise at its end.
  void OnListData(std::string_view piece) {
    stats_.Heard(executor_->clock().Steady());
    absl::Status s = framer_->Feed(piece, [this](std::string_view text) {
      if (first_item_) {
        first_item_ = version_first_ = false;
        // The list's own resourceVersion usually precedes its items.
        api::Document head;
        if (head.Parse(absl::StrCat(util::ToAbsl(framer_->rest()), "]}")).ok()) {
          const std::string_view version = VersionOf(head.root());
          stale_ = IsStale(version);
          if (stale_) return false;
          version_first_ = NewestVersion::Number(version).has_value();
          newest_.Note(version);
        }
      }
      absl::Status decoded = doc_.Parse(text, sink_->known_parts(), api::Unread::kManagedFields);
      if (decoded.ok() && !version_first_) newest_.Note(VersionOf(doc_.root()));
      if (decoded.ok()) decoded = sink_->Listed(doc_.root());
      if (!decoded.ok()) Undecodable("an object of the list", decoded);
      return !stopped_;
    });
    if (stopped_) return;
    if (stale_) {
      ListAgainConsistently();
    } else if (!s.ok()) {
      ListFailed(absl::StrCat("the answer is not a list: ", util::Message(s)));
    }
  }

  void OnListEnd(const std::string& end_error) {
    stream_.Ended();
    if (!error_.ok()) {
      if (error_.code == 410 && !continue_.empty()) {
        LOG(INFO) << options_.name << ": the rest of a list of " << resource_.type
                  << " has expired, listing all at once: " << error_.message;
        continue_.clear();
        whole_ = true;
        OpenList();
        return;
      }
      if (error_.code == 404) {
        NextPath();
        return;
      }
      if (error_.code == 403 && options_.optional) {
        ListAbsent();
        return;
      }
      if (VersionRefused()) {
        LOG(WARNING) << options_.name << ": the server cannot list " << resource_.type
                     << " from its cache: " << error_.message << "; reading the list from the store";
        ListFromStore();
        return;
      }
      ListFailed(error_.message);
      return;
    }
    if (!end_error.empty()) {
      ListFailed(end_error);
      return;
    }
    if (!framer_->done()) {
      ListFailed("the answer ended in the middle of the list");
      return;
    }
    absl::Status s = doc_.Parse(framer_->rest());
    if (!s.ok()) {
      ListFailed(absl::StrCat("the answer is not a list: ", util::Message(s)));
      return;
    }
    std::string version(VersionOf(doc_.root()));
    if (version.empty()) {
      ListFailed("the answer is not a list: it has no metadata.resourceVersion");
      return;
    }
    if (IsStale(version)) {
      ListAgainConsistently();
      return;
    }
    continue_ = std::string(doc_.root().Find("metadata").Find("continue").Text());
    if (!continue_.empty()) {
      OpenList();
      return;
    }
    framer_.reset();
    ListEnded(std::move(version));
    if (!stopped_) Watch();
  }

  void ListEnded(std::string version) {
    version_ = std::move(version);
    newest_.Reset(version_);
    path_.Found();
    torn_ = false;
    stats_.absent = false;
    sink_->EndList();
    if (resource_.bookmarks) VLOG(2) << "Caches populated for " << resource_.type << " from " << options_.name;
  }

  bool IsStale(std::string_view version) const { return !consistent_ && newest_.IsNewerThan(version); }

  void ListAgainConsistently() {
    stats_.stale_lists.fetch_add(1, std::memory_order_relaxed);
    LOG(WARNING) << options_.name << ": a list of " << resource_.type << " is older than what was seen before ("
                 << newest_.number() << "); reading it again from the store";
    ListFromStore();
  }

  // Returns true if the server refused the version that a list asked for. The version is ahead of the server's cache,
  // as after a restart without its data, or it has been compacted. A list from the store has neither problem.
  bool VersionRefused() const {
    if (!resource_.bookmarks || consistent_) return false;
    return error_.code == 410 ||
           (error_.code == 504 && absl::StrContains(error_.message, "Too large resource version"));
  }

  void ListFromStore() {
    stream_.Close();
    continue_.clear();
    consistent_ = true;
    if (resource_.streams_lists) {
      OpenStream();
    } else {
      OpenList();
    }
  }

  void ListFailed(const std::string& why) {
    stats_.list_failures.fetch_add(1, std::memory_order_relaxed);
    Later(&Impl::List);
    // The text is client-go's, which differs between releases.
    const std::string failed =
        resource_.bookmarks ? absl::StrCat("Failed to watch ", resource_.type, ": failed to list ", resource_.type)
                            : absl::StrCat("Failed to list ", resource_.type);
    LOG(ERROR) << options_.name << ": " << failed << ": " << why << "; trying again in "
               << absl::FormatDuration(absl::Trunc(wait_, absl::Milliseconds(100)));
  }

  // The resource is not served under this path, so tries the next one.
  void NextPath() {
    const std::string from = path_.path();
    if (path_.Next()) {
      if (!options_.optional) {
        LOG(WARNING) << options_.name << ": " << error_.message << "; the server does not have " << from << ", trying "
                     << path_.path();
      }
      stream_.Close();
      List();
      return;
    }
    if (options_.optional) {
      ListAbsent();
    } else {
      ListFailed(absl::StrCat(error_.message, path_.Advice()));
    }
  }

  // Delivers an empty list: the server has no objects of an optional resource, as far as we are permitted to see.
  void ListAbsent() {
    if (!stats_.absent.exchange(true)) {
      LOG(INFO) << options_.name << ": " << error_.message << "; assuming that there are no " << resource_.name
                << " until a list succeeds";
    }
    stream_.Close();
    sink_->BeginList();
    sink_->EndList();
    if (!stopped_) stream_.After(kAbsentRetry, [this] { List(); });
  }

  // ---- watch ----

  void Watch() {
    listing_ = false;
    OpenWatch(absl::StrCat("resourceVersion=", version_, "&"));
    if (torn_) {
      // Until a probe has told how far the server is, the watch may be silent because its data is lost.
      probe_.Start(absl::StrCat(path_.path(), "?", path_.Selector(), "limit=1"), newest_.number(), [this](bool behind) {
        torn_ = false;
        if (behind) ListAgainConsistently();
      });
    }
  }

  // `from` says where the watch begins: parameters, each with an ampersand behind it.
  void OpenWatch(const std::string& from) {
    int seconds = 300 + static_cast<int>(options_.random() * 300);
    request_ = Request{};
    request_.throttled = false;
    const std::string twice =
        resource_.bookmarks ? absl::StrCat("timeout=", util::FormatGoDuration(absl::Seconds(seconds)), "&") : "";
    request_.target = absl::StrCat(path_.path(), "?", resource_.bookmarks ? "allowWatchBookmarks=true&" : "",
                                   path_.Selector(), from, twice, "timeoutSeconds=", seconds, "&watch=true");
    framer_.reset();
    values_ = ValueFramer();
    error_ = ApiError{};
    retry_after_.reset();
    problem_.clear();
    opened_ = false;
    watch_events_ = 0;
    watch_began_ = executor_->clock().Steady();
    stats_.watches.fetch_add(1, std::memory_order_relaxed);
    StreamOptions o;
    o.idle_timeout = absl::Seconds(seconds) + kWatchGrace;
    stream_.Open(request_, o,
                 {.on_head = [this](const Reply& head) { OnHead(head); },
                  .on_data = [this](std::string_view piece) { OnWatchData(piece); },
                  .on_end = [this](const std::string& error) { OnWatchEnd(error); }});
  }

  // A piece may contain many events or a part of one. The sink is flushed after each piece, so events that arrive
  // together are passed on together.
  void OnWatchData(std::string_view piece) {
    stats_.Heard(executor_->clock().Steady());
    absl::Status s = values_.Feed(piece, [this](std::string_view text, bool counted) {
      const absl::Status parsed = doc_.Parse(text, sink_->known_parts(), api::Unread::kManagedFields);
      if (!parsed.ok() && !counted) return ValueFramer::Result::kNoValue;
      ++watch_events_;
      stats_.events.fetch_add(1, std::memory_order_relaxed);
      parsed.ok() ? OnEvent() : Undecodable("an event", parsed);
      return !stopped_ && problem_.empty() ? ValueFramer::Result::kUsed : ValueFramer::Result::kLast;
    });
    if (stopped_) return;
    if (!listing_) sink_->Flush();
    if (stopped_) return;
    if (!problem_.empty() && listing_) {
      stream_.Close();
      StreamFailed(problem_);
    } else if (!problem_.empty()) {
      stats_.watch_failures.fetch_add(1, std::memory_order_relaxed);
      LOG(WARNING) << options_.name << ": watch of " << resource_.type << " ended with: " << problem_;
      if (Lived() >= kShortWatch) failures_ = 0;
      Later(&Impl::List);
    } else if (!s.ok()) {
      LOG(ERROR) << options_.name << ": Unable to decode an event from the watch stream: " << util::Message(s);
      stream_.Close();
      if (listing_) {
        StreamFailed(util::Message(s));
      } else {
        WatchEnded("");
      }
    }
  }

  // Handles the event in doc_. The version advances even if the object could not be decoded: watching from an older
  // version would only bring it again.
  void OnEvent() {
    absl::Status s;
    std::string_view type = doc_.root().Find("type").Text();
    api::Json object = doc_.root().Find("object");
    if (type == "ERROR") {
      problem_ = std::string(object.Find("message").Text());
      if (problem_.empty()) problem_ = object.Brief();
      if (listing_) error_.code = static_cast<int>(NewestVersion::Number(object.Find("code").Text()).value_or(0));
      return;
    }
    std::string_view version = VersionOf(object);
    stream_heard_ = true;
    if (listing_ && type == "BOOKMARK" && !version.empty() &&
        object.Find("metadata").Find("annotations").Find(kEndOfList).Text() == "true") {
      StreamedListEnded(version);
      return;
    }
    using Change = ReflectorSink::Change;
    std::optional<Change> change;
    if (type == "ADDED") change = Change::kAdded;
    if (type == "MODIFIED") change = Change::kModified;
    if (type == "DELETED") change = Change::kDeleted;
    if (change) {
      s = listing_ && *change != Change::kDeleted ? sink_->Listed(object) : sink_->Changed(*change, object);
      if (!s.ok()) Undecodable(listing_ ? "an object of the list" : "an event", s);
    } else if (type != "BOOKMARK") {
      Undecodable("an event",
                  util::InvalidArgument(absl::StrCat("unknown event type ", doc_.root().Find("type").Brief())));
    }
    newest_.Note(version);
    // Objects of a list come in the order of their names, so the last one's version says nothing.
    if (!version.empty() && !listing_) version_ = std::string(version);
  }

  void OnWatchEnd(const std::string& end_error) {
    // A probe that is still open belongs to this watch. If it failed after the next step was put off, its own timer
    // would replace the one of that step, and the resource would never be read again.
    stream_.Ended();
    stats_.watching = false;
    if (listing_) {
      StreamFailed(!error_.ok() ? error_.message : end_error.empty() ? "the watch ended inside its list" : end_error);
      return;
    }
    if (!error_.ok() || !opened_) {
      stats_.watch_failures.fetch_add(1, std::memory_order_relaxed);
      if (error_.ok()) error_.message = end_error.empty() ? "EOF" : end_error;
      LOG(ERROR) << options_.name << ": Failed to watch " << resource_.type << ": " << error_.message;
      // A server that is overloaded or not reachable has not lost our place, so no list is needed (client-go 1.29).
      const bool later = error_.code == 429 || absl::StrContains(error_.message, "onnection refused");
      Later(resource_.bookmarks && later ? &Impl::Watch : &Impl::List);
      return;
    }
    WatchEnded(end_error);
  }

  // The stream has ended, properly or not. The watch continues from the last version seen.
  void WatchEnded(const std::string& end_error) {
    stats_.watching = false;
    const bool torn = !end_error.empty() || values_.partial();
    torn_ |= torn;  // until a list or a probe has told how far the server is
    if (torn) {
      LOG(INFO) << options_.name << ": Unexpected EOF during watch stream event decoding of " << resource_.type << ": "
                << (end_error.empty() ? "the stream ended inside an event" : end_error);
    }
    absl::Duration lived = Lived();
    if (lived < kShortWatch && watch_events_ == 0) {
      stats_.short_watches.fetch_add(1, std::memory_order_relaxed);
      LOG(WARNING) << options_.name << ": watch of " << resource_.type
                   << " ended with: very short watch: " << options_.name
                   << ": Unexpected watch close - watch lasted less than a second and no items received";
      Later(&Impl::List);
      return;
    }
    VLOG(4) << options_.name << ": Watch close - " << resource_.type << " total " << watch_events_ << " items received";
    failures_ = 0;
    if (lived >= kShortWatch) {
      Watch();
    } else {
      // Watches that end at once are opened once per second. If the stream broke off, a different server may have taken
      // over meanwhile and reached the same version with other contents, so the resource is listed again.
      stream_.After(kShortWatch - lived, [this, torn] { torn ? List() : Watch(); });
    }
  }

  absl::Duration Lived() const { return executor_->clock().Steady() - watch_began_; }

  void Undecodable(std::string_view what, const absl::Status& s) {
    stats_.undecodable.fetch_add(1, std::memory_order_relaxed);
    LOG(ERROR) << options_.name << ": skipping " << what << " of " << resource_.type
               << " that cannot be decoded: " << util::Message(s);
  }

  Executor* executor_;
  const Resource resource_;
  ReflectorSink* sink_;
  ReflectorOptions options_;
  ReflectorStats stats_;
  bool stopped_ = false;

  CurrentStream stream_;
  int failures_ = 0;  // consecutive ones
  absl::Duration wait_;
  ServedPath path_;
  VersionProbe probe_;

  Request request_;                            // the current request
  ApiError error_;                             // its error, if it has failed,
  std::optional<absl::Duration> retry_after_;  // and the delay that the server asked for
  api::Document doc_;

  // State of a list.
  std::optional<ListFramer> framer_;
  std::string continue_;
  bool consistent_ = false;  // the list is read from the store, not from the server's cache
  bool whole_ = false;       // the list is read in one piece
  bool first_item_ = true, stale_ = false;
  bool version_first_ = false;  // the current list's version preceded its items

  // State of a watch.
  bool listing_ = false;       // it is still in the list that it began with
  bool stream_heard_ = false;  // an event has come since the last look (AwaitStream)
  ValueFramer values_;
  std::string problem_;  // message of an ERROR event
  bool opened_ = false;
  bool torn_ = false;  // a watch broke off, and the server has not been asked since then which version it has reached
  int64_t watch_events_ = 0;
  absl::Duration watch_began_;
  std::string version_;
  // The sink has been shown nothing newer than this version. Lists count while they arrive, because the objects of a
  // list that fails later have been shown. Only a complete list from the store may lower it.
  NewestVersion newest_;
};

Reflector::Reflector(Executor* executor, HttpClient* client, Resource resource, ReflectorSink* sink,
                     ReflectorOptions options)
    : impl_(std::make_shared<Impl>(executor, client, std::move(resource), sink, std::move(options))) {}

Reflector::~Reflector() {
  impl_->Stop();
}

void Reflector::Start() {
  impl_->Start();
}

const ReflectorStats& Reflector::stats() const {
  return impl_->stats();
}

const std::string& Reflector::resource_version() const {
  return impl_->version();
}

}  // namespace berth::client
