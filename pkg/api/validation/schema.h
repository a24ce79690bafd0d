// What the types of a release's API look like: members in the order in which the server writes them, their types, what
// is written when they are empty, and how a strategic merge patch treats their lists.
//
// A request's body is decoded against its type: unknown members are dropped, null is absent, quantities and times get
// their canonical form, a wrong type is an error in the words of 1.10's JSON decoder. What was decoded is written back
// by the same table, so an object always has one form. The table itself is schema_types.cc.
//
// Built once, immutable, thread-safe.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/validation/release.h"
#include "pkg/api/validation/value.h"

namespace berth::validation {

struct TypeDef;

struct FieldDef {
  enum class Kind : uint8_t {
    kString,
    kBool,
    kInt32,
    kInt64,
    kQuantity,
    kTime,
    kMicroTime,
    kIntOrString,
    kStruct,
    kAny
  };
  enum class Shape : uint8_t { kOne, kList, kMap };

  std::string name;     // as in JSON
  std::string go_name;  // as in error texts
  Kind kind = Kind::kString;
  Shape shape = Shape::kOne;
  bool pointer = false;           // absent and zero differ
  bool always = false;            // written even when empty (no omitempty in Go)
  const TypeDef* type = nullptr;  // of kStruct
  int number = 0;                 // in protobuf
  std::optional<Release> only;    // the release that has the member; none: both have it

  // Strategic merge: the member that identifies a list's elements, or "" for a list that is replaced.
  std::string merge_key;
  bool merge_primitives = false;  // a list of strings that is merged as a set
  bool retain_keys = false;       // $retainKeys
};

struct TypeDef {
  std::string name;
  std::vector<FieldDef> fields;
  bool proto = false;  // the numbers of its members are known
  const FieldDef* Find(std::string_view member) const;
};

// The type of this name ("Pod", "ObjectMeta") in the release; the program ends when there is none.
const TypeDef& TypeOf(std::string_view name, Release release);

// Decodes `in` (parsed from `source`, which error texts quote) as a `type` of API version `version` ("v1beta1").
// The result holds only members of the type, in any order, empty ones possibly left out.
absl::StatusOr<Value> Decode(const Value& in, const TypeDef& type, std::string_view version, std::string_view source);

// Writes a decoded value: members in the type's order, empty ones left out where Go leaves them out.
// With `skip_type_meta` kind and apiVersion are not written.
void Encode(const Value& v, const TypeDef& type, std::string* out);

// The canonical text of a quantity; the error is 1.10's.
absl::StatusOr<std::string> CanonicalQuantity(std::string_view text);

// A Go struct's JSON without field tags, as 1.10 prints a spec in one error text: all fields, capitalised, null when
// absent.
std::string GoDump(const Value* v, const TypeDef& type);

}  // namespace berth::validation
