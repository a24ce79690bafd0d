// Reads a KubeSchedulerConfiguration from JSON or YAML. Reading is strict: an unknown or duplicate field is an error,
// and so is a field whose letter case differs. Source: pkg/scheduler/apis/config/v1 and
// pkg/scheduler/apis/config/scheme (1.29).
//
// Errors do not end the reading; all of them are collected, each with its path. Thread-safety: thread-safe, without
// state.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/release/release.h"
#include "pkg/scheduler/configuration/plugins.h"
#include "pkg/scheduler/configuration/problem.h"
#include "pkg/scheduler/configuration/types.h"

namespace berth::scheduler::configuration {

// Returns whether an apiVersion belongs to the group kubescheduler.config.k8s.io, even if it is not supported.
// Documents of that group are read by this package; those of componentconfig/v1alpha1 are not.
bool IsConfigurationVersion(std::string_view api_version);

// Returns the contents of a document, with the defaults of its version, which must be one that the release reads
// (versions.h). Appends all errors to `problems`; the affected fields then have their defaults. `text` is that of the
// document, for errors of releases that name lines; it may be empty.
KubeSchedulerConfiguration Decode(api::Json document, release::Version release, const Gates& gates,
                                  std::vector<Problem>* problems, std::string_view text = {});

// Returns the value to which the path of a problem leads, or the nearest existing value above it.
api::Json Locate(api::Json document, std::string_view path);

}  // namespace berth::scheduler::configuration
