// Turns responses into ApiErrors. The texts are client-go's, word for word, because they end up in events, conditions
// and log lines that people search.
#include "pkg/client/api_error.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/api/json.h"
#include "pkg/api/json_writer.h"
#include "pkg/util/status.h"

namespace berth::client {
namespace {

std::string_view VerbOf(Method m) {
  switch (m) {
    case Method::kGet:
      return "get";
    case Method::kPost:
      return "post";
    case Method::kPut:
      return "put";
    case Method::kPatch:
      return "patch";
    case Method::kDelete:
      return "delete";
  }
  return "get";
}

// Sets reason and message as client-go 1.10 does for a response whose body is not a Status object.
void Generic(const Request& request, const Reply& reply, ApiError* e) {
  switch (reply.status) {
    case 409:
      e->reason = request.method == Method::kPost ? "AlreadyExists" : "Conflict";
      e->message = "the server reported a conflict";
      break;
    case 404:
      e->reason = "NotFound";
      e->message = "the server could not find the requested resource";
      break;
    case 400:
      e->reason = "BadRequest";
      e->message = "the server rejected our request for an unknown reason";
      break;
    case 401:
      e->reason = "Unauthorized";
      e->message = "the server has asked for the client to provide credentials";
      break;
    case 403:
      e->reason = "Forbidden";
      e->message = reply.body.substr(0, 2048);
      break;
    case 405:
      e->reason = "MethodNotAllowed";
      e->message = "the server does not allow this method on the requested resource";
      break;
    case 422:
      e->reason = "Invalid";
      e->message = "the server rejected our request due to an error in our request";
      break;
    case 503:
      e->reason = "ServiceUnavailable";
      e->message = "the server is currently unable to handle the request";
      break;
    case 504:
      e->reason = "Timeout";
      e->message =
          "the server was unable to return a response in the time allotted, but may still be processing the request";
      break;
    case 429:
      e->reason = "TooManyRequests";
      e->message = "the server has received too many requests and has asked us to try again later";
      break;
    default:
      break;
  }
  if (!e->message.empty()) return;
  if (reply.status >= 500) {
    e->reason = "InternalError";
    const std::string body = api::JsonString(reply.body.empty() ? "unknown" : reply.body.substr(0, 512));
    e->message = absl::StrCat("an error on the server (", body, ") has prevented the request from succeeding");
    return;
  }
  e->message =
      absl::StrCat("the server responded with the status code ", reply.status, " but did not return more information");
}

}  // namespace

// If a Status has no message, its reason is kept and the text is the generic one.
ApiError ErrorFrom(const Request& request, const Reply& reply, std::string_view resource, std::string_view name) {
  ApiError e;
  if (reply.ok()) return e;
  e.code = reply.status;
  if (reply.status == 0) {
    e.transport = true;
    e.maybe_done = reply.maybe_done && request.method != Method::kGet;
    e.message = reply.error.empty() ? "no answer" : reply.error;
    return e;
  }
  api::Document doc;
  if (!reply.body.empty() && reply.body.front() == '{' && doc.Parse(reply.body).ok() &&
      doc.root().Find("kind").Text() == "Status") {
    api::Json s = doc.root();
    e.reason = std::string(s.Find("reason").Text());
    e.message = std::string(s.Find("message").Text());
    e.details_kind = std::string(s.Find("details").Find("kind").Text());
    e.details_name = std::string(s.Find("details").Find("name").Text());
    if (!e.message.empty()) return e;
  }
  std::string reason = std::move(e.reason);
  Generic(request, reply, &e);
  if (!reason.empty()) e.reason = std::move(reason);
  if (!resource.empty()) {
    absl::StrAppend(&e.message, " (", util::ToAbsl(VerbOf(request.method)), " ", util::ToAbsl(resource));
    if (!name.empty()) absl::StrAppend(&e.message, " ", util::ToAbsl(name));
    e.message += ')';
  }
  return e;
}

}  // namespace berth::client
