#include "pkg/lab/annotations.h"

#include <absl/strings/str_cat.h>

#include <optional>

#include "pkg/util/status.h"
#include "pkg/world/workload.h"

namespace berth::lab {
namespace {

// Returns where the metadata stand of the pods that the kind is or makes; nothing: it makes none.
std::optional<std::string_view> PathOfPods(std::string_view kind) {
  if (kind == "Pod") return "";
  if (kind == "CronJob") return "spec.jobTemplate.spec.template.";
  if (world::IsWorkload(kind)) return "spec.template.";
  return std::nullopt;
}

api::Json At(api::Json j, std::string_view path) {
  while (!path.empty()) {
    const size_t dot = path.find('.');
    j = j.Find(path.substr(0, dot));
    path.remove_prefix(dot + 1);
  }
  return j;
}

}  // namespace

absl::Status CheckAnnotations(api::Json object, std::string_view kind, const std::vector<AnnotationCheck>& checks,
                              const std::function<std::string(size_t offset)>& place) {
  if (checks.empty()) return absl::OkStatus();
  const auto path = PathOfPods(kind);
  if (!path) return absl::OkStatus();
  const api::Json annotations = At(object, *path).Find("metadata").Find("annotations");
  if (!annotations.IsObject()) return absl::OkStatus();
  for (const AnnotationCheck& c : checks) {
    const api::Json value = annotations.FindExact(c.name);
    if (value.IsNull()) continue;
    const absl::Status sound =
        value.IsString() ? c.check(value.Text()) : util::InvalidArgument("must be a string, in quotes");
    if (sound.ok()) continue;
    const api::Json meta = object.Find("metadata");
    const std::string_view ns = meta.Find("namespace").Text();
    return util::InvalidArgument(absl::StrCat(
        place(value.begin_offset()), ": ", util::ToAbsl(kind), " \"", util::ToAbsl(ns.empty() ? "default" : ns), "/",
        util::ToAbsl(meta.Find("name").Text()), "\": ", util::ToAbsl(*path), "metadata.annotations[",
        util::ToAbsl(c.name), "]: ", util::Message(sound)));
  }
  return absl::OkStatus();
}

}  // namespace berth::lab
