#include "pkg/lab/kept_fields.h"

#include "pkg/api/json.h"
#include "pkg/api/scheduling_fields.h"

namespace berth::lab {

void KeepFields(const TemplatePtr& before, const TemplatePtr& after, const std::function<void(world::Value*)>& change) {
  const auto fields = api::TemplateFields(before);
  if (fields == nullptr) return;
  auto pod = validation::ParseJson(*fields);
  if (!pod.ok()) return;
  change(&*pod);
  api::Document document;
  if (document.Parse(validation::ToJson(*pod)).ok()) api::NoteTemplateFields(after, document.root(), false);
}

}  // namespace berth::lab
