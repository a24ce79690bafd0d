#include "cmd/kube-scheduler/metrics.h"

#include <catch2/catch.hpp>

#include "cmd/kube-scheduler/secure_serving.h"

namespace berth::kube_scheduler {
namespace {

bool HasLine(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST_CASE("metrics: histograms with Go's numbers, present from the start") {
  SchedulerSnapshot s;
  std::vector<prometheus::MetricFamily> families;
  CollectScheduler(s, &families);
  std::string text = ToText(families);
  CHECK(HasLine(text, "scheduler_e2e_scheduling_latency_microseconds_bucket{le=\"1.6384e+07\"} 0"));
  CHECK(HasLine(text, "scheduler_binding_latency_microseconds_sum 0"));
  CHECK(HasLine(text, "# TYPE scheduler_pod_preemption_victims gauge"));

  s.metrics.binding.Observe(absl::Microseconds(1000));
  s.metrics.binding.Observe(absl::Microseconds(1001));
  s.metrics.binding.Observe(absl::Seconds(100));
  s.by_reason = {{"node(s) said \"no\"", 2}};
  families.clear();
  CollectScheduler(s, &families);
  text = ToText(families);
  CHECK(HasLine(text, "scheduler_binding_latency_microseconds_bucket{le=\"1000\"} 1"));
  CHECK(HasLine(text, "scheduler_binding_latency_microseconds_bucket{le=\"2000\"} 2"));
  CHECK(HasLine(text, "scheduler_binding_latency_microseconds_bucket{le=\"1.6384e+07\"} 2"));
  CHECK(HasLine(text, "scheduler_binding_latency_microseconds_bucket{le=\"+Inf\"} 3"));
  CHECK(HasLine(text, "scheduler_binding_latency_microseconds_sum 1.00002001e+08"));
  CHECK(HasLine(text, "scheduler_binding_latency_microseconds_count 3"));
  CHECK(HasLine(text, "scheduler_pending_pods_by_reason{reason=\"node(s) said \\\"no\\\"\"} 2"));
}

TEST_CASE("metrics: requests by code and latency by URL") {
  RestMetrics r;
  r.OnAnswer("201", "POST", "h:1");
  r.OnAnswer("201", "POST", "h:1");
  r.OnAnswer("<error>", "GET", "h:1");
  r.OnLatency("GET", "http://h:1/api", 0.0015);
  std::vector<prometheus::MetricFamily> families;
  r.Collect(&families);
  const std::string text = ToText(families);
  CHECK(HasLine(text, "rest_client_requests_total{code=\"201\",host=\"h:1\",method=\"POST\"} 2"));
  CHECK(HasLine(text, "rest_client_requests_total{code=\"<error>\",host=\"h:1\",method=\"GET\"} 1"));
  CHECK(
      HasLine(text, "rest_client_request_latency_seconds_bucket{url=\"http://h:1/api\",verb=\"GET\",le=\"0.001\"} 0"));
  CHECK(
      HasLine(text, "rest_client_request_latency_seconds_bucket{url=\"http://h:1/api\",verb=\"GET\",le=\"0.002\"} 1"));
  // Families are sorted by name.
  CHECK(text.find("request_latency") < text.find("requests_total"));
}

TEST_CASE("metrics: the page about itself, from the second time on") {
  PageMetrics p;
  std::vector<prometheus::MetricFamily> families;
  p.Collect(&families);
  CHECK(families.empty());
  p.Count("GET", 1500, 60, 2000);
  p.Count("GET", 1500, 62, 4000);
  p.Count("HEAD", 1500, 61, 2000);
  p.Count("MAKE-ME-A-LABEL", 1500, 0, 0);
  p.Count("get", 1500, 0, 0);
  p.Collect(&families);
  const std::string text = ToText(families);
  CHECK(HasLine(text, "# TYPE http_requests_total counter"));
  CHECK(HasLine(text, "http_requests_total{code=\"200\",handler=\"prometheus\",method=\"get\"} 2"));
  CHECK(HasLine(text, "http_requests_total{code=\"200\",handler=\"prometheus\",method=\"head\"} 1"));
  CHECK(HasLine(text, "http_requests_total{code=\"200\",handler=\"prometheus\",method=\"other\"} 2"));
  CHECK(HasLine(text, "# TYPE http_request_duration_microseconds summary"));
  CHECK(HasLine(text, "http_request_duration_microseconds{handler=\"prometheus\",quantile=\"0.5\"} 1500"));
  CHECK(HasLine(text, "http_request_duration_microseconds{handler=\"prometheus\",quantile=\"0.99\"} 1500"));
  CHECK(HasLine(text, "http_request_duration_microseconds_sum{handler=\"prometheus\"} 7500"));
  CHECK(HasLine(text, "http_request_duration_microseconds_count{handler=\"prometheus\"} 5"));
  CHECK(HasLine(text, "http_request_size_bytes_sum{handler=\"prometheus\"} 183"));
  CHECK(HasLine(text, "http_response_size_bytes_sum{handler=\"prometheus\"} 8000"));
}

TEST_CASE("access: who may see the pages") {
  util::ManualClock clock;
  int reviews = 0, questions = 0;
  bool down = false;
  AccessControl access(
      [&](const std::string& token, const client::Done<client::UserInfo>& done) {
        ++reviews;
        client::ApiResult<client::UserInfo> r;
        if (down) r.error.message = "connection refused";
        r.value.authenticated = token == "good" || token == "poor";
        r.value.name = token;
        done(r);
      },
      [&](const client::AccessQuestion& q, const client::Done<client::AccessAnswer>& done) {
        ++questions;
        client::ApiResult<client::AccessAnswer> r;
        r.value.allowed = q.user.name == "good" && q.verb == "get" && q.path == "/metrics";
        done(r);
      },
      &clock, AccessControl::Form::kText);
  const auto status = [&](const std::string& path, const std::string& authorization,
                          const std::string& method = "GET") {
    HttpRequest r;
    r.method = method;
    r.path = path;
    if (!authorization.empty()) r.headers.emplace_back("Authorization", authorization);
    int answer = 0;
    access.Check(r, [&](std::optional<HttpResponse> refused) { answer = refused ? refused->status : 200; });
    return answer;
  };
  for (const char* page : {"/healthz", "/healthz/ping", "/livez", "/readyz"}) CHECK(status(page, "") == 200);
  CHECK(status("/healthzz", "") == 403);
  CHECK(status("/healthz", "Bearer bad") == 200);
  questions = 0;
  CHECK(reviews + questions == 0);
  CHECK(status("/metrics", "") == 403);
  CHECK(status("/metrics", "Bearer good") == 200);
  CHECK(status("/metrics", "bearer poor") == 403);
  CHECK(status("/metrics", "Bearer bad") == 401);
  CHECK(status("/metrics", "Basic Zm9vOmJhcg==") == 401);
  CHECK(status("/configz", "Bearer good") == 403);
  CHECK(status("/metrics", "Bearer good", "DELETE") == 403);
  const int before = reviews;
  CHECK(status("/metrics", "Bearer good") == 200);
  CHECK(reviews == before);       // cached for a while
  CHECK(access.kept() == 3 + 6);  // tokens, and access decisions
  clock.Advance(absl::Seconds(11));
  down = true;
  CHECK(status("/metrics", "Bearer good") == 401);
  CHECK(reviews == before + 1);
}

TEST_CASE("access: groups of a certificate are taken as they are, and never mixed up with others") {
  util::ManualClock clock;
  std::vector<client::UserInfo> asked;
  AccessControl access([](const std::string&, const client::Done<client::UserInfo>&) { FAIL("nobody showed a token"); },
                       [&](const client::AccessQuestion& q, const client::Done<client::AccessAnswer>& done) {
                         asked.push_back(q.user);
                         client::ApiResult<client::AccessAnswer> r;
                         r.value.allowed = q.user.groups[0] == "system:masters";
                         done(r);
                       },
                       &clock, AccessControl::Form::kText);
  const auto allowed = [&](const std::string& name, std::vector<std::string> groups) {
    HttpRequest r;
    r.method = "GET";
    r.path = "/metrics";
    r.certificate = http::Subject{name, std::move(groups)};
    bool answer = false;
    access.Check(r, [&](const std::optional<HttpResponse>& refused) { answer = !refused; });
    return answer;
  };
  using Groups = std::vector<std::string>;
  CHECK(allowed("a", {"system:masters", "dev"}));
  CHECK_FALSE(allowed("a", {"dev,system:masters"}));
  CHECK(asked.back().groups == Groups{"dev,system:masters", "system:authenticated"});
  // Joined by any separator, these would equal the user and groups above.
  CHECK_FALSE(allowed("a", {"dev,system:masters,dev"}));
  CHECK_FALSE(allowed("a\nsystem:masters", {"dev"}));
  CHECK_FALSE(allowed("a", {"dev", "system:masters,dev"}));
  CHECK(asked.size() == 5);
  CHECK(allowed("a", {"system:masters", "dev"}));
  CHECK(asked.size() == 5);
}

TEST_CASE("access: what waits for the API server holds up nobody else") {
  util::ManualClock clock;
  client::Done<client::UserInfo> waiting;
  AccessControl access([&](const std::string&, client::Done<client::UserInfo> done) { waiting = std::move(done); },
                       [](const client::AccessQuestion&, const client::Done<client::AccessAnswer>& done) {
                         client::ApiResult<client::AccessAnswer> r;
                         r.value.allowed = true;
                         done(r);
                       },
                       &clock, AccessControl::Form::kText);
  std::vector<std::string> order;
  const auto ask = [&](const std::string& path, const std::string& authorization) {
    HttpRequest r;
    r.method = "GET";
    r.path = path;
    if (!authorization.empty()) r.headers.emplace_back("authorization", authorization);
    access.Check(r, [&order, path](const std::optional<HttpResponse>& refused) {
      order.push_back(refused ? "no " + path : path);
    });
  };
  ask("/metrics", "Bearer slow");
  ask("/healthz", "");
  ask("/configz", "");
  CHECK(order == std::vector<std::string>{"/healthz", "/configz"});
  client::ApiResult<client::UserInfo> r;
  r.value.authenticated = true;
  r.value.name = "late";
  waiting(r);
  CHECK(order.back() == "/metrics");
}

TEST_CASE("access: a certificate of our own making") {
  auto made = MakeSelfSigned({"host", "127.0.0.1"});
  REQUIRE(made.ok());
  http::ServerTls tls;
  tls.cert_pem = made->cert_pem;
  tls.key_pem = made->key_pem;
  CHECK(http::NewServerTlsContext(tls).ok());
  tls.key_pem = "no key";
  CHECK_FALSE(http::NewServerTlsContext(tls).ok());
  SecureServingOptions o;
  o.cert_file = "/nonexistent";
  CHECK_FALSE(ServingCertificate(o).ok());
  o.key_file = "/nonexistent";
  CHECK(std::string(ServingCertificate(o).status().message()) ==
        "--tls-cert-file: open /nonexistent: no such file or directory");
}

}  // namespace
}  // namespace berth::kube_scheduler
