// Converts events to the lines of a recording and back. README.md in this folder describes the lines.
//
// Both directions keep state. Some of it begins anew with each segment (templates, the clock), some continues (the
// cluster as shown so far); so a segment must be written and read from its beginning. Thread-safety: not thread-safe.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/api/json_writer.h"
#include "pkg/recording/cluster_state.h"
#include "pkg/recording/corrections.h"
#include "pkg/recording/event.h"

namespace berth::recording {

// Formats 2 and 3 have short forms of lines (README.md). Older formats can be read.
inline constexpr int kFormatVersion = 3, kOldestFormatVersion = 1;

// How one scheduler of the process decides.
struct ProfileSource {
  std::string scheduler_name;
  std::string provider;  // or
  std::string policy;    // the Policy's JSON; or
  // a KubeSchedulerConfiguration in JSON or YAML, of which the profile with this name is used; a provider beside it
  // is the one whose plugins the profile changes
  std::string configuration;
};

// The configuration from which a scheduler that makes the same decisions can be built.
struct CoreConfiguration {
  std::string release{release::Default().name};  // recordings that name none are of this release
  std::map<std::string, bool> gates;             // all gates that schedulers read
  std::vector<ProfileSource> profiles;
  int hard_pod_affinity_symmetric_weight = 1;
  absl::Duration initial_backoff = absl::Seconds(1), max_backoff = absl::Seconds(60);
  absl::Duration unschedulable_limit = absl::Seconds(60);
  int64_t max_requests_in_flight = 4096;
  bool ignore_unknown_fields = false;  // the flag --ignore-unknown-fields
  std::optional<int64_t> percentage;   // how many of the nodes decisions look at; nothing: all

  bool Gate(const std::string& name) const {
    auto it = gates.find(name);
    return it != gates.end() && it->second;
  }
};

// The first line of a segment.
struct Header {
  int format = kFormatVersion;
  std::string version;                  // the program's version
  int corrections = CorrectionCount();  // how many corrections the program has (corrections.h)
  std::string run;                      // the same in all segments of one run of the daemon
  int64_t segment = 1;                  // counts from 1 in a run
  int64_t wall_seconds = 0;
  // How the segment continues the one before it. At the start of a run nothing precedes it; after a gap, or if the
  // previous segment was deleted, a reader has only the checkpoint.
  bool after_gap = false;
  CoreConfiguration configuration;
  std::vector<std::pair<std::string, std::string>> flags;  // as given; for information only
};
std::string HeaderLine(const Header& h);

// Returns the line of an output without a line end. The same output always gives the same text. REQUIRES: !e.IsInput(),
// and it is not an ExtenderAnswer.
std::string OutputLine(const Event& e);
// Returns the lines of the outputs that are stored with an input, in their order.
std::vector<std::string> OutputLinesOf(const Event& input);
// Return lines of outputs in their full form that are usually written in a short form: the decision for a node, the
// event that a pod ("namespace/name") was assigned, which calls it by name (1.10) or key (1.29), and the bind of a pod.
std::string DecisionLine(std::string_view pod, std::string_view node, int64_t feasible, int64_t ties, int64_t counter);
std::string AssignedLine(std::string_view pod, std::string_view node, bool by_key);
std::string BindLine(int64_t id, std::string_view pod, std::string_view node);
std::string AssignedMessage(std::string_view pod, std::string_view node);
// Lines are compressed and written in pieces of about this many bytes.
inline constexpr size_t kPieceBytes = 64 << 10;

class LineWriter {
 public:
  // Begins a segment: templates and clock begin anew.
  void BeginSegment();
  // Appends the current state of the cluster, which is written after the header. Calls `empty`, which removes the text,
  // whenever `out` has grown to kPieceBytes, because the whole state of a large cluster takes hundreds of MB.
  void Checkpoint(std::string* out, const std::function<void()>& empty);
  // Appends the lines of an event and notes what it changes. Moves the object out of the event.
  void Append(Event* e, std::string* out);
  // Notes what an event changes without writing a line. Moves the object out of the event.
  void Note(Event* e);
  // Returns how many objects could not be written because they were not decoded from JSON, or were decoded before
  // decoders kept the fields.
  uint64_t unknown_objects() const { return unknown_; }
  // Returns how many templates are remembered, for tests.
  size_t templates() const { return templates_.size(); }

