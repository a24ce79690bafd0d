// Pool owns the connections and decides which request goes where; Connection (client_connection.h) sends requests on
// one socket and returns those that a closing connection leaves unanswered.
//
// Invariants: `live_` holds every request from Do() or Open() to its end, so that one timer can find those whose
// deadline has passed. A request waits in exactly one of `waiting_` and `waiting_pipelined_`, or it is in flight on one
// connection. `ordinary_` counts the connections for ordinary requests, idle ones included; a stream takes its
// connection out of that count until it ends.
//
// Callbacks may do anything, including to cancel other requests or to destroy the client. Therefore a request is marked
// `over` before its callback runs, and loops work on copies of the lists that a callback may change.
#include "pkg/http/client.h"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <future>
#include <vector>

#include "pkg/http/client_connection.h"
#include "pkg/http/tls.h"
#include "pkg/util/status.h"

namespace berth::http {
namespace {

constexpr size_t kMaxStreamErrorBody = 1 << 20;
constexpr absl::Duration kSlow = absl::Milliseconds(1);
// A further pipelined connection is worth opening where a request would wait behind so many others, or for so long.
// Below that, requests that arrive one at a time would open connections that are hardly ever used.
constexpr size_t kCrowd = 8;
constexpr absl::Duration kLongWait = absl::Milliseconds(5);
constexpr int kMinDepth = 4;     // requests in flight on a pipelined connection even if the server is slow
constexpr int kMaxAttempts = 3;  // for one request, each on a connection that turned out to be closed

class Pool final : public ConnectionOwner, public std::enable_shared_from_this<Pool> {
 public:
  Pool(AsioExecutor* executor, HttpOptions options, HeaderSource headers, std::unique_ptr<TlsSource> tls,
       TlsContext proxy_tls)
      : executor_(executor),
        options_(std::move(options)),
        headers_(std::move(headers)),
        tls_(std::move(tls)),
        proxy_tls_(std::move(proxy_tls)) {
    LimitPipelines();
  }

  void Shutdown() {
    executor_->Cancel(timer_);
    executor_->Cancel(sweep_);
    timer_ = sweep_ = 0;
    for (auto& e : live_) e->over = true;
    live_.clear();
    waiting_.clear();
    waiting_pipelined_.clear();
    idle_.clear();
    pipelines_.clear();
    for (auto& c : std::exchange(all_, {})) c->Abandon();
  }

  void Do(std::shared_ptr<const Request> request, std::function<void(Reply)> done) {
    auto e = std::make_shared<Exchange>();
    absl::Duration timeout = request->timeout > absl::ZeroDuration() ? request->timeout : options_.request_timeout;
    e->request = std::move(request);
    e->done = std::move(done);
    e->on_body = [this, raw = e.get()](std::string_view piece) {
      Reply& r = raw->reply;
      r.body_bytes += piece.size();
      if (!raw->request->discard_body || !r.ok()) r.body += piece;
      return r.body_bytes <= options_.max_body_bytes;
    };
    if (waiting_.size() + waiting_pipelined_.size() >= options_.max_waiting) {
      executor_->Post([e, n = options_.max_waiting] {
        Reply r;
        r.error = absl::StrCat("more than ", n, " requests are waiting for a connection");
        e->done(std::move(r));
      });
      return;
    }
    e->timeout = timeout;
    Track(e, Now() + timeout);
    Dispatch(e);
  }

  ExchangePtr Open(Request request, StreamOptions o, StreamHandlers handlers) {
    auto e = std::make_shared<Exchange>();
    e->request = std::make_shared<const Request>(std::move(request));
    e->stream = std::move(handlers);
    e->idle_timeout = o.idle_timeout;
    e->timeout = o.head_timeout;
    e->on_body = [this, raw = e.get()](std::string_view piece) {
      if (raw->over) return true;
      Reply& r = raw->reply;
      if (!r.ok()) {
        r.body += piece.substr(0, kMaxStreamErrorBody - std::min(kMaxStreamErrorBody, r.body.size()));
        return true;
      }
      SetDeadline(raw, Now() + raw->idle_timeout);
      if (raw->stream->on_data) raw->stream->on_data(piece);
      return true;
    };
    Track(e, Now() + o.head_timeout);
    Dispatch(e);
    return e;
  }

