// The JSON of templates of pods that were made from others (api::TemplateFields), which recordings need.
#pragma once
#include <functional>
#include <memory>

#include "pkg/api/types.h"
#include "pkg/world/objects.h"

namespace berth::lab {

using TemplatePtr = std::shared_ptr<const api::PodTemplate>;

// Keeps the fields of `before`, changed as the pod was, as those of `after`. Does nothing where fields are not kept.
void KeepFields(const TemplatePtr& before, const TemplatePtr& after, const std::function<void(world::Value*)>& change);

}  // namespace berth::lab
