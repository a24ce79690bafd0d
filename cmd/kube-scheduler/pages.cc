// Plain ports serve everybody; requests to the secure port first pass AccessControl. Addresses that are equal share one
// server.
#include "cmd/kube-scheduler/pages.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <glog/logging.h>
#include <unistd.h>

#include <utility>

#include "cmd/kube-scheduler/component_config.h"
#include "cmd/kube-scheduler/end_process.h"
#include "cmd/kube-scheduler/go_text.h"
#include "cmd/kube-scheduler/profile_config.h"
#include "cmd/kube-scheduler/resource_metrics.h"
#include "pkg/client/config.h"
#include "pkg/ui/server.h"
#include "pkg/util/log_line.h"
#include "pkg/util/status.h"

namespace berth::kube_scheduler {
namespace {

// Limits of the client for reviews, as in Kubernetes' delegating authentication.
constexpr double kReviewQps = 200;
constexpr int kReviewBurst = 400;
constexpr absl::Duration kReviewTimeout = absl::Seconds(10);

}  // namespace

absl::StatusOr<std::unique_ptr<Pages>> Pages::New(const Configuration& config, const SecureServingOptions& secure,
                                                  client::RestConfig rest, client::RestObserver* observer,
                                                  const util::Clock* clock, Collect collect) {
  std::unique_ptr<Pages> pages(new Pages(config, clock, std::move(collect)));
  pages->AddServers();
  if (secure.port > 0) {
    if (auto s = pages->AddSecureServer(secure, std::move(rest), observer); !s.ok()) return s;
  }
  return pages;
}

std::string Pages::ServingText(std::string_view name) const {
  if (!form_.says_serving) return absl::StrCat("starting ", util::ToAbsl(name), " server on");
  return name == "secure" ? "Serving securely on" : absl::StrCat("Serving ", util::ToAbsl(name), " insecurely on");
}

void Pages::AddServers() {
  const std::string &h = config_.healthz_bind_address, &m = config_.metrics_bind_address;
  const auto add = [this](const char* name, const std::string& address, bool healthz, bool metrics) {
    servers_.push_back(
        std::make_unique<HttpServer>(&io_, name, ServingText(name), address,
                                     [this, healthz, metrics](const HttpRequest& r, const http::Responder& answer) {
                                       Answer(r, answer, healthz, metrics, /*authorized=*/false);
                                     }));
  };
  if (form_.warns_of_plain_port && !(h.empty() && m.empty())) {
    LOG(WARNING) << "Authorization is disabled";
    LOG(WARNING) << "Authentication is disabled";
  }
  if (!h.empty()) add("healthz", h, true, h == m);
  if (!m.empty() && h != m) add("metrics", m, false, true);
}

absl::StatusOr<std::unique_ptr<client::RestClient>> Pages::ReviewClient(const char* flag, const std::string& kubeconfig,
                                                                        client::RestConfig rest,
                                                                        client::RestObserver* observer) {
  if (!kubeconfig.empty()) {
    client::ConfigSources sources;
    sources.kubeconfig = kubeconfig;
    auto loaded = client::LoadConfig(sources);
    if (!loaded.ok()) return util::InvalidArgument(absl::StrCat("--", flag, ": ", util::Message(loaded.status())));
    loaded->user_agent = rest.user_agent;
    rest = *std::move(loaded);
  }
  rest.qps = kReviewQps;
  rest.burst = kReviewBurst;
  rest.timeout = kReviewTimeout;
  return client::RestClient::New(io_.executor(), std::move(rest), observer);
}

absl::Status Pages::AddSecureServer(const SecureServingOptions& secure, client::RestConfig rest,
                                    client::RestObserver* observer) {
  auto tokens = ReviewClient("authentication-kubeconfig", secure.authentication_kubeconfig, rest, observer);
  if (!tokens.ok()) return tokens.status();
  auto access = ReviewClient("authorization-kubeconfig", secure.authorization_kubeconfig, rest, observer);
  if (!access.ok()) return access.status();
  token_client_ = *std::move(tokens);
  access_client_ = *std::move(access);
  token_reviews_ = std::make_unique<client::Requests>(token_client_.get());
  access_reviews_ = std::make_unique<client::Requests>(access_client_.get());
  auto tls = ServingCertificate(secure);
  if (!tls.ok()) return tls.status();
  access_ = std::make_unique<AccessControl>(
      [this](const std::string& token, client::Done<client::UserInfo> done) {
        token_reviews_->ReviewToken(token, std::move(done));
      },
      [this](const client::AccessQuestion& q, client::Done<client::AccessAnswer> done) {
        access_reviews_->ReviewAccess(q, std::move(done));
      },
      clock_, form_.answers_with_status ? AccessControl::Form::kStatus : AccessControl::Form::kText);
  access_->Follow({secure.token_ttl, secure.authorized_ttl, secure.unauthorized_ttl, secure.always_allow_paths});
  auto server = std::make_unique<HttpServer>(
      &io_, "secure", ServingText("secure"), JoinHostPort(secure.bind_address, absl::StrCat(secure.port)),
      [this](const HttpRequest& r, const http::Responder& answer) {
        // The request stays valid until it is answered, so it can be captured by reference.
        access_->Check(r, [this, &r, answer](std::optional<HttpResponse> refusal) {
          if (refusal) return answer.Send(*std::move(refusal));
          Answer(r, answer, true, true, /*authorized=*/true);
        });
      });
  if (auto s = server->UseTls(*tls); !s.ok()) return s;
  if (form_.answers_with_status) {
    if (auto s = FollowAuthorities(secure, *tls, server.get()); !s.ok()) return s;
  }
  servers_.push_back(std::move(server));
  return absl::OkStatus();
}

absl::Status Pages::FollowAuthorities(const SecureServingOptions& secure, const http::ServerTls& tls,
                                      HttpServer* server) {
  std::string proxies_pem;
  std::optional<FrontProxy> proxy;
  if (const std::string& file = secure.request_header_ca_file; !file.empty()) {
    const std::string flag = absl::StrCat("--requestheader-client-ca-file: ", file, ": ");
    auto text = ReadFile(file);
    if (!text.ok()) return util::InvalidArgument(absl::StrCat(flag, util::Message(text.status())));
    auto read = ReadFrontProxy(*text, secure.proxy_names, secure.proxy_user_headers, secure.proxy_uid_headers,
                               secure.proxy_group_headers, secure.proxy_extra_prefixes);
    if (!read.ok()) return util::InvalidArgument(absl::StrCat(flag, util::Message(read.status())));
    proxies_pem = *std::move(text);
    proxy = *std::move(read);
  }
  // What flags name replaces what the ConfigMap names.
  const auto take = [this, server, users = tls.client_ca_pem, proxies_pem, proxy](ClientAuthorities found) {
    if (!users.empty()) {
      found.users_pem = users;
      const auto digests = http::CertificateDigests(users);
      found.users = digests.ok() ? Digests(digests->begin(), digests->end()) : Digests();
    }
    if (proxy) {
      found.proxies_pem = proxies_pem;
      found.proxy = proxy;
    }
    if (auto s = server->SetClientAuthorities(
            absl::StrCat(found.users_pem, found.users_pem.empty() ? "" : "\n", found.proxies_pem));
        !s.ok()) {
      util::LogLine("Unable to use the client certificate authorities; no client certificates are requested")
          .Error(util::Message(s));
    }
    access_->Believe(found);
  };
  // The flags count also while the ConfigMap cannot be read.
  if (secure.skip_lookup || proxy || !tls.client_ca_pem.empty()) io_.executor()->Post([take] { take({}); });
  if (secure.skip_lookup) return absl::OkStatus();
  std::function<void(const std::string&)> fatal;
  if (!secure.tolerate_lookup_failure) {
    fatal = [](const std::string& why) {
      EndWithoutWaiting(
          absl::StrCat("unable to look up the client certificate authorities to trust "
                       "(--authentication-tolerate-lookup-failure=false): ",
                       why));
    };
  }
  authorities_ =
      std::make_unique<ClientAuthoritiesReader>(io_.executor(), token_reviews_.get(), take, std::move(fatal));
  return absl::OkStatus();
}

void Pages::Start() {
  started_ = true;
  io_.Start();
  for (auto& s : servers_) s->Start();
  if (authorities_ != nullptr) io_.executor()->Post([this] { authorities_->Start(); });
}

void Pages::Stop() {
  io_.Stop();
  authorities_.reset();
  servers_.clear();
}

LivePage* Pages::ServeUi(Inbox* inbox) {
  BERTH_REQUIRES(!started_);
  live_page_ = std::make_unique<LivePage>(&io_, inbox, clock_);
  return live_page_.get();
}

void Pages::Answer(const HttpRequest& r, const http::Responder& answer, bool healthz, bool metrics, bool authorized) {
  if (live_page_ != nullptr && ui::Server::Serves(r.path)) return live_page_->Handle(r, answer, authorized);
  if (form_.serves_more_metrics && metrics && r.path == "/metrics/resources") return AnswerResources(answer);
  HttpResponse page = Page(r, healthz, metrics);
  if (form_.has_current_pages) page.headers.emplace_back("Cache-Control", "no-cache, private");
  answer.Send(std::move(page));
}

void Pages::ServePods(ListPods list) {
  io_.executor()->Post([this, list = std::move(list)]() mutable { list_pods_ = std::move(list); });
}

void Pages::AnswerResources(const http::Responder& answer) {
  const auto send = [answer](std::string text) {
    HttpResponse page;
    page.content_type = "text/plain; version=0.0.4; charset=utf-8";
    page.gzip = true;
    page.headers.emplace_back("Cache-Control", "no-cache, private");
    page.body = std::move(text);
    answer.Send(std::move(page));
  };
  if (!list_pods_) return send("");
  list_pods_([this, send](std::vector<api::PodPtr> pods) {
    io_.executor()->Post([send, pods = std::move(pods)] { send(ResourceMetricsText(pods)); });
  });
}

HttpResponse Pages::Page(const HttpRequest& r, bool healthz, bool metrics) {
  HttpResponse page;
  if (healthz) {
    auto health =
        HealthPage(r, results_.Noting("healthz", checks_.empty() ? std::vector<HealthCheck>{PingCheck()} : checks_));
    if (health) {
      health->no_sniff &= form_.has_current_pages;
      return *std::move(health);
    }
  }
  if (form_.serves_probes) {
    if (auto probe = ProbePage(r, healthz, metrics)) return *std::move(probe);
  }
  if (metrics && r.path == "/metrics") {
    const absl::Duration begin = clock_->Steady();
    page.body = MetricsText();
    page.content_type =
        form_.has_current_pages ? "text/plain; version=0.0.4; charset=utf-8" : "text/plain; version=0.0.4";
    page.gzip = true;
    page.sends = [this, begin, method = r.method, asked = r.bytes](size_t bytes) {
      page_metrics_.Count(method, absl::ToDoubleMicroseconds(clock_->Steady() - begin), asked, bytes);
    };
    return page;
  }
  if (metrics && form_.serves_more_metrics && r.path == "/metrics/slis") {
    page.body = results_.Text(absl::ToDoubleSeconds(began_ - absl::UnixEpoch()));
    page.content_type = "text/plain; version=0.0.4; charset=utf-8";
    page.gzip = true;
    return page;
  }
  if (metrics && r.path == "/configz") {
    if (form_.has_current_pages) {
      page.content_type = "application/json";
      page.no_sniff = true;
    }
    page.body = form_.shows_profiles ? ProfilesToConfigz(config_) : ConfigurationToConfigz(config_);
    return page;
  }
  if (config_.enable_profiling && absl::StartsWith(r.path, "/debug/pprof")) {
    page.status = 404;
    page.no_sniff = true;
    page.body =
        "This scheduler is not a Go program and has no pprof. Use: perf record -g -p " + absl::StrCat(getpid()) + "\n";
    return page;
  }
  if (r.path == "/") return FrontPage(healthz, metrics);
  return NotFoundPage();
}

// Returns the pages of later releases about the process: whether it lives, whether it is ready, and what it is.
std::optional<HttpResponse> Pages::ProbePage(const HttpRequest& r, bool healthz, bool metrics) {
  if (healthz) {
    if (auto page = HealthPage(r, results_.Noting("livez", {PingCheck()}), "livez")) return page;
    std::vector<HealthCheck> ready = checks_;
    ready.insert(ready.end(), ready_checks_.begin(), ready_checks_.end());
    if (auto page = HealthPage(r, results_.Noting("readyz", ready), "readyz")) return page;
  }
  if (!metrics || (r.path != "/statusz" && r.path != "/flagz")) return std::nullopt;
  const std::string name = r.path.substr(1);
  HttpResponse page;
  page.no_sniff = true;
  page.body = absl::StrCat("kube-scheduler ", name,
                           "\nWarning: This endpoint is not meant to be machine parseable, has no formatting "
                           "compatibility guarantees and is for debugging purposes only.\n\n",
                           name == "flagz" ? flags_ : StatusText());
  return page;
}

std::string Pages::StatusText() const {
  const int64_t up = absl::ToInt64Seconds(clock_->Wall() - began_);
  constexpr int64_t kHour = 3600, kMinute = 60;
  const std::string patch(config_.release->patch);
  return absl::StrCat("Started  ", absl::FormatTime("%a %b %d %H:%M:%S UTC %Y", began_, absl::UTCTimeZone()), "\nUp  ",
                      up / kHour, " hr ", absl::Dec(up % kHour / kMinute, absl::kZeroPad2), " min ",
                      absl::Dec(up % kMinute, absl::kZeroPad2), " sec\nGo version  none\nBinary version  ",
                      patch.substr(patch.find_first_of("0123456789")), "\nEmulation version  ",
                      std::string(config_.release->name),
                      "\nPaths  /configz /flagz /healthz /livez /metrics /readyz\n");
}

// Names the pages that this port serves.
HttpResponse Pages::FrontPage(bool healthz, bool metrics) const {
  HttpResponse page;
  page.content_type = "text/html; charset=utf-8";
  page.no_sniff = true;
  page.body = "<!doctype html>\n<html lang=\"en\"><title>kube-scheduler</title>\n<h1>kube-scheduler</h1>\n<ul>\n";
  const auto add = [&](std::string_view path, std::string_view what) {
    absl::StrAppend(&page.body, "<li><a href=\"", util::ToAbsl(path), "\">", util::ToAbsl(path),
                    "</a>: ", util::ToAbsl(what), "</li>\n");
  };
  if (live_page_ != nullptr) add("/ui/", "nodes, pending pods, and why they wait");
  if (healthz) add("/healthz", "whether the scheduler is healthy");
  if (healthz && form_.serves_probes) {
    add("/livez", "whether the process responds");
    add("/readyz", "whether it is ready");
  }
  if (metrics) {
    add("/metrics", "metrics for Prometheus");
    if (form_.serves_more_metrics) {
      add("/metrics/resources", "what pods request, for Prometheus");
      add("/metrics/slis", "results of the health checks, for Prometheus");
    }
    add("/configz", "the configuration");
    if (form_.serves_probes) {
      add("/statusz", "the process and its version");
      add("/flagz", "the flags");
    }
  }
  absl::StrAppend(&page.body, "</ul>\n</html>\n");
  return page;
}

std::string Pages::MetricsText() {
  using prometheus::MetricType;
  Families families;
  collect_(&families);
  page_metrics_.Collect(&families);
  CollectProcess(*config_.release, &families);
  if (access_ != nullptr) {
    families.push_back(
        Family("scheduler_access_answers", MetricType::Gauge, "Number of answers kept about who may see these pages."));
    AddSample(&families.back(), {}, static_cast<double>(access_->kept()));
  }
  CollectPages(servers_, &families);
  return ToText(std::move(families));
}

}  // namespace berth::kube_scheduler
