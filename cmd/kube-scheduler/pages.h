// The daemon's pages: health, metrics and its configuration, on plain ports and on the secure one.
#pragma once
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <vector>

#include "cmd/kube-scheduler/client_authorities.h"
#include "cmd/kube-scheduler/health.h"
#include "cmd/kube-scheduler/health_results.h"
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
#include "pkg/util/contract.h"

namespace berth::kube_scheduler {

// All servers of the daemon. They have their own thread and client, so that a health probe waits neither for the API
// server nor for binds. Create and destroy the object on one thread; pages are made on the object's own thread.
class Pages {
 public:
  // Adds all metrics but those of the pages themselves. Called on the pages' thread until Stop() returns.
  using Collect = std::function<void(Families* families)>;

  // `rest` is the configuration for TokenReviews and SubjectAccessReviews unless flags name kubeconfigs; its limits of
  // rate and time are set here. `observer`, `clock` and whatever `config` and `secure` refer to must outlive the
  // object. An error names the flag and the file because of which the secure port cannot be served.
  static absl::StatusOr<std::unique_ptr<Pages>> New(const Configuration& config, const SecureServingOptions& secure,
                                                    client::RestConfig rest, client::RestObserver* observer,
                                                    const util::Clock* clock, Collect collect);
  ~Pages() { Stop(); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  // Adds a check to /healthz, which otherwise only shows that the process responds. REQUIRES: called before Start().
  void AddHealthCheck(HealthCheck check) {
    BERTH_REQUIRES(!started_);
    checks_.push_back(std::move(check));
  }
  // Adds a check to /readyz, which also has those of /healthz. REQUIRES: called before Start().
  void AddReadyCheck(HealthCheck check) {
    BERTH_REQUIRES(!started_);
    ready_checks_.push_back(std::move(check));
  }
  // Sets the lines of /flagz, NAME=VALUE. REQUIRES: called before Start().
  void ShowFlags(std::string lines) {
    BERTH_REQUIRES(!started_);
    flags_ = std::move(lines);
  }
  // Also serves /ui. The page belongs to this object. It reaches the scheduler's thread through `inbox`, which must
  // outlive it. REQUIRES: called before Start().
  LivePage* ServeUi(Inbox* inbox);

  // Sets how all pods are listed for /metrics/resources, which is empty before. `list` is called on the pages' thread
  // and may call back on any thread.
  using ListPods = std::function<void(std::function<void(std::vector<api::PodPtr>)>)>;
  void ServePods(ListPods list);

  void Start();
  // Closes all connections and joins the thread. May be called twice.
  void Stop();

 private:
  Pages(const Configuration& config, const util::Clock* clock, Collect collect)
      : config_(config), clock_(clock), collect_(std::move(collect)), began_(clock->Wall()), io_("pages-io") {}
  absl::Status AddSecureServer(const SecureServingOptions& secure, client::RestConfig rest,
                               client::RestObserver* observer);
  // Returns a client for reviews by the kubeconfig that a flag names, or by `rest` if it names none.
  absl::StatusOr<std::unique_ptr<client::RestClient>> ReviewClient(const char* flag, const std::string& kubeconfig,
                                                                   client::RestConfig rest,
                                                                   client::RestObserver* observer);
  // Sets whose client certificates count: those of flags, and those that the cluster names.
  absl::Status FollowAuthorities(const SecureServingOptions& secure, const http::ServerTls& tls, HttpServer* server);
  void AddServers();
  // Returns the text that precedes a server's address in the log.
  std::string ServingText(std::string_view name) const;
  void Answer(const HttpRequest& r, const http::Responder& answer, bool healthz, bool metrics, bool authorized);
  HttpResponse Page(const HttpRequest& r, bool healthz, bool metrics);
  std::optional<HttpResponse> ProbePage(const HttpRequest& r, bool healthz, bool metrics);
  std::string StatusText() const;
  HttpResponse FrontPage(bool healthz, bool metrics) const;
  void AnswerResources(const http::Responder& answer);
  std::string MetricsText();

  const Configuration& config_;
  const releases::DaemonForm& form_ = config_.Form();
  const util::Clock* clock_;
  const Collect collect_;
  const absl::Time began_;
  bool started_ = false;
  IoThread io_;
  std::unique_ptr<LivePage> live_page_;  // null without --enable-ui
  ListPods list_pods_;                   // empty until ServePods
  PageMetrics page_metrics_;
  std::vector<HealthCheck> checks_, ready_checks_;
  HealthResults results_;
  std::string flags_;
  std::unique_ptr<client::RestClient> token_client_, access_client_;
  std::unique_ptr<client::Requests> token_reviews_, access_reviews_;
  std::unique_ptr<ClientAuthoritiesReader> authorities_;  // in release 1.29 with a secure port
  std::unique_ptr<AccessControl> access_;                 // null without a secure port
  std::vector<std::unique_ptr<HttpServer>> servers_;
};

}  // namespace berth::kube_scheduler
