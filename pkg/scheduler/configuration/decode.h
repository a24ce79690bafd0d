// Reading a KubeSchedulerConfiguration from JSON or YAML, strictly: a field that does not exist or stands there twice
// is an error, as is one whose name differs in letter case (Kubernetes 1.29 apis/config/v1 and its scheme).
//
// Mistakes do not end the reading: all are collected, each with its path. Thread-safe: no state.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/scheduler/configuration/plugins.h"
#include "pkg/scheduler/configuration/problem.h"
#include "pkg/scheduler/configuration/types.h"

namespace berth::scheduler::configuration {

// Returns true for an apiVersion of the group kubescheduler.config.k8s.io, whether it is supported or not: such a
// document is for this package, one of componentconfig/v1alpha1 is not.
bool IsConfigurationVersion(std::string_view api_version);

// Returns what a document says, with the defaults of its version filled in: v1 or v1beta3. What is wrong is appended to
// `problems`; the fields concerned then have their defaults.
KubeSchedulerConfiguration Decode(api::Json document, const Gates& gates, std::vector<Problem>* problems);

// Returns the value in `document` that a problem's path leads to, or the nearest one above it that is there.
api::Json Locate(api::Json document, std::string_view path);

}  // namespace berth::scheduler::configuration
