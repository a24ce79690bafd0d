// Checks a KubeSchedulerConfiguration for `schedsim check`.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/api/json_writer.h"
#include "pkg/lab/scenario.h"
#include "pkg/scheduler/configuration/load.h"
#include "pkg/scheduler/factory/factory.h"

namespace berth::schedsim {

// What one scheduler of a configuration without profiles runs.
struct RunningAlgorithm {
  std::string scheduler_name;
  std::string source;                       // "provider DefaultProvider"
  scheduler::EffectiveAlgorithm effective;  // empty if the source cannot be read here
  bool checks_all_predicates = false;
};

struct ConfigurationReport {
  std::string file;
  std::string release;                                   // that reads it
  std::vector<std::string> errors;                       // with line and column where the document has them
  std::vector<std::string> warnings;                     // settings that are accepted but have no effect
  scheduler::configuration::LoadedConfiguration loaded;  // if the release is configured by profiles
  std::vector<RunningAlgorithm> algorithms;              // if not
};

// Parses and checks the text of a file as the first release does that reads its version, or, if `strictly`, as that of
// the algorithm. A plugin is unknown if it is neither in-tree nor one of plugin/.
ConfigurationReport ExamineConfiguration(const std::string& file, std::string_view text,
                                         const lab::Algorithm& algorithm, bool strictly);
// Returns where the value begins in the text: "line 3, column 5: ".
std::string WhereIn(std::string_view text, api::Json value);
// Returns what a file is that is neither a Policy nor a configuration but is often taken for one, as a part of a
// sentence; otherwise an empty text.
std::string DescribeOtherKind(std::string_view text);
// Returns a table of what will run. REQUIRES: no errors.
std::string ConfigurationTable(const ConfigurationReport& r);
// Writes the report as data.
void WriteConfigurationReport(const ConfigurationReport& r, api::JsonWriter* out);

}  // namespace berth::schedsim
