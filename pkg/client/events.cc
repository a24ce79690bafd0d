// An event passes three places: `incoming_`, which any thread fills under the mutex; `ready_` on the I/O thread; and,
// once it has been sent, `busy_`.
//
// Invariants, on the I/O thread: an object is in `busy_` exactly while one of its events is in flight, and later events
// of that object wait in its list there, so that a PATCH never overtakes the POST that it refers to. At most
// `options_.in_flight` events are in flight. `stats_.queued` counts every event that was accepted and is not yet done
// with; Drain() waits for it to reach 0.
//
// Events are correlated when they are about to be sent, not when they are recorded: so the correlator needs no lock,
// and a repetition is counted against an event whose own request is over.
#include "pkg/client/events.h"

#include <absl/container/flat_hash_map.h>
#include <absl/random/random.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "pkg/client/api_error.h"
#include "pkg/client/event_correlator.h"
#include "pkg/client/event_series.h"
#include "pkg/util/log_line.h"
#include "pkg/util/status.h"

namespace berth::client {

namespace {

// So many events are sent without waiting for more.
constexpr size_t kMany = 256;

}  // namespace

std::string_view NameOf(EventType type) {
  return type == EventType::kNormal ? "Normal" : "Warning";
}

class EventRecorder::Impl : public std::enable_shared_from_this<EventRecorder::Impl> {
 public:
  Impl(Executor* executor, HttpClient* client, EventRecorderOptions options)
      : executor_(executor), client_(client), options_(std::move(options)) {
    if (!options_.random) {
      options_.random = [g = std::make_shared<absl::BitGen>()] { return absl::Uniform(*g, 0.0, 1.0); };
    }
  }

  // Any thread may record, so this only takes the lock, appends the event, and wakes the I/O thread if the list was
  // empty and that thread does not look into it anyway, or if it has become long. Complete() does the rest.
  void Record(ObjectReference&& object, EventType type, std::string_view reason, std::string&& message,
              std::string_view action, std::optional<ObjectReference>&& related) {
    stats_.recorded.fetch_add(1, std::memory_order_relaxed);
    auto sending = std::make_shared<Sending>();
    Event& e = sending->event;
    e.object = std::move(object);
    e.type = type;
    e.reason = reason;
    e.message = std::move(message);
    e.action = action;
    e.related = std::move(related);
    e.first = e.last = executor_->clock().Wall();
    bool first, many;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (stats_.queued.load(std::memory_order_relaxed) >= options_.queue_limit) {
        uint64_t n = stats_.dropped.fetch_add(1, std::memory_order_relaxed);
        LOG_IF(WARNING, n % 1000 == 0) << "Dropping events: " << options_.queue_limit << " are waiting already";
        return;
      }
      stats_.queued.fetch_add(1, std::memory_order_relaxed);
      incoming_.push_back(std::move(sending));
      first = incoming_.size() == 1 && !awaited_;
      many = incoming_.size() == kMany;
    }
    if (!first && !many) return;
    executor_->Post([w = weak_from_this(), many] {
      if (auto self = w.lock()) many ? self->Take() : self->Gather();
    });
  }

  void Drain(absl::Duration limit, std::function<void()> done) {
    auto once = std::make_shared<std::function<void()>>(std::move(done));
    executor_->Post([w = weak_from_this(), once, limit] {
      auto self = w.lock();
      if (self == nullptr || self->stats_.queued.load() == 0) {
        std::exchange(*once, [] {})();
        return;
      }
      Executor::TimerId timer = self->executor_->After(limit, [once] { std::exchange(*once, [] {})(); });
      self->drained_.push_back([w, once, timer] {
        if (auto s = w.lock()) s->executor_->Cancel(timer);
        std::exchange(*once, [] {})();
      });
      self->Take();
    });
  }

  void Stop() { stopped_ = true; }
  const EventStats& stats() const { return stats_; }

