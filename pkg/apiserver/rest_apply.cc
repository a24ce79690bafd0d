// PATCH with the media type application/apply-patch+yaml.
#include <absl/strings/str_cat.h>

#include "pkg/api/stream.h"
#include "pkg/apiserver/apply.h"
#include "pkg/apiserver/rest_route.h"
#include "pkg/store/other_version.h"
#include "pkg/util/status.h"

namespace berth::apiserver {

// Returns what is to be applied, decoded.
std::variant<Value, ApiError> Api::Applied(Call& call) const {
  auto document = api::ReadDocument(call.request->body);
  if (!document.ok()) {
    return BadRequest("error decoding YAML: " + util::Message(document.status()));
  }
  Value body = FromJson(document->root());
  if (!body.IsObject()) return BadRequest("error decoding YAML: the body must be an object");
  if (body.Str("kind") != call.r->kind || body.Str("apiVersion") != call.gv().Text()) {
    return BadRequest(
        absl::StrCat("the object applied must be a ", call.r->kind, " of ", call.gv().Text(), ", as the URL says"));
  }
  Value& meta = body.Child("metadata");
  if (!validation::OrEmpty(meta.Find("managedFields")).empty()) {
    return BadRequest("metadata.managedFields must be nil");
  }
  if (meta.Str("name").empty()) meta.Set("name", Value::String(call.name));
  if (meta.Str("name") != call.name) {
    return BadRequest(absl::StrCat("the name of the object (", std::string(meta.Str("name")),
                                   ") does not match the name on the URL (", call.name, ")"));
  }
  if (auto error = CheckFields(call, body)) return *error;
  // Error texts quote the object as JSON.
  const std::string text = ToJson(body);
  const auto parsed = ParseJson(text);
  if (!parsed.ok()) return BadRequest(util::Message(parsed.status()));
  auto decoded = Decode(*parsed, call.type(), call.gv().version, text);
  if (!decoded.ok()) return BadRequest(util::Message(decoded.status()));
  return *std::move(decoded);
}

// Creates the object, or merges what was applied into it (apply.h).
HttpResponse Api::Apply(Call& call) {
  ApplyRequest how{.manager = std::string(call.query.Get("fieldManager")),
                   .api_version = call.gv().Text(),
                   .subresource = call.subresource,
                   .time = registry_->NowText(),
                   .force = call.query.Get("force") == "true"};
  if (how.manager.empty()) {
    ApiError e =
        InvalidObject("meta.k8s.io", "PatchOptions", "", {Required("fieldManager", "is required for apply patch")});
    return Error(call, e);
  }
  auto read = Applied(call);
  if (auto* error = std::get_if<ApiError>(&read)) return Error(call, *error);
  const Value& wanted = std::get<Value>(read);
  const ObjectPtr old = registry_->store().Get(*call.r, call.ns, call.name);
  if (old == nullptr && !call.subresource.empty()) return Error(call, NotFound(call.resource(), call.name));
  const std::string version(validation::OrEmpty(wanted.Find("metadata")).Str("resourceVersion"));
  const std::optional<Value> live = old == nullptr ? std::nullopt : std::optional(ToValue(*call.r, call.version, *old));
  auto applied = berth::apiserver::Apply(live ? &*live : nullptr, wanted, call.type(), how);
  if (auto* conflicts = std::get_if<std::vector<ApplyConflict>>(&applied)) {
    ApiError e = Conflict(call.resource(), call.name, "");
    e.message = ConflictText(*conflicts);
    return Error(call, e);
  }
  Value& object = std::get<Value>(applied);
  if (!version.empty()) object.Child("metadata").Set("resourceVersion", Value::String(version));
  const bool other = call.version > 0 && call.r->other_type != nullptr;
  Value stored = other ? FromOtherVersion(*call.r, object) : std::move(object);
  auto made = old == nullptr ? registry_->Create(*call.r, call.version, call.ns, std::move(stored))
                             : registry_->Update(*call.r, call.version, call.ns, call.name, std::move(stored),
                                                 {call.subresource, true});
  if (auto* error = std::get_if<ApiError>(&made)) return Error(call, *error);
  return ObjectResponse(call, old == nullptr ? 201 : 200, *std::get<ObjectPtr>(made));
}

}  // namespace berth::apiserver
