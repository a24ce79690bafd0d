// Decodes scalars, metadata and selectors, which all kinds consist of.
#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/time/time.h>
#include <glog/logging.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "pkg/api/decode.h"
#include "pkg/api/decode_internal.h"
#include "pkg/api/validation/value.h"
#include "pkg/util/status.h"

namespace berth::api::internal {
namespace {

// Parses "2018-03-26T16:41:58Z", by far the most common form; returns false for all others.
bool ParsePlainTime(std::string_view s, int64_t* seconds) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00Z";
  if (s.size() != kForm.size()) return false;
  for (size_t i = 0; i < s.size(); ++i) {
    bool digit = s[i] >= '0' && s[i] <= '9';
    if (kForm[i] == '0' ? !digit : s[i] != kForm[i]) return false;
  }
  auto number = [&](size_t at, size_t n) {
    int v = 0;
    for (size_t i = at; i < at + n; ++i) v = v * 10 + (s[i] - '0');
    return v;
  };
  std::chrono::year_month_day day{std::chrono::year(number(0, 4)), std::chrono::month(number(5, 2)),
                                  std::chrono::day(number(8, 2))};
  int hour = number(11, 2), minute = number(14, 2), second = number(17, 2);
  if (!day.ok() || hour > 23 || minute > 59 || second > 59) return false;
  int64_t days = std::chrono::sys_days(day).time_since_epoch().count();
  *seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
  return true;
}

std::optional<Operator> SetOperator(std::string_view op) {
  if (op == "In") return Operator::kIn;
  if (op == "NotIn") return Operator::kNotIn;
  if (op == "Exists") return Operator::kExists;
  if (op == "DoesNotExist") return Operator::kDoesNotExist;
  return std::nullopt;
}

std::optional<Operator> NodeOperator(std::string_view op) {
  if (op == "Gt") return Operator::kGreaterThan;
  if (op == "Lt") return Operator::kLessThan;
  return SetOperator(op);
}

// Returns the single problem, or all of them in brackets, as release 1.29 prints a list of errors.
std::string Aggregated(const std::vector<std::string>& problems) {
  if (problems.size() == 1) return problems[0];
  return problems.empty() ? "" : absl::StrCat("[", absl::StrJoin(problems, ", "), "]");
}

// Returns the error of a field whose value is not one of the supported ones.
std::string NotSupported(std::string_view path, std::string_view value) {
  return absl::StrCat(util::ToAbsl(path), ": Unsupported value: ", GoQuoted(value));
}

// Collects requirements until the first invalid one, whose text becomes the selector's error. The texts of its
// symbols stay for good.
struct Deciding {
  std::vector<Requirement> requirements;
  std::string error, aggregated_error;

  void Add(Symbol key, Operator op, std::span<const Symbol> values) {
    if (!error.empty()) return;
    absl::StatusOr<Requirement> made = Requirement::Make(key, op, values);
    if (made.ok()) {
      requirements.push_back(*std::move(made));
    } else {
      error = util::Message(made.status());
      aggregated_error = Aggregated(Requirement::Problems({}, key.str(), op, values));
    }
  }
  void Add(const RawRequirement& e, std::optional<Operator> op, std::string_view what) {
    if (!error.empty()) return;
    if (op) {
      Add(e.key, *op, e.values);
    } else {
      error = absl::StrCat(GoQuoted(e.op), " is not a valid ", util::ToAbsl(what), " selector operator");
      aggregated_error = absl::StrCat(GoQuoted(e.op), " is not a valid label selector operator");
    }
  }
  DecidedSelector Decide() && {
    DecidedSelector d;
    d.error = std::move(error);
    d.aggregated_error = std::move(aggregated_error);
    if (d.ok()) d.selector = Selector(std::move(requirements));
    return d;
  }
};

// Adds the i-th entry of matchFields to the term. Release 1.29 accepts In and NotIn with one value.
void AddField(size_t i, const RawRequirement& e, NodeSelectorTerm* out) {
  std::string path = absl::StrCat("matchFields[", i, "]");
  if (e.op != "In" && e.op != "NotIn") {
    out->problems.push_back(NotSupported(path + ".operator", e.op));
  } else if (e.values.size() != 1) {
    std::string shown =
        absl::StrJoin(e.values, ", ", [](std::string* text, Symbol v) { absl::StrAppend(text, GoQuoted(v.str())); });
    out->problems.push_back(absl::StrCat(path, ".values: Invalid value: []string{", shown, "}: must have one element"));
  }
  out->fields.push_back({e.key, e.op, e.values});
}

}  // namespace

