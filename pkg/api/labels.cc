// Selectors are checked with the texts of each release, because releases report the same mistakes differently.
#include "pkg/api/labels.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <charconv>

#include "pkg/util/status.h"

namespace berth::api {
namespace {

// Parses as strconv.ParseInt(text, 10, 64): an optional sign, then digits only.
bool ParseInt64(std::string_view text, int64_t* out) {
  if (!text.empty() && text[0] == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text[0] == '-') return false;
  }
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

absl::Status BadKey(std::string_view key, const std::vector<std::string>& problems) {
  return absl::InvalidArgumentError(
      absl::StrCat("invalid label key ", GoQuoted(key), ": ", absl::StrJoin(problems, "; ")));
}

std::string TextOf(const Requirement& r) {
  std::vector<std::string> values;
  for (Symbol v : r.values) values.push_back(v.string());
  std::sort(values.begin(), values.end());
  std::string joined = absl::StrJoin(values, ",");
  std::string key = r.key.string();
  switch (r.op) {
    case Operator::kIn:
      return key + " in (" + joined + ")";
    case Operator::kNotIn:
      return key + " notin (" + joined + ")";
    case Operator::kExists:
      return key;
    case Operator::kDoesNotExist:
      return "!" + key;
    case Operator::kGreaterThan:
      return key + ">" + joined;
    case Operator::kLessThan:
      return key + "<" + joined;
    case Operator::kEquals:
      return key + "=" + joined;
    case Operator::kNotEquals:
      return key + "!=" + joined;
  }
  return key;
}

}  // namespace

// ---- Labels -------------------------------------------------------------------------------------

Labels::Labels(std::vector<std::pair<Symbol, Symbol>> pairs) : pairs_(std::move(pairs)) {
  auto by_key = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (!std::is_sorted(pairs_.begin(), pairs_.end(), by_key)) std::stable_sort(pairs_.begin(), pairs_.end(), by_key);
  size_t kept = 0;
  for (size_t i = 0; i < pairs_.size(); ++i) {
    if (i + 1 < pairs_.size() && pairs_[i].first == pairs_[i + 1].first) continue;
    pairs_[kept++] = pairs_[i];
  }
  pairs_.resize(kept);
}

std::optional<Symbol> Labels::Get(Symbol key) const {
  if (pairs_.size() <= 8) {
    for (const auto& [k, v] : pairs_) {
      if (k == key) return v;
    }
    return std::nullopt;
  }
  auto it = std::lower_bound(pairs_.begin(), pairs_.end(), key, [](const auto& p, Symbol k) { return p.first < k; });
  if (it == pairs_.end() || it->first != key) return std::nullopt;
  return it->second;
}

// ---- Requirement --------------------------------------------------------------------------------

absl::StatusOr<Requirement> Requirement::Make(Symbol key, Operator op, std::span<const Symbol> values) {
  if (auto problems = QualifiedNameProblems(key.str()); !problems.empty()) return BadKey(key.str(), problems);
  Requirement r;
  r.op = op;
  switch (op) {
    case Operator::kIn:
    case Operator::kNotIn:
      if (values.empty()) {
        return absl::InvalidArgumentError("for 'in', 'notin' operators, values set can't be empty");
      }
      break;
    case Operator::kEquals:
    case Operator::kNotEquals:
      if (values.size() != 1) {
        return absl::InvalidArgumentError("exact-match compatibility requires one single value");
      }
      break;
    case Operator::kExists:
    case Operator::kDoesNotExist:
      if (!values.empty()) {
        return absl::InvalidArgumentError("values set must be empty for exists and does not exist");
      }
      break;
    case Operator::kGreaterThan:
    case Operator::kLessThan:
      if (values.size() != 1) {
        return absl::InvalidArgumentError("for 'Gt', 'Lt' operators, exactly one value is required");
      }
      if (!ParseInt64(values[0].str(), &r.bound)) {
        return absl::InvalidArgumentError("for 'Gt', 'Lt' operators, the value must be an integer");
      }
      break;
  }
  for (Symbol v : values) {
    if (auto problems = LabelValueProblems(v.str()); !problems.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("invalid label value: ", GoQuoted(v.str()), ": ", absl::StrJoin(problems, "; ")));
    }
  }
  r.key = key;
  r.values.assign(values.begin(), values.end());
  std::sort(r.values.begin(), r.values.end());
  r.values.erase(std::unique(r.values.begin(), r.values.end()), r.values.end());
  return r;
}

