// The text of a template is that of the metadata's parts that belong to it, in the order of the document, each preceded
// by the sizes of its name and its value, so that different parts never make the same text; and then that of the spec
// without spec.nodeName.
//
// Invariant: what a remembered text means was read once, in a document whose spec had no nodeName but the one that is
// left out of the text. So a document with the same text has no other either, whatever its members are called.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "pkg/api/decode.h"
#include "pkg/api/decode_internal.h"
#include "pkg/api/json_scanner.h"
#include "pkg/api/json_text.h"

namespace berth::api {
namespace {

using internal::Is;
using internal::PlaceOf;

constexpr size_t kNone = std::string_view::npos;

void AppendPart(std::string_view key, std::string_view value, std::string* out) {
  for (const uint64_t size : {uint64_t{key.size()}, uint64_t{value.size()}}) {
    out->append(reinterpret_cast<const char*>(&size), sizeof size);
  }
  *out += key;
  *out += value;
}

// Appends the parts of a pod's metadata that belong to its template. `source` returns the text of a value.
template <typename Source>
bool AppendMetadata(Json pod, Source source, std::string* out) {
  int seen = 0;
  for (auto [key, value] : pod.Children()) {
    if (!Is(key, "metadata")) continue;
    if (!value.IsObject() || ++seen > 1) return false;
    for (auto [inner, part] : value.Children()) {
      const bool counts = Is(inner, "labels") || Is(inner, "namespace") || Is(inner, "ownerReferences");
      if (counts) AppendPart(inner, source(part), out);
    }
  }
  return true;
}

// A member spec.nodeName: its place in the spec, with one comma, and its value.
struct NodeNameMember {
  size_t begin = 0, end = 0;
  std::string_view name;
};

// Returns the only such member of a spec, or nothing if there is none. `*sure` becomes false if it cannot tell.
std::optional<NodeNameMember> FindNodeName(std::string_view spec, bool* sure) {
  constexpr std::string_view kMember = "\"nodeName\":\"";
  const size_t found = PlaceOf(kMember.substr(1), spec);  // quotes are everywhere
  if (found == kNone) return std::nullopt;
  const size_t at = found - 1;
  *sure = at > 0 && spec[at] == '"';
  if (!*sure) return std::nullopt;
  JsonScanner scanner;
  scanner.Scan(spec.substr(0, at));
  const std::string_view rest = spec.substr(at + kMember.size());
  const size_t size = internal::PlainRun(rest);
  *sure = scanner.depth() == 1 && !scanner.in_string() && (spec[at - 1] == '{' || spec[at - 1] == ',') &&
          size + 1 < rest.size() && rest[size] == '"' && (rest[size + 1] == ',' || rest[size + 1] == '}');
  if (!*sure) return std::nullopt;
  NodeNameMember m{at, at + kMember.size() + size + 1, rest.substr(0, size)};
  if (spec[m.end] == ',') {
    ++m.end;
  } else if (spec[at - 1] == ',') {
    --m.begin;
  }
  return m;
}

constexpr std::string_view kTokenVolume = "kube-api-access-";
constexpr size_t kTokenSuffix = 5;

bool IsTokenSuffix(std::string_view text) {
  return text.size() == kTokenSuffix &&
         std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

// Appends a part of a spec, with "?????" instead of the random part of the name of the volume of a token, which
// `suffix` is once it has been seen.
void AppendSpec(std::string_view spec, std::string_view* suffix, std::string* out) {
  constexpr std::string_view kName = "{\"name\":\"", kVolume = "\",\"projected\":{",
                             kMount = "\",\"readOnly\":true,\"mountPath\":\"";
  size_t done = 0;
  for (size_t at = 0; (at = PlaceOf(kTokenVolume, spec, at)) != kNone;) {
    const bool named = spec.substr(0, at).ends_with(kName);
    at += kTokenVolume.size();
    const std::string_view here = spec.substr(at, kTokenSuffix), after = spec.substr(at + here.size());
    const bool volume = after.starts_with(kVolume);
    if (!named || !IsTokenSuffix(here) || !(volume || after.starts_with(kMount))) continue;
    if (suffix->empty() && volume) *suffix = here;
    if (here != *suffix) continue;
    out->append(spec.substr(done, at - done)).append(kTokenSuffix, '?');
    done = at + kTokenSuffix;
  }
  out->append(spec.substr(done));
}

// Returns whether the volumes that AppendSpec may have taken for those of tokens are nothing else.
bool AreTokenVolumes(Json spec) {
  for (auto volume : spec.Find("volumes").Children()) {
    if (volume.value.Find("name").Text().starts_with(kTokenVolume) && volume.value.size() != 2) return false;
  }
  return true;
}

}  // namespace

// Abseil hashes a std::string_view by std::hash, which takes three times as long as its own hash.
internal::TextDigest internal::DigestOf(std::string_view text) {
  const absl::string_view hashed(text.data(), text.size());
  return {absl::HashOf(hashed), absl::HashOf(uint64_t{0x9e3779b97f4a7c15}, hashed)};
}

void PodTemplateMemory::Begin(std::string_view text) {
  document_ = text;
  at_ = kNowhere;
  found_ = {};
  asked_ = false;
}

// Composes the template's text. Returns what is known of it, or null. `source` returns the text of a value of the pod.
template <typename Source>
const PodTemplateMemory::Entry* PodTemplateMemory::Ask(Json pod, std::string_view spec, Source source) {
  text_.clear();
  asked_ = AppendMetadata(pod, source, &text_);
  const std::optional<NodeNameMember> node = asked_ ? FindNodeName(spec, &asked_) : std::nullopt;
  if (!asked_) return nullptr;
  std::string_view token;
  AppendSpec(spec.substr(0, node ? node->begin : spec.size()), &token, &text_);
  if (node) AppendSpec(spec.substr(node->end), &token, &text_);
  node_name_ = node ? node->name : std::string_view();
  digest_ = internal::DigestOf(text_);
  const auto it = by_digest_.find(digest_);
  return it == by_digest_.end() ? nullptr : &it->second;
}

size_t PodTemplateMemory::SizeIfKnown(size_t at, Json around) {
  if (at_ != kNowhere) return 0;
  at_ = at;
  const std::string_view rest = document_.substr(at);
  JsonScanner scanner;
  const size_t size = scanner.Scan(rest);
  if (!scanner.done()) return 0;
  const Entry* const entry = Ask(around, rest.substr(0, size), [this](Json part) { return SourceOf(part); });
  if (entry == nullptr || (found_.tmpl = entry->tmpl.lock()) == nullptr) return 0;
  found_.unread = entry->unread;
  // A status with resources is compared with the spec.
  const bool may_be_resized = PlaceOf("esources\"", rest, size) != kNone;
  // Recordings have the first pod of each template.
  const bool to_be_noted = KeepsSchedulingFields() && TemplateFields(found_.tmpl) == nullptr;
  if (!entry->as_serialized || may_be_resized || to_be_noted) return 0;
  found_.spec_is_unread = true;
  found_.node_name = node_name_;
  ++left_unread_;
  return size;
}

std::string_view PodTemplateMemory::SourceOf(Json value) const {
  return document_.substr(value.begin_offset(), value.end_offset() - value.begin_offset());
}

PodTemplateMemory::Known PodTemplateMemory::Find(Json pod) {
  const bool parsed_with_this = document_.data() != nullptr;
  Json spec;
  bool clear = pod.IsObject();
  for (auto [key, value] : pod.Children()) {
    if (Is(key, "spec")) {
      clear = clear && spec.IsNull() && value.IsObject();
      spec = value;
    } else if (parsed_with_this && Is(key, "metadata")) {
      clear = clear && value.begin_offset() < at_;
    }
  }
  clear = clear && !spec.IsNull();
  if (!parsed_with_this) {
    found_ = {};
    asked_ = false;
    const std::string_view source = clear ? spec.CompactSource() : std::string_view();
    const Entry* const entry =
        source.empty() ? nullptr : Ask(pod, source, [](Json part) { return part.CompactSource(); });
    if (entry != nullptr) {
      found_.tmpl = entry->tmpl.lock();
      found_.unread = entry->unread;
    }
  } else if (!clear || spec.begin_offset() != at_) {
    found_.tmpl = nullptr;
    asked_ = false;
  }
  if (found_.spec_is_unread) found_.text = SourceOf(pod);
  if (found_.tmpl != nullptr) ++taken_;
  document_ = {};
  return std::exchange(found_, {});
}

void PodTemplateMemory::Remember(Json pod, const std::shared_ptr<const PodTemplate>& made, uint64_t unread) {
  if (!asked_) return;
  const Json spec = pod.Find("spec");
  int names = 0;
  for (auto [key, value] : spec.Children()) {
    if (!Is(key, "nodeName")) continue;
    if (key != "nodeName" || value.Text() != node_name_ || ++names > 1) return;
  }
  if ((names == 0) != node_name_.empty() || !AreTokenVolumes(spec)) return;
  if (by_digest_.size() >= next_sweep_) {
    absl::erase_if(by_digest_, [](const auto& entry) { return entry.second.tmpl.expired(); });
    next_sweep_ = std::max<size_t>(1024, 2 * by_digest_.size());
  }
  const std::string_view source = spec.CompactSource();
  by_digest_[digest_] = {made, unread, !source.empty() && internal::IsAsSerialized(source)};
}

}  // namespace berth::api
