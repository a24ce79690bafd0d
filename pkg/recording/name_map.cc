// Names are collected in a sorted map. Seal() numbers them in that order, so the numbers sort as the names do.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>

#include "pkg/http/url.h"
#include "pkg/recording/anonymise.h"
#include "pkg/recording/known_words.h"
#include "pkg/util/status.h"

namespace berth::recording {

using api::NameClass;

std::string NameMap::Plain(std::string_view name) {
  if (name.empty()) return "";
  if (!sealed_) {
    names_.try_emplace(std::string(name));
    return "";
  }
  auto it = names_.find(name);
  return it == names_.end() ? "unknown" : it->second;
}

void NameMap::Seal() {
  sealed_ = true;
  const int digits = std::max<int>(4, static_cast<int>(absl::StrCat(names_.size()).size()));
  size_t n = 0;
  // Numbers begin with a letter, because names do and because a numeric label value could have a meaning.
  for (auto& [name, number] : names_) number = absl::StrFormat("x%0*d", digits, ++n);
}

// Renames repository and tag separately, because an image without a tag matches the one tagged "latest".
std::string NameMap::Image(std::string_view image) {
  const size_t slash = image.rfind('/'), colon = image.rfind(':');
  if (colon == std::string_view::npos || (slash != std::string_view::npos && colon < slash)) return Plain(image);
  const std::string_view tag = image.substr(colon + 1);
  return absl::StrCat(Plain(image.substr(0, colon)), ":", tag == "latest" ? "latest" : Plain(tag));
}

// Keeps what makes a resource one of its kind: the prefixes that Kubernetes knows, whether there is a domain, and
// whether the domain is one of Kubernetes. The domain is renamed by itself, because configurations name domains.
std::string NameMap::Resource(std::string_view name) {
  if (IsKnownResource(name)) return std::string(name);
  for (std::string_view prefix : {"hugepages-", "attachable-volumes-csi-", "attachable-volumes-", "requests."}) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = name.substr(prefix.size());
    return absl::StrCat(std::string(prefix), prefix == "attachable-volumes-csi-" ? Drivers(rest) : Plain(rest));
  }
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos) return Plain(name);
  return absl::StrCat(Domain(name.substr(0, slash)), "/", Plain(name.substr(slash + 1)));
}

std::string NameMap::Domain(std::string_view domain) {
  constexpr std::string_view kOurs = "kubernetes.io";
  if (domain.empty() || domain == kOurs) return std::string(domain);
  return absl::StrCat(Plain(domain), domain.ends_with(kOurs) ? ".kubernetes.io" : ".example");
}

std::string NameMap::Drivers(std::string_view list) {
  std::string out;
  for (size_t at = 0; at <= list.size();) {
    const size_t stop = std::min(list.find(',', at), list.size());
    const std::string_view one = list.substr(at, stop - at);
    absl::StrAppend(&out, at == 0 ? "" : ",", IsKnownDriver(one) ? std::string(one) : Plain(one));
    at = stop + 1;
  }
  return out;
}

std::string NameMap::Url(std::string_view url) {
  if (url.empty()) return "";
  // Answers of an extender name it without its password.
  return absl::StrCat("http://", Plain(http::RedactUrl(url)), ".example");
}

std::string NameMap::RenameKey(std::string_view key) {
  const size_t slash = key.find('/');
  if (slash == std::string_view::npos) return Plain(key);
  return absl::StrCat(Plain(key.substr(0, slash)), "/", Plain(key.substr(slash + 1)));
}

std::string NameMap::Rename(NameClass what, std::string_view name) {
  const auto unless = [&](bool known) { return known ? std::string(name) : Plain(name); };
  switch (what) {
    case NameClass::kName:
    case NameClass::kNode:
    case NameClass::kNamespace:
    case NameClass::kUid:
    case NameClass::kText:
      return Plain(name);
    case NameClass::kSchedulerName:
      return unless(name == "default-scheduler");
    case NameClass::kLabelKey:
      return unless(IsKnownKey(name));
    case NameClass::kLabelValue:
      return unless(IsKnownValue(name));
    case NameClass::kWord:
      return unless(IsKnownWord(name) || IsKnownKey(name) || IsAmountOrTime(name));
    case NameClass::kAddress:
      return unless(IsKnownAddress(name));
    case NameClass::kResource:
      return Resource(name);
    case NameClass::kDriver:
      return Drivers(name);
    case NameClass::kImage:
      return Image(name);
  }
  return "";
}

}  // namespace berth::recording
