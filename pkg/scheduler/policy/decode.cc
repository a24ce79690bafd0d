#include "pkg/scheduler/policy/decode.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <optional>
#include <set>
#include <type_traits>

#include "pkg/api/go_members.h"
#include "pkg/api/line_column.h"
#include "pkg/api/stream.h"
#include "pkg/api/strict_error.h"
#include "pkg/release/history.h"
#include "pkg/scheduler/policy/fields.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"
#include "pkg/util/suggest.h"

namespace berth::scheduler {

using api::Json;

namespace policy {
namespace {

// For the words of the strict decoder.
struct TypesOfPolicy {
  template <typename V, typename T>
  requires requires(V& v, T& t) { VisitFields(v, t); }
  void Visit(V& v, T& t) const { VisitFields(v, t); }
  template <typename T>
  requires requires(const T& t) { GoTypeOf(t); }
  std::string_view GoName(const T& t) const { return GoTypeOf(t); }
};
const std::vector<api::GoMember>& GoMembers() {
  static const auto& members = *[] {
    const TypesOfPolicy types;
    api::GoMemberFinder finder(types);
    Policy policy;
    Document document{.policy = &policy};
    finder.Find(document);
    return new std::vector<api::GoMember>(finder.Take());
  }();
  return members;
}

// Replaces a name or a host that could not be read.
constexpr char kUnread[] = "unread.invalid";

// Reads one Policy and collects all errors and warnings. Members are matched regardless of their letter case, as Go's
// decoder for JSON does, unless the release is strict; new spellings matter for warnings only.
//
// An error must neither cause others nor hide others. So a value that could not be read is replaced by one that later
// checks accept, and an entry without a readable name keeps an empty one, so that later checks skip it.
class Reader {
 public:
  Reader(std::string_view text, release::Version release, std::vector<std::string>* warnings)
      : has_text_(!text.empty()), places_(text), release_(release), warnings_(warnings) {}

  void Read(Json j, Policy* out) {
    strict_.emplace(j, "v1.Policy", GoMembers());
    Document document{.policy = out};
    if (j.IsObject()) {
      Members(j, "", &document);
    } else {
      Fail(j, "", "a Policy is a JSON object");
    }
    const std::string kind = document.kind.empty() ? "Policy" : document.kind;
    const std::string version = document.api_version.empty() ? "v1" : document.api_version;
    if (kind != "Policy" || version != "v1") {
      errors_.push_back(absl::StrCat("no kind \"", kind, "\" is registered for version \"", version, "\""));
    }
  }

  const std::vector<std::string>& errors() const { return errors_; }

 private:
  using Table = api::MemberTable<Reader>;
  friend Table;

  // Returns "line N, column N: " for the value, or an empty text if the text of the document is not known.
  std::string Where(Json v) { return has_text_ ? absl::StrCat(places_.At(v.begin_offset()), ": ") : ""; }
  // Adds an error and returns false, so that callers can return its result.
  bool Fail(Json v, const std::string& path, std::string_view right) {
    errors_.push_back(absl::StrCat(Where(v), path, path.empty() ? "" : ": ", v.Brief(), ": ", util::ToAbsl(right)));
    return false;
  }
  void Warn(Json v, std::string text) {
    if (warnings_ != nullptr) warnings_->push_back(Where(v) + std::move(text));
  }

  // Returns whether the release knows a member, and warns that it is ignored if it does not.
  bool Knows(Json v, const std::string& path, const release::Span* span) {
    if (span == nullptr || !release_.IsSet() || span->Has(release_)) return true;
    Warn(v, absl::StrCat(path, ": a field of ", release::NameOf(span->since), " or later, ignored"));
    return false;
  }
  // Adds an error of a strict decoder.
  void Refuse(Json v, const std::string& path, const std::string& hint) {
    errors_.push_back(absl::StrCat("strict decoder error for the Policy: ", strict_->UnknownMember(path), " (",
                                   Where(v), path, hint.empty() ? "" : "; ", hint, ")"));
  }

  void RefuseSecond(Json v, const std::string& path, std::string_view key) {
    const std::string where = Where(v);
    errors_.push_back(
        absl::StrCat("strict decoder error for the Policy: error converting YAML to JSON: yaml: unmarshal errors:\n  ",
                     where.empty() ? "" : absl::StrCat(where.substr(0, where.find(',')), ": "), "key ",
                     util::GoQuoted(key), " already set in map (", where, path, ")"));
  }

