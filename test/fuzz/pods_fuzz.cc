// Pods, one to a line, as a watch brings them: with what was read before, each is what it is by itself.
#include <absl/strings/str_split.h>

#include <string>
#include <vector>

#include "pkg/api/decode.h"
#include "test/fuzz/fuzz.h"

namespace berth::fuzz {
namespace {

absl::StatusOr<api::PodPtr> Decoded(std::string_view text, api::PodTemplateMemory* memory) {
  api::Document d;
  if (auto s = d.Parse(text, memory, api::Unread::kManagedFields); !s.ok()) return s;
  api::DecodeOptions options;
  options.keep_raw = true;
  options.templates = memory;
  const api::Json object = d.root().Find("object");
  return api::DecodePod(object.IsObject() ? object : d.root(), options);
}

bool Same(const api::Pod& a, const api::Pod& b) {
  return a.tmpl == b.tmpl && a.meta.name == b.meta.name && a.meta.ns == b.meta.ns && a.meta.uid == b.meta.uid &&
         a.meta.deletion_seconds == b.meta.deletion_seconds && a.node_name == b.node_name &&
         a.nominated_node_name == b.nominated_node_name && a.phase == b.phase && a.start_seconds == b.start_seconds &&
         a.unread == b.unread && (a.raw == nullptr) == (b.raw == nullptr) && (a.raw == nullptr || *a.raw == *b.raw);
}

void Pods(std::string_view input) {
  api::PodTemplateMemory memory;
  std::vector<api::PodPtr> kept;  // a template is known as long as it is in use
  for (const auto& line : std::vector<std::string>(absl::StrSplit(std::string(input), '\n'))) {
    const auto alone = Decoded(line, nullptr), with = Decoded(line, &memory);
    // A spec that was left unread is read from the text of the object, where errors have other places.
    Require(alone.ok() == with.ok() &&
                (alone.ok() ? Same(**alone, **with) : alone.status().message() == with.status().message()),
            "a pod means something else when its template is known");
    if (alone.ok()) kept.push_back(*alone);
  }
}

[[maybe_unused]] const bool kPodsRegistered = Register({"pods", Pods});

}  // namespace
}  // namespace berth::fuzz