std::string Path::String() const {
  std::vector<const Path*> frames;
  for (const Path* p = this; p != nullptr; p = p->up) frames.push_back(p);
  std::string out;
  for (auto it = frames.rbegin(); it != frames.rend(); ++it) {
    if ((*it)->index >= 0) {
      absl::StrAppend(&out, "[", (*it)->index, "]");
    } else if (!(*it)->key.empty()) {
      if (!out.empty()) out += '.';
      out.append((*it)->key);
    }
  }
  return out;
}

bool AreSameInAnyCase(std::string_view a, std::string_view b) {
  // Names consist of letters and digits: setting bit 5 makes letters lower case and keeps all other characters distinct
  // enough.
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

void Reader::Fail(const Path& at, Json value, std::string_view what) {
  if (!error_.empty()) return;
  std::string path = at.String();
  error_ = absl::StrCat(path, path.empty() ? "" : ": ", value.Brief(), ": ", util::ToAbsl(what));
  culprit_ = value;
}

absl::Status Reader::Status(std::string_view kind, Json object) const {
  Json meta = object.Find("metadata");
  Json name = meta.Find("name"), ns = meta.Find("namespace");
  std::string full;
  if (ns.IsString() && !ns.Text().empty()) absl::StrAppend(&full, util::ToAbsl(ns.Text()), "/");
  if (name.IsString()) full.append(name.Text());
  if (!full.empty()) full = absl::StrCat(" ", GoQuoted(full));
  return AtValue(absl::InvalidArgumentError(absl::StrCat(util::ToAbsl(kind), full, ": ", error_)),
                 culprit_.IsNull() ? object : culprit_);
}

void Read(Reader& r, const Path& at, Json j, std::string* out) {
  if (r.Expect(at, j, Json::Type::kString, "must be a string")) out->assign(j.Text());
}
void Read(Reader& r, const Path& at, Json j, Text* out) {
  if (r.Expect(at, j, Json::Type::kString, "must be a string")) *out = j.Text();
}
void Read(Reader& r, const Path& at, Json j, Symbol* out) {
  if (r.Expect(at, j, Json::Type::kString, "must be a string")) *out = r.Intern(j.Text());
}
void Read(Reader& r, const Path& at, Json j, util::SharedSymbol* out) {
  if (r.Expect(at, j, Json::Type::kString, "must be a string")) *out = util::SharedSymbol(j.Text());
}
void Read(Reader& r, const Path& at, Json j, bool* out) {
  if (j.IsBool()) {
    *out = j.Bool();
  } else if (!j.IsNull()) {
    r.Fail(at, j, "must be true or false");
  }
}
void Read(Reader& r, const Path& at, Json j, int32_t* out) {
  constexpr int64_t kMin = std::numeric_limits<int32_t>::min(), kMax = std::numeric_limits<int32_t>::max();
  if (j.IsInt() && j.Int() >= kMin && j.Int() <= kMax) {
    *out = static_cast<int32_t>(j.Int());
  } else if (!j.IsNull()) {
    r.Fail(at, j, "must be an integer of 32 bits");
  }
}
void Read(Reader& r, const Path& at, Json j, int64_t* out) {
  if (r.Expect(at, j, Json::Type::kInt, "must be an integer of 64 bits")) *out = j.Int();
}
void Read(Reader& r, const Path& at, Json j, Quantity* out) {
  if (j.IsNull()) return;
  if (!j.IsString() && !j.IsNumber()) return r.Fail(at, j, "must be a quantity, such as \"500m\" or 2");
  absl::StatusOr<Quantity> q = Quantity::Parse(j.Text());
  if (!q.ok()) return r.Fail(at, j, util::FromAbsl(q.status().message()));
  *out = *q;
}

void Read(Reader& r, const Path& at, Json j, Labels* out) {
  if (!r.Expect(at, j, Json::Type::kObject, "must be an object of strings")) return;
  std::vector<std::pair<Symbol, Symbol>> pairs;
  pairs.reserve(j.size());
  for (auto [key, value] : j.Children()) {
    pairs.emplace_back(r.Intern(key), Symbol());
    Read(r, Path{&at, key, -1}, value, &pairs.back().second);
  }
  *out = Labels(std::move(pairs));
}

void Read(Reader& r, const Path& at, Json j, ResourceList* out) {
  if (!r.Expect(at, j, Json::Type::kObject, "must be an object of quantities")) return;
  static const Symbol kCpu("cpu");
  constexpr size_t kFew = 16;
  absl::flat_hash_map<Symbol, size_t> places;  // in *out, if it is long
  const auto find = [&](Symbol name) {
    if (out->size() <= kFew) {
      return std::find_if(out->begin(), out->end(), [&](const auto& entry) { return entry.first == name; });
    }
    for (size_t i = places.size(); i < out->size(); ++i) places.emplace((*out)[i].first, i);
    const auto known = places.find(name);
    return known == places.end() ? out->end() : out->begin() + static_cast<ptrdiff_t>(known->second);
  };
  out->reserve(j.size());
  for (auto [key, value] : j.Children()) {
    Path p{&at, key, -1};
    const Symbol name = r.Intern(key);
    Quantity q;
    Read(r, p, value, &q);
    if (q.SaturatesValue() || (name == kCpu && q.SaturatesMilliValue())) {
      LOG(WARNING) << p.String() << ": " << value.Brief() << " exceeds int64; clamped to its limit";
    }
    if (const auto same = find(name); same == out->end()) {
      out->emplace_back(name, q);
    } else {
      same->second = q;
    }
  }
}

void Read(Reader& r, const Path& at, Json j, Time<int64_t> out) {
  if (j.IsNull() || (j.IsString() && ParsePlainTime(j.Text(), out.seconds))) return;
  absl::Time time;
  std::string error;
  if (!j.IsString() || !absl::ParseTime(absl::RFC3339_full, util::ToAbsl(j.Text()), &time, &error)) {
    return r.Fail(at, j, "must be a time, such as \"2018-03-26T16:41:58Z\"");
  }
  *out.seconds = absl::ToUnixSeconds(time);
}
void Read(Reader& r, const Path& at, Json j, Time<OptionalTime> out) {
  if (j.IsNull()) return;
  int64_t seconds = 0;
  Read(r, at, j, Time(&seconds));
  *out.seconds = seconds;
}

void Read(Reader& r, const Path& at, Json j, IsWord out) {
  if (r.Expect(at, j, Json::Type::kString, "must be a string")) *out.out = j.Text() == out.word;
}

void Read(Reader& r, const Path& at, Json j, ObjectMeta* out) {
  r.Members(at, j, Member("name", &out->name), Member("namespace", &out->ns), Member("uid", &out->uid),
            Member("resourceVersion", &out->resource_version),
            Member("creationTimestamp", Time(&out->creation_seconds)),
            Member("deletionTimestamp", Time(&out->deletion_seconds)), Member("generation", [&](const Path&, Json v) {
              if (v.IsInt()) out->generation = v.Int();
            }));
}

void Read(Reader& r, const Path& at, Json j, OwnerReference* out) {
  r.Members(at, j, Member("apiVersion", &out->api_version), Member("kind", &out->kind), Member("name", &out->name),
            Member("uid", &out->uid), Member("controller", &out->controller));
}

void Read(Reader& r, const Path& at, Json j, ControllerOf out) {
  r.Elements(at, j, [&](const Path& p, Json e) {
    OwnerReference owner;
    Read(r, p, e, &owner);
    if (owner.controller && !out.out->has_value()) *out.out = std::move(owner);
  });
}

static void Read(Reader& r, const Path& at, Json j, RawRequirement* out) {
  r.Members(at, j, Member("key", &out->key), Member("operator", &out->op), Member("values", &out->values));
}

void Read(Reader& r, const Path& at, Json j, DecidedSelector* out) {
  *out = {};
  if (j.IsNull()) return;
  Deciding deciding;
  Labels labels;
  std::vector<RawRequirement> expressions;
  r.Members(at, j, Member("matchLabels", &labels),
            Member("matchExpressions", [&](const Path& p, Json v) { Append(r, p, v, &expressions); }));
  for (const auto& [key, value] : labels) deciding.Add(key, Operator::kEquals, std::span(&value, 1));
  for (const RawRequirement& e : expressions) deciding.Add(e, SetOperator(e.op), "pod");
  *out = std::move(deciding).Decide();
}

void Read(Reader& r, const Path& at, Json j, NodeSelectorTerm* out) {
  std::vector<RawRequirement> expressions, fields;
  r.Members(at, j, Member("matchExpressions", &expressions), Member("matchFields", &fields));
  *out = MakeNodeSelectorTerm(expressions, fields);
}

void DefaultNamespace(ObjectMeta* meta) {
  static const Symbol kDefault("default");
  if (meta->ns.empty()) meta->ns = kDefault;
}

std::string FieldsToKeep(std::string_view kind, Json object, const ObjectMeta& meta, const FillIn& fill_in) {
  std::string text = CutToSchedulingFields(kind, object);
  const Json named = object.Find("metadata");
  const bool lacks_namespace = !meta.ns.empty() && named.Find("namespace").Text() != meta.ns.str();
  const bool lacks_uid = !meta.uid.empty() && named.Find("uid").Text() != meta.uid;
  if (!lacks_namespace && !lacks_uid && fill_in == nullptr) return text;
  auto fields = validation::ParseJson(text);
  if (!fields.ok()) return text;
  validation::Value& metadata = fields->Child("metadata");
  if (lacks_namespace) metadata.Set("namespace", validation::Value::String(meta.ns.str()));
  if (lacks_uid) metadata.Set("uid", validation::Value::String(meta.uid));
  if (fill_in != nullptr) fill_in(&*fields);
  return validation::ToJson(*fields);
}

std::string MadeUpUid(std::string_view kind, const ObjectMeta& meta) {
  return absl::StrCat("made-up-", util::ToAbsl(kind), "-", meta.Key());
}

}  // namespace berth::api::internal

