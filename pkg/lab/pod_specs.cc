#include "pkg/lab/pod_specs.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "pkg/api/decode.h"
#include "pkg/api/stream.h"
#include "pkg/lab/input_forms.h"
#include "pkg/lab/input_places.h"
#include "pkg/util/status.h"

namespace berth::lab {
namespace {

// Collects the pods of a file: Pods, and the templates of workloads.
class SpecReader final : public api::JsonSink {
 public:
  SpecReader(const std::string& file, std::string_view text, Validator* validator) : validator_(validator) {
    lines_.Start(file, text, 0);
  }

  std::vector<PodSpec> pods;
  std::map<std::string, int64_t> passed_over;

  bool Split(std::string_view inside, std::string_view key) override { return inside.empty() && key == "items"; }
  absl::Status Element(std::string_view, std::string_view, api::Document& element) override {
    any_element_ = true;
    return Take(element.root());
  }
  absl::Status Value(api::Document& rest) override {
    if (!std::exchange(any_element_, false)) return Take(rest.root());
    return absl::OkStatus();
  }

 private:
  absl::Status Take(api::Json j) {
    const std::string_view kind = j.Find("kind").Text();
    if (kind.ends_with("List") && j.Find("items").IsArray()) {
      for (auto item : j.Find("items").Children()) BERTH_RETURN_IF_ERROR(Take(item.value));
      return absl::OkStatus();
    }
    world::Value pod;
    if (kind == "Pod") {
      pod = validation::FromJson(j);
    } else {
      // The pod gets the name of the workload.
      const world::Value object = validation::FromJson(j);
      const world::Value* tmpl = object.At({"spec", "template"});
      if (tmpl == nullptr) tmpl = object.At({"spec", "jobTemplate", "spec", "template"});
      if (tmpl == nullptr && kind == "PodTemplate") tmpl = object.Find("template");
      if (tmpl == nullptr || tmpl->Find("spec") == nullptr) {
        ++passed_over[kind.empty() ? "objects without a kind" : std::string(kind)];
        return absl::OkStatus();
      }
      pod.Set("metadata", validation::OrEmpty(tmpl->Find("metadata")));
      pod.Child("metadata").Set("name", world::Value::String(world::NameOf(object)));
      pod.Child("metadata").Set("namespace", world::Value::String(world::NamespaceOf(object)));
      pod.Set("spec", *tmpl->Find("spec"));
    }
    const auto place = [&](size_t at) { return lines_.LineAndColumnAt(at); };
    if (validator_->Check(j, kind, j.Find("apiVersion").Text(), place)) {
      NoteDuplicates(j, kind, &lines_, validator_);
    }
    if (world::NamespaceOf(pod).empty()) pod.Child("metadata").Set("namespace", world::Value::String("default"));
    if (world::NameOf(pod).empty()) {
      pod.Child("metadata").Set("name", world::Value::String(absl::StrCat("pod-", pods.size() + 1)));
    }
    api::Document made;
    BERTH_RETURN_IF_ERROR(made.Parse(validation::ToJson(pod)));
    auto decoded = api::DecodePod(made.root(), {.server_defaults = true});
    if (!decoded.ok()) return decoded.status();
    pods.push_back({*decoded, std::make_shared<const world::Value>(std::move(pod))});
    return absl::OkStatus();
  }

  Validator* const validator_;
  LineCounter lines_;
  bool any_element_ = false;
};

}  // namespace

absl::StatusOr<std::vector<PodSpec>> ReadPodSpecs(const std::string& file, Validator* validator,
                                                  std::map<std::string, int64_t>* passed_over) {
  auto text = api::ReadInput(file);
  if (!text.ok()) return text.status();
  SpecReader reader(file, *text, validator);
  if (absl::Status s = api::ReadDocuments(*text, reader); !s.ok()) {
    if (std::string why = WhyUnreadable(*text); !why.empty()) {
      return util::InvalidArgument(absl::StrCat(file, ": ", why));
    }
    return absl::Status(s.code(), absl::StrCat(file, ": ", s.message()));
  }
  if (reader.pods.empty()) {
    std::string kinds;
    for (const auto& [kind, count] : reader.passed_over) absl::StrAppend(&kinds, kinds.empty() ? "" : ", ", kind);
    return util::InvalidArgument(absl::StrCat(
        file, ": no pod in it",
        kinds.empty() ? "" : absl::StrCat(", but ", kinds, ": give a Pod, or a workload with a pod template")));
  }
  for (const auto& [kind, count] : reader.passed_over) (*passed_over)[kind] += count;
  return std::move(reader.pods);
}

absl::StatusOr<api::PodPtr> AdmittedSpec(const PodSpec& spec, const Scenario& scenario) {
  if (scenario.manifests == nullptr || world::WasStored(*spec.value)) return spec.pod;
  auto completed = scenario.manifests->Complete(*spec.value, "");
  if (!completed.ok()) return completed.status();
  if (completed->tmpl == nullptr) {
    return util::InvalidArgument(absl::StrCat("an API server would refuse such a pod: ",
                                              completed->refusal->Message("Pod", spec.pod->meta.name)));
  }
  auto pod = std::make_shared<api::Pod>(*spec.pod);
  pod->tmpl = completed->tmpl;
  return api::PodPtr(std::move(pod));
}

api::PodPtr ReplicaOf(const api::Pod& spec, int64_t number) {
  auto pod = std::make_shared<api::Pod>(spec);
  pod->meta.name = absl::StrCat(spec.meta.name, "-", number);
  pod->meta.uid = absl::StrCat("capacity/", spec.meta.Key(), "/", number);
  pod->node_name = util::Symbol();
  pod->nominated_node_name = util::Symbol();
  pod->phase = api::PodPhase::kPending;
  return pod;
}

}  // namespace berth::lab
