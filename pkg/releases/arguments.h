// Turns the arguments that kubescheduler.config.k8s.io/v1 has for plugins into the options of rules. Releases that
// share these arguments share the functions.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "pkg/scheduler/algorithm/interpodaffinity/interpodaffinity.h"
#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"
#include "pkg/scheduler/algorithm/noderesources/noderesources.h"
#include "pkg/scheduler/algorithm/podspread/podspread.h"
#include "pkg/scheduler/configuration/args.h"

namespace berth::releases {

scheduler::nodeaffinity::AddedAffinity AddedOf(const scheduler::configuration::NodeAffinityArgs& args);
// Returns pairs of a utilization in percent and a score from 0 to `max_score`; those of a configuration go to 10.
std::vector<std::pair<int64_t, int64_t>> PointsOf(
    const std::vector<scheduler::configuration::UtilizationShapePoint>& shape, int64_t max_score);
scheduler::noderesources::FitOptions FitOf(const scheduler::configuration::NodeResourcesFitArgs& args,
                                           int64_t max_score);
std::vector<scheduler::noderesources::ResourceWeight> BalancedOf(
    const scheduler::configuration::NodeResourcesBalancedAllocationArgs& args);
scheduler::podspread::TopologySpreadOptions SpreadOf(const scheduler::configuration::PodTopologySpreadArgs& args);
scheduler::interpodaffinity::InterPodAffinityOptions AffinityOf(
    const scheduler::configuration::InterPodAffinityArgs& args);

}  // namespace berth::releases
