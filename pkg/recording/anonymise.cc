// A recording is read three times: to collect all names, then, when the order of the names is known, to try whether
// everything can be renamed, and to write it. Each time but the first a scheduler replays the renamed recording,
// because texts with several names list them in another order then. Its outputs are what is written, and a placement
// other than the renamed recorded one is an error.
#include "pkg/recording/anonymise.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <memory>

#include "pkg/api/json.h"
#include "pkg/api/json_writer.h"
#include "pkg/api/stream.h"
#include "pkg/recording/cluster_state.h"
#include "pkg/recording/format.h"
#include "pkg/recording/known_words.h"
#include "pkg/recording/reader.h"
#include "pkg/recording/replay_session.h"
#include "pkg/releases/gates.h"
#include "pkg/util/status.h"

namespace berth::recording {
namespace {

using api::Json;
using api::JsonWriter;
using api::NameClass;

// What the members of a recording's lines contain. Members that are not listed are left out.
enum class Holds : uint8_t {
  kLeftOut,
  kWord,
  kName,
  kNode,
  kUid,
  kKey,
  kText,
  kScheduler,
  kNested,
  kUidToNode,
  kByScheduler,
  kIdAndUid,
  kNodeAnd,
  kExtender,
  kMessage,
};
struct MemberRule {
  std::string_view name;
  Holds holds;
};
constexpr MemberRule kMembers[] = {
    {"name", Holds::kName},
    {"uid", Holds::kUid},
    {"node", Holds::kNode},
    {"nominated", Holds::kNode},
    {"pod", Holds::kKey},
    {"key", Holds::kKey},
    {"gone", Holds::kKey},
    {"victims", Holds::kKey},
    {"clear", Holds::kKey},
    {"volume", Holds::kName},
    {"claim", Holds::kKey},
    {"unfit", Holds::kText},
    {"error", Holds::kText},
    {"message", Holds::kMessage},
    {"condition", Holds::kNested},
    {"scheduled", Holds::kNested},
    {"extender", Holds::kExtender},
    {"nodes", Holds::kNode},
    {"failed", Holds::kNodeAnd},
    {"unresolvable", Holds::kNodeAnd},
    {"evictions", Holds::kNested},
    {"uids", Holds::kUid},
    {"scores", Holds::kNodeAnd},
    {"state", Holds::kNested},
    {"assumed", Holds::kUidToNode},
    {"counters", Holds::kByScheduler},
    {"openBinds", Holds::kIdAndUid},
    {"openGets", Holds::kIdAndUid},
    {"openNominations", Holds::kIdAndUid},
    {"openMarks", Holds::kIdAndUid},
    {"openDeletions", Holds::kIdAndUid},
    {"bound", Holds::kUid},
    {"onceNominated", Holds::kUid},
    {"in", Holds::kWord},
    {"out", Holds::kWord},
    {"object", Holds::kWord},
    {"t", Holds::kWord},
    {"wall", Holds::kWord},
    {"id", Holds::kWord},
    {"of", Holds::kWord},
    {"rv", Holds::kWord},
    {"created", Holds::kWord},
    {"deleted", Holds::kWord},
    {"started", Holds::kWord},
    {"preempted", Holds::kWord},
    {"phase", Holds::kWord},
    {"answer", Holds::kWord},
    {"assigned", Holds::kWord},
    {"bind", Holds::kWord},
    {"fit", Holds::kWord},
    {"ties", Holds::kWord},
    {"counter", Holds::kWord},
    {"warning", Holds::kWord},
    {"annotate", Holds::kWord},
    {"status", Holds::kWord},
    {"reason", Holds::kWord},
    {"lastProbeTime", Holds::kWord},
    {"lastTransitionTime", Holds::kWord},
    {"call", Holds::kWord},
    {"violations", Holds::kWord},
    {"gap", Holds::kWord},
    {"checkpoint", Holds::kWord},
    {"was", Holds::kWord},  // null: there was no object before
};

// What the header of a segment says and is kept. Flags are left out, as they tell who runs the scheduler and where.
constexpr std::string_view kHeaderWords[] = {"format",
                                             "mends",
                                             "segment",
                                             "time",
                                             "afterGap",
                                             "release",
                                             "hardPodAffinitySymmetricWeight",
                                             "initialBackoffMicros",
                                             "maxBackoffMicros",
                                             "unschedulableLimitMicros",
                                             "maxRequestsInFlight",
                                             "ignoreUnknownFields",
                                             "percentageOfNodesToScore"};

// Returns whether a text consists of such characters only. Programs' versions and the names of runs do.
bool ConsistsOf(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string_view::npos;
}

Holds HoldsOf(std::string_view member) {
  for (const MemberRule& r : kMembers) {
    if (r.name == member) return r.holds;
  }
  return Holds::kLeftOut;
}

void WriteDefaultGates(Json gates, JsonWriter* out) {
  out->Object();
  for (auto [gate, on] : gates.Children()) {
    if (releases::IsDefaultGate(gate) && on.IsBool()) out->Member(gate, on.Bool());
  }
  out->End();
}

class LineRenamer {
 public:
  explicit LineRenamer(NameMap* names) : names_(names) {}

