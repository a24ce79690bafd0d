// What decides in Kubernetes 1.9 (Release). As 1.10, but for what decides.cc says.
#pragma once
#include <span>
#include <string_view>

#include "pkg/releases/daemon_form.h"
#include "pkg/scheduler/registry/release.h"
#include "pkg/util/feature_gates.h"

namespace berth::releases::v1_9 {

const scheduler::Release& Decides();
// Returns how the daemon looks from outside.
const DaemonForm& Serves();
// The annotation of a pod that names the node to which it is nominated. Source: plugin/pkg/scheduler/core (1.8, 1.9).
inline constexpr std::string_view kNominationAnnotation = "NominatedNodeName";
// Returns the feature gates and their defaults, sorted by name.
std::span<const util::FeatureGate> Gates();
// Returns the word that stands for a reason, such as MatchNodeSelector. Texts of extenders and of plugin/, and
// "Insufficient cpu" and its like, stand for themselves.
scheduler::Symbol ReasonWord(scheduler::Symbol text);

}  // namespace berth::releases::v1_9
