// RawLines joins the lines of all segments, LineReader parses them and keeps the state, and RecordingReader groups them
// into steps. A step ends where the next one begins, so the reader is always one line ahead (`ahead_`).
#include "pkg/recording/reader.h"

#include <absl/strings/str_cat.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "pkg/recording/packed_file.h"
#include "pkg/recording/recorder.h"
#include "pkg/util/status.h"

namespace berth::recording {

// The lines of one file.
struct RawLines::File {
  File(const std::string& path, std::unique_ptr<PackedReader> r)
      : name(path.substr(path.rfind('/') + 1)), reader(std::move(r)) {}
  // Reads the next line. Returns false at the end; then `ended_early` says whether the file has no proper end.
  bool Next(std::string* line) {
    for (;;) {
      const size_t end = buffer.find('\n', at);
      if (end != std::string::npos) {
        line->assign(buffer, at, end - at);
        at = end + 1;
        ++number;
        return true;
      }
      buffer.erase(0, at);
      at = 0;
      if (done || !reader->Read(&buffer)) {
        done = true;
        // Text after the last line end is a line that was not written completely.
        ended_early = reader->ended_early() || !buffer.empty();
        return false;
      }
    }
  }
  std::string name;
  std::unique_ptr<PackedReader> reader;
  std::string buffer;
  size_t at = 0;
  int64_t number = 0;
  bool done = false, ended_early = false;
};

RawLines::RawLines() = default;
RawLines::~RawLines() = default;
RecordingReader::RecordingReader() = default;
RecordingReader::~RecordingReader() = default;

absl::StatusOr<std::unique_ptr<RawLines>> RawLines::Open(const std::string& path) {
  std::unique_ptr<RawLines> r(new RawLines);
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return util::NotFound(absl::StrCat(path, ": ", std::strerror(errno)));
  if (S_ISDIR(st.st_mode)) {
    auto segments = ListSegments(path);
    if (!segments.ok()) return segments.status();
    if (segments->empty()) {
      return util::NotFound(path + ": there is no recording in this folder (segment-NNNNNNNN.jsonl.zst)");
    }
    r->paths_ = *std::move(segments);
  } else {
    r->paths_ = {path};
  }
  return r;
}

bool RawLines::Next(std::string* line) {
  for (;;) {
    if (file_ == nullptr) {
      if (next_path_ == paths_.size()) return false;
      const std::string& path = paths_[next_path_++];
      auto reader = PackedReader::Open(path);
      if (!reader.ok()) {
        status_ = reader.status();
        return false;
      }
      file_ = std::make_unique<File>(path, *std::move(reader));
    }
    if (file_->Next(line)) break;
    if (const std::string& damage = file_->reader->damage(); !damage.empty()) {
      status_ = util::InvalidArgument(
          absl::StrCat(file_->name, ": the file is damaged after line ", file_->number, ": ", damage));
      return false;
    }
    ended_early_ |= file_->ended_early;
    truncated_ = file_->ended_early;
    file_.reset();
  }
  at_ = absl::StrCat(file_->name, ":", file_->number);
  return true;
}

bool IsRecording(const std::string& path) {
  auto lines = RawLines::Open(path);
  std::string line;
  return lines.ok() && (*lines)->Next(&line) && line.rfind("{\"recording\":", 0) == 0;
}

absl::StatusOr<std::unique_ptr<RecordingReader>> RecordingReader::Open(const std::string& path) {
  std::unique_ptr<RecordingReader> r(new RecordingReader);
  auto raw = RawLines::Open(path);
  if (!raw.ok()) return raw.status();
  r->raw_ = *std::move(raw);
  return r;
}

ClusterState& RecordingReader::state() {
  return lines_.state();
}

bool RecordingReader::truncated() const {
  return raw_->truncated();
}

absl::StatusOr<bool> RecordingReader::NextLine(Line* out) {
  std::string text;
  if (!raw_->Next(&text)) {
    if (!raw_->status().ok()) return raw_->status();
    return false;
  }
  auto line = lines_.Read(text);
  if (!line.ok()) return util::InvalidArgument(absl::StrCat(raw_->at(), ": ", util::Message(line.status())));
  *out = *std::move(line);
  ahead_at_ = raw_->at();
  return true;
}

absl::StatusOr<bool> RecordingReader::Next(Step* step) {
  *step = {};
  if (ahead_ == nullptr) {
    auto line = std::make_unique<Line>();
    auto more = NextLine(line.get());
    if (!more.ok() || !*more) return more;
    ahead_ = std::move(line);
  }
  for (;;) {
    Line first = std::move(*ahead_);
    ahead_.reset();
    step->at = ahead_at_;
    bool begun = true;
    bool skip_checkpoint = false;
    switch (first.kind) {
      case Line::Kind::kHeader:
        // The header of the next segment of the same run with nothing lost in between: the checkpoint contains only
        // what is known.
        skip_checkpoint = first.header.run == run_ && first.header.segment == segment_ + 1 && !first.header.after_gap;
        run_ = first.header.run;
        segment_ = first.header.segment;
        step->kind = segment_ == 1 ? Step::Kind::kStart : Step::Kind::kCheckpoint;
        step->header = std::move(first.header);
        begun = !skip_checkpoint;
        break;
      case Line::Kind::kGap:
        step->kind = Step::Kind::kGap;
        step->lost = first.lost;
        break;
      case Line::Kind::kInput:
        step->input = std::move(first.event);
        step->outputs = std::move(first.outputs);
        break;
      default:
        return util::InvalidArgument(step->at + ": stands where an input should be");
    }
    for (;;) {
      auto line = std::make_unique<Line>();
      auto more = NextLine(line.get());
      if (!more.ok()) return more;
      if (!*more) {
        step->cut = raw_->TookEarlyEnd();
        return begun;
      }
      const Line::Kind k = line->kind;
      if (k == Line::Kind::kTemplate || k == Line::Kind::kCheckpointEnd) continue;
      if (k == Line::Kind::kState) {
        step->in_flight = lines_.state();
        continue;
      }
      if (k == Line::Kind::kObject) {
        if (!skip_checkpoint) step->objects.push_back(std::move(line->event));
      } else if (k == Line::Kind::kExtender) {
        step->answers.push_back(std::move(*std::get<std::unique_ptr<ExtenderAnswer>>(line->event.what)));
      } else if (k == Line::Kind::kOutput) {
        step->outputs.push_back(std::move(line->text));
      } else {
        ahead_ = std::move(line);
        step->cut = raw_->TookEarlyEnd();
        break;
      }
    }
    if (begun) return true;
    *step = {};
  }
}

}  // namespace berth::recording
