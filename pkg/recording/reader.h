// Reads a recording step by step: one input of the scheduler, and what it did about it.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/recording/format.h"

namespace berth::recording {

struct Step {
  enum class Kind : uint8_t {
    kInput,
    kStart,       // a run begins: `header`, and nothing was there before
    kCheckpoint,  // what comes next goes on from a checkpoint: `header`, `objects`, `in_flight`
    kGap,         // `lost` events are missing; a checkpoint follows, or the recording ends
  };
  Kind kind = Kind::kInput;
  Header header;
  std::vector<Event> objects;
  InFlight in_flight;
  int64_t lost = 0;
  Event input;
  std::vector<ExtenderAnswer> answers;
  std::vector<std::string> outputs;  // lines
  bool cut = false;                  // the recording ends within this step: outputs may be missing
  std::string at;                    // "segment-00000001.jsonl.zst:17"
};

// The lines of a recording as they are.
class RawLines {
 public:
  // A folder with segments, or one file of lines: Zstandard, gzip or plain.
  static absl::StatusOr<std::unique_ptr<RawLines>> Open(const std::string& path);
  ~RawLines();
  // False at the end, or when a file cannot be opened (status()).
  bool Next(std::string* line);
  const absl::Status& status() const { return status_; }
  // File and number of the last line.
  const std::string& at() const { return at_; }
  // Returns whether a file ended early since the last call.
  bool TookEarlyEnd() { return std::exchange(ended_early_, false); }
  // Returns whether the last file that was read to its end ended early.
  bool truncated() const { return truncated_; }

 private:
  struct File;
  RawLines();
  std::vector<std::string> paths_;
  size_t next_path_ = 0;
  std::unique_ptr<File> file_;
  absl::Status status_;
  std::string at_;
  bool ended_early_ = false, truncated_ = false;
};

// Whether the file or folder holds a recording: its first line is a header.
bool IsRecording(const std::string& path);

class RecordingReader {
 public:
  // As RawLines.
  static absl::StatusOr<std::unique_ptr<RecordingReader>> Open(const std::string& path);
  ~RecordingReader();

  // False at the end. Errors name file and line. A segment that ends early, as those of killed daemons do, is read as
  // far as it goes.
  absl::StatusOr<bool> Next(Step* step);
  // The cluster as shown up to the last step.
  ClusterState& state();
  // The last segment ended early.
  bool truncated() const;

 private:
  RecordingReader();
  absl::StatusOr<bool> NextLine(Line* out);
  std::unique_ptr<RawLines> raw_;
  LineReader lines_;
  std::unique_ptr<Line> ahead_;  // read, and part of the next step
  std::string ahead_at_;
  std::string run_;
  int64_t segment_ = 0;
};

}  // namespace berth::recording
