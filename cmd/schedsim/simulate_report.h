// Writes the results of simulate.
#pragma once
#include <ostream>
#include <string>
#include <vector>

#include "pkg/lab/metrics.h"
#include "pkg/simulate/outcome.h"

namespace berth::schedsim {

// One simulation of a comparison.
struct SimulatedCase {
  std::string name, release;
  std::string error;  // if not empty, why it could not be made
  simulate::Outcome outcome;
  std::string placements;  // lines of -o csv, if they are kept
};

struct SimulationReport {
  const lab::Workload* workload = nullptr;
  uint64_t seed = 0;
  bool controllers = false;  // they were simulated
  std::vector<SimulatedCase> cases;
};

// Writes a table for people, at most as wide as the screen.
void WriteSimulationSummary(const SimulationReport& report, std::ostream& out);
// Writes a JSON object on a line for each case.
void WriteSimulationJson(const SimulationReport& report, std::ostream& out);
// The lines of -o csv: a header, and a line for each placement. A pod that was never placed has a line at the end.
extern const char kPlacementHeader[];
void AppendPlacement(const std::string& policy, const simulate::Placement& placement, std::string* out);

}  // namespace berth::schedsim
