// The REST API: turns an HTTP request into a response. It routes, negotiates the format, decodes the body, calls the
// registry and writes the response.
//
// Thread-safety: belongs to one thread. Every call is short; the longest is a list of all objects.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "pkg/apiserver/http.h"
#include "pkg/store/registry.h"
#include "pkg/util/clock.h"

namespace berth::apiserver {

// The attributes of a request for authorization.
struct RequestInfo {
  bool is_resource = false;
  std::string verb;  // get list watch create update patch delete deletecollection; the method in lower case otherwise
  std::string group, version, resource, subresource, ns, name, path;
};

class Api {
 public:
  // `registry` and `clock` must outlive the Api.
  Api(Registry* registry, const util::Clock* clock) : registry_(registry), clock_(clock) {}

  // Handles a request. If `last_try` is true, the response never has HttpResponse::wait set.
  HttpResponse Handle(const HttpRequest& request, bool last_try = false);

  static RequestInfo Describe(const Catalog& catalog, const HttpRequest& request);
  // Returns an error's Status as the response to this request, in the format that it specifies (pretty, YAML).
  static HttpResponse ErrorResponse(const HttpRequest& request, const ApiError& error);

 private:
  enum class Format : uint8_t { kJson, kYaml, kTable };
  struct Call;  // a routed request with query and format

  HttpResponse Resource(Call& call);
  HttpResponse Get(Call& call);
  HttpResponse List(Call& call);
  HttpResponse StartWatch(Call& call);
  HttpResponse Create(Call& call);
  HttpResponse Replace(Call& call);
  HttpResponse Patch(Call& call);
  HttpResponse Apply(Call& call);
  std::variant<Value, ApiError> Applied(Call& call) const;
  HttpResponse Delete(Call& call);
  HttpResponse DeleteCollection(Call& call);
  HttpResponse Bind(Call& call);
  HttpResponse Evict(Call& call);
  // POST selfsubjectaccessreviews: answers whether the sender may do something.
  HttpResponse ReviewAccess(const HttpRequest& request);
  // POST selfsubjectrulesreviews: lists what the sender may do in a namespace.
  HttpResponse ReviewRules(const HttpRequest& request);
  HttpResponse ReviewSender(const HttpRequest& request);
  HttpResponse Scale(Call& call);
  // POST serviceaccounts/NAME/token.
  HttpResponse Token(Call& call);

  HttpResponse Error(const Call& call, const ApiError& error) const;
  HttpResponse ObjectResponse(const Call& call, int status, const Object& o) const;
  HttpResponse Finish(const Call& call, int status, std::string json) const;
  // Returns the body, parsed and checked to be a `kind` of the call's resource, but not decoded.
  std::variant<Value, ApiError> Body(const Call& call, std::string_view kind) const;
  std::variant<Value, ApiError> DecodedBody(Call& call) const;
  // Handles fields that the type does not have, as the request specifies: ignores them, adds warnings, or returns an
  // error.
  std::optional<ApiError> CheckFields(Call& call, const Value& v) const;
  std::variant<DeleteRequest, ApiError> DeleteOptions(const Call& call) const;
  // The same for a parsed body.
  std::optional<ApiError> ReadDeleteOptions(const Value& body, std::string_view source, DeleteRequest* out) const;
  // Collects the objects of a list. Returns false if `*failed` is the response instead.
  struct Page;
  bool Collect(Call& call, Page* page, HttpResponse* failed);

  Registry* registry_;
  const util::Clock* clock_;
};

}  // namespace berth::apiserver
