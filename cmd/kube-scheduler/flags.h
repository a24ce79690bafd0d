// Command line flags as pflag of Kubernetes 1.10 parses them, with its error texts.
//
//   --name=value, --name value, bare booleans (which never take the next word), -v=2, -v 2, -v2, "--" ends the flags,
//   '_' and '-' are the same in names, a flag given twice takes the last value, nothing is guessed.
#pragma once
#include <absl/status/status.h>
#include <absl/time/time.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::kube_scheduler {

struct Flag {
  std::string name;    // with dashes
  char shorthand = 0;  // 0: none
  std::string type;    // as help shows it: "string", "int32"; empty for booleans
  std::string usage;
  std::string section;     // of --help
  std::string deprecated;  // not empty: said on stderr when the flag is used; the flag is left out of --help
  std::string default_text;
  std::string no_value;  // taken when the flag stands alone; empty: a value is needed
  std::function<absl::Status(const std::string&)> set;
  std::function<std::string()> text;  // the value as it is now
  bool changed = false;
};

class FlagSet {
 public:
  // Each returns the flag, to be refined. The variables outlive the set; what they hold is the default.
  Flag& String(std::string* v, std::string name, std::string usage);
  Flag& Bool(bool* v, std::string name, std::string usage);
  Flag& Int32(int32_t* v, std::string name, std::string usage);
  Flag& Float32(float* v, std::string name, std::string usage);
  Flag& Duration(absl::Duration* v, std::string name, std::string usage);
  Flag& Custom(std::string name, std::string type, std::string usage, std::string default_text,
               std::function<absl::Status(const std::string&)> set, std::function<std::string()> text);
  const std::deque<Flag>& all() const { return flags_; }
  // Flags added from here on belong to this section of the help.
  void Section(std::string title) { section_ = std::move(title); }

  // Sets flags; words that are none go to `rest`. Notices of deprecated flags go to stderr. The error is pflag's text.
  absl::Status Parse(const std::vector<std::string>& args, std::vector<std::string>* rest);

  const Flag* Find(std::string_view name) const;
  bool Changed(std::string_view name) const;
  // Sorted by name.
  std::vector<const Flag*> Sorted() const;
  // The flags as a table, by section, `width` columns wide.
  std::string Usage(size_t width) const;

 private:
  Flag* Lookup(std::string name);
  // Returns ` (did you mean "--config"?)` for a name that is near a flag's, else an empty text.
  std::string SuggestionFor(const std::string& name) const;
  Flag* LookupShort(char c);
  Flag& Add(Flag f);
  absl::Status Set(Flag& f, const std::string& value);

  std::deque<Flag> flags_;
  std::string section_;
};

}  // namespace berth::kube_scheduler
