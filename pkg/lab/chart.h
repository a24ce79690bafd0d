// Draws allocation and fragmentation against the load that has arrived.
#pragma once
#include <string>
#include <vector>

#include "pkg/lab/experiment.h"

namespace berth::lab {

struct Curve {
  std::string name;
  std::vector<Sample> samples;
};

// Returns an SVG document with two panels side by side and one line for each curve. `resource` is the resource whose
// shares are drawn. The result depends on the arguments alone.
std::string ChartSvg(const std::string& resource, const std::vector<Curve>& curves);

}  // namespace berth::lab
