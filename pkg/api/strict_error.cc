#include "pkg/api/strict_error.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <vector>

#include "pkg/api/json_writer.h"
#include "pkg/util/status.h"

namespace berth::api {
namespace {

using util::ToAbsl;

bool IsSecret(std::string_view key) {
  return absl::EqualsIgnoreCase(ToAbsl(key), "keyData") || absl::EqualsIgnoreCase(ToAbsl(key), "certData");
}

}  // namespace

StrictDocument::StrictDocument(Json value, std::string_view type, std::span<const GoMember> members)
    : value_(value), type_(type), members_(members) {}

void StrictDocument::Write(Json v, const std::string& path, const std::string& chain, JsonWriter* out) {
  if (v.IsObject()) return WriteObject(v, path, chain, out);
  if (!v.IsArray()) return (void)out->Literal(v.Serialize());
  size_t i = 0;
  out->Each(v.Children(),
            [&](const Json::Member& element) { Write(element.value, absl::StrCat(path, "[", i++, "]"), chain, out); });
}

void StrictDocument::WriteObject(Json v, const std::string& path, const std::string& chain, JsonWriter* out) {
  std::vector<Json::Member> sorted;
  for (const Json::Member& m : v.Children()) sorted.push_back(m);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  out->Object();
  for (const Json::Member& m : sorted) {
    const std::string at = path.empty() ? std::string(m.key) : absl::StrCat(path, ".", ToAbsl(m.key));
    out->Key(m.key);
    places_.try_emplace(at, Place{text_.size() - 1, chain});  // before the colon
    if (m.value.IsString() && IsSecret(m.key)) {
      out->Text("-");
    } else {
      Write(m.value, at, ChainOf(m, chain), out);
    }
  }
  out->End();
}

std::string StrictDocument::ChainOf(const Json::Member& m, const std::string& chain) const {
  for (const GoMember& known : members_) {
    if (known.name != m.key) continue;
    return absl::StrCat(chain, known.go_name, ": ", known.list ? absl::StrCat("[]", ToAbsl(known.type), ": ") : "",
                        ToAbsl(known.type), ".");
  }
  return chain;
}

std::string StrictDocument::UnknownMember(std::string_view path) {
  if (text_.empty()) {
    JsonWriter out(&text_);
    Write(value_, "", absl::StrCat(type_, "."), &out);
  }
  const auto known = places_.find(ToAbsl(path));
  const Place place = known == places_.end() ? Place{} : known->second;
  const auto around = [&](size_t bytes) {
    const size_t from = place.head > bytes ? place.head - bytes : 0;
    return text_.substr(from, place.head + bytes - from);
  };
  const std::string_view member = path.substr(path.find_last_of('.') + 1);
  std::string text = absl::StrCat(place.chain, "ReadObject: found unknown field: ", ToAbsl(member));
  if (place.head == 0) return text;
  return absl::StrCat(text, ", error found in #", std::min<size_t>(place.head, 10), " byte of ...|", around(10),
                      "|..., bigger context ...|", around(50), "|...");
}

}  // namespace berth::api
