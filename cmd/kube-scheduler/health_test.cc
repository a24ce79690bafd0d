#include "cmd/kube-scheduler/health.h"

#include <catch2/catch.hpp>

namespace berth::kube_scheduler {
namespace {

HttpRequest Asking(const std::string& target) {
  HttpRequest r;
  r.method = "GET";
  r.path = target.substr(0, target.find('?'));
  r.has_query = r.path.size() < target.size();
  if (r.has_query) r.query = target.substr(r.path.size() + 1);
  return r;
}

}  // namespace

TEST_CASE("health: what is well is said in one word, or check by check") {
  const std::vector<HealthCheck> checks = {PingCheck(), {"leaderElection", [] { return absl::OkStatus(); }}};
  const auto body = [&](const std::string& target) { return HealthPage(Asking(target), checks).value().body; };
  CHECK(body("/healthz") == "ok");
  CHECK(body("/healthz?verbose") == "[+]ping ok\n[+]leaderElection ok\nhealthz check passed\n");
  CHECK(body("/healthz?verbose=1&exclude=ping") ==
        "[+]ping excluded: ok\n[+]leaderElection ok\nhealthz check passed\n");
  CHECK(body("/healthz?exclude=etcd&verbose") ==
        "[+]ping ok\n[+]leaderElection ok\nwarn: some health checks cannot be excluded: no matches for \"etcd\"\n"
        "healthz check passed\n");
  CHECK(body("/healthz/leaderElection") == "ok");
  CHECK_FALSE(HealthPage(Asking("/healthz/etcd"), checks));
  CHECK_FALSE(HealthPage(Asking("/livez"), checks));
}

TEST_CASE("health: the reason of a failure is shown on the page of its check alone") {
  const std::vector<HealthCheck> checks = {PingCheck(),
                                           {"leaderElection", [] { return absl::InternalError("the lease is old"); }}};
  const auto all = HealthPage(Asking("/healthz"), checks).value();
  CHECK(all.status == 500);
  CHECK(all.body == "[+]ping ok\n[-]leaderElection failed: reason withheld\nhealthz check failed\n");
  const auto one = HealthPage(Asking("/healthz/leaderElection"), checks).value();
  CHECK(one.status == 500);
  CHECK(one.body == "internal server error: the lease is old\n");
  CHECK(HealthPage(Asking("/healthz?exclude=leaderElection"), checks)->status == 200);
}

}  // namespace berth::kube_scheduler
