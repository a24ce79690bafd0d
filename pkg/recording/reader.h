// Reads a recording step by step. A step is one input of the scheduler with the outputs that followed.
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
    kStart,       // a run begins: `header`; nothing existed before
    kCheckpoint,  // the next steps continue from a checkpoint: `header`, `objects`, `in_flight`
    kGap,         // `lost` events are missing; a checkpoint or the end of the recording follows
  };
  Kind kind = Kind::kInput;
  Header header;
  std::vector<Event> objects;
  InFlight in_flight;
  int64_t lost = 0;
  Event input;
  std::vector<ExtenderAnswer> answers;
  std::vector<std::string> outputs;  // lines
  bool cut = false;                  // the recording ends within this step, so outputs may be missing
  std::string at;                    // "segment-00000001.jsonl.zst:17"
};

// Reads the lines of a recording unparsed.
class RawLines {
 public:
  // Opens a folder with segments, or one file of lines: Zstandard, gzip or plain.
  static absl::StatusOr<std::unique_ptr<RawLines>> Open(const std::string& path);
  ~RawLines();
  // Reads the next line. Returns false at the end, or if a file cannot be opened (see status()).
  bool Next(std::string* line);
  const absl::Status& status() const { return status_; }
  // Returns file and number of the last line.
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

// Returns whether the file or folder contains a recording: its first line is a header.
bool IsRecording(const std::string& path);

class RecordingReader {
 public:
  // Opens a recording like RawLines.
  static absl::StatusOr<std::unique_ptr<RecordingReader>> Open(const std::string& path);
  ~RecordingReader();

  // Reads the next step. Returns false at the end. Errors name file and line. A segment that ends early, as those of
  // killed daemons do, is read as far as possible.
  absl::StatusOr<bool> Next(Step* step);
  // Returns the cluster as shown up to the last step.
  ClusterState& state();
  // Returns whether the last segment ended early.
  bool truncated() const;

 private:
  RecordingReader();
  absl::StatusOr<bool> NextLine(Line* out);
  std::unique_ptr<RawLines> raw_;
  LineReader lines_;
  std::unique_ptr<Line> ahead_;  // already read, but part of the next step
  std::string ahead_at_;
  std::string run_;
  int64_t segment_ = 0;
};

}  // namespace berth::recording
