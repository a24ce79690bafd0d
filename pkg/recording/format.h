// The lines of a recording: events to text and back. README.md in this folder describes them.
//
// Both directions keep state that begins anew with each segment (templates, the clock) or goes on (the cluster as shown
// so far), so a segment is written and read from its beginning. Threading: none.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/recording/event.h"

namespace berth::recording {

// Format 2 has short forms of lines (README.md); format 1 is read as well.
inline constexpr int kFormatVersion = 2, kOldestFormatVersion = 1;

// One scheduler of the process: how it decides.
struct ProfileSource {
  std::string scheduler_name;
  std::string provider;       // or
  std::string policy;         // the Policy's JSON; or
  std::string configuration;  // a KubeSchedulerConfiguration in JSON or YAML, of which the profile of this name counts
};

// What a scheduler must be built of to decide the same.
struct CoreConfiguration {
  std::string release = "1.10";
  std::map<std::string, bool> gates;  // every gate that schedulers read
  std::vector<ProfileSource> profiles;
  int hard_pod_affinity_symmetric_weight = 1;
  absl::Duration initial_backoff = absl::Seconds(1), max_backoff = absl::Seconds(60);
  absl::Duration unschedulable_limit = absl::Seconds(60);
  int64_t max_requests_in_flight = 4096;
  bool ignore_unknown_fields = false;  // the flag --ignore-unknown-fields

  // Configured by profiles and not by Policies.
  bool Later() const { return release == "1.29"; }
  bool Gate(const std::string& name) const {
    auto it = gates.find(name);
    return it != gates.end() && it->second;
  }
};

// The first line of a segment.
struct Header {
  int format = kFormatVersion;
  std::string version;  // of the program
  std::string run;      // the same in all segments of one run of a daemon
  int64_t segment = 1;  // counts from 1 in a run
  int64_t wall_seconds = 0;
  // How the segment goes on from the one before: at the start of a run there is nothing before; after a gap, or when
  // the one before was dropped, only the checkpoint is known.
  bool after_gap = false;
  CoreConfiguration configuration;
  std::vector<std::pair<std::string, std::string>> flags;  // as given, for people
};
std::string HeaderLine(const Header& h);

// The line of an output, without a line end: the same text for the same output, always.
// REQUIRES: !e.IsInput() and no ExtenderAnswer.
std::string OutputLine(const Event& e);
// Lines of outputs that are written in a short form: the event that says that a pod ("namespace/name") was assigned,
// which calls it by name (1.10) or by key (1.29), and the bind of a pod.
std::string AssignedLine(std::string_view pod, std::string_view node, bool by_key);
std::string BindLine(int64_t id, std::string_view pod, std::string_view node);
std::string AssignedMessage(std::string_view pod, std::string_view node);
// Makes `out` "namespace/name", or the name alone for cluster-wide kinds.
void SetKey(const api::ObjectMeta& meta, std::string* out);

// What the scheduler is about to do, as far as its outputs and the answers to them tell.
struct InFlight {
  // What the scheduler decided and the watch has not shown yet, by uid: the node of a bind that did not fail, and
  // whether the bind was answered with success.
  struct Assumed {
    util::Symbol node;
    bool bound = false;
  };
  absl::flat_hash_map<std::string, Assumed> assumed;
  // Likewise the node nominated, and the resourceVersion with which it was written, once that is known.
  std::map<std::string, std::pair<std::string, std::string>> nominated;
  // Requests without an answer: the uid of the pod that is bound, read, or nominated.
  absl::flat_hash_map<scheduler::RequestId, std::string> open_binds, open_gets, open_nominations;
  // Counters that choose among equal nodes, by scheduler name.
  absl::flat_hash_map<util::Symbol, uint64_t> round_robin;

  void Binds(scheduler::RequestId id, const std::string& uid, util::Symbol node);
  void Reads(scheduler::RequestId id, const std::string& uid) { open_gets[id] = uid; }
  // `node` may be empty: the nomination is taken back.
  void Nominates(scheduler::RequestId id, const std::string& uid, const std::string& node);
  // The watch shows a pending pod. Returns the node that counts as nominated all the same, because what is shown is
  // older than the nomination.
  std::optional<std::string> Shown(const api::Pod& pod);
  // An event says that the bind of the pod came to nothing.
  static bool IsRejection(std::string_view event_message);
  // Release 1.29 nominates a pod in memory while its victims are prepared, before anything is written.
  void Prepares(const std::string& uid, std::string_view node) { nominated[uid] = {std::string(node), ""}; }
  // An event says that a victim could not be prepared, so that this nomination is void.
  static bool IsPreparationFailure(std::string_view event_message);
  // Returns the uid of the pod that is no longer assumed after this answer; empty when there is none.
  std::string Answered(const scheduler::Reply& r);
  void Drop(const std::string& uid) { assumed.erase(uid); }
};

// The objects shown so far, by kind and key ("namespace/name" or "name").
class ClusterState : public InFlight {
 public:
  template <typename T>
  using Objects = absl::flat_hash_map<std::string, std::shared_ptr<const T>>;
  template <typename T>
  Objects<T>& Of() {
    return std::get<Objects<T>>(objects_);
  }
  template <typename T>
  const std::shared_ptr<const T>* FindOrNull(const std::string& key) {
    auto it = Of<T>().find(key);
    return it == Of<T>().end() ? nullptr : &it->second;
  }
  // Returns the object shown last under the key of `meta`; null when there is none. The next call of Note must be that
  // of a change of this object, which then needs not look for it again.
  template <typename T>
  const T* FindToChange(const api::ObjectMeta& meta) {
    SetKey(meta, &key_);
    std::shared_ptr<const T>& place = Of<T>()[key_];
    place_ = &place;
    return place.get();
  }
  template <typename T>
  std::shared_ptr<const T> Find(const std::string& key) {
    const auto* found = FindOrNull<T>(key);
    return found == nullptr ? nullptr : *found;
  }
  template <typename T>
  void Set(const std::string& key, std::shared_ptr<const T> object) {
    if (object == nullptr) {
      Of<T>().erase(key);
    } else {
      Of<T>()[key] = std::move(object);
    }
  }
  void Note(const AnyChange& c);
  // Calls f(kind index, key, object) for all, kind by kind, keys in ascending order, pods last.
  template <typename F>
  void ForEach(F f) const {
    size_t kind = 0;
    api::WatchedKinds::ForEach([&]<typename T>() { EachOf<T>(kind++, f); });
  }