  // Returns the line with new names. While names are collected, the result has no meaning.
  std::string Line(Json j) {
    std::string kind;
    if (const Json in = j.FindExact("in"); in.IsString()) kind = std::string(in.Text());
    if (const Json o = j.FindExact("object"); o.IsString()) kind = std::string(o.Text());
    if (const Json h = j.FindExact("recording"); h.IsObject()) {
      Header(h);
      return j_.Take();
    }
    if (j.FindExact("template").IsInt()) {
      JsonWriter line;
      line.Object().Member("template", j.FindExact("template").Int());
      line.Key("pod").Literal(api::CutToTemplateFields(j.FindExact("pod"), names_, /*resized=*/true));
      return line.End().Take();
    }
    j_.Object();
    for (auto [key, value] : j.Children()) {
      const bool object = (key == "is" || key == "was") && value.IsObject();
      const bool pod = key == "pod" && value.IsObject();
      if (!object && !pod && HoldsOf(key) == Holds::kLeftOut) continue;
      j_.Key(key);
      if (object || pod) {
        Object(pod ? "Pod" : kind, value);
      } else {
        Value(HoldsOf(key), value);
      }
    }
    return j_.End().Take();
  }
  // Why the line cannot be renamed; empty if it can.
  const std::string& error() const { return error_; }

  // A condition that the scheduler writes comes back with the pod, and decides whether it writes it again. So the
  // message that it makes under the new names takes the place of the renamed one from then on.
  void Made(std::string_view renamed, std::string_view made) {
    if (renamed != made) made_.insert_or_assign(std::string(renamed), std::string(made));
  }
  void ForgetMade() { made_.clear(); }