  absl::Status UseCertificate(std::string cert_pem, std::string key_pem) {
    if (tls_ == nullptr) return absl::OkStatus();
    const uint64_t before = tls_->generation();
    absl::Status used = tls_->UseCertificate(std::move(cert_pem), std::move(key_pem));
    if (tls_->generation() != before) EndEarlierConnections();
    return used;
  }

  void Cancel(const ExchangePtr& e) {
    if (e->over) return;
    Finish(e);
    if (auto c = e->connection.lock()) c->Close("cancelled");
  }

  // ---- ConnectionOwner ----
  const HttpOptions& options() const override { return options_; }
  boost::asio::ssl::context* tls() const override { return tls_ == nullptr ? nullptr : tls_->context(); }
  boost::asio::ssl::context* proxy_tls() const override { return proxy_tls_.get(); }
  std::string_view Headers() override { return headers_ ? headers_() : std::string_view(); }
  absl::Duration Now() const override { return executor_->clock().Steady(); }
  void RunNext(std::function<void()> f) override { executor_->Post(std::move(f)); }

  void OnHead(const ExchangePtr& e) override {
    if (!e->stream) return;
    e->timeout = e->idle_timeout;
    SetDeadline(e.get(), Now() + e->idle_timeout);
    if (!e->reply.ok()) return;  // reported at the end, together with its body
    e->head_told = true;
    if (e->stream->on_head) e->stream->on_head(e->reply);
  }

  // The callback may destroy the client, so the pool is kept alive until it returns.
  void OnAnswer(const ExchangePtr& e) override {
    auto self = shared_from_this();
    if (e->over) return;
    if (e->request->pipeline) TimePipelined(*e);
    Finish(e);
    if (e->stream) {
      if (!e->head_told && e->stream->on_head) e->stream->on_head(e->reply);
      if (e->stream && e->stream->on_end) e->stream->on_end("");
    } else {
      e->done(std::move(e->reply));
    }
    if (!waiting_pipelined_.empty()) FillPipelines();
  }

  void OnIdle(const std::shared_ptr<Connection>& c) override {
    c->idle_since = Now();
    if (tls_ != nullptr && c->tls_generation != tls_->generation()) {
      c->Close("the certificates have changed");
      return;
    }
    if (c->use == Connection::Use::kPipeline) {
      FillPipelines();
    } else {
      Park(c);
    }
    ArmSweep();
  }

  // Decides for each request that was in flight whether it is sent again or fails. Retrying is safe if no byte of the
  // request was written or the server announced that it would not process it. A GET that met a connection which had
  // been idle before is retried too, unless a part of its response has arrived.
  void OnClosed(const std::shared_ptr<Connection>& c, std::deque<ExchangePtr> lost, const std::string& error,
                bool reset, bool answered_some, bool refused) override {
    auto self = shared_from_this();
    std::erase(all_, c);
    std::erase(idle_, c);
    std::erase(pipelines_, c);
    if (c->use == Connection::Use::kOrdinary) --ordinary_;
    for (size_t i = 0; i < lost.size(); ++i) {
      const ExchangePtr& e = lost[i];
      if (e->over) continue;
      bool first = i == 0;
      bool untouched = !e->written || refused;
      bool stale_get =
          (e->request->method == Method::kGet || e->request->repeatable) && c->idle_since > absl::ZeroDuration();
      bool again =
          (untouched && (c->idle_since > absl::ZeroDuration() || refused)) || (stale_get && !(first && answered_some));
      if (again && ++e->attempts < kMaxAttempts) {
        retry_.push_back(e);
        continue;
      }
      Fail(e, error, e->written && !refused, reset);
    }
    for (const ExchangePtr& e : std::exchange(retry_, {})) {
      if (!e->over) Dispatch(e);
    }
    ServeWaiting();
    FillPipelines();
  }

 private:
  void Track(const ExchangePtr& e, absl::Duration deadline) {
    e->live = live_.insert(live_.end(), e);
    SetDeadline(e.get(), deadline);
  }

  void Finish(const ExchangePtr& e) {
    e->over = true;
    live_.erase(e->live);
  }

  void Fail(const ExchangePtr& e, const std::string& error, bool maybe_done, bool reset) {
    Finish(e);
    if (e->stream) {
      if (e->head_told || e->reply.status == 0 || e->reply.ok()) {
        if (e->stream->on_end) e->stream->on_end(error);
      } else {
        if (e->stream->on_head) e->stream->on_head(e->reply);
        if (e->stream && e->stream->on_end) e->stream->on_end(error);
      }
      return;
    }
    Reply r;
    r.error = error;
    r.maybe_done = maybe_done;
    r.connection_reset = reset;
    e->done(std::move(r));
  }

