// Extenders over HTTP, as Kubernetes 1.10 calls them: JSON posted to urlPrefix/verb.
//
// Requests have 1.10's capitalised member names and explicit nulls; answers are read in any letter case. An answer is
// taken only with status 200; nothing is retried. Fixed upstream bugs: node names that were not in the request are
// dropped (B-29), an error text is passed on as it is (B-30). Of whole nodes in an answer only the names count.
//
// Thread-safe, so that binds may be sent from any thread; each call blocks until its answer or the timeout.
#pragma once
#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <string_view>

#include "pkg/scheduler/extender/extender.h"
#include "pkg/scheduler/policy/policy.h"

namespace berth::scheduler {

// Carries one JSON body to a URL and the answer back.
class ExtenderTransport {
 public:
  virtual ~ExtenderTransport() = default;
  struct Answer {
    int status = 0;
    std::string body;
  };
  // `repeatable`: sending it twice does no harm. An error says why there is no answer, naming the URL.
  virtual absl::StatusOr<Answer> Post(const std::string& url, std::string_view body, bool repeatable) = 0;
};

// Over the network, with the timeout and TLS settings of `config`. TLS: enableHttps without a CA accepts any
// certificate; the URL's scheme says whether TLS is spoken at all. Errors: a bad URL, files that cannot be read, a CA
// together with Insecure.
absl::StatusOr<std::unique_ptr<Extender>> NewHttpExtender(const ExtenderConfig& config);

std::unique_ptr<Extender> NewHttpExtender(const ExtenderConfig& config, std::unique_ptr<ExtenderTransport> transport);

}  // namespace berth::scheduler
