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

// Writes a document as the decoder reads it, and notes where it finds the member.
class StrictDocument {
 public:
  StrictDocument(std::string_view path, std::span<const GoMember> members) : wanted_(path), members_(members) {}

  // `chain` is what the decoder says before a mistake in this value.
  void Write(Json v, const std::string& path, const std::string& chain) {
    if (v.IsObject()) return Object(v, path, chain);
    if (!v.IsArray()) return absl::StrAppend(&text_, v.Serialize());
    text_ += '[';
    size_t i = 0;
    for (const auto& [key, element] : v.Children()) {
      if (i > 0) text_ += ',';
      Write(element, absl::StrCat(path, "[", i++, "]"), chain);
    }
    text_ += ']';
  }

  // REQUIRES: the document was written.
  std::string Error() const {
    const auto around = [&](size_t bytes) {
      const size_t from = head_ > bytes ? head_ - bytes : 0;
      return text_.substr(from, head_ + bytes - from);
    };
    const std::string_view member = wanted_.substr(wanted_.find_last_of('.') + 1);
    std::string text = absl::StrCat(chain_, "ReadObject: found unknown field: ", ToAbsl(member));
    if (head_ == 0) return text;
    return absl::StrCat(text, ", error found in #", std::min<size_t>(head_, 10), " byte of ...|", around(10),
                        "|..., bigger context ...|", around(50), "|...");
  }

 private:
  void Object(Json v, const std::string& path, const std::string& chain) {
    std::vector<Json::Member> sorted;
    for (const Json::Member& m : v.Children()) sorted.push_back(m);
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    text_ += '{';
    for (size_t i = 0; i < sorted.size(); ++i) {
      const Json::Member& m = sorted[i];
      absl::StrAppend(&text_, i > 0 ? "," : "", JsonString(m.key));
      const std::string at = path.empty() ? std::string(m.key) : absl::StrCat(path, ".", ToAbsl(m.key));
      if (at == wanted_ && head_ == 0) {
        head_ = text_.size();
        chain_ = chain;
      }
      text_ += ':';
      if (m.value.IsString() && IsSecret(m.key)) {
        text_ += "\"-\"";
      } else {
        Write(m.value, at, ChainOf(m, chain));
      }
    }
    text_ += '}';
  }

  std::string ChainOf(const Json::Member& m, const std::string& chain) const {
    for (const GoMember& known : members_) {
      if (known.name != m.key) continue;
      return absl::StrCat(chain, ToAbsl(known.go_name), ": ",
                          known.list ? absl::StrCat("[]", ToAbsl(known.type), ": ") : "", ToAbsl(known.type), ".");
    }
    return chain;
  }

  static bool IsSecret(std::string_view key) {
    return absl::EqualsIgnoreCase(ToAbsl(key), "keyData") || absl::EqualsIgnoreCase(ToAbsl(key), "certData");
  }

  std::string_view wanted_;
  std::span<const GoMember> members_;
  std::string text_, chain_;
  size_t head_ = 0;  // behind the member's name in text_; 0: it was not found
};

}  // namespace

std::string UnknownMemberError(Json document, std::string_view path, std::string_view type,
                               std::span<const GoMember> members) {
  StrictDocument strict(path, members);
  strict.Write(document, "", absl::StrCat(ToAbsl(type), "."));
  return strict.Error();
}

}  // namespace berth::api