  // Uses changed certificates for new connections. Connections with earlier ones are closed when nothing is in flight
  // on them.
  void RefreshTls() {
    if (tls_ != nullptr && tls_->Refresh(Now())) EndEarlierConnections();
  }

  void EndEarlierConnections() {
    pipelines_.clear();
    for (const auto& c : std::vector(all_)) {
      if (c->in_flight() == 0) c->Close("the certificates have changed");
    }
  }

  // Fails a request that must not be sent any more, and returns true. The callback never runs inside the caller's call.
  bool Late(ExchangePtr e) {
    if (!e->request->may_send || e->request->may_send()) return false;
    Finish(e);
    executor_->Post([w = weak_from_this(), e = std::move(e)] {
      if (w.expired()) return;
      Reply r;
      r.error = std::string(kNotSent);
      e->done(std::move(r));
    });
    return true;
  }

  // A stream takes an idle connection or a new one at once. Other requests wait in a list, in order, until there is a
  // connection. A request that met a closed connection takes a new one, because after a restart of the server all idle
  // ones are closed.
  void Dispatch(const ExchangePtr& e) {
    RefreshTls();
    e->connection.reset();
    if (e->request->pipeline) {
      waiting_pipelined_.push_back(e);
      FillPipelines();
      return;
    }
    if (e->stream) {
      std::shared_ptr<Connection> c = e->attempts == 0 ? TakeIdle() : nullptr;
      if (c != nullptr) {
        c->use = Connection::Use::kStream;
        --ordinary_;
      } else {
        c = NewConnection(Connection::Use::kStream);
      }
      c->Send(e);
      return;
    }
    waiting_.push_back(e);
    ServeWaiting();
  }

  void ServeWaiting() {
    while (!waiting_.empty()) {
      if (waiting_.front()->over || Late(waiting_.front())) {
        waiting_.pop_front();
        continue;
      }
      const bool full = ordinary_ >= options_.max_connections;
      std::shared_ptr<Connection> c = waiting_.front()->attempts == 0 || full ? TakeIdle() : nullptr;
      if (c == nullptr) {
        if (full) return;
        c = NewConnection(Connection::Use::kOrdinary);
      }
      ExchangePtr e = std::move(waiting_.front());
      waiting_.pop_front();
      c->Send(std::move(e));
    }
  }

  // Returns whether another request would wait for long on this connection.
  bool IsCrowded(const Connection& c) const { return c.in_flight() >= crowd_; }

  // Gives the next request to the first connection that is not crowded, so that requests that come together are written
  // together; if all are crowded, to the one with the fewest in flight, or to a new one. When the server is fast again,
  // the connections that were opened last get no more requests, until they are closed as idle.
  void FillPipelines() {
    while (!waiting_pipelined_.empty()) {
      if (waiting_pipelined_.front()->over || Late(waiting_pipelined_.front())) {
        waiting_pipelined_.pop_front();
        continue;
      }
      Connection* best = nullptr;
      size_t usable = 0;
      for (const auto& c : pipelines_) {
        if (c->closing()) continue;
        if (++usable > most_) break;
        if (best == nullptr || c->in_flight() < best->in_flight()) best = c.get();
        if (!IsCrowded(*best)) break;
      }
      if ((best == nullptr || IsCrowded(*best)) && pipelines_.size() < most_) {
        pipelines_.push_back(NewConnection(Connection::Use::kPipeline));
        best = pipelines_.back().get();
      }
      if (best == nullptr || best->in_flight() >= depth_) return;
      ExchangePtr e = std::move(waiting_pipelined_.front());
      waiting_pipelined_.pop_front();
      e->sent_at = Now();
      best->Send(std::move(e));
    }
  }

  // Sets how many pipelined connections there may be, how many requests may be in flight on each, and with how many it
  // is crowded, given the measured time for a request.
  void LimitPipelines() {
    const bool slow = service_ > absl::ToInt64Nanoseconds(kSlow);
    most_ = static_cast<size_t>(slow ? options_.slow_pipeline_connections : options_.pipeline_connections);
    depth_ = static_cast<size_t>(options_.pipeline_depth);
    size_t long_wait = kCrowd;
    if (service_ > 0) {
      const int64_t affordable = absl::ToInt64Nanoseconds(options_.pipeline_latency) / service_;
      depth_ =
          static_cast<size_t>(std::max<int64_t>(std::min<int64_t>(affordable, options_.pipeline_depth), kMinDepth));
      long_wait = static_cast<size_t>(absl::ToInt64Nanoseconds(kLongWait) / service_ + 1);
    }
    crowd_ = std::min({kCrowd, depth_, long_wait});
  }

