// Core is shared by a client and its callbacks, which hold weak pointers to it: so a callback that comes after the
// client was destroyed finds nothing and does nothing. A request passes Start (rate limit), Send (timeout and
// credentials), Hand (the HttpClient below) and OnReply (retry or Finish).
//
// Invariant: `queue` holds the requests that wait for their token, in the order in which they arrived; their times
// ascend, because the bucket promises tokens in that order. `timer` is set whenever the queue is not empty.
#include "pkg/client/rest.h"

#include <absl/container/inlined_vector.h>
#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <iterator>

#include "pkg/client/rate_limiter.h"
#include "pkg/util/status.h"

namespace berth::client {
namespace {

constexpr int kMaxAttempts = 10;
constexpr size_t kMaxThrottled = 200'000;
constexpr absl::Duration kTokenAge = absl::Seconds(10);

std::string_view Trim(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
  return s;
}

// Composes the headers with our credentials. A token file is read again when its content is old or has been refused.
class Identity {
 public:
  Identity(Executor* executor, const RestConfig& c) : executor_(executor), config_(c) { Compose(c.bearer_token); }

  std::string_view Headers() {
    if (!config_.token_file.empty() && config_.bearer_token.empty() &&
        (!read_ || executor_->clock().Steady() - read_at_ >= kTokenAge)) {
      ReadToken();
    }
    return headers_;
  }
  // To be called when the server has answered 401. A token file is then read again, and a plugin is asked for a new
  // credential.
  void Refused() {
    read_ = false;
    if (config_.plugin != nullptr) config_.plugin->Refused(plugin_number_);
  }
  // Takes over the plugin's current credential. Returns its certificate and key if the credential has changed.
  std::optional<std::pair<std::string, std::string>> UsePlugin() {
    uint64_t number = 0;
    ExecCredential c = config_.plugin->credential(&number);
    if (number == plugin_number_) return std::nullopt;
    plugin_number_ = number;
    Compose(c.token);
    return std::pair(std::move(c.cert_pem), std::move(c.key_pem));
  }

 private:
  void ReadToken() {
    read_ = true;
    read_at_ = executor_->clock().Steady();
    std::ifstream in(config_.token_file);
    std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    std::string_view token = Trim(text);
    if (!in.good() && !in.eof()) token = {};
    if (token.empty()) {
      LOG_EVERY_N(ERROR, 100) << "Unable to read a token from " << config_.token_file
                              << (headers_has_token_ ? "; continuing with the one read before" : "");
      return;
    }
    if (token != token_) {
      token_ = std::string(token);
      Compose(token_);
    }
  }

  void Compose(std::string_view token) {
    std::string& h = headers_;
    h.clear();
    auto add = [&h](std::string_view name, std::string_view value) {
      // A line end inside a value would begin another header, so it is removed.
      std::string clean(value);
      std::erase_if(clean, [](char c) { return c == '\r' || c == '\n'; });
      absl::StrAppend(&h, util::ToAbsl(name), ": ", clean, "\r\n");
    };
    add("Accept", "application/json, */*");
    if (!config_.user_agent.empty()) add("User-Agent", config_.user_agent);
    if (!token.empty()) {
      add("Authorization", absl::StrCat("Bearer ", util::ToAbsl(token)));
    } else if (!config_.username.empty() || !config_.password.empty()) {
      add("Authorization",
          absl::StrCat("Basic ", absl::Base64Escape(absl::StrCat(config_.username, ":", config_.password))));
    }
    if (!config_.impersonate.user.empty()) {
      add("Impersonate-User", config_.impersonate.user);
      if (!config_.impersonate.uid.empty()) add("Impersonate-Uid", config_.impersonate.uid);
      for (const std::string& g : config_.impersonate.groups) add("Impersonate-Group", g);
      for (const auto& [key, values] : config_.impersonate.extra) {
        // Keys such as example.com/scopes contain characters that header names may not.
        for (const std::string& v : values) add(absl::StrCat("Impersonate-Extra-", PercentEncode(key)), v);
      }
    }
    headers_has_token_ = !token.empty();
  }

