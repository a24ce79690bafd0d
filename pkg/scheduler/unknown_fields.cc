#include "pkg/scheduler/unknown_fields.h"

#include <absl/strings/str_join.h>
#include <glog/logging.h>

#include <algorithm>

#include "pkg/scheduler/algorithm/volumes/attached_volumes.h"

namespace berth::scheduler {

// Looks at the profile's rules only when the release alone leaves fields that are not understood, because most pods
// have none.
UnknownPodFields UnknownFields::Of(const api::PodTemplate& t) const {
  if (ignored_) return {};
  UnknownPodFields unknown = FindUnknownPodFields(t, understood_);
  if (unknown.ignored.none() && unknown.blocking.none()) return unknown;
  const auto profile = profiles_->find(t.scheduler_name);
  if (profile == profiles_->end()) return unknown;
  return FindUnknownPodFields(t, understood_ | PodFieldsUnderstoodBy(profile->second->config()));
}

PodFieldSet UnknownFields::BlockingOf(const PendingPod& p) const {
  PodFieldSet blocking = Of(*p.pod->tmpl).blocking;
  constexpr auto kLimits = static_cast<size_t>(PodField::kCsiLimits);
  if (p.claims.empty() || ignored_ || understood_[kLimits]) return blocking;
  if (!volumes::HasLimitedCsiVolumes(*cache_, *p.pod)) return blocking;
  const auto profile = profiles_->find(p.pod->tmpl->scheduler_name);
  blocking[kLimits] = profile == profiles_->end() || !PodFieldsUnderstoodBy(profile->second->config())[kLimits];
  return blocking;
}

void UnknownFields::CountUnknown(const api::Pod& pod) {
  if (pod.tmpl->unknown_fields.empty()) return;
  auto& seen = reported_[pod.tmpl.get()];
  // The address may have belonged to another template before.
  if (!seen.owner_before(pod.tmpl) && !pod.tmpl.owner_before(seen)) return;
  seen = pod.tmpl;
  for (const std::string& field : pod.tmpl->unknown_fields) {
    const bool listed =
        metrics_->unknown_fields.size() < kMostUnknownFields || metrics_->unknown_fields.contains(field);
    ++metrics_->unknown_fields[listed ? field : "others"];
  }
  LineAbout("A pod has fields that are newer than this program. They are ignored", pod)
      .Add("fields", absl::StrJoin(pod.tmpl->unknown_fields, ", "))
      .Warning();
  if (reported_.size() < sweep_at_) return;
  absl::erase_if(reported_, [](const auto& entry) { return entry.second.expired(); });
  sweep_at_ = std::max<size_t>(1024, 2 * reported_.size());
}

void UnknownFields::CountIgnored(const api::PodTemplate& t) {
  const PodFieldSet ignored = Of(t).ignored;
  for (size_t i = 0; i < kPodFields; ++i) {
    if (!ignored[i] || metrics_->ignored_fields[i]++ > 0) continue;
    LOG(WARNING) << "Pods use a field that the emulated release does not understand; it is ignored: "
                 << PodFieldPath(static_cast<PodField>(i));
  }
}

}  // namespace berth::scheduler
