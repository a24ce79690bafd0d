#include "pkg/lab/pod_specs.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "pkg/api/decode.h"
#include "pkg/api/stream.h"
#include "pkg/util/status.h"

namespace berth::lab {
namespace {

// Collects the pods of a file: Pods, and the templates of workloads.
class SpecReader final : public api::JsonSink {
 public:
  std::vector<api::PodPtr> pods;

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
    api::Json tmpl = j.Find("spec").Find("template");
    absl::StatusOr<api::PodPtr> pod;
    if (tmpl.IsObject()) {
      // The pod gets the name of the workload.
      api::Json labels = tmpl.Find("metadata").Find("labels");
      std::string text =
          absl::StrCat("{\"metadata\":{\"name\":", Quoted(j, "name"), ",\"namespace\":", Quoted(j, "namespace"),
                       ",\"labels\":", labels.Serialize(), "},\"spec\":", tmpl.Find("spec").Serialize(), "}");
      api::Document made;
      BERTH_RETURN_IF_ERROR(made.Parse(text));
      pod = api::DecodePod(made.root(), {.server_defaults = true});
    } else {
      std::string_view kind = j.Find("kind").Text();
      if (kind != "Pod") {
        return util::InvalidArgument(
            absl::StrCat("kind ", api::GoQuoted(kind), ": a Pod, or a workload with a pod template, is needed here"));
      }
      pod = api::DecodePod(j, {.server_defaults = true});
    }
    if (!pod.ok()) return pod.status();
    if ((*pod)->meta.name.empty()) {
      auto named = std::make_shared<api::Pod>(**pod);
      named->meta.name = absl::StrCat("pod-", pods.size() + 1);
      *pod = std::move(named);
    }
    pods.push_back(*pod);
    return absl::OkStatus();
  }

  static std::string Quoted(api::Json object, std::string_view member) {
    return object.Find("metadata").Find(member).Serialize();
  }

  bool any_element_ = false;
};

}  // namespace

absl::StatusOr<std::vector<api::PodPtr>> ReadPodSpecs(const std::string& file) {
  auto text = api::ReadInput(file);
  if (!text.ok()) return text.status();
  SpecReader reader;
  if (absl::Status s = api::ReadDocuments(*text, reader); !s.ok()) {
    return absl::Status(s.code(), absl::StrCat(file, ": ", s.message()));
  }
  if (reader.pods.empty()) return util::InvalidArgument(absl::StrCat(file, ": no pod in it"));
  return std::move(reader.pods);
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
