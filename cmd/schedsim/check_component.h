// Checks a KubeSchedulerConfiguration of a release without profiles for `schedsim check`.
#pragma once
#include <string_view>

#include "cmd/schedsim/check_configuration.h"
#include "pkg/api/json.h"

namespace berth::schedsim {

// Checks the document as the release does: its members, their values, and that its providers exist and its Policy is
// valid, if its file can be read. Fills errors, warnings and algorithms of the report. REQUIRES: the document has the
// kind and an apiVersion that the release reads.
void ExamineComponent(api::Json document, std::string_view text, const release::Id& release,
                      const lab::Algorithm& algorithm, ConfigurationReport* report);

}  // namespace berth::schedsim
