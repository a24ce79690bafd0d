// The page /metrics/slis of Kubernetes 1.26 and later: what came of the health checks, each time that somebody asked.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cmd/kube-scheduler/health.h"

namespace berth::kube_scheduler {

// Thread-safety: thread-safe.
class HealthResults {
 public:
  // Returns the checks of a page, such as "healthz", with their results noted here whenever they run. The object must
  // outlive them.
  std::vector<HealthCheck> Noting(const std::string& page_name, std::vector<HealthCheck> checks);
  // Returns the metrics as text for Prometheus. Checks that have never run are left out. `began` is when the process
  // began, in seconds since 1970.
  std::string Text(double began) const;

 private:
  struct Counted {
    bool is_well = false;  // the last time
    uint64_t well = 0, bad = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Counted> by_check_;  // by name and page
};

}  // namespace berth::kube_scheduler