std::vector<std::string> Requirement::Problems(std::string_view path, std::string_view key, Operator op,
                                               std::span<const Symbol> values) {
  std::vector<std::string> problems;
  std::string values_path = absl::StrCat(util::ToAbsl(path), path.empty() ? "" : ".", "values");
  auto all_values = [&](std::string_view what) {
    std::string shown = values.empty() ? "[]string{}" : "[]string{";
    for (size_t i = 0; i < values.size(); ++i) absl::StrAppend(&shown, i ? ", " : "", GoQuoted(values[i].str()));
    if (!values.empty()) shown += "}";
    problems.push_back(absl::StrCat(values_path, ": Invalid value: ", shown, ": ", util::ToAbsl(what)));
  };
  if (auto wrong = QualifiedNameProblems(key); !wrong.empty()) {
    problems.push_back(absl::StrCat(util::ToAbsl(path), path.empty() ? "" : ".", "key: Invalid value: ", GoQuoted(key),
                                    ": ", absl::StrJoin(wrong, "; ")));
  }
  switch (op) {
    case Operator::kIn:
    case Operator::kNotIn:
      if (values.empty()) all_values("for 'in', 'notin' operators, values set can't be empty");
      break;
    case Operator::kEquals:
    case Operator::kNotEquals:
      if (values.size() != 1) all_values("exact-match compatibility requires one single value");
      break;
    case Operator::kExists:
    case Operator::kDoesNotExist:
      if (!values.empty()) all_values("values set must be empty for exists and does not exist");
      break;
    case Operator::kGreaterThan:
    case Operator::kLessThan:
      if (values.size() != 1) all_values("for 'Gt', 'Lt' operators, exactly one value is required");
      for (size_t i = 0; i < values.size(); ++i) {
        int64_t number = 0;
        if (ParseInt64(values[i].str(), &number)) continue;
        problems.push_back(absl::StrCat(values_path, "[", i, "]: Invalid value: ", GoQuoted(values[i].str()),
                                        ": for 'Gt', 'Lt' operators, the value must be an integer"));
      }
      break;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    auto wrong = LabelValueProblems(values[i].str());
    if (wrong.empty()) continue;
    problems.push_back(absl::StrCat(values_path, "[", i, "][", util::ToAbsl(key),
                                    "]: Invalid value: ", GoQuoted(values[i].str()), ": ", absl::StrJoin(wrong, "; ")));
  }
  return problems;
}

bool Requirement::Matches(const Labels& labels) const {
  const std::optional<Symbol> value = labels.Get(key);
  if (value) return MatchesValue(*value);
  return op == Operator::kDoesNotExist || op == Operator::kNotIn || op == Operator::kNotEquals;
}

bool Requirement::MatchesValue(Symbol value) const {
  switch (op) {
    case Operator::kExists:
      return true;
    case Operator::kDoesNotExist:
      return false;
    case Operator::kIn:
    case Operator::kEquals:
      return values.size() == 1 ? values[0] == value : std::binary_search(values.begin(), values.end(), value);
    case Operator::kNotIn:
    case Operator::kNotEquals:
      return !std::binary_search(values.begin(), values.end(), value);
    case Operator::kGreaterThan:
    case Operator::kLessThan: {
      int64_t number = 0;
      if (!ParseInt64(value.str(), &number)) return false;
      return op == Operator::kGreaterThan ? number > bound : number < bound;
    }
  }
  return false;
}

// ---- Selector -----------------------------------------------------------------------------------

