// Changes single places of a JSON text and leaves every other byte as it is.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json_writer.h"

namespace berth::client {

class JsonEdit {
 public:
  // Returns an error unless the text is exactly one JSON object.
  static absl::StatusOr<JsonEdit> New(std::string_view object);

  // Sets the member at `path` to `value`, which is JSON. Missing objects on the path are created, and a value on the
  // path that is not an object is replaced by one.
  void Set(const std::vector<std::string_view>& path, std::string_view value);
  // Like Set, but does nothing if the member exists.
  void SetDefault(const std::vector<std::string_view>& path, std::string_view value);
  void Remove(const std::vector<std::string_view>& path);
  // In the array at `path`, replaces the first object whose member `key` is the string `id` by `value`. If there is
  // none, appends `value`.
  void SetInArray(const std::vector<std::string_view>& path, std::string_view key, std::string_view id,
                  std::string_view value);
  // Inserts a member at the front of the top-level object unless that member exists.
  void SetFirst(std::string_view key, std::string_view value);
  bool Has(const std::vector<std::string_view>& path) const;

  const std::string& text() const { return text_; }
  std::string Take() { return std::move(text_); }

 private:
  explicit JsonEdit(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

using api::JsonString;
using api::JsonText;
using api::JsonWriter;
// Returns a time of the API as JSON: a string, or null if it is empty.
std::string TimeOrNull(std::string_view time);

}  // namespace berth::client
