// Finds the resource and method that a request is for, and negotiates the format of the response, before a handler in
// rest.cc runs.
#include "pkg/apiserver/rest_route.h"

#include <absl/strings/escaping.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/api/json_writer.h"
#include "pkg/api/yaml_text.h"
#include "pkg/apiserver/discovery.h"
#include "pkg/store/api_types.h"
#include "pkg/util/status.h"

namespace berth::apiserver {
namespace {

using api::JsonWriter;

std::string_view Trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

template <typename F>
void ForEachPart(std::string_view s, char sep, F f) {
  for (;;) {
    size_t at = s.find(sep);
    f(Trim(s.substr(0, at)));
    if (at == std::string_view::npos) return;
    s.remove_prefix(at + 1);
  }
}

bool ServesReviewsOfSenders(const Catalog& catalog) {
  return std::any_of(catalog.groups().begin(), catalog.groups().end(),
                     [](const Group& g) { return g.name == "authentication.k8s.io"; });
}

struct Route {
  enum class Kind : uint8_t { kPage, kUnknownPath, kUnknownGroup, kUnknownResource, kResource };
  Kind kind = Kind::kUnknownPath;
  std::string group, version, resource, ns, name, subresource;
  bool watch_prefix = false, all_namespaces = false;
  const ResourceInfo* info = nullptr;
  size_t version_index = 0;
};

// Reads a path of the form /api/v1 or /apis/GROUP/VERSION, followed by
// [/watch][/namespaces/NAMESPACE]/RESOURCE[/NAME[/SUBRESOURCE]].
// NOLINT(readability-function-size): reads the parts of the path one after another.
Route Find(const Catalog& catalog, std::string_view path) {
  Route route;
  std::vector<std::string> parts;
  if (!path.starts_with('/')) return route;
  if (path.starts_with("//")) return route;
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  bool slash_in_part = false;
  if (path.size() > 1) {
    std::string_view rest = path.substr(1);
    for (;;) {
      size_t at = rest.find('/');
      parts.push_back(PercentDecode(rest.substr(0, at), false));
      slash_in_part |= parts.back().find('/') != std::string::npos;
      if (at == std::string_view::npos) break;
      rest.remove_prefix(at + 1);
    }
  }
  size_t at = 0;
  if (!parts.empty() && parts[0] == "api") {
    if (parts.size() == 1) {
      route.kind = Route::Kind::kPage;
      return route;
    }
    route.version = parts[1];
    route.kind = Route::Kind::kUnknownResource;
    if (parts[1] != "v1") return route;
    at = 2;
  } else if (!parts.empty() && parts[0] == "apis") {
    if (parts.size() == 1) {
      route.kind = Route::Kind::kPage;
      return route;
    }
    route.group = parts[1];
    auto group = std::find_if(catalog.groups().begin(), catalog.groups().end(),
                              [&](const Group& g) { return g.name == route.group; });
    if (group == catalog.groups().end()) {
      route.kind = Route::Kind::kUnknownGroup;
      return route;
    }
    route.kind = Route::Kind::kUnknownResource;
    if (parts.size() == 2) {
      route.kind = Route::Kind::kPage;
      return route;
    }
    route.version = parts[2];
    if (std::find(group->versions.begin(), group->versions.end(), route.version) == group->versions.end()) return route;
    at = 3;
  } else {
    route.kind = Route::Kind::kPage;  // or an unknown path: the list of pages decides
    return route;
  }
  if (parts.size() == at) {
    route.kind = Route::Kind::kPage;
    return route;
  }
  if (slash_in_part) return route;
  if (parts[at] == "watch") {
    route.watch_prefix = true;
    ++at;
  }
  std::vector<std::string> rest(parts.begin() + static_cast<ptrdiff_t>(at), parts.end());
  if (rest.empty() || rest.size() > 5) return route;
  // The path /namespaces/NAME/status is about the namespace itself and not about a resource in it.
  bool own_subresource = rest.size() == 3 && (rest[2] == "status" || rest[2] == "finalize");
  if (rest[0] == "namespaces" && rest.size() >= 3 && !own_subresource) {
    route.ns = rest[1];
    rest.erase(rest.begin(), rest.begin() + 2);
    route.all_namespaces = route.ns.empty();
  } else {
    route.all_namespaces = true;
  }
  route.resource = rest[0];
  if (rest.size() > 1) route.name = rest[1];
  if (rest.size() > 2) route.subresource = rest[2];
  if (rest.size() > 3 || (rest.size() > 1 && route.name.empty())) return route;
  route.info = catalog.Find(route.group, route.version, route.resource);
  if (route.info == nullptr) {
    // Bindings are created but never stored.
    if (route.group.empty() && route.resource == "bindings" && rest.size() == 1) {
      route.info = &catalog.Core("pods");
      route.subresource = "bindings";
      route.kind = Route::Kind::kResource;
    }
    return route;
  }
  route.version_index = static_cast<size_t>(route.info->VersionIndex(route.group, route.version));
  if (!route.info->namespaced) {
    if (!route.ns.empty()) return route;
    route.all_namespaces = false;
  } else if (route.all_namespaces && !route.name.empty()) {
    return route;
  }
  if (!route.subresource.empty() && !route.info->Has(route.subresource)) return route;
  route.kind = Route::Kind::kResource;
  return route;
}

bool WatchParameter(const Query& q) {
  if (!q.Has("watch")) return false;
  std::string_view v = q.Get("watch");
  return v != "false" && v != "0" && v != "False" && v != "FALSE" && v != "f" && v != "F";
}

// Returns whether the request comes from `kubectl explain`. Other commands work without OpenAPI; this one would claim
// that the kind is unknown, so it gets an answer of its own.
bool AsksToExplain(const HttpRequest& r) {
  return r.path.starts_with("/openapi/") && r.kubectl_command == "kubectl explain";
}

// Returns the error for kubectl logs, exec, attach and port-forward. A real server would forward these requests to the
// kubelet of the pod's node.
ApiError NoKubelet(const ObjectPtr& pod, const Route& route) {
  if (pod == nullptr) return NotFound(route.info->In(route.version_index), route.name);
  const Value whole = ToValue(*route.info, route.version_index, *pod);
  const Value* node = whole.At({"spec", "nodeName"});
  if (node == nullptr) return BadRequest(absl::StrCat("pod ", route.name, " does not have a host assigned"));
  ApiError e;
  e.code = 501;
  e.reason = "NotImplemented";
  e.message = absl::StrCat("hollow-apiserver runs no containers, at most it simulates them: ", route.subresource,
                           " of pod ", route.name, " cannot be served");
  return e;
}

bool ForKubelet(const Route& route) {
  return route.info != nullptr && route.info->kind == "Pod" && !route.name.empty() && !route.ns.empty() &&
         (route.subresource == "log" || route.subresource == "exec" || route.subresource == "attach" ||
          route.subresource == "portforward");
}

// The response is plain text with code 501, because kubectl explain does not show the message of a Status here.
HttpResponse NothingToExplain() {
  HttpResponse r;
  r.status = 501;
  r.content_type = "text/plain; charset=utf-8";
  r.body = "hollow-apiserver has no OpenAPI schema, and so nothing to explain; ask the API server of a real cluster";
  return r;
}

}  // namespace

std::vector<MediaType> ParseAccept(std::string_view accept) {
  std::vector<MediaType> out;
  ForEachPart(accept, ',', [&](std::string_view clause) {
    if (clause.empty()) return;
    MediaType& m = out.emplace_back();
    bool first = true;
    ForEachPart(clause, ';', [&](std::string_view part) {
      if (first) {
        m.type = part;
        first = false;
        return;
      }
      size_t eq = part.find('=');
      std::string_view key = part.substr(0, eq);
      std::string_view value = eq == std::string_view::npos ? std::string_view() : part.substr(eq + 1);
      if (key == "as") m.as = value;
      if (key == "v") m.version = value;
      if (key == "g") m.group = value;
      if (key == "stream") m.stream_watch = value == "watch";
    });
  });
  return out;
}

bool WantsPretty(const HttpRequest& request, const Query& query) {
  if (query.Has("pretty")) {
    std::string_view p = query.Get("pretty");
    return p != "false" && p != "0";
  }
  for (std::string_view agent : {"curl", "Wget", "Mozilla/5.0"}) {
    if (request.user_agent.starts_with(agent)) return true;
  }
  return false;
}

std::string EncodeContinue(uint64_t rv, std::string_view start) {
  JsonWriter json;
  json.Object().Member("v", "meta.k8s.io/v1").Member("rv", rv).Member("start", start).End();
  std::string out = absl::WebSafeBase64Escape(json.Take());
  while (out.ends_with('=')) out.pop_back();
  return out;
}

bool DecodeContinue(std::string_view token, uint64_t* rv, std::string* start, std::string* why) {
  std::string json;
  if (!absl::WebSafeBase64Unescape(std::string(token), &json)) {
    *why = "continue key is not valid: illegal base64 data";
    return false;
  }
  auto v = ParseJson(json);
  if (!v.ok()) {
    *why = "continue key is not valid: " + util::Message(v.status());
    return false;
  }
  if (v->Str("v") != "meta.k8s.io/v1") {
    *why = absl::StrCat("server does not recognize this encoded version ", GoQuoted(v->Str("v")));
    return false;
  }
  const Value* number = v->Find("rv");
  int64_t n = number == nullptr ? 0 : number->AsInt();
  *start = v->Str("start");
  if (n <= 0 || start->empty()) {
    *why = n <= 0 ? "incorrect encoded start resourceVersion" : "continue key has no start";
    return false;
  }
  *rv = static_cast<uint64_t>(n);
  return true;
}

std::string SortedYaml(std::string_view json) {
  auto v = ParseJson(json);
  return v.ok() ? api::YamlOf(ToSortedJson(*v)) : std::string(json);
}

HttpResponse Api::ErrorResponse(const HttpRequest& request, const ApiError& error) {
  HttpResponse out;
  out.status = error.code;
  out.body = error.ToJson();
  if (error.retry_after_seconds > 0) out.headers.emplace_back("Retry-After", std::to_string(error.retry_after_seconds));
  auto accept = ParseAccept(request.accept);
  if (!accept.empty() && accept[0].type == "application/yaml") {
    out.content_type = "application/yaml";
    out.body = SortedYaml(out.body);
  } else if (WantsPretty(request, Query(request.query))) {
    out.body = Indent(out.body);
  }
  return out;
}

HttpResponse Api::Error(const Call& call, const ApiError& error) const {
  return ErrorResponse(*call.request, error);
}

HttpResponse Api::ReviewSender(const HttpRequest& request) {
  if (request.method != "POST") return ErrorResponse(request, MethodNotAllowed());
  const User user =
      request.sender ? request.sender() : User{"system:unsecured", {"system:masters", "system:authenticated"}};
  Value review = Value::Object({{"kind", "SelfSubjectReview"}, {"apiVersion", "authentication.k8s.io/v1"}});
  review.Child("metadata")
      .Set("creationTimestamp",
           Value::String(absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", clock_->Wall(), absl::UTCTimeZone())));
  Value& info = review.Child("status").Child("userInfo");
  info.Set("username", Value::String(user.name));
  Value& groups = info.Set("groups", Value::Array());
  for (const std::string& g : user.groups) groups.Append(Value::String(g));
  HttpResponse out;
  out.status = 201;
  out.body = ToJson(review) + "\n";
  return out;
}

HttpResponse Api::Handle(const HttpRequest& request, bool last_try) {
  // Rejected because the response would be for a user other than the one in the request if impersonation were ignored.
  if (!request.impersonate.empty()) {
    return ErrorResponse(request,
                         ForbiddenError({"", "users"}, request.impersonate,
                                        "impersonation is not served here, so ask without it (kubectl: without --as)"));
  }
  std::string_view path = request.path;
  if (path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews") return ReviewAccess(request);
  if (path == "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews") return ReviewRules(request);
  if (path == "/apis/authentication.k8s.io/v1/selfsubjectreviews" && ServesReviewsOfSenders(registry_->catalog())) {
    return ReviewSender(request);
  }
  Route route = Find(registry_->catalog(), path);
  switch (route.kind) {
    case Route::Kind::kUnknownGroup: {
      HttpResponse out;
      out.status = 404;
      out.content_type = "text/plain; charset=utf-8";
      out.body = "404 page not found\n";
      out.headers.emplace_back("X-Content-Type-Options", "nosniff");
      return out;
    }
    case Route::Kind::kUnknownResource:
      if (ForKubelet(route)) {
        return ErrorResponse(request, NoKubelet(registry_->store().Get(*route.info, route.ns, route.name), route));
      }
      return ErrorResponse(request, UnknownResource());
    case Route::Kind::kUnknownPath:
      if (AsksToExplain(request)) return NothingToExplain();
      return UnknownPath(registry_->catalog().release());
    case Route::Kind::kPage: {
      if (AsksToExplain(request)) return NothingToExplain();
      while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
      auto page = Discovery(registry_->catalog().release(), path, request.accept);
      if (!page.has_value()) return UnknownPath(registry_->catalog().release());
      const bool health = path.starts_with("/healthz") || path.starts_with("/livez") || path.starts_with("/readyz");
      if (request.method != "GET" && !health) return ErrorResponse(request, MethodNotAllowed());
      if (page->content_type == "application/json" && !page->body.starts_with("{\n") &&
          WantsPretty(request, Query(request.query))) {
        page->body = Indent(page->body);
      }
      return *std::move(page);
    }
    case Route::Kind::kResource:
      break;
  }
  Call call;
  call.request = &request;
  call.query = Query(request.query);
  call.r = route.info;
  call.version = route.version_index;
  call.ns = std::move(route.ns);
  call.name = std::move(route.name);
  call.subresource = std::move(route.subresource);
  call.watch_prefix = route.watch_prefix;
  call.all_namespaces = route.all_namespaces;
  call.last_try = last_try;
  return Resource(call);
}

RequestInfo Api::Describe(const Catalog& catalog, const HttpRequest& request) {
  RequestInfo info;
  info.path = request.path;
  info.verb = request.method;
  std::transform(info.verb.begin(), info.verb.end(), info.verb.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  Route route = Find(catalog, request.path);
  if (route.kind != Route::Kind::kResource) {
    // Authorization treats an unknown resource of a known version as a resource.
    if (route.kind != Route::Kind::kUnknownResource || route.resource.empty()) return info;
  }
  info.is_resource = true;
  info.group = route.group;
  info.version = route.version;
  info.resource = route.resource;
  info.subresource = route.subresource == "bindings" ? "" : route.subresource;
  info.ns = route.ns;
  info.name = route.name;
  Query query(request.query);
  const std::string& m = request.method;
  if (m == "GET" || m == "HEAD") {
    bool watch = route.watch_prefix || WatchParameter(query);
    info.verb = route.name.empty() ? (watch ? "watch" : "list") : (route.watch_prefix ? "watch" : "get");
  } else if (m == "POST") {
    info.verb = "create";
  } else if (m == "PUT") {
    info.verb = "update";
  } else if (m == "PATCH") {
    info.verb = "patch";
  } else if (m == "DELETE") {
    info.verb = route.name.empty() ? "deletecollection" : "delete";
  }
  return info;
}

// NOLINT(readability-function-size): one case for each method.
HttpResponse Api::Resource(Call& call) {
  const std::string& m = call.request->method;
  if (m != "GET") {
    std::string_view kind = m == "POST"    ? "CreateOptions"
                            : m == "PUT"   ? "UpdateOptions"
                            : m == "PATCH" ? "PatchOptions"
                                           : "DeleteOptions";
    auto options = ReadWriteOptions(call.query, kind, registry_->catalog().release());
    if (auto* error = std::get_if<ApiError>(&options)) return Error(call, *error);
    call.write = std::get<WriteOptions>(options);
  }
  Registry::DryRun dry(registry_, call.write.dry_run);
  HttpResponse refused = Error(call, MethodNotAllowed());
  // Negotiates the format of the response.
  std::vector<MediaType> accept = ParseAccept(call.request->accept);
  bool watch = m == "GET" && (call.watch_prefix || (call.name.empty() && WatchParameter(call.query)));
  bool acceptable = accept.empty();
  constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";
  // A client that prefers protobuf cannot split a stream of JSON into events.
  if (watch && !accept.empty() && accept[0].type == kProtobuf) {
    ApiError e = NotAcceptable();
    e.has_details = false;
    e.message = absl::StrCat("only the following media types are accepted: application/json;stream=watch; ",
                             std::string(HowToSpeakJson(call.request->user_agent)));
    return Error(call, e);
  }
  for (const MediaType& a : accept) {
    if (a.type == "application/json" || a.type == "*/*" || a.type == "application/*") {
      if (a.as == "Table" && !watch) {
        bool v1 = a.version == "v1" && validation::kTablesV1.Has(call.r->release);
        if ((a.version != "v1beta1" && !v1) || a.group != "meta.k8s.io") continue;
        call.format = Format::kTable;
        call.table_v1 = v1;
      } else if (!a.as.empty() && !watch) {
        continue;
      }
      acceptable = true;
      break;
    }
    if (a.type == "application/yaml") {
      if (watch) {
        ApiError e = NotAcceptable();
        e.has_details = false;
        e.message =
            "only the following media types are accepted: application/json;stream=watch, "
            "application/vnd.kubernetes.protobuf;stream=watch";
        return Error(call, e);
      }
      call.format = Format::kYaml;
      acceptable = true;
      break;
    }
  }
  if (call.subresource == "bindings" || call.subresource == "binding") {
    if (m != "POST" || call.all_namespaces) return refused;
    return Bind(call);
  }
  if (!acceptable) {
    ApiError e = NotAcceptable();
    bool protobuf = std::any_of(accept.begin(), accept.end(), [&](const MediaType& a) { return a.type == kProtobuf; });
    if (protobuf) absl::StrAppend(&e.message, "; ", std::string(HowToSpeakJson(call.request->user_agent)));
    return Error(call, e);
  }
  if (call.subresource == "eviction") return m == "POST" ? Evict(call) : refused;
  if (call.subresource == "token") return m == "POST" ? Token(call) : refused;
  if (call.subresource == "scale") return m == "GET" || m == "PUT" || m == "PATCH" ? Scale(call) : refused;
  if (watch) return call.subresource.empty() ? StartWatch(call) : refused;
  if (call.name.empty()) {
    if (m == "GET") return List(call);
    if (call.all_namespaces) return refused;
    if (m == "POST") return Create(call);
    bool collection = call.r->kind != "Namespace" && call.r->kind != "Service";
    if (m == "DELETE" && collection) return DeleteCollection(call);
    return refused;
  }
  if (call.subresource == "finalize") return m == "PUT" ? Replace(call) : refused;
  if (m == "GET") return Get(call);
  if (m == "PUT") return Replace(call);
  if (m == "PATCH") return Patch(call);
  if (m == "DELETE" && call.subresource.empty()) return Delete(call);
  return refused;
}

HttpResponse Api::StartWatch(Call& call) {
  ListOptions options;
  if (auto error = ReadListOptions(call.query, true, call.r->release, &options)) return Error(call, *error);
  auto selector =
      ObjectSelector::Parse(*call.r, call.ns, call.query.Get("fieldSelector"), call.query.Get("labelSelector"));
  if (auto* error = std::get_if<ApiError>(&selector)) return Error(call, *error);
  WatchStart start;
  start.resource = call.r;
  start.version = call.version;
  start.selector = std::move(std::get<ObjectSelector>(selector));
  if (!call.name.empty()) start.selector.RequireName(call.name);
  std::string timeout(call.query.Get("timeoutSeconds"));
  if (!timeout.empty() && !absl::SimpleAtoi(timeout, &start.timeout_seconds)) {
    return Error(call, BadRequest(absl::StrCat("strconv.ParseInt: parsing ", GoQuoted(timeout), ": invalid syntax")));
  }
  std::string rv(call.query.Get("resourceVersion"));
  if (rv.empty() || rv == "0") {
    start.from.synthetic = true;
  } else if (rv.find_first_not_of("0123456789") != std::string::npos || !absl::SimpleAtoi(rv, &start.from.rv)) {
    return Error(call, InternalError(absl::StrCat("resourceVersion: Invalid value: ", GoQuoted(rv),
                                                  ": strconv.ParseUint: parsing ", GoQuoted(rv), ": invalid syntax")));
  }
  std::string_view bookmarks = call.query.Get("allowWatchBookmarks");
  start.from.bookmarks = validation::kBookmarks.Has(call.r->release) && (bookmarks == "true" || bookmarks == "1");
  if (options.initial_events.has_value()) {
    const uint64_t reached = registry_->store().rv();
    if (start.from.rv > reached) {
      HttpResponse out = Error(call, VersionTooLarge(start.from.rv, reached));
      out.wait = !call.last_try;
      return out;
    }
    if (*options.initial_events) {
      start.from.synthetic = start.from.marks_end = true;
    } else if (start.from.synthetic) {
      start.from.synthetic = false;
      start.from.rv = reached;
    }
  }
  HttpResponse out;
  out.watch = std::move(start);
  return out;
}

}  // namespace berth::apiserver