  // Returns the time at which the request is given up. The time of a pipelined request starts again with each response.
  // That is computed here, when its deadline has passed, instead of being written into every request at every response.
  absl::Duration DeadlineOf(const Exchange& e) const {
    if (!e.request->pipeline) return e.deadline;
    const auto c = e.connection.lock();
    return std::max(e.deadline, (c != nullptr ? c->last_answer_at : last_pipelined_answer_) + e.timeout);
  }

  // Updates the average time that the server takes for a pipelined request. It is counted from when the request was
  // sent, or from the previous response on its connection.
  void TimePipelined(const Exchange& e) {
    auto c = e.connection.lock();
    if (c == nullptr) return;
    absl::Duration now = Now();
    service_ += (absl::ToInt64Nanoseconds(now - std::max(e.sent_at, c->last_answer_at)) - service_) / 16;
    LimitPipelines();
    c->last_answer_at = last_pipelined_answer_ = now;
  }

  std::shared_ptr<Connection> NewConnection(Connection::Use use) {
    auto c = std::make_shared<Connection>(&executor_->io(), this, use);
    if (tls_ != nullptr) c->tls_generation = tls_->generation();
    all_.push_back(c);
    if (use == Connection::Use::kOrdinary) ++ordinary_;
    c->Connect();
    return c;
  }

  std::shared_ptr<Connection> TakeIdle() {
    while (!idle_.empty()) {
      std::shared_ptr<Connection> c = std::move(idle_.back());
      idle_.pop_back();
      if (!c->closed() && !c->closing()) return c;
    }
    return nullptr;
  }

  void Park(const std::shared_ptr<Connection>& c) {
    if (c->use == Connection::Use::kStream) {
      c->use = Connection::Use::kOrdinary;
      ++ordinary_;
    }
    idle_.push_back(c);
    ServeWaiting();
  }

  // One timer serves all requests. It is set to the earliest deadline that was known when it was set.
  void SetDeadline(Exchange* e, absl::Duration deadline) {
    e->deadline = deadline;
    if (timer_ != 0 && timer_at_ <= deadline) return;
    executor_->Cancel(timer_);
    ArmTimer(deadline);
  }

  void ArmTimer(absl::Duration at) {
    timer_at_ = at;
    timer_ = executor_->After(at - Now(), [w = weak_from_this()] {
      if (auto self = w.lock()) self->OnTimer();
    });
  }

  void OnTimer() {
    timer_ = 0;
    absl::Duration now = Now(), next = absl::InfiniteDuration();
    std::vector<ExchangePtr> late;
    for (const ExchangePtr& e : live_) {
      if (e->deadline <= now && (e->deadline = DeadlineOf(*e)) <= now) {
        late.push_back(e);
      } else {
        next = std::min(next, e->deadline);
      }
    }
    for (const ExchangePtr& e : late) {
      if (e->over) continue;
      std::string error = e->head_told ? absl::StrCat("no data for ", absl::FormatDuration(e->timeout))
                                       : absl::StrCat("no answer within ", absl::FormatDuration(e->timeout));
      auto c = e->connection.lock();
      Fail(e, error, e->written, false);
      // The response may still arrive and would be taken for that of the next request, so the connection cannot be used
      // again.
      if (c != nullptr) c->Close(absl::StrCat("connection given up: ", error));
    }
    // The timer runs at most every ten milliseconds, wherever the deadlines lie.
    if (timer_ == 0 && !live_.empty()) ArmTimer(std::max(next, now + absl::Milliseconds(10)));
  }

  void ArmSweep() {
    if (sweep_ != 0) return;
    sweep_ = executor_->After(options_.idle_connection / 2, [w = weak_from_this()] {
      if (auto self = w.lock()) self->Sweep();
    });
  }

  // Closes connections that have been idle for too long. They are collected first, because closing changes `all_`.
  void Sweep() {
    sweep_ = 0;
    std::vector<std::shared_ptr<Connection>> old;
    for (auto& c : all_) {
      if (c->in_flight() == 0 && c->used() && Now() - c->idle_since >= options_.idle_connection) old.push_back(c);
    }
    for (auto& c : old) c->Close("idle");
    if (!all_.empty()) ArmSweep();
  }

