// RequestedToCapacityRatioPriority: scores each resource by its utilization, along a broken line that the Policy
// defines. The rule appeared in Kubernetes 1.12; release 1.10 has it here so that later Policies work.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::noderesources {

// The argument of the priority: the line and the resources to rate.
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
  // If empty, cpu and memory count equally and their average is truncated, as up to 1.15. Otherwise, the score is the
  // weighted average of the scores that are above 0, rounded to the nearest integer, as from 1.16 on.
  std::vector<Weight> resources;
};

// Returns the score on the line through the points: that of the first point for smaller utilizations, and that of the
// last point for larger ones.
int64_t ScoreAt(const std::vector<ScoringFunction::Point>& shape, int64_t utilization);

// Returns the priority with the given line and weights. Scores of the line are scaled from 0..10 to 0..max_score.
PriorityFunction RequestedToCapacityRatio(const PluginFactoryArgs& args, ScoringFunction function);

}  // namespace berth::scheduler::noderesources