  // Reads the members of an object. If `open`, unknown members may belong to a plugin and are no mistake.
  template <typename T>
  void Members(Json j, const std::string& path, T* out, bool open = false) {
    if (j.IsNull()) return;
    if (!j.IsObject()) return (void)Fail(j, path, "must be an object");
    Table table{.reader = this};
    VisitFields(table, *out);
    Rows(j, path, table, open);
  }
  void Rows(Json j, const std::string& path, const Table& table, bool open) {
    const bool refuses_twice = release::history::kStrictPolicies.Has(release_), strict = refuses_twice && !lenient_;
    std::set<std::string_view> seen, exact;
    for (auto [key, value] : j.Children()) {
      const Table::Row* row = nullptr;
      for (const Table::Row& r : table.rows) {
        if (strict ? r.name == key : absl::EqualsIgnoreCase(util::ToAbsl(r.name), util::ToAbsl(key))) row = &r;
      }
      const std::string at = path.empty() ? std::string(key) : absl::StrCat(path, ".", util::ToAbsl(key));
      if (row == nullptr && open) continue;
      if (row == nullptr) {
        Unknown(value, at, key, table.Names(), strict);
        continue;
      }
      if (refuses_twice && !exact.insert(key).second) {
        RefuseSecond(value, at, key);
      } else if (!seen.insert(row->name).second) {
        Warn(value, absl::StrCat(at, ": given more than once, the last one counts"));
      }
      const std::string_view new_name = row->facts.new_name;
      if (key != row->name && key != new_name) {
        const std::string_view right = new_name.empty() ? row->name : new_name;
        Warn(value, absl::StrCat(at, ": later releases know this only as \"", util::ToAbsl(right), "\""));
      }
      if (!value.IsNull() && Knows(value, at, row->facts.span)) row->read(value, at);
    }
  }
  void Unknown(Json v, const std::string& path, std::string_view key, const std::vector<std::string_view>& names,
               bool strict) {
    if (strict) return Refuse(v, path, util::DidYouMean(key, names));
    Warn(v, absl::StrCat(path, ": unknown field, ignored", util::SuggestionFor(key, names)));
  }

  // These read a value; those that can be followed by others return whether that was possible.
  bool Value(Json v, const std::string& path, std::string* out) {
    if (!v.IsString()) return Fail(v, path, "must be a string");
    *out = v.Text();
    return true;
  }
  void Value(Json v, const std::string& path, bool* out) {
    if (!v.IsBool()) return (void)Fail(v, path, "must be true or false");
    *out = v.Bool();
  }
  bool Value(Json v, const std::string& path, int64_t* out) {
    if (!v.IsInt()) return Fail(v, path, "must be a whole number, without quotes");
    *out = v.Int();
    return true;
  }
  void Value(Json v, const std::string& path, const Weight& out) {
    if (!Value(v, path, out.value)) *out.value = 1;
  }
  void Value(Json v, const std::string& path, const Url& out) {
    if (!Value(v, path, out.text)) *out.text = absl::StrCat("http://", kUnread);
  }
  void Value(Json v, const std::string& path, const Base64& out) {
    if (!v.IsString()) return (void)Fail(v, path, "must be a string");
    if (!absl::Base64Unescape(util::ToAbsl(v.Text()), out.bytes)) Fail(v, path, "must be base64");
  }
  void Value(Json, const std::string&, const Ignored&) {}

  template <typename T>
  void Value(Json v, const std::string& path, std::optional<T>* out) {
    Value(v, path, &out->emplace());
  }
  template <typename T>
  void Value(Json v, const std::string& path, std::vector<T>* out) {
    out->clear();
    if (!v.IsArray()) {
      return (void)Fail(v, path, std::is_same_v<T, std::string> ? "must be a list of strings" : "must be a list");
    }
    for (auto [key, element] : v.Children()) {
      const std::string at = absl::StrCat(path, "[", out->size(), "]");
      Value(element, at, &out->emplace_back());
    }
  }
  template <typename T>
  requires std::is_class_v<T>
  void Value(Json v, const std::string& path, T* out) { Members(v, path, out); }

