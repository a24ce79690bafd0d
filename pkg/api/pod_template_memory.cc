// The text of a template is that of its parts in the order of the document, each preceded by the sizes of its name and
// its value, so that different parts never make the same text.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "pkg/api/decode.h"
#include "pkg/api/decode_internal.h"

namespace berth::api {
namespace {

using internal::Is;

void AppendPart(std::string_view key, std::string_view value, std::string* out) {
  for (const uint64_t size : {uint64_t{key.size()}, uint64_t{value.size()}}) {
    out->append(reinterpret_cast<const char*>(&size), sizeof size);
  }
  *out += key;
  *out += value;
}

// Appends the parts of a pod that make its template: what DecodePod reads into one. Returns false if it cannot tell.
bool AppendTemplateText(Json pod, std::string* out) {
  if (!pod.IsObject() || pod.CompactSource().empty()) return false;
  for (auto [key, value] : pod.Children()) {
    const bool meta = Is(key, "metadata"), spec = Is(key, "spec");
    if (!meta && !spec) continue;
    if (!value.IsObject()) return false;
    for (auto [inner, part] : value.Children()) {
      const bool counts =
          spec ? !Is(inner, "nodeName") : Is(inner, "labels") || Is(inner, "namespace") || Is(inner, "ownerReferences");
      if (counts) AppendPart(inner, part.CompactSource(), out);
    }
    *out += spec ? 's' : 'm';
  }
  return true;
}

}  // namespace

// Abseil hashes a std::string_view by std::hash, which takes three times as long as its own hash.
internal::TextDigest internal::DigestOf(std::string_view text) {
  const absl::string_view hashed(text.data(), text.size());
  return {absl::HashOf(hashed), absl::HashOf(uint64_t{0x9e3779b97f4a7c15}, hashed)};
}

std::shared_ptr<const PodTemplate> PodTemplateMemory::Find(Json pod) {
  text_.clear();
  asked_ = AppendTemplateText(pod, &text_);
  if (!asked_) return nullptr;
  digest_ = internal::DigestOf(text_);
  const auto it = by_digest_.find(digest_);
  auto known = it == by_digest_.end() ? nullptr : it->second.lock();
  if (known != nullptr) ++taken_;
  return known;
}

void PodTemplateMemory::Remember(const std::shared_ptr<const PodTemplate>& made) {
  if (!asked_) return;
  if (by_digest_.size() >= next_sweep_) {
    absl::erase_if(by_digest_, [](const auto& entry) { return entry.second.expired(); });
    next_sweep_ = std::max<size_t>(1024, 2 * by_digest_.size());
  }
  by_digest_[digest_] = made;
}

}  // namespace berth::api