  Executor* executor_;
  const RestConfig config_;
  std::string token_, headers_;
  uint64_t plugin_number_ = 0;  // the number of the plugin's credential that headers_ contains
  bool read_ = false, headers_has_token_ = false;
  absl::Duration read_at_;
};

std::string_view Verb(Method m) {
  switch (m) {
    case Method::kGet:
      return "Get";
    case Method::kPost:
      return "Post";
    case Method::kPut:
      return "Put";
    case Method::kPatch:
      return "Patch";
    case Method::kDelete:
      return "Delete";
  }
  return "Get";
}

struct Core : std::enable_shared_from_this<Core> {
  struct Call {
    Request request;
    std::function<void(Reply)> done;
    absl::Duration begin, deadline;
    int attempt = 0;
  };
  using CallPtr = std::shared_ptr<Call>;

  Core(Executor* e, RestConfig c, RestObserver* o)
      : executor(e), config(std::move(c)), observer(o), bucket(config.qps, config.burst) {
    size_t at = config.url.find("://");
    host = at == std::string::npos ? config.url : config.url.substr(at + 3);
    host = host.substr(0, host.find('/'));
    // Targets begin with the prefix, so `base` must not end with it.
    base = config.url.substr(0, config.url.size() - config.path_prefix.size());
  }

  absl::Duration Now() const { return executor->clock().Steady(); }

  // Runs `go` with the time when the bucket has a token for it, in order.
  // Tokens are reserved in the order of the calls, and a request that need not wait still waits behind those in the
  // queue.
  template <typename Go>
  void Throttle(const Request& r, absl::Duration now, Go go) {
    absl::Duration wait = bucket.Reserve(now);
    if (observer != nullptr) {
      observer->OnThrottle(MethodName(r.method), host, absl::ToDoubleSeconds(std::max(wait, absl::ZeroDuration())));
    }
    if (wait <= absl::ZeroDuration() && queue.empty()) {
      go(now);
      return;
    }
    if (wait > absl::Milliseconds(50)) {
      VLOG(4) << "Throttling request took " << absl::FormatDuration(wait) << ", request: " << MethodName(r.method)
              << ":" << base << r.target;
    }
    queue.push_back({now + wait, std::move(go)});
    waiting.store(queue.size(), std::memory_order_relaxed);
    ArmQueue();
  }

  void ArmQueue() {
    if (timer != 0 || queue.empty()) return;
    timer = executor->After(queue.front().first - Now(), [w = weak_from_this()] {
      auto self = w.lock();
      if (self == nullptr) return;
      self->timer = 0;
      absl::Duration now = self->Now();
      while (!self->queue.empty() && self->queue.front().first <= now) {
        auto go = std::move(self->queue.front().second);
        self->queue.pop_front();
        self->waiting.store(self->queue.size(), std::memory_order_relaxed);
        go(now);
      }
      self->ArmQueue();
    });
  }

  void Start(const CallPtr& call, absl::Duration now) {
    if (!call->request.throttled) {
      Send(call, now);
      return;
    }
    if (queue.size() >= kMaxThrottled) {
      executor->Post([call] {
        Reply r;
        r.error = absl::StrCat("more than ", kMaxThrottled, " requests wait for the client's rate limit");
        call->done(std::move(r));
      });
      return;
    }
    Throttle(call->request, now, [w = weak_from_this(), call](absl::Duration turn) {
      if (auto self = w.lock()) self->Send(call, turn);
    });
  }