 private:
  void Object(const std::string& kind, Json j) {
    if (kind == "Pod") {
      Value(Holds::kNested, j);
    } else if (api::IsSchedulingKind(kind)) {
      j_.Literal(api::CutToSchedulingFields(kind, j, names_));
    } else {
      error_ = absl::StrCat("the kind ", kind, " is unknown");
      j_.Literal("{}");
    }
  }
  std::string Renamed(Holds h, std::string_view s) {
    switch (h) {
      case Holds::kNode:
        return names_->Rename(NameClass::kNode, s);
      case Holds::kKey:
        return names_->RenameKey(s);
      case Holds::kText:
        return names_->Rename(NameClass::kText, s);
      case Holds::kMessage:
        return Message(s);
      case Holds::kWord:
        return names_->Rename(NameClass::kWord, s);
      case Holds::kExtender:
        return names_->Url(s);
      case Holds::kScheduler:
        return names_->Rename(NameClass::kSchedulerName, s);
      default:
        return names_->Rename(NameClass::kName, s);
    }
  }
  // Texts of events in a part that begins with a checkpoint are not made again.
  std::string Message(std::string_view s) {
    std::string name = names_->Rename(NameClass::kText, s);
    const auto made = made_.find(name);
    return made != made_.end() ? made->second : name;
  }
  template <typename F>
  void Array(Json j, F each) {
    j_.Array();
    for (auto m : j.Children()) each(m.value);
    j_.End();
  }
  template <typename F>
  void Members(Json j, Holds keys, F each) {
    j_.Object();
    for (auto [key, value] : j.Children()) {
      j_.Key(Renamed(keys, key));
      each(value);
    }
    j_.End();
  }
  // Renames a node, or a node and a resourceVersion.
  void Nomination(Json v) {
    if (v.IsString()) return Value(Holds::kNode, v);
    bool first = true;
    Array(v, [&](Json e) { Value(std::exchange(first, false) ? Holds::kNode : Holds::kWord, e); });
  }
  void Value(Holds h, Json j) {
    switch (h) {
      case Holds::kLeftOut:
        j_.Literal("null");
        return;
      case Holds::kNested:
        if (!j.IsObject()) break;
        j_.Object();
        for (auto [key, value] : j.Children()) {
          if (HoldsOf(key) == Holds::kLeftOut) continue;
          j_.Key(key);
          // In "state", nominated is a map; in a pod it is a node.
          Value(key == "nominated" && value.IsObject() ? Holds::kUidToNode : HoldsOf(key), value);
        }
        j_.End();
        return;
      case Holds::kUidToNode:
        return Members(j, Holds::kUid, [this](Json v) { Nomination(v); });
      case Holds::kByScheduler:
        return Members(j, Holds::kScheduler, [this](Json v) { Value(Holds::kWord, v); });
      case Holds::kIdAndUid:
        return Array(j, [this](Json pair) { Array(pair, [this](Json v) { Value(Holds::kUid, v); }); });
      case Holds::kNodeAnd:
        return Array(j, [this](Json pair) {
          bool first = true;
          Array(pair, [&](Json v) { Value(std::exchange(first, false) ? Holds::kNode : Holds::kText, v); });
        });
      default:
        break;
    }
    if (j.IsString()) {
      j_.Text(Renamed(h, j.Text()));
    } else if (j.IsArray()) {
      Array(j, [&](Json v) { Value(h, v); });
    } else if (j.IsObject()) {
      j_.Literal("{}");  // nothing that is written there by a scheduler is an object
    } else {
      j_.Literal(j.Serialize());
    }
  }
  void Header(Json h) {
    j_.Object().Key("recording").Object();
    for (auto [name, value] : h.Children()) {
      if (std::find(std::begin(kHeaderWords), std::end(kHeaderWords), name) != std::end(kHeaderWords)) {
        j_.Key(name);
        Value(Holds::kWord, value);
      } else if (name == "version" && ConsistsOf(value.Text(), "0123456789abcdefgrtuhv.- ")) {
        // v1.10.0-berth.1 and a commit, which say which decisions to expect.
        j_.Member(name, value.Text());
      } else if (name == "run") {
        j_.Key(name);
        const bool ours = ConsistsOf(value.Text(), "0123456789abcdef");
        j_.Text(ours ? std::string(value.Text()) : names_->Rename(NameClass::kName, value.Text()));
      } else if (name == "gates") {
        WriteDefaultGates(value, &j_.Key(name));
      } else if (name == "profiles") {
        j_.Key(name);
        Array(value, [this](Json profile) { Profile(profile); });
      }
    }
    j_.End().End();
  }
  void Profile(Json j) {
    j_.Object();
    for (auto [name, value] : j.Children()) {
      if (name == "schedulerName") {
        j_.Member(name, names_->Rename(NameClass::kSchedulerName, value.Text()));
      } else if (name == "provider") {
        j_.Member(name, names_->Rename(NameClass::kWord, value.Text()));
      } else if (name == "policy" || name == "configuration") {
        j_.Member(name, Configuration(name, value.Text()));
      }
    }
    j_.End();
  }
  // The file, which may be JSON or YAML.
  std::string Configuration(std::string_view name, std::string_view text) {
    const auto document = api::ReadDocument(text);
    const auto renamed = document.ok() ? AnonymiseConfiguration(document->root(), names_)
                                       : absl::StatusOr<std::string>(document.status());
    if (renamed.ok()) return *renamed;
    error_ = absl::StrCat("recording.profiles.", std::string(name), ": ", util::Message(renamed.status()));
    return "";
  }

