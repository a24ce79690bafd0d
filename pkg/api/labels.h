// Labels, and the selectors that match them (Kubernetes 1.10: labels, label selectors, node selector terms).
//
// A Selector is validated once, when its object is decoded; matching compares symbols. Thread-safety: immutable and
// thread-safe after construction.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/util/go_text.h"
#include "pkg/util/symbol.h"

namespace berth::api {

using util::Symbol;

// A map of labels, kept sorted by key symbol.
class Labels {
 public:
  Labels() = default;
  explicit Labels(std::vector<std::pair<Symbol, Symbol>> pairs);  // of equal keys the last one is used

  std::optional<Symbol> Get(Symbol key) const;
  bool Has(Symbol key) const { return Get(key).has_value(); }
  bool empty() const { return pairs_.empty(); }
  size_t size() const { return pairs_.size(); }
  auto begin() const { return pairs_.begin(); }
  auto end() const { return pairs_.end(); }
  friend bool operator==(const Labels&, const Labels&) = default;

 private:
  std::vector<std::pair<Symbol, Symbol>> pairs_;
};

enum class Operator : uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGreaterThan, kLessThan, kEquals, kNotEquals };

// One condition on one key. NotIn and NotEquals also match objects without the key.
struct Requirement {
  Symbol key;
  Operator op = Operator::kExists;
  std::vector<Symbol> values;  // sorted
  int64_t bound = 0;           // for Gt and Lt

  // Makes a requirement with the checks and error texts of 1.10's NewRequirement: "invalid label key ...", "for 'in',
  // 'notin' operators, values set can't be empty", ...
  static absl::StatusOr<Requirement> Make(Symbol key, Operator op, std::span<const Symbol> values);
  // Returns all problems of such a requirement, in the words of release 1.29, each with its path under `path`:
  // "matchExpressions[0].values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer". Empty
  // if and only if Make succeeds.
  static std::vector<std::string> Problems(std::string_view path, std::string_view key, Operator op,
                                           std::span<const Symbol> values);
  bool Matches(const Labels& labels) const;
  // Returns what Matches returns for labels in which the key has this value.
  bool MatchesValue(Symbol value) const;
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

// The conjunction of its requirements, or a selector that matches nothing at all.
class Selector {
 public:
  Selector() = default;  // matches everything
  static Selector Everything() { return {}; }
  static Selector Nothing();
  explicit Selector(std::vector<Requirement> requirements);

  // Return a selector for a map of equalities. FromMap accepts every map. With FromMapValidated, a single invalid key
  // or value makes the selector match everything (upstream bug B-35, kept).
  static Selector FromMap(const Labels& map);
  static Selector FromMapValidated(const Labels& map);

  // Parses the textual form of list requests: "a=b,c!=d,e in (f,g),!h,i". Errors are worded as the API server's.
  // `keeper` keeps the texts of the symbols; if it is null, they stay for good.
  static absl::StatusOr<Selector> Parse(std::string_view text, util::SymbolKeeper* keeper = nullptr);

  bool Matches(const Labels& labels) const {
    if (nothing_) return false;
    for (const Requirement& r : requirements_) {
      if (!r.Matches(labels)) return false;
    }
    return true;
  }
  // Returns true only for the selector that matches everything.
  bool Empty() const { return !nothing_ && requirements_.empty(); }
  bool MatchesNothing() const { return nothing_; }
  const std::vector<Requirement>& requirements() const { return requirements_; }
  // Returns the selector for display: "app=web,tier in (a,b)".
  std::string String() const;
  friend bool operator==(const Selector&, const Selector&) = default;

 private:
  std::vector<Requirement> requirements_;
  bool nothing_ = false;
};

// The selector of an object, validated when the object was decoded: either a selector, or the error that using it
// raises.
struct DecidedSelector {
  Selector selector = Selector::Nothing();
  std::string error;             // 1.10's text; empty if the selector is valid
  std::string aggregated_error;  // 1.29's text; empty if the selector is valid
  bool ok() const { return error.empty(); }
  friend bool operator==(const DecidedSelector&, const DecidedSelector&) = default;
};

// Return the problems of a name; empty if it is valid (k8s.io/apimachinery/util/validation, 1.10).
std::vector<std::string> QualifiedNameProblems(std::string_view name);
std::vector<std::string> LabelValueProblems(std::string_view value);
std::vector<std::string> Dns1123SubdomainProblems(std::string_view name);

using util::GoQuoted;

}  // namespace berth::api
