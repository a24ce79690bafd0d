// Reading objects from files and pipes: JSON or YAML, one or many documents, v1 Lists, gzip or plain.
#pragma once
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <string>
#include <string_view>

#include "pkg/api/json.h"

namespace berth::api {

// The whole of a file, or of standard input for "-"; gzip is unpacked. Errors name the file.
absl::StatusOr<std::string> ReadInput(const std::string& path);

// gunzips when the text begins with gzip's magic bytes, else returns it unchanged.
absl::StatusOr<std::string> Gunzip(std::string text);
// Returns the text as a gzip file. Equal texts give equal bytes.
std::string Gzip(std::string_view text);

// Reads JSON values or, when the first character that is not white space is neither '{' nor '[', YAML documents
// (separated by ---, empty ones skipped). YAML scalars become JSON as the kubectl of 1.10 converts them: true/false,
// null/~, integers, floats, and strings for all else.
absl::Status ReadDocuments(std::string_view text, JsonSink& sink);

// One document of either notation, whole.
absl::StatusOr<Document> ReadDocument(std::string_view text);

}  // namespace berth::api
