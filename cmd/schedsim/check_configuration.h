// Checks a KubeSchedulerConfiguration for `schedsim check`.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json_writer.h"
#include "pkg/lab/scenario.h"
#include "pkg/scheduler/configuration/load.h"

namespace berth::schedsim {

struct ConfigurationReport {
  std::string file;
  std::string release;                // that reads it
  std::vector<std::string> errors;    // with line and column where the document has them
  std::vector<std::string> warnings;  // settings that are accepted but have no effect
  scheduler::configuration::LoadedConfiguration loaded;
};

// Parses and checks the text of a file as the first release does that reads its version, or, if `strictly`, as that of
// the algorithm. A plugin is unknown if it is neither in-tree nor one of plugin/.
ConfigurationReport ExamineConfiguration(const std::string& file, std::string_view text,
                                         const lab::Algorithm& algorithm, bool strictly);
// Returns what a file is that is neither a Policy nor a configuration but is often taken for one, as a part of a
// sentence; otherwise an empty text.
std::string WhatElseItIs(std::string_view text);
// Returns a table of what will run. REQUIRES: no errors.
std::string ConfigurationTable(const ConfigurationReport& r);
// Writes the report as data.
void WriteConfigurationReport(const ConfigurationReport& r, api::JsonWriter* out);

}  // namespace berth::schedsim
