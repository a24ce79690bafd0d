// An explanation of a pod's placement as JSON, in groups of nodes instead of node by node.
#pragma once
#include "pkg/explain/explanation.h"
#include "pkg/explain/output.h"

namespace berth::ui {

// Writes an object: the decision; "failures", the nodes that do not fit in groups by the first rule that says so;
// "top", the best nodes with raw, weighted and total scores; "wouldHelp"; "preemption".
void ExplanationJson(const explain::Explanation& e, explain::JsonOut* j);

}  // namespace berth::ui
