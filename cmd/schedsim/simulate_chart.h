// Draws the results of simulate.
#pragma once
#include <string>

#include "cmd/schedsim/simulate_report.h"

namespace berth::schedsim {

// Returns an SVG document: what is in use of the scarcest resource and how many pods wait, over time, and how long
// which share of the pods waited. The result depends on the argument alone.
std::string SimulationSvg(const SimulationReport& report);

}  // namespace berth::schedsim
