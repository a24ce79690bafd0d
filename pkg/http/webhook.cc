// A webhook call blocks the caller, but the HTTP client below is asynchronous. The client runs on a loop of its own,
// which starts with the first call, and the caller waits for a promise that the loop fulfils.
#include "pkg/http/webhook.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <utility>

#include "pkg/http/client.h"
#include "pkg/http/event_loop.h"
#include "pkg/http/url.h"
#include "pkg/util/status.h"
#include "pkg/util/version.h"

namespace berth::http {
namespace {

absl::Status ReadInto(const std::string& file, std::string* pem) {
  if (!pem->empty() || file.empty()) return absl::OkStatus();
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    std::string why = std::strerror(errno);
    why[0] = absl::ascii_tolower(static_cast<unsigned char>(why[0]));
    return util::InvalidArgument(absl::StrCat("open ", file, ": ", why));
  }
  std::ostringstream text;
  text << in.rdbuf();
  *pem = std::move(text).str();
  if (pem->empty()) return util::InvalidArgument(absl::StrCat(file, ": the file is empty"));
  return absl::OkStatus();
}

}  // namespace

struct WebhookClient::State {
  explicit State(WebhookOptions o) : options(std::move(o)), loop("webhooks") {}
  ~State() {
    loop.Stop();
    servers.clear();
  }

  struct Server {
    std::string headers;
    std::unique_ptr<HttpClient> client;
  };
  // Returns the client for the URL's server and credentials, making it if necessary. There are few, because a
  // WebhookClient serves the URLs of one extender. REQUIRES: called on the loop's thread.
  absl::StatusOr<Server*> Find(const Url& url) {
    const auto key = std::tuple(url.https, url.host, url.port, url.credentials);
    if (auto known = servers.find(key); known != servers.end()) return &known->second;
    HttpOptions o;
    o.host = url.host;
    o.port = url.port;
    o.peer = HostPort(url.host, url.port);
    if (url.https) o.tls = options.tls;
    auto proxy = FindProxy(url.https, url.host, options.getenv ? options.getenv : GetEnvironment);
    if (!proxy.ok()) return proxy.status();
    o.proxy = *std::move(proxy);
    o.dial_timeout = o.tls_timeout = o.request_timeout = options.timeout;
    o.max_body_bytes = options.max_body;
    Server server;
    server.headers = absl::StrCat("User-Agent: berth/", util::ToAbsl(util::Version()), "\r\n");
    if (!url.credentials.empty()) {
      absl::StrAppend(&server.headers, "Authorization: ", BasicAuthorization(url.credentials), "\r\n");
    }
    Server* const kept = &servers.emplace(key, std::move(server)).first->second;
    auto client = NewHttpClient(loop.executor(), std::move(o), [kept] { return std::string_view(kept->headers); });
    if (!client.ok()) {
      servers.erase(key);
      return client.status();
    }
    kept->client = *std::move(client);
    return kept;
  }

  const WebhookOptions options;
  EventLoop loop;
  std::once_flag started;
  std::map<std::tuple<bool, std::string, uint16_t, std::string>, Server> servers;
};

WebhookClient::WebhookClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
WebhookClient::~WebhookClient() = default;

absl::StatusOr<std::unique_ptr<WebhookClient>> WebhookClient::Create(WebhookOptions options) {
  TlsOptions& tls = options.tls;
  if (!tls.ca_pem.empty()) tls.ca_file.clear();
  if (!tls.cert_pem.empty()) tls.cert_file.clear();
  if (!tls.key_pem.empty()) tls.key_file.clear();
  BERTH_RETURN_IF_ERROR(ReadInto(tls.ca_file, &tls.ca_pem));
  BERTH_RETURN_IF_ERROR(ReadInto(tls.cert_file, &tls.cert_pem));
  BERTH_RETURN_IF_ERROR(ReadInto(tls.key_file, &tls.key_pem));
  // Without these nothing can be wrong, and reading the system's roots takes longer than many runs of schedsim.
  if (!tls.ca_pem.empty() || !tls.cert_pem.empty() || !tls.key_pem.empty()) {
    if (auto context = NewTlsContext(tls); !context.ok()) return context.status();
  }
  try {
    return std::unique_ptr<WebhookClient>(new WebhookClient(std::make_unique<State>(std::move(options))));
  } catch (const std::exception& e) {
    // Each client has an event loop with files of its own.
    return util::Unavailable(absl::StrCat("cannot be prepared: ", e.what()));
  }
}

absl::StatusOr<WebhookAnswer> WebhookClient::Post(const std::string& url, std::string_view body, bool repeatable) {
  const auto parsed = ParseUrl(url);
  if (!parsed.ok()) return parsed.status();
  const auto failed = [&](std::string_view why) {
    return util::Unavailable(absl::StrCat("Post ", RedactUrl(url), ": ", util::ToAbsl(why)));
  };
  try {
    std::call_once(state_->started, [this] { state_->loop.Start(); });
  } catch (const std::system_error& e) {
    return failed(e.what());
  }
  auto answer = std::make_shared<std::promise<absl::StatusOr<Reply>>>();
  auto future = answer->get_future();
  Request request;
  request.method = Method::kPost;
  request.target = parsed->target;
  request.body = std::string(body);
  request.repeatable = repeatable;
  state_->loop.executor()->Post([this, &parsed, answer, request = std::move(request)]() mutable {
    auto server = state_->Find(*parsed);
    if (!server.ok()) {
      answer->set_value(server.status());
      return;
    }
    (*server)->client->Do(std::move(request), [answer](Reply r) { answer->set_value(std::move(r)); });
  });
  absl::StatusOr<Reply> reply = future.get();
  if (!reply.ok()) return failed(util::Message(reply.status()));
  if (reply->status == 0) return failed(reply->error);
  return WebhookAnswer{reply->status, std::move(reply->body)};
}

}  // namespace berth::http
