// Resizes of pods in place (Kubernetes 1.33 and later).
#include <string>
#include <utility>

#include "pkg/api/validation/defaults.h"
#include "pkg/api/validation/validation.h"
#include "pkg/store/registry.h"
#include "pkg/world/living/fields.h"

namespace berth::apiserver {
namespace {

// Gives the containers of `list` the resources of those with the same names.
void TakeResources(const Value* wanted, Value* list) {
  if (wanted == nullptr || list == nullptr) return;
  for (Value& container : list->items) {
    for (const Value& w : wanted->items) {
      if (w.Str("name") != container.Str("name")) continue;
      if (const Value* resources = w.Find("resources")) {
        container.Set("resources", *resources);
      } else {
        container.Erase("resources");
      }
    }
  }
}

}  // namespace

Result<ObjectPtr> Registry::Resize(const ResourceInfo& r, const Value& wanted, Value pod, const ObjectPtr& old) {
  for (std::string_view which : {"containers", "initContainers"}) {
    TakeResources(wanted.At({"spec", which}), pod.At({"spec", which}));
  }
  FieldErrors errors;
  validation::ValidatePodSpec(validation::OrEmpty(pod.Find("spec")), validation::Path("spec"), r.release, &errors);
  const std::string before(world::living::TextAt(pod, {"status", "qosClass"})), after = validation::QosClass(pod);
  if (!before.empty() && before != after) {
    errors.push_back(validation::Invalid("spec", after, "Pod QOS Class may not change as a result of resizing"));
  }
  if (!errors.empty()) return InvalidObject("", r.kind, old->name, std::move(errors));
  if (MakeObject(r, pod, old->rv)->body() == old->body()) return old;
  Value& meta = *pod.Find("metadata");
  meta.Set("generation", Value::Int(world::living::NumberAt(meta, {"generation"}) + 1));
  return StoreUpdate(r, std::move(pod), old);
}

}  // namespace berth::apiserver
