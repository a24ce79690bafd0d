#include "pkg/store/autoscaling_v1.h"

#include <string>
#include <string_view>
#include <utility>

namespace berth::apiserver {
namespace {

// What v1 has no member for, as JSON. The first is written by Kubernetes too; its own form of other targets differs.
constexpr std::string_view kBehavior = "autoscaling.alpha.kubernetes.io/behavior";
constexpr std::string_view kMetrics = "autoscaling.berth/metrics";
constexpr std::string_view kTarget = "targetCPUUtilizationPercentage";

// Returns the target of a list of metrics that consists of the average use of cpu alone, or null.
const Value* CpuTarget(const Value& metrics) {
  if (metrics.items.size() != 1) return nullptr;
  const Value& m = metrics.items[0];
  const Value* resource = m.Find("resource");
  if (m.Str("type") != "Resource" || resource == nullptr || resource->Str("name") != "cpu") return nullptr;
  return m.At({"resource", "target", "averageUtilization"});
}

// Returns that list.
Value OfCpu(Value percent) {
  Value metric = Value::Object(), list = Value::Array();
  metric.Set("type", Value::String("Resource"));
  Value& resource = metric.Child("resource");
  resource.Set("name", Value::String("cpu"));
  Value& target = resource.Child("target");
  target.Set("type", Value::String("Utilization"));
  target.Set("averageUtilization", std::move(percent));
  list.Append(std::move(metric));
  return list;
}

// Moves a member of the spec into an annotation.
void Hide(std::string_view member, std::string_view annotation, Value* spec, Value* metadata) {
  const Value* v = spec->Find(member);
  if (v == nullptr) return;
  metadata->Child("annotations").Set(annotation, Value::String(ToJson(*v)));
  spec->Erase(member);
}

// The way back. What is no JSON of this type is left where it is.
void Reveal(std::string_view annotation, std::string_view member, Value::Type type, Value* spec, Value* metadata) {
  Value* annotations = metadata->Find("annotations");
  const Value* text = annotations == nullptr ? nullptr : annotations->Find(annotation);
  if (text == nullptr) return;
  auto v = ParseJson(text->text());
  if (!v.ok() || v->type() != type) return;
  spec->Set(member, *std::move(v));
  annotations->Erase(annotation);
  if (annotations->empty()) metadata->Erase("annotations");
}

}  // namespace

Value ToAutoscalingV1(const Value& autoscaler) {
  Value out = autoscaler;
  out.Child("metadata");
  Value& spec = out.Child("spec");
  Value* metadata = out.Find("metadata");
  if (const Value* metrics = spec.Find("metrics")) {
    if (const Value* percent = CpuTarget(*metrics)) {
      Value target = *percent;
      spec.Set(kTarget, std::move(target));
      spec.Erase("metrics");
    } else {
      Hide("metrics", kMetrics, &spec, metadata);
    }
  }
  Hide("behavior", kBehavior, &spec, metadata);
  return out;
}

Value FromAutoscalingV1(const Value& autoscaler) {
  Value out = autoscaler;
  out.Child("metadata");
  Value& spec = out.Child("spec");
  Value* metadata = out.Find("metadata");
  Reveal(kMetrics, "metrics", Value::Type::kArray, &spec, metadata);
  Reveal(kBehavior, "behavior", Value::Type::kObject, &spec, metadata);
  if (const Value* percent = spec.Find(kTarget)) {
    if (spec.Find("metrics") == nullptr) {
      Value list = OfCpu(*percent);
      spec.Set("metrics", std::move(list));
    }
    spec.Erase(kTarget);
  }
  return out;
}

}  // namespace berth::apiserver
