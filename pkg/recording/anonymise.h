// Removes the names from recordings and files with objects, for bug reports. Each name becomes a number, all with the
// same count of digits, and the numbers have the byte order of the names. Ties are broken by name, so the scheduler
// makes the same decisions. No text is copied unless a table says that Kubernetes defines it (known_words.h) or it is a
// number, an amount or a time; all others are renamed, and what scheduling does not read is left out. Nothing is
// written unless everything could be.
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

// The map from names to numbers. Every text must be passed to it before Seal() is called; after that it returns
// numbers.
class NameMap final : public api::Renamer {
 public:
  std::string Rename(api::NameClass what, std::string_view name) override;
  // Renames "namespace/name", or a name alone.
  std::string RenameKey(std::string_view key);
  // Renames the address of an extender, with or without its password.
  std::string Url(std::string_view url);
  // Renames the domain of resources: "vendor.example".
  std::string Domain(std::string_view domain);
  void Seal();
  bool sealed() const { return sealed_; }
  size_t size() const { return names_.size(); }

 private:
  std::string Plain(std::string_view name);
  std::string Image(std::string_view image);
  std::string Resource(std::string_view name);
  std::string Drivers(std::string_view list);
  std::map<std::string, std::string, std::less<>> names_;
  bool sealed_ = false;
};

// Returns the JSON of a Policy or of a KubeSchedulerConfiguration with all names renamed, and without what does not
// concern decisions (leader election, client connection, addresses, TLS). Member names that neither has are an error,
// except in the arguments of rules of plugin/.
absl::StatusOr<std::string> AnonymiseConfiguration(api::Json document, NameMap* names);

// Anonymises the recording in `path` (a folder or a file) and passes it to `write` line by line, each with its line
// end; the result is a file that Replay accepts. It is an error, and nothing is written, if the scheduler would decide
// differently under the new names.
absl::Status AnonymiseRecording(const std::string& path, const std::function<void(std::string_view)>& write);

// The same for objects as JSON or YAML, alone, in Lists or in Scenarios. The result is JSON, one document per line.
absl::Status AnonymiseObjects(std::string_view text, const std::function<void(std::string_view)>& write);

}  // namespace berth::recording