 private:
  // An event from its record to its end. It is one object all the way, because events are large.
  struct Sending {
    std::string object;  // its key in busy_, once it has been taken
    Event event;
    bool patch = false;
    bool in_series = false;  // it was sent in events.k8s.io/v1
    int tries = 0;
  };
  using SendingPtr = std::shared_ptr<Sending>;

  static std::string ObjectKey(const ObjectReference& o) {
    return absl::StrCat(o.kind, "/", o.ns, "/", o.name, "/", o.uid);
  }

  // Sets what follows from the record.
  void Complete(Sending& s) const {
    Event& e = s.event;
    e.name = EventName(e.object.name, e.first);
    e.ns = e.object.ns.empty() ? "default" : e.object.ns;
    e.component = options_.component;
    e.reporting_component = options_.reporting_component;
    s.object = ObjectKey(e.object);
  }

  // Takes the events now, or, if others have been taken a moment ago, when more have joined them.
  void Gather() {
    if (timer_ != 0) return;
    const absl::Duration wait = taken_at_ + options_.gather - executor_->clock().Steady();
    wait <= absl::ZeroDuration() ? Take() : TakeAfter(wait);
  }

  void TakeAfter(absl::Duration wait) {
    timer_ = executor_->After(wait, [w = weak_from_this()] {
      auto self = w.lock();
      if (self == nullptr) return;
      self->timer_ = 0;
      self->Take();
    });
  }