  void Send(const CallPtr& call, absl::Duration now) {
    // The request of the first attempt is lent to the HttpClient; a further one has a copy of its own.
    std::shared_ptr<Request> r(call, &call->request);
    if (++call->attempt > 1) r = std::make_shared<Request>(call->request);
    r->timeout = call->deadline - now;
    if (r->timeout <= absl::ZeroDuration()) {
      Reply late;
      late.error = absl::StrCat("no turn within the rate limit (", config.qps, "/s) before the request timed out");
      Finish(call, std::move(late));
      return;
    }
    VLOG(8) << "Request Body: " << r->body.substr(0, 4096);
    if (config.plugin == nullptr) {
      Hand(call, std::move(r));
      return;
    }
    WithCredentials([this, call, r = std::move(r)](const absl::Status& error) mutable {
      if (error.ok()) {
        Hand(call, std::move(r));
        return;
      }
      Reply reply;
      reply.error = util::Message(error);
      Told(call->request, reply);
      // The callback must not run inside the caller's call.
      executor->Post([w = weak_from_this(), call, reply = std::move(reply)]() mutable {
        if (auto self = w.lock()) self->Finish(call, std::move(reply));
      });
    });
  }

  void Hand(const CallPtr& call, std::shared_ptr<const Request> r) {
    http->DoShared(std::move(r), [w = weak_from_this(), call](Reply reply) {
      if (auto self = w.lock()) self->OnReply(call, std::move(reply));
    });
  }

  // Calls `then` with OK when the plugin's credential is in use, or with the reason why there is none. `then` is not
  // called if the client is gone.
  void WithCredentials(std::function<void(const absl::Status&)> then) {
    config.plugin->Get(this, executor, [w = weak_from_this(), then = std::move(then)](const absl::Status& ready) {
      auto self = w.lock();
      if (self == nullptr || self->http == nullptr) return;
      absl::Status error = ready;
      if (auto certificate = error.ok() ? self->identity->UsePlugin() : std::nullopt) {
        const absl::Status used =
            self->http->UseCertificate(std::move(certificate->first), std::move(certificate->second));
        if (!used.ok()) {
          error = absl::UnavailableError(
              absl::StrCat("getting credentials: exec plugin: its certificate cannot be used: ", util::Message(used)));
        }
      }
      then(error);
    });
  }

  // A retry passes Start() again, so it takes another token; it is only made if its wait ends before the request's
  // deadline.
  void OnReply(const CallPtr& call, Reply reply) {
    const Request& q = call->request;
    Told(q, reply);
    if (reply.status == 401) identity->Refused();
    std::optional<absl::Duration> wait = RetryDelay(reply);
    if (!wait && reply.connection_reset && q.method == Method::kGet) wait = absl::Seconds(1);
    if (wait && call->attempt < kMaxAttempts && Now() + *wait < call->deadline) {
      VLOG(4) << "Got a Retry-After " << absl::ToInt64Seconds(*wait) << " response for attempt " << call->attempt
              << " to " << base << q.target;
      executor->After(*wait, [w = weak_from_this(), call] {
        if (auto self = w.lock()) self->Start(call, self->Now());
      });
      return;
    }
    Finish(call, std::move(reply));
  }

  void Finish(const CallPtr& call, Reply reply) {
    const Request& q = call->request;
    if (observer != nullptr) {
      const double seconds = absl::ToDoubleSeconds(Now() - call->begin);
      observer->OnLatency(MethodName(q.method), UrlTemplate(base, q.target), seconds);
      observer->OnExchange(MethodName(q.method), host, seconds, q.body.size(), reply.body_bytes);
    }
    if (VLOG_IS_ON(6)) Log(q, reply, Now() - call->begin);
    if (reply.status == 0) reply.error = Prefix(q) + reply.error;
    call->done(std::move(reply));
  }

  void Told(const Request& q, const Reply& reply) {
    if (observer == nullptr) return;
    const std::string code = reply.status == 0 ? "<error>" : absl::StrCat(reply.status);
    observer->OnAnswer(code, MethodName(q.method), host);
  }

