// Command line flags, parsed as pflag of Kubernetes 1.10 does, with its error texts.
//
//   --name=value, --name value, booleans without a value (which never take the next word), -v=2, -v 2, -v2. "--" ends
//   the flags, '_' and '-' are equal in names, the last value of a repeated flag is used, and names are never
//   completed.
#pragma once
#include <absl/status/status.h>
#include <absl/time/time.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/util/help_text.h"

namespace berth::kube_scheduler {

struct Flag {
  std::string name;    // with dashes
  char shorthand = 0;  // 0: none
  std::string type;    // as --help shows it: "string", "int32"; empty for booleans
  std::string usage;
  std::string section;     // of --help
  std::string deprecated;  // if not empty, printed to stderr when the flag is used, and --help omits the flag
  std::string default_text;
  std::string no_value;  // the value if none is given; empty: a value is required
  std::function<absl::Status(const std::string&)> set;
  std::function<std::string()> text;  // returns the current value
  bool changed = false;
};

// Returns the message about a mistake in the command line, followed by where help is.
std::string WithHelp(std::string_view message);

class FlagSet {
 public:
  // Each adds a flag and returns it for further changes. The variables must outlive the set; their contents are the
  // defaults.
  Flag& String(std::string* v, std::string name, std::string usage);
  Flag& Bool(bool* v, std::string name, std::string usage);
  Flag& Int32(int32_t* v, std::string name, std::string usage);
  Flag& Float32(float* v, std::string name, std::string usage);
  Flag& Duration(absl::Duration* v, std::string name, std::string usage);
  Flag& Custom(std::string name, std::string type, std::string usage, std::string default_text,
               std::function<absl::Status(const std::string&)> set, std::function<std::string()> text);
  const std::deque<Flag>& all() const { return flags_; }
  // Flags that are added after this belong to this section of --help.
  void Section(std::string title) { section_ = std::move(title); }

  // Parses the arguments. Words that are not flags are appended to `rest`. Notices about deprecated flags are printed
  // to stderr. Errors have pflag's texts.
  absl::Status Parse(const std::vector<std::string>& args, std::vector<std::string>* rest);

  const Flag* Find(std::string_view name) const;
  bool Changed(std::string_view name) const;
  // Returns the flags sorted by name.
  std::vector<const Flag*> Sorted() const;
  // Returns the flags by section, as help shows them. `edit` may change an entry, and leaves it out by returning false.
  std::string Usage(const std::function<bool(util::HelpEntry*)>& edit = {}) const;

 private:
  Flag* Lookup(std::string name);
  // Returns ` (did you mean "--config"?)` if the name resembles that of a flag, and otherwise an empty text.
  std::string SuggestionFor(const std::string& name) const;
  Flag* LookupShort(char c);
  Flag& Add(Flag f);
  absl::Status Set(Flag& f, const std::string& value);

  std::deque<Flag> flags_;
  std::string section_;
};

}  // namespace berth::kube_scheduler