  void Value(Json v, const std::string& path, PredicatePolicy::Argument* out) {
    if (Argument(v, path, out)) return;
    out->labels_presence.emplace().labels.push_back(kUnread);
  }
  void Value(Json v, const std::string& path, PriorityPolicy::Argument* out) {
    if (Argument(v, path, out)) return;
    out->label_preference.emplace().label = kUnread;
  }
  // Returns whether the argument could be read; otherwise it is empty.
  template <typename T>
  bool Argument(Json v, const std::string& path, T* out) {
    const size_t before = errors_.size();
    out->json = v.Serialize();
    Members(v, path, out, /*open=*/true);
    if (errors_.size() == before) return true;
    *out = T();
    return false;
  }
  void Value(Json v, const std::string& path, PriorityPolicy::Argument::RequestedToCapacityRatio::Resource* out) {
    Members(v, path, out);
    // As in later releases, a weight of 0 counts as 1.
    if (out->weight == 0) out->weight = 1;
  }

  // A name that could not be read becomes a valid one of an extended resource that is different from all others,
  // because duplicates are errors.
  void Value(Json v, const std::string& path, ExtenderManagedResource* out) {
    Members(v, path, out);
    const Json name = v.Find("name");
    const bool readable = v.IsNull() || (v.IsObject() && (name.IsNull() || name.IsString()));
    if (!readable) out->name = absl::StrCat(kUnread, "/", errors_.size());
  }
  void Value(Json v, const std::string& path, ExtenderTls* out) {
    const size_t before = errors_.size();
    Members(v, path, out);
    if (errors_.size() == before) return;
    // A certificate without its key, or the reverse, would cause another error.
    for (std::string* s : {&out->cert_file, &out->key_file, &out->cert_data, &out->key_data}) s->clear();
  }
  // Extenders have a decoder of their own, which passes unknown members over in every release.
  void Value(Json v, const std::string& path, ExtenderConfig* out) {
    lenient_ = true;
    Members(v, path, out);
    lenient_ = false;
  }

  bool has_text_;
  std::optional<api::StrictDocument> strict_;
  api::LineColumns places_;
  release::Version release_;
  bool lenient_ = false;  // whether unknown members are passed over all the same
  std::vector<std::string>* warnings_;
  std::vector<std::string> errors_;
};

}  // namespace
}  // namespace policy

DecodedPolicy DecodeWholePolicy(std::string_view text, release::Version release) {
  DecodedPolicy out;
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (release::history::kStrictPolicies.Has(release) && first != std::string_view::npos && text[first] != '{') {
    const auto yaml = api::ReadDocument(text);
    if (!yaml.ok()) {
      out.errors.push_back(util::Message(yaml.status()));
      return out;
    }
    policy::Reader reader(text, release, &out.warnings);
    reader.Read(yaml->root(), &out.policy);
    out.errors = reader.errors();
    return out;
  }
  api::Document document;
  if (absl::Status s = document.Parse(text); !s.ok()) {
    out.errors.push_back(util::Message(s));
    return out;
  }
  policy::Reader reader(text, release, &out.warnings);
  reader.Read(document.root(), &out.policy);
  out.errors = reader.errors();
  return out;
}

DecodedPolicy DecodeWholePolicy(Json value, release::Version release) {
  DecodedPolicy out;
  policy::Reader reader({}, release, &out.warnings);
  reader.Read(value, &out.policy);
  out.errors = reader.errors();
  return out;
}

std::string JoinedErrors(const std::vector<std::string>& errors) {
  return errors.size() == 1 ? errors[0] : absl::StrCat("[", absl::StrJoin(errors, ", "), "]");
}

absl::StatusOr<Policy> DecodePolicy(std::string_view text, release::Version release) {
  DecodedPolicy decoded = DecodeWholePolicy(text, release);
  if (!decoded.errors.empty()) return util::InvalidArgument(JoinedErrors(decoded.errors));
  return std::move(decoded.policy);
}

absl::StatusOr<Policy> DecodePolicy(Json value, release::Version release) {
  DecodedPolicy decoded = DecodeWholePolicy(value, release);
  if (!decoded.errors.empty()) return util::InvalidArgument(JoinedErrors(decoded.errors));
  return std::move(decoded.policy);
}

}  // namespace berth::scheduler