  void Log(const Request& q, const Reply& reply, absl::Duration took) {
    VLOG(6) << MethodName(q.method) << " " << base << q.target << " "
            << (reply.status != 0 ? std::to_string(reply.status) : reply.error) << " in "
            << absl::ToInt64Milliseconds(took) << " milliseconds";
    VLOG(8) << "Response Body: " << reply.body.substr(0, 4096);
  }

  std::string Prefix(const Request& q) const {
    return absl::StrCat(util::ToAbsl(Verb(q.method)), " \"", base, q.target, "\": ");
  }

  Executor* executor;
  const RestConfig config;
  RestObserver* observer;
  TokenBucket bucket;
  std::string host, base;
  std::shared_ptr<Identity> identity;
  std::unique_ptr<HttpClient> http;
  std::deque<std::pair<absl::Duration, std::function<void(absl::Duration)>>> queue;
  std::atomic<size_t> waiting{0};
  Executor::TimerId timer = 0;
};

class Client final : public RestClient {
 public:
  explicit Client(std::shared_ptr<Core> core) : core_(std::move(core)) {}
  ~Client() override {
    if (core_->config.plugin != nullptr) core_->config.plugin->Forget(core_.get());
    core_->executor->Cancel(core_->timer);
    core_->queue.clear();
    core_->http.reset();
  }

  void Do(Request request, std::function<void(Reply)> done) override {
    auto call = std::make_shared<Core::Call>();
    call->begin = core_->Now();
    call->deadline = call->begin + (request.timeout > absl::ZeroDuration() ? request.timeout : core_->config.timeout);
    call->request = std::move(request);
    if (!core_->config.path_prefix.empty()) call->request.target.insert(0, core_->config.path_prefix);
    if (VLOG_IS_ON(8)) call->request.discard_body = false;  // it will be logged
    call->done = std::move(done);
    core_->Start(call, call->begin);
  }

  // A stream may have to wait for the rate limiter and for credentials before the HTTP client opens it. Until then the
  // caller holds a Guard, whose destruction cancels the wait.
  std::unique_ptr<Stream> Open(Request request, StreamOptions options, StreamHandlers handlers) override {
    request.target = core_->config.path_prefix + request.target;
    struct Waiting final : Stream {
      std::unique_ptr<Stream> stream;
    };
    auto holder = std::make_unique<Waiting>();
    auto alive = std::make_shared<Waiting*>(holder.get());
    // The caller may have dropped the stream before the rate limiter lets the request through; then `*alive` is null
    // and the request is not sent.
    struct Guard final : Stream {
      std::shared_ptr<Waiting*> alive;
      std::unique_ptr<Waiting> holder;
      ~Guard() override { *alive = nullptr; }
    };
    auto go = [core = std::weak_ptr<Core>(core_), alive, request, options, handlers = std::move(handlers)]() mutable {
      auto self = core.lock();
      if (self == nullptr || *alive == nullptr) return;
      absl::Duration begin = self->Now();
      StreamHandlers wrapped;
      wrapped.on_data = std::move(handlers.on_data);
      auto told = std::make_shared<bool>(false);
      wrapped.on_head = [core, request, told, begin, on_head = std::move(handlers.on_head)](const Reply& head) {
        auto c = core.lock();
        if (c == nullptr) return;
        *told = true;
        c->Told(request, head);
        if (head.status == 401) c->identity->Refused();
        if (VLOG_IS_ON(6)) c->Log(request, head, c->Now() - begin);
        if (on_head) on_head(head);
      };
      wrapped.on_end = [core, request, told, on_end = std::move(handlers.on_end)](const std::string& error) {
        auto c = core.lock();
        if (c == nullptr) return;
        std::string text = error;
        if (!error.empty() && !*told) {
          Reply r;
          r.error = error;
          c->Told(request, r);
          text = c->Prefix(request) + error;
        }
        if (on_end) on_end(text);
      };
      if (self->config.plugin == nullptr) {
        (*alive)->stream = self->http->Open(request, options, std::move(wrapped));
        return;
      }
      auto handlers_kept = std::make_shared<StreamHandlers>(std::move(wrapped));
      self->WithCredentials([raw = self.get(), alive, request, options, handlers_kept](const absl::Status& error) {
        if (*alive == nullptr) return;
        if (error.ok()) {
          (*alive)->stream = raw->http->Open(request, options, std::move(*handlers_kept));
          return;
        }
        raw->executor->Post([alive, handlers_kept, text = util::Message(error)] {
          if (*alive != nullptr && handlers_kept->on_end) handlers_kept->on_end(text);
        });
      });
    };
    auto guard = std::make_unique<Guard>();
    guard->alive = alive;
    guard->holder = std::move(holder);
    if (request.throttled) {
      core_->Throttle(request, core_->Now(), [go = std::move(go)](absl::Duration) mutable { go(); });
    } else {
      go();
    }
    return guard;
  }

