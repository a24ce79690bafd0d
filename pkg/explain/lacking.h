// Finds what a pod needs that no node of the cluster has at all. That is more often a misspelling than a shortage.
#pragma once
#include <string>
#include <vector>

#include "pkg/scheduler/cache/cache.h"

namespace berth::explain {

// Returns the extended resources that the pod requests and that no listed node has.
std::vector<std::string> ResourcesNoNodeHas(const scheduler::Cache& cache, const api::PodTemplate& pod);

// Returns a sentence for each extended resource and each label of the nodeSelector that no listed node has, with what
// exists instead: "No node has example.com/gpu; there is nvidia.com/gpu on 30 nodes." Also names labels by which a
// required affinity or spread constraint groups nodes and that no node has.
std::vector<std::string> WhatNoNodeHas(const scheduler::Cache& cache, const api::PodTemplate& pod);

// Returns a sentence for each claim that the pod names and that does not exist.
std::vector<std::string> ClaimsToCreate(const scheduler::Cache& cache, const api::PodTemplate& pod);

}  // namespace berth::explain
