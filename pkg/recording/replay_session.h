// Shared by the sources of Replay alone: a stretch of a recording, replayed.
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
  // Works on the input and returns what differs from the outputs recorded, if anything does.
  virtual std::optional<ReplayResult::Difference> Do(Step* step, ReplayResult* result) = 0;
  // Works on the input and returns the lines of its outputs; nothing when a session cannot say. REQUIRES: a whole
  // session.
  virtual std::vector<std::string> Outputs(Step* step) = 0;
  virtual Core& core() = 0;
};

// From the start of a run: the whole state machine.
absl::StatusOr<std::unique_ptr<Session>> NewWholeSession(const CoreConfiguration& config);
// From a checkpoint: decisions.
absl::StatusOr<std::unique_ptr<Session>> NewDecisionsSession(const Step& checkpoint);

// The pod that an output line is about, "namespace/name"; empty when it is about none.
std::string PodOfLine(std::string_view line);

}  // namespace berth::recording
