// Feeds a recording to the scheduler again.
//
// If the recording begins at the start of a run, the whole state machine is replayed, and every output is compared byte
// for byte. If it begins at a checkpoint, because older segments were deleted or events were lost, the recording does
// not say what pods waited for and when they are tried next. Then each decision alone is compared, with the cluster as
// recorded.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "pkg/recording/core.h"
#include "pkg/recording/reader.h"

namespace berth::recording {

struct ReplayOptions {
  // Stop before the input with this number. Inputs count from 1 over the whole recording.
  int64_t until = std::numeric_limits<int64_t>::max();
  // Stop before the last decision about this pod ("namespace/name") that was recorded before `until`.
  std::string pod;
  // Go on after a difference if the recording is older than a correction (corrections.h): from there on as after a
  // checkpoint, with each decision alone.
  bool accept_corrections = false;
  // Called when replay has stopped because of `until` or `pod`, with the scheduler as it is then and the pod that is to
  // be decided next (null if there is none). May be null.
  std::function<void(Core&, const api::PodPtr&)> stopped;
};

struct ReplayResult {
  int64_t inputs = 0, decisions = 0, outputs = 0, runs = 0, checkpoints = 0, lost = 0;
  int64_t placed = 0;
  int64_t unchecked = 0;  // outputs after a checkpoint that were followed but not compared
  bool truncated = false;
  bool stopped = false;
  struct Difference {
    int64_t input = 0;               // its number
    std::string at;                  // file and line
    std::string pod;                 // the pod, if the output is about one
    std::string recorded, replayed;  // empty: there is none
  };
  std::optional<Difference> difference;
  int64_t accepted = 0;  // differences after which replay went on
  // The corrections that the recording's scheduler did not have, one line each; of the first difference.
  std::string corrections;
};

// Replays a recording. It is an error if it cannot be read, or if a scheduler cannot be built.
absl::StatusOr<ReplayResult> Replay(const std::string& path, const ReplayOptions& options);

// A clock that returns the recorded readings.
class ReplayClock final : public util::Clock {
 public:
  void Set(const Event& e);
  absl::Duration Steady() const override;
  absl::Time Wall() const override;

 private:
  std::vector<int64_t> steady_, wall_;
  mutable size_t next_steady_ = 0, next_wall_ = 0;
  mutable int64_t last_steady_ = 0, last_wall_ = 0;
};

// Extenders that return the recorded responses in their order.
class ReplayExtenders {
 public:
  scheduler::ExtenderFactory Factory();
  void Set(std::vector<ExtenderAnswer> answers);

 private:
  class OneExtender;
  std::vector<ExtenderAnswer> answers_;
  size_t next_ = 0;
};

}  // namespace berth::recording
