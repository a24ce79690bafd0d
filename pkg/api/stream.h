// Reads objects from files and pipes: JSON or YAML, one or several documents, v1 Lists, compressed by gzip or not.
#pragma once
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <string>
#include <string_view>

#include "pkg/api/json.h"

namespace berth::api {

// Returns the content of a file, or of standard input for "-", uncompressed. Errors name the file.
absl::StatusOr<std::string> ReadInput(const std::string& path);

// Uncompresses the text if it begins with gzip's magic bytes; otherwise returns it unchanged.
absl::StatusOr<std::string> Gunzip(std::string text);
// Returns the text as a gzip file. Equal texts give equal bytes.
std::string Gzip(std::string_view text);

// Reads JSON values or, if the first character other than white space is neither '{' nor '[', YAML documents (separated
// by ---, empty ones skipped). YAML scalars become JSON as in the kubectl of 1.10: true/false, null/~, integers,
// floats, and strings for everything else.
absl::Status ReadDocuments(std::string_view text, JsonSink& sink);

// Reads exactly one document in either notation.
absl::StatusOr<Document> ReadDocument(std::string_view text);

}  // namespace berth::api
