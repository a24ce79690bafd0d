// The flags of a program: declared as Boost.Program_options declares them, read as pflag of Kubernetes 1.10 reads them,
// with its error texts.
//
//   --name=value, --name value, -v=2, -v 2, -v2, and short flags together: -hv2. A flag that needs no value takes one
//   only behind '='. "--" ends the flags, '_' and '-' are equal in names, and names are never completed.
#pragma once
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <boost/program_options.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/util/contract.h"

namespace berth::flags {

namespace po = boost::program_options;

// What a flag sets, in the place of po::value<T>(): functions read it, so that its errors can be Go's. Such a flag may
// be repeated, and its value may be empty.
class Value : public po::value_semantic {
 public:
  using Set = std::function<absl::Status(const std::string&)>;
  // `type` is what --help shows for a value, and `otherwise` what holds without the flag. `text` returns the value.
  Value(std::string type, std::string otherwise, Set set, std::function<std::string()> text);

  // The value if none is given. Without it, a value is required.
  Value* WithoutValue(std::string value);
  // A notice is printed to standard error when the flag is used. --help and completion omit the flag.
  Value* Deprecated(std::string notice);

  std::string text() const { return text_(); }

  std::string name() const override;
  unsigned min_tokens() const override { return no_value_ ? 0 : 1; }
  unsigned max_tokens() const override { return 1; }
  bool is_composing() const override { return false; }
  bool is_required() const override { return false; }
  void parse(boost::any& store, const std::vector<std::string>& values, bool utf8) const override;
  bool apply_default(boost::any& /*store*/) const override { return false; }
  void notify(const boost::any& /*store*/) const override {}

 private:
  friend class FlagSet;
  std::string type_, otherwise_, deprecated_;
  std::string long_name_, spelled_;  // "v", "-v, --v"
  std::optional<std::string> no_value_;
  Set set_;
  std::function<std::string()> text_;
};

// Returns a value of Boost's, which --help shows as `shown`.
template <typename T = std::string>
po::typed_value<T>* Takes(const std::string& shown) {
  return po::value<T>()->value_name(shown);
}

// Return an error about a flag's value: `--max: invalid value -1: must be 0 or more`. `want` says what would be right.
absl::Status InvalidValue(std::string_view flag, std::string_view value, std::string_view want);
absl::Status InvalidValue(std::string_view flag, int64_t value, std::string_view want);
// Return the choices as a part of a sentence: "a, b or c", and "must be a, b or c" for InvalidValue.
std::string Choices(const std::vector<std::string>& choices);
std::string MustBe(const std::vector<std::string>& choices);
// Returns what ends the message about a mistake in a command line: where its flags are listed. `program` is its name,
// with the command if that has flags of its own: "schedsim run".
std::string HelpHint(std::string_view program);

// A flag as --help shows it, and what reading it needs.
struct Flag {
  std::string name;
  char shorthand = 0;            // 0: none
  std::string value = {};        // what it takes, such as "FILE"; empty: nothing, or "true" and "false"
  std::string purpose = {};      // what it is for
  std::string otherwise = {};    // what holds without the flag; empty: it goes without saying
  std::string section = {};      // of --help
  unsigned least = 1, most = 1;  // how many values it takes
  bool deprecated = false;
  const Value* own = nullptr;  // null: the value is one of Boost's
  std::string want = {};       // of a value of Boost's: "must be a number"

  // Returns whether shells should go on with a value. Values of Boost's are always of use, if there may be one.
  bool TakesValue() const { return own == nullptr ? most > 0 : least > 0; }
  // REQUIRES: the value is not one of Boost's.
  std::string text() const {
    BERTH_REQUIRES(own != nullptr);
    return own->text();
  }
};

class FlagSet {
 public:
  enum class Order { kDeclared, kByName };
  explicit FlagSet(Order order = Order::kDeclared) : order_(order) {}

  // Declares a flag, in the form of Boost: "name" or "name,n", a value, which the set will own, and what it is for.
  FlagSet& operator()(const std::string& names, po::value_semantic* value, const std::string& purpose);
  // Flags that are declared after this belong to this section of --help.
  void Section(std::string title) { section_ = std::move(title); }

  // Returns the flags in the order in which --help has them, or in which they were declared.
  std::vector<const Flag*> Listed() const;
  const std::deque<Flag>& all() const { return flags_; }
  const Flag* Find(std::string_view name) const;

  // Reads the words of a command line. Flags are set in the order of the words, up to a mistake in them, but `first`
  // before the others.
  absl::Status Read(const std::vector<std::string>& words, std::string_view first = {});
  const po::variables_map& values() const { return values_; }
  // Returns whether the command line has the flag.
  bool Changed(std::string_view name) const;
  // Returns flags with their values, in the order of the command line.
  const std::vector<std::pair<std::string, std::string>>& given() const { return given_; }
  // Returns the words that are no flags.
  const std::vector<std::string>& words() const { return words_; }

  // Returns the flags by section, as --help shows them. `edit` may change one, or leave it out by returning false.
  std::string Help(const std::function<bool(Flag*)>& edit = {}) const;

 private:
  absl::Status Split(const std::vector<std::string>& words, std::vector<po::option>* out);
  absl::StatusOr<const Flag*> Named(std::string name) const;
  absl::Status NotConverted(const std::string& name) const;

  const Order order_;
  std::string section_ = "Flags";
  std::deque<Flag> flags_;
  po::options_description options_;
  po::variables_map values_;
  std::vector<std::pair<std::string, std::string>> given_;
  std::vector<std::string> words_;
};

}  // namespace berth::flags
