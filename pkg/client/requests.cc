// Each request is composed here and its response decoded into a typed result. Bodies that are written often (bindings)
// are appended to one string; all others are edits of the server's own JSON.
#include "pkg/client/requests.h"

#include <absl/strings/str_cat.h>
#include <absl/time/time.h>

#include <utility>

#include "pkg/api/decode.h"
#include "pkg/api/json.h"
#include "pkg/client/json_edit.h"
#include "pkg/util/status.h"

namespace berth::client {
namespace {

std::string PodPath(std::string_view ns, std::string_view name, std::string_view sub = {}) {
  return absl::StrCat("/api/v1/namespaces/", PercentEncode(ns), "/pods/", PercentEncode(name), util::ToAbsl(sub));
}

// Returns a handler that decodes a successful response into a T, or turns a failure into its ApiError, and calls
// `done`.
template <typename T>
std::function<void(Reply)> Decode(std::string_view resource, std::string_view name, Method method,
                                  std::function<absl::StatusOr<T>(const std::string&)> decode, Done<T> done) {
  return [resource = std::string(resource), name = std::string(name), method, decode = std::move(decode),
          done = std::move(done)](Reply reply) {
    Request asked;
    asked.method = method;
    ApiResult<T> result;
    result.error = ErrorFrom(asked, reply, resource, name);
    if (result.ok()) {
      auto value = decode(reply.body);
      if (value.ok()) {
        result.value = *std::move(value);
      } else {
        result.error.code = reply.status;
        result.error.message = absl::StrCat("the server's answer about ", resource, " \"", name,
                                            "\" cannot be decoded: ", util::Message(value.status()));
      }
    }
    done(std::move(result));
  };
}

template <typename T>
std::function<absl::StatusOr<T>(const std::string&)> FromJson(std::function<absl::StatusOr<T>(api::Json)> f) {
  return [f = std::move(f)](const std::string& body) -> absl::StatusOr<T> {
    api::Document doc;
    absl::Status s = doc.Parse(body);
    if (!s.ok()) return s;
    return f(doc.root());
  };
}

absl::StatusOr<api::PodPtr> PodWithRaw(const std::string& body) {
  api::Document doc;
  absl::Status s = doc.Parse(body);
  if (!s.ok()) return s;
  auto pod = api::DecodePod(doc.root());
  if (!pod.ok()) return pod.status();
  auto copy = std::make_shared<api::Pod>(**pod);
  copy->raw = api::SharedText(body);
  return api::PodPtr(std::move(copy));
}

std::vector<std::string> Texts(api::Json array) {
  std::vector<std::string> out;
  for (auto m : array.Children()) out.emplace_back(m.value.Text());
  return out;
}

// POSTs a review to the group's v1 version, or to v1beta1 if the server does not have v1.
void Review(HttpClient* client, const std::string& group, const std::string& resource, const std::string& kind,
            const std::string& spec, Done<std::string> done, bool beta = false) {
  std::string version = absl::StrCat(group, beta ? "/v1beta1" : "/v1");
  Request r;
  r.method = Method::kPost;
  r.target = absl::StrCat("/apis/", version, "/", resource);
  JsonWriter body(&r.body);
  body.Object().Member("kind", kind).Member("apiVersion", version).Key("metadata");
  body.Object().Key("creationTimestamp").Literal("null").End().Key("spec").Literal(spec).End();
  client->Do(std::move(r), [=](Reply reply) {
    if (reply.status == 404 && !beta) {
      Review(client, group, resource, kind, spec, done, true);
      return;
    }
    Request asked;
    asked.method = Method::kPost;
    ApiResult<std::string> result;
    result.error = ErrorFrom(asked, reply, absl::StrCat(resource, ".", group));
    result.value = std::move(reply.body);
    done(std::move(result));
  });
}

}  // namespace

// Events are written thousands a second, nearly all with the time of the same second as the one before.
std::string FormatApiTime(absl::Time t) {
  thread_local int64_t second = 0;
  thread_local std::string text;
  const int64_t now = absl::ToUnixSeconds(t);
  if (text.empty() || now != second) {
    text = absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", t, absl::UTCTimeZone());
    second = now;
  }
  return text;
}

absl::StatusOr<std::string> ApplyPodStatus(std::string_view pod, const PodStatusChange& change) {
  auto edit = JsonEdit::New(pod);
  if (!edit.ok()) return edit.status();
  // An element of a list has no kind and apiVersion, so the JSON of a listed pod needs them to be added.
  edit->SetFirst("apiVersion", "\"v1\"");
  edit->SetFirst("kind", "\"Pod\"");
  if (change.scheduled) {
    const api::PodCondition& c = *change.scheduled;
    JsonWriter json;
    json.Object().Member("type", "PodScheduled").Member("status", c.status);
    json.Key("lastProbeTime").Literal(TimeOrNull(c.last_probe_time));
    json.Key("lastTransitionTime").Literal(TimeOrNull(c.last_transition_time));
    json.MemberUnlessEmpty("reason", c.reason).MemberUnlessEmpty("message", c.message).End();
    edit->SetInArray({"status", "conditions"}, "type", "PodScheduled", json.Take());
  }
  if (change.nominated_node_name) {
    if (change.nominated_node_name->empty()) {
      edit->Remove({"status", "nominatedNodeName"});
    } else {
      edit->Set({"status", "nominatedNodeName"}, JsonString(*change.nominated_node_name));
    }
  }
  return edit->Take();
}

absl::StatusOr<std::string> ApplyClaimRef(std::string_view pv, const ClaimReference& claim, bool bound_by_controller) {
  auto edit = JsonEdit::New(pv);
  if (!edit.ok()) return edit.status();
  edit->SetFirst("apiVersion", "\"v1\"");
  edit->SetFirst("kind", "\"PersistentVolume\"");
  JsonWriter json;
  json.Object().Member("kind", "PersistentVolumeClaim").Member("namespace", claim.ns).Member("name", claim.name);
  json.Member("uid", claim.uid).Member("apiVersion", "v1");
  json.MemberUnlessEmpty("resourceVersion", claim.resource_version).End();
  edit->Set({"spec", "claimRef"}, json.Take());
  if (bound_by_controller) {
    edit->SetDefault({"metadata", "annotations", "pv.kubernetes.io/bound-by-controller"}, "\"yes\"");
  }
  return edit->Take();
}

absl::StatusOr<std::string> ApplySelectedNode(std::string_view claim, std::string_view node) {
  auto edit = JsonEdit::New(claim);
  if (!edit.ok()) return edit.status();
  edit->SetFirst("apiVersion", "\"v1\"");
  edit->SetFirst("kind", "\"PersistentVolumeClaim\"");
  edit->Set({"metadata", "annotations", "volume.kubernetes.io/selected-node"}, JsonString(node));
  return edit->Take();
}

void Requests::Bind(const Binding& b, Done<Nothing> done) {
  Request r;
  r.method = Method::kPost;
  r.may_send = may_write_;
  r.target = PodPath(b.ns, b.pod, "/binding");
  r.pipeline = r.discard_body = true;
  r.body.reserve(200 + b.ns.size() + b.pod.size() + b.uid.size() + b.node.size());
  JsonWriter body(&r.body);
  body.Part(R"({"kind":"Binding","apiVersion":"v1","metadata":{)").Member("name", b.pod).Member("namespace", b.ns);
  body.MemberUnlessEmpty("uid", b.uid).Part(R"(,"creationTimestamp":null},"target":{"kind":"Node")");
  body.Member("name", b.node).Part("}}");
  client_->Do(std::move(r), [name = std::string(b.pod), done = std::move(done)](Reply reply) {
    Request asked;
    asked.method = Method::kPost;
    done({ErrorFrom(asked, reply, "pods", name), {}});
  });
}

void Requests::GetPod(std::string_view ns, std::string_view name, Done<api::PodPtr> done) {
  Request r;
  r.target = PodPath(ns, name);
  client_->Do(std::move(r), Decode<api::PodPtr>("pods", name, Method::kGet, PodWithRaw, std::move(done)));
}

void Requests::PutPodStatus(std::string_view ns, std::string_view name, std::string body, Done<api::PodPtr> done) {
  Request r;
  r.method = Method::kPut;
  r.may_send = may_write_;
  r.target = PodPath(ns, name, "/status");
  r.body = std::move(body);
  client_->Do(std::move(r), Decode<api::PodPtr>("pods", name, Method::kPut, PodWithRaw, std::move(done)));
}

void Requests::PatchPodStatus(std::string_view ns, std::string_view name, std::string body, Done<api::PodPtr> done) {
  SendPodStatusPatch(ns, name, "application/strategic-merge-patch+json", std::move(body), std::move(done));
}

void Requests::MergePodStatus(std::string_view ns, std::string_view name, std::string body, Done<api::PodPtr> done) {
  SendPodStatusPatch(ns, name, "application/merge-patch+json", std::move(body), std::move(done));
}

void Requests::SendPodStatusPatch(std::string_view ns, std::string_view name, std::string_view content_type,
                                  std::string body, Done<api::PodPtr> done) {
  Request r;
  r.method = Method::kPatch;
  r.may_send = may_write_;
  r.target = PodPath(ns, name, "/status");
  r.content_type = content_type;
  r.body = std::move(body);
  client_->Do(std::move(r), Decode<api::PodPtr>("pods", name, Method::kPatch, PodWithRaw, std::move(done)));
}

void Requests::DeletePod(std::string_view ns, std::string_view name, std::string_view uid, Done<Nothing> done) {
  Request r;
  r.method = Method::kDelete;
  r.may_send = may_write_;
  r.target = PodPath(ns, name);
  JsonWriter body(&r.body);
  body.Object().Member("kind", "DeleteOptions").Member("apiVersion", "v1");
  if (!uid.empty()) body.Key("preconditions").Object().Member("uid", uid).End();
  body.End();
  client_->Do(std::move(r),
              Decode<Nothing>(
                  "pods", name, Method::kDelete, [](const std::string&) { return Nothing{}; }, std::move(done)));
}

void Requests::GetNode(std::string_view name, Done<api::NodePtr> done) {
  Request r;
  r.target = absl::StrCat("/api/v1/nodes/", PercentEncode(name));
  auto decode = FromJson<api::NodePtr>([](api::Json j) { return api::DecodeNode(j); });
  client_->Do(std::move(r), Decode<api::NodePtr>("nodes", name, Method::kGet, decode, std::move(done)));
}

void Requests::GetConfigMap(std::string_view ns, std::string_view name,
                            Done<std::shared_ptr<const api::ConfigMap>> done) {
  using Ptr = std::shared_ptr<const api::ConfigMap>;
  Request r;
  r.target = absl::StrCat("/api/v1/namespaces/", PercentEncode(ns), "/configmaps/", PercentEncode(name));
  auto decode = FromJson<Ptr>([](api::Json j) { return api::DecodeConfigMap(j); });
  client_->Do(std::move(r), Decode<Ptr>("configmaps", name, Method::kGet, decode, std::move(done)));
}

void Requests::PutPersistentVolumeClaim(std::string_view ns, std::string_view name, std::string body,
                                        Done<Nothing> done) {
  Request r;
  r.method = Method::kPut;
  r.may_send = may_write_;
  r.target = absl::StrCat("/api/v1/namespaces/", PercentEncode(ns), "/persistentvolumeclaims/", PercentEncode(name));
  r.body = std::move(body);
  client_->Do(std::move(r), Decode<Nothing>(
                                "persistentvolumeclaims", name, Method::kPut,
                                [](const std::string&) { return Nothing{}; }, std::move(done)));
}

void Requests::PutPersistentVolume(std::string_view name, std::string body,
                                   Done<std::shared_ptr<const api::PersistentVolume>> done) {
  using Ptr = std::shared_ptr<const api::PersistentVolume>;
  Request r;
  r.method = Method::kPut;
  r.may_send = may_write_;
  r.target = absl::StrCat("/api/v1/persistentvolumes/", PercentEncode(name));
  r.body = std::move(body);
  auto decode = FromJson<Ptr>([](api::Json j) {
    api::DecodeOptions keep;
    keep.keep_raw = true;
    return api::DecodePersistentVolume(j, keep);
  });
  client_->Do(std::move(r), Decode<Ptr>("persistentvolumes", name, Method::kPut, decode, std::move(done)));
}

void Requests::ReviewToken(std::string_view token, Done<UserInfo> done) {
  Review(client_, "authentication.k8s.io", "tokenreviews", "TokenReview",
         JsonWriter().Object().Member("token", token).End().Take(), [done = std::move(done)](ApiResult<std::string> r) {
           ApiResult<UserInfo> result;
           result.error = std::move(r.error);
           api::Document doc;
           if (result.ok()) {
             absl::Status s = doc.Parse(r.value);
             if (!s.ok()) {
               result.error.message = absl::StrCat("the answer to a TokenReview cannot be decoded: ", util::Message(s));
             }
           }
           if (result.ok()) {
             api::Json status = doc.root().Find("status"), user = status.Find("user");
             result.value.authenticated = status.Find("authenticated").Bool();
             result.value.error = std::string(status.Find("error").Text());
             result.value.name = std::string(user.Find("username").Text());
             result.value.uid = std::string(user.Find("uid").Text());
             result.value.groups = Texts(user.Find("groups"));
             for (auto m : user.Find("extra").Children()) result.value.extra[std::string(m.key)] = Texts(m.value);
           }
           done(std::move(result));
         });
}

void Requests::ReviewAccess(const AccessQuestion& q, Done<AccessAnswer> done) {
  JsonWriter spec;
  spec.Object().Key("nonResourceAttributes").Object().Member("path", q.path).Member("verb", q.verb).End();
  spec.Member("user", q.user.name);
  if (!q.user.groups.empty()) spec.Key("groups").Texts(q.user.groups);
  if (!q.user.extra.empty()) {
    spec.Key("extra").Object();
    for (const auto& [key, values] : q.user.extra) spec.Key(key).Texts(values);
    spec.End();
  }
  spec.MemberUnlessEmpty("uid", q.user.uid).End();
  Review(client_, "authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview", spec.Take(),
         [done = std::move(done)](ApiResult<std::string> r) {
           ApiResult<AccessAnswer> result;
           result.error = std::move(r.error);
           api::Document doc;
           if (result.ok()) {
             absl::Status s = doc.Parse(r.value);
             if (!s.ok()) {
               result.error.message =
                   absl::StrCat("the answer to a SubjectAccessReview cannot be decoded: ", util::Message(s));
             }
           }
           if (result.ok()) {
             api::Json status = doc.root().Find("status");
             result.value.allowed = status.Find("allowed").Bool() && !status.Find("denied").Bool();
             result.value.reason = std::string(status.Find("reason").Text());
           }
           done(std::move(result));
         });
}

void Requests::Raw(Request request, std::string_view resource, std::string_view name, Done<std::string> done) {
  Method method = request.method;
  client_->Do(std::move(request),
              Decode<std::string>(
                  resource, name, method, [](const std::string& body) { return body; }, std::move(done)));
}

}  // namespace berth::client
