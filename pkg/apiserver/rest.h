// The REST API: from an HTTP request to an answer. Routes, negotiates, decodes, calls the registry, words the answer.
//
// Owned by one thread; every call is short (a list of all objects is the longest).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "pkg/apiserver/http.h"
#include "pkg/apiserver/registry.h"
#include "pkg/util/clock.h"

namespace berth::apiserver {

// What a request is about, as authorization sees it.
struct RequestInfo {
  bool is_resource = false;
  std::string verb;  // get list watch create update patch delete deletecollection; the method in lower case otherwise
  std::string group, version, resource, subresource, ns, name, path;
};

class Api {
 public:
  // All must outlive the Api.
  Api(Registry* registry, const util::Clock* clock) : registry_(registry), clock_(clock) {}

  // `last_try`: an answer of HttpResponse::wait is not wanted any more.
  HttpResponse Handle(const HttpRequest& request, bool last_try = false);

  static RequestInfo Describe(const Catalog& catalog, const HttpRequest& request);
  // The Status of an error as an answer to this request (pretty, YAML).
  static HttpResponse ErrorResponse(const HttpRequest& request, const ApiError& error);

 private:
  enum class Format : uint8_t { kJson, kYaml, kTable };
  struct Call;  // a request on its way: route, query, format

  HttpResponse Resource(Call& call);
  HttpResponse Get(Call& call);
  HttpResponse List(Call& call);
  HttpResponse StartWatch(Call& call);
  HttpResponse Create(Call& call);
  HttpResponse Replace(Call& call);
  HttpResponse Patch(Call& call);
  HttpResponse Delete(Call& call);
  HttpResponse DeleteCollection(Call& call);
  HttpResponse Bind(Call& call);
  HttpResponse Evict(Call& call);
  // POST selfsubjectaccessreviews: whether the sender may do something.
  HttpResponse ReviewAccess(const HttpRequest& request);
  HttpResponse Scale(Call& call);

  HttpResponse Error(const Call& call, const ApiError& error) const;
  HttpResponse ObjectResponse(const Call& call, int status, const Object& o) const;
  HttpResponse Finish(const Call& call, int status, std::string json) const;
  // The body, parsed and checked to be a `kind` of the call's resource; not yet decoded.
  std::variant<Value, ApiError> Body(const Call& call, std::string_view kind) const;
  std::variant<Value, ApiError> DecodedBody(Call& call) const;
  // Complains of fields that the type does not have, as the request wants it. Empty: go on.
  std::optional<ApiError> CheckFields(Call& call, const Value& v) const;
  std::variant<DeleteRequest, ApiError> DeleteOptions(const Call& call) const;
  // The same from a parsed body.
  std::optional<ApiError> ReadDeleteOptions(const Value& body, std::string_view source, DeleteRequest* out) const;
  // The page's JSON: metadata and items. False: `failed` is the answer.
  struct Page;
  bool Collect(Call& call, Page* page, HttpResponse* failed);

  Registry* registry_;
  const util::Clock* clock_;
};

}  // namespace berth::apiserver