namespace berth::api {

NodeSelectorTerm MakeNodeSelectorTerm(const std::vector<RawRequirement>& expressions,
                                      const std::vector<RawRequirement>& fields) {
  NodeSelectorTerm out;
  for (size_t i = 0; i < expressions.size(); ++i) {
    const RawRequirement& e = expressions[i];
    std::string path = absl::StrCat("matchExpressions[", i, "]");
    std::optional<Operator> op = internal::NodeOperator(e.op);
    if (!op) {
      out.problems.push_back(internal::NotSupported(path + ".operator", e.op));
      continue;
    }
    for (std::string& p : Requirement::Problems(path, e.key.str(), *op, e.values)) out.problems.push_back(std::move(p));
  }
  for (size_t i = 0; i < fields.size(); ++i) internal::AddField(i, fields[i], &out);
  out.has_expressions = !expressions.empty();
  if (expressions.empty()) return out;
  internal::Deciding deciding;
  for (const RawRequirement& e : expressions) deciding.Add(e, internal::NodeOperator(e.op), "node");
  out.match = std::move(deciding).Decide();
  return out;
}

absl::StatusOr<ObjectMeta> DecodeMeta(Json object) {
  internal::Reader r;
  ObjectMeta meta;
  r.Members({}, object, internal::Member("metadata", &meta));
  if (!r.ok()) {
    Json kind = object.Find("kind");
    return r.Status(kind.IsString() && !kind.Text().empty() ? kind.Text() : "object", object);
  }
  return meta;
}

DecidedSelector DecideLabelSelector(Json j) {
  internal::Reader r(nullptr);
  DecidedSelector d;
  internal::Read(r, {}, j, &d);
  // A value of the wrong type becomes the selector's error.
  if (!r.ok()) d.error = r.error();
  return d;
}

}  // namespace berth::api
