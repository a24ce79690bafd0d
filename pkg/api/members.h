// How the types of configuration files describe their members: each type has a function VisitFields(v, t) that calls
// v(name, member, what, facts) for each member in turn. `what` is a sentence for readers of a schema, and `facts` may
// be omitted. Decoders, schemas and writers are visitors, so that all of them know the same members. Types without
// VisitFields are values: texts, numbers, durations, lists, optionals, and wrappers such as Base64.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/release/release.h"

namespace berth::api {

// What is stated of a member beside its type.
struct MemberFacts {
  bool required = false;
  std::optional<int64_t> least = {}, most = {};  // of a number
  std::string_view one_of = {};                  // the values that a text may have, between blanks
  std::string_view new_name = {};                // the spelling of later releases, where it is another one
  const release::Span* span = nullptr;           // the releases that know it, if not all do
};

// Bytes that the file contains in base64.
struct Base64 {
  std::string* bytes;
};

// Collects the members of a type, so that those of an object can be read in the order of the document. A row calls
// reader->Value(json, path, &member), or passes the wrapper.
template <typename Reader>
struct MemberTable {
  struct Row {
    std::string_view name;
    MemberFacts facts;
    std::function<void(Json, const std::string&)> read;
  };
  Reader* reader;
  std::vector<Row> rows = {};

  template <typename T>
  void operator()(std::string_view name, T& member, std::string_view /*what*/, const MemberFacts& facts = {}) {
    rows.push_back({name, facts, [r = reader, m = &member](Json j, const std::string& path) { r->Value(j, path, m); }});
  }
  template <typename T>
  requires(!std::is_lvalue_reference_v<T>) void operator()(std::string_view name, T&& wrapper,
                                                           std::string_view /*what*/, const MemberFacts& facts = {}) {
    rows.push_back(
        {name, facts, [r = reader, wrapper](Json j, const std::string& path) { r->Value(j, path, wrapper); }});
  }

  // Returns the names, as errors suggest them.
  std::vector<std::string_view> Names() const {
    std::vector<std::string_view> names;
    for (const Row& row : rows) names.push_back(row.name);
    return names;
  }
};

}  // namespace berth::api