Selector::Selector(std::vector<Requirement> requirements) : requirements_(std::move(requirements)) {
  // Equal selectors get the same order, whatever order they were written in.
  std::stable_sort(requirements_.begin(), requirements_.end(), [](const Requirement& a, const Requirement& b) {
    return std::tie(a.key, a.op, a.values) < std::tie(b.key, b.op, b.values);
  });
}

Selector Selector::Nothing() {
  Selector s;
  s.nothing_ = true;
  return s;
}

Selector Selector::FromMap(const Labels& map) {
  std::vector<Requirement> requirements;
  requirements.reserve(map.size());
  for (const auto& [key, value] : map) {
    requirements.push_back({.key = key, .op = Operator::kEquals, .values = {value}, .bound = 0});
  }
  return Selector(std::move(requirements));
}

Selector Selector::FromMapValidated(const Labels& map) {
  for (const auto& [key, value] : map) {
    if (!QualifiedNameProblems(key.str()).empty() || !LabelValueProblems(value.str()).empty()) return Everything();
  }
  return FromMap(map);
}

std::string Selector::String() const {
  if (nothing_) return "<nothing>";
  std::vector<const Requirement*> sorted;
  for (const Requirement& r : requirements_) sorted.push_back(&r);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Requirement* a, const Requirement* b) { return a->key.str() < b->key.str(); });
  return absl::StrJoin(sorted, ",", [](std::string* out, const Requirement* r) { out->append(TextOf(*r)); });
}

// ---- Names --------------------------------------------------------------------------------------

namespace {

constexpr char kNameRule[] =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr char kValueRule[] =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr char kSubdomainRule[] =
    "a DNS-1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with "
    "an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

std::string TooLong(int most) {
  return absl::StrCat("must be no more than ", most, " characters");
}

bool Lower(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool Alphanumeric(char c) {
  return Lower(c) || (c >= 'A' && c <= 'Z');
}

// Returns whether the text has [A-Za-z0-9] at both ends and [-A-Za-z0-9_.] between, and is not empty.
bool IsName(std::string_view s) {
  return !s.empty() && Alphanumeric(s.front()) && Alphanumeric(s.back()) &&
         std::all_of(s.begin(), s.end(), [](char c) { return Alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool IsSubdomain(std::string_view s) {
  for (;;) {
    size_t dot = s.find('.');
    std::string_view label = s.substr(0, dot);
    if (label.empty() || !Lower(label.front()) || !Lower(label.back()) ||
        !std::all_of(label.begin(), label.end(), [](char c) { return Lower(c) || c == '-'; })) {
      return false;
    }
    if (dot == std::string_view::npos) return true;
    s.remove_prefix(dot + 1);
  }
}

}  // namespace

std::vector<std::string> QualifiedNameProblems(std::string_view name) {
  std::vector<std::string> problems;
  size_t slash = name.find('/');
  if (slash != std::string_view::npos) {
    std::string_view prefix = name.substr(0, slash);
    name.remove_prefix(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      problems.push_back(absl::StrCat("a qualified name ", kNameRule,
                                      " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"));
      return problems;
    }
    if (prefix.empty()) {
      problems.push_back("prefix part must be non-empty");
    } else {
      for (const std::string& p : Dns1123SubdomainProblems(prefix)) problems.push_back("prefix part " + p);
    }
  }
  if (name.empty()) {
    problems.emplace_back("name part must be non-empty");
  } else if (name.size() > 63) {
    problems.push_back(absl::StrCat("name part ", TooLong(63)));
  }
  if (!IsName(name)) problems.push_back(absl::StrCat("name part ", kNameRule));
  return problems;
}

std::vector<std::string> LabelValueProblems(std::string_view value) {
  std::vector<std::string> problems;
  if (value.size() > 63) problems.push_back(TooLong(63));
  if (!value.empty() && !IsName(value)) problems.emplace_back(kValueRule);
  return problems;
}

std::vector<std::string> Dns1123SubdomainProblems(std::string_view name) {
  std::vector<std::string> problems;
  if (name.size() > 253) problems.push_back(TooLong(253));
  if (!IsSubdomain(name)) problems.emplace_back(kSubdomainRule);
  return problems;
}

}  // namespace berth::api
