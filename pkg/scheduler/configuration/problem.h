// Something that is wrong with a configuration.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace berth::scheduler::configuration {

struct Problem {
  enum class Kind {
    kStrict,      // an unknown or duplicate field: text is `unknown field "profiles[0].foo"`
    kDecoding,    // a value of the wrong type, a wrong kind or version
    kValidation,  // a value that is not allowed
    kProfile,     // found while a profile is built: text begins with "initializing profiles: "
  };
  Kind kind = Kind::kValidation;
  std::string path;  // where it is: "profiles[0].pluginConfig[1].args.resources[0].weight"; empty: the whole document
  std::string text;  // 1.29's text, with the path where 1.29 has it
  std::string hint;  // what would be right, where 1.29 does not say it: `did you mean "multiPoint"?`; may be empty
};

// Returns the text and the hint.
std::string ToString(const Problem& p);
// Returns all of them in one line as 1.29 prints them: one bare, several as "[a, b]", unknown and duplicate fields
// together behind one "strict decoding error: ". Hints are included.
std::string ErrorText(const std::vector<Problem>& problems);

}  // namespace berth::scheduler::configuration
