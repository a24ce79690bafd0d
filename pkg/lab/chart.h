// Allocation and fragmentation over arrived load, as a picture.
#pragma once
#include <string>
#include <vector>

#include "pkg/lab/experiment.h"

namespace berth::lab {

struct Curve {
  std::string name;
  std::vector<Sample> samples;
};

// An SVG document with two panels side by side and one line for each curve. `resource` is what the shares are of.
// Equal curves give equal bytes.
std::string ChartSvg(const std::string& resource, const std::vector<Curve>& curves);

}  // namespace berth::lab
