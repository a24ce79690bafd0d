#include "test/simulation/emulated.h"

#include "pkg/releases/releases.h"
#include "pkg/scheduler/pod_fields.h"
#include "pkg/util/feature_gates.h"

namespace berth::simulation {
namespace {

constexpr char kPodPriority[] = "PodPriority", kVolumeScheduling[] = "VolumeScheduling";

// Returns nothing for a gate that the release does not have.
const util::FeatureGate* Gate(const scheduler::Release& release, std::string_view name) {
  return util::FindGate(release.gates, name);
}

bool IsOn(const scheduler::Release& release, std::string_view name) {
  const util::FeatureGate* gate = Gate(release, name);
  return gate != nullptr && gate->on;
}

}  // namespace

Emulated::Emulated(std::string_view name)
    : id(**release::Named(name)), decides(releases::Of(id).decides), form(releases::DaemonFormOf(id)) {
  const bool has_plugins = decides.plugins != nullptr;
  by_profiles = has_plugins && !decides.has_policies;
  always_has_priorities = has_plugins;
  can_schedule_volumes = has_plugins || Gate(decides, kVolumeScheduling) != nullptr;
  schedules_volumes = has_plugins || IsOn(decides, kVolumeScheduling);
  provisions = has_plugins || decides.provisions_claims;
  taints_by_condition = has_plugins || IsOn(decides, "TaintNodesByCondition");
  spreads =
      scheduler::PodFieldsUnderstoodBy(id.version).test(static_cast<size_t>(scheduler::PodField::kRequiredSpread));
}

recording::CoreConfiguration Emulated::Configuration(bool pod_priority, bool claims) const {
  recording::CoreConfiguration c;
  c.release = std::string(id.name);
  for (const util::FeatureGate& gate : decides.gates) c.gates[std::string(gate.name)] = gate.on;
  c.gates[kPodPriority] = pod_priority || always_has_priorities;
  c.gates[kVolumeScheduling] = schedules_volumes || (claims && can_schedule_volumes);
  if (form.max_backoff > absl::ZeroDuration()) c.max_backoff = form.max_backoff;
  if (form.unschedulable_limit > absl::ZeroDuration()) c.unschedulable_limit = form.unschedulable_limit;
  return c;
}

}  // namespace berth::simulation