  NameMap* names_;
  JsonWriter j_;
  std::string error_;
  std::map<std::string, std::string, std::less<>> made_;  // by renamed message
};

// Calls f(text, line) for each line of a recording.
absl::Status EachLine(const std::string& path, const std::function<absl::Status(std::string_view, Json)>& f) {
  auto lines = RawLines::Open(path);
  if (!lines.ok()) return lines.status();
  std::string text;
  api::Document doc;
  while ((*lines)->Next(&text)) {
    if (auto s = doc.Parse(text); !s.ok()) {
      return util::InvalidArgument(absl::StrCat((*lines)->at(), ": ", util::Message(s)));
    }
    if (auto s = f(text, doc.root()); !s.ok()) {
      return util::InvalidArgument(absl::StrCat((*lines)->at(), ": ", util::Message(s)));
    }
  }
  return (*lines)->status();
}

// Returns the line of an input without the outputs that are part of it.
std::string WithoutOutputs(std::string_view text) {
  api::Document doc;
  if (!doc.Parse(text).ok()) return std::string(text);
  const bool schedule = doc.root().FindExact("in").Text() == "schedule";
  JsonWriter out;
  out.Object();
  for (auto [key, value] : doc.root().Children()) {
    if (schedule ? key != "in" && key != "t" && key != "wall" : key == "assigned") continue;
    out.Key(key).Literal(value.Serialize());
  }
  return out.End().Take();
}

// Returns the pod and the node of a decision; empty for other lines.
std::string Placement(std::string_view line) {
  api::Document doc;
  if (!doc.Parse(line).ok() || doc.root().FindExact("out").Text() != "decision") return "";
  return absl::StrCat(std::string(doc.root().FindExact("pod").Text()), " ",
                      std::string(doc.root().FindExact("node").Text()));
}

// Returns the message of the condition that an output writes; empty for other lines.
std::string ConditionMessage(std::string_view line) {
  api::Document doc;
  if (line.find("\"condition\"") == std::string_view::npos || !doc.Parse(line).ok()) return "";
  return std::string(doc.root().FindExact("condition").FindExact("message").Text());
}

// Writes an anonymised recording. Outputs are those of the scheduler under the new names, because texts with several
// names list them in another order then.
class Rewriter {
 public:
  // Both are used as long as the object exists. `renamer` is told which messages are made.
  Rewriter(LineRenamer* renamer, const std::function<void(std::string_view)>& write)
      : renamer_(renamer), write_(write) {
    renamer_->ForgetMade();
  }

