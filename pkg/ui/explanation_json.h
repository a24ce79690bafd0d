// Writes the explanation of a pod's placement as JSON, with nodes in groups instead of one by one.
#pragma once
#include "pkg/api/json_writer.h"
#include "pkg/explain/explanation.h"

namespace berth::ui {

// Writes an object with the decision; "failures", the nodes that do not fit, grouped by the first rule that rejects
// them; "top", the best nodes with raw, weighted and total scores; "wouldHelp"; and "preemption".
void ExplanationJson(const explain::Explanation& e, api::JsonWriter* j);

}  // namespace berth::ui
