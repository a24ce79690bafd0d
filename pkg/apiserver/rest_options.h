// The options that a request has in its query: dryRun and fieldValidation of writes, resourceVersionMatch and
// sendInitialEvents of lists and watches.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "pkg/apiserver/http.h"
#include "pkg/apiserver/status.h"

namespace berth::apiserver {

// What becomes of fields that the server does not know.
enum class FieldValidation : uint8_t { kIgnore, kWarn, kStrict };

struct WriteOptions {
  bool dry_run = false;  // answer, but write nothing
  FieldValidation fields = FieldValidation::kIgnore;
};
// `kind` names the options in the error: CreateOptions, UpdateOptions, PatchOptions, DeleteOptions. Without the
// parameter release 1.29 warns about unknown fields and 1.10 ignores them.
std::variant<WriteOptions, ApiError> ReadWriteOptions(const Query& query, std::string_view kind, Release release);

enum class VersionMatch : uint8_t { kUnset, kExact, kNotOlderThan };
// What is wrong with the options of a list or watch, if anything; `match` is set otherwise.
std::optional<ApiError> ReadListOptions(const Query& query, bool watch, VersionMatch* match);

// What the texts of 406 and 415 say to clients that insist on protobuf.
inline constexpr std::string_view kSpeakJson =
    "this server speaks JSON and YAML; set --kube-api-content-type=application/json (kube-scheduler 1.10) or "
    "clientConnection.contentType: application/json in the configuration file (kube-scheduler 1.29)";

}  // namespace berth::apiserver
