// Finds problems of an object before it is given to a cluster: what an API server of the release would reject, what it
// would silently drop, and what looks like a mistake. For programs that read manifests without a server.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "pkg/api/validation/resources.h"
#include "pkg/api/validation/value.h"

namespace berth::validation {

struct Problem {
  enum class Kind : uint8_t {
    kRefused,       // the server answers with an error
    kUnknownField,  // no release that is known here has the field: probably a spelling mistake
    kIgnoredField,  // another release has the field; this one drops it
    kSuspicious,    // accepted, but probably a mistake: memory of 512m, requests without an amount
  };
  Kind kind = Kind::kRefused;
  std::string path;     // "spec.containers[0].resources.requests[memory]"; empty when it is about the whole object
  std::string message;  // "Unsupported value: \"in\": supported values: ...", without the path
};

// Returns the problems of `object`, a JSON object with apiVersion and kind, in the order in which they are found: first
// fields that are unknown or of a wrong type; then, if no value has a wrong type, what validation reports about a
// creation. An object of a kind that the catalog does not have has no problems. Takes time linear in the object's size.
std::vector<Problem> CheckObject(const Catalog& catalog, const Value& object);

// Returns the fields of `object` that `type` does not have, and duplicate ones, in the words of fieldValidation=Strict:
// unknown field "spec.nosuch", duplicate field "spec.priority".
std::vector<std::string> StrictErrors(const Value& object, const TypeDef& type);

}  // namespace berth::validation