 private:
  void WriteInput(const Event& e, api::JsonWriter* j);
  template <typename T>
  void WriteChange(const scheduler::Change<T>& c, api::JsonWriter* j);
  // `known` is the object as last shown under this key; it may be null.
  template <typename T>
  void WriteObject(const T& object, const T* known, api::JsonWriter* j);
  void WritePod(const api::Pod& pod, const api::Pod* known, api::JsonWriter* j);
  void NoteRequest(const RequestOutput& q);
  void WriteReply(const ReplyInput& r, api::JsonWriter* j);
  // Returns whether this segment already says which pod the request binds to which node.
  bool IsKnownBind(scheduler::RequestId id, const ReplyInput::Assigned& assigned) const;
  // Writes the short form of an output and returns true if it has one.
  bool WriteShort(const RequestOutput& r, api::JsonWriter* j);
  void WriteTimes(const Event& e, api::JsonWriter* j);
  // Returns the number of a template, and writes its line if it has no number yet. `j` may be null if it has one.
  int64_t TemplateId(const std::shared_ptr<const api::PodTemplate>& t, api::JsonWriter* j);
  void ForgetUnusedTemplates();

  ClusterState state_;
  struct Known {
    std::weak_ptr<const api::PodTemplate> owner;
    int64_t id;
  };
  absl::flat_hash_map<const api::PodTemplate*, Known> templates_;
  static constexpr size_t kLeastTemplates = 4'096;
  size_t templates_swept_at_ = kLeastTemplates;  // number of templates at which unused ones are forgotten
  // The template that was looked up last, because siblings often follow one another, or null.
  std::shared_ptr<const api::PodTemplate> known_template_;
  int64_t known_template_id_ = 0;
  int64_t last_template_ = 0;
  int64_t last_steady_ = 0;
  // The last decision of the segment: the pod (null if no node was found) and the node.
  api::PodPtr decided_pod_;
  util::Symbol decided_node_;
  scheduler::RequestId first_bind_ = 0;  // first in the segment; 0: none yet; later requests have larger numbers
  // The uid of the pod for which the current input found no node or which it read, and of the one for which it evicted
  // a victim; each may be "".
  std::string refused_, evicting_;
  uint64_t unknown_ = 0;
};

// A parsed line.
struct Line {
  enum class Kind : uint8_t { kHeader, kTemplate, kObject, kState, kCheckpointEnd, kInput, kExtender, kOutput, kGap };
  Kind kind = Kind::kOutput;
  Header header;                     // kHeader
  Event event;                       // kInput, kExtender; for kObject a change from nothing
  std::string text;                  // kOutput: the line in its full form
  std::vector<std::string> outputs;  // kInput: the outputs that are part of the line, in their full form
  int64_t lost = 0;                  // kGap: the number of missing events
};

class LineReader {
 public:
  // Parses a line. Errors name the wrong member.
  absl::StatusOr<Line> Read(std::string_view text);
  ClusterState& state() { return state_; }

 private:
  absl::Status ReadHeader(api::Json j, Header* out);
  absl::StatusOr<std::string> FullOutput(api::Json j, std::string_view what, std::string_view text);
  absl::Status ReadInput(api::Json j, std::string_view what, Line* out);
  absl::Status ReadReply(api::Json j, Line* out);
  void ReadDecision(api::Json j, Line* out);
  template <typename T>
  absl::StatusOr<std::shared_ptr<const T>> ReadObject(api::Json j);
  template <typename T>
  absl::Status ReadChange(api::Json j, scheduler::Change<T>* out);

  ClusterState state_;
  absl::flat_hash_map<int64_t, api::PodPtr> templates_;
  int64_t last_steady_ = 0;
  std::string decided_pod_, decided_node_;  // of the last decision
  // For each unanswered bind of this segment, the key of the pod and the node.
  absl::flat_hash_map<int64_t, std::pair<std::string, std::string>> binds_;
  api::Document doc_;
};

// Returns whether scheduling sees no difference between the two.
bool SameForScheduling(const api::Pod& a, const api::Pod& b);

std::string_view AnswerName(scheduler::Answer::Kind k);
std::string_view CallName(ExtenderAnswer::Call call);

}  // namespace berth::recording
