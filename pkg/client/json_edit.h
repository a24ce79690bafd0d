// Changes one place of a JSON text and leaves every other byte as it is.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

namespace berth::client {

class JsonEdit {
 public:
  // An error when the text is not one JSON object.
  static absl::StatusOr<JsonEdit> New(std::string_view object);

  // Sets the member at the end of `path` to `value` (JSON), making the objects on the way. What is not an object on the
  // way is replaced by one.
  void Set(const std::vector<std::string_view>& path, std::string_view value);
  // Sets it unless it is there already.
  void SetDefault(const std::vector<std::string_view>& path, std::string_view value);
  void Remove(const std::vector<std::string_view>& path);
  // In the array at `path`, replaces the first object whose member `key` is the text `id` by `value`, or adds it.
  void SetInArray(const std::vector<std::string_view>& path, std::string_view key, std::string_view id,
                  std::string_view value);
  // Puts a member at the front of the top object unless it is there.
  void SetFirst(std::string_view key, std::string_view value);
  bool Has(const std::vector<std::string_view>& path) const;

  const std::string& text() const { return text_; }
  std::string Take() { return std::move(text_); }

 private:
  explicit JsonEdit(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

// "text" with quotes, as Go writes it.
std::string JsonString(std::string_view s);

}  // namespace berth::client
