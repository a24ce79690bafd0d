// Takes the names out of recordings and of files with objects, for bug reports. Each name becomes a number of as many
// digits as all others, and the numbers have the order that the names had, byte by byte: ties go by name, so the
// scheduler decides the same. Keys, values and resources that Kubernetes itself defines are kept, and so are numbers;
// what scheduling does not read is left out.
#pragma once
#include <absl/status/statusor.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/scheduling_fields.h"

namespace berth::recording {

// The map from names to numbers. First every text is shown to it, then Seal, then it answers.
class NameMap final : public api::Renamer {
 public:
  std::string Rename(api::NameClass what, std::string_view name) override;
  // "namespace/name", or a name alone.
  std::string RenameKey(std::string_view key);
  void Seal();
  bool sealed() const { return sealed_; }
  size_t size() const { return names_.size(); }

 private:
  std::string Plain(std::string_view name);
  std::string Image(std::string_view image);
  std::string Text(std::string_view text);
  std::map<std::string, std::string, std::less<>> names_;
  bool sealed_ = false;
};

// The JSON of a Policy with label names, resources, its own names and the addresses of extenders renamed.
std::string AnonymisePolicy(api::Json policy, NameMap* names);

// Writes what stands for the recording in `path` (a folder or a file) to `write`, line by line, each with its line end:
// a file that Replay takes. An error when the scheduler would not decide the same under the new names.
absl::Status AnonymiseRecording(const std::string& path, const std::function<void(std::string_view)>& write);

// The same for objects as JSON or YAML, loose, in Lists or in Scenarios: JSON, one document a line.
absl::Status AnonymiseObjects(std::string_view text, const std::function<void(std::string_view)>& write);

}  // namespace berth::recording
