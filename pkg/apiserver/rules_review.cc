// SelfSubjectRulesReview: what the sender of a request may do (kubectl auth can-i --list). A sender who may do
// everything gets one rule; for others each resource is asked for, verb by verb.
#include <absl/strings/str_cat.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/apiserver/protobuf.h"
#include "pkg/apiserver/rest.h"
#include "pkg/util/status.h"

namespace berth::apiserver {
namespace {

constexpr std::string_view kVerbs[] = {"create", "delete", "deletecollection", "get",
                                       "list",   "patch",  "update",           "watch"};
constexpr std::string_view kPages[] = {"/api",     "/api/*", "/apis",   "/apis/*",
                                       "/healthz", "/livez", "/readyz", "/version"};

Value Texts(const std::vector<std::string>& texts) {
  Value list = Value::Array();
  for (const std::string& t : texts) list.Append(Value::String(t));
  return list;
}

Value ResourceRule(const std::vector<std::string>& verbs, const std::string& group, const std::string& resource) {
  Value rule = Value::Object();
  rule.Set("verbs", Texts(verbs));
  rule.Set("apiGroups", Texts({group}));
  rule.Set("resources", Texts({resource}));
  return rule;
}

Value PageRule(const std::vector<std::string>& verbs, const std::vector<std::string>& pages) {
  Value rule = Value::Object();
  rule.Set("verbs", Texts(verbs));
  rule.Set("nonResourceURLs", Texts(pages));
  return rule;
}

// Collects what `allowed` allows in a namespace.
class Rules {
 public:
  Rules(const Catalog& catalog, const std::function<bool(const RequestInfo&)>& allowed, std::string_view ns)
      : catalog_(catalog), allowed_(allowed), ns_(ns) {}

  void Write(Value* status) const {
    Value resources = Value::Array(), pages = Value::Array();
    if (allowed_) {
      AppendAll(&resources, &pages);
    } else {
      resources.Append(ResourceRule({"*"}, "*", "*"));
      pages.Append(PageRule({"*"}, {"*"}));
    }
    status->Set("resourceRules", std::move(resources));
    status->Set("nonResourceRules", std::move(pages));
  }

 private:
  void AppendAll(Value* resources, Value* pages) const {
    for (const ResourceInfo& r : catalog_.resources()) {
      AppendResource(r, "", resources);
      for (const std::string& sub : r.subresources) AppendResource(r, sub, resources);
    }
    std::vector<std::string> readable;
    for (std::string_view page : kPages) {
      RequestInfo what;
      what.verb = "get";
      what.path = page;
      if (allowed_(what)) readable.emplace_back(page);
    }
    if (!readable.empty()) pages->Append(PageRule({"get"}, readable));
  }
  void AppendResource(const ResourceInfo& r, const std::string& subresource, Value* rules) const {
    std::vector<std::string> verbs;
    RequestInfo what;
    what.is_resource = true;
    what.group = r.versions[0].group;
    what.version = r.versions[0].version;
    what.resource = r.resource;
    what.subresource = subresource;
    what.ns = r.namespaced ? ns_ : "";
    for (std::string_view verb : kVerbs) {
      what.verb = verb;
      if (allowed_(what)) verbs.emplace_back(verb);
    }
    if (verbs.empty()) return;
    const std::string name = subresource.empty() ? r.resource : absl::StrCat(r.resource, "/", subresource);
    rules->Append(ResourceRule(verbs, std::string(what.group), name));
  }

  const Catalog& catalog_;
  const std::function<bool(const RequestInfo&)>& allowed_;
  const std::string ns_;
};

}  // namespace

HttpResponse Api::ReviewRules(const HttpRequest& request) {
  if (request.method != "POST") return ErrorResponse(request, MethodNotAllowed());
  const TypeDef& type = registry_->catalog().Type("SelfSubjectRulesReview");
  const bool protobuf = request.content_type.starts_with("application/vnd.kubernetes.protobuf");
  auto parsed = protobuf ? DecodeProtobuf(request.body, type) : ParseJson(request.body);
  if (!parsed.ok()) return ErrorResponse(request, BadRequest(util::Message(parsed.status())));
  const Value* spec = parsed->Find("spec");
  const std::string ns(spec == nullptr ? std::string_view() : spec->Str("namespace"));
  if (ns.empty()) return ErrorResponse(request, BadRequest("no namespace on request"));
  Value review = Value::Object({{"kind", "SelfSubjectRulesReview"}, {"apiVersion", "authorization.k8s.io/v1"}});
  review.Set("metadata", Value::Object());
  review.Child("spec").Set("namespace", Value::String(ns));
  Value& status = review.Child("status");
  Rules(registry_->catalog(), request.allowed, ns).Write(&status);
  status.Set("incomplete", Value::Bool(false));
  HttpResponse out;
  out.status = 201;
  out.body = ToJson(review) + "\n";
  return out;
}

}  // namespace berth::apiserver
