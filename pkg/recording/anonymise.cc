// A recording is read twice: first to collect all names, then, when the order of the names is known, to write it. While
// it is written, one scheduler replays the renamed recording wherever a run is replayed from its start. Its outputs are
// what is written, and a placement other than the renamed recorded one is an error.
#include "pkg/recording/anonymise.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <memory>

#include "pkg/api/json.h"
#include "pkg/api/stream.h"
#include "pkg/recording/format.h"
#include "pkg/recording/reader.h"
#include "pkg/recording/replay_session.h"
#include "pkg/util/status.h"

namespace berth::recording {
namespace {

using api::AppendJsonString;
using api::Json;
using api::NameClass;

// What the members of a recording's lines contain. Members that are not listed are kept.
enum class Holds : uint8_t {
  kKept,
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
  kNodeAnd
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
    {"message", Holds::kText},
    {"condition", Holds::kNested},
    {"scheduled", Holds::kNested},
    {"extender", Holds::kText},
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
    {"bound", Holds::kUid},
};

Holds HoldsOf(std::string_view member) {
  for (const MemberRule& r : kMembers) {
    if (r.name == member) return r.holds;
  }
  return Holds::kKept;
}

class LineRenamer {
 public:
  explicit LineRenamer(NameMap* names) : names_(names) {}

  // Returns the line with new names. While names are collected, the result has no meaning.
  std::string Line(Json j) {
    std::string kind;
    if (const Json in = j.FindExact("in"); in.IsString()) kind = std::string(in.Text());
    if (const Json o = j.FindExact("object"); o.IsString()) kind = std::string(o.Text());
    if (const Json h = j.FindExact("recording"); h.IsObject()) return absl::StrCat("{\"recording\":", Header(h), "}");
    if (j.FindExact("template").IsInt()) {
      return absl::StrCat("{\"template\":", j.FindExact("template").Int(),
                          ",\"pod\":", api::CutToTemplateFields(j.FindExact("pod"), names_), "}");
    }
    out_.clear();
    out_.push_back('{');
    for (auto [key, value] : j.Children()) {
      Key(key);
      if ((key == "is" || key == "was") && value.IsObject()) {
        Object(kind, value);
      } else if (key == "pod" && value.IsObject()) {
        Object("Pod", value);
      } else {
        Value(HoldsOf(key), value);
      }
    }
    out_.push_back('}');
    return out_;
  }