  AsioExecutor* executor_;
  const HttpOptions options_;
  HeaderSource headers_;
  std::unique_ptr<TlsSource> tls_;
  TlsContext proxy_tls_;  // for a proxy that is reached over TLS
  std::vector<std::shared_ptr<Connection>> all_, idle_, pipelines_;
  int ordinary_ = 0;  // connections for ordinary requests, including idle ones
  std::deque<ExchangePtr> waiting_, waiting_pipelined_;
  int64_t service_ = 0;  // moving average of the server's time for a pipelined request, in nanoseconds
  size_t most_ = 0, depth_ = 0, crowd_ = 0;                           // set by LimitPipelines
  absl::Duration last_pipelined_answer_ = -absl::InfiniteDuration();  // steady clock
  std::vector<ExchangePtr> retry_;
  std::list<ExchangePtr> live_;
  Executor::TimerId timer_ = 0, sweep_ = 0;
  absl::Duration timer_at_;
};

class SocketStream final : public Stream {
 public:
  SocketStream(std::weak_ptr<Pool> pool, ExchangePtr e) : pool_(std::move(pool)), exchange_(std::move(e)) {}
  ~SocketStream() override {
    if (auto p = pool_.lock()) p->Cancel(exchange_);
  }

 private:
  std::weak_ptr<Pool> pool_;
  ExchangePtr exchange_;
};

class SocketClient final : public HttpClient {
 public:
  explicit SocketClient(std::shared_ptr<Pool> pool) : pool_(std::move(pool)) {}
  ~SocketClient() override { pool_->Shutdown(); }
  void Do(Request request, std::function<void(Reply)> done) override {
    pool_->Do(std::make_shared<const Request>(std::move(request)), std::move(done));
  }
  void DoShared(std::shared_ptr<const Request> request, std::function<void(Reply)> done) override {
    pool_->Do(std::move(request), std::move(done));
  }
  std::unique_ptr<Stream> Open(Request request, StreamOptions options, StreamHandlers handlers) override {
    return std::make_unique<SocketStream>(pool_, pool_->Open(std::move(request), options, std::move(handlers)));
  }
  absl::Status UseCertificate(std::string cert_pem, std::string key_pem) override {
    return pool_->UseCertificate(std::move(cert_pem), std::move(key_pem));
  }

 private:
  std::shared_ptr<Pool> pool_;
};

}  // namespace

std::string_view MethodName(Method m) {
  switch (m) {
    case Method::kGet:
      return "GET";
    case Method::kPost:
      return "POST";
    case Method::kPut:
      return "PUT";
    case Method::kPatch:
      return "PATCH";
    case Method::kDelete:
      return "DELETE";
  }
  return "GET";
}

absl::StatusOr<std::unique_ptr<HttpClient>> NewHttpClient(AsioExecutor* executor, HttpOptions options,
                                                          HeaderSource headers) {
  std::unique_ptr<TlsSource> tls;
  if (options.tls) {
    auto made = TlsSource::New(*options.tls, options.peer);
    if (!made.ok()) return made.status();
    tls = *std::move(made);
  }
  TlsContext proxy_tls;
  if (options.proxy && options.proxy->tls) {
    auto made = NewTlsContext(TlsOptions{});
    if (!made.ok()) return made.status();
    proxy_tls = *std::move(made);
  }
  return std::unique_ptr<HttpClient>(new SocketClient(
      std::make_shared<Pool>(executor, std::move(options), std::move(headers), std::move(tls), std::move(proxy_tls))));
}

std::optional<absl::Duration> RetryDelay(const Reply& reply) {
  if ((reply.status != 429 && reply.status < 500) || !reply.retry_after) return std::nullopt;
  return std::min(absl::Seconds(*reply.retry_after), kMaxRetryDelay);
}

Reply DoBlocking(Executor* executor, HttpClient* client, Request request) {
  auto answer = std::make_shared<std::promise<Reply>>();
  std::future<Reply> future = answer->get_future();
  executor->Post([client, answer, request = std::move(request)]() mutable {
    client->Do(std::move(request), [answer](Reply r) { answer->set_value(std::move(r)); });
  });
  return future.get();
}

}  // namespace berth::http
