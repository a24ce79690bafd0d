// What the daemon shows over HTTP: health, metrics and its configuration, on plain ports and on the secure one.
#pragma once
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <vector>

#include "cmd/kube-scheduler/client_authorities.h"
#include "cmd/kube-scheduler/health.h"
#include "cmd/kube-scheduler/http_server.h"
#include "cmd/kube-scheduler/live_page.h"
#include "cmd/kube-scheduler/metrics.h"
#include "cmd/kube-scheduler/options.h"
#include "cmd/kube-scheduler/page_metrics.h"
#include "cmd/kube-scheduler/secure_serving.h"
#include "cmd/kube-scheduler/threads.h"
#include "pkg/api/types.h"
#include "pkg/client/requests.h"
#include "pkg/client/rest.h"
#include "pkg/util/clock.h"

namespace berth::kube_scheduler {

// All servers of the daemon, with a thread and a client of their own: a health probe waits neither for the API server
// nor for binds. Created and destroyed on one thread; the pages are made on its own thread.
class Pages {
 public:
  // Adds the metrics of everything that is not a page. Called on the pages' thread until Stop returns.
  using Collect = std::function<void(Families* families)>;

  // `rest` is how TokenReviews and SubjectAccessReviews reach the API server; its limits of rate and time are set here.
  // `observer`, `clock` and what `config` and `secure` refer to must outlive the object. Returns an error that names
  // the flag and the file when the secure port cannot be served.
  static absl::StatusOr<std::unique_ptr<Pages>> New(const Configuration& config, const SecureServingOptions& secure,
                                                    client::RestConfig rest, client::RestObserver* observer,
                                                    const util::Clock* clock, Collect collect);
  ~Pages() { Stop(); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  // Before Start: what /healthz checks, in place of nothing but that it answers.
  void AddHealthCheck(HealthCheck check) { checks_.push_back(std::move(check)); }
  // Before Start: answers /ui too. The page belongs to this object; it reaches the scheduler's thread by `inbox`, which
  // outlives it.
  LivePage* ServeUi(Inbox* inbox);

  // Says how to list all pods, for /metrics/resources, which is empty before. `list` may be called on the pages' thread
  // and calls back on any.
  using ListPods = std::function<void(std::function<void(std::vector<api::PodPtr>)>)>;
  void ServePods(ListPods list);

  void Start();
  // Closes all connections and joins the thread. May be called twice.
  void Stop();

 private:
  Pages(const Configuration& config, const util::Clock* clock, Collect collect)
      : config_(config), clock_(clock), collect_(std::move(collect)), io_("pages-io") {}
  absl::Status AddSecureServer(const SecureServingOptions& secure, client::RestConfig rest,
                               client::RestObserver* observer);
  void AddServers();
  // Returns what the log says before a server's address.
  std::string ServingText(std::string_view name) const;
  void Answer(const HttpRequest& r, const http::Responder& answer, bool healthz, bool metrics, bool authorized);
  HttpResponse Page(const HttpRequest& r, bool healthz, bool metrics);
  void AnswerResources(const http::Responder& answer);
  std::string MetricsText();
  bool Later() const { return config_.release != "1.10"; }

  const Configuration& config_;
  const util::Clock* clock_;
  const Collect collect_;
  IoThread io_;
  std::unique_ptr<LivePage> live_page_;  // null without --enable-ui
  ListPods list_pods_;                   // empty until ServePods
  PageMetrics page_metrics_;
  std::vector<HealthCheck> checks_;
  std::unique_ptr<client::RestClient> review_client_;
  std::unique_ptr<client::Requests> reviews_;
  std::unique_ptr<ClientAuthoritiesReader> authorities_;  // of release 1.29 with a secure port
  std::unique_ptr<AccessControl> access_;                 // null without a secure port
  std::vector<std::unique_ptr<HttpServer>> servers_;
};

}  // namespace berth::kube_scheduler