  const RestConfig& config() const override { return core_->config; }
  size_t throttled() const override { return core_->waiting.load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RestClient>> RestClient::New(AsioExecutor* executor, const RestConfig& config,
                                                            RestObserver* observer) {
  auto core = std::make_shared<Core>(executor, config, observer);
  auto identity = core->identity = std::make_shared<Identity>(executor, config);
  http::HttpOptions o;
  o.host = config.host;
  o.peer = "the API server";
  o.port = config.port;
  o.tls = config.tls;
  o.proxy = config.proxy;
  o.request_timeout = config.timeout;
  o.compression = config.compression;
  auto made = http::NewHttpClient(executor, std::move(o), [identity] { return identity->Headers(); });
  if (!made.ok()) return made.status();
  core->http = *std::move(made);
  return std::unique_ptr<RestClient>(new Client(std::move(core)));
}

std::unique_ptr<RestClient> RestClient::Over(Executor* executor, const RestConfig& config,
                                             std::unique_ptr<HttpClient> http, RestObserver* observer) {
  auto core = std::make_shared<Core>(executor, config, observer);
  core->identity = std::make_shared<Identity>(executor, config);
  core->http = std::move(http);
  return std::make_unique<Client>(std::move(core));
}

std::string UrlTemplate(std::string_view base, std::string_view target) {
  std::string out(base);
  std::string_view path = target.substr(0, target.find('?'));
  std::string_view query = path.size() < target.size() ? target.substr(path.size() + 1) : std::string_view();
  // A path is .../api/v1 or .../apis/GROUP/VERSION, followed by [namespaces/NS/]RESOURCE[/NAME[/SUBRESOURCE]].
  out.reserve(out.size() + target.size() + 40);
  absl::InlinedVector<std::string_view, 12> parts;
  for (size_t i = 0; i < path.size();) {
    size_t end = std::min(path.find('/', i + 1), path.size());
    parts.push_back(path.substr(i + 1, end - i - 1));
    i = end;
  }
  size_t at = 0;
  while (at < parts.size() && parts[at] != "api" && parts[at] != "apis") ++at;
  size_t resource = at < parts.size() ? at + (parts[at] == "apis" ? 3 : 2) : parts.size();
  if (resource + 2 < parts.size() && parts[resource] == "namespaces") {
    parts[resource + 1] = "%7Bnamespace%7D";
    resource += 2;
  }
  if (resource + 1 < parts.size()) parts[resource + 1] = "%7Bname%7D";
  for (std::string_view p : parts) (out += '/') += p;
  char separator = '?';
  while (!query.empty()) {
    std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), one.size() + 1));
    out += separator;
    separator = '&';
    absl::StrAppend(&out, util::ToAbsl(one.substr(0, one.find('='))), "=%7Bvalue%7D");
  }
  return out;
}

}  // namespace berth::client