  // Takes the next line under its new names. REQUIRES: before an input is renamed, EndStep() is called.
  absl::Status Line(const std::string& text) {
    auto line = reader_.Read(text);
    if (!line.ok()) return line.status();
    switch (line->kind) {
      case Line::Kind::kHeader: {
        BERTH_RETURN_IF_ERROR(EndStep());
        const bool goes_on =
            line->header.run == run_ && line->header.segment == segment_ + 1 && !line->header.after_gap;
        run_ = line->header.run;
        segment_ = line->header.segment;
        if (!goes_on) {
          session_.reset();
          checkpoint_.reset();
          if (segment_ == 1) {
            BERTH_RETURN_IF_ERROR(Begin(NewWholeSession(line->header.configuration)));
          } else {
            checkpoint_.emplace().header = std::move(line->header);
          }
        }
        break;
      }
      case Line::Kind::kObject:
        if (checkpoint_) checkpoint_->objects.push_back(std::move(line->event));
        break;
      case Line::Kind::kState:
        if (checkpoint_) checkpoint_->in_flight = reader_.state();
        break;
      case Line::Kind::kCheckpointEnd:
        if (checkpoint_) BERTH_RETURN_IF_ERROR(Begin(NewDecisionsSession(*checkpoint_)));
        checkpoint_.reset();
        break;
      case Line::Kind::kInput:
        BERTH_RETURN_IF_ERROR(EndStep());
        step_.input = std::move(line->event);
        open_ = true;
        if (session_ == nullptr || line->outputs.empty()) break;
        step_.outputs = std::move(line->outputs);
        write_(WithoutOutputs(text) + "\n");
        return absl::OkStatus();
      case Line::Kind::kExtender:
        step_.answers.push_back(std::move(*std::get<std::unique_ptr<ExtenderAnswer>>(line->event.what)));
        break;
      case Line::Kind::kOutput:
        if (session_ == nullptr) break;
        step_.outputs.push_back(text);
        return absl::OkStatus();
      case Line::Kind::kGap:
        BERTH_RETURN_IF_ERROR(EndStep());
        session_.reset();
        break;
      default:
        break;
    }
    write_(text + "\n");
    return absl::OkStatus();
  }
  absl::Status Begin(absl::StatusOr<std::unique_ptr<Session>> session) {
    if (!session.ok()) return session.status();
    session_ = *std::move(session);
    return absl::OkStatus();
  }
  absl::Status EndStep() {
    if (!open_) return absl::OkStatus();
    open_ = false;
    Step step = std::exchange(step_, {});
    if (session_ == nullptr) return absl::OkStatus();
    const std::vector<std::string> recorded = step.outputs;
    const std::vector<std::string> made = session_->Outputs(&step);
    std::string was, is;
    std::vector<std::string> messages;
    for (const std::string& o : recorded) {
      was += Placement(o);
      if (std::string m = ConditionMessage(o); !m.empty()) messages.push_back(std::move(m));
    }
    size_t next = 0;
    for (const std::string& o : made) {
      is += Placement(o);
      if (const std::string m = ConditionMessage(o); !m.empty() && next < messages.size()) {
        renamer_->Made(messages[next++], m);
      }
      write_(o + "\n");
    }
    // Outputs may be missing at the end of the recording.
    if (was != is && !was.empty()) {
      return util::Internal(absl::StrCat("under the new names the scheduler decides \"", is, "\" and not \"", was,
                                         "\"; please report this with the original recording"));
    }
    return absl::OkStatus();
  }

 private:
  LineRenamer* renamer_;
  const std::function<void(std::string_view)>& write_;
  LineReader reader_;
  std::unique_ptr<Session> session_;
  std::optional<Step> checkpoint_;  // while it is read
  Step step_;
  bool open_ = false;
  std::string run_;
  int64_t segment_ = 0;
};

}  // namespace

absl::Status AnonymiseRecording(const std::string& path, const std::function<void(std::string_view)>& write) {
  NameMap names;
  LineRenamer renamer(&names);
  const auto renamed = [&](Json j) -> absl::StatusOr<std::string> {
    std::string line = renamer.Line(j);
    if (!renamer.error().empty()) return util::InvalidArgument(renamer.error());
    return line;
  };
  bool any = false, input = false;
  BERTH_RETURN_IF_ERROR(EachLine(path, [&](std::string_view, Json j) {
    any = true;
    input |= j.FindExact("in").IsString();
    return renamed(j).status();
  }));
  if (!any) return util::InvalidArgument(absl::StrCat(path, ": the recording is empty"));
  if (!input) return util::InvalidArgument(absl::StrCat(path, ": the recording has a header and no input"));
  names.Seal();
  const auto nothing = [](std::string_view) {};
  for (const auto& to : {std::function<void(std::string_view)>(nothing), write}) {
    Rewriter rewriter(&renamer, to);
    BERTH_RETURN_IF_ERROR(EachLine(path, [&](std::string_view, Json j) {
      if (j.FindExact("in").IsString()) BERTH_RETURN_IF_ERROR(rewriter.EndStep());
      auto line = renamed(j);
      return line.ok() ? rewriter.Line(*line) : line.status();
    }));
    BERTH_RETURN_IF_ERROR(rewriter.EndStep());
  }
  return absl::OkStatus();
}

// ---- objects ------------------------------------------------------------------------------------

namespace {

class ObjectRenamer final : public api::JsonSink {
 public:
  ObjectRenamer(NameMap* names, const std::function<void(std::string_view)>& write) : names_(names), write_(write) {}
  bool Split(std::string_view, std::string_view) override { return false; }
  absl::Status Element(std::string_view, std::string_view, api::Document&) override { return absl::OkStatus(); }
  absl::Status Value(api::Document& doc) override {
    const Json j = doc.root();
    const std::string kind(j.Find("kind").Text());
    std::string line;
    if (kind == "Scenario") {
      line = Scenario(j);
    } else if (absl::EndsWith(kind, "List")) {
      line = List(j, kind);
    } else {
      line = Object(j, kind);
    }
    if (!error_.empty()) return util::InvalidArgument(error_);
    if (names_->sealed() && !line.empty()) write_(line + "\n");
    return absl::OkStatus();
  }

