// The types of a release's API: their members in the order in which the server writes them, the members' types, what is
// written when they are empty, and how a strategic merge patch treats their lists.
//
// The body of a request is decoded against its type: unknown members are dropped, null counts as absent, quantities and
// times get their canonical form, and a wrong type is an error in the words of 1.10's JSON decoder. What was decoded is
// written back by the same table, so an object always has the same form. The table is in schema_types.cc.
//
// Thread-safety: built once, then immutable and thread-safe.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/validation/behaviour.h"
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
  bool pointer = false;           // absent and zero are different
  bool always = false;            // written even when empty (no omitempty in Go)
  const TypeDef* type = nullptr;  // of kStruct
  int number = 0;                 // in protobuf
  int within = 0;                 // the number of the message there that holds it; 0: the type's own
  release::Span span;             // the releases that have the member
  std::string_view scheduling;    // "s..." as in the table: what scheduling reads of it

  // For strategic merges: the member that identifies a list's elements, or "" for a list that is replaced.
  std::string merge_key;
  bool merge_primitives = false;  // a list of strings that is merged as a set
  bool retain_keys = false;       // $retainKeys
};

struct TypeDef {
  std::string name;
  std::vector<FieldDef> fields;
  bool proto = false;  // its members have protobuf numbers
  const FieldDef* Find(std::string_view member) const;
};

// Returns the type with this name ("Pod", "ObjectMeta") in the release. REQUIRES: it exists.
const TypeDef& TypeOf(std::string_view name, Version release);
// Returns the type with the members that it has in any release.
const TypeDef& TypeOfAllReleases(std::string_view name);

// Returns the kinds of objects that scheduling reads, with the members that they have in any release.
const std::vector<const TypeDef*>& SchedulingTypes();

// Decodes `in` (parsed from `source`, which error texts quote) as a `type` of API version `version` ("v1beta1"). The
// result contains only members of the type, in any order; empty ones may be omitted.
absl::StatusOr<Value> Decode(const Value& in, const TypeDef& type, std::string_view version, std::string_view source);

// Writes a decoded value with members in the type's order; empty ones are omitted where Go omits them.
void Encode(const Value& v, const TypeDef& type, std::string* out);
// Returns whether Encode writes two values alike.
bool EncodeAlike(const Value& a, const Value& b, const TypeDef& type);
// Changes a value into what a parser reads from the text that Encode writes of it, but for positions.
void Normalize(const TypeDef& type, Value* v);

// Returns the canonical text of a quantity. Errors are 1.10's.
absl::StatusOr<std::string> CanonicalQuantity(std::string_view text);

// Returns a value as the JSON of a Go struct without field tags, as 1.10 prints a spec in one error text: all fields,
// capitalised, null when absent.
std::string GoDump(const Value* v, const TypeDef& type);

}  // namespace berth::validation
