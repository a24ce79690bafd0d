// An error in a configuration.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace berth::scheduler::configuration {

// What comes before mistakes in the fields of a document, and the same until 1.22.
inline constexpr std::string_view kStrictPrefix = "strict decoding error: ";
inline constexpr std::string_view kOlderStrictPrefix = "strict decoder error for the document: ";

struct Problem {
  enum class Kind {
    kStrict,      // an unknown or duplicate field, such as: unknown field "profiles[0].foo"
    kDecoding,    // a value of the wrong type, or a wrong kind or version
    kValidation,  // a value that is not allowed
    kProfile,     // found while building a profile; text begins with "initializing profiles: "
  };
  Kind kind = Kind::kValidation;
  std::string path;  // such as "profiles[0].pluginConfig[1].args"; empty for the whole document
  std::string text;  // the text of 1.29, with the path where 1.29 has it
  std::string hint;  // what would be right, if 1.29 does not say it, such as: did you mean "multiPoint"?
  // kStrict: whether an older decoder words it, and whether it is in the args of a plugin, which say the prefix then.
  bool older = false, in_args = false;
};

// Returns the text, followed by the hint if there is one.
std::string ToString(const Problem& p);
// Returns all problems in one line as 1.29 does: a single one as it is, several as "[a, b]". Problems of kind kStrict
// come first and share one kStrictPrefix, or kOlderStrictPrefix where a problem is worded by an older decoder. Hints
// are included.
std::string ErrorText(const std::vector<Problem>& problems);

}  // namespace berth::scheduler::configuration
