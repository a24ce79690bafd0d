// What `schedsim check` says about a KubeSchedulerConfiguration.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "pkg/explain/output.h"
#include "pkg/lab/scenario.h"
#include "pkg/scheduler/configuration/load.h"

namespace berth::schedsim {

struct ConfigurationReport {
  std::string file;
  std::vector<std::string> errors;    // with line and column where the document has them
  std::vector<std::string> warnings;  // what is accepted and has no effect
  scheduler::configuration::LoadedConfiguration loaded;
};

// Reads and checks the text of a file. Unknown plugins are measured against the in-tree ones and those of plugin/.
ConfigurationReport ExamineConfiguration(const std::string& file, std::string_view text,
                                         const lab::Algorithm& algorithm);
// Returns what will run, for people. REQUIRES: no errors.
std::string ConfigurationTable(const ConfigurationReport& r);
// Writes the report as data.
void WriteConfigurationReport(const ConfigurationReport& r, explain::JsonOut* out);

}  // namespace berth::schedsim
