// Makes Status objects. Members are in the order in which a real server writes them.
#include "pkg/store/status.h"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include "pkg/api/json_writer.h"

namespace berth::apiserver {
namespace {

using api::JsonWriter;

std::string_view CauseReason(FieldError::Type t) {
  switch (t) {
    case FieldError::Type::kRequired:
      return "FieldValueRequired";
    case FieldError::Type::kInvalid:
      return "FieldValueInvalid";
    case FieldError::Type::kNotSupported:
      return "FieldValueNotSupported";
    case FieldError::Type::kForbidden:
      return "FieldValueForbidden";
    case FieldError::Type::kDuplicate:
      return "FieldValueDuplicate";
    case FieldError::Type::kNotFound:
      return "FieldValueNotFound";
    case FieldError::Type::kTooLong:
      return "FieldValueTooLong";
  }
  return "FieldValueInvalid";
}

ApiError Plain(int code, std::string_view reason, std::string_view message) {
  ApiError e;
  e.code = code;
  e.reason = reason;
  e.message = message;
  return e;
}

ApiError About(int code, std::string_view reason, GroupResource r, std::string_view name, std::string message) {
  ApiError e = Plain(code, reason, message);
  e.has_details = true;
  e.name = name;
  e.group = r.group;
  e.kind = r.resource;
  return e;
}

}  // namespace

std::string ApiError::ToJson() const {
  JsonWriter j;
  j.Object().Member("kind", "Status").Member("apiVersion", "v1").Key("metadata").Object().End();
  j.Member("status", "Failure").MemberUnlessEmpty("message", message).MemberUnlessEmpty("reason", reason);
  if (has_details) {
    j.Key("details").Object().MemberUnlessEmpty("name", name).MemberUnlessEmpty("group", group);
    j.MemberUnlessEmpty("kind", kind).MemberUnlessEmpty("uid", uid);
    if (!causes.empty() || !other_causes.empty()) {
      j.Key("causes").Array();
      for (const FieldError& c : causes) {
        j.Object().MemberUnlessEmpty("reason", CauseReason(c.type)).MemberUnlessEmpty("message", c.message);
        j.MemberUnlessEmpty("field", c.field).End();
      }
      for (const auto& [why, what] : other_causes) {
        j.Object().MemberUnlessEmpty("reason", why).MemberUnlessEmpty("message", what).End();
      }
      j.End();
    }
    if (retry_after_seconds > 0) j.Member("retryAfterSeconds", retry_after_seconds);
    j.End();
  }
  return j.Member("code", code).End().Finish();
}

ApiError BadRequest(std::string_view message) {
  return Plain(400, "BadRequest", message);
}
ApiError InternalError(std::string_view message) {
  return Plain(500, "", message);
}
ApiError NotFound(GroupResource r, std::string_view name) {
  return About(404, "NotFound", r, name, absl::StrCat(r.Text(), " ", GoQuoted(name), " not found"));
}
ApiError AlreadyExists(GroupResource r, std::string_view name) {
  return About(409, "AlreadyExists", r, name, absl::StrCat(r.Text(), " ", GoQuoted(name), " already exists"));
}
ApiError Conflict(GroupResource r, std::string_view name, std::string_view why) {
  return About(
      409, "Conflict", r, name,
      absl::StrCat("Operation cannot be fulfilled on ", r.Text(), " ", GoQuoted(name), ": ", std::string(why)));
}
ApiError ForbiddenError(GroupResource r, std::string_view name, std::string_view why) {
  std::string message = r.Text();
  if (!name.empty()) absl::StrAppend(&message, " ", GoQuoted(name));
  return About(403, "Forbidden", r, name, absl::StrCat(message, " is forbidden: ", std::string(why)));
}
ApiError InvalidObject(std::string_view group, std::string_view kind, std::string_view name, FieldErrors causes) {
  // Equal texts occur once in the message, but each is a cause.
  std::vector<std::string> texts;
  // a set, because an object of a few megabytes can have a hundred thousand causes
  absl::flat_hash_set<std::string> seen;
  for (const FieldError& c : causes) {
    std::string text = c.Text();
    if (seen.insert(text).second) texts.push_back(std::move(text));
  }
  std::string list = texts.size() == 1 ? texts[0] : absl::StrCat("[", absl::StrJoin(texts, ", "), "]");
  ApiError e = About(422, "Invalid", {group, kind}, name,
                     absl::StrCat(GroupResource{group, kind}.Text(), " ", GoQuoted(name), " is invalid: ", list));
  e.causes = std::move(causes);
  return e;
}
ApiError MethodNotAllowed() {
  ApiError e = Plain(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
  e.has_details = true;
  return e;
}
ApiError UnknownResource() {
  ApiError e = Plain(404, "NotFound", "the server could not find the requested resource");
  e.has_details = true;
  return e;
}
ApiError UnsupportedMediaType() {
  ApiError e = Plain(415, "UnsupportedMediaType", "415: Unsupported Media Type");
  e.has_details = true;
  return e;
}
ApiError NotAcceptable() {
  ApiError e = Plain(406, "NotAcceptable", "406: Not Acceptable");
  e.has_details = true;
  return e;
}
ApiError Unauthorized() {
  return Plain(401, "Unauthorized", "Unauthorized");
}
ApiError Timeout(std::string_view message) {
  ApiError e = Plain(504, "Timeout", absl::StrCat("Timeout: ", std::string(message)));
  e.has_details = true;
  e.retry_after_seconds = 1;
  return e;
}
ApiError VersionTooLarge(uint64_t rv, uint64_t current) {
  return Timeout(absl::StrCat("Too large resource version: ", rv, ", current: ", current));
}
ApiError Expired(std::string_view message) {
  return Plain(410, "Expired", message);
}
ApiError Gone(std::string_view message) {
  return Plain(410, "Gone", message);
}

std::string DeletedStatus(GroupResource r, std::string_view name, std::string_view uid) {
  JsonWriter j;
  j.Object().Member("kind", "Status").Member("apiVersion", "v1").Key("metadata").Object().End();
  j.Member("status", "Success").Key("details").Object().Member("name", name).MemberUnlessEmpty("group", r.group);
  return j.Member("kind", r.resource).MemberUnlessEmpty("uid", uid).End().End().Finish();
}

}  // namespace berth::apiserver
