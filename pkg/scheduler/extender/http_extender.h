// Calls extenders over HTTP as Kubernetes 1.10 does: JSON is posted to urlPrefix/verb. Source:
// pkg/scheduler/core/extender.go (1.10).
//
// Requests have the capitalised member names and explicit nulls of 1.10. Members of answers may be in any letter case,
// and only answers with status 200 count. Nodes in an answer that were not in the request are dropped (bug B-29,
// fixed); for release 1.29, such a name in NodeNames is an error. An error text is reported unchanged (bug B-30,
// fixed). If an answer contains whole nodes, only their names are used.
//
// Thread-safety: thread-safe, so binds may be sent from any thread. Each call blocks until it is answered or times out.
#pragma once
#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <string_view>

#include "pkg/scheduler/extender/extender.h"
#include "pkg/scheduler/policy/policy.h"

namespace berth::scheduler {

// Sends JSON bodies to a URL and returns the answers. Tests replace it.
class ExtenderTransport {
 public:
  virtual ~ExtenderTransport() = default;
  struct Answer {
    int status = 0;
    std::string body;
  };
  // `repeatable` says whether sending the body twice does no harm. An error names the URL and says why there is no
  // answer.
  virtual absl::StatusOr<Answer> Post(const std::string& url, std::string_view body, bool repeatable) = 0;
};

// Returns an extender that is called over the network, with the timeout and the TLS settings of `config`. The scheme of
// the URL decides whether TLS is used. As in 1.10, enableHttps without a CA accepts any certificate. Returns an error
// for an invalid URL, unreadable files, or a CA together with Insecure.
absl::StatusOr<std::unique_ptr<Extender>> NewHttpExtender(const ExtenderConfig& config);

// Returns an extender that is called through `transport`.
std::unique_ptr<Extender> NewHttpExtender(const ExtenderConfig& config, std::unique_ptr<ExtenderTransport> transport);

}  // namespace berth::scheduler
