// Writes the JSON Schema (draft 7) of types whose members VisitFields describes (members.h).
#pragma once
#include <absl/strings/str_split.h>
#include <absl/time/time.h>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "pkg/api/json_writer.h"
#include "pkg/api/members.h"
#include "pkg/util/status.h"

namespace berth::api {

// The common part of a writer of one kind of document, which derives from it. `Writer` has
//   void Visit(V& v, T& t)                                  calls VisitFields for its types
//   bool Describes(std::string_view name, const MemberFacts&)  returns whether the document has the member
// and, with `using MemberSchema::Value`, a Value for each type of its own. Each Value writes into the braces that its
// caller has opened.
template <typename Writer>
class MemberSchema {
 public:
  explicit MemberSchema(JsonWriter* out) : out_(*out) {}

  // For VisitFields.
  template <typename T>
  void operator()(std::string_view name, T&& member, std::string_view what, const MemberFacts& facts = {}) {
    if (!self().Describes(name, facts)) return;
    for (std::string_view spelling : {name, facts.new_name}) {
      if (spelling.empty()) continue;
      name_ = name;
      facts_ = facts;
      out_.Key(spelling).Object().Member("description", self().Description(what, facts));
      self().Value(member);
      out_.End();
    }
  }

 protected:
  std::string Description(std::string_view what, const MemberFacts&) { return std::string(what); }

  // Writes an object with the members of `t`. If `open`, it may have others.
  template <typename T>
  void Object(T& t, bool open = false) {
    out_.Member("type", "object");
    if (!open) out_.Member("additionalProperties", false);
    RequiredNames required;
    self().Visit(required, t);
    if (!required.names.empty()) out_.Key("required").Texts(required.names);
    out_.Key("properties").Object();
    self().Visit(self(), t);
    out_.End();
  }
  // Writes what begins the schema of a document with this title.
  void Begin(std::string_view title) {
    out_.Object().Member("$schema", "http://json-schema.org/draft-07/schema#").Member("title", title);
  }

  void Value(std::string&) {
    out_.Member("type", "string");
    const std::vector<std::string> values = absl::StrSplit(util::ToAbsl(facts_.one_of), ' ', absl::SkipEmpty());
    if (!values.empty()) out_.Key("enum").Texts(values);
  }
  void Value(bool&) { out_.Member("type", "boolean"); }
  void Value(int32_t&) { Integer(); }
  void Value(int64_t&) { Integer(); }
  void Value(float&) { out_.Member("type", "number"); }
  void Value(absl::Duration&) { Duration(); }
  void Value(Base64&) { out_.Member("type", "string").Member("contentEncoding", "base64"); }
  template <typename T>
  void Value(std::optional<T>&) {
    T t;
    self().Value(t);
  }
  template <typename T>
  void Value(std::vector<T>&) {
    out_.Member("type", "array").Key("items").Object();
    T t;
    self().Value(t);
    out_.End();
  }
  template <typename T>
  requires std::is_class_v<T>
  void Value(T& t) { Object(t); }

  void Integer() {
    out_.Member("type", "integer");
    if (facts_.least) out_.Member("minimum", *facts_.least);
    if (facts_.most) out_.Member("maximum", *facts_.most);
  }
  // Writes a duration as Go writes it.
  void Duration() {
    out_.Member("type", "string").Member("pattern", R"(^[-+]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+$)");
  }

  JsonWriter& out_;
  std::string_view name_;  // of the member whose value is being written
  MemberFacts facts_;      // of it

 private:
  struct RequiredNames {
    std::vector<std::string> names = {};
    template <typename T>
    void operator()(std::string_view name, T&&, std::string_view, const MemberFacts& facts = {}) {
      if (facts.required) names.emplace_back(name);
    }
  };

  Writer& self() { return static_cast<Writer&>(*this); }
};

}  // namespace berth::api
