// RequestedToCapacityRatioPriority: a score by the share of each resource that is requested, along a broken line that
// the Policy draws (Kubernetes 1.12 and later; known to release 1.10 so that later Policies work).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::noderesources {

struct ScoringFunction {
  struct Point {
    int64_t utilization = 0;  // percent, 0..100, strictly increasing from point to point
    int64_t score = 0;        // 0..10
  };
  struct Weight {
    std::string resource;
    int64_t weight = 1;
  };
  std::vector<Point> shape = {{0, 10}, {100, 0}};  // at least one point; the default favours unused nodes
  // Empty: cpu and memory count the same and the average is rounded toward zero, as up to 1.15. Otherwise the weighted
  // average of the scores above 0, rounded to the nearest, as from 1.16 on.
  std::vector<Weight> resources;
};

// Returns the score on the line through the points: the first point's before it, the last one's behind it.
int64_t ScoreAt(const std::vector<ScoringFunction::Point>& shape, int64_t utilization);

PriorityFunction RequestedToCapacityRatio(const PluginFactoryArgs& args, ScoringFunction function);

}  // namespace berth::scheduler::noderesources
