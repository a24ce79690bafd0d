// A request and an answer of HTTP, as far as the API's code sees them.
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

// Who asks: anonymous, a user of a token or certificate, or anyone on the insecure port.
struct User {
  std::string name;
  std::vector<std::string> groups;
};

// The query of a URL, decoded; of equal names the first one counts.
class Query {
 public:
  Query() = default;
  explicit Query(std::string_view text);
  // The value, "" when absent.
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
  std::string kubectl_command;  // "kubectl explain": what kubectl says of itself
  std::string impersonate;      // Impersonate-User: whom the sender wants to be
  std::string_view body;
  // Whether the sender may do something; empty when everybody may do everything.
  std::function<bool(const RequestInfo&)> allowed;
};

struct WatchStart {
  const ResourceInfo* resource = nullptr;
  size_t version = 0;
  ObjectSelector selector;
  Watch::From from;
  int64_t timeout_seconds = 0;  // 0: until someone hangs up
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<WatchStart> watch;  // then the answer is a stream and `body` is empty
  // The request asks for a resource version that is not there yet: ask again after a while (with `last_try`).
  bool wait = false;
};

// %41 and, in queries, '+' decoded.
std::string PercentDecode(std::string_view s, bool plus_is_space);

}  // namespace berth::apiserver
