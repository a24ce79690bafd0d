// Writes a recording: a folder of Zstandard segments of JSON Lines, each of which begins with a checkpoint of the
// cluster, so that old ones can be deleted. All work is done on a thread of its own, so the methods that pass events in
// never block. Events that do not fit into its buffer are lost, counted, and marked in the recording.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pkg/recording/event.h"
#include "pkg/recording/format.h"
#include "pkg/recording/packed_file.h"

namespace berth::recording {

struct RecorderOptions {
  std::string dir;
  int64_t max_bytes = int64_t{1} << 30;  // limit for all segments together; the oldest are deleted
  size_t max_buffered = 200'000;         // events waiting to be written
  absl::Duration flush_period = absl::Seconds(1);
};

// Returns the folder's segments, oldest first. The names sort as their numbers do.
absl::StatusOr<std::vector<std::string>> ListSegments(const std::string& dir);

class Recorder final : public EventSink {
 public:
  // Creates the folder if it does not exist, and begins the first segment. Segments of earlier runs are kept and count
  // toward the limit. `header` has version and configuration.
  static absl::StatusOr<std::unique_ptr<Recorder>> Open(RecorderOptions options, Header header);
  // Writes the buffered events.
  ~Recorder() override;

  void Take(std::vector<Event>* batch) override;

  // stats() may be called from any thread.
  struct Stats {
    uint64_t events = 0;    // events received
    uint64_t lost = 0;      // events lost
    uint64_t bytes = 0;     // written by this process
    uint64_t errors = 0;    // failed writes
    uint64_t segments = 0;  // begun by this process
    uint64_t unknown = 0;   // objects that could not be written whole
    size_t buffered = 0;
  };
  Stats stats() const;

 private:
  struct Segment;
  Recorder(RecorderOptions options, Header header);
  // Counts the events as lost, and keeps of them what a checkpoint will need.
  void Lose(std::vector<Event>* batch);
  void Run();
  absl::Status BeginSegment();
  void WriteEvents(std::vector<Event>* batch);
  void EndGap();
  void Write(std::string_view text);
  void Flush();
  void Fail(const absl::Status& why);
  void DropOldSegments();
  // Returns the number of bytes after which a segment ends.
  int64_t SegmentLimit() const;

  const RecorderOptions options_;
  Header header_;
  int64_t next_file_ = 1;

  // Shared by the threads. All but the atomics are guarded by mutex_.
  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::vector<std::vector<Event>> buffer_;  // batches as received
  std::vector<std::vector<Event>> spare_;   // written batches whose memory is reused
  size_t buffered_ = 0;                     // events in buffer_
  uint64_t lost_ = 0;                       // events since the last gap that was marked
  std::vector<Event> lost_but_needed_;  // what happened to the cluster meanwhile: at most one change for each object
  absl::flat_hash_map<std::string, size_t> lost_index_;
  bool over_ = false;
  bool pausing_ = false;  // the writing thread will look into the buffer by itself
  std::atomic<uint64_t> events_{0}, lost_in_all_{0}, bytes_{0}, errors_{0}, segments_{0}, unknown_{0};

  // Used on the writing thread only.
  LineWriter lines_;
  std::string text_;  // kept to reuse its memory
  Packer packer_;     // of the segment
  std::unique_ptr<Segment> segment_;
  int64_t checkpoint_bytes_ = 0;
  absl::Time retry_at_ = absl::InfinitePast();
  uint64_t lost_to_errors_ = 0;
  std::thread thread_;
};

}  // namespace berth::recording