 private:
  void Key(std::string_view key) {
    if (out_.back() != '{') out_.push_back(',');
    AppendJsonString(key, &out_);
    out_.push_back(':');
  }
  void Object(const std::string& kind, Json j) {
    if (kind == "Pod") {
      Value(Holds::kNested, j);
    } else {
      out_ += api::CutToSchedulingFields(kind, j, names_);
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
      case Holds::kScheduler:
        return names_->Rename(NameClass::kSchedulerName, s);
      default:
        return names_->Rename(NameClass::kName, s);
    }
  }
  template <typename F>
  void Array(Json j, F each) {
    out_.push_back('[');
    for (auto m : j.Children()) {
      if (out_.back() != '[') out_.push_back(',');
      each(m.value);
    }
    out_.push_back(']');
  }
  template <typename F>
  void Members(Json j, Holds keys, F each) {
    out_.push_back('{');
    for (auto [key, value] : j.Children()) {
      Key(Renamed(keys, key));
      each(value);
    }
    out_.push_back('}');
  }
  // Renames a node, or a node and a resourceVersion.
  void Nomination(Json v) {
    if (v.IsString()) return Value(Holds::kNode, v);
    bool first = true;
    Array(v, [&](Json e) { Value(std::exchange(first, false) ? Holds::kNode : Holds::kKept, e); });
  }
  void Value(Holds h, Json j) {
    switch (h) {
      case Holds::kKept:
        out_ += j.Serialize();
        return;
      case Holds::kNested:
        if (!j.IsObject()) break;
        out_.push_back('{');
        for (auto [key, value] : j.Children()) {
          Key(key);
          // In "state", nominated is a map; in a pod it is a node.
          Value(key == "nominated" && value.IsObject() ? Holds::kUidToNode : HoldsOf(key), value);
        }
        out_.push_back('}');
        return;
      case Holds::kUidToNode:
        return Members(j, Holds::kUid, [this](Json v) { Nomination(v); });
      case Holds::kByScheduler:
        return Members(j, Holds::kScheduler, [this](Json v) { out_ += v.Serialize(); });
      case Holds::kIdAndUid:
        return Array(j, [this](Json pair) {
          Array(pair, [this](Json v) { v.IsString() ? Value(Holds::kUid, v) : void(out_ += v.Serialize()); });
        });
      case Holds::kNodeAnd:
        return Array(j, [this](Json pair) {
          bool first = true;
          Array(pair, [&](Json v) { Value(std::exchange(first, false) ? Holds::kNode : Holds::kText, v); });
        });
      default:
        break;
    }
    if (j.IsString()) {
      AppendJsonString(Renamed(h, j.Text()), &out_);
    } else if (j.IsArray()) {
      Array(j, [&](Json v) { Value(h, v); });
    } else {
      out_ += j.Serialize();
    }
  }
  // Returns the header without the flags, which tell who runs the scheduler and where.
  std::string Header(Json h) {
    std::string s = "{";
    const auto key = [&](std::string_view k) {
      if (s.back() != '{') s.push_back(',');
      AppendJsonString(k, &s);
      s.push_back(':');
    };
    for (auto [name, value] : h.Children()) {
      if (name == "flags") continue;
      key(name);
      if (name != "profiles") {
        s += value.Serialize();
        continue;
      }
      s.push_back('[');
      for (auto m : value.Children()) {
        if (s.back() != '[') s.push_back(',');
        s.push_back('{');
        for (auto [k, v] : m.value.Children()) {
          key(k);
          api::Document policy;
          if (k == "schedulerName") {
            AppendJsonString(names_->Rename(NameClass::kSchedulerName, v.Text()), &s);
          } else if (k == "policy" && policy.Parse(v.Text()).ok()) {
            AppendJsonString(AnonymisePolicy(policy.root(), names_), &s);
          } else {
            s += v.Serialize();
          }
        }
        s.push_back('}');
      }
      s.push_back(']');
    }
    return s + "}";
  }

  NameMap* names_;
  std::string out_;
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
  std::string out = "{";
  for (auto [key, value] : doc.root().Children()) {
    if (schedule ? key != "in" && key != "t" && key != "wall" : key == "assigned") continue;
    if (out.size() > 1) out.push_back(',');
    AppendJsonString(key, &out);
    out.push_back(':');
    out += value.Serialize();
  }
  return out + "}";
}

// Returns the pod and the node of a decision; empty for other lines.
std::string Placement(std::string_view line) {
  api::Document doc;
  if (!doc.Parse(line).ok() || doc.root().FindExact("out").Text() != "decision") return "";
  return absl::StrCat(std::string(doc.root().FindExact("pod").Text()), " ",
                      std::string(doc.root().FindExact("node").Text()));
}

// Writes an anonymised recording. Outputs are those of the scheduler under the new names, because texts with several
// names list them in another order then.
class Rewriter {
 public:
  explicit Rewriter(const std::function<void(std::string_view)>& write) : write_(write) {}

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
          if (segment_ == 1) {
            auto s = NewWholeSession(line->header.configuration);
            if (!s.ok()) return s.status();
            session_ = *std::move(s);
          }
        }
        break;
      }
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
  absl::Status EndStep() {
    if (!open_) return absl::OkStatus();
    open_ = false;
    Step step = std::exchange(step_, {});
    if (session_ == nullptr) return absl::OkStatus();
    const std::vector<std::string> recorded = step.outputs;
    const std::vector<std::string> made = session_->Outputs(&step);
    std::string was, is;
    for (const std::string& o : recorded) was += Placement(o);
    for (const std::string& o : made) {
      is += Placement(o);
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
  const std::function<void(std::string_view)>& write_;
  LineReader reader_;
  std::unique_ptr<Session> session_;
  Step step_;
  bool open_ = false;
  std::string run_;
  int64_t segment_ = 0;
};

}  // namespace

std::string AnonymisePolicy(Json policy, NameMap* names) {
  // Rules with an argument have names of the user's choice.
  const auto rename = [&](auto& self, Json j, std::string_view member, bool own) -> std::string {
    if (j.IsObject()) {
      const bool argument = !j.Find("argument").IsNull();
      std::string s = "{";
      for (auto [key, value] : j.Children()) {
        if (key == "tlsConfig") continue;
        if (s.size() > 1) s.push_back(',');
        AppendJsonString(key, &s);
        absl::StrAppend(&s, ":", self(self, value, key, argument || key == "managedResources"));
      }
      return s + "}";
    }
    if (j.IsArray()) {
      std::string s = "[";
      for (auto m : j.Children()) {
        if (s.size() > 1) s.push_back(',');
        s += self(self, m.value, member, member == "managedResources");
      }
      return s + "]";
    }
    if (!j.IsString()) return j.Serialize();
    std::string text(j.Text());
    if (member == "label" || member == "labels") {
      text = names->Rename(NameClass::kLabelKey, text);
    } else if (member == "urlPrefix") {
      text = absl::StrCat("http://", names->Rename(NameClass::kName, text), ".example");
    } else if (member == "name" && own) {
      text = names->Rename(NameClass::kName, text);
    } else if (member == "name" && text.find('/') != std::string::npos) {
      text = names->Rename(NameClass::kResource, text);
    }
    std::string s;
    AppendJsonString(text, &s);
    return s;
  };
  return rename(rename, policy, "", false);
}

absl::Status AnonymiseRecording(const std::string& path, const std::function<void(std::string_view)>& write) {
  NameMap names;
  LineRenamer renamer(&names);
  BERTH_RETURN_IF_ERROR(EachLine(path, [&](std::string_view, Json j) {
    (void)renamer.Line(j);
    return absl::OkStatus();
  }));
  names.Seal();
  Rewriter rewriter(write);
  BERTH_RETURN_IF_ERROR(EachLine(path, [&](std::string_view, Json j) { return rewriter.Line(renamer.Line(j)); }));
  return rewriter.EndStep();
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
    if (names_->sealed() && !line.empty()) write_(line + "\n");
    return absl::OkStatus();
  }