 private:
  template <typename T, typename F>
  void EachOf(size_t kind, F& f) const {
    const auto& objects = std::get<Objects<T>>(objects_);
    std::vector<const typename Objects<T>::value_type*> sorted;
    for (const auto& entry : objects) sorted.push_back(&entry);
    std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->first < b->first; });
    for (const auto* entry : sorted) f(kind, entry->first, entry->second);
  }
  api::WatchedKinds::Of<std::tuple, Objects> objects_;
  std::string key_;        // kept for its memory
  void* place_ = nullptr;  // where FindToChange found key_: a shared_ptr of objects_
};

class LineWriter {
 public:
  // A new segment: templates and clock begin anew.
  void BeginSegment();
  // The cluster as it is, to be written behind the header.
  void Checkpoint(std::string* out);
  // Appends the lines of an event and takes note of what it changes.
  void Append(const Event& e, std::string* out);
  // A change that was not recorded is taken note of all the same.
  void Note(const Event& e);
  // Objects that were not decoded from JSON, or before decoders kept the fields: they cannot be written.
  uint64_t unknown_objects() const { return unknown_; }

 private:
  void AppendInput(const Event& e, std::string* out);
  template <typename T>
  void AppendChange(const scheduler::Change<T>& c, std::string* out);
  // `known`: the object as shown last under this key; may be null.
  template <typename T>
  void AppendObject(const T& object, const T* known, std::string* out);
  void AppendPod(const api::Pod& pod, const api::Pod* known, std::string* out);
  // Appends the short form of an output that has one, and returns whether it has.
  bool AppendShort(const RequestOutput& r, std::string* out);
  void AppendTimes(const Event& e, std::string* out);
  // Returns the number of a template, and appends its line where it has none yet; `out` may be null where it has one.
  int64_t TemplateId(const std::shared_ptr<const api::PodTemplate>& t, std::string* out);

  ClusterState state_;
  struct Known {
    std::shared_ptr<const api::PodTemplate> owner;
    int64_t id;
  };
  absl::flat_hash_map<const api::PodTemplate*, Known> templates_;
  // What was looked up last: siblings come one behind another. In templates_, and so alive, unless null.
  const api::PodTemplate* known_template_ = nullptr;
  int64_t known_template_id_ = 0;
  int64_t last_template_ = 0;
  int64_t last_steady_ = 0;
  // The last decision of the segment: the pod, unless no node was found, and the node.
  api::PodPtr decided_pod_;
  util::Symbol decided_node_;
  api::PodPtr refused_;  // the pod for which the input that is being worked on found no node; may be null
  uint64_t unknown_ = 0;
};

// A line, read.
struct Line {
  enum class Kind : uint8_t { kHeader, kTemplate, kObject, kState, kCheckpointEnd, kInput, kExtender, kOutput, kGap };
  Kind kind = Kind::kOutput;
  Header header;     // kHeader
  Event event;       // kInput, kExtender; of kObject a change from nothing
  std::string text;  // kOutput: the line, in its full form
  int64_t lost = 0;  // kGap: events that are missing
};

class LineReader {
 public:
  // Errors name the member that is wrong.
  absl::StatusOr<Line> Read(std::string_view text);
  ClusterState& state() { return state_; }

 private:
  absl::Status ReadHeader(api::Json j, Header* out);
  absl::StatusOr<std::string> FullOutput(api::Json j, std::string_view what, std::string_view text);
  absl::Status ReadInput(api::Json j, std::string_view what, Line* out);
  absl::Status ReadReply(api::Json j, scheduler::Reply* out);
  template <typename T>
  absl::StatusOr<std::shared_ptr<const T>> ReadObject(api::Json j);
  template <typename T>
  absl::Status ReadChange(api::Json j, scheduler::Change<T>* out);

  ClusterState state_;
  absl::flat_hash_map<int64_t, api::PodPtr> templates_;
  int64_t last_steady_ = 0;
  std::string decided_pod_, decided_node_;  // of the last decision
  api::Document doc_;
};

// Objects of the same kind between which scheduling sees no difference.
bool SameForScheduling(const api::Pod& a, const api::Pod& b);

std::string_view AnswerName(scheduler::Answer::Kind k);
std::string_view CallName(ExtenderAnswer::Call call);

}  // namespace berth::recording
