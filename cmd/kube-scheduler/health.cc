// The texts and statuses are those of Kubernetes' healthz handler. Reasons are withheld from the summary, which anybody
// may read, and logged instead.
#include "cmd/kube-scheduler/health.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>
#include <glog/logging.h>

#include <set>
#include <utility>

#include "cmd/kube-scheduler/go_text.h"
#include "pkg/util/status.h"

namespace berth::kube_scheduler {
namespace {

struct HealthQuery {
  bool verbose = false;
  std::set<std::string> excluded;
};

HealthQuery ParseQuery(const std::string& query) {
  HealthQuery out;
  for (const auto term : absl::StrSplit(query, '&')) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(term, absl::MaxSplits('=', 1));
    if (parts.first == "verbose") out.verbose = true;
    if (parts.first == "exclude") out.excluded.insert(parts.second);
  }
  return out;
}

HttpResponse AllChecks(const HttpRequest& request, const std::vector<HealthCheck>& checks, const std::string& name) {
  HealthQuery query = ParseQuery(request.query);
  HttpResponse page;
  page.no_sniff = true;
  std::string report;
  bool well = true;
  for (const HealthCheck& check : checks) {
    if (query.excluded.erase(check.name) != 0) {
      absl::StrAppend(&report, "[+]", check.name, " excluded: ok\n");
      continue;
    }
    const absl::Status s = check.run();
    if (s.ok()) {
      absl::StrAppend(&report, "[+]", check.name, " ok\n");
      continue;
    }
    well = false;
    LOG(ERROR) << name << " check " << check.name << " failed: " << util::Message(s);
    absl::StrAppend(&report, "[-]", check.name, " failed: reason withheld\n");
  }
  if (!query.excluded.empty()) {
    absl::StrAppend(
        &report, "warn: some health checks cannot be excluded: no matches for ",
        absl::StrJoin(query.excluded, ",",
                      [](std::string* out, const std::string& excluded) { absl::StrAppend(out, GoQuoted(excluded)); }),
        "\n");
  }
  page.status = well ? 200 : 500;
  page.body = !well           ? absl::StrCat(report, name, " check failed\n")
              : query.verbose ? absl::StrCat(report, name, " check passed\n")
                              : "ok";
  return page;
}

}  // namespace

HealthCheck PingCheck() {
  return {"ping", [] { return absl::OkStatus(); }};
}

std::optional<HttpResponse> HealthPage(const HttpRequest& request, const std::vector<HealthCheck>& checks,
                                       const std::string& page_name) {
  if (request.path == absl::StrCat("/", page_name)) return AllChecks(request, checks, page_name);
  for (const HealthCheck& check : checks) {
    if (request.path != absl::StrCat("/", page_name, "/", check.name)) continue;
    HttpResponse page;
    const absl::Status s = check.run();
    page.status = s.ok() ? 200 : 500;
    page.body = s.ok() ? "ok" : absl::StrCat("internal server error: ", util::Message(s), "\n");
    return page;
  }
  return std::nullopt;
}

}  // namespace berth::kube_scheduler
