// Source: pkg/features/kube_features.go (1.29), of which the scheduler reads these gates.
#include <array>

#include "pkg/releases/v1_29/decides.h"

namespace berth::releases::v1_29 {
namespace {

using util::FeatureGate;
using util::GateStage;

constexpr auto kGates = std::to_array<FeatureGate>({
    {"AllAlpha", GateStage::kAlpha, false},
    {"AllBeta", GateStage::kBeta, false},
    {"CSIMigrationPortworx", GateStage::kBeta, false},
    {"CSIMigrationRBD", GateStage::kDeprecated, false},
    {"DynamicResourceAllocation", GateStage::kAlpha, false},
    {"InPlacePodVerticalScaling", GateStage::kAlpha, false},
    {"MatchLabelKeysInPodAffinity", GateStage::kAlpha, false},
    {"MatchLabelKeysInPodTopologySpread", GateStage::kBeta, true},
    {"MinDomainsInPodTopologySpread", GateStage::kBeta, true},
    {"NodeInclusionPolicyInPodTopologySpread", GateStage::kBeta, true},
    {"PodDisruptionConditions", GateStage::kBeta, true},
    {"PodSchedulingReadiness", GateStage::kBeta, true},
    {"ReadWriteOncePod", GateStage::kGA, true, true},
    {"SchedulerQueueingHints", GateStage::kBeta, false},
    {"SidecarContainers", GateStage::kBeta, true},
    {"VolumeCapacityPriority", GateStage::kAlpha, false},
});

}  // namespace

std::span<const FeatureGate> Gates() {
  return kGates;
}

}  // namespace berth::releases::v1_29
