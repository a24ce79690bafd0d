// The options in the query of a request: dryRun and fieldValidation of writes, resourceVersionMatch and
// sendInitialEvents of lists and watches, includeObject of tables.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "pkg/apiserver/http.h"
#include "pkg/apiserver/table.h"
#include "pkg/store/status.h"

namespace berth::apiserver {

// How unknown fields are treated: ignored, reported as a warning, or rejected.
enum class FieldValidation : uint8_t { kIgnore, kWarn, kStrict };

struct WriteOptions {
  bool dry_run = false;  // respond as usual, but write nothing
  FieldValidation fields = FieldValidation::kIgnore;
};
// Reads the options of a write. `kind` names them in errors: CreateOptions, UpdateOptions, PatchOptions, DeleteOptions.
// Without the parameter fieldValidation, release 1.29 warns about unknown fields and 1.10 ignores them.
std::variant<WriteOptions, ApiError> ReadWriteOptions(const Query& query, std::string_view kind, Version release);

enum class VersionMatch : uint8_t { kUnset, kExact, kNotOlderThan };
struct ListOptions {
  VersionMatch match = VersionMatch::kUnset;
  std::optional<bool> initial_events;  // of watches: whether they begin with the objects that exist
};
// Reads the options of a list or watch into `*out`. Returns an error if they are not valid in the release.
std::optional<ApiError> ReadListOptions(const Query& query, bool watch, Version release, ListOptions* out);

// Reads what a Table of so many rows is to contain beside the cells. Older releases look at it row by row, so that it
// is no error where there are none.
std::variant<RowObject, ApiError> ReadTableOptions(const Query& query, Version release, size_t rows);

// Returns the advice in 406 and 415 for a client that insists on protobuf: what this client can do about it.
std::string_view HowToSpeakJson(std::string_view user_agent);

}  // namespace berth::apiserver
