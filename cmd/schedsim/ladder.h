// The steps of an upgrade over several releases, for the command compare: what each release does with the same pods,
// compared with the release before it.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "pkg/api/json_writer.h"
#include "pkg/explain/page.h"
#include "pkg/lab/experiment.h"
#include "pkg/lab/release_comparison.h"

namespace berth::schedsim {

// Pods that one rule treats differently in the same way.
struct UpgradeCause {
  lab::PodDifference::Kind kind;
  std::string rule;  // empty if none is known
  int64_t pods = 0;
};

// From one release to the next.
struct UpgradeStep {
  std::string from, to;
  std::vector<lab::PodDifference> differences;
  int64_t elsewhere = 0, no_longer_fit = 0, newly_fit = 0;
  std::vector<UpgradeCause> causes;  // what hurts first, then by the number of pods
  std::vector<std::string> hurts;    // what is worse afterwards, one phrase each: "3 pods newly pending"

  int64_t touched() const { return elsewhere + no_longer_fit + newly_fit; }
};

// Returns the steps between variants that follow one another. Variants whose trial has an error have no step. Returns
// an error if an algorithm cannot be built. REQUIRES: a trial for each variant.
absl::StatusOr<std::vector<UpgradeStep>> StepsOfUpgrade(const lab::Scenario& scenario,
                                                        const std::vector<lab::Variant>& variants,
                                                        const std::vector<lab::Trial>& trials);

// Write the steps as text, with at most `most` pods of each step, and as the member "steps" of an open object, with the
// pods of each step or without them.
void WriteSteps(const std::vector<UpgradeStep>& steps, size_t most, explain::Page* page);
void StepsJson(const std::vector<UpgradeStep>& steps, bool with_pods, api::JsonWriter* out);
// Returns a chart: a bar for each step, as long as the number of pods that it touches.
std::string StepsSvg(const std::vector<UpgradeStep>& steps);

}  // namespace berth::schedsim
