// The page /healthz with its checks, as Kubernetes' generic server has it since 1.8, and others like it.
#pragma once
#include <absl/status/status.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cmd/kube-scheduler/http_server.h"

namespace berth::kube_scheduler {

// A health check. `run` must not block. Its error says what is wrong and is shown only on the check's own page.
struct HealthCheck {
  std::string name;
  std::function<absl::Status()> run;
};

// Returns the check that always succeeds, for servers without another.
HealthCheck PingCheck();

// Returns the response for /healthz (with the parameters `verbose` and `exclude=NAME`) and for /healthz/NAME, or
// nothing for other paths and unknown checks. `page_name` is that of the page: healthz, livez or readyz.
std::optional<HttpResponse> HealthPage(const HttpRequest& request, const std::vector<HealthCheck>& checks,
                                       const std::string& page_name = "healthz");

}  // namespace berth::kube_scheduler
