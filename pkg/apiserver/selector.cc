// Field selectors are compared as texts. Fields that the resource indexes are compared as symbols' texts beside the
// object; other selectable fields are looked up in the object's JSON.
#include "pkg/apiserver/selector.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/util/status.h"

namespace berth::apiserver {
namespace {

// Splits at commas that are not escaped by a backslash.
std::vector<std::string_view> Terms(std::string_view s) {
  std::vector<std::string_view> out;
  size_t begin = 0;
  for (size_t i = 0; i <= s.size(); ++i) {
    if (i < s.size() && s[i] == '\\') {
      ++i;
      continue;
    }
    if (i >= s.size() || s[i] == ',') {
      if (i > s.size()) i = s.size();
      if (i > begin) out.push_back(s.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return out;
}

// Removes escapes: `\,` `\=` `\\` stand for the second character. Other escapes and unescaped '=' or ',' are errors.
bool Unescape(std::string_view s, std::string* out, std::string* why) {
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '\\') {
      if (i + 1 >= s.size() || (s[i + 1] != '\\' && s[i + 1] != ',' && s[i + 1] != '=')) {
        *why = absl::StrCat("invalid field selector: invalid escape sequence: ", std::string(s.substr(i, 2)));
        return false;
      }
      out->push_back(s[++i]);
    } else if (s[i] == '=' || s[i] == ',') {
      *why = absl::StrCat("invalid field selector: unescaped character in value: ", static_cast<int>(s[i]));
      return false;
    } else {
      out->push_back(s[i]);
    }
  }
  return true;
}

// Returns a selectable field that is not indexed, by parsing the object's text.
std::string LookUp(const Object& o, std::string_view path) {
  auto v = ParseJson("{" + o.body());
  if (!v.ok()) return {};
  const Value* at = &*v;
  if (path == "source") path = "source.component";
  while (at != nullptr && !path.empty()) {
    size_t dot = path.find('.');
    at = at->Find(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return at == nullptr ? std::string() : at->text();
}

}  // namespace

std::variant<ObjectSelector, ApiError> ObjectSelector::Parse(const ResourceInfo& r, std::string_view ns,
                                                             std::string_view field_selector,
                                                             std::string_view label_selector) {
  ObjectSelector s(ns);
  if (!label_selector.empty()) {
    util::SymbolKeeper keeper;
    auto labels = api::Selector::Parse(label_selector, &keeper);
    if (!labels.ok()) return BadRequest(util::Message(labels.status()));
    s.labels_ = *std::move(labels);
    s.texts_ = keeper.Take();
  }
  for (std::string_view term : Terms(field_selector)) {
    FieldTerm t;
    size_t at = term.find_first_of("=!");
    if (at == std::string_view::npos || (term[at] == '!' && term.substr(at, 2) != "!=")) {
      std::string all(field_selector), one(term);
      return BadRequest(absl::StrCat("invalid selector: '", all, "'; can't understand '", one, "'"));
    }
    t.path = term.substr(0, at);
    t.equal = term[at] == '=';
    std::string_view value = term.substr(at + 1);
    if (value.starts_with('=')) value.remove_prefix(1);
    std::string why;
    if (!Unescape(value, &t.value, &why)) return BadRequest(why);
    if (r.kind == "Pod" && t.path == "spec.host") t.path = "spec.nodeName";
    auto indexed = std::find(r.indexed_fields.begin(), r.indexed_fields.end(), t.path);
    auto known = std::find(r.selectable_fields.begin(), r.selectable_fields.end(), t.path);
    if (t.path == "metadata.name") {
      t.place = kName;
    } else if (t.path == "metadata.namespace" && r.namespaced) {
      t.place = kNamespace;
    } else if (indexed != r.indexed_fields.end()) {
      t.place = static_cast<int>(indexed - r.indexed_fields.begin());
    } else if (known != r.selectable_fields.end()) {
      t.place = kInText;
    } else {
      return BadRequest("field label not supported: " + t.path);
    }
    s.fields_.push_back(std::move(t));
  }
  return s;
}

void ObjectSelector::RequireName(std::string_view name) {
  fields_.push_back({kName, "metadata.name", true, std::string(name)});
}

bool ObjectSelector::Matches(const Object& o) const {
  if (!ns_.empty() && o.ns != ns_) return false;
  for (const FieldTerm& t : fields_) {
    bool equal;
    switch (t.place) {
      case kName:
        equal = o.name == t.value;
        break;
      case kNamespace:
        equal = o.ns == t.value;
        break;
      case kInText:
        equal = LookUp(o, t.path) == t.value;
        break;
      default:
        equal = o.fields[static_cast<size_t>(t.place)].str() == t.value;
    }
    if (equal != t.equal) return false;
  }
  return labels_.Matches(o.labels);
}

}  // namespace berth::apiserver
