// A part of a recording that is replayed. For use by the sources of Replay.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pkg/recording/replay.h"
#include "pkg/recording/tap.h"

namespace berth::recording {

class Session {
 public:
  virtual ~Session() = default;
  // Processes the input and returns the first difference from the recorded outputs, if there is one.
  virtual std::optional<ReplayResult::Difference> Do(Step* step, ReplayResult* result) = 0;
  // Processes the input and returns the lines of its outputs. A session from a checkpoint returns the recorded ones
  // with its own decisions in place of those that it can make.
  virtual std::vector<std::string> Outputs(Step* step) = 0;
  virtual Core& core() = 0;
};

// Makes a session from the start of a run, with the whole state machine.
absl::StatusOr<std::unique_ptr<Session>> NewWholeSession(const CoreConfiguration& config);
// Makes a session from a checkpoint, which compares decisions only.
absl::StatusOr<std::unique_ptr<Session>> NewDecisionsSession(const Step& checkpoint);

// Returns the pod that an output line is about, "namespace/name"; empty if it is about none.
std::string PodOfLine(std::string_view line);

}  // namespace berth::recording
