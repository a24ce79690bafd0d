// HTTP requests and responses as the API's code sees them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/apiserver/selector.h"
#include "pkg/apiserver/watch.h"

namespace berth::apiserver {

// The sender of a request: anonymous, the user of a token or certificate, or anyone on the insecure port.
struct User {
  std::string name;
  std::vector<std::string> groups;
};

// The decoded query of a URL. If a name occurs several times, the first one is used.
class Query {
 public:
  Query() = default;
  explicit Query(std::string_view text);
  // Returns the value; "" if the parameter is absent.
  std::string_view Get(std::string_view name) const;
  bool Has(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

struct RequestInfo;  // rest.h

struct HttpRequest {
  std::string method;
  std::string path;   // as sent, without the query
  std::string query;  // as sent, without '?'
  std::string accept, content_type, user_agent, authorization;
  std::string kubectl_command;  // the header Kubectl-Command: "kubectl explain"
  std::string impersonate;      // the header Impersonate-User
  std::string_view body;
  // Returns whether the sender may do something. If empty, everything is allowed.
  std::function<bool(const RequestInfo&)> allowed;
  // Returns the sender. If empty, the request came to the insecure port.
  std::function<User()> sender;
};

struct WatchStart {
  const ResourceInfo* resource = nullptr;
  size_t version = 0;
  ObjectSelector selector;
  Watch::From from;
  int64_t timeout_seconds = 0;  // 0: until either side disconnects
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<WatchStart> watch;  // if set, the response is a stream and `body` is empty
  // If true, the request names a resource version that does not exist yet. The caller must handle the request once more
  // after a while, with `last_try` set.
  bool wait = false;
};

// Decodes percent-encoding and, if `plus_is_space`, '+' as a space.
std::string PercentDecode(std::string_view s, bool plus_is_space);

}  // namespace berth::apiserver