  // Takes all events. If there are several, more of them can be expected, and nobody needs to announce them.
  void Take() {
    executor_->Cancel(std::exchange(timer_, 0));
    taken_at_ = executor_->clock().Steady();
    bool more = false;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      more = awaited_ = incoming_.size() > 1 && options_.gather > absl::ZeroDuration();
      for (SendingPtr& s : incoming_) ready_.push_back(std::move(s));
      incoming_.clear();
    }
    if (more) TakeAfter(options_.gather);
    Pump();
  }

  void Pump() {
    while (!ready_.empty() && in_flight_ < options_.in_flight && !stopped_) {
      SendingPtr s = std::move(ready_.front());
      ready_.pop_front();
      Complete(*s);
      auto busy = busy_.find(s->object);
      if (busy != busy_.end()) {
        busy->second.push_back(std::move(s));
        continue;
      }
      Begin(s);
    }
  }

  bool series() const { return !options_.series_instance.empty(); }

  // Correlates an event and sends the result, if there is one. REQUIRES: no event of the object is in flight.
  void Begin(const SendingPtr& s) {
    if (series()) {
      auto next = series_.Occurred({std::move(s->event), options_.series_instance}, executor_->clock().Steady());
      LookAfterSeries();
      if (!next) return Dealt();
      s->event = std::move(next->event.base);
      s->patch = next->patch;
      return BeginSending(s);
    }
    const auto outcome = correlator_.Correlate(&s->event, executor_->clock().Wall(), executor_->clock().Steady());
    if (outcome == EventCorrelator::Outcome::kDrop) {
      stats_.spam.fetch_add(1, std::memory_order_relaxed);
      Dealt();
      return;
    }
    s->patch = outcome == EventCorrelator::Outcome::kIncrease;
    BeginSending(s);
  }

  void BeginSending(const SendingPtr& s) {
    busy_[s->object];
    ++in_flight_;
    Send(s);
  }

  // While there are series, writes those that are due once a minute.
  void LookAfterSeries() {
    if (series_.size() == 0 || looking_after_series_) return;
    looking_after_series_ = true;
    executor_->After(absl::Minutes(1), [w = weak_from_this()] {
      auto self = w.lock();
      if (self == nullptr || self->stopped_) return;
      self->looking_after_series_ = false;
      for (EventSeries::Outcome& due : self->series_.Due(self->executor_->clock().Steady())) {
        std::string object = ObjectKey(due.event.base.object);
        // If the object is busy, one of its events has just been written or will be; this series is written in a later
        // minute.
        if (self->busy_.contains(object)) continue;
        self->stats_.queued.fetch_add(1, std::memory_order_relaxed);
        auto s = std::make_shared<Sending>();
        s->object = std::move(object);
        s->event = std::move(due.event.base);
        s->patch = due.patch;
        self->BeginSending(s);
      }
      self->LookAfterSeries();
    });
  }

  void Send(const SendingPtr& s) {
    const Event& e = s->event;
    Request r;
    s->in_series = series();
    r.pipeline = true;
    r.discard_body = !series() || has_series_;  // until then, a refusal may mean that the server lacks the group
    r.target = absl::StrCat(series() ? "/apis/events.k8s.io/v1/namespaces/" : "/api/v1/namespaces/",
                            PercentEncode(e.ns), "/events");
    if (s->patch) {
      r.method = Method::kPatch;
      absl::StrAppend(&r.target, "/", PercentEncode(e.name));
      r.content_type = "application/strategic-merge-patch+json";
      r.body = series() ? SeriesPatch(e) : EventPatch(e);
    } else {
      r.method = Method::kPost;
      r.body = series() ? SeriesEventJson(e, options_.series_instance) : EventJson(e);
    }
    client_->Do(std::move(r), [w = weak_from_this(), s](Reply reply) {
      auto self = w.lock();
      if (self != nullptr && !self->stopped_) self->OnReply(s, reply);
    });
  }

  void OnReply(const SendingPtr& s, const Reply& reply) {
    if (reply.ok()) {
      has_series_ |= s->in_series;
      stats_.sent.fetch_add(1, std::memory_order_relaxed);
      Finish(s);
      return;
    }
    if (reply.status == 404 && s->in_series && !has_series_ && LacksGroup(reply)) {
      if (series()) {
        LOG(INFO) << "The API server has no events.k8s.io/v1; events are written in v1";
        options_.series_instance.clear();
      }
      s->patch = false;
      Send(s);
      return;
    }
    if (reply.status == 404 && s->patch) {
      // The event was deleted or has expired, so it is created again with its count.
      s->patch = false;
      Send(s);
      return;
    }
    Request asked;
    asked.method = s->patch ? Method::kPatch : Method::kPost;
    ApiError error = ErrorFrom(asked, reply, "events", s->patch ? s->event.name : "");
    if (!error.transport) {
      LogRejected(*s, error);
      stats_.rejected.fetch_add(1, std::memory_order_relaxed);
      Finish(s);
      return;
    }
    if (++s->tries >= options_.tries) {
      if (options_.structured_log) {
        util::LogLine("Unable to write event (retry limit exceeded!)")
            .Add("event", Show(s->event))
            .Error(error.message);
      } else {
        LOG(ERROR) << "Unable to write event " << Show(s->event) << " (retry limit exceeded!)";
      }
      stats_.rejected.fetch_add(1, std::memory_order_relaxed);
      Finish(s);
      return;
    }
    LogUnwritten(error.message);
    absl::Duration wait = s->tries == 1 ? options_.retry * options_.random() : options_.retry;
    executor_->After(wait, [w = weak_from_this(), s] {
      auto self = w.lock();
      if (self != nullptr && !self->stopped_) self->Send(s);
    });
  }

  // Returns whether a 404 is about the path, and not about a namespace that is gone.
  static bool LacksGroup(const Reply& reply) {
    Request post;
    post.method = Method::kPost;
    const ApiError error = ErrorFrom(post, reply, "events");
    return !absl::StrContains(error.message, "namespaces ");
  }

  void LogRejected(const Sending& s, const ApiError& error) const {
    // If the event exists already, it was written by an earlier request whose response was lost.
    const bool harmless = error.AlreadyExists();
    if (harmless && !VLOG_IS_ON(5)) return;
    if (options_.structured_log) {
      util::LogLine line("Server rejected event (will not retry!)");
      line.Add("event", Show(s.event));
      return harmless ? line.Add("err", error.message).Info(5) : line.Error(error.message);
    }
    google::LogMessage(__FILE__, __LINE__, harmless ? google::INFO : google::ERROR).stream()
        << "Server rejected event " << Show(s.event) << ": '" << error.message << "' (will not retry!)";
  }

  // When a connection breaks, every event on it fails at the same moment. The first failure is logged at once, and the
  // number of further ones a second later.
  void LogUnwritten(const std::string& why) {
    if (unwritten_++ > 0) return;
    if (options_.structured_log) {
      util::LogLine("Unable to write event (may retry after sleeping)").Error(why);
    } else {
      LOG(ERROR) << "Unable to write event: '" << why << "' (may retry after sleeping)";
    }
    executor_->After(absl::Seconds(1), [w = weak_from_this(), why] {
      auto self = w.lock();
      if (self == nullptr || self->stopped_) return;
      const int more = std::exchange(self->unwritten_, 0) - 1;
      if (more == 0) return;
      LOG(ERROR) << "Unable to write " << more << " more events within a second: '" << why
                 << "' (may retry after sleeping)";
    });
  }

  void Finish(const SendingPtr& s) {
    --in_flight_;
    Dealt();
    // Sends the next event of the same object. The spam filter may drop some, so the loop ends at the first that is
    // sent.
    auto busy = busy_.find(s->object);
    std::vector<SendingPtr> rest = std::move(busy->second);
    busy_.erase(busy);
    for (size_t i = 0; i < rest.size(); ++i) {
      Begin(rest[i]);
      if (auto again = busy_.find(s->object); again != busy_.end()) {
        for (++i; i < rest.size(); ++i) again->second.push_back(std::move(rest[i]));
      }
    }
    Pump();
  }

  // Notes that one event is done with: sent, dropped or only counted.
  void Dealt() {
    if (stats_.queued.fetch_sub(1, std::memory_order_relaxed) != 1) return;
    for (auto& f : std::exchange(drained_, {})) f();
  }

  static std::string Show(const Event& e) {
    return absl::StrCat("'", e.name, " (", e.object.kind, " ", e.object.ns, e.object.ns.empty() ? "" : "/",
                        e.object.name, ", ", e.reason, ": ", e.message, ")'");
  }

  Executor* executor_;
  HttpClient* client_;
  EventRecorderOptions options_;
  EventStats stats_;
  std::mutex mutex_;
  std::vector<SendingPtr> incoming_;  // guarded by mutex_
  bool awaited_ = false;              // guarded by mutex_: a timer will take the events, whether or not there are any
  // The members below are used on the I/O thread only.
  bool stopped_ = false;
  Executor::TimerId timer_ = 0;                          // will take the events
  absl::Duration taken_at_ = -absl::InfiniteDuration();  // steady clock
  std::deque<SendingPtr> ready_;
  // objects with an event in flight -> events that wait for it
  absl::flat_hash_map<std::string, std::vector<SendingPtr>> busy_;
  int in_flight_ = 0;
  bool has_series_ = false;  // the server has taken an event in events.k8s.io/v1
  int unwritten_ = 0;        // events without a response in the second that is being logged
  EventCorrelator correlator_;
  EventSeries series_;
  bool looking_after_series_ = false;
  std::vector<std::function<void()>> drained_;
};

EventRecorder::EventRecorder(Executor* executor, HttpClient* client, EventRecorderOptions options)
    : impl_(std::make_shared<Impl>(executor, client, std::move(options))) {}

EventRecorder::~EventRecorder() {
  impl_->Stop();
}

void EventRecorder::Record(ObjectReference object, EventType type, std::string_view reason, std::string message,
                           std::string_view action, std::optional<ObjectReference> related) {
  impl_->Record(std::move(object), type, reason, std::move(message), action, std::move(related));
}

const EventStats& EventRecorder::stats() const {
  return impl_->stats();
}

void EventRecorder::Drain(absl::Duration limit, std::function<void()> done) {
  impl_->Drain(limit, std::move(done));
}

}  // namespace berth::client
