// Lists the members that a strict decoder names by their Go types (strict_error.h), from the types whose members
// VisitFields describes (members.h).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pkg/api/members.h"
#include "pkg/api/strict_error.h"

namespace berth::api {

// `Types` has, for each type of a kind of document,
//   void Visit(V& v, T& t)                calls VisitFields; only for types that have members
//   std::string_view GoName(const T& t)   returns the name of the type in Go; only for types that a decoder names
template <typename Types>
class GoMemberFinder {
 public:
  explicit GoMemberFinder(const Types& types) : types_(types) {}

  // Adds the members of a type, and of the types of its members.
  template <typename T>
  void Find(T& t) {
    types_.Visit(*this, t);
  }
  // The same for each type of a variant.
  template <typename... Ts>
  void FindInAll(const std::variant<Ts...>&) {
    (FindIfVisited<Ts>(), ...);
  }
  // Returns the members that lead to named types, each name once.
  std::vector<GoMember> Take() { return std::move(found_); }

  // For VisitFields.
  template <typename T>
  void operator()(std::string_view name, T&& member, std::string_view /*what*/, const MemberFacts& /*facts*/ = {}) {
    Value(name, member, /*list=*/false);
  }

 private:
  template <typename T>
  void FindIfVisited() {
    T t;
    if constexpr (requires { types_.Visit(*this, t); }) Find(t);
  }
  template <typename T>
  void Value(std::string_view name, std::optional<T>&, bool list) {
    T t;
    Value(name, t, list);
  }
  template <typename T>
  void Value(std::string_view name, std::vector<T>&, bool /*list*/) {
    T t;
    Value(name, t, /*list=*/true);
  }
  template <typename T>
  void Value(std::string_view name, T& t, bool list) {
    if constexpr (requires { types_.GoName(t); }) Add(name, types_.GoName(t), list);
    if constexpr (requires { types_.Visit(*this, t); }) Find(t);
  }
  // The Go name of a member is its JSON name with a capital letter; the abbreviation TLS is all capitals.
  void Add(std::string_view name, std::string_view type, bool list) {
    for (const GoMember& m : found_) {
      if (m.name == name) return;
    }
    GoMember& m = found_.emplace_back(name, std::string(name), type, list);
    for (size_t i = 0; i < (name.starts_with("tls") ? 3 : 1); ++i) m.go_name[i] -= 'a' - 'A';
  }

  const Types& types_;
  std::vector<GoMember> found_;
};

}  // namespace berth::api
