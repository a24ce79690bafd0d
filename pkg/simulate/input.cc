#include "pkg/simulate/input.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/time/time.h>

#include "pkg/api/json.h"
#include "pkg/lab/expand.h"
#include "pkg/simulate/times.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::simulate {
namespace {

// Adds a name; one that several have stands for none.
void AddName(const std::string& name, const api::PodPtr& pod, absl::flat_hash_map<std::string, api::PodPtr>* names) {
  auto [known, is_new] = names->emplace(name, pod);
  if (!is_new && known->second != pod) known->second = nullptr;
}

absl::Status ReadAnnotation(const api::Pod& pod, api::Json annotations, const char* key, Micros* out) {
  const api::Json value = annotations.FindExact(key);
  if (value.IsNull()) return absl::OkStatus();
  auto time = value.IsString() ? ParseTime(value.Text()) : absl::StatusOr<Micros>(util::InvalidArgument("not a text"));
  if (!time.ok()) {
    return util::InvalidArgument(
        absl::StrCat("Pod \"", pod.meta.Key(), "\": metadata.annotations[", key, "]: ", time.status().message()));
  }
  *out = *time;
  return absl::OkStatus();
}

absl::Status ReadAnnotations(const api::Pod& pod, Arrival* a) {
  if (pod.raw == nullptr || !absl::StrContains(*pod.raw, "schedsim/")) return absl::OkStatus();
  api::Document document;
  BERTH_RETURN_IF_ERROR(document.Parse(*pod.raw));
  const api::Json annotations = document.root().Find("metadata").Find("annotations");
  BERTH_RETURN_IF_ERROR(ReadAnnotation(pod, annotations, kTimeAnnotation, &a->at));
  return ReadAnnotation(pod, annotations, kDurationAnnotation, &a->duration);
}

// Returns the pod's workload: its kind, and its name; the topmost one.
std::string WorkloadKey(const lab::Scenario& s, const api::Pod& pod) {
  const auto& c = pod.tmpl->controller;
  if (!c) return {};
  std::string key = lab::ObjectKey(c->kind.str(), pod.meta.ns.str(), c->name);
  auto scale = s.scales.find(key);
  return scale == s.scales.end() || scale->second.owner.empty() ? key : scale->second.owner;
}

void AddTemplate(const lab::Scenario& s, const api::PodPtr& pod, InputPods* out) {
  auto& templates = out->known.templates;
  AddName(pod->meta.name, pod, &templates);
  AddName(pod->meta.Key(), pod, &templates);
  AddName(absl::StrCat("Pod ", pod->meta.Key()), pod, &templates);
  const std::string key = WorkloadKey(s, *pod);
  if (key.empty() || !out->workload_pods.emplace(key, pod).second) return;
  const size_t blank = key.find(' '), slash = key.find('/');
  const std::string kind = key.substr(0, blank), name = key.substr(slash + 1);
  AddName(key, pod, &templates);
  AddName(absl::StrCat(kind, "/", name), pod, &templates);
  AddName(key.substr(blank + 1), pod, &templates);
  AddName(name, pod, &templates);
}

void FindGpus(const lab::Scenario& s, KnownPods* known) {
  for (const api::Object& o : s.cluster) {
    const auto* node = std::get_if<api::NodePtr>(&o);
    if (node == nullptr) continue;
    for (const auto& [name, amount] : (*node)->allocatable) {
      if (absl::EndsWith(name.string(), "gpu-milli")) known->gpu_milli = name.string();
      if (absl::EndsWith(name.string(), "/gpu")) known->gpus = name.string();
    }
  }
  if (known->gpu_milli.empty() && known->gpus.empty()) known->gpu_milli = "example.com/gpu-milli";
}

absl::Status CheckTime(std::string_view text) {
  return ParseTime(text).status();
}

// As kubelets read it (pkg/world/living/kubelets.h).
absl::Status CheckDuration(std::string_view text) {
  absl::Duration d;
  if (absl::ParseDuration(util::ToAbsl(text), &d) && d >= absl::ZeroDuration()) return absl::OkStatus();
  return util::InvalidArgument(
      absl::StrCat(util::GoQuoted(text), " is not a duration of 0 or more, such as 90s, 1h30m or 250ms"));
}

absl::Status CheckExitCode(std::string_view text) {
  int64_t code = 0;
  constexpr int64_t kMost = 255;
  if (absl::SimpleAtoi(util::ToAbsl(text), &code) && code >= 0 && code <= kMost) return absl::OkStatus();
  return util::InvalidArgument(absl::StrCat(util::GoQuoted(text), " is not a number from 0 to 255"));
}

absl::Status CheckTruth(std::string_view text) {
  if (text == "true" || text == "false") return absl::OkStatus();
  return util::InvalidArgument(absl::StrCat(util::GoQuoted(text), " is neither true nor false"));
}

}  // namespace

std::vector<lab::AnnotationCheck> PodAnnotations() {
  return {{kTimeAnnotation, CheckTime},
          {kDurationAnnotation, CheckTime},
          {"simulate.berth/start-delay", CheckDuration},
          {"simulate.berth/stop-delay", CheckDuration},
          {"simulate.berth/runs-for", CheckDuration},
          {"pod-complete.stage.kwok.x-k8s.io/delay", CheckDuration},
          {"simulate.berth/exit-code", CheckExitCode},
          {"simulate.berth/unready", CheckTruth}};
}

absl::StatusOr<InputPods> PodsOf(const lab::Scenario& scenario) {
  InputPods out;
  out.arrivals.reserve(scenario.pending.size());
  for (const api::PodPtr& pod : scenario.pending) {
    Arrival a;
    a.pod = pod;
    a.as_is = true;
    BERTH_RETURN_IF_ERROR(ReadAnnotations(*pod, &a));
    out.known.pending.emplace(pod->meta.Key(), pod);
    AddName(pod->meta.name, pod, &out.known.pending);
    AddTemplate(scenario, pod, &out);
    out.arrivals.push_back(std::move(a));
  }
  for (const api::Object& o : scenario.cluster) {
    if (const auto* pod = std::get_if<api::PodPtr>(&o)) AddTemplate(scenario, *pod, &out);
  }
  FindGpus(scenario, &out.known);
  return out;
}

lab::Scenario ToMeasure(const lab::Scenario& scenario, const std::vector<Step>& steps,
                        const std::vector<api::PodPtr>& sample) {
  lab::Scenario out;
  absl::flat_hash_set<std::string> nodes;
  for (const api::Object& o : scenario.cluster) {
    const auto* node = std::get_if<api::NodePtr>(&o);
    if (node == nullptr) continue;
    out.cluster.push_back(o);
    nodes.insert((*node)->meta.name);
  }
  for (const Step& s : steps) {
    if (s.joins != nullptr && nodes.insert(s.joins->meta.name).second) out.cluster.emplace_back(s.joins);
  }
  for (const api::PodPtr& pod : sample) out.AddPending(pod);
  return out;
}

}  // namespace berth::simulate
