// Names are collected in a sorted map. Seal() numbers them in that order, so the numbers sort as the names do.
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>

#include "pkg/recording/anonymise.h"
#include "pkg/util/status.h"

namespace berth::recording {
namespace {

using api::NameClass;
using util::ToAbsl;

constexpr std::array<std::string_view, 18> kKnownKeys = {"kubernetes.io/hostname",
                                                         "kubernetes.io/arch",
                                                         "kubernetes.io/os",
                                                         "kubernetes.io/metadata.name",
                                                         "beta.kubernetes.io/arch",
                                                         "beta.kubernetes.io/os",
                                                         "beta.kubernetes.io/instance-type",
                                                         "node.kubernetes.io/instance-type",
                                                         "failure-domain.beta.kubernetes.io/zone",
                                                         "failure-domain.beta.kubernetes.io/region",
                                                         "topology.kubernetes.io/zone",
                                                         "topology.kubernetes.io/region",
                                                         "node-role.kubernetes.io/master",
                                                         "node-role.kubernetes.io/control-plane",
                                                         "node-role.kubernetes.io/worker",
                                                         "pod-template-hash",
                                                         "controller-revision-hash",
                                                         "metadata.name"};
// Taints that Kubernetes sets.
constexpr std::string_view kTaintPrefixes[] = {"node.kubernetes.io/", "node.cloudprovider.kubernetes.io/",
                                               "node.alpha.kubernetes.io/"};
constexpr std::array<std::string_view, 7> kKnownValues = {"", "true", "false", "amd64", "arm64", "linux", "windows"};
constexpr std::array<std::string_view, 8> kKnownResources = {
    "cpu",        "memory", "pods", "storage", "ephemeral-storage", "alpha.kubernetes.io/nvidia-gpu", "nvidia.com/gpu",
    "amd.com/gpu"};

template <typename List>
bool Among(const List& list, std::string_view s) {
  return std::find(std::begin(list), std::end(list), s) != std::end(list);
}

bool IsNumber(std::string_view s) {
  int64_t n = 0;
  return absl::SimpleAtoi(ToAbsl(s), &n);
}

bool KnownKey(std::string_view key) {
  return Among(kKnownKeys, key) || std::any_of(std::begin(kTaintPrefixes), std::end(kTaintPrefixes),
                                               [&](auto p) { return absl::StartsWith(ToAbsl(key), ToAbsl(p)); });
}

bool KnownResource(std::string_view name) {
  return Among(kKnownResources, name) || absl::StartsWith(ToAbsl(name), "hugepages-") ||
         absl::StartsWith(ToAbsl(name), "attachable-volumes-");
}

bool InWord(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
         c == '.' || c == '/' || c == ':';
}

}  // namespace

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

// Renames the words of a message that are names, alone or joined by slashes. Dots and colons at the end of a word are
// punctuation. Nothing is collected from messages: only names that occur elsewhere are renamed.
std::string NameMap::Text(std::string_view text) {
  if (!sealed_) return "";
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (!InWord(text[at])) {
      out.push_back(text[at++]);
      continue;
    }
    size_t end = at;
    while (end < text.size() && InWord(text[end])) ++end;
    std::string_view word = text.substr(at, end - at);
    std::string_view mark;
    while (!word.empty() && (word.back() == '.' || word.back() == ':')) {
      mark = text.substr(at + word.size() - 1, end - at - word.size() + 1);
      word.remove_suffix(1);
    }
    at = end;
    if (auto it = names_.find(word); it != names_.end() && !KnownResource(word)) {
      out += word.find('/') != std::string_view::npos ? Rename(NameClass::kResource, word) : it->second;
    } else if (word.find('/') != std::string_view::npos && !KnownResource(word)) {
      for (size_t part = 0; part <= word.size();) {
        const size_t stop = std::min(word.find('/', part), word.size());
        const std::string_view piece = word.substr(part, stop - part);
        auto known = names_.find(piece);
        if (part > 0) out.push_back('/');
        out += known != names_.end() ? known->second : std::string(piece);
        part = stop + 1;
      }
    } else {
      out.append(word);
    }
    out.append(mark);
  }
  return out;
}

std::string NameMap::RenameKey(std::string_view key) {
  const size_t slash = key.find('/');
  if (slash == std::string_view::npos) return Plain(key);
  return absl::StrCat(Plain(key.substr(0, slash)), "/", Plain(key.substr(slash + 1)));
}

std::string NameMap::Rename(NameClass what, std::string_view name) {
  switch (what) {
    case NameClass::kName:
    case NameClass::kNode:
    case NameClass::kNamespace:
    case NameClass::kUid:
      return Plain(name);
    case NameClass::kSchedulerName:
      return name == "default-scheduler" ? std::string(name) : Plain(name);
    case NameClass::kLabelKey:
      return KnownKey(name) ? std::string(name) : Plain(name);
    case NameClass::kLabelValue:
      // Numbers are kept, because Gt and Lt compare them.
      return Among(kKnownValues, name) || IsNumber(name) ? std::string(name) : Plain(name);
    case NameClass::kResource:
      if (KnownResource(name)) return std::string(name);
      return name.find('/') == std::string_view::npos ? Plain(name) : absl::StrCat("anonymous.example/", Plain(name));
    case NameClass::kImage:
      return Image(name);
    case NameClass::kText:
      return Text(name);
  }
  return "";
}

}  // namespace berth::recording
