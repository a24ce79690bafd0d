// Errors are those of an invalid object of the group meta.k8s.io, in the words of release 1.29.
#include "pkg/apiserver/rest_options.h"
#include "pkg/util/go_text.h"

#include <absl/strings/str_cat.h>

namespace berth::apiserver {
namespace {

ApiError InvalidOptions(std::string_view kind, FieldError error) {
  return InvalidObject("meta.k8s.io", kind, "", {std::move(error)});
}

}  // namespace

std::variant<WriteOptions, ApiError> ReadWriteOptions(const Query& query, std::string_view kind, Version release) {
  WriteOptions out;
  if (query.Has("dryRun")) {
    std::string_view value = query.Get("dryRun");
    if (value != "All") return InvalidOptions(kind, NotSupported("dryRun", value, {"All"}));
    out.dry_run = true;
  }
  std::string_view fields = query.Get("fieldValidation");
  if (fields == "Strict") {
    out.fields = FieldValidation::kStrict;
  } else if (fields == "Warn" || (fields.empty() && validation::kFieldWarnings.Has(release))) {
    out.fields = FieldValidation::kWarn;
  } else if (!fields.empty() && fields != "Ignore") {
    return InvalidOptions(kind, NotSupported("fieldValidation", fields, {"", "Ignore", "Strict", "Warn"}));
  }
  return out;
}

namespace {

constexpr std::string_view kMatch = "resourceVersionMatch", kNotOlderThan = "NotOlderThan";

// A watch that begins with the objects that exist is a list and a watch in one (WatchList).
std::optional<ApiError> ReadWatchOptions(const Query& query, Version release, ListOptions* out) {
  const std::string_view given = query.Get(kMatch);
  FieldErrors errors;
  if (query.Has("sendInitialEvents")) {
    const std::string_view value = query.Get("sendInitialEvents");
    out->initial_events = value == "true" || value == "1";
    if (given != kNotOlderThan) {
      errors.push_back(
          validation::Forbidden(kMatch, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
    }
    if (!validation::kWatchLists.Has(release)) {
      errors.push_back(validation::Forbidden(
          "sendInitialEvents",
          "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"));
    }
  } else if (!given.empty()) {
    errors.push_back(validation::Forbidden(
        kMatch, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  }
  if (!given.empty() && given != kNotOlderThan)
    errors.push_back(NotSupported(kMatch, given, {std::string(kNotOlderThan)}));
  if (!given.empty() && query.Has("continue")) {
    errors.push_back(validation::Forbidden(kMatch, "resourceVersionMatch is forbidden when continue is provided"));
  }
  if (!errors.empty()) return InvalidObject("meta.k8s.io", "ListOptions", "", std::move(errors));
  out->match = given.empty() ? VersionMatch::kUnset : VersionMatch::kNotOlderThan;
  return std::nullopt;
}

}  // namespace

std::optional<ApiError> ReadListOptions(const Query& query, bool watch, Version release, ListOptions* out) {
  *out = {};
  if (watch) return ReadWatchOptions(query, release, out);
  std::string_view given = query.Get(kMatch), version = query.Get("resourceVersion");
  auto refuse = [](FieldError e) { return InvalidOptions("ListOptions", std::move(e)); };
  if (query.Has("sendInitialEvents")) {
    return refuse(validation::Forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  if (given.empty()) return std::nullopt;
  if (version.empty()) {
    return refuse(
        validation::Forbidden(kMatch, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
  }
  if (query.Has("continue")) {
    return refuse(validation::Forbidden(kMatch, "resourceVersionMatch is forbidden when continue is provided"));
  }
  if (given == "Exact") {
    if (version == "0") {
      return refuse(
          validation::Forbidden(kMatch, "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
    }
    out->match = VersionMatch::kExact;
  } else if (given == kNotOlderThan) {
    out->match = VersionMatch::kNotOlderThan;
  } else {
    return refuse(NotSupported(kMatch, given, {"Exact", "NotOlderThan", ""}));
  }
  return std::nullopt;
}

std::variant<RowObject, ApiError> ReadTableOptions(const Query& query, Version release, size_t rows) {
  const std::string_view asked = query.Get("includeObject");
  if (asked.empty() || asked == "Metadata") return RowObject::kMetadata;
  if (asked == "Object") return RowObject::kWhole;
  if (asked == "None") return RowObject::kNone;
  if (validation::kChecksTableOptions.Has(release)) {
    const FieldError wrong =
        validation::Invalid("includeObject", asked, "must be 'Metadata', 'Object', 'None', or empty");
    return BadRequest(absl::StrCat("Unable to convert to Table as requested: ", wrong.Text()));
  }
  if (rows == 0) return RowObject::kMetadata;
  return BadRequest(absl::StrCat("unrecognized includeObject value: ", util::GoQuoted(asked)));
}

std::string_view HowToSpeakJson(std::string_view user_agent) {
  if (user_agent.starts_with("kubectl")) {
    return "this server speaks JSON and YAML, and this command of kubectl knows only protobuf: give what it prints "
           "with "
           "--dry-run=client -o yaml to kubectl apply -f -";
  }
  if (user_agent.starts_with("kube-controller-manager")) {
    return "this server speaks JSON and YAML; set --kube-api-content-type=application/json (kube-controller-manager)";
  }
  return "this server speaks JSON and YAML; set --kube-api-content-type=application/json or, in its "
         "configuration file, clientConnection.contentType: application/json";
}

}  // namespace berth::apiserver
