// The scheduler's thread only moves batches of events into `buffer_`; formatting, compression and files are the work of
// the writing thread.
//
// Invariants: once an event has been lost, all events are lost until the writing thread has emptied the buffer, because
// events after a hole cannot be replayed. Meanwhile only the last change of each object is kept, from which EndGap()
// writes the checkpoint after the gap.
#include "pkg/recording/recorder.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <dirent.h>
#include <glog/logging.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>

#include "pkg/util/status.h"

namespace berth::recording {
namespace {

// Earlier versions wrote gzip files.
constexpr char kPrefix[] = "segment-", kSuffix[] = ".jsonl.zst", kOldSuffix[] = ".jsonl.gz";
constexpr int64_t kLeastSegment = 64 << 10, kMostSegment = 64 << 20;
// The writing thread wakes for this many events, or after a pause. More at a time would wake it less often, but the
// objects of waiting events would no longer be in a cache when they are written and freed. While few events come in a
// pause, they are not in a cache anyway, and the pause grows.
constexpr size_t kWorthWriting = 512;
constexpr std::chrono::milliseconds kLeastPause{20}, kMostPause{320};
// Batches whose memory is reused, and the largest ones. Small batches are joined while they wait.
constexpr size_t kSpare = 32, kSpareEvents = 512, kSmallBatch = 32;
constexpr absl::Duration kRetry = absl::Seconds(10);

std::string NameOf(int64_t number) {
  return absl::StrFormat("%s%08d%s", kPrefix, number, kSuffix);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ListSegments(const std::string& dir) {
  DIR* d = opendir(dir.c_str());
  if (d == nullptr) return ErrnoStatus("cannot open folder", dir);
  std::vector<std::string> out;
  while (const dirent* e = readdir(d)) {
    const std::string name = e->d_name;
    if (absl::StartsWith(name, kPrefix) && (absl::EndsWith(name, kSuffix) || absl::EndsWith(name, kOldSuffix))) {
      out.push_back(absl::StrCat(dir, "/", name));
    }
  }
  closedir(d);
  std::sort(out.begin(), out.end());
  return out;
}

// A file that is being written.
struct Recorder::Segment {
  absl::Status Put(std::string_view text, PackedWriter::Flush flush) {
    dirty = flush == PackedWriter::Flush::kNone;
    return file->Put(text, flush);
  }
  int64_t bytes() const { return file->bytes(); }

  std::unique_ptr<PackedWriter> file;
  bool dirty = false;  // not everything is in the file yet
  absl::Time flushed;
};

// ---- the scheduler's side -----------------------------------------------------------------------

absl::StatusOr<std::unique_ptr<Recorder>> Recorder::Open(RecorderOptions options, Header header) {
  if (mkdir(options.dir.c_str(), 0700) != 0 && errno != EEXIST) return ErrnoStatus("cannot create folder", options.dir);
  auto segments = ListSegments(options.dir);
  if (!segments.ok()) return segments.status();
  std::unique_ptr<Recorder> r(new Recorder(std::move(options), std::move(header)));
  if (!segments->empty()) {
    const std::string& last = segments->back();
    const size_t at = last.rfind(kPrefix) + sizeof(kPrefix) - 1;
    r->next_file_ = std::strtoll(last.c_str() + at, nullptr, 10) + 1;
  }
  BERTH_RETURN_IF_ERROR(r->BeginSegment());
  r->thread_ = std::thread([p = r.get()] { p->Run(); });
  return r;
}

Recorder::Recorder(RecorderOptions options, Header header) : options_(std::move(options)), header_(std::move(header)) {
  header_.segment = 0;
}

Recorder::~Recorder() {
  {
    std::lock_guard lock(mutex_);
    over_ = true;
  }
  news_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Recorder::Take(std::vector<Event>* batch) {
  events_ += batch->size();
  std::lock_guard lock(mutex_);
  // After a loss, everything is lost until the writing thread has caught up (see the head of this file).
  if (lost_ > 0 || buffered_ + batch->size() > options_.max_buffered) return Lose(batch);
  const size_t size = batch->size();
  const size_t before = std::exchange(buffered_, buffered_ + size);
  if (size <= kSmallBatch && !buffer_.empty() && buffer_.back().size() + size <= buffer_.back().capacity()) {
    std::move(batch->begin(), batch->end(), std::back_inserter(buffer_.back()));
    batch->clear();
  } else {
    buffer_.push_back(std::move(*batch));
    batch->clear();
    if (!spare_.empty()) {
      *batch = std::move(spare_.back());
      spare_.pop_back();
      // Events are freed here and not on the writing thread, because an allocator makes two threads wait if one frees
      // what the other allocates.
      batch->clear();
    } else {
      batch->reserve(std::clamp(size, 4 * kSmallBatch, kSpareEvents));
    }
  }
  if ((before == 0 && !pausing_) || (before < kWorthWriting && buffered_ >= kWorthWriting)) news_.notify_one();
}

// REQUIRES: the caller holds mutex_.
void Recorder::Lose(std::vector<Event>* batch) {
  lost_ += batch->size();
  lost_in_all_ += batch->size();
  for (Event& e : *batch) {
    // The last change of each object is kept, the last decision, bind and nomination of each pod, and all replies.
    std::string key;
    if (auto* any = std::get_if<AnyChange>(&e.what)) {
      const size_t kind = any->index();
      key = std::visit(
          [&](const auto& c) { return absl::StrCat(kind, " ", (c.after != nullptr ? c.after : c.before)->meta.Key()); },
          *any);
    } else if (const auto* r = std::get_if<ReplyInput>(&e.what)) {
      key = absl::StrCat("reply ", r->id());
    } else if (const auto* s = std::get_if<ScheduleInput>(&e.what)) {
      if (s->pod == nullptr) continue;
      key = absl::StrCat("decision ", s->pod->meta.Key());
      // A bind before this decision no longer matters.
      if (auto bind = lost_index_.find(absl::StrCat("bind ", s->pod->meta.Key())); bind != lost_index_.end()) {
        lost_but_needed_[bind->second].what = TickInput{};
        lost_index_.erase(bind);
      }
    } else if (const auto* d = std::get_if<DecisionOutput>(&e.what)) {
      key = absl::StrCat("decision ", d->pod->meta.Key());
    } else if (const auto* q = std::get_if<RequestOutput>(&e.what)) {
      const bool bind = q->kind == RequestOutput::Kind::kBind;
      const bool nominate = q->kind == RequestOutput::Kind::kNominate || q->kind == RequestOutput::Kind::kPatch;
      const bool rejected =
          q->kind == RequestOutput::Kind::kEvent && q->words != nullptr && q->words->name == "FailedScheduling";
      if (!bind && !rejected && !nominate) continue;
      key = absl::StrCat(bind || rejected ? "bind " : "nominate ", q->pod->meta.Key());
    } else {
      continue;
    }
    auto [it, added] = lost_index_.try_emplace(std::move(key), lost_but_needed_.size());
    if (added) {
      lost_but_needed_.push_back(std::move(e));
    } else {
      lost_but_needed_[it->second] = std::move(e);
    }
  }
  batch->clear();
  news_.notify_one();
}

Recorder::Stats Recorder::stats() const {
  Stats s{events_, lost_in_all_, bytes_, errors_, segments_, unknown_, 0};
  std::lock_guard lock(mutex_);
  s.buffered = buffered_;
  return s;
}

// ---- the writing thread -------------------------------------------------------------------------

namespace {

// Events point to data that other threads wrote and that is not in this thread's caches. It is prefetched some events
// ahead: first the objects, then the texts that they point to.
constexpr size_t kObjectsAhead = 24, kTextsAhead = 12;

const api::Pod* PodOf(const Event& e) {
  if (const auto* any = std::get_if<AnyChange>(&e.what)) {
    const auto* pods = std::get_if<scheduler::Change<api::Pod>>(any);
    return pods == nullptr ? nullptr : pods->after != nullptr ? pods->after.get() : pods->before.get();
  }
  if (const auto* s = std::get_if<ScheduleInput>(&e.what)) return s->pod.get();
  if (const auto* r = std::get_if<ReplyInput>(&e.what)) return r->assigned().pod.get();
  if (const auto* d = std::get_if<DecisionOutput>(&e.what)) return d->pod.get();
  if (const auto* q = std::get_if<RequestOutput>(&e.what)) return q->pod.get();
  return nullptr;
}

void PrefetchObject(const Event& e) {
  const char* const begin = reinterpret_cast<const char*>(PodOf(e));
  if (begin == nullptr) return;
  for (size_t at = 0; at < sizeof(api::Pod); at += 64) __builtin_prefetch(begin + at);
}

void PrefetchTexts(const Event& e) {
  const api::Pod* const pod = PodOf(e);
  if (pod == nullptr) return;
  __builtin_prefetch(pod->meta.name.data());
  __builtin_prefetch(pod->meta.uid.data());
}

}  // namespace

void Recorder::Run() {
  pthread_setname_np(pthread_self(), "recorder");
  std::vector<std::vector<Event>> batches, written;
  std::chrono::milliseconds pause = kLeastPause;
  for (bool over = false; !over;) {
    bool gap = false;
    {
      std::unique_lock lock(mutex_);
      const bool idle = batches.empty() && buffer_.empty();
      for (std::vector<Event>& b : batches) {
        if (spare_.size() < kSpare && b.size() < kSpareEvents) spare_.push_back(std::move(b));
      }
      if (idle) {
        const auto something = [&] { return over_ || !buffer_.empty() || lost_ > 0; };
        if (segment_ != nullptr && segment_->dirty) {
          const absl::Duration left = segment_->flushed + options_.flush_period - absl::Now();
          news_.wait_for(lock,
                         absl::ToChronoMilliseconds(std::clamp(left, absl::ZeroDuration(), options_.flush_period)),
                         something);
        } else {
          news_.wait(lock, something);
        }
        pause = kLeastPause;
      }
      // Waking this thread costs the scheduler's thread more than noting an event does, so it is woken once for many;
      // and while events keep coming, it looks for them by itself.
      pausing_ = true;
      news_.wait_for(lock, pause, [&] { return over_ || buffered_ >= kWorthWriting || lost_ > 0; });
      pausing_ = false;
      pause = buffered_ >= kWorthWriting / 2 ? kLeastPause : std::min(2 * pause, kMostPause);
      written.swap(batches);
      std::swap(batches, buffer_);
      buffered_ = 0;
      gap = lost_ > 0;
      over = over_;
    }
    written.clear();
    for (std::vector<Event>& b : batches) WriteEvents(&b);
    if (gap) EndGap();
    if (segment_ != nullptr && segment_->dirty && (over || absl::Now() - segment_->flushed >= options_.flush_period)) {
      Flush();
    }
  }
  if (segment_ == nullptr) return;
  if (auto s = segment_->Put({}, PackedWriter::Flush::kEnd); !s.ok()) Fail(s);
}

void Recorder::WriteEvents(std::vector<Event>* batch) {
  std::vector<Event>& events = *batch;
  std::string& text = text_;
  text.clear();
  for (size_t i = 0; i < events.size(); ++i) {
    Event& e = events[i];
    if (i + kObjectsAhead < events.size()) PrefetchObject(events[i + kObjectsAhead]);
    if (i + kTextsAhead < events.size()) PrefetchTexts(events[i + kTextsAhead]);
    if (segment_ == nullptr) {
      lines_.Note(&e);
      ++lost_to_errors_;
      continue;
    }
    // A segment may only end between two inputs.
    if (e.IsInput() && segment_->bytes() > SegmentLimit()) {
      Write(text);
      text.clear();
      if (segment_ != nullptr) {
        if (auto s = segment_->Put({}, PackedWriter::Flush::kEnd); !s.ok()) Fail(s);
      }
      if (auto s = BeginSegment(); !s.ok()) Fail(s);
      if (segment_ == nullptr) {
        lines_.Note(&e);
        ++lost_to_errors_;
        continue;
      }
    }
    lines_.Append(&e, &text);
    if (text.size() < kPieceBytes) continue;
    Write(text);
    text.clear();
  }
  if (segment_ != nullptr) Write(text);
  if (segment_ == nullptr && absl::Now() >= retry_at_) {
    header_.after_gap = true;
    if (auto s = BeginSegment(); !s.ok()) {
      Fail(s);
    } else {
      LOG(INFO) << "Recording resumed; " << lost_to_errors_ << " events lost";
      lost_in_all_ += std::exchange(lost_to_errors_, 0);
    }
  }
  unknown_ = lines_.unknown_objects();
}

// The limit is small enough that several segments fit into what may be kept, and large compared with the checkpoint at
// their beginning.
int64_t Recorder::SegmentLimit() const {
  const int64_t wanted = std::clamp(options_.max_bytes / 8, kLeastSegment, kMostSegment);
  return std::min(std::max(wanted, 3 * checkpoint_bytes_), std::max(options_.max_bytes / 2, kLeastSegment));
}

// Ends a gap: marks it, and continues with a checkpoint of the cluster's current state.
void Recorder::EndGap() {
  std::vector<Event> needed;
  uint64_t lost = 0;
  {
    std::lock_guard lock(mutex_);
    std::swap(needed, lost_but_needed_);
    lost_index_.clear();
    lost = std::exchange(lost_, 0);
  }
  for (Event& e : needed) lines_.Note(&e);
  LOG(WARNING) << "Recording fell behind; " << lost << " events lost";
  if (segment_ == nullptr) return;
  Write(api::JsonWriter().Object().Member("gap", lost).End().Finish());
  if (segment_ == nullptr) return;
  if (auto s = segment_->Put({}, PackedWriter::Flush::kEnd); !s.ok()) return Fail(s);
  header_.after_gap = true;
  if (auto s = BeginSegment(); !s.ok()) Fail(s);
}

// Each segment begins with a header and a checkpoint, so that it can be read when the segments before it have been
// removed.
absl::Status Recorder::BeginSegment() {
  segment_.reset();
  auto segment = std::make_unique<Segment>();
  auto file = PackedWriter::Create(absl::StrCat(options_.dir, "/", NameOf(next_file_)), &packer_);
  if (!file.ok()) return file.status();
  segment->file = *std::move(file);
  ++next_file_;
  segment->flushed = absl::Now();
  segment_ = std::move(segment);
  ++segments_;
  ++header_.segment;
  header_.wall_seconds = absl::ToUnixSeconds(absl::Now());
  lines_.BeginSegment();
  std::string text = HeaderLine(header_) + "\n";
  header_.after_gap = false;
  absl::Status s;
  lines_.Checkpoint(&text, [&] {
    if (s.ok()) s = segment_->Put(text, PackedWriter::Flush::kNone);
    text.clear();
  });
  const uint64_t before = bytes_;
  if (s.ok()) s = segment_->Put(text, PackedWriter::Flush::kWrite);
  if (!s.ok()) {
    segment_.reset();
    return s;
  }
  checkpoint_bytes_ = segment_->bytes();
  bytes_ = before + static_cast<uint64_t>(segment_->bytes());
  DropOldSegments();
  return absl::OkStatus();
}

void Recorder::Write(std::string_view text) {
  if (text.empty()) return;
  const int64_t before = segment_->bytes();
  const bool late = absl::Now() - segment_->flushed >= options_.flush_period;
  if (late) segment_->flushed = absl::Now();
  if (auto s = segment_->Put(text, late ? PackedWriter::Flush::kWrite : PackedWriter::Flush::kNone); !s.ok())
    return Fail(s);
  bytes_ += static_cast<uint64_t>(segment_->bytes() - before);
}

void Recorder::Flush() {
  const int64_t before = segment_->bytes();
  segment_->flushed = absl::Now();
  if (auto s = segment_->Put({}, PackedWriter::Flush::kWrite); !s.ok()) return Fail(s);
  bytes_ += static_cast<uint64_t>(segment_->bytes() - before);
}

void Recorder::Fail(const absl::Status& why) {
  ++errors_;
  LOG(ERROR) << "Recording stops: " << util::Message(why) << "; trying again in " << absl::FormatDuration(kRetry);
  segment_.reset();
  retry_at_ = absl::Now() + kRetry;
}

void Recorder::DropOldSegments() {
  auto segments = ListSegments(options_.dir);
  if (!segments.ok()) return;
  std::vector<int64_t> sizes;
  int64_t total = 0;
  for (const std::string& path : *segments) {
    struct stat st {};
    sizes.push_back(stat(path.c_str(), &st) == 0 ? static_cast<int64_t>(st.st_size) : 0);
    total += sizes.back();
  }
  // The segment that begins needs room too. It is the last one and is never removed.
  const int64_t room = SegmentLimit();
  for (size_t i = 0; i + 1 < segments->size() && total + room > options_.max_bytes; ++i) {
    if (unlink((*segments)[i].c_str()) != 0) {
      LOG(WARNING) << "cannot remove " << (*segments)[i] << ": " << std::strerror(errno);
      continue;
    }
    total -= sizes[i];
  }
}

}  // namespace berth::recording
