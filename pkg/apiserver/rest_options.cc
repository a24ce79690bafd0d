// Errors are those of an invalid object of the group meta.k8s.io, in the words of release 1.29.
#include "pkg/apiserver/rest_options.h"

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

std::optional<ApiError> ReadListOptions(const Query& query, bool watch, VersionMatch* match) {
  constexpr std::string_view kMatch = "resourceVersionMatch";
  std::string_view given = query.Get(kMatch), version = query.Get("resourceVersion");
  auto refuse = [](FieldError e) { return InvalidOptions("ListOptions", std::move(e)); };
  if (query.Has("sendInitialEvents")) {
    return refuse(validation::Forbidden(
        "sendInitialEvents",
        watch ? "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
              : "sendInitialEvents is forbidden for list"));
  }
  *match = VersionMatch::kUnset;
  if (given.empty()) return std::nullopt;
  if (watch) {
    return refuse(validation::Forbidden(
        kMatch, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  }
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
    *match = VersionMatch::kExact;
  } else if (given == "NotOlderThan") {
    *match = VersionMatch::kNotOlderThan;
  } else {
    return refuse(NotSupported(kMatch, given, {"Exact", "NotOlderThan", ""}));
  }
  return std::nullopt;
}

}  // namespace berth::apiserver