  bool any() const { return any_; }

 private:
  // Returns an empty text for a kind that scheduling does not read.
  std::string Object(Json j, const std::string& kind) {
    if (!api::IsSchedulingKind(kind)) return "";
    any_ = true;
    const std::string fields = api::CutToSchedulingFields(kind, j, names_);
    JsonWriter out;
    out.Object().Member("kind", kind);
    if (const Json v = j.Find("apiVersion"); v.IsString()) {
      out.Member("apiVersion", names_->Rename(NameClass::kWord, v.Text()));
    }
    return out.MembersOf(fields).End().Take();
  }
  void Items(Json items, const std::string& default_kind, JsonWriter* out) {
    out->Array();
    for (auto m : items.Children()) {
      const Json kind = m.value.Find("kind");
      const std::string one = Object(m.value, kind.IsString() ? std::string(kind.Text()) : default_kind);
      if (!one.empty()) out->Literal(one);
    }
    out->End();
  }
  std::string List(Json j, std::string kind) {
    kind.resize(kind.rfind("List"));
    JsonWriter out;
    Items(j.Find("items"), kind, &out.Object().Member("apiVersion", "v1").Member("kind", "List").Key("items"));
    return out.End().Take();
  }
  // Members that decisions depend on; a description and the like are left out.
  std::string Scenario(Json j) {
    any_ = true;
    JsonWriter out;
    out.Object();
    for (auto [key, value] : j.Children()) {
      if (key == "name") {
        out.Member(key, names_->Rename(NameClass::kName, value.Text()));
      } else if (key == "cluster") {
        out.Key(key).Literal(List(value, "List"));
      } else if (key == "pods") {
        Items(value, "Pod", &out.Key(key));
      } else if (key == "policy" || key == "configuration") {
        auto renamed = AnonymiseConfiguration(value, names_);
        if (!renamed.ok()) error_ = absl::StrCat(std::string(key), ": ", util::Message(renamed.status()));
        out.Key(key).Literal(renamed.ok() ? *renamed : "null");
      } else if (key == "featureGates") {
        WriteDefaultGates(value, &out.Key(key));
      } else if (key == "kind" || key == "apiVersion" || key == "emulatedVersion" || key == "algorithmProvider") {
        out.Member(key, names_->Rename(NameClass::kWord, value.Text()));
      } else if ((key == "hardPodAffinitySymmetricWeight" || key == "preempt") &&
                 (value.IsNumber() || value.IsBool())) {
        out.Key(key).Literal(value.Serialize());
      }
    }
    return out.End().Take();
  }

  NameMap* names_;
  const std::function<void(std::string_view)>& write_;
  std::string error_;
  bool any_ = false;  // whether there was anything to be renamed
};

}  // namespace

absl::Status AnonymiseObjects(std::string_view text, const std::function<void(std::string_view)>& write) {
  NameMap names;
  ObjectRenamer renamer(&names, write);
  BERTH_RETURN_IF_ERROR(api::ReadDocuments(text, renamer));
  if (!renamer.any()) {
    return util::InvalidArgument(
        "there is nothing here that scheduling reads: recordings, objects and Scenarios can be anonymised");
  }
  names.Seal();
  return api::ReadDocuments(text, renamer);
}

}  // namespace berth::recording
