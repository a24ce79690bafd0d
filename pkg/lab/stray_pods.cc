#include "pkg/lab/stray_pods.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <string_view>
#include <variant>

#include "pkg/lab/validate.h"
#include "pkg/util/status.h"

namespace berth::lab {
namespace {

bool IsForOtherScheduler(const api::Pod& pod) {
  const std::string_view scheduler = pod.tmpl->scheduler_name.str();
  return !scheduler.empty() && scheduler != "default-scheduler";
}

}  // namespace

void StrayPods::Note(const api::Pod& pod, api::Json j, LineCounter* lines) {
  const bool stray = !pod.node_name.empty() && !nodes_.contains(util::ToAbsl(pod.node_name.str()));
  if (!stray && !IsForOtherScheduler(pod)) return;
  const api::Json field = j.Find("spec").Find(stray ? "nodeName" : "schedulerName");
  field_places_[&pod] = lines->LineAndColumnAt(field.begin_offset());
}

std::string StrayPods::FieldPlaceOf(const api::PodPtr& pod, const ObjectPlaces& places) const {
  const auto it = field_places_.find(pod.get());
  return it == field_places_.end() ? places.PlaceOf(pod) : it->second;
}

void StrayPods::Report(const Scenario& scenario, const ObjectPlaces& places, Validator* validator) const {
  for (const api::Object& o : scenario.cluster) {
    const auto* pod = std::get_if<api::PodPtr>(&o);
    if (pod == nullptr || (*pod)->Finished() || nodes_.contains(util::ToAbsl((*pod)->node_name.str()))) continue;
    validator->Add(FieldPlaceOf(*pod, places), "no node",
                   absl::StrCat("Pod \"", (*pod)->meta.Key(), "\": spec.nodeName: the input has no node \"",
                                (*pod)->node_name.string(), "\""));
  }
  for (const api::PodPtr& pod : scenario.pending) {
    if (!IsForOtherScheduler(*pod)) continue;
    const std::string name = pod->tmpl->scheduler_name.string();
    const auto& profiles = scenario.algorithm.profiles;
    const bool has_profile = profiles && std::any_of(profiles->begin(), profiles->end(),
                                                     [&](const auto& p) { return p.scheduler_name == name; });
    if (has_profile) continue;
    validator->Add(FieldPlaceOf(pod, places), "other scheduler",
                   absl::StrCat("Pod \"", pod->meta.Key(), "\": spec.schedulerName: \"", name, "\" is ",
                                profiles ? "not that of a profile" : "not default-scheduler",
                                ": in a cluster another scheduler places it"));
  }
}

}  // namespace berth::lab