 private:
  // Returns an empty text for a kind that scheduling does not read.
  std::string Object(Json j, const std::string& kind) {
    if (!api::IsSchedulingKind(kind)) return "";
    std::string fields = api::CutToSchedulingFields(kind, j, names_);
    const Json version = j.Find("apiVersion");
    std::string head = absl::StrCat("{\"kind\":\"", kind, "\"");
    if (version.IsString()) {
      head += ",\"apiVersion\":";
      AppendJsonString(version.Text(), &head);
    }
    if (fields != "{}") head.push_back(',');
    return head.append(fields, 1, std::string::npos);
  }
  std::string Items(Json items, const std::string& default_kind) {
    std::string s = "[";
    for (auto m : items.Children()) {
      const Json kind = m.value.Find("kind");
      const std::string one = Object(m.value, kind.IsString() ? std::string(kind.Text()) : default_kind);
      if (one.empty()) continue;
      if (s.size() > 1) s.push_back(',');
      s += one;
    }
    return s + "]";
  }
  std::string List(Json j, const std::string& kind) {
    std::string item_kind = kind;
    item_kind.resize(item_kind.rfind("List"));
    return absl::StrCat("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":", Items(j.Find("items"), item_kind), "}");
  }
  std::string Scenario(Json j) {
    std::string s = "{";
    for (auto [key, value] : j.Children()) {
      if (s.size() > 1) s.push_back(',');
      AppendJsonString(key, &s);
      s.push_back(':');
      if (key == "name") {
        AppendJsonString(names_->Rename(NameClass::kName, value.Text()), &s);
      } else if (key == "cluster") {
        s += List(value, "List");
      } else if (key == "pods") {
        s += Items(value, "Pod");
      } else if (key == "policy") {
        s += AnonymisePolicy(value, names_);
      } else {
        s += value.Serialize();
      }
    }
    return s + "}";
  }

  NameMap* names_;
  const std::function<void(std::string_view)>& write_;
};

}  // namespace

absl::Status AnonymiseObjects(std::string_view text, const std::function<void(std::string_view)>& write) {
  NameMap names;
  ObjectRenamer renamer(&names, write);
  BERTH_RETURN_IF_ERROR(api::ReadDocuments(text, renamer));
  names.Seal();
  return api::ReadDocuments(text, renamer);
}

}  // namespace berth::recording
